//go:build interop

package readme_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/readme"
)

func TestRunGoodDocument(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := readme.Runner{Path: filepath.Join("testdata", "good.md"), Log: &log}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "testdata/good.md:4: serve ok\n" +
		"testdata/good.md:16: run ok\n" +
		"testdata/good.md:30: run ok\n" +
		"testdata/good.md:45: run ok\n" +
		"testdata/good.md:50: skip skipped: only for show\n" +
		"testdata/good.md:57: serve ok\n" +
		"testdata/good.md:66: run ok\n"
	if d := cmp.Diff(want, log.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestRunTestBlocks(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := readme.Runner{Path: filepath.Join("testdata", "good.md"), Tests: true, Log: &log}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("ok 1 test\ntestdata/good.md:71: test ok\n", log.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	const server = "trap 'exit 0' INT\necho ready\nwhile :; do sleep 0.05; done\n"
	serve := func(script, ready string) string {
		return "<!-- ci: serve timeout=5s -->\n```sh\n" + script + "```\n```text\n" + ready + "\n```\n"
	}
	run := func(marker, script, want string) string {
		doc := "<!-- ci: run" + marker + " -->\n```sh\n" + script + "\n```\n"
		if want != "" {
			doc += "```text\n" + want + "\n```\n"
		}
		return doc
	}
	for name, tc := range map[string]struct {
		document string
		tests    bool
		want     string // in the error; empty for a pass
	}{
		"a good one":                           {serve(server, "ready") + run("", "echo x", "x"), false, ""},
		"standard error is compared too":       {run("", "echo x >&2", "x"), false, ""},
		"other output":                         {run("", "echo x", "y"), false, "README.md:2: ci: run: line 5 says it prints something else"},
		"a command that fails":                 {run("", "false", ""), false, "exit status 1, want 0"},
		"a command that fails in the middle":   {run("", "(exit 3)\ntrue", ""), false, "exit status 3, want 0"},
		"a command that must fail and does":    {run(" exit=3", "(exit 3)", ""), false, ""},
		"a command that must fail and doesn't": {run(" exit=3", "true", ""), false, "exit status 0, want 3"},
		"a failure does not carry over":        {run(" exit=1", "false", "") + run("", "echo x", "x"), false, ""},
		"a block that ends the shell":          {run("", "exit 0", ""), false, "bash ended during the block"},
		"a block that takes too long":          {run(" timeout=100ms", "echo started; sleep 60", ""), false, "not done after 100ms"},
		"a block reads no input":               {run("", "cat", ""), false, ""},
		"a server that ends":                   {serve("echo ready? no\n", "ready"), false, "the server ended before it was ready"},
		"a server that is never ready":         {strings.Replace(serve(server, "other"), "5s", "200ms", 1), false, "the server was not ready after 200ms"},
		"a server that ends later": {
			serve("echo $$ >\"$XDG_STATE_HOME.pid\"\necho ready\nsleep 0.1\n", "ready") +
				run("", "while kill -0 \"$(cat \"$XDG_STATE_HOME.pid\")\" 2>/dev/null; do sleep 0.05; done", ""),
			false, "the server ended by itself",
		},
		"a server that fails to stop cleanly": {
			serve(strings.Replace(server, "exit 0", "exit 7", 1), "ready") + run("", "true", ""), false, "the server was interrupted and ended with: exit status 7",
		},
		"a go run server that fails to stop cleanly": {
			serve("go run ./server/main.go\n", "ready at ...") + run("", "touch \"$XDG_STATE_HOME/fail\"", ""), false,
			"the server was interrupted and ended with: exit status 1",
		},
		"no steps":                 {"# nothing\n", false, "no block to run"},
		"only tests":               {"<!-- ci: test -->\n```sh\ntrue\n```\n", false, "no block to run"},
		"no tests":                 {run("", "true", ""), true, "no block to run"},
		"a test that fails":        {"<!-- ci: test -->\n```sh\nfalse\ntrue\n```\n", true, "exit status 1"},
		"a document of no meaning": {"```sh\n", false, "a fenced block without an end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "README.md")
			if err := os.WriteFile(path, []byte(tc.document), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(filepath.Dir(path), "server"), os.DirFS(filepath.Join("testdata", "server"))); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			err := (&readme.Runner{Path: path, Tests: tc.tests, Log: &log}).Run(t.Context())
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("it fails: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, want one that says %q", err, tc.want)
			}
		})
	}
}
