package goldentest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/golden"
)

var schema = golden.Schema{
	Inputs:  []string{"method", "modern.*"},
	Outputs: []string{"legacy.result"},
}

func write(t *testing.T, file, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// run plays one case: load, the test's own function, finish.
func run(file string, rewrite bool, fn func(c *Case)) []string {
	return onFake(func(tb testing.TB) {
		c := load(tb, file, schema)
		fn(c)
		c.finish(tb, rewrite)
	})
}

func expect(t *testing.T, messages []string, want string) {
	t.Helper()
	if want == "" {
		if len(messages) > 0 {
			t.Errorf("got failures %q, want none", messages)
		}
		return
	}
	if !strings.Contains(strings.Join(messages, "\n"), want) {
		t.Errorf("got failures %q, want one that says %q", messages, want)
	}
	if len(messages) != 1 {
		t.Errorf("got %d failures, want one: %q", len(messages), messages)
	}
}

const (
	head   = "prose\n"
	method = "-- method --\ntasks/get\n"
	modern = "-- modern.result --\n{\"a\":1}\n"
	legacy = "-- legacy.result --\n{\"b\":1}\n"
)

// translate is a well-behaved test of the case above.
func translate(c *Case) {
	c.Section("method")
	c.Section("modern.result")
	c.Got("legacy.result", []byte(`{"b":1}`))
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		fn   func(c *Case)
		want string // part of the one failure; empty for none
	}{
		"a good case passes": {head + method + modern + legacy, translate, ""},
		"no header":          {method + modern + legacy, translate, "no prose header"},
		"unknown section":    {head + method + modern + legacy + "-- extra --\nx\n", translate, `unknown sections ["extra"]`},
		"duplicate section":  {head + method + modern + legacy + legacy, translate, "duplicate section"},
		"unread input":       {head + method + modern + "-- modern.params --\nx\n" + legacy, translate, `section "modern.params": nothing read it`},
		"missing input":      {head + modern + legacy, translate, `no section "method"`},
		"missing output":     {head + method + modern, translate, `section "legacy.result" is missing; the test produces it`},
		"stale output": {head + method + modern + legacy, func(c *Case) {
			c.Section("method")
			c.Roundtrip("modern.result", []byte(`{"a":1}`))
		}, `section "legacy.result" is stale`},
		"no output at all": {head + method + modern, func(c *Case) {
			c.Section("method")
			c.Section("modern.result")
		}, "produced no output"},
		"different output": {head + method + modern + legacy, func(c *Case) {
			c.Section("method")
			c.Section("modern.result")
			c.Got("legacy.result", []byte(`{"b":2}`))
		}, `section "legacy.result" (-file +got)`},
		"member order counts": {head + method + modern + "-- legacy.result --\n{\"a\":1,\"b\":1}\n", func(c *Case) {
			c.Section("method")
			c.Section("modern.result")
			c.Got("legacy.result", []byte(`{"b":1,"a":1}`))
		}, `section "legacy.result" (-file +got)`},
		"white space counts": {head + method + modern + legacy, func(c *Case) {
			c.Section("method")
			c.Section("modern.result")
			c.Got("legacy.result", []byte(`{"b": 1}`))
		}, "the same but for white space, at byte 5"},
		"a second final newline counts": {head + method + modern + legacy, func(c *Case) {
			c.Section("method")
			c.Section("modern.result")
			c.Got("legacy.result", []byte("{\"b\":1}\n"))
		}, `section "legacy.result"`},
		"output produced twice": {head + method + modern + legacy, func(c *Case) {
			translate(c)
			c.Got("legacy.result", []byte(`{"b":1}`))
		}, "produced twice"},
		"undeclared output": {head + method + modern + legacy, func(c *Case) {
			translate(c)
			c.Got("legacy.error", nil)
		}, `"legacy.error" is produced but is no output`},
		"output read as input": {head + method + modern + legacy, func(c *Case) {
			translate(c)
			c.Optional("legacy.result")
		}, "is no input of the suite"},
		"notes by Got": {head + method + modern + legacy, func(c *Case) {
			translate(c)
			c.Got("notes", []byte("x"))
		}, "handed in by Notes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, filepath.Join(t.TempDir(), "case.txtar"), tc.file)
			expect(t, run(file, false, tc.fn), tc.want)
		})
	}
}

