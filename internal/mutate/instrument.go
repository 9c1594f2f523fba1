package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// switchVariable is the environment variable that names the mutant that is on.
const switchVariable = "MUTANT"

// helpers is added to a package so that mutants can stand behind switches.
const helpers = `package %s

import (
	"os"
	"strconv"
)

var mutActive = func() int { n, _ := strconv.Atoi(os.Getenv("` + switchVariable + `")); return n }()

func mutOn(id int) bool { return mutActive == id }

func mutString[T ~string](id int, v T) T {
	if mutOn(id) {
		return T("\x00mutant\x00")
	}
	return v
}

func mutInt[T ~int|~int8|~int16|~int32|~int64|~uint|~uint8|~uint16|~uint32|~uint64|~uintptr](id int, v T) T {
	if mutOn(id) {
		return ^v
	}
	return v
}

func mutZero[T any](id int, v T) T {
	if mutOn(id) {
		var zero T
		return zero
	}
	return v
}

func mutDrop[S ~[]E, E any](first int, s S) S {
	i := mutActive - first
	if mutActive == 0 || i < 0 || i >= len(s) {
		return s
	}
	return append(s[:i:i], s[i+1:]...)
}

func mutKeep[T ~[]byte](id int, kept, v T) T {
	if mutOn(id) {
		return kept
	}
	return v
}

func mutWith[T any](id int, v T, with func(T) T) T {
	if mutOn(id) {
		return v
	}
	return with(v)
}
`

// overlay is what the go command takes for -overlay: files in place of others.
type overlay struct {
	dir     string
	replace map[string]string
}

func newOverlay(dir string) (*overlay, error) {
	return &overlay{dir: dir, replace: map[string]string{}}, os.MkdirAll(dir, 0o700)
}

func (o *overlay) put(path string, text []byte) error {
	file := filepath.Join(o.dir, strconv.Itoa(len(o.replace))+"-"+filepath.Base(path))
	o.replace[path] = file
	return os.WriteFile(file, text, 0o600)
}

// flag writes the overlay's description and returns the flag that names it.
func (o *overlay) flag() (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(o.dir, "overlay.json")
	return "-overlay=" + file, os.WriteFile(file, text, 0o600)
}

// instrument puts all mutants that can stand behind a switch into an overlay.
func instrument(dir string, mutants []*Mutant) (*overlay, error) {
	o, err := newOverlay(dir)
	if err != nil {
		return nil, err
	}
	inserts := map[*source][]insert{}
	seen := map[*wrap]bool{}
	packages := map[*target]bool{}
	for _, m := range mutants {
		if !m.switched() || seen[m.wrap] {
			continue
		}
		seen[m.wrap] = true
		inserts[m.file] = append(inserts[m.file], m.wrap.inserts...)
		packages[m.file.pkg] = true
	}
	for file, in := range inserts {
		if err := o.put(file.path, withInserts(file.text, in)); err != nil {
			return nil, err
		}
	}
	for pkg := range packages {
		if err := o.put(filepath.Join(pkg.dir, "zz_mutants.go"), fmt.Appendf(nil, helpers, pkg.name)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// breakAt marks the switches that touch the lines of compiler errors, and
// reports whether there were any.
func breakAt(mutants []*Mutant, lines map[string][]int) bool {
	found := false
	for _, m := range mutants {
		if !m.switched() {
			continue
		}
		for _, in := range m.wrap.inserts {
			line := 1 + bytes.Count(m.file.text[:in.at], []byte("\n"))
			if slices.Contains(lines[m.file.path], line) {
				m.wrap.broken, found = true, true
			}
		}
	}
	return found
}
