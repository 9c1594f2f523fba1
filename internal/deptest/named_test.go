package deptest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/deptest"
)

// namedTree spells names with a tilde: it proves none of those rules.
const namedTree = `
-- rules.txt --
A~L1 A
A~L10 A
A~T1 A
A~X1 A
A~X2 A
B~G1 B
G~1 both
G~2 both
S~1 same
-- a/a_test.go --
package a

// TestOne proves A~L10 on the way.
func TestOne(t *testing.T) {
	// A~T1 is not proved by saying so.
	for _, name := range []string{"A~L1 a case", "SHA~256"} {
		_ = name // G~2
	}
}

// helper is not A~X1.
func helper() {}
-- a/a.go --
package a

const text = "G~1"
-- testdata/golden/get/a.txtar --
A case, and more than A~X2.
Spec: something. Rules: A~Z9 (of no kind),
A~X1.
-- method --
A~T1
`

func TestNamedRules(t *testing.T) {
	t.Parallel()
	dir := tree(t, strings.ReplaceAll(namedTree, "~", "-"))
	rules, err := deptest.ReadRules(filepath.Join(dir, "rules.txt"))
	if err != nil {
		t.Fatal(err)
	}
	named, err := deptest.RulesNamed(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for rule, places := range named {
		got[strings.ReplaceAll(rule, "-", "~")] = places
	}
	want := map[string][]string{
		"A~L1": {"a/a_test.go"}, "A~L10": {"a/a_test.go"},
		"A~Z9": {"testdata/golden/get/a.txtar"}, "A~X1": {"testdata/golden/get/a.txtar"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("named: -want +got\n%s", d)
	}
	problems := deptest.Misnamed(rules, named, deptest.DirectionA, deptest.DirectionBoth)
	for i, p := range problems {
		problems[i] = strings.ReplaceAll(p, "-", "~")
	}
	exactly(t, []string{
		"A~T1 is named by no test", "A~X2 is named by no test",
		"A~Z9 is no rule (testdata/golden/get/a.txtar)",
		"G~1 is named by no test", "G~2 is named by no test",
	}, problems, nil)
}

func TestReadRulesFails(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no direction":      "A~L1\n",
		"another direction": "A~L1 C\n",
		"no rule":           "A~l1 A\n",
		"twice":             "A~L1 A\nA-L1 A\n",
		"out of order":      "A~L2 A\nA-L1 A\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, "-- rules.txt --\n"+strings.ReplaceAll(text, "~", "-"))
			if rules, err := deptest.ReadRules(filepath.Join(dir, "rules.txt")); err == nil {
				t.Errorf("read as %v", rules)
			}
		})
	}
	if _, err := deptest.ReadRules(filepath.Join(t.TempDir(), "rules.txt")); err == nil {
		t.Error("a file that is not there was read")
	}
}
