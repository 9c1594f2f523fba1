package deptest

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Direction is what a rule of the protocol binds.
type Direction string

// The directions. DirectionSame is for both eras alike on both legs.
const (
	DirectionA    Direction = "A"
	DirectionB    Direction = "B"
	DirectionBoth Direction = "both"
	DirectionSame Direction = "same"
)

// ReadRules reads a list of rules, one a line: the name and what it binds. The
// lines are in lexical order, and no rule is there twice.
func ReadRules(file string) (map[string]Direction, error) {
	data, err := os.ReadFile(file) //nolint:gosec // a file of the tree
	if err != nil {
		return nil, err
	}
	rules := map[string]Direction{}
	last := ""
	for line := range strings.Lines(string(data)) {
		name, direction, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch d := Direction(direction); d {
		case DirectionA, DirectionB, DirectionBoth, DirectionSame:
			rules[name] = d
		default:
			return nil, fmt.Errorf("%s: %q is no rule and its direction", file, line)
		}
		if name <= last || ruleName.FindString(name) != name {
			return nil, fmt.Errorf("%s: %q is no rule, or not in order", file, name)
		}
		last = name
	}
	return rules, nil
}

// ruleName is a numbered rule of PROTOCOL.md.
var ruleName = regexp.MustCompile(`\b(?:[ABG]-[A-Z]?|S-)[0-9]+\b`)

// RulesNamed returns the rules that the tests of the tree name, each with the
// places. A test names a rule in its strings or in the comment of a test
// function, a golden file where its prose says "Rules".
func RulesNamed(root string) (map[string][]string, error) {
	names, err := Tree(root)
	if err != nil {
		return nil, err
	}
	named := map[string][]string{}
	for _, name := range names {
		var text []string
		file := filepath.Join(root, filepath.FromSlash(name))
		switch {
		case goSource(name) && strings.HasSuffix(name, "_test.go"):
			text, err = testText(file)
		case path.Ext(name) == ".txtar" && strings.HasPrefix(name, "testdata/golden/"):
			text, err = goldenRules(file)
		}
		if err != nil {
			return nil, err
		}
		for _, rule := range ruleName.FindAllString(strings.Join(text, "\n"), -1) {
			if !slices.Contains(named[rule], name) {
				named[rule] = append(named[rule], name)
			}
		}
	}
	return named, nil
}

// testText returns the strings of a test file, and what is said of its tests.
func testText(file string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var text []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text = append(text, n.Value)
			}
		case *ast.FuncDecl:
			if n.Doc != nil && (strings.HasPrefix(n.Name.Name, "Test") || strings.HasPrefix(n.Name.Name, "Fuzz")) {
				text = append(text, n.Doc.Text())
			}
		}
		return true
	})
	return text, nil
}

// goldenRules returns what follows the word in the prose of a golden file, also on
// the lines after it.
func goldenRules(file string) ([]string, error) {
	data, err := os.ReadFile(file) //nolint:gosec // a file of the tree
	if err != nil {
		return nil, err
	}
	prose, _, _ := bytes.Cut(data, []byte("\n-- "))
	var rules []string
	found := false
	for lines := bufio.NewScanner(bytes.NewReader(prose)); lines.Scan(); {
		line := lines.Text()
		if at := strings.Index(line, "Rule"); at >= 0 {
			found, line = true, line[at:]
		}
		if found {
			rules = append(rules, line)
		}
	}
	return rules, nil
}

// Misnamed returns every rule of these directions that nothing names, and every
// name that is no rule.
func Misnamed(rules map[string]Direction, named map[string][]string, bound ...Direction) []string {
	var problems []string
	for rule, direction := range rules {
		if slices.Contains(bound, direction) && len(named[rule]) == 0 {
			problems = append(problems, rule+" is named by no test")
		}
	}
	for name, places := range named {
		if rules[name] == "" {
			problems = append(problems, fmt.Sprintf("%s is no rule (%s)", name, strings.Join(places, ", ")))
		}
	}
	slices.Sort(problems)
	return problems
}
