package legacy2025_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// checkPath fails unless err is a *wire.DecodeError with the path, or nil for an
// empty path, and reports whether it was.
func checkPath(t *testing.T, err error, path string) bool {
	t.Helper()
	var decode *wire.DecodeError
	switch {
	case err == nil && path == "":
		return true
	case errors.As(err, &decode) && path != "" && decode.Path == path:
		return true
	default:
		t.Errorf("error %v, want one at %q", err, path)
		return false
	}
}

// parse drops the view of a parser, for tests of its errors.
func parse[T any](f func(wire.Value) (T, error)) func(wire.Value) error {
	return func(v wire.Value) error {
		_, err := f(v)
		return err
	}
}
