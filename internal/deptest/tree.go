package deptest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Tree lists the files below root that belong to the repository, as slash
// paths in lexical order: all but .git and what a .gitignore leaves out. Of
// .gitignore it knows plain names, "name/", "/path" and patterns of
// path.Match, which is all this repository uses; other lines are an error.
func Tree(root string) ([]string, error) {
	var files []string
	ignores := map[string][]string{} // by directory
	err := filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == ".git" || ignored(ignores, rel, entry.IsDir()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			ignores[rel], err = readIgnore(filepath.Join(full, ".gitignore"))
			return err
		}
		if entry.Type().IsRegular() {
			files = append(files, rel)
		}
		return nil
	})
	return files, err
}

func readIgnore(file string) ([]string, error) {
	data, err := os.ReadFile(file) //nolint:gosec // a .gitignore of the tree
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var patterns []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		_, err := path.Match(line, "")
		if err != nil || strings.HasPrefix(line, "!") || strings.Contains(line, "**") {
			return nil, &fs.PathError{Op: "read pattern " + line, Path: file, Err: path.ErrBadPattern}
		}
		patterns = append(patterns, line)
	}
	return patterns, nil
}

// ignored reports whether a pattern of a directory above rel leaves it out.
func ignored(ignores map[string][]string, rel string, isDir bool) bool {
	for dir := rel; dir != "."; {
		dir = path.Dir(dir)
		below := rel
		if dir != "." {
			below = strings.TrimPrefix(rel, dir+"/")
		}
		for _, pattern := range ignores[dir] {
			if matchIgnore(pattern, below, isDir) {
				return true
			}
		}
	}
	return false
}

func matchIgnore(pattern, name string, isDir bool) bool {
	pattern, dirOnly := strings.CutSuffix(pattern, "/")
	if dirOnly && !isDir {
		return false
	}
	anchored := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if !anchored {
		name = path.Base(name)
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// isBinary reports whether a file's content is not text.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
}

// goSource reports whether a path is Go source of the repository, fixtures in
// testdata directories left out.
func goSource(name string) bool {
	return path.Ext(name) == ".go" && !strings.Contains("/"+name, "/testdata/")
}
