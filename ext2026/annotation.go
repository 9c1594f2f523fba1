package ext2026

import (
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// HeaderKeyword is the annotation in an input schema that mirrors an argument
// into a header.
const HeaderKeyword = "x-mcp-header"

// FindParamHeaders returns the arguments that an input schema mirrors into
// headers, in the order of the schema. Annotations are legal on properties of
// type string, integer or boolean that are reached from the root through
// properties alone, with a token as name that no other has in whatever case
// (§3.8).
//
// The legal ones are returned even if there are others; err is then the first
// violation, a *[wire.DecodeError] below inputSchema. An HTTP client must not
// use such a tool.
func FindParamHeaders(inputSchema wire.Value) (legal []ParamHeader, err error) {
	if !mentions(inputSchema) {
		return nil, nil
	}
	f := annotationFinder{taken: map[string]struct{}{}}
	f.schema(inputSchema, true)
	return f.legal, f.err
}

// mentions reports whether the text can hold an annotation at all. Escapes can
// spell it in many ways.
func mentions(schema wire.Value) bool {
	return strings.Contains(string(schema), HeaderKeyword) || strings.Contains(string(schema), `\`)
}

type annotationFinder struct {
	legal []ParamHeader
	taken map[string]struct{} // names in lower case
	trail []step              // from the root to the schema looked at
	err   error
}

// step is one level of schemas.
type step struct {
	keyword string
	name    string // of the member in a map of schemas; empty elsewhere
	index   int    // of the element in a list, plus one; 0 elsewhere
}

func (f *annotationFinder) fail(member, want string) {
	if f.err != nil {
		return
	}
	path := "inputSchema"
	for _, s := range f.trail {
		path = wire.Join(path, s.keyword)
		switch {
		case s.index > 0:
			path = wire.Index(path, s.index-1)
		case SchemaKeyword(s.keyword) == SchemaMap:
			path = wire.Join(path, s.name)
		}
	}
	if member != "" {
		path = wire.Join(path, member)
	}
	f.err = wire.Wrong(path, want)
}

// schema looks into v. Reachable says that properties alone lead to it.
func (f *annotationFinder) schema(v wire.Value, reachable bool) {
	if len(f.trail) > MaxSchemaDepth {
		f.fail("", "less nesting")
		return
	}
	for m := range v.Members() {
		switch form := SchemaKeyword(m.Name); {
		case m.Name == HeaderKeyword:
			f.annotation(v, m.Value, reachable)
		case form == SchemaMap:
			for child := range m.Value.Members() {
				f.step(child.Value, step{keyword: m.Name, name: child.Name}, reachable && m.Name == "properties")
			}
		case form == SchemaMany, form == SchemaEither && m.Value.Kind() == wire.KindArray:
			for i, element := range m.Value.Elements() {
				f.step(element, step{keyword: m.Name, index: i + 1}, false)
			}
		case form != SchemaNone:
			f.step(m.Value, step{keyword: m.Name}, false)
		}
	}
}

func (f *annotationFinder) step(v wire.Value, s step, reachable bool) {
	f.trail = append(f.trail, s)
	f.schema(v, reachable)
	f.trail = f.trail[:len(f.trail)-1]
}

func (f *annotationFinder) annotation(schema, value wire.Value, reachable bool) {
	if !reachable || len(f.trail) == 0 {
		f.fail(HeaderKeyword, "a place that properties alone lead to")
		return
	}
	kind, _ := schema.Get("type").Text()
	if kind != "string" && kind != "integer" && kind != "boolean" {
		f.fail(HeaderKeyword, "a property of type string, integer or boolean")
		return
	}
	name, ok := value.Text()
	if !ok || !token(name) {
		f.fail(HeaderKeyword, "a header name token")
		return
	}
	lower := strings.ToLower(name)
	if _, found := f.taken[lower]; found {
		f.fail(HeaderKeyword, "a name of its own")
		return
	}
	f.taken[lower] = struct{}{}
	path := make([]string, len(f.trail))
	for i, s := range f.trail {
		path[i] = s.name
	}
	f.legal = append(f.legal, ParamHeader{Name: name, Path: path, Integer: kind == "integer"})
}

// token reports whether s is a token as RFC 9110 defines it: 1*tchar.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}
