package golden

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// Errors that Parse and Format wrap; the message says where.
var (
	// ErrNoHeader reports a file without prose before its first section.
	ErrNoHeader = errors.New("no prose header")
	// ErrNoSections reports a file that is prose only.
	ErrNoSections = errors.New("no sections")
	// ErrDuplicateSection reports a section name used twice.
	ErrDuplicateSection = errors.New("duplicate section")
	// ErrNotCanonical reports bytes that rewriting the file would change.
	ErrNotCanonical = errors.New("not in canonical form")
	// ErrStrayMarker reports a line inside a section, or a section name, that
	// a reader would take for a section marker or nearly so.
	ErrStrayMarker = errors.New("stray section marker")
)

// strayMarker matches what is nearly a marker: txtar takes such a line as
// content, and the section it was meant to start silently joins the one above.
var strayMarker = regexp.MustCompile(`(?m)^--[^-\n].*--[ \t\r]*$`)

// A Section is one named part of a file.
type Section struct {
	// Name is the text between the dashes of the marker.
	Name string
	// Body is the content without the one newline that ends it in the file;
	// otherwise byte for byte what the file holds.
	Body []byte
}

// A File is one golden case.
type File struct {
	// Header is the prose before the first section, with its final newline.
	Header string
	// Sections are in file order; names are unique.
	Sections []Section
}

// Parse reads one golden file. The error wraps one of this package's
// sentinels. Bodies alias data.
func Parse(data []byte) (*File, error) {
	archive := txtar.Parse(data)
	file := &File{Header: string(archive.Comment)}
	if strings.TrimSpace(file.Header) == "" {
		return nil, ErrNoHeader
	}
	if m := strayMarker.FindString(file.Header); m != "" {
		return nil, fmt.Errorf("header: %w: %q", ErrStrayMarker, m)
	}
	if len(archive.Files) == 0 {
		return nil, ErrNoSections
	}
	for _, f := range archive.Files {
		if file.index(f.Name) >= 0 {
			return nil, fmt.Errorf("%w: %q", ErrDuplicateSection, f.Name)
		}
		if m := strayMarker.Find(f.Data); m != nil {
			return nil, fmt.Errorf("section %q: %w: %q", f.Name, ErrStrayMarker, m)
		}
		file.Sections = append(file.Sections, Section{Name: f.Name, Body: trimNewline(f.Data)})
	}
	again, err := Format(file)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, data) {
		return nil, fmt.Errorf("%w: line %d", ErrNotCanonical, firstDifference(data, again))
	}
	return file, nil
}

// Format writes a file in canonical form. It refuses what Parse would not read
// back as it is: an empty header, a duplicate or unprintable name, a body that
// holds a marker.
func Format(file *File) ([]byte, error) {
	if strings.TrimSpace(file.Header) == "" {
		return nil, ErrNoHeader
	}
	archive := &txtar.Archive{Comment: []byte(file.Header)}
	seen := map[string]bool{}
	for _, s := range file.Sections {
		switch {
		case seen[s.Name]:
			return nil, fmt.Errorf("%w: %q", ErrDuplicateSection, s.Name)
		case s.Name == "" || s.Name != strings.TrimSpace(s.Name) || strings.ContainsAny(s.Name, "\r\n"):
			return nil, fmt.Errorf("%w: name %q", ErrStrayMarker, s.Name)
		case strayMarker.Match(s.Body):
			return nil, fmt.Errorf("section %q: %w: %q", s.Name, ErrStrayMarker, strayMarker.Find(s.Body))
		}
		seen[s.Name] = true
		body := s.Body
		if len(body) > 0 {
			// A body that itself ends in a newline keeps it: the file then
			// holds two, and reading takes one away again.
			body = append(slices.Clip(body), '\n')
		}
		archive.Files = append(archive.Files, txtar.File{Name: s.Name, Data: body})
	}
	return txtar.Format(archive), nil
}

// Get returns the body of a section, and false if the file has none of that name.
func (f *File) Get(name string) ([]byte, bool) {
	if i := f.index(name); i >= 0 {
		return f.Sections[i].Body, true
	}
	return nil, false
}

// Set replaces the body of a section, or appends the section if it is new.
func (f *File) Set(name string, body []byte) {
	if i := f.index(name); i >= 0 {
		f.Sections[i].Body = body
		return
	}
	f.Sections = append(f.Sections, Section{Name: name, Body: body})
}

// Delete removes a section if it is there.
func (f *File) Delete(name string) {
	f.Sections = slices.DeleteFunc(f.Sections, func(s Section) bool { return s.Name == name })
}

func (f *File) index(name string) int {
	return slices.IndexFunc(f.Sections, func(s Section) bool { return s.Name == name })
}

func trimNewline(b []byte) []byte {
	return bytes.TrimSuffix(b, []byte("\n"))
}

// firstDifference returns the 1-based line at which two texts part.
func firstDifference(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(a[:n], []byte("\n"))
}
