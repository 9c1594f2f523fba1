package mutate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// add makes a mutant of a node and returns it, or nil if its kind was not asked
// for. The plain edit replaces the node unless it names another span; inserts
// give the switch and may be nil.
func (f *finder) add(op Op, n ast.Node, plain edit, inserts func(id string, from, to int) []insert) *Mutant {
	if !slices.Contains(f.ops, op) {
		return nil
	}
	from, to := f.offset(n.Pos()), f.offset(n.End())
	if plain.from == 0 && plain.to == 0 {
		plain.from, plain.to = from, to
	}
	position := f.fset.Position(n.Pos())
	m := &Mutant{
		ID: *f.next, Op: op, File: f.source.name, Line: position.Line, Column: position.Column,
		Func: f.fn, Text: firstLine(f.textOf(n)), file: f.source, plain: plain,
	}
	if inserts != nil {
		if made := inserts(strconv.Itoa(m.ID), from, to); len(made) > 0 {
			m.wrap = &wrap{inserts: made}
		}
	}
	*f.next++
	f.mutants = append(f.mutants, m)
	return m
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) textOf(n ast.Node) string {
	return string(f.source.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) span(n ast.Node) edit {
	return edit{from: f.offset(n.Pos()), to: f.offset(n.End())}
}

// withoutItem takes an item and one comma out of a list.
func (f *finder) withoutItem(list []ast.Expr, i int, item ast.Node) edit {
	e := f.span(item)
	switch {
	case i+1 < len(list):
		e.to = f.offset(list[i+1].Pos())
	case i > 0:
		e.from = f.offset(list[i-1].End())
	default:
		rest := strings.TrimLeft(string(f.source.text[e.to:]), " \t\n")
		if strings.HasPrefix(rest, ",") {
			e.to = len(f.source.text) - len(rest) + 1
		}
	}
	return e
}

// typeText writes a type as the file being walked would, if it can name it.
func (f *finder) typeText(t types.Type) (string, bool) {
	if basic, ok := t.(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 {
		return "", false
	}
	named := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == f.types {
			return ""
		}
		for _, spec := range f.file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err != nil || path != p.Path() {
				continue
			}
			if spec.Name != nil {
				return spec.Name.Name
			}
			return p.Name()
		}
		named = false
		return p.Name()
	})
	return text, named
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.Join(strings.Fields(line), " ")
}

func isZero(v constant.Value) bool {
	switch v.Kind() {
	case constant.String:
		return constant.StringVal(v) == ""
	case constant.Bool:
		return !constant.BoolVal(v)
	case constant.Int, constant.Float, constant.Complex:
		return constant.Sign(constant.Real(v)) == 0 && constant.Sign(constant.Imag(v)) == 0
	case constant.Unknown:
	}
	return false
}

func isBytes(t types.Type) bool {
	if t == nil {
		return false
	}
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	basic, ok := slice.Elem().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Byte
}

// isPlain reports whether evaluating an expression twice is the same as once.
func isPlain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "nil"
	case *ast.SelectorExpr:
		return isPlain(e.X)
	default:
		return false
	}
}

func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

func isKeyed(e ast.Expr) bool {
	_, ok := e.(*ast.KeyValueExpr)
	return ok
}

func notBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return !ok || id.Name != "_"
}

func typeName(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

// fieldType is the type of the field that a key names.
func fieldType(t *types.Struct, key ast.Expr) types.Type {
	id, ok := key.(*ast.Ident)
	if !ok {
		return nil
	}
	for field := range t.Fields() {
		if field.Name() == id.Name {
			return field.Type()
		}
	}
	return nil
}
