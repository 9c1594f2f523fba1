package deptest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/deptest"
)

// module makes a module from lines "package: imports"; names without a dot
// first are of other modules. Deps follow from the imports.
func module(lines ...string) *deptest.Module {
	m := &deptest.Module{Path: "m.example/m", Packages: map[string]*deptest.Package{}}
	full := func(name string) string {
		if rest, ok := strings.CutPrefix(name, "./"); ok {
			return m.Path + "/" + rest
		}
		return name
	}
	for _, line := range lines {
		name, imports, _ := strings.Cut(line, ":")
		name, test := strings.CutSuffix(name, " test")
		p := m.Packages[full(name)]
		if p == nil {
			p = &deptest.Package{ImportPath: full(name)}
			m.Packages[full(name)] = p
		}
		for _, i := range strings.Fields(imports) {
			if test {
				p.XTestImports = append(p.XTestImports, full(i))
			} else {
				p.Imports = append(p.Imports, full(i))
			}
		}
	}
	for _, p := range m.Packages {
		p.Deps = deps(m, p, map[string]bool{})
	}
	return m
}

func deps(m *deptest.Module, p *deptest.Package, seen map[string]bool) []string {
	var all []string
	for _, i := range p.Imports {
		if seen[i] {
			continue
		}
		seen[i] = true
		all = append(all, i)
		if next := m.Packages[i]; next != nil {
			all = append(all, deps(m, next, seen)...)
		}
	}
	return all
}

