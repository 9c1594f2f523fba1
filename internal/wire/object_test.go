package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestParseObject(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   wire.Value
		path string // of the error, empty for none
	}{
		{"empty", "{}", ""},
		{"members", `{"a":1,"b":{"a":1}}`, ""},
		{"duplicates below are not looked for", `{"a":{"x":1,"x":2}}`, ""},
		{"names that differ in case", `{"a":1,"A":2}`, ""},
		{"duplicate", `{"a":1,"a":1}`, "p.a"},
		{"duplicate in another spelling", `{"a":1,"\u0061":1}`, "p.a"},
		{"array", `[]`, "p"},
		{"null", `null`, "p"},
		{"absent", ``, "p"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			obj, err := wire.ParseObject(tt.in, "p")
			checkPath(t, err, tt.path)
			if err == nil && obj.Raw() != tt.in {
				t.Errorf("Raw() = %q", obj.Raw())
			}
			if err != nil && obj.Len() != 0 {
				t.Errorf("the object of an error has %d members", obj.Len())
			}
		})
	}
}

// The set that finds duplicates in large objects has to take over what the
// comparison has seen.
func TestParseObjectLarge(t *testing.T) {
	t.Parallel()
	const many = 100
	for _, again := range []int{-1, 0, 23, 24, 25, many - 1} {
		var b strings.Builder
		for i := range many {
			fmt.Fprintf(&b, `,"m%d":%d`, i, i)
		}
		want := ""
		if again >= 0 {
			want = fmt.Sprintf("p.m%d", again)
			fmt.Fprintf(&b, `,"m%d":0`, again)
		}
		obj, err := wire.ParseObject(wire.Value("{"+b.String()[1:]+"}"), "p")
		checkPath(t, err, want)
		if err == nil && (obj.Len() != many || obj.Get("m99") != "99") {
			t.Errorf("Len() = %d, m99 = %q", obj.Len(), obj.Get("m99"))
		}
	}
}

func TestOptionalObject(t *testing.T) {
	t.Parallel()
	obj, err := wire.OptionalObject("", "p")
	if err != nil || obj.Len() != 0 || obj.Raw().Present() || obj.Has("a") || obj.Get("a").Present() {
		t.Errorf("absent object = %v, %v", obj, err)
	}
	_, err = wire.OptionalObject("null", "p")
	checkPath(t, err, "p")
	obj, err = wire.OptionalObject(`{"a":null}`, "p")
	if err != nil || !obj.Has("a") || obj.Get("a") != wire.Null {
		t.Errorf("object = %v, %v", obj, err)
	}
}

// checkPath fails unless err is a *wire.DecodeError with the path, or nil for an
// empty path.
func checkPath(t *testing.T, err error, path string) {
	t.Helper()
	if path == "" {
		if err != nil {
			t.Errorf("error %v, want none", err)
		}
		return
	}
	var decode *wire.DecodeError
	if !errors.As(err, &decode) {
		t.Errorf("error %v, want a *wire.DecodeError at %s", err, path)
		return
	}
	if decode.Path != path {
		t.Errorf("error at %q, want %q", decode.Path, path)
	}
}

func TestDecodeError(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"message: want an object":        wire.Wrong("", "an object"),
		"params.task.ttl: want a number": wire.Wrong(wire.Join(wire.Join("params", "task"), "ttl"), "a number"),
		"tools[3].name: want a string":   wire.Wrong(wire.Join(wire.Index("tools", 3), "name"), "a string"),
		"id: want a string":              wire.Wrong(wire.Join("", "id"), "a string"),
	} {
		if got := err.Error(); got != want {
			t.Errorf("Error() = %q, want %q", got, want)
		}
	}
}
