package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// loaded is a package under test with its syntax and types.
type loaded struct {
	target
	fset    *token.FileSet
	files   []*ast.File
	sources []*source // parallel to files
	types   *types.Package
	info    *types.Info
}

type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string
	GoFiles    []string
	DepOnly    bool
	Module     *struct{ Dir string }
}

// load reads the packages that the patterns name, from the directory dir.
func load(ctx context.Context, dir string, patterns []string) ([]*loaded, error) {
	out, err := goCommand(ctx, dir, append([]string{
		"list", "-export", "-deps",
		"-json=ImportPath,Name,Dir,Export,GoFiles,DepOnly,Module", "--",
	}, patterns...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var todo []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && len(p.GoFiles) > 0 {
			todo = append(todo, p)
		}
	}
	var packages []*loaded
	for _, p := range todo {
		pkg, err := p.check(exports)
		if err != nil {
			return nil, err
		}
		packages = append(packages, pkg)
	}
	return packages, nil
}

// check parses a package and finds its types; imports come from export data.
func (p listed) check(exports map[string]string) (*loaded, error) {
	pkg := &loaded{
		target: target{importPath: p.ImportPath, name: p.Name, dir: p.Dir},
		fset:   token.NewFileSet(),
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Uses:  map[*ast.Ident]types.Object{},
		},
	}
	base := p.Dir
	if p.Module != nil {
		base = p.Module.Dir
	}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path) //nolint:gosec // a file the go command named
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(pkg.fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return nil, err
		}
		pkg.files = append(pkg.files, file)
		pkg.sources = append(pkg.sources, &source{path: path, name: filepath.ToSlash(rel), text: text, pkg: &pkg.target})
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(exports[path])
	}
	config := types.Config{Importer: importer.ForCompiler(pkg.fset, "gc", lookup)}
	var err error
	pkg.types, err = config.Check(p.ImportPath, pkg.fset, pkg.files, pkg.info)
	return pkg, err
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the go command, with arguments of this program
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
