package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     wire.Value // empty for an error
	}{
		{"object", `{"a":1}`, `{"a":1}`},
		{"white space around goes, within stays", " \t\r\n{ \"a\" : [ ] }\n", `{ "a" : [ ] }`},
		{"duplicate names pass", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"an escaped lone surrogate passes", `"\ud800"`, `"\ud800"`},
		{"large number", `12345678901234567890`, `12345678901234567890`},
		{"nested within the limit", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), wire.Value(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))},
		{"nested too deep", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), ""},
		{"unclosed and deep", strings.Repeat("[", 8_000_000), ""},
		{"empty", ``, ""},
		{"white space only", " \n", ""},
		{"two values", `1 2`, ""},
		{"trailing comma", `[1,]`, ""},
		{"leading zero", `01`, ""},
		{"plus sign", `+1`, ""},
		{"NaN", `NaN`, ""},
		{"single quotes", `'a'`, ""},
		{"comment", `1 // one`, ""},
		{"unescaped control character", "\"a\x01\"", ""},
		{"invalid UTF-8 in a string", "\"\xff\"", ""},
		{"invalid UTF-8 in a name", "{\"\xc3\":1}", ""},
		{"byte order mark", "\ufeff1", ""},
		{"cut short", `{"a":`, ""},
		{"bad escape", `"\x"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := wire.Check([]byte(tt.in))
			if got != tt.want {
				t.Errorf("got %.40q, want %.40q", got, tt.want)
			}
			if tt.want != "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			var decode *wire.DecodeError
			if !errors.As(err, &decode) || !decode.Syntax {
				t.Errorf("error %v, want a syntax error", err)
			}
		})
	}
}

var seeds = []string{
	`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"arguments":{"seed":12345678901234567890,"n":1e-07}}}`,
	`{"a":[1,{"b":"\"]}\\"}],"a":null,"\u0061\ud83d\ude00":"\ud800","":true}`,
	` [ -0.0 , 1E+2,"", {} , [ ] , false ] `,
	`"\\\\\""`,
	"{\n\t\"x\" : { \"y\" : [ \"a\" , \"b\" ] }\r\n}",
	`{"":""}`, `[[[[]]]]`, `{}`, `1`, `{"a":`, "\xff", `"`, `[`,
}

// FuzzCheck proves that the strict pass accepts no text that encoding/json
// refuses, and that everything it accepts can be taken apart and put together
// again without changing its meaning.
func FuzzCheck(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := wire.Check(text)
		if err != nil {
			if v != "" {
				t.Fatalf("a value beside the error: %q", v)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted %q, which is not JSON", text)
		}
		if !bytes.Contains(text, []byte(v)) {
			t.Fatalf("%q is not part of %q", v, text)
		}
		if got, want := compact(t, rebuild(v)), compact(t, []byte(v)); !bytes.Equal(got, want) {
			t.Fatalf("taken apart and put together: %s\nwant %s", got, want)
		}
	})
}

// FuzzMembers compares the walk over an object with encoding/json.
func FuzzMembers(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := wire.Check(text)
		if err != nil || !v.IsObject() {
			return
		}
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(v), &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{} // the last of a name wins, as there
		count := 0
		for m := range v.Members() {
			got[m.Name] = json.RawMessage(m.Value)
			count++
		}
		if len(got) != len(want) {
			t.Fatalf("%d names, want %d", len(got), len(want))
		}
		for name, value := range want {
			if string(got[name]) != string(value) {
				t.Fatalf("%q = %q, want %q", name, got[name], value)
			}
		}
		obj, err := wire.ParseObject(v, "")
		if (err == nil) != (count == len(want)) {
			t.Fatalf("ParseObject: %v, with %d members of %d names", err, count, len(want))
		}
		if err == nil && obj.Len() != count {
			t.Fatalf("%d members, want %d", obj.Len(), count)
		}
	})
}

// FuzzNumber checks that rounding never panics and brackets the value.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0.5", "1e400", "123456789012345678901234567890.5", "1e-400", "-1E+3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := wire.Check([]byte(text))
		if err != nil || v.Kind() != wire.KindNumber {
			return
		}
		floor, ok := v.Floor()
		ceil, _ := v.Ceil()
		if !ok {
			return
		}
		if !floor.IsInteger() || !ceil.IsInteger() {
			t.Fatalf("%s rounds to %s and %s", v, floor, ceil)
		}
		low, lowOK := wire.Compare(floor, v)
		high, highOK := wire.Compare(v, ceil)
		if lowOK && highOK && (low > 0 || high > 0) {
			t.Fatalf("%s is not between %s and %s", v, floor, ceil)
		}
	})
}

// rebuild copies v, member by member and element by element.
func rebuild(v wire.Value) []byte {
	switch v.Kind() {
	case wire.KindObject:
		w := wire.Begin(nil)
		for m := range v.Members() {
			w.Spell(m)
			w.SetBuf(append(w.Buf(), rebuild(m.Value)...))
		}
		return w.End()
	case wire.KindArray:
		out := []byte{'['}
		for i, element := range v.Elements() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, rebuild(element)...)
		}
		return append(out, ']')
	default:
		return []byte(v)
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.Bytes()
}
