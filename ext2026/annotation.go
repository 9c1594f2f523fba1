package ext2026

import (
	"slices"
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
	f.schema(inputSchema, place{path: "inputSchema", reachable: true})
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
	err   error
}

// place is where a schema stands.
type place struct {
	path string
	// names are the properties that lead here, while reachable.
	names     []string
	reachable bool
	depth     int
}

func (f *annotationFinder) fail(path, want string) {
	if f.err == nil {
		f.err = wire.Wrong(path, want)
	}
}

func (f *annotationFinder) schema(v wire.Value, at place) {
	if at.depth > MaxSchemaDepth {
		f.fail(at.path, "less nesting")
		return
	}
	for m := range v.Members() {
		if m.Name == HeaderKeyword {
			f.annotation(v, m.Value, at)
			continue
		}
		under := place{path: wire.Join(at.path, m.Name), depth: at.depth + 1}
		switch SchemaKeyword(m.Name) {
		case SchemaMap:
			f.members(m.Value, under, at, m.Name == "properties")
		case SchemaMany:
			f.elements(m.Value, under)
		case SchemaEither:
			f.elements(m.Value, under)
			f.schema(m.Value, under)
		case SchemaOne:
			f.schema(m.Value, under)
		case SchemaNone:
		}
	}
}

func (f *annotationFinder) members(v wire.Value, under, from place, properties bool) {
	for m := range v.Members() {
		child := under
		child.path = wire.Join(under.path, m.Name)
		if properties && from.reachable {
			child.reachable = true
			child.names = append(slices.Clip(from.names), m.Name)
		}
		f.schema(m.Value, child)
	}
}

func (f *annotationFinder) elements(v wire.Value, under place) {
	for i, element := range v.Elements() {
		child := under
		child.path = wire.Index(under.path, i)
		f.schema(element, child)
	}
}

func (f *annotationFinder) annotation(schema, value wire.Value, at place) {
	path := wire.Join(at.path, HeaderKeyword)
	if !at.reachable || len(at.names) == 0 {
		f.fail(path, "a place that properties alone lead to")
		return
	}
	kind, _ := schema.Get("type").Text()
	if kind != "string" && kind != "integer" && kind != "boolean" {
		f.fail(path, "a property of type string, integer or boolean")
		return
	}
	name, ok := value.Text()
	if !ok || !token(name) {
		f.fail(path, "a header name token")
		return
	}
	lower := strings.ToLower(name)
	if _, found := f.taken[lower]; found {
		f.fail(path, "a name of its own")
		return
	}
	f.taken[lower] = struct{}{}
	f.legal = append(f.legal, ParamHeader{Name: name, Path: at.names, Integer: kind == "integer"})
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
