package golden

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Sections that every schema has as outputs.
const (
	// NotesSection lists what a translation lost, one note per line. It is
	// there exactly when there are notes.
	NotesSection = "notes"
	// RoundtripSection holds what a translation there and back gives. It is
	// there exactly when that differs from the source.
	RoundtripSection = "after_roundtrip"
)

// A Schema names the sections that the files of one kind may have. Names may
// be patterns as path.Match reads them ("client.*"), for files whose messages
// are numbered.
type Schema struct {
	// Inputs are written by hand and never rewritten.
	Inputs []string
	// Outputs are what the code under test produces. NotesSection and
	// RoundtripSection need not be listed.
	Outputs []string
}

// Check reports a schema that cannot work: a bad pattern, a name that is both
// input and output, or no outputs to compare.
func (s Schema) Check() error {
	for _, p := range slices.Concat(s.Inputs, s.Outputs) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("section pattern %q: %w", p, err)
		}
	}
	for _, in := range s.Inputs {
		if s.IsOutput(in) {
			return fmt.Errorf("section %q is both input and output", in)
		}
	}
	for _, out := range s.Outputs {
		if s.IsInput(out) {
			return fmt.Errorf("section %q is both input and output", out)
		}
	}
	return nil
}

// IsInput reports whether a section is one the code under test reads.
func (s Schema) IsInput(name string) bool { return matchAny(s.Inputs, name) }

// IsOutput reports whether a section is one the code under test produces.
func (s Schema) IsOutput(name string) bool {
	return name == NotesSection || name == RoundtripSection || matchAny(s.Outputs, name)
}

// Unknown returns the names of a file's sections that the schema does not have.
func (s Schema) Unknown(file *File) []string {
	var unknown []string
	for _, section := range file.Sections {
		if !s.IsInput(section.Name) && !s.IsOutput(section.Name) {
			unknown = append(unknown, section.Name)
		}
	}
	return unknown
}

// String lists the sections, for messages.
func (s Schema) String() string {
	return fmt.Sprintf("inputs %s; outputs %s, %s, %s",
		strings.Join(s.Inputs, ", "), strings.Join(s.Outputs, ", "), RoundtripSection, NotesSection)
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}
