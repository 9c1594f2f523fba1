package goldentest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the output sections of golden files (refused when CI is set)")

// A Suite runs the golden files of one directory and one kind.
type Suite struct {
	// Dir is the directory of the files below the root, with slashes.
	Dir string
	// Glob picks files of Dir by name as path.Match does; empty means all
	// golden files. Directories below Dir need a suite of their own.
	Glob string
	// Schema names the sections the files may have.
	golden.Schema
	// Func reads a case's inputs and hands in its outputs. It may call
	// t.Parallel, and may enter a synctest bubble after reading the inputs.
	Func func(t *testing.T, c *Case)
	// Package stands in for Func in Covered: the directory, relative to the
	// test's own, of the package whose tests run these files.
	Package string
}

// Run runs every file of the suites below root as a subtest, and fails for
// files in the suites' directories that none of them runs. A file belongs to
// exactly one suite.
func Run(t *testing.T, root string, suites ...Suite) {
	t.Helper()
	if *update && os.Getenv("CI") != "" {
		t.Fatal("-update is refused when CI is set: golden files are accepted by a person")
	}
	plan, problems := layOut(root, suites)
	for _, s := range suites {
		if s.Func == nil {
			problems = append(problems, fmt.Sprintf("suite %s has no Func", s.pattern()))
		}
	}
	if len(problems) > 0 {
		t.Fatal(strings.Join(problems, "\n"))
	}
	for _, item := range plan {
		t.Run(strings.TrimSuffix(item.name, golden.Ext), func(t *testing.T) {
			c := load(t, filepath.Join(root, filepath.FromSlash(item.name)), item.suite.Schema)
			// A cleanup runs after parallel subtests, which may produce outputs too.
			t.Cleanup(func() { c.finish(t, *update) })
			item.suite.Func(t, c)
		})
	}
}

// Covered fails for every file below root that no suite runs, except a
// README.md at the root itself; for every suite without a file; and for every
// suite of another package (Suite.Package) that no test there runs.
func Covered(t testing.TB, root string, suites ...Suite) {
	t.Helper()
	plan, problems := layOut(root, suites)
	names, err := golden.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	claimed := map[string]bool{"README.md": true}
	for _, item := range plan {
		claimed[item.name] = true
	}
	for _, name := range names {
		if !claimed[name] {
			problems = appendNew(problems, unreadMessage(root, name))
		}
	}
	for _, s := range suites {
		switch {
		case s.Func == nil && s.Package == "":
			problems = append(problems, fmt.Sprintf("suite %s has neither Func nor Package", s.pattern()))
		case s.Func == nil:
			if err := runElsewhere(s); err != nil {
				problems = append(problems, err.Error())
			}
		}
	}
	for _, p := range problems {
		t.Error(p)
	}
}

type planned struct {
	name  string // below the root, with slashes
	suite Suite
}

// layOut gives every file of the suites' directories its suite and reports
// what does not work out.
func layOut(root string, suites []Suite) (plan []planned, problems []string) {
	names, err := golden.Files(root)
	if err != nil {
		return nil, []string{err.Error()}
	}
	if len(suites) == 0 {
		problems = append(problems, "no suites")
	}
	used := make([]bool, len(suites))
	for _, name := range names {
		owners := ownersOf(name, suites)
		for _, i := range owners {
			used[i] = true
		}
		switch {
		case len(owners) > 1:
			problems = append(problems, fmt.Sprintf("%s: more than one suite runs this file", path.Join(filepath.ToSlash(root), name)))
		case len(owners) == 1:
			plan = append(plan, planned{name: name, suite: suites[owners[0]]})
		case name != "README.md" && inDirOf(name, suites):
			problems = append(problems, unreadMessage(root, name))
		}
	}
	for i, s := range suites {
		if err := s.check(); err != nil {
			problems = append(problems, fmt.Sprintf("suite %s: %v", s.pattern(), err))
		} else if !used[i] {
			problems = append(problems, fmt.Sprintf("suite %s has no files below %s", s.pattern(), filepath.ToSlash(root)))
		}
	}
	return plan, problems
}

func (s Suite) pattern() string {
	glob := s.Glob
	if glob == "" {
		glob = "*" + golden.Ext
	}
	return path.Join(s.Dir, glob)
}

func (s Suite) check() error {
	if _, err := path.Match(s.pattern(), ""); err != nil {
		return err
	}
	if path.Ext(s.pattern()) != golden.Ext {
		return errors.New("the files of a suite end in " + golden.Ext)
	}
	return s.Check()
}

func ownersOf(name string, suites []Suite) (owners []int) {
	for i, s := range suites {
		if ok, err := path.Match(s.pattern(), name); err == nil && ok {
			owners = append(owners, i)
		}
	}
	return owners
}

func inDirOf(name string, suites []Suite) bool {
	return slices.ContainsFunc(suites, func(s Suite) bool { return path.Dir(s.pattern()) == path.Dir(name) })
}

func unreadMessage(root, name string) string {
	return path.Join(filepath.ToSlash(root), name) + ": no suite reads this file"
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
