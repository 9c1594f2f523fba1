package deptest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Limits are the most lines that source may have.
type Limits struct {
	File     int // of a file that is no test
	TestFile int // of a test file
	Func     int // of a function from its first word to its closing brace, tests included
}

// Sizes are the limits of this repository.
var Sizes = Limits{File: 500, TestFile: 800, Func: 80}

// Oversize returns the Go files and functions below root that are longer than
// the limits. A function inside another counts as part of it; one that is the
// value of a variable counts by itself.
func Oversize(root string, limits Limits) ([]string, error) {
	var problems []string
	err := eachGoFile(root, func(name string, data []byte, fset *token.FileSet, file *ast.File) {
		limit := limits.File
		if strings.HasSuffix(name, "_test.go") {
			limit = limits.TestFile
		}
		if lines := bytes.Count(data, []byte("\n")); lines > limit {
			problems = append(problems, fmt.Sprintf("%s: %d lines, more than %d", name, lines, limit))
		}
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				title, isFunc := functionTitle(n)
				if !isFunc {
					return true
				}
				from, to := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
				if lines := to - from + 1; lines > limits.Func {
					problems = append(problems, fmt.Sprintf("%s:%d: %s has %d lines, more than %d", name, from, title, lines, limits.Func))
				}
				return false
			})
		}
	})
	return problems, err
}

func functionTitle(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name.Name, true
	case *ast.FuncLit:
		return "function literal", true
	default:
		return "", false
	}
}

// eachGoFile parses every Go file of the tree at root, fixtures left out.
func eachGoFile(root string, fn func(name string, data []byte, fset *token.FileSet, file *ast.File)) error {
	names, err := Tree(root)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !goSource(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))) //nolint:gosec // a file of the tree
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		fn(name, data, fset, file)
	}
	return nil
}
