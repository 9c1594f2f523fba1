package golden

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Ext ends the name of every golden file.
const Ext = ".txtar"

// A Named is a file with the place it was read from.
type Named struct {
	*File
	// Name is the path below the directory that was read, with slashes and
	// without Ext: "get/completed-tool-error".
	Name string
	// Path opens the file.
	Path string
}

// Read reads one golden file; the error names it.
func Read(file string) (*File, error) {
	data, err := os.ReadFile(file) //nolint:gosec // golden files are named by the caller
	if err != nil {
		return nil, err
	}
	parsed, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.ToSlash(file), err)
	}
	return parsed, nil
}

// Cases reads every golden file below dir in lexical order, for instance to
// seed a fuzzer. A directory without one is an error: seeds that vanished are
// no seeds.
func Cases(dir string) ([]Named, error) {
	names, err := Files(dir)
	if err != nil {
		return nil, err
	}
	var cases []Named
	for _, name := range names {
		if path.Ext(name) != Ext {
			continue
		}
		full := filepath.Join(dir, filepath.FromSlash(name))
		file, err := Read(full)
		if err != nil {
			return nil, err
		}
		cases = append(cases, Named{File: file, Name: strings.TrimSuffix(name, Ext), Path: full})
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: no %s files", filepath.ToSlash(dir), Ext)
	}
	return cases, nil
}

// Files lists every file below dir, golden or not, as slash paths relative to
// dir in lexical order.
func Files(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		names = append(names, filepath.ToSlash(rel))
		return nil
	})
	return names, err
}
