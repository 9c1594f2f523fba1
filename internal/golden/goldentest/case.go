package goldentest

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/taskbridge/taskbridge/internal/golden"
)

// A Case is one golden file while its test runs. Methods may be called from
// several goroutines of the test; those that fail the test at once (Section,
// Inputs) belong on the test's own.
type Case struct {
	tb     testing.TB
	path   string
	file   *golden.File
	schema golden.Schema

	mu      sync.Mutex
	read    map[string]bool
	outputs []golden.Section // in the order they were handed in
	source  string           // input that Roundtrip named; empty before
}

func load(tb testing.TB, file string, schema golden.Schema) *Case {
	tb.Helper()
	c := &Case{tb: tb, path: filepath.ToSlash(file), schema: schema, read: map[string]bool{}}
	parsed, err := golden.Read(file)
	if err != nil {
		tb.Fatal(err)
		return nil
	}
	c.file = parsed
	if unknown := schema.Unknown(parsed); len(unknown) > 0 {
		tb.Fatalf("%s: unknown sections %q; the suite has %s", c.path, unknown, schema)
	}
	return c
}

// Name is the name of the file without directory and extension.
func (c *Case) Name() string {
	return strings.TrimSuffix(path.Base(c.path), golden.Ext)
}

// Path is where the file was read from, with slashes.
func (c *Case) Path() string { return c.path }

// Has reports whether the file has a section. It does not count as reading it.
func (c *Case) Has(name string) bool {
	_, ok := c.file.Get(name)
	return ok
}

// Section returns a copy of an input, without the newline that ends it in the
// file. A file without it fails the test at once.
func (c *Case) Section(name string) []byte {
	c.tb.Helper()
	body, ok := c.Optional(name)
	if !ok {
		c.tb.Fatalf("%s: no section %q", c.path, name)
	}
	return body
}

