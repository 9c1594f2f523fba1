package mapping_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// notesOf is the set of the given notes.
func notesOf(list ...mapping.Note) mapping.Notes {
	var set mapping.Notes
	for _, n := range list {
		set = set.With(n)
	}
	return set
}

// checkOut compares the outcome of a translation that appended to prefix.
func checkOut(t *testing.T, buf []byte, notes mapping.Notes, err error, want string, wantNotes mapping.Notes) {
	t.Helper()
	if err != nil {
		t.Fatalf("error %v", err)
	}
	if got := string(buf); got != prefix+want {
		t.Errorf("got\n%s\nwant\n%s", got, prefix+want)
	}
	if notes != wantNotes {
		t.Errorf("notes\n%swant\n%s", notes, wantNotes)
	}
}

// checkRefused fails unless err is a *mapping.Error at path, nothing was
// appended, and a client gets it with code.
func checkRefused(t *testing.T, buf []byte, err error, path string, code int64) {
	t.Helper()
	if string(buf) != prefix {
		t.Errorf("the buffer of an error is %s", buf)
	}
	var failure *mapping.Error
	if !errors.As(err, &failure) {
		t.Fatalf("error %v, want a *mapping.Error", err)
	}
	if failure.Path != path {
		t.Errorf("error at %q, want %q", failure.Path, path)
	}
	if got := failure.RPC().Code; got != code {
		t.Errorf("code %d, want %d", got, code)
	}
}

// modernResult reads a result of method, which has to be well-formed.
func modernResult(t testing.TB, method string, v wire.Value) ext2026.Result {
	t.Helper()
	result, err := ext2026.ParseResult(method, v)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
