package mapping_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// message is a type that crosses. Every field of it, and of the types within, is
// filled, and has to show on the other side or be accounted for.
type message struct {
	name string
	// era is the fact file of the source.
	era string
	// typ is the type that is filled.
	typ string
	// variants is how many combinations of alternatives are tried; 1 if zero.
	variants int
	// values are texts for fields that need a certain form; # is a number.
	values map[string]string
	// cross translates a filled value. What it returns is everything that the
	// other side sees.
	cross func(t testing.TB, in wire.Value) ([]byte, mapping.Notes)
	// lost are paths that do not reach the other side, with the note that says so.
	lost map[string]mapping.Note
	// consumed are paths that mean something to the bridge alone, with the rule.
	consumed map[string]string
}

// times are values for the timestamps of a task.
var times = map[string]string{
	"createdAt":     `"2026-09-14T08:00:00.#Z"`,
	"lastUpdatedAt": `"2026-09-14T09:00:00.#Z"`,
}

func TestEveryFieldCrossesOrHasANote(t *testing.T) {
	t.Parallel()
	visited := map[string]map[string]bool{"legacy2025": {}, "ext2026": {}}
	files := map[string]*facts{"legacy2025": readFacts(t, "legacy2025"), "ext2026": readFacts(t, "ext2026")}
	for _, m := range slices.Concat(taskMessages, questionMessages, coreMessages) {
		t.Run(m.era+"/"+m.name, func(t *testing.T) {
			for name := range m.check(t, files[m.era]) {
				visited[m.era][name] = true
			}
		})
	}
	for era, file := range files {
		for _, typ := range file.types() {
			if _, envelope := file.fields[typ]["jsonrpc"]; envelope {
				continue
			}
			_, excused := unfilled[era][typ]
			switch {
			case !visited[era][typ] && !excused:
				t.Errorf("%s: %s is filled by no message", era, typ)
			case visited[era][typ] && excused:
				t.Errorf("%s: %s is filled after all; it must leave the list of exceptions", era, typ)
			}
		}
		for typ := range unfilled[era] {
			if !slices.Contains(file.types(), typ) {
				t.Errorf("%s: %s is excused, but there is no such type", era, typ)
			}
		}
	}
}

// check fills and translates the message in all its variants. It returns the types
// it has visited.
func (m message) check(t *testing.T, file *facts) map[string]bool {
	t.Helper()
	used, visited := map[string]bool{}, map[string]bool{}
	for variant := range max(1, m.variants) {
		f := newFiller(t, file, variant)
		f.values = m.values
		doc := f.fill(m.typ)
		in := doc.text(-1)
		out, notes := m.translate(t, in)
		for i, l := range doc.leaves {
			ok, more := m.reached(t, doc, i, out)
			if !ok {
				m.account(t, variant, l, notes|more, used, in, out)
			}
		}
		for name := range f.visited {
			visited[name] = true
		}
	}
	for path := range m.lost {
		if !used[path] {
			t.Errorf("%s is listed as lost, but nothing of it is", path)
		}
	}
	for path := range m.consumed {
		if !used[path] {
			t.Errorf("%s is listed as consumed, but nothing of it is", path)
		}
	}
	return visited
}

func (m message) translate(t *testing.T, in string) ([]byte, mapping.Notes) {
	t.Helper()
	v, err := wire.Check([]byte(in))
	if err != nil {
		t.Fatalf("the filled message is no JSON: %v\n%s", err, in)
	}
	return m.cross(t, v)
}

// reached reports whether the other side sees a value: its token, or for values
// without one a difference when it changes. The notes are those of the change.
func (m message) reached(t *testing.T, doc *document, i int, out []byte) (bool, mapping.Notes) {
	t.Helper()
	if token := doc.leaves[i].token; token != "" {
		return strings.Contains(string(out), token), 0
	}
	other, notes := m.translate(t, doc.text(i))
	return string(other) != string(out), notes
}

// account fails unless a value that is not seen is listed, with a note that was
// set.
func (m message) account(t *testing.T, variant int, l leaf, notes mapping.Notes, used map[string]bool, in string, out []byte) {
	t.Helper()
	var missing []string
	for _, path := range mostSpecific(m.lost) {
		note := m.lost[path]
		if !below(l.path, path) {
			continue
		}
		if used[path] = true; notes.Has(note) {
			return
		}
		missing = append(missing, note.String())
	}
	for path := range m.consumed {
		if below(l.path, path) {
			used[path] = true
			return
		}
	}
	if len(missing) > 0 {
		t.Errorf("variant %d: %s is gone without a note, want one of %q\n in: %s\nout: %s", variant, l.path, missing, in, out)
		return
	}
	t.Errorf("variant %d: %s does not reach the other side\n in: %s\nout: %s", variant, l.path, in, out)
}

// mostSpecific returns the paths of a map, the longest first.
func mostSpecific(lost map[string]mapping.Note) []string {
	return slices.SortedFunc(maps.Keys(lost), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// below reports whether path is at or below at. A * in at stands for one name, and
// nothing for everything.
func below(path, at string) bool {
	if at == "" {
		return true
	}
	if names := strings.Split(at, "*"); len(names) > 1 {
		rest, ok := strings.CutPrefix(path, names[0])
		if !ok {
			return false
		}
		_, tail, found := strings.Cut(rest, ".")
		return found && below("."+tail, strings.Join(names[1:], "*"))
	}
	rest, ok := strings.CutPrefix(path, at)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// must is for translations that cannot fail here.
func must(t testing.TB, out []byte, notes mapping.Notes, err error) ([]byte, mapping.Notes) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(out) > 0 {
		if _, err := wire.Check(out); err != nil {
			t.Fatalf("the output is no JSON: %v\n%s", err, out)
		}
	}
	return out, notes
}

func TestBelow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, at string
		want     bool
	}{
		{"x", "", true},
		{"result", "result", true},
		{"result.x", "result", true},
		{"result[0]", "result", true},
		{"results", "result", false},
		{"inputRequests.k1.params.task.ttl", "inputRequests.*.params.task", true},
		{"inputRequests.k1.params.tasks", "inputRequests.*.params.task", false},
		{"other.k1.params.task", "inputRequests.*.params.task", false},
	} {
		if got := below(c.path, c.at); got != c.want {
			t.Errorf("below(%q, %q) = %v", c.path, c.at, got)
		}
	}
}

// TestFillingSeesADeletedField proves that the test above can fail: a translation
// that forgets one field is found out, and so is a list that is too long.
func TestFillingSeesADeletedField(t *testing.T) {
	t.Parallel()
	file := readFacts(t, "legacy2025")
	f := newFiller(t, file, 0)
	f.values = times
	doc := f.fill("Task")
	whole := doc.text(-1)
	for i, l := range doc.leaves {
		without := []byte(whole)
		if l.token != "" {
			without = []byte(strings.Replace(whole, l.token, "", 1))
		}
		m := message{typ: "Task", cross: func(testing.TB, wire.Value) ([]byte, mapping.Notes) { return without, 0 }}
		if ok, _ := m.reached(t, doc, i, without); ok {
			t.Errorf("nobody misses %s", l.path)
		}
	}
	if got, want := len(doc.leaves), len(file.fields["Task"]); got != want {
		t.Errorf("%d values in %d fields", got, want)
	}
}
