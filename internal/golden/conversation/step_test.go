package conversation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const example = `# A comment.
c>b [GET | as one | no Accept]

c>b [route x | Authorization: Bearer a] {"id":1,
  "method":"m"}
b>u {"id":9001}
u>b [400 | sse | on 9001 | pad 7 | X-A: [b]] {"id":9001}
wait 1500ms
upstream down
upstream up
b>c [end | on one]
u>b [raw | cut] not { JSON
bridge stop
b>c [primed <event:0> | event <event:1> | unprimed] {}`

func TestParse(t *testing.T) {
	t.Parallel()
	script, err := conversation.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.Step{
		{Number: 1, Line: 2, Leg: "c>b", Facts: conversation.Facts{Method: "GET", As: "one", Absent: []string{"Accept"}}},
		{Number: 2, Line: 4, Leg: "c>b", Message: "{\"id\":1,\n\"method\":\"m\"}", Facts: conversation.Facts{
			Route: "x", Headers: []conversation.Header{{Name: "Authorization", Value: "Bearer a"}},
		}},
		{Number: 3, Line: 6, Leg: "b>u", Message: `{"id":9001}`},
		{Number: 4, Line: 7, Leg: "u>b", Message: `{"id":9001}`, Facts: conversation.Facts{
			Status: 400, Form: "sse", On: "9001", Pad: 7, Headers: []conversation.Header{{Name: "X-A", Value: "[b]"}},
		}},
		{Number: 5, Line: 8, Event: "wait", For: 1500 * time.Millisecond},
		{Number: 6, Line: 9, Event: "upstream down"},
		{Number: 7, Line: 10, Event: "upstream up"},
		{Number: 8, Line: 11, Leg: "b>c", Facts: conversation.Facts{Act: "end", On: "one"}},
		{Number: 9, Line: 12, Leg: "u>b", Facts: conversation.Facts{Raw: true, Act: "cut"}, Message: `not { JSON`},
		{Number: 10, Line: 13, Event: "bridge stop"},
		{Number: 11, Line: 14, Leg: "b>c", Message: "{}", Facts: conversation.Facts{Primed: "<event:0>", Event: "<event:1>", Unprimed: true}},
	}
	unexported := cmpopts.IgnoreUnexported(conversation.Step{}, conversation.Facts{})
	if d := cmp.Diff(want, script.Steps, unexported); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if value, found := script.Steps[3].Facts.Header("x-a"); !found || value != "[b]" {
		t.Errorf("header x-a: %q, %v", value, found)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "no steps",
		"# only\n\n":                 "no steps",
		"  {}":                       "line 1: white space goes on",
		"c>b {}\n\n  {}":             "line 3: white space goes on",
		"c>u {}":                     `line 1: "c>u" begins no step`,
		"bridge halt":                `"bridge" begins no step`,
		"wait":                       "want a duration",
		"wait 3":                     "want a duration",
		"wait -3s":                   "want a duration",
		"c>b {":                      "message: ",
		"c>b {} {}":                  "message: ",
		"c>b hello":                  "message: ",
		"c>b [GET {}":                "want a closing bracket",
		"c>b [nonsense]":             `facts: "nonsense": unknown`,
		"c>b [999]":                  "unknown",
		"c>b [event 1]":              `facts: "event 1" means nothing on c>b`,
		"u>b [unprimed]":             `facts: "unprimed" means nothing on u>b`,
		"b>u [primed 1]":             `facts: "primed 1" means nothing on b>u`,
		"b>c [event]":                `facts: "event"`,
		"b>c [primed]":               `facts: "primed"`,
		"c>b [pad x]":                `facts: "pad x"`,
		"c>b [200] {}":               `"200" means nothing on c>b`,
		"b>c [GET]":                  `"GET" means nothing on b>c`,
		"b>u [200] {}":               "means nothing on b>u",
		"b>c [abort | on 1]":         "means nothing on b>c",
		"u>b [hang up]":              "means nothing on u>b",
		"b>c [as x] {}":              "means nothing on b>c",
		"b>u [raw] x":                "means nothing on b>u",
		"c>b {}\n# fine\nb>c [] {}x": "line 3: ",
	} {
		_, err := conversation.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	for leg, want := range map[conversation.Leg]bool{"c>b": false, "b>u": true, "u>b": false, "b>c": true} {
		if got := leg.Expected(); got != want {
			t.Errorf("%s: %v", leg, got)
		}
	}
}

// Only the messages that are replaced change; facts, comments and every other
// line stay.
func TestReplace(t *testing.T) {
	t.Parallel()
	script, err := conversation.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	got := script.Replace(map[int]wire.Value{2: `{"new":1}`, 3: `{"new":2}`})
	want := strings.Replace(example, "c>b [route x | Authorization: Bearer a] {\"id\":1,\n  \"method\":\"m\"}", `c>b [route x | Authorization: Bearer a] {"new":1}`, 1)
	want = strings.Replace(want, `b>u {"id":9001}`, `b>u {"new":2}`, 1)
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Whatever is read is written back as it was.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("c>b [GET]\n\n\n# x\nb>c [202 | on GET]\n\t{}")
	f.Fuzz(func(t *testing.T, text string) {
		script, err := conversation.Parse([]byte(text))
		if err != nil {
			return
		}
		if got := string(script.Replace(nil)); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
