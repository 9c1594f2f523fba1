package goldentest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
)

// runElsewhere checks that a test of the suite's package calls Run and names
// the suite's directory. It reads the tests' source: packages cannot import
// each other's tests.
func runElsewhere(s Suite) error {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(s.Package), "*_test.go"))
	if err != nil {
		return err
	}
	var callsRun, namesDir bool
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				callsRun = callsRun || isRun(n)
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && text == s.Dir {
					namesDir = true
				}
			}
			return true
		})
	}
	if !callsRun || !namesDir {
		return fmt.Errorf("suite %s: no test in %s calls goldentest.Run with Dir %q", s.pattern(), s.Package, s.Dir)
	}
	return nil
}

func isRun(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Run" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "goldentest"
}
