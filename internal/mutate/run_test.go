package mutate_test

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/mutate"
)

func config(packages ...string) mutate.Config {
	return mutate.Config{Dir: ".", Packages: packages, Parallel: 2, Log: io.Discard}
}

// lines gives results as "verdict line: text", sorted.
func lines(results []mutate.Result, want ...mutate.Verdict) []string {
	var out []string
	for _, r := range results {
		if len(want) == 0 || slices.Contains(want, r.Verdict) {
			_, short, _ := strings.Cut(r.String(), ".go:")
			out = append(out, string(r.Verdict)+" "+short)
		}
	}
	slices.Sort(out)
	return out
}

func TestRunFindsTheGaps(t *testing.T) {
	t.Parallel()
	results, err := mutate.Run(t.Context(), config("./testdata/fix"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`survived 118:5: equivalent: cond: n > 0`,
		`survived 121:2: equivalent: stmt: n += 0`,
		`survived 35:36: table: elem: 2: "two"`,
		`survived 44:7: names: case: "untested"`,
		`survived 89:39: defaults: field: level: 2`,
	}
	if d := cmp.Diff(want, lines(results, mutate.Survived, mutate.TimedOut, mutate.NotCompiled)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	ops := map[mutate.Op]int{}
	for _, r := range results {
		if r.Verdict == mutate.Killed {
			ops[r.Op]++
		}
	}
	wantOps := map[mutate.Op]int{
		mutate.OpCase: 9, mutate.OpStmt: 7, mutate.OpCond: 4, mutate.OpElem: 3,
		mutate.OpField: 2, mutate.OpArg: 2, mutate.OpCall: 1, mutate.OpWith: 2,
	}
	if d := cmp.Diff(wantOps, ops); d != "" {
		t.Errorf("killed by kind: -want +got\n%s", d)
	}
}

func TestRunBuildsWhatHasNoSwitch(t *testing.T) {
	t.Parallel()
	c := config("./testdata/odd")
	c.Timeout = 5 * time.Second
	results, err := mutate.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`killed 15:25: nested: elem: {"a"}`,
		`killed 15:26: nested: elem: "a"`,
		`killed 15:32: nested: elem: {strings.ToUpper("b")}`,
		`killed 19:6: forever: cond: i != n`,
		`killed 9:5: named: cond: f`,
		`not compiled 15:33: nested: elem: strings.ToUpper("b")`,
		`timed out 20:3: forever: stmt: i++`,
	}
	if d := cmp.Diff(want, lines(results)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestRunLeavesTheTreeAlone(t *testing.T) {
	t.Parallel()
	read := func() map[string]string {
		files := map[string]string{}
		entries, err := os.ReadDir("testdata/fix")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile("testdata/fix/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(text)
		}
		return files
	}
	before := read()
	c := config("./testdata/fix")
	c.Match = regexp.MustCompile(`joined`)
	if _, err := mutate.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, read()); d != "" {
		t.Errorf("the package has changed: -before +after\n%s", d)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(c *mutate.Config)
		want   string
	}{
		"tests that fail anyway": {func(c *mutate.Config) { c.Packages = []string{"./testdata/red"} }, "fail without a change"},
		"no such package":        {func(c *mutate.Config) { c.Packages = []string{"./testdata/gone"} }, "go list"},
		"no tests":               {func(c *mutate.Config) { c.Tests = []string{"./cmd"} }, "no tests"},
		"no mutants":             {func(c *mutate.Config) { c.Match = regexp.MustCompile("nothing like it") }, "nothing to change"},
		"an unknown kind":        {func(c *mutate.Config) { c.Ops = []mutate.Op{"swap"} }, `unknown kind of change "swap"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config("./testdata/fix")
			tc.change(&c)
			if _, err := mutate.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one that says %q", err, tc.want)
			}
		})
	}
}

func TestFindTakesKinds(t *testing.T) {
	t.Parallel()
	c := config("./testdata/fix")
	c.Ops = []mutate.Op{mutate.OpArg, mutate.OpCall}
	found, err := mutate.Find(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, m.String())
	}
	want := []string{
		`internal/mutate/testdata/fix/fix.go:85:9: write: call: append(w.buf, '.')`,
		`internal/mutate/testdata/fix/fix.go:107:36: joined: arg: "x"`,
		`internal/mutate/testdata/fix/fix.go:107:41: joined: arg: "y"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

const list = `# equivalent mutants
fix.go | equivalent | cond | n > 0 | both ways return n

fix.go | f | stmt | a | b | the text may hold the separator
`

func TestReadAllowed(t *testing.T) {
	t.Parallel()
	got, err := mutate.ReadAllowed(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	want := []mutate.Allowed{
		{Key: "fix.go | equivalent | cond | n > 0", Reason: "both ways return n", Line: 2},
		{Key: "fix.go | f | stmt | a | b", Reason: "the text may hold the separator", Line: 4},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for name, bad := range map[string]string{
		"no reason":    "fix.go | f | stmt | x\n",
		"empty reason": "fix.go | f | stmt | x | \n",
		"twice":        "fix.go | f | stmt | x | r\nfix.go | f | stmt | x | other\n",
	} {
		if _, err := mutate.ReadAllowed(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	mutant := func(text string, v mutate.Verdict) mutate.Result {
		return mutate.Result{Verdict: v, Mutant: &mutate.Mutant{
			Op: mutate.OpStmt, File: "a.go", Line: 3, Column: 2, Func: "f", Text: text,
		}}
	}
	results := []mutate.Result{
		mutant("killed()", mutate.Killed), mutant("slow()", mutate.TimedOut), mutant("odd()", mutate.NotCompiled),
		mutant("same()", mutate.Survived), mutant("same()", mutate.Survived),
	}
	allow := func(text string) mutate.Allowed {
		return mutate.Allowed{Key: "a.go | f | stmt | " + text, Reason: "r", Line: 7}
	}
	for name, tc := range map[string]struct {
		allowed []mutate.Allowed
		good    bool
		want    string
	}{
		"a survivor": {nil, false, "survived: a.go:3:2: f: stmt: same()\nsurvived: a.go:3:2: f: stmt: same()\n" +
			"5 mutants: 1 killed, 1 timed out, 1 not compiled, 2 survived (0 of them allowed)\n"},
		"allowed survivors": {
			[]mutate.Allowed{allow("same()")},
			true,
			"5 mutants: 1 killed, 1 timed out, 1 not compiled, 2 survived (2 of them allowed)\n",
		},
		"an entry for a killed one": {
			[]mutate.Allowed{allow("same()"), allow("killed()")},
			false,
			"allowed, but nothing like it survived: line 7: a.go | f | stmt | killed()\n" +
				"5 mutants: 1 killed, 1 timed out, 1 not compiled, 2 survived (2 of them allowed)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := mutate.Judge(results, tc.allowed)
			var out bytes.Buffer
			if err := j.Write(&out); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, out.String()); d != "" || j.Good() != tc.good {
				t.Errorf("good is %v; -want +got\n%s", j.Good(), d)
			}
		})
	}
}
