package port

import (
	"errors"
	"fmt"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// UpstreamError says that a backend did not answer a request with JSON-RPC.
type UpstreamError struct {
	// Op is the method of the request.
	Op string
	// Status is the HTTP status, or 0 when there was none.
	Status int
	// Scope is what the user must allow, as a backend said with status 401 or 403:
	// scope tokens and single spaces. It is empty where it said nothing.
	Scope string
	// Sent is true when the request may have reached the backend: it must then
	// not be sent again unless it changes nothing (G-6).
	Sent bool
	// Err is the cause. Its text stays in the log.
	Err error
}

func (e *UpstreamError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: backend answered HTTP %d: %v", e.Op, e.Status, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Op, e.Err)
}

func (e *UpstreamError) Unwrap() error { return e.Err }

// Public is the message a client may see: no addresses, no causes.
func (e *UpstreamError) Public() string {
	switch {
	case e.Status != 0:
		return fmt.Sprintf("backend answered HTTP %d", e.Status)
	case e.Sent:
		return "upstream connection lost; outcome unknown"
	default:
		return "backend unreachable"
	}
}

// TimedOut is what a client is told when a backend took too long, whichever of the
// bridge's clocks has run out first.
const TimedOut = "backend did not answer in time"

// CauseError is a named cause of a failure that knows what a client may be told of it.
type CauseError struct {
	// Text is for the log, Public for the client.
	Text, Public string
}

func (e *CauseError) Error() string { return e.Text }

// RPC is the error a client gets; see [RPCError].
func (e *CauseError) RPC() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: e.Public}
}

// ErrDraining is the cause with which a face ends exchanges when the bridge stops:
// subscriptions first, so that they can finish with a result, and at last whatever
// is left.
var ErrDraining = error(&CauseError{Text: "the bridge is draining", Public: "the bridge is shutting down"})

// ErrSessionLost says that a backend does not know a session any more. What was
// asked has not been run.
var ErrSessionLost = errors.New("the backend has forgotten the session")

// StatusError is an error whose HTTP status the bridge itself decides, on a face
// where that matters.
type StatusError struct {
	// Status is the HTTP status of the answer.
	Status int
	// Err is what the client is told.
	Err *jsonrpc.Error
}

func (e *StatusError) Error() string { return e.Err.Error() }

func (e *StatusError) Unwrap() error { return e.Err }

// rpcError is implemented by errors of other packages that know the JSON-RPC
// error a client gets for them.
type rpcError interface{ RPC() *jsonrpc.Error }

// RPCError returns the JSON-RPC error that a client gets for err: the backend's
// own error as it is, a refusal of malformed input with its path, and -32603
// without details for the rest, which belongs in the log.
func RPCError(err error) *jsonrpc.Error {
	var (
		own      *jsonrpc.Error
		known    rpcError
		upstream *UpstreamError
		decode   *wire.DecodeError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &known):
		return known.RPC()
	case errors.As(err, &upstream):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: upstream.Public()}
	case errors.As(err, &decode):
		return jsonrpc.FromDecode(err)
	default:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "Internal error"}
	}
}

// Reason is what may be logged of an error. A JSON-RPC error is named by its code:
// its message is a peer's free text, and no payload belongs in a log.
func Reason(err error) string {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return fmt.Sprintf("json-rpc error %d", rpc.Code)
	}
	return err.Error()
}

// IsCode reports whether err is a JSON-RPC error of the backend with this code.
func IsCode(err error, code int64) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code == code
}

// IsRefusal reports whether a backend has said no in JSON-RPC, and HTTP nothing that
// says more: that a credential is wrong, or the backend not well.
func IsRefusal(err error) bool {
	var (
		rpc      *jsonrpc.Error
		upstream *UpstreamError
	)
	return errors.As(err, &rpc) && !errors.As(err, &upstream)
}

// ElsewhereError says that another process has what a request is about, and may serve
// it. Nothing has been done for it here.
type ElsewhereError struct {
	// Process is that process.
	Process string
	// Err is the answer if it is gone.
	Err error
}

// Error implements error.
func (e *ElsewhereError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ElsewhereError) Unwrap() error { return e.Err }
