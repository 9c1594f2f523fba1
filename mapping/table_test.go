package mapping_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// namesOf returns the string constants of a package whose names start with Method
// or Notification, by value.
func namesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source in %s: %v", dir, err)
	}
	names := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i >= len(spec.Values) || !strings.HasPrefix(name.Name, "Method") && !strings.HasPrefix(name.Name, "Notification") {
					continue
				}
				if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					value, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					names[value] = name.Name
				}
			}
			return true
		})
	}
	return names
}

func TestTableListsEveryMethod(t *testing.T) {
	t.Parallel()
	legacy, modern := namesOf(t, "../legacy2025"), namesOf(t, "../ext2026")
	if len(legacy) < 30 || len(modern) < 20 {
		t.Fatalf("only %d and %d constants found", len(legacy), len(modern))
	}
	for _, names := range []map[string]string{legacy, modern} {
		for method, constant := range names {
			if _, ok := mapping.Lookup(method); !ok {
				t.Errorf("%s (%s) is missing from the table", constant, method)
			}
		}
	}
	seen := map[string]bool{}
	for _, row := range mapping.Table() {
		if seen[row.Method] {
			t.Errorf("%s is listed twice", row.Method)
		}
		seen[row.Method] = true
		inLegacy, inModern := legacy[row.Method] != "", modern[row.Method] != ""
		if inLegacy != (row.Legacy != 0) || inModern != (row.Modern != 0) {
			t.Errorf("%s: senders %d and %d, constants in legacy %t and modern %t", row.Method, row.Legacy, row.Modern, inLegacy, inModern)
		}
		if !inLegacy && !inModern {
			t.Errorf("%s is in the table and in neither era", row.Method)
		}
	}
}

// TestVerdictsFit checks each row against what its era knows: a request is never
// swallowed, a notification never refused, and nothing is handed to an era that
// lacks it.
func TestVerdictsFit(t *testing.T) {
	t.Parallel()
	for _, row := range mapping.Table() {
		if strings.HasPrefix(row.Method, "notifications/") != row.Notification {
			t.Errorf("%s: notification is %t", row.Method, row.Notification)
		}
		if !strings.Contains(row.Rule, "§") && !strings.Contains(row.Rule, "-") {
			t.Errorf("%s: no rule", row.Method)
		}
		for _, verdict := range []mapping.Verdict{row.ToModern, row.ToLegacy} {
			switch verdict {
			case mapping.Direct:
				if row.Legacy == 0 && row.Modern == 0 {
					t.Errorf("%s: direct, and nobody sends it", row.Method)
				}
			case mapping.Passthrough:
				if row.Legacy == 0 || row.Modern == 0 || row.Notification {
					t.Errorf("%s: passed through to an era that lacks it", row.Method)
				}
			case mapping.Synthesized, mapping.Refused:
				if row.Notification {
					t.Errorf("%s: a notification is not answered", row.Method)
				}
			case mapping.Consumed, mapping.Swallowed:
				if !row.Notification {
					t.Errorf("%s: a request is answered", row.Method)
				}
			default:
				t.Errorf("%s: no verdict", row.Method)
			}
			if verdict.String() == "unknown" {
				t.Errorf("%s: verdict %d has no name", row.Method, verdict)
			}
		}
		// The other era's requests are refused where a client makes them (§6).
		if !row.Notification && row.Legacy == 0 && row.ToModern != mapping.Refused {
			t.Errorf("%s from a legacy client is %s", row.Method, row.ToModern)
		}
		if !row.Notification && row.Modern == 0 && row.ToLegacy != mapping.Refused {
			t.Errorf("%s from a modern client is %s", row.Method, row.ToLegacy)
		}
	}
}

// TestVerdicts pins the verdicts that are choices, by the rules they come from.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const d, p, s, r, c, w = mapping.Direct, mapping.Passthrough, mapping.Synthesized, mapping.Refused, mapping.Consumed, mapping.Swallowed
	want := map[string][2]mapping.Verdict{
		"initialize": {s, r}, "notifications/initialized": {c, w}, "server/discover": {r, s}, "ping": {s, r},
		"tools/list": {d, d}, "tools/call": {d, d}, "prompts/list": {p, p}, "prompts/get": {d, d},
		"resources/list": {p, p}, "resources/templates/list": {p, p}, "resources/read": {d, d},
		"resources/subscribe": {s, r}, "resources/unsubscribe": {s, r}, "subscriptions/listen": {r, s},
		"notifications/subscriptions/acknowledged": {c, w}, "completion/complete": {p, p}, "logging/setLevel": {s, r},
		"notifications/message": {d, d}, "notifications/progress": {d, d}, "notifications/cancelled": {d, d},
		"notifications/tools/list_changed": {d, d}, "notifications/prompts/list_changed": {d, d},
		"notifications/resources/list_changed": {d, d}, "notifications/resources/updated": {d, d},
		"roots/list": {d, d}, "sampling/createMessage": {d, d}, "elicitation/create": {d, d},
		"notifications/roots/list_changed": {w, w}, "notifications/elicitation/complete": {w, c},
		"tasks/get": {d, d}, "tasks/result": {s, r}, "tasks/list": {s, r}, "tasks/cancel": {d, d}, "tasks/update": {r, s},
		"notifications/tasks/status": {w, d}, "notifications/tasks": {d, w},
	}
	for _, row := range mapping.Table() {
		if got := [2]mapping.Verdict{row.ToModern, row.ToLegacy}; got != want[row.Method] {
			t.Errorf("%s: %v, want %v", row.Method, got, want[row.Method])
		}
	}
	if len(want) != len(mapping.Table()) {
		t.Errorf("%d verdicts for %d rows", len(want), len(mapping.Table()))
	}
	row, ok := mapping.Lookup(legacy2025.MethodTasksList)
	if !ok || row.Method != legacy2025.MethodTasksList {
		t.Errorf("Lookup: %v, %t", row, ok)
	}
	if _, ok := mapping.Lookup("com.acme/x"); ok {
		t.Error("an unknown method has a row")
	}
	mapping.Table()[0].Method = "changed"
	if mapping.Table()[0].Method == "changed" {
		t.Error("the table can be changed from outside")
	}
	if got := mapping.Verdict(0).String(); got != "unknown" {
		t.Errorf("the zero verdict is called %q", got)
	}
}

func TestEveryNoteHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	lines := map[string]mapping.Note{}
	count := 0
	for n := mapping.Note(0); n.String() != "unknown note"; n++ {
		count++
		if other, ok := lines[n.String()]; ok || n.String() == "" {
			t.Errorf("notes %d and %d both read %q", n, other, n)
		}
		lines[n.String()] = n
	}
	if count < 40 || count > 64 {
		t.Errorf("%d notes; a set holds at most 64", count)
	}
	all := mapping.Notes(0)
	for n := range mapping.Note(count) {
		all = all.With(n)
		if !all.Has(n) {
			t.Errorf("note %d does not fit into a set", n)
		}
	}
	if got := strings.Count(all.String(), "\n"); got != count {
		t.Errorf("%d lines for %d notes", got, count)
	}
}
