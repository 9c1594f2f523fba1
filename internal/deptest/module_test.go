package deptest_test

import (
	"path/filepath"
	"testing"

	"github.com/taskbridge/taskbridge/internal/deptest"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := deptest.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func none(t *testing.T, problems []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

func TestImportGraph(t *testing.T) {
	t.Parallel()
	m, err := deptest.Load(t.Context(), root(t))
	if err != nil {
		t.Fatal(err)
	}
	none(t, m.Check(deptest.Rules, deptest.Absent), nil)
	none(t, m.Strays(deptest.Layout), nil)
}

func TestSizes(t *testing.T) {
	t.Parallel()
	problems, err := deptest.Oversize(root(t), deptest.Sizes)
	none(t, problems, err)
}

func TestComments(t *testing.T) {
	t.Parallel()
	problems, err := deptest.Undocumented(root(t))
	none(t, problems, err)
}

func TestForbiddenWords(t *testing.T) {
	t.Parallel()
	problems, err := deptest.Forbidden(root(t), deptest.Words())
	none(t, problems, err)
}

func TestDocumentedPaths(t *testing.T) {
	t.Parallel()
	documents, err := deptest.Documents(root(t), "interop/README.md", "testdata/golden/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) == 0 {
		t.Fatal("no documents found")
	}
	problems, err := deptest.DeadPaths(root(t), documents)
	none(t, problems, err)
}

// TestEveryRuleIsNamed: every rule has a test that names it, and no test names a rule
// that there is not.
func TestEveryRuleIsNamed(t *testing.T) {
	t.Parallel()
	rules, err := deptest.ReadRules(filepath.Join(root(t), "testdata", "spec", "rules.txt"))
	if err != nil {
		t.Fatal(err)
	}
	named, err := deptest.RulesNamed(root(t))
	none(t, deptest.Misnamed(rules, named, deptest.DirectionA, deptest.DirectionB, deptest.DirectionBoth, deptest.DirectionSame), err)
}
