package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A yamlReader turns YAML into nodes. Where src has no rank it is a file, and
// nodes get its lines; else they all stand where src says.
type yamlReader struct {
	src source
	env lookup
	out *problems
}

// document reads data and returns its top value, or nil after a problem.
// Empty input is an empty mapping.
func (r yamlReader) document(data []byte) *node {
	if !utf8.Valid(data) {
		r.out.add(r.src, "", "not UTF-8 text")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		src, msg := r.syntax(err)
		r.out.add(src, "", "%s", msg)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		_, directive := doc.Body.(*ast.DirectiveNode)
		switch {
		case doc.Body == nil || directive:
		case body != nil:
			r.out.add(r.at(doc.Body), "", "a second document; there must be one")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return &node{form: formMapping, src: r.src}
	}
	return r.value(body, r.src.path)
}

// syntax places the parser's error and leaves out its excerpt of the input,
// which could hold a secret.
func (r yamlReader) syntax(err error) (source, string) {
	var syn *yaml.SyntaxError
	if !errors.As(err, &syn) {
		return r.src, fmt.Sprintf("not YAML: %v", err)
	}
	msg := "not YAML: " + syn.Message
	if strings.HasPrefix(syn.Message, "mapping value is not allowed") {
		msg += "; a word that ends in a colon, or has a space after one, needs quotes"
	}
	return r.position(syn.Token), msg
}

// position returns the source of the token.
func (r yamlReader) position(tk *token.Token) source {
	src := r.src
	if src.rank == 0 && tk != nil && tk.Position != nil {
		src.line, src.column = tk.Position.Line, tk.Position.Column
	}
	return src
}

// at returns the source of the node, for a mapping that of its first key.
func (r yamlReader) at(n ast.Node) source {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return r.position(m.Values[0].Key.GetToken())
	}
	return r.position(n.GetToken())
}

// value converts n, which stands at path.
func (r yamlReader) value(n ast.Node, path string) *node {
	out := &node{src: r.at(n)}
	switch v := n.(type) {
	case *ast.NullNode:
		out.form = formNull
	case *ast.MappingNode:
		out.form = formMapping
		r.members(out, v, path)
	case *ast.SequenceNode:
		out.form = formList
		for i, item := range v.Values {
			if text, ok := torn(item); ok {
				whole := &node{src: r.at(item)}
				r.scalar(whole, text, index(path, i))
				out.items = append(out.items, whole)
				continue
			}
			out.items = append(out.items, r.value(item, index(path, i)))
		}
	case *ast.LiteralNode:
		r.scalar(out, v.Value.GetToken().Value, path)
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		// The text counts, not YAML's idea of its type: an unquoted off is the
		// word "off", and a version that looks like a number keeps its digits.
		r.scalar(out, n.GetToken().Value, path)
	default:
		out.broken = true
		r.out.add(out.src, path, "anchors, aliases and tags are not used in a configuration")
	}
	return out
}

// torn mends a plain word that the parser took for a pair: in a list inside
// braces it splits at a colon without a space (goccy/go-yaml issue 832), as in
// {origins: [http://localhost:3000]}.
func torn(n ast.Node) (text string, ok bool) {
	m, ok := n.(*ast.MappingNode)
	if !ok || m.IsFlowStyle || len(m.Values) != 1 {
		return "", false
	}
	pair := m.Values[0]
	k, colon, v := pair.Key.GetToken(), pair.Start, pair.Value.GetToken()
	if k.Type != token.StringType || v.Position.Line != colon.Position.Line || v.Position.Column != colon.Position.Column+1 {
		return "", false
	}
	switch v.Type {
	case token.StringType, token.IntegerType, token.FloatType, token.BoolType, token.NullType:
		return k.Value + ":" + v.Value, true
	default:
		return "", false
	}
}

// scalar fills in out with the text and its expansion.
func (r yamlReader) scalar(out *node, raw, path string) {
	out.form, out.raw = formScalar, raw
	text, used, err := expand(raw, r.env)
	if err != nil {
		out.broken = true
		r.out.add(out.src, path, "%v", err)
		return
	}
	out.text, out.fromEnv = text, used
}

// members converts the entries of a mapping. Of two equal keys the first stays.
func (r yamlReader) members(out *node, m *ast.MappingNode, path string) {
	seen := map[string]source{}
	for _, e := range m.Values {
		src := r.position(e.Key.GetToken())
		switch e.Key.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		default:
			r.out.add(src, path, "a key must be a plain word; merge keys, anchors and tags are not used in a configuration")
			continue
		}
		key := e.Key.GetToken().Value
		at := join(path, key)
		if first, ok := seen[key]; ok {
			r.out.add(src, at, "duplicate key%s", firstLine(first))
			continue
		}
		seen[key] = src
		out.entries = append(out.entries, entry{key: key, src: src, val: r.value(e.Value, at)})
	}
}

// firstLine says where the first of two keys stands, if it has a line.
func firstLine(src source) string {
	if src.line == 0 {
		return ""
	}
	return fmt.Sprintf(", first on line %d", src.line)
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// index appends an item's number to a path.
func index(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}
