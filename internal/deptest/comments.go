package deptest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Undocumented returns the packages below root without a doc.go that has a
// package comment, and the exported names without a comment: functions,
// methods of exported types, types, constants, variables and methods of
// exported interfaces. One comment serves a parenthesised block, and a type's
// comment the methods it names. Methods whose contract is fixed elsewhere
// (Error, Unwrap, String and the like) need none; fields of structs are left to
// the reviewer, since many say all in their name and type.
func Undocumented(root string) ([]string, error) {
	var problems []string
	packages := map[string]bool{} // directory to "has a package comment in doc.go"
	err := eachGoFile(root, func(name string, _ []byte, fset *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		dir := path.Dir(name)
		packages[dir] = packages[dir] ||
			path.Base(name) == "doc.go" && file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != ""
		v := commentVisitor{fset: fset}
		for _, decl := range file.Decls {
			v.decl(decl)
		}
		problems = append(problems, v.problems...)
	})
	for dir, ok := range packages {
		if !ok {
			problems = append(problems, dir+": no doc.go with a package comment")
		}
	}
	return problems, err
}

// fixed are methods that the standard library gives their meaning.
var fixed = []string{
	"Error", "Unwrap", "Is", "As", "String", "GoString", "Format",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "UnmarshalYAML", "MarshalYAML",
	"Len", "Less", "Swap", "LogValue", "Close",
}

type commentVisitor struct {
	fset     *token.FileSet
	problems []string
}

func (v *commentVisitor) report(name *ast.Ident, owner string) {
	title := name.Name
	if owner != "" {
		title = owner + "." + title
	}
	v.problems = append(v.problems, fmt.Sprintf("%s: %s has no comment", v.fset.Position(name.Pos()), title))
}

func (v *commentVisitor) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		owner := receiver(d)
		switch {
		case d.Doc != nil, !d.Name.IsExported():
		case d.Recv == nil, ast.IsExported(owner) && !slices.Contains(fixed, d.Name.Name):
			v.report(d.Name, owner)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			v.spec(spec, d)
		}
	}
}

func (v *commentVisitor) spec(spec ast.Spec, group *ast.GenDecl) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		doc := group.Doc.Text() + s.Doc.Text() + s.Comment.Text()
		if doc == "" {
			v.report(s.Name, "")
		}
		if t, ok := s.Type.(*ast.InterfaceType); ok {
			v.methods(t.Methods, s.Name.Name, doc)
		}
	case *ast.ValueSpec:
		if group.Doc != nil || s.Doc != nil || s.Comment != nil {
			return
		}
		for _, name := range s.Names {
			if name.IsExported() {
				v.report(name, "")
			}
		}
	}
}

func (v *commentVisitor) methods(list *ast.FieldList, owner, doc string) {
	words := strings.FieldsFunc(strings.ToLower(doc), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, m := range list.List {
		if m.Doc != nil || m.Comment != nil {
			continue
		}
		for _, name := range m.Names {
			if name.IsExported() && !slices.Contains(words, strings.ToLower(name.Name)) && !slices.Contains(fixed, name.Name) {
				v.report(name, owner)
			}
		}
	}
}

// receiver is the name of a method's type, empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
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
			return ""
		}
	}
}
