package mapping_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The fact files of testdata/spec say of every type of a revision which fields it
// has, each with an expression of what it may hold:
//
//	string integer number boolean null any object     JSON as it is
//	"text" 7                                           this constant
//	[]x {}x                                            a list, a map
//	x|y                                                either
//	Name                                               another type of the file
//
// and a ! at the end of what is required. They hold facts of the published schemas
// and nothing else.
type facts struct {
	name   string
	fields map[string]map[string]string
	alias  map[string]string
}

func readFacts(t testing.TB, name string) *facts {
	t.Helper()
	text, err := os.ReadFile("../testdata/spec/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	f := &facts{name: name, fields: map[string]map[string]string{}, alias: map[string]string{}}
	for typ, def := range raw {
		var alias string
		if json.Unmarshal(def, &alias) == nil {
			f.alias[typ] = alias
			continue
		}
		fields := map[string]string{}
		if err := json.Unmarshal(def, &fields); err != nil {
			t.Fatalf("%s: %s: %v", name, typ, err)
		}
		f.fields[typ] = fields
	}
	return f
}

// types returns the names of all types, sorted.
func (f *facts) types() []string {
	var names []string
	for name := range f.fields {
		names = append(names, name)
	}
	for name := range f.alias {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// document is a filled message. Values that have an alternative are left open in it.
type document struct {
	template string
	leaves   []leaf
}

// text returns the message, with the other value at that leaf, or as filled for -1.
func (d *document) text(instead int) string {
	var replace []string
	for i, l := range d.leaves {
		switch {
		case l.mark == "":
		case i == instead:
			replace = append(replace, l.mark, l.other)
		default:
			replace = append(replace, l.mark, l.value)
		}
	}
	return strings.NewReplacer(replace...).Replace(d.template)
}

// leaf is one value of a filled message that the other side has to show.
type leaf struct {
	// path is where it stands, such as "params.messages[0].role".
	path string
	// token is a text that occurs nowhere else, or empty.
	token string
	// mark stands in the template where there is no token, for value or other.
	mark, value, other string
}

// filler writes a message with a value in every field.
type filler struct {
	t     testing.TB
	facts *facts
	// variant picks among alternatives.
	variant int
	// values are texts for fields of a form of their own, by field name.
	values map[string]string

	leaves  []leaf
	visited map[string]bool
	stack   []string
	counter int
}

func newFiller(t testing.TB, f *facts, variant int) *filler {
	return &filler{t: t, facts: f, variant: variant, visited: map[string]bool{}}
}

// fill fills a type.
func (f *filler) fill(name string) *document {
	template := f.typ(name, "")
	return &document{template: template, leaves: f.leaves}
}

// typ writes a value of a type of the fact file.
func (f *filler) typ(name, path string) string {
	f.visited[name] = true
	if slices.Contains(f.stack, name) {
		return f.token(path) // a type within itself says no more
	}
	f.stack = append(f.stack, name)
	defer func() { f.stack = f.stack[:len(f.stack)-1] }()
	if alias, ok := f.facts.alias[name]; ok {
		return f.value(alias, path)
	}
	fields, ok := f.facts.fields[name]
	if !ok {
		f.t.Fatalf("%s has no type %q", f.facts.name, name)
	}
	var names []string
	for field := range fields {
		names = append(names, field)
	}
	slices.Sort(names)
	var members []string
	for _, field := range names {
		at := join(path, field)
		if text, ok := f.values[field]; ok {
			f.counter++
			text = strings.ReplaceAll(text, "#", fmt.Sprintf("%03d", f.counter))
			f.number(at, text)
			members = append(members, fmt.Sprintf("%q:%s", field, text))
			continue
		}
		members = append(members, fmt.Sprintf("%q:%s", field, f.value(strings.TrimSuffix(fields[field], "!"), at)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// value writes a value of an expression.
func (f *filler) value(expr, path string) string {
	alternatives := split(expr)
	if len(alternatives) > 1 {
		if isLiteral(alternatives[0]) {
			return f.choice(alternatives, path)
		}
		return f.value(alternatives[f.variant%len(alternatives)], path)
	}
	switch {
	case strings.HasPrefix(expr, "("):
		return f.value(strings.TrimSuffix(expr[1:], ")"), path)
	case strings.HasPrefix(expr, "[]"):
		var items []string
		for i, item := range f.each(expr[2:]) {
			items = append(items, f.value(item, fmt.Sprintf("%s[%d]", path, i)))
		}
		return "[" + strings.Join(items, ",") + "]"
	case strings.HasPrefix(expr, "{}"):
		var items []string
		for i, item := range f.each(expr[2:]) {
			key := fmt.Sprintf("k%d", i+1)
			items = append(items, fmt.Sprintf("%q:%s", key, f.value(item, join(path, key))))
		}
		return "{" + strings.Join(items, ",") + "}"
	case isLiteral(expr), expr == "null":
		return expr
	}
	if open[expr] {
		f.visited[expr] = true
		return `{"com.acme/k":` + f.token(join(path, "com.acme/k")) + `}`
	}
	switch expr {
	case "string":
		return f.token(path)
	case "integer":
		f.counter++
		return f.number(path, fmt.Sprintf("70%04d", f.counter))
	case "number":
		f.counter++
		return f.number(path, fmt.Sprintf("70%04d.5", f.counter))
	case "boolean":
		return f.flip(path, "true", "false")
	default:
		return f.typ(expr, path)
	}
}

// open are the types that may hold anything.
var open = map[string]bool{"any": true, "object": true, "JSONValue": true, "JSONObject": true, "JSONArray": true, "MetaObject": true}

// each returns what to put into a list or map of an expression: one of each type
// it may hold.
func (f *filler) each(expr string) []string {
	expr = strings.TrimSuffix(strings.TrimPrefix(expr, "("), ")")
	if open[expr] {
		return []string{expr}
	}
	if alias, ok := f.facts.alias[expr]; ok && !isLiteral(split(alias)[0]) {
		f.visited[expr] = true
		return f.each(alias)
	}
	alternatives := split(expr)
	if isLiteral(alternatives[0]) {
		return []string{expr}
	}
	return alternatives
}

func (f *filler) token(path string) string {
	f.counter++
	return f.number(path, fmt.Sprintf(`"fill%04d"`, f.counter))
}

func (f *filler) number(path, token string) string {
	f.leaves = append(f.leaves, leaf{path: path, token: strings.Trim(token, `"`)})
	return token
}

func (f *filler) flip(path, value, other string) string {
	f.counter++
	mark := fmt.Sprintf("@%04d@", f.counter)
	f.leaves = append(f.leaves, leaf{path: path, mark: mark, value: value, other: other})
	return mark
}

func (f *filler) choice(literals []string, path string) string {
	at := f.variant % len(literals)
	return f.flip(path, literals[at], literals[(at+1)%len(literals)])
}

func isLiteral(expr string) bool {
	return expr != "" && (expr[0] == '"' || expr[0] == '-' || expr[0] >= '0' && expr[0] <= '9')
}

// split cuts an expression at its outer bars.
func split(expr string) []string {
	var out []string
	depth, quoted, start := 0, false, 0
	for i := range len(expr) {
		switch c := expr[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			out = append(out, expr[start:i])
			start = i + 1
		}
	}
	return append(out, expr[start:])
}
