package mapping

import (
	"errors"
	"fmt"
	"strings"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Dir is the direction of a translation.
type Dir uint8

// The directions of translation.
const (
	Up   Dir = iota + 1 // from 2025-11-25 to 2026-07-28
	Down                // from 2026-07-28 to 2025-11-25
)

func (d Dir) String() string {
	if d == Up {
		return "up"
	}
	return "down"
}

// What makes a message impossible to translate. Test with [errors.Is].
var (
	// ErrNoCounterpart: the other era has nothing that could carry this.
	ErrNoCounterpart = errors.New("no counterpart in the other era")
	// ErrUnknownStatus: a task has a status that neither era defines.
	ErrUnknownStatus = errors.New("unknown task status")
	// ErrResultType: a modern result is of a type that its method may not give (G-15).
	ErrResultType = errors.New("result type not allowed here")
)

// Error says that a message has no translation. It reaches the peer with the
// code that [Error.RPC] gives it.
type Error struct {
	Dir    Dir
	Method string
	// Path names the member, from the message's params or result.
	Path string
	// Err is one of the sentinels of this package, or a *wire.DecodeError.
	Err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %s: %v", e.Dir, e.Method, e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// RPC returns the error the client gets: -32602 with the path when its own
// input is at fault, which is then below params, and -32603 when the backend's
// answer is (G-15, §4.6).
func (e *Error) RPC() *jsonrpc.Error {
	var decode *wire.DecodeError
	if errors.As(e.Err, &decode) && (decode.Path == "params" || strings.HasPrefix(decode.Path, "params.")) {
		return jsonrpc.FromDecode(decode)
	}
	return jsonrpc.NewError(jsonrpc.CodeInternal, "invalid response of the backend to %s: %s", e.Method, e.Path)
}
