package deptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Package is what the go command says of one package.
type Package struct {
	// ImportPath is how others import it.
	ImportPath string
	// Imports are the direct imports, Deps all, both without those of tests.
	Imports, Deps []string
	// TestImports and XTestImports are the direct imports of its tests, in
	// the package and in its _test package.
	TestImports, XTestImports []string
	// Error is what keeps the go command from reading it; nil for nothing.
	Error *struct{ Err string }
}

// A Module is a module's packages and all that they depend on.
type Module struct {
	// Path is the module path that import paths of its own begin with.
	Path string
	// Packages are keyed by import path.
	Packages map[string]*Package
}

// Root returns the directory of the go.mod file at or above dir.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above")
		}
		dir = parent
	}
}

// Load asks the go command for the module at root, tests that need other
// programs included. Packages with errors are kept, with their Error.
func Load(ctx context.Context, root string) (*Module, error) {
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, err
	}
	path, err := goCommand(ctx, root, "list", "-m")
	if err != nil {
		return nil, err
	}
	out, err := goCommand(ctx, root, "list", "-e", "-deps", "-tags=interop",
		"-json=ImportPath,Imports,Deps,TestImports,XTestImports,Error", "./...")
	if err != nil {
		return nil, err
	}
	m := &Module{Path: strings.TrimSpace(string(path)), Packages: map[string]*Package{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(Package)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return m, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		m.Packages[p.ImportPath] = p
	}
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // arguments are constants
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.Bytes())
	}
	return out, nil
}

// Own returns the module's own packages in order of import path.
func (m *Module) Own() []*Package {
	var own []*Package
	for _, p := range m.Packages {
		if _, ok := m.own(p.ImportPath); ok {
			own = append(own, p)
		}
	}
	slices.SortFunc(own, func(a, b *Package) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return own
}

// own returns the "./…" name of an import path of the module.
func (m *Module) own(importPath string) (string, bool) {
	if importPath == m.Path {
		return ".", true
	}
	rest, ok := strings.CutPrefix(importPath, m.Path+"/")
	return "./" + rest, ok
}

// name is the "./…" name of an own package and the import path of another.
func (m *Module) name(importPath string) string {
	if own, ok := m.own(importPath); ok {
		return own
	}
	return importPath
}

// chain returns a shortest way of imports from one package to another, as
// names, for messages.
func (m *Module) chain(from, to string) []string {
	type step struct {
		at   string
		prev *step
	}
	seen := map[string]bool{from: true}
	for queue := []*step{{at: from}}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if s.at == to {
			var names []string
			for ; s != nil; s = s.prev {
				names = append(names, m.name(s.at))
			}
			slices.Reverse(names)
			return names
		}
		p := m.Packages[s.at]
		if p == nil {
			continue
		}
		for _, next := range p.Imports {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, &step{at: next, prev: s})
			}
		}
	}
	return []string{m.name(from), m.name(to)}
}
