package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestKind(t *testing.T) {
	t.Parallel()
	for v, want := range map[wire.Value]wire.Kind{
		"":       wire.KindAbsent,
		"null":   wire.KindNull,
		"true":   wire.KindBool,
		"false":  wire.KindBool,
		"0":      wire.KindNumber,
		"-1e5":   wire.KindNumber,
		`"null"`: wire.KindString,
		"[]":     wire.KindArray,
		"{}":     wire.KindObject,
	} {
		if got := v.Kind(); got != want {
			t.Errorf("Kind(%q) = %v, want %v", v, got, want)
		}
		if got := v.Present(); got != (want != wire.KindAbsent) {
			t.Errorf("Present(%q) = %v", v, got)
		}
		if got := v.IsObject(); got != (want == wire.KindObject) {
			t.Errorf("IsObject(%q) = %v", v, got)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		in          wire.Value
		text        string
		ok, exactOK bool
	}{
		{"plain", `"abc"`, "abc", true, true},
		{"empty", `""`, "", true, true},
		{"unicode", `"prüfen 😀"`, "prüfen 😀", true, true},
		{"escapes", `"a\"\\\/\b\f\n\r\t\u0041"`, "a\"\\/\b\f\n\r\tA", true, true},
		{"surrogate pair", `"\ud83d\ude00"`, "😀", true, true},
		{"lone surrogate", `"a\ud800b"`, "a\ufffdb", true, false},
		{"NUL", `"\u0000"`, "\x00", true, true},
		{"number", `1`, "", false, false},
		{"absent", "", "", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if text, ok := tt.in.Text(); text != tt.text || ok != tt.ok {
				t.Errorf("Text() = %q, %v, want %q, %v", text, ok, tt.text, tt.ok)
			}
			text, ok := tt.in.ExactText()
			if ok != tt.exactOK || ok && text != tt.text {
				t.Errorf("ExactText() = %q, %v, want %q, %v", text, ok, tt.text, tt.exactOK)
			}
		})
	}
}

func TestBool(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value][2]bool{
		"true": {true, true}, "false": {false, true}, `"true"`: {false, false}, "": {false, false}, "null": {false, false},
	} {
		if value, ok := in.Bool(); value != want[0] || ok != want[1] {
			t.Errorf("Bool(%q) = %v, %v, want %v", in, value, ok, want)
		}
	}
}

func TestMembersAndElements(t *testing.T) {
	t.Parallel()
	object := wire.Value("{ \"a\" : 1 ,\n\"b\\u0062\":[1, {\"x\":\"]}\"}] ,\t\"a\":{\"q\":\"\\\\\\\"\"},\"\":null }")
	type member struct{ Name, Value string }
	var got []member
	for m := range object.Members() {
		got = append(got, member{m.Name, string(m.Value)})
	}
	want := []member{{"a", "1"}, {"bb", `[1, {"x":"]}"}]`}, {"a", `{"q":"\\\""}`}, {"", "null"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Members (-want +got):\n%s", diff)
	}
	var elements []string
	for i, v := range wire.Value("[ 1 , \"a,b\",[2,[3]] ,{\"a\":[]}, -0.5e+10,null ]").Elements() {
		if i != len(elements) {
			t.Errorf("index %d at element %d", i, len(elements))
		}
		elements = append(elements, string(v))
	}
	if diff := cmp.Diff([]string{"1", `"a,b"`, "[2,[3]]", `{"a":[]}`, "-0.5e+10", "null"}, elements); diff != "" {
		t.Errorf("Elements (-want +got):\n%s", diff)
	}
}

func TestIterationOfOtherKindsAndEarlyEnd(t *testing.T) {
	t.Parallel()
	for _, v := range []wire.Value{"", "null", "1", `"{}"`, "[]", "{}", "[ ]", "{ }"} {
		for range v.Members() {
			t.Errorf("%q has members", v)
		}
		for range v.Elements() {
			t.Errorf("%q has elements", v)
		}
	}
	count := 0
	for range wire.Value("[1,2,3]").Elements() {
		count++
		break
	}
	for range wire.Value(`{"a":1,"b":2}`).Members() {
		count++
		break
	}
	if count != 2 {
		t.Errorf("broken loops ran %d times, want 2", count)
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	v := wire.Value(`{"a":{"b":[true]},"a":2,"\u0063":null}`)
	for name, want := range map[string]wire.Value{"a": `{"b":[true]}`, "c": "null", "x": ""} {
		if got := v.Get(name); got != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
	if got := wire.Value("[1]").Get("0"); got != "" {
		t.Errorf("Get on an array = %q", got)
	}
	if got, ok := v.Only("a"); ok || got != "" {
		t.Errorf("Only of a repeated name = %q, %v", got, ok)
	}
	if got, ok := v.Only("c"); !ok || got != wire.Null {
		t.Errorf("Only = %q, %v", got, ok)
	}
	if got, ok := v.Only("x"); !ok || got != "" {
		t.Errorf("Only of an absent name = %q, %v", got, ok)
	}
}

func TestAtReachesThroughDottedNames(t *testing.T) {
	t.Parallel()
	v := wire.Value(`{"extensions":{"io.modelcontextprotocol/tasks":{"x":1}}}`)
	if got := v.At(wire.TasksExtensionPath); got != `{"x":1}` {
		t.Errorf("At = %q", got)
	}
	if got := wire.Value(`{"extensions":{"io":{"modelcontextprotocol/tasks":{}}}}`).At(wire.TasksExtensionPath); got != "" {
		t.Errorf("At took the dot for a step: %q", got)
	}
}
