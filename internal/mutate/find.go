package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// finder collects the mutants of one file.
type finder struct {
	*loaded
	file    *ast.File
	source  *source
	ops     []Op
	next    *int // the ID of the next mutant
	mutants []*Mutant
	fn      string            // the function being walked
	done    map[ast.Node]bool // conditions and calls that have their mutants
}

// find returns the mutants of a package; next counts IDs across packages.
func (p *loaded) find(ops []Op, next *int) []*Mutant {
	var mutants []*Mutant
	for i, file := range p.files {
		f := &finder{loaded: p, file: file, source: p.sources[i], ops: ops, next: next, done: map[ast.Node]bool{}}
		for _, decl := range file.Decls {
			f.decl(decl)
		}
		mutants = append(mutants, f.mutants...)
	}
	return mutants
}

func (f *finder) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		// What an error says is not normative; that there is one is.
		if d.Body == nil || d.Recv != nil && d.Name.Name == "Error" {
			return
		}
		f.fn = d.Name.Name
		if d.Recv != nil && len(d.Recv.List) > 0 {
			f.fn = typeName(d.Recv.List[0].Type) + "." + f.fn
		}
		ast.Inspect(d.Body, f.node)
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				f.fn = v.Names[0].Name
				for _, value := range v.Values {
					ast.Inspect(value, f.node)
				}
			}
		}
	}
}

// node makes the mutants of one node; their order is outer before inner.
func (f *finder) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.SwitchStmt:
		f.cases(n)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.BinaryExpr:
		if f.isBool(n) {
			f.condition(n)
		}
	case *ast.CompositeLit:
		f.literal(n)
	case *ast.CallExpr:
		f.call(n)
	}
	return true
}

func (f *finder) statements(list []ast.Stmt) {
	for _, stmt := range list {
		switch s := stmt.(type) {
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok || isBuiltin(f.info, call, "panic") {
				continue
			}
			f.done[call] = true
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || !slices.ContainsFunc(s.Lhs, notBlank) {
				continue
			}
			if len(s.Rhs) == 1 {
				f.done[s.Rhs[0]] = true // taking the call away would be the same
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		f.add(OpStmt, stmt, edit{text: ""}, func(id string, from, to int) []insert {
			return around(from, to, "if !mutOn("+id+") { ", " }")
		})
	}
}

func (f *finder) cases(s *ast.SwitchStmt) {
	for _, stmt := range s.Body.List {
		clause, ok := stmt.(*ast.CaseClause)
		if !ok {
			continue
		}
		for i, value := range clause.List {
			if s.Tag == nil {
				f.condition(value)
				continue
			}
			plain := f.withoutItem(clause.List, i, value)
			if len(clause.List) == 1 {
				plain = f.span(clause)
			}
			f.value(value, f.info.Types[s.Tag].Type, plain)
		}
	}
}

// value makes a value of a case clause or key of a map one that never occurs.
func (f *finder) value(value ast.Expr, want types.Type, plain edit) {
	f.add(OpCase, value, plain, func(id string, from, to int) []insert {
		basic, ok := f.info.Types[value].Type.Underlying().(*types.Basic)
		if !ok || basic.Info()&(types.IsString|types.IsInteger) == 0 {
			return nil
		}
		fn := "mutString"
		if basic.Info()&types.IsInteger != 0 {
			fn = "mutInt"
		}
		return f.typed(fn, f.info.Types[value].Type, want, id, from, to)
	})
}

// typed wraps an expression in a generic function, its type parameter given
// where the expression is a constant that has no type of its own.
func (f *finder) typed(fn string, have, want types.Type, id string, from, to int) []insert {
	t := have
	if want != nil && !types.IsInterface(want) {
		t = want
	}
	text, ok := f.typeText(t)
	if !ok {
		return around(from, to, fn+"("+id+", ", ")")
	}
	return around(from, to, fn+"["+text+"]("+id+", ", ")")
}

func (f *finder) condition(cond ast.Expr) {
	switch c := cond.(type) {
	case nil:
		return
	case *ast.ParenExpr:
		f.condition(c.X)
		return
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			f.condition(c.X)
			return
		}
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			f.done[c] = true
			f.condition(c.X)
			f.condition(c.Y)
			return
		}
	}
	if f.done[cond] || f.info.Types[cond].Value != nil {
		return
	}
	f.done[cond] = true
	text := f.textOf(cond)
	f.add(OpCond, cond, edit{text: "!(" + text + ")"}, func(id string, from, to int) []insert {
		return around(from, to, "((", ") != mutOn("+id+"))")
	})
}

