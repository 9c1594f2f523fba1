package golden_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/golden"
)

const example = "A case.\nSpec: none.\n-- method --\ntasks/get\n-- modern.result --\n{\"a\":1}\n\n-- empty --\n-- notes --\nresult: detached\n"

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := golden.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := &golden.File{
		Header: "A case.\nSpec: none.\n",
		Sections: []golden.Section{
			{Name: "method", Body: []byte("tasks/get")},
			{Name: "modern.result", Body: []byte("{\"a\":1}\n")},
			{Name: "empty", Body: []byte{}},
			{Name: "notes", Body: []byte("result: detached")},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data string
		want error
	}{
		"nothing":                           {"", golden.ErrNoHeader},
		"no header":                         {"-- a --\nx\n", golden.ErrNoHeader},
		"blank header":                      {"\n \n-- a --\nx\n", golden.ErrNoHeader},
		"prose only":                        {"prose\n", golden.ErrNoSections},
		"duplicate section":                 {"prose\n-- a --\nx\n-- b --\n-- a --\ny\n", golden.ErrDuplicateSection},
		"marker without spaces":             {"prose\n-- a --\nx\n--b--\ny\n", golden.ErrStrayMarker},
		"marker with trailing space":        {"prose\n-- a --\nx\n-- b -- \ny\n", golden.ErrStrayMarker},
		"marker without a space at its end": {"prose\n-- a --\nx\n-- b--\ny\n", golden.ErrStrayMarker},
		"stray marker in the header":        {"prose\n--b--\n-- a --\nx\n", golden.ErrStrayMarker},
		"marker with inner spaces":          {"prose\n--  a  --\nx\n", golden.ErrNotCanonical},
		"CRLF marker":                       {"prose\n-- a --\r\nx\n", golden.ErrNotCanonical},
		"no final newline":                  {"prose\n-- a --\nx", golden.ErrNotCanonical},
		"section of one empty line":         {"prose\n-- a --\n\n", golden.ErrNotCanonical},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := golden.Parse([]byte(tc.data)); !errors.Is(err, tc.want) {
				t.Errorf("got error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestParseNamesTheLine(t *testing.T) {
	t.Parallel()
	_, err := golden.Parse([]byte("prose\n-- a --\nx\n--  b --\ny\n"))
	if err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("got %v, want an error that names line 4", err)
	}
}

func TestFormatRefuses(t *testing.T) {
	t.Parallel()
	section := func(name, body string) *golden.File {
		return &golden.File{Header: "prose\n", Sections: []golden.Section{{Name: name, Body: []byte(body)}}}
	}
	for name, tc := range map[string]struct {
		file *golden.File
		want error
	}{
		"no header":           {&golden.File{}, golden.ErrNoHeader},
		"empty name":          {section("", "x"), golden.ErrStrayMarker},
		"name with a newline": {section("a\nb", "x"), golden.ErrStrayMarker},
		"name with spaces":    {section(" a", "x"), golden.ErrStrayMarker},
		"marker in a body":    {section("a", "x\n-- b --\ny"), golden.ErrStrayMarker},
		"duplicate": {
			&golden.File{Header: "prose\n", Sections: []golden.Section{{Name: "a"}, {Name: "a"}}},
			golden.ErrDuplicateSection,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := golden.Format(tc.file); !errors.Is(err, tc.want) {
				t.Errorf("got error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestFileEdits(t *testing.T) {
	t.Parallel()
	file, err := golden.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	file.Set("modern.result", []byte("{}"))
	file.Set("new", []byte("x"))
	file.Delete("notes")
	file.Delete("absent")
	if _, ok := file.Get("notes"); ok {
		t.Error("notes are still there after Delete")
	}
	got, err := golden.Format(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "A case.\nSpec: none.\n-- method --\ntasks/get\n-- modern.result --\n{}\n-- empty --\n-- new --\nx\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestFormatLeavesBodiesAlone(t *testing.T) {
	t.Parallel()
	backing := []byte("xyz")
	file := &golden.File{Header: "prose\n", Sections: []golden.Section{{Name: "a", Body: backing[:1]}}}
	if _, err := golden.Format(file); err != nil {
		t.Fatal(err)
	}
	if string(backing) != "xyz" {
		t.Errorf("Format wrote into the body's array: %q", backing)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	schema := golden.Schema{Inputs: []string{"method", "client.*"}, Outputs: []string{"legacy.result"}}
	if err := schema.Check(); err != nil {
		t.Fatal(err)
	}
	file, err := golden.Parse([]byte("prose\n-- method --\n-- client.1 --\n-- client --\n-- legacy.result --\n-- notes --\n-- after_roundtrip --\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"client"}, schema.Unknown(file)); d != "" {
		t.Errorf("unknown sections: -want +got\n%s", d)
	}
	for name, bad := range map[string]golden.Schema{
		"bad pattern":      {Inputs: []string{"["}},
		"notes as input":   {Inputs: []string{"notes"}},
		"both":             {Inputs: []string{"a"}, Outputs: []string{"a"}},
		"input in output":  {Inputs: []string{"a.1"}, Outputs: []string{"a.*"}},
		"output in inputs": {Inputs: []string{"a.*"}, Outputs: []string{"a.1"}},
	} {
		if bad.Check() == nil {
			t.Errorf("%s: Check accepts it", name)
		}
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, data string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := golden.Cases(dir); err == nil {
		t.Error("an empty directory gives no error")
	}
	write("README.md", "not a case")
	write("list/one.txtar", example)
	write("get/two.txtar", example)
	cases, err := golden.Cases(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	if d := cmp.Diff([]string{"get/two", "list/one"}, names); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	write("get/broken.txtar", "prose\n")
	if _, err := golden.Cases(dir); !errors.Is(err, golden.ErrNoSections) || !strings.Contains(err.Error(), "broken.txtar") {
		t.Errorf("a broken file gives error %v, want one that names it", err)
	}
}

// What Parse accepts, Format writes back byte for byte, and the sections
// survive being parsed again: rewriting one never touches another.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("p\n-- a --\n\n\n-- b --\n\r\n"))
	f.Add([]byte("p\n-- - --\n--\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := golden.Parse(data)
		if err != nil {
			return
		}
		again, err := golden.Format(file)
		if err != nil || string(again) != string(data) {
			t.Fatalf("Format gives %q, %v; want the bytes that were parsed", again, err)
		}
		file.Set("zz added", []byte("x"))
		more, err := golden.Format(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(more) != string(data)+"-- zz added --\nx\n" && !strings.Contains(string(data), "zz added") {
			t.Fatalf("adding a section gives %q", more)
		}
	})
}
