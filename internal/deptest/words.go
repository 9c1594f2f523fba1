package deptest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Word is text that no file of the repository may hold.
type Word struct {
	// Text is matched without regard to case and as a whole: no letter, digit
	// or path character may stand before it, and none but a slash after it.
	Text string
	// Why is the reason, shown with every find.
	Why string
}

// Words are the forbidden words of this repository, put together here from
// parts so that this file does not hold them either.
func Words() []Word {
	const (
		machine  = "a path of somebody's machine"
		registry = "a package registry: lock files are kept without addresses"
	)
	words := []Word{}
	for _, dir := range []string{"work", "root", "tmp/" + "brief"} {
		words = append(words, Word{"/" + dir, machine})
	}
	for _, host := range [][]string{
		{"proxy", "golang", "org"},
		{"sum", "golang", "org"},
		{"registry", "npmjs", "org"},
		{"registry", "yarnpkg", "com"},
		{"pypi", "org"},
		{"files", "pythonhosted", "org"},
		{"static", "crates", "io"},
		{"repo1", "maven", "org"},
		{"deb", "debian", "org"},
	} {
		words = append(words, Word{strings.Join(host, "."), registry})
	}
	return words
}

// Forbidden returns every line of the tree at root that holds one of the
// words. Binary files are not read.
func Forbidden(root string, words []Word) ([]string, error) {
	names, err := Tree(root)
	if err != nil {
		return nil, err
	}
	patterns := make([]*regexp.Regexp, len(words))
	for i, w := range words {
		patterns[i] = regexp.MustCompile(`(?i)(^|[^\w./-])` + regexp.QuoteMeta(w.Text) + `($|[^\w.-]|\.($|\W))`)
		if !strings.HasPrefix(w.Text, "/") {
			patterns[i] = regexp.MustCompile(`(?i)(^|[^\w.-])` + regexp.QuoteMeta(w.Text) + `($|[^\w.-]|\.($|\W))`)
		}
	}
	var problems []string
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))) //nolint:gosec // a file of the tree
		if err != nil {
			return nil, err
		}
		if isBinary(data) {
			continue
		}
		// Almost no file holds a word; the patterns are for those that do.
		lower := bytes.ToLower(data)
		for i, w := range words {
			if !bytes.Contains(lower, []byte(strings.ToLower(w.Text))) {
				continue
			}
			n := 0
			for line := range strings.Lines(string(data)) {
				n++
				if patterns[i].MatchString(line) {
					problems = append(problems, fmt.Sprintf("%s:%d: %s (%s)", name, n, w.Text, w.Why))
				}
			}
		}
	}
	return problems, nil
}
