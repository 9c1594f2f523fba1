package deptest

import (
	"fmt"
	"slices"
	"strings"
)

// A Rule restricts what some packages of the module import. Patterns that
// begin with "./" name packages of the module, others are import paths; a
// final "/..." takes in what lies below.
type Rule struct {
	// Why is the reason, shown with every violation.
	Why string
	// From are the module's packages that the rule binds.
	From []string
	// Except are packages of From that it does not bind.
	Except []string
	// Deny are imports they must not have.
	Deny []string
	// OwnOnly, if not nil, are the only packages of the module, besides
	// themselves, that they may import. Others' packages are not touched.
	OwnOnly []string
	// NotBoth are two patterns that one package must not import together.
	NotBoth [2]string
	// Indirect extends Deny to whatever their imports import.
	Indirect bool
	// Tests extends Deny to the imports of their tests.
	Tests bool
}

// Absences are patterns of packages that the rules name and the module lacks.
type Absences struct {
	// NotBuilt are packages that must not be there yet: an entry that
	// matches a package is out of date.
	NotBuilt []string
	// Underway are packages that a change in progress may have or lack; while
	// there are any, packages may be broken too. Empty once it is done.
	Underway []string
}

// Check returns every violation of the rules, and every pattern of theirs that
// matches no package and is not listed as absent: a rule about nothing would
// pass for ever.
func (m *Module) Check(rules []Rule, absent Absences) []string {
	var problems []string
	for _, rule := range rules {
		for _, p := range m.Own() {
			if m.matchAny(rule.From, p.ImportPath) && !m.matchAny(rule.Except, p.ImportPath) {
				problems = append(problems, m.checkPackage(rule, p)...)
			}
		}
		for _, pattern := range slices.Concat(rule.From, rule.Except, rule.Deny, rule.OwnOnly, rule.NotBoth[:]) {
			if strings.HasPrefix(pattern, "./") && !m.exists(pattern) &&
				!slices.Contains(absent.NotBuilt, pattern) && !slices.Contains(absent.Underway, pattern) {
				problems = append(problems, fmt.Sprintf("rule %q: pattern %s matches no package", rule.Why, pattern))
			}
		}
	}
	for _, pattern := range absent.NotBuilt {
		if m.exists(pattern) {
			problems = append(problems, fmt.Sprintf("%s is listed as not built yet, but it is there", pattern))
		}
	}
	for _, p := range m.Own() {
		if p.Error != nil && len(absent.Underway) == 0 {
			problems = append(problems, fmt.Sprintf("%s: %s", m.name(p.ImportPath), p.Error.Err))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// Strays returns the module's packages that are at none of the places.
func (m *Module) Strays(layout []string) []string {
	var strays []string
	for _, p := range m.Own() {
		if !m.matchAny(layout, p.ImportPath) {
			strays = append(strays, m.name(p.ImportPath)+": no place of the layout")
		}
	}
	return strays
}

func (m *Module) checkPackage(rule Rule, p *Package) []string {
	var problems []string
	report := func(imported string) {
		problems = append(problems, fmt.Sprintf("%s must not import %s: %s (%s)",
			m.name(p.ImportPath), m.name(imported), rule.Why, strings.Join(m.chain(p.ImportPath, imported), " -> ")))
	}
	direct := p.Imports
	if rule.Tests {
		direct = slices.Concat(direct, p.TestImports, p.XTestImports)
	}
	for _, imported := range direct {
		if m.matchAny(rule.Deny, imported) || m.outside(rule, p, imported) {
			report(imported)
		}
	}
	if rule.Indirect {
		for _, imported := range p.Deps {
			if m.matchAny(rule.Deny, imported) && !slices.Contains(direct, imported) {
				report(imported)
			}
		}
	}
	if rule.NotBoth[0] != "" {
		a := slices.IndexFunc(p.Imports, func(i string) bool { return m.match(rule.NotBoth[0], i) })
		b := slices.IndexFunc(p.Imports, func(i string) bool { return m.match(rule.NotBoth[1], i) })
		if a >= 0 && b >= 0 {
			problems = append(problems, fmt.Sprintf("%s must not import both %s and %s: %s",
				m.name(p.ImportPath), m.name(p.Imports[a]), m.name(p.Imports[b]), rule.Why))
		}
	}
	return problems
}

// outside reports whether an import is a package of the module that OwnOnly
// does not list.
func (m *Module) outside(rule Rule, p *Package, imported string) bool {
	if rule.OwnOnly == nil || imported == p.ImportPath {
		return false
	}
	_, own := m.own(imported)
	return own && !m.matchAny(rule.OwnOnly, imported)
}

func (m *Module) exists(pattern string) bool {
	return slices.ContainsFunc(m.Own(), func(p *Package) bool { return m.match(pattern, p.ImportPath) })
}

func (m *Module) matchAny(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return m.match(p, importPath) })
}

func (m *Module) match(pattern, importPath string) bool {
	name := m.name(importPath)
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == below || strings.HasPrefix(name, below+"/")
	}
	return name == pattern
}