func (f *finder) isBool(e ast.Expr) bool {
	basic, ok := f.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

func (f *finder) literal(lit *ast.CompositeLit) {
	switch t := f.info.Types[lit].Type.Underlying().(type) {
	case *types.Struct:
		for i, elt := range lit.Elts {
			value, want := elt, t.Field(min(i, t.NumFields()-1)).Type()
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				value, want = kv.Value, fieldType(t, kv.Key)
			}
			f.zero(OpField, elt, value, want, f.withoutItem(lit.Elts, i, elt))
		}
	case *types.Map:
		for i, elt := range lit.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				f.value(kv.Key, t.Key(), f.withoutItem(lit.Elts, i, elt))
			}
		}
	case *types.Array:
		for i, elt := range lit.Elts {
			value := elt
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				value = kv.Value
			}
			f.zero(OpElem, elt, value, t.Elem(), f.withoutItem(lit.Elts, i, elt))
		}
	case *types.Slice:
		f.elements(OpElem, lit.Elts, func(first string) []insert {
			if lit.Type == nil {
				return nil
			}
			return around(f.offset(lit.Pos()), f.offset(lit.End()), "mutDrop("+first+", ", ")")
		})
	}
}

// zero leaves a value at zero.
func (f *finder) zero(op Op, node ast.Node, value ast.Expr, want types.Type, plain edit) {
	tv := f.info.Types[value]
	if tv.IsNil() || tv.Value != nil && isZero(tv.Value) {
		return
	}
	f.add(op, node, plain, func(id string, _, _ int) []insert {
		if lit, ok := value.(*ast.CompositeLit); ok && lit.Type == nil {
			return nil
		}
		return f.typed("mutZero", tv.Type, want, id, f.offset(value.Pos()), f.offset(value.End()))
	})
}

// elements deletes the elements of a slice literal, or the variadic arguments
// of a call, one at a time: one function around all of them drops the element
// whose ID is on.
func (f *finder) elements(op Op, elements []ast.Expr, shared func(first string) []insert) {
	if !slices.Contains(f.ops, op) || slices.ContainsFunc(elements, isKeyed) || len(elements) == 0 {
		return
	}
	all := &wrap{inserts: shared(strconv.Itoa(*f.next))}
	for i, e := range elements {
		m := f.add(op, e, f.withoutItem(elements, i, e), nil)
		if len(all.inserts) > 0 {
			m.wrap = all
		}
	}
}

func (f *finder) call(call *ast.CallExpr) {
	f.variadic(call)
	if f.done[call] {
		return
	}
	result := f.info.Types[call].Type
	if len(call.Args) > 0 && isBytes(result) && isBytes(f.info.Types[call.Args[0]].Type) && isPlain(call.Args[0]) {
		kept := f.textOf(call.Args[0])
		f.add(OpCall, call, edit{text: kept}, func(id string, from, to int) []insert {
			return around(from, to, "mutKeep("+id+", "+kept+", ", ")")
		})
	}
	f.with(call, result)
}

// with takes away a method call that gives a changed copy of its receiver.
func (f *finder) with(call *ast.CallExpr, result types.Type) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	fn, ok := f.info.Uses[sel.Sel].(*types.Func)
	if !ok {
		return
	}
	recv := fn.Signature().Recv()
	receiver := f.info.Types[sel.X].Type
	if recv == nil || receiver == nil || result == nil || !types.Identical(recv.Type(), result) || !types.Identical(receiver, result) {
		return
	}
	text, ok := f.typeText(result)
	if !ok {
		return
	}
	f.add(OpWith, call, edit{text: f.textOf(sel.X)}, func(id string, from, to int) []insert {
		inserts := around(from, to, "mutWith("+id+", ", " })")
		// The receiver stays where it is; the call is made on a parameter.
		middle := insert{
			at: f.offset(sel.X.End()), text: ", func(mutR " + text + ") " + text + " { return mutR",
			close: true, span: to - from,
		}
		return append(inserts, middle)
	})
}

// variadic deletes the variadic arguments of a call, one at a time. What is
// printed into errors and logs is not normative.
func (f *finder) variadic(call *ast.CallExpr) {
	sig, ok := f.info.Types[call.Fun].Type.(*types.Signature)
	if !ok || !sig.Variadic() || call.Ellipsis.IsValid() || len(call.Args) < sig.Params().Len() {
		return
	}
	if fn, ok := f.callee(call).(*types.Func); ok && fn.Pkg() != nil &&
		slices.Contains([]string{"fmt", "errors", "log", "log/slog"}, fn.Pkg().Path()) {
		return
	}
	if isBuiltin(f.info, call, "append") {
		return
	}
	last := sig.Params().At(sig.Params().Len() - 1).Type()
	slice, ok := last.(*types.Slice)
	if !ok {
		return
	}
	args := call.Args[sig.Params().Len()-1:]
	f.elements(OpArg, args, func(first string) []insert {
		text, ok := f.typeText(slice.Elem())
		if !ok {
			return nil
		}
		from, to := f.offset(args[0].Pos()), f.offset(args[len(args)-1].End())
		return around(from, to, "mutDrop("+first+", []"+text+"{", "})...")
	})
}

func (f *finder) callee(call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.info.Uses[fun]
	case *ast.SelectorExpr:
		return f.info.Uses[fun.Sel]
	default:
		return nil
	}
}
