package goldentest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// suites are those of the fixture tree below; their function translates well.
func suites() []Suite {
	fn := func(_ *testing.T, c *Case) { translate(c) }
	return []Suite{
		{Dir: "get", Schema: schema, Func: fn},
		{Dir: "list", Glob: "down-*.txtar", Schema: schema, Func: fn},
	}
}

func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "README.md"), "about")
	write(t, filepath.Join(root, "get", "one.txtar"), head+method+modern+legacy)
	write(t, filepath.Join(root, "list", "down-one.txtar"), head+method+modern+legacy)
	return root
}

func TestCovered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(t *testing.T, root string, s []Suite) []Suite
		want   string
	}{
		"all files have a suite": {nil, ""},
		"a file of another name": {func(t *testing.T, root string, s []Suite) []Suite {
			write(t, filepath.Join(root, "list", "up-one.txtar"), head)
			return s
		}, "list/up-one.txtar: no suite reads this file"},
		"a file that is no golden": {func(t *testing.T, root string, s []Suite) []Suite {
			write(t, filepath.Join(root, "get", "one.txtar.bak"), head)
			return s
		}, "get/one.txtar.bak: no suite reads this file"},
		"a directory nobody runs": {func(t *testing.T, root string, s []Suite) []Suite {
			write(t, filepath.Join(root, "cancel", "one.txtar"), head)
			return s
		}, "cancel/one.txtar: no suite reads this file"},
		"a directory below a suite's": {func(t *testing.T, root string, s []Suite) []Suite {
			write(t, filepath.Join(root, "get", "deep", "one.txtar"), head)
			return s
		}, "get/deep/one.txtar: no suite reads this file"},
		"a README below the root": {func(t *testing.T, root string, s []Suite) []Suite {
			write(t, filepath.Join(root, "get", "README.md"), head)
			return s
		}, "get/README.md: no suite reads this file"},
		"two suites for a file": {func(_ *testing.T, _ string, s []Suite) []Suite {
			return append(s, s[0])
		}, "get/one.txtar: more than one suite"},
		"a suite without files": {func(_ *testing.T, _ string, s []Suite) []Suite {
			return append(s, Suite{Dir: "cancel", Schema: schema, Func: s[0].Func})
		}, "suite cancel/*.txtar has no files"},
		"a suite nobody runs": {func(_ *testing.T, _ string, s []Suite) []Suite {
			s[0].Func = nil
			return s
		}, "neither Func nor Package"},
		"a suite with a bad glob": {func(_ *testing.T, _ string, s []Suite) []Suite {
			s[1].Glob = "down-[.txtar"
			return s
		}, "syntax error in pattern"},
		"a suite with another extension": {func(_ *testing.T, _ string, s []Suite) []Suite {
			return append(s, Suite{Dir: "get", Glob: "*.json", Schema: schema, Func: s[0].Func})
		}, "end in .txtar"},
		"a suite with a bad schema": {func(_ *testing.T, _ string, s []Suite) []Suite {
			s[0].Inputs = append(s[0].Inputs[:0:0], "legacy.result")
			return s
		}, "both input and output"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, list := tree(t), suites()
			if tc.change != nil {
				list = tc.change(t, root, list)
			}
			messages := onFake(func(tb testing.TB) { Covered(tb, root, list...) })
			if !strings.Contains(strings.Join(messages, "\n"), tc.want) || (tc.want == "") != (len(messages) == 0) {
				t.Errorf("got %q, want a failure that says %q", messages, tc.want)
			}
		})
	}
}

func TestCoveredElsewhere(t *testing.T) {
	t.Parallel()
	const good = "package other_test\nfunc f(t *testing.T) { goldentest.Run(t, root, goldentest.Suite{Dir: \"get\"}) }\n"
	for name, tc := range map[string]struct {
		source string
		want   string
	}{
		"its tests run the directory":        {good, ""},
		"its tests run another directory":    {strings.Replace(good, `"get"`, `"list"`, 1), "no test in"},
		"its tests name it without running":  {strings.Replace(good, "goldentest.Run", "ignore", 1), "no test in"},
		"its tests run it by another runner": {strings.Replace(good, "goldentest.Run", "x.Run", 1), "no test in"},
		"its tests do not parse":             {"package", "expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, other := tree(t), t.TempDir()
			write(t, filepath.Join(other, "other_test.go"), tc.source)
			list := suites()
			list[0].Func, list[0].Package = nil, other
			expect(t, onFake(func(tb testing.TB) { Covered(tb, root, list...) }), tc.want)
		})
	}
}

// TestFixture is not a test of its own: TestRun runs it in a process of its
// own, where it may fail.
func TestFixture(t *testing.T) {
	root := os.Getenv("GOLDENTEST_ROOT")
	if root == "" {
		return
	}
	Run(t, root, suites()...)
}

func TestRun(t *testing.T) {
	t.Parallel()
	stale := head + method + modern + "-- legacy.result --\n{}\n"
	for name, tc := range map[string]struct {
		file string // list/down-two.txtar, besides the good ones
		name string
		args []string
		ci   string
		want string // in the output; empty for a pass
		left string // what the file holds afterwards
	}{
		"a good tree passes":         {file: head + method + modern + legacy, left: head + method + modern + legacy},
		"a difference fails":         {file: stale, want: "--- FAIL: TestFixture/list/down-two", left: stale},
		"an unread file fails":       {name: "two.txtar", file: stale, want: "list/two.txtar: no suite reads this file", left: stale},
		"-update mends":              {file: stale, args: []string{"-update"}, left: head + method + modern + legacy},
		"-update is refused in CI":   {file: stale, args: []string{"-update"}, ci: "true", want: "-update is refused when CI is set", left: stale},
		"CI=false counts as set":     {file: stale, args: []string{"-update"}, ci: "false", want: "-update is refused when CI is set", left: stale},
		"CI without -update is fine": {file: head + method + modern + legacy, ci: "true", left: head + method + modern + legacy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t)
			if tc.name == "" {
				tc.name = "down-two.txtar"
			}
			file := write(t, filepath.Join(root, "list", tc.name), tc.file)
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), exe, append([]string{"-test.run=^TestFixture$"}, tc.args...)...)
			cmd.Env = append(cmd.Environ(), "GOLDENTEST_ROOT="+root, "CI="+tc.ci)
			out, err := cmd.CombinedOutput()
			if (err == nil) != (tc.want == "") || !strings.Contains(string(out), tc.want) {
				t.Errorf("exit %v, output:\n%s\nwant it to say %q", err, out, tc.want)
			}
			left, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.left, string(left)); d != "" {
				t.Errorf("the file: -want +got\n%s", d)
			}
		})
	}
}