// Optional is Section for an input that the file may lack.
func (c *Case) Optional(name string) ([]byte, bool) {
	c.tb.Helper()
	if !c.schema.IsInput(name) {
		c.tb.Errorf("%s: section %q is read but is no input of the suite", c.path, name)
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read[name] = true
	body, ok := c.file.Get(name)
	return bytes.Clone(body), ok
}

// Inputs returns copies of all inputs whose name matches the pattern (as
// path.Match reads it), in file order. None at all fails the test at once.
func (c *Case) Inputs(pattern string) []golden.Section {
	c.tb.Helper()
	var found []golden.Section
	for _, s := range c.file.Sections {
		ok, err := path.Match(pattern, s.Name)
		if err != nil {
			c.tb.Fatalf("%s: pattern %q: %v", c.path, pattern, err)
		}
		if ok && c.schema.IsInput(s.Name) {
			found = append(found, golden.Section{Name: s.Name, Body: c.Section(s.Name)})
		}
	}
	if len(found) == 0 {
		c.tb.Fatalf("%s: no input matches %q", c.path, pattern)
	}
	return found
}

// Got hands in an output, once per name. It is compared byte for byte, without
// the newline that ends the section in the file, when the test ends.
func (c *Case) Got(name string, body []byte) {
	c.tb.Helper()
	if !c.schema.IsOutput(name) {
		c.tb.Errorf("%s: section %q is produced but is no output of the suite", c.path, name)
		return
	}
	if name == golden.NotesSection || name == golden.RoundtripSection {
		c.tb.Errorf("%s: section %q is handed in by Notes or Roundtrip, not by Got", c.path, name)
		return
	}
	c.put(name, body)
}

// Notes hands in what the translation lost, one note per line; a final newline
// does not count. Without notes the file must not have a notes section; with
// notes it must.
func (c *Case) Notes(notes string) {
	c.tb.Helper()
	if notes = strings.TrimSuffix(notes, "\n"); notes != "" {
		c.put(golden.NotesSection, []byte(notes))
	}
}

// Roundtrip hands in what came of an input after translation there and back.
// If it equals the input, the file must not have an after_roundtrip section;
// if not, the section must hold it.
func (c *Case) Roundtrip(source string, got []byte) {
	c.tb.Helper()
	want, ok := c.Optional(source)
	if !ok {
		c.tb.Errorf("%s: round trip of section %q, which the file lacks", c.path, source)
		return
	}
	c.mu.Lock()
	again := c.source != ""
	c.source = source
	c.mu.Unlock()
	if again {
		c.tb.Errorf("%s: more than one round trip in a case", c.path)
		return
	}
	if !bytes.Equal(want, got) {
		c.put(golden.RoundtripSection, got)
	}
}

func (c *Case) put(name string, body []byte) {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.outputs {
		if s.Name == name {
			c.tb.Errorf("%s: section %q is produced twice", c.path, name)
			return
		}
	}
	c.outputs = append(c.outputs, golden.Section{Name: name, Body: bytes.Clone(body)})
}

// finish compares, or rewrites the file if asked to. A test that has failed
// already is not compared and not written: its outputs are not to be trusted.
func (c *Case) finish(tb testing.TB, rewrite bool) {
	tb.Helper()
	if tb.Failed() || tb.Skipped() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checkInputs(tb)
	if tb.Failed() {
		return
	}
	if len(c.outputs) == 0 && c.source == "" {
		tb.Errorf("%s: the test produced no output", c.path)
		return
	}
	if rewrite {
		c.rewrite(tb)
		return
	}
	c.compare(tb)
}

func (c *Case) checkInputs(tb testing.TB) {
	tb.Helper()
	for _, s := range c.file.Sections {
		if c.schema.IsInput(s.Name) && !c.read[s.Name] {
			tb.Errorf("%s: section %q: nothing read it", c.path, s.Name)
		}
	}
}

func (c *Case) compare(tb testing.TB) {
	tb.Helper()
	for _, got := range c.outputs {
		want, ok := c.file.Get(got.Name)
		switch {
		case !ok:
			tb.Errorf("%s: section %q is missing; %s, got:\n%s", c.path, got.Name, whyExpected(got.Name), got.Body)
		case !bytes.Equal(want, got.Body):
			tb.Errorf("%s: section %q (-file +got):\n%s", c.path, got.Name, diff(want, got.Body))
		}
	}
	for _, s := range c.file.Sections {
		if c.schema.IsInput(s.Name) {
			continue
		}
		if s.Name == golden.RoundtripSection && c.equalsSource(s.Body) {
			tb.Errorf("%s: section %q equals its source %q; it must go", c.path, s.Name, c.source)
			continue
		}
		if !c.produced(s.Name) {
			tb.Errorf("%s: section %q is stale: %s", c.path, s.Name, whyStale(s.Name))
		}
	}
}

func (c *Case) equalsSource(body []byte) bool {
	source, ok := c.file.Get(c.source)
	return ok && bytes.Equal(source, body)
}

func (c *Case) produced(name string) bool {
	return slices.ContainsFunc(c.outputs, func(s golden.Section) bool { return s.Name == name })
}

func whyExpected(name string) string {
	switch name {
	case golden.NotesSection:
		return "the translation loses something"
	case golden.RoundtripSection:
		return "the round trip changes bytes"
	default:
		return "the test produces it"
	}
}

func whyStale(name string) string {
	switch name {
	case golden.NotesSection:
		return "the translation has no notes"
	case golden.RoundtripSection:
		return "the round trip changes nothing, or there was none"
	default:
		return "the test no longer produces it"
	}
}

// rewrite puts the outputs in the file's place of each; new ones go to the
// end, before after_roundtrip and notes.
func (c *Case) rewrite(tb testing.TB) {
	tb.Helper()
	before, err := golden.Format(c.file)
	if err != nil {
		tb.Fatalf("%s: %v", c.path, err)
	}
	next := &golden.File{Header: c.file.Header, Sections: slices.Clone(c.file.Sections)}
	for _, s := range c.file.Sections {
		if !c.schema.IsInput(s.Name) && !c.produced(s.Name) {
			next.Delete(s.Name)
		}
	}
	last := []string{golden.RoundtripSection, golden.NotesSection}
	slices.SortStableFunc(c.outputs, func(a, b golden.Section) int {
		return slices.Index(last, a.Name) - slices.Index(last, b.Name)
	})
	for _, s := range c.outputs {
		next.Set(s.Name, s.Body)
	}
	after, err := golden.Format(next)
	if err != nil {
		tb.Fatalf("%s: %v", c.path, err)
	}
	if bytes.Equal(before, after) {
		return
	}
	if err := os.WriteFile(filepath.FromSlash(c.path), after, 0o644); err != nil { //nolint:gosec // a file of the source tree, readable like its neighbours
		tb.Fatal(err)
	}
	tb.Logf("%s: rewritten", c.path)
}
