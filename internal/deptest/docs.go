package deptest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	fence = regexp.MustCompile("^ *(```+|~~~+)")
	// code is an inline code span; link the target of a link or image.
	code = regexp.MustCompile("`([^`]+)`")
	link = regexp.MustCompile(`\]\(([^()\s]+)[^()]*\)`)
	// pathLike is what may be a path: no spaces, no shell or JSON in it.
	pathLike = regexp.MustCompile(`^[\w./*-]+$`)
	// lineSuffix and identSuffix follow a path: file.go:12, internal/env.Clock.
	lineSuffix  = regexp.MustCompile(`(:\d+)+$`)
	identSuffix = regexp.MustCompile(`\.[A-Z]\w*(\.\w+)*$`)
)

// fileExts are the extensions by which a bare name is taken for a file of the
// repository. Names a user would choose (config.yaml, data.db) are not here.
var fileExts = []string{".go", ".md", ".mjs", ".sh", ".txtar", ".mod", ".sum", ".json"}

// DeadPaths returns every path that a document names and that is not there:
// in backticks, if its first part is a directory at root or beside the document
// or if it is a bare file name that no file has; and as the target of a
// relative link. Fenced blocks are not read.
func DeadPaths(root string, documents []string) ([]string, error) {
	tree, err := Tree(root)
	if err != nil {
		return nil, err
	}
	index := newPathIndex(tree)
	var problems []string
	for _, doc := range documents {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(doc))) //nolint:gosec // a file of the tree
		if err != nil {
			return nil, err
		}
		report := func(line int, named string) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s is not there", doc, line, named))
		}
		for n, line := range prose(string(data)) {
			for _, m := range code.FindAllStringSubmatch(line, -1) {
				if named := m[1]; !index.resolves(path.Dir(doc), named) {
					report(n, named)
				}
			}
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if named := m[1]; !index.linked(path.Dir(doc), named) {
					report(n, named)
				}
			}
		}
	}
	return problems, nil
}

// Documents returns the documents of the tree whose paths must resolve: those
// at the root, below docs, and the named ones if they are there.
func Documents(root string, more ...string) ([]string, error) {
	tree, err := Tree(root)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tree, func(name string) bool {
		inPlace := !strings.Contains(name, "/") || strings.HasPrefix(name, "docs/") || slices.Contains(more, name)
		return path.Ext(name) != ".md" || !inPlace
	}), nil
}

// prose yields the numbered lines of a document outside its fenced blocks.
func prose(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		open, n := "", 0
		for line := range strings.Lines(text) {
			n++
			if m := fence.FindStringSubmatch(line); m != nil {
				switch {
				case open == "":
					open = m[1]
				case strings.HasPrefix(m[1], open):
					open = ""
				}
				continue
			}
			if open == "" && !yield(n, line) {
				return
			}
		}
	}
}

type pathIndex struct {
	paths map[string]bool // files and directories
	bases map[string]bool // base names of files
}

func newPathIndex(tree []string) pathIndex {
	index := pathIndex{paths: map[string]bool{".": true}, bases: map[string]bool{}}
	for _, name := range tree {
		index.bases[path.Base(name)] = true
		for p := name; p != "."; p = path.Dir(p) {
			index.paths[p] = true
		}
	}
	return index
}

// resolves reports whether a code span in a document of dir is a path that is
// there, or no path of the repository at all.
func (x pathIndex) resolves(dir, span string) bool {
	name := lineSuffix.ReplaceAllString(span, "")
	if !pathLike.MatchString(name) || strings.HasPrefix(name, "/") {
		return true
	}
	name = strings.TrimPrefix(name, "./")
	top, _, below := strings.Cut(name, "/")
	if !below {
		return !slices.Contains(fileExts, path.Ext(name)) || strings.HasPrefix(name, ".") || x.hasBase(name)
	}
	bare := identSuffix.ReplaceAllString(name, "")
	elsewhere := true
	for _, base := range []string{".", dir} {
		if x.paths[path.Join(base, top)] {
			elsewhere = false
			if x.has(path.Join(base, name)) || x.has(path.Join(base, bare)) {
				return true
			}
		}
	}
	return elsewhere
}

// linked reports whether the target of a link in a document of dir is there,
// or leads elsewhere.
func (x pathIndex) linked(dir, target string) bool {
	target, _, _ = strings.Cut(target, "#")
	if target == "" || strings.Contains(target, ":") {
		return true
	}
	return x.has(path.Join(dir, target))
}

func (x pathIndex) has(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/..."), "/**")
	return x.paths[name] || strings.Contains(name, "*") && matchesOne(x.paths, name)
}

func (x pathIndex) hasBase(name string) bool {
	return x.bases[name] || strings.Contains(name, "*") && matchesOne(x.bases, name)
}

func matchesOne(names map[string]bool, pattern string) bool {
	for name := range names {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
	}
	return false
}