func TestNotesRule(t *testing.T) {
	t.Parallel()
	with := func(notes string) func(c *Case) {
		return func(c *Case) {
			translate(c)
			c.Notes(notes)
		}
	}
	for name, tc := range map[string]struct {
		notes string
		fn    func(c *Case)
		want  string
	}{
		"no notes, no section":        {"", with(""), ""},
		"notes as listed":             {"-- notes --\na: lost\nb: lost\n", with("a: lost\nb: lost\n"), ""},
		"lossy without a section":     {"", with("a: lost"), "the translation loses something"},
		"section without notes":       {"-- notes --\na: lost\n", with(""), `section "notes" is stale: the translation has no notes`},
		"section, Notes never called": {"-- notes --\na: lost\n", translate, `section "notes" is stale`},
		"other notes":                 {"-- notes --\na: lost\n", with("b: lost"), `section "notes" (-file +got)`},
		"fewer notes":                 {"-- notes --\na: lost\nb: lost\n", with("a: lost"), `section "notes" (-file +got)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, filepath.Join(t.TempDir(), "case.txtar"), head+method+modern+legacy+tc.notes)
			expect(t, run(file, false, tc.fn), tc.want)
		})
	}
}

func TestRoundtripRule(t *testing.T) {
	t.Parallel()
	back := func(source, got string) func(c *Case) {
		return func(c *Case) {
			translate(c)
			c.Roundtrip(source, []byte(got))
		}
	}
	for name, tc := range map[string]struct {
		section string
		fn      func(c *Case)
		want    string
	}{
		"same bytes, no section":        {"", back("modern.result", `{"a":1}`), ""},
		"other bytes as listed":         {"-- after_roundtrip --\n{\"a\":2}\n", back("modern.result", `{"a":2}`), ""},
		"other bytes, no section":       {"", back("modern.result", `{"a":2}`), "the round trip changes bytes"},
		"section equals its source":     {"-- after_roundtrip --\n{\"a\":1}\n", back("modern.result", `{"a":1}`), `equals its source "modern.result"`},
		"section no longer needed":      {"-- after_roundtrip --\n{\"a\":2}\n", back("modern.result", `{"a":1}`), "the round trip changes nothing"},
		"section without a round trip":  {"-- after_roundtrip --\n{\"a\":2}\n", translate, `section "after_roundtrip" is stale`},
		"section with other bytes":      {"-- after_roundtrip --\n{\"a\":3}\n", back("modern.result", `{"a":2}`), `section "after_roundtrip" (-file +got)`},
		"a source that is not an input": {"", back("legacy.result", `{"b":1}`), "is no input of the suite"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, filepath.Join(t.TempDir(), "case.txtar"), head+method+modern+legacy+tc.section)
			messages := run(file, false, tc.fn)
			if name == "a source that is not an input" {
				messages = messages[:1]
			}
			expect(t, messages, tc.want)
		})
	}
	t.Run("two round trips", func(t *testing.T) {
		t.Parallel()
		file := write(t, filepath.Join(t.TempDir(), "case.txtar"), head+method+modern+legacy)
		expect(t, run(file, false, func(c *Case) {
			back("modern.result", `{"a":1}`)(c)
			c.Roundtrip("modern.result", []byte(`{"a":1}`))
		}), "more than one round trip")
	})
}

func TestUpdateRewritesOutputsOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before string
		fn     func(c *Case)
		after  string
		want   string
	}{
		"a changed output keeps its place": {
			head + legacy + modern + method,
			func(c *Case) {
				c.Section("method")
				c.Section("modern.result")
				c.Got("legacy.result", []byte(`{"b":2}`))
			},
			head + "-- legacy.result --\n{\"b\":2}\n" + modern + method, "",
		},
		"new outputs go last, notes at the very end": {
			head + method + modern,
			func(c *Case) {
				c.Notes("a: lost\n")
				c.Roundtrip("modern.result", []byte("{}"))
				translate(c)
			},
			head + method + modern + legacy + "-- after_roundtrip --\n{}\n-- notes --\na: lost\n", "",
		},
		"stale outputs go": {
			head + method + modern + legacy + "-- after_roundtrip --\n{\"a\":1}\n-- notes --\nx\n",
			func(c *Case) {
				translate(c)
				c.Roundtrip("modern.result", []byte(`{"a":1}`))
			},
			head + method + modern + legacy, "",
		},
		"a failed test writes nothing": {
			head + method + modern,
			func(c *Case) {
				translate(c)
				c.tb.Errorf("wrong")
			},
			head + method + modern, "wrong",
		},
		"an unread input is no output to mend": {
			head + method + modern + "-- modern.params --\nx\n",
			translate,
			head + method + modern + "-- modern.params --\nx\n", "nothing read it",
		},
		"an output that holds a marker is refused": {
			head + method + modern,
			func(c *Case) {
				c.Section("method")
				c.Section("modern.result")
				c.Got("legacy.result", []byte("-- x --"))
			},
			head + method + modern, "stray section marker",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, filepath.Join(t.TempDir(), "case.txtar"), tc.before)
			expect(t, run(file, true, tc.fn), tc.want)
			after, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.after, string(after)); d != "" {
				t.Errorf("the file: -want +got\n%s", d)
			}
			if tc.want == "" {
				expect(t, run(file, false, tc.fn), "")
			}
		})
	}
}

func TestCaseReadsInputs(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "numbered.txtar"),
		head+"-- method --\nx\n-- modern.2 --\ntwo\n-- modern.1 --\none\n"+legacy)
	expect(t, run(file, false, func(c *Case) {
		if c.Name() != "numbered" || c.Path() != filepath.ToSlash(file) || !c.Has("method") || c.Has("notes") {
			t.Errorf("wrong facts about the file: %s %s", c.Name(), c.Path())
		}
		want := []golden.Section{{Name: "modern.2", Body: []byte("two")}, {Name: "modern.1", Body: []byte("one")}}
		if d := cmp.Diff(want, c.Inputs("modern.*")); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
		if _, ok := c.Optional("modern.result"); ok {
			t.Error("Optional finds a section that is not there")
		}
		c.Section("method")[0] = '!' // a copy: the file's own bytes stay
		if string(c.Section("method")) != "x" {
			t.Error("changing a section's copy changes the section")
		}
		c.Got("legacy.result", []byte(`{"b":1}`))
	}), "")
	expect(t, run(file, false, func(c *Case) { c.Inputs("nothing.*") }), `no input matches "nothing.*"`)
}
