package deptest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/taskbridge/taskbridge/internal/deptest"
)

// tree writes the files of a txtar archive to a new directory.
func tree(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func exactly(t *testing.T, want, got []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, slices.Sorted(slices.Values(got))); d != "" {
		t.Errorf("problems: -want +got\n%s", d)
	}
}

func TestOversizeFails(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- ok.go --
package x

func ok() {
	_ = 1
}
-- long.go --
package x

func long() {
	_ = 1
	_ = 2
	_ = 3
}

// 9
-- long_test.go --
package x

func inTest() {
	_ = func() {
		_ = 1
	}
}

var literal = func() {
	_ = 1
	_ = 2
	_ = 3
}
-- testdata/fixture.go --
package x

func fixture() {
	_ = 1
	_ = 2
	_ = 3
}
-- gen/.gitignore --
out/
-- gen/out/ignored.go --
package x

func ignored() {
	_ = 1
	_ = 2
	_ = 3
}
`)
	got, err := deptest.Oversize(dir, deptest.Limits{File: 8, TestFile: 12, Func: 4})
	exactly(t, []string{
		"long.go: 9 lines, more than 8",
		"long.go:3: long has 5 lines, more than 4",
		"long_test.go: 13 lines, more than 12",
		"long_test.go:3: inTest has 5 lines, more than 4",
		"long_test.go:9: function literal has 5 lines, more than 4",
	}, got, err)
}

// undocumented has one of everything, with and without a comment.
const undocumented = `
-- good/doc.go --
// Package good is good.
package good
-- good/good.go --
package good

// Documented is.
type Documented struct {
	A int
}

// Seam can be Named.
type Seam interface {
	// Do does.
	Do()
	Undone()
	Named()
	Also() // Also is.
	Error() string
}

type hidden struct{ X int }

func (hidden) Method() {}

func (d *Documented) Error() string { return "" }

func (d *Documented) Bare() {}

func Function() {}

type Bare struct{}

const One, two = 1, 2

// A block has one comment.
const (
	Three = 3
	Four  = 4
)

var Five = 5

var (
	// Six is.
	Six   = 6
	Seven = 7
)
-- good/good_test.go --
package good

func ExportedInTest() {}
-- nodoc/nodoc.go --
// Package nodoc has its comment in the wrong file.
package nodoc
-- emptydoc/doc.go --
package emptydoc
-- testsonly/a_test.go --
package testsonly
`

func TestUndocumentedFails(t *testing.T) {
	t.Parallel()
	dir := tree(t, undocumented)
	got, err := deptest.Undocumented(dir)
	exactly(t, []string{
		"emptydoc: no doc.go with a package comment",
		"good/good.go:12:2: Seam.Undone has no comment",
		"good/good.go:24:22: Documented.Bare has no comment",
		"good/good.go:26:6: Function has no comment",
		"good/good.go:28:6: Bare has no comment",
		"good/good.go:30:7: One has no comment",
		"good/good.go:38:5: Five has no comment",
		"good/good.go:43:2: Seven has no comment",
		"nodoc: no doc.go with a package comment",
	}, got, err)
}

func TestForbiddenFails(t *testing.T) {
	t.Parallel()
	words := []deptest.Word{{Text: "/home", Why: "mine"}, {Text: "host.example", Why: "theirs"}}
	dir := tree(t, `
-- a.txt --
cd /home/me
cd /HOME
see "/home".
no: at-home, /homes, ./home, x/home, /home-made
-- dir/b.json --
{"resolved":"https://HOST.example/x"}
sent to host.example.
no: myhost.example, host.examples, host.example.org
-- .git/config --
/home
-- .gitignore --
skipped/
-- skipped/c --
/home
`)
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte("\x00 /home"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := deptest.Forbidden(dir, words)
	exactly(t, []string{
		"a.txt:1: /home (mine)",
		"a.txt:2: /home (mine)",
		"a.txt:3: /home (mine)",
		"dir/b.json:1: host.example (theirs)",
		"dir/b.json:2: host.example (theirs)",
	}, got, err)
}

func TestForbiddenWordsAreWhole(t *testing.T) {
	t.Parallel()
	var archive strings.Builder
	for _, w := range deptest.Words() {
		archive.WriteString("-- " + strings.Trim(w.Text, "/") + " --\nin " + w.Text + "/x here\n")
	}
	got, err := deptest.Forbidden(tree(t, archive.String()), deptest.Words())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(deptest.Words()) {
		t.Errorf("%d of %d words are found: %q", len(got), len(deptest.Words()), got)
	}
}

func TestDeadPathsFails(t *testing.T) {
	t.Parallel()
	dir := tree(t, "-- README.md --\n"+
		"See `internal/env`, `internal/env/env.go:12`, `internal/env.Clock`, `./internal/...`, `internal/*/env.go`,\n"+
		"`env.go`, `tasks/get`, `go test ./...`, `config.yaml`, `LICENSE`, [a](docs/a.md#top), [b](https://x.example/y), [c](#d).\n"+
		"Gone: `internal/gone`, `internal/env/gone.go`, `gone.go`, `./internal/gone/...`, `internal/*/gone.go`, `docs/`.\n"+
		"Gone: [a](docs/gone.md), ![b](gone.png).\n"+
		"```sh\ncat `internal/gone`\n```\n"+
		"~~~\n`internal/gone`\n```\n`internal/gone`\n~~~\n"+
		"Gone: `internal/last`.\n"+
		"-- docs/a.md --\n[up](../README.md), [beside](b.md)\n"+
		"-- internal/env/env.go --\npackage env\n"+
		"-- interop/README.md --\n`internal/gone`, `drivers/a.mjs`, `drivers/`, `drivers/gone.mjs`, `internal/env`\n"+
		"-- interop/drivers/a.mjs --\n"+
		"-- other/README.md --\n`internal/gone`\n")
	documents, err := deptest.Documents(dir, "interop/README.md", "missing/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"README.md", "docs/a.md", "interop/README.md"}, documents); d != "" {
		t.Errorf("documents: -want +got\n%s", d)
	}
	got, err := deptest.DeadPaths(dir, documents)
	exactly(t, []string{
		"README.md:13: internal/last is not there",
		"README.md:3: ./internal/gone/... is not there",
		"README.md:3: gone.go is not there",
		"README.md:3: internal/*/gone.go is not there",
		"README.md:3: internal/env/gone.go is not there",
		"README.md:3: internal/gone is not there",
		"README.md:4: docs/gone.md is not there",
		"README.md:4: gone.png is not there",
		"docs/a.md:1: b.md is not there",
		"interop/README.md:1: drivers/gone.mjs is not there",
		"interop/README.md:1: internal/gone is not there",
	}, got, err)
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- .gitignore --
# built
bin/
/only-here
*.log
-- bin/x --
-- a/bin/x --
-- a/bin.go --
-- only-here --
-- a/only-here --
-- a/x.log --
-- a/.gitignore --
/deep/out
-- a/deep/out --
-- a/b/deep/out --
`)
	got, err := deptest.Tree(dir)
	exactly(t, []string{".gitignore", "a/.gitignore", "a/b/deep/out", "a/bin.go", "a/only-here"}, got, err)

	for _, bad := range []string{"!kept", "a/**/b", "["} {
		if _, err := deptest.Tree(tree(t, "-- .gitignore --\n"+bad+"\n")); err == nil {
			t.Errorf("a .gitignore with %q gives no error", bad)
		}
	}
}