func TestCheckFails(t *testing.T) {
	t.Parallel()
	pure := deptest.Rule{Why: "pure", From: []string{"./pure/..."}, Deny: []string{"net"}}
	indirect := pure
	indirect.Indirect = true
	tests := pure
	tests.Tests = true
	except := deptest.Rule{Why: "edge", From: []string{"./..."}, Except: []string{"./edge"}, Deny: []string{"gin/..."}}
	only := deptest.Rule{Why: "down", From: []string{"./port"}, OwnOnly: []string{"./internal/..."}}
	both := deptest.Rule{
		Why: "both", From: []string{"./..."}, Except: []string{"./map"},
		NotBoth: [2]string{"./old", "./new/..."},
	}
	for name, tc := range map[string]struct {
		rule   deptest.Rule
		module *deptest.Module
		want   []string
	}{
		"direct": {
			pure, module("./pure: net", "./pure/below: net", "./purely: net"),
			[]string{
				"./pure must not import net: pure (./pure -> net)",
				"./pure/below must not import net: pure (./pure/below -> net)",
			},
		},
		"an exact pattern does not take in what lies below": {pure, module("./pure: net/url"), nil},
		"indirect is not asked for":                         {pure, module("./pure: ./mid", "./mid: net"), nil},
		"indirect": {
			indirect, module("./pure: ./mid other", "./mid: far", "far: net", "other: far"),
			[]string{"./pure must not import net: pure (./pure -> ./mid -> far -> net)"},
		},
		"tests are not asked for": {pure, module("./pure:", "./pure test: net"), nil},
		"tests": {
			tests, module("./pure:", "./pure test: net"),
			[]string{"./pure must not import net: pure (./pure -> net)"},
		},
		"exceptions": {
			except, module("./edge: gin", "./edge/below: gin/binding", "./other: ginger"),
			[]string{"./edge/below must not import gin/binding: edge (./edge/below -> gin/binding)"},
		},
		"own packages only": {
			only, module("./port: ./internal/env ./task fmt", "./internal/env:", "./task:"),
			[]string{"./port must not import ./task: down (./port -> ./task)"},
		},
		"not both": {
			both, module("./a: ./old ./new/x", "./b: ./old", "./map: ./old ./new/x", "./old:", "./new/x:"),
			[]string{"./a must not import both ./old and ./new/x: both"},
		},
		"a rule about nothing": {pure, module("./other: net"), []string{`rule "pure": pattern ./pure/... matches no package`}},
		"an exception that is gone": {
			except, module("./other:"), []string{`rule "edge": pattern ./edge matches no package`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, tc.module.Check([]deptest.Rule{tc.rule}, deptest.Absences{})); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestAbsences(t *testing.T) {
	t.Parallel()
	rules := []deptest.Rule{{Why: "later", From: []string{"./later"}, Deny: []string{"net"}}}
	later := deptest.Absences{NotBuilt: []string{"./later"}}
	if got := module("./other:").Check(rules, later); got != nil {
		t.Errorf("a package that is listed and not there gives %q", got)
	}
	want := []string{"./later is listed as not built yet, but it is there"}
	if d := cmp.Diff(want, module("./later:").Check(rules, later)); d != "" {
		t.Errorf("a package that is listed and there: -want +got\n%s", d)
	}
	underway := deptest.Absences{Underway: []string{"./later"}}
	for _, m := range []*deptest.Module{module("./other:"), module("./later:")} {
		if got := m.Check(rules, underway); got != nil {
			t.Errorf("a package underway gives %q", got)
		}
	}
}

func TestBrokenPackageFails(t *testing.T) {
	t.Parallel()
	m := module("./a:")
	m.Packages["m.example/m/a"].Error = &struct{ Err string }{"no such package"}
	if d := cmp.Diff([]string{"./a: no such package"}, m.Check(nil, deptest.Absences{})); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestStrays(t *testing.T) {
	t.Parallel()
	m := module("./adapter/x:", "./misc:", "elsewhere:")
	if d := cmp.Diff([]string{"./misc: no place of the layout"}, m.Strays([]string{"./adapter/..."})); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Every rule of the table is broken once: a rule that nothing can break guards
// nothing.
func TestEveryRuleCanFail(t *testing.T) {
	t.Parallel()
	for _, rule := range deptest.Rules {
		t.Run(rule.Why+" "+rule.From[0], func(t *testing.T) {
			t.Parallel()
			from := strings.TrimSuffix(rule.From[0], "/...")
			if from == "." {
				from = "./somewhere"
			}
			if slices.Contains(rule.Except, from) {
				from += "/below"
			}
			var imports []string
			for _, d := range rule.Deny {
				imports = append(imports, strings.TrimSuffix(d, "/..."))
			}
			if rule.OwnOnly != nil {
				imports = append(imports, "./cmd")
			}
			for _, d := range rule.NotBoth {
				if d != "" {
					imports = append(imports, strings.TrimSuffix(d, "/..."))
				}
			}
			m := module(from+": "+strings.Join(imports, " "), "./cmd:")
			found := 0
			for _, p := range m.Check([]deptest.Rule{rule}, deptest.Absences{}) {
				if strings.HasPrefix(p, from+" must not import") {
					found++
				}
			}
			want := len(imports)
			if rule.NotBoth[0] != "" {
				want = 1
			}
			if found != want || want == 0 {
				t.Errorf("%d violations are found, want %d", found, want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- go.mod --
module m.example/m

go 1.26
-- a/a.go --
package a

import _ "m.example/m/b"
-- a/a_test.go --
package a_test

import _ "net"
-- a/tagged.go --
//go:build interop

package a

import _ "os"
-- b/b.go --
package b

import _ "fmt"
-- broken/broken.go --
package broken

import _ "m.example/m/gone"
`)
	m, err := deptest.Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Path != "m.example/m" || len(m.Own()) != 4 {
		t.Errorf("got module %s with %d packages", m.Path, len(m.Own()))
	}
	got := m.Check([]deptest.Rule{{
		Why: "w", From: []string{"./a"}, Deny: []string{"net", "os", "fmt"}, Indirect: true, Tests: true,
	}}, deptest.Absences{})
	for i, want := range []string{
		"./a must not import fmt: w (./a -> ./b -> fmt)",
		"./a must not import net: w (./a -> net)",
		"./a must not import os: w (./a -> os)",
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("problem %d of %q is not %q", i, got, want)
		}
	}
	if len(got) != 4 || !strings.Contains(got[3], "m.example/m/gone") {
		t.Errorf("got %q, want a fourth problem about the broken package", got)
	}
	if _, err := deptest.Load(t.Context(), t.TempDir()); err == nil {
		t.Error("a directory without a module gives no error")
	}
	if _, err := deptest.Root(t.TempDir()); err == nil {
		t.Error("Root finds a module where there is none")
	}
}
