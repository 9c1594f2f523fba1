package transport

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Why an exchange failed, besides what the network says. They are wrapped in a
// *[port.UpstreamError]; test with [errors.Is].
var (
	// ErrIdle: the server was silent for too long.
	ErrIdle error = &port.CauseError{Text: "no byte from the backend in time", Public: port.TimedOut}
	// ErrTotal: the request took too long.
	ErrTotal error = &port.CauseError{Text: "no answer from the backend in time", Public: port.TimedOut}
	// ErrTooLarge: a message exceeds the limit. No part of it was used.
	ErrTooLarge error = &port.CauseError{Text: "message exceeds the limit", Public: "answer of the backend is too large"}
	// ErrFiltered: the filter for outgoing messages has stopped the whole message.
	ErrFiltered error = &port.CauseError{Text: "the request belongs to the other era", Public: "the request has no counterpart at the backend"}
	// ErrInvalid: the answer is not the JSON-RPC response to the request.
	ErrInvalid error = &port.CauseError{Text: "not a JSON-RPC response to the request", Public: "invalid response of the backend"}
	// ErrNoResponse: the event stream ended without a response.
	ErrNoResponse = errors.New("event stream ended without a response")
	// ErrRefused: the answer is a failure of HTTP, or a redirect, and holds no
	// JSON-RPC error.
	ErrRefused = errors.New("no JSON-RPC error in the answer")
	// ErrClosed is the cause of an exchange that was ended by its owner.
	ErrClosed = net.ErrClosed
)

// Failure is how one attempt ended, and what that means for another.
type Failure struct {
	// Err is what the caller gets.
	Err error
	// Kind says whether another attempt may end in another way.
	Kind FailureKind
	// Sent is true when the request may have reached the server.
	Sent bool
	// After is how long the server asked to be left alone.
	After time.Duration
	// Status is that of an HTTP failure, or zero.
	Status int
	// Answer is the JSON-RPC error in an HTTP failure; its Kind is zero if there
	// was none.
	Answer jsonrpc.Message
}

// FailureKind tells failures apart by what another attempt may bring.
type FailureKind uint8

// The kinds of failure.
const (
	// Final: another attempt would end the same way.
	Final FailureKind = iota
	// Broken: the connection failed before the answer was complete.
	Broken
	// Throttled: the server asked to come back later.
	Throttled
)

// Fail is a failure of this exchange, wrapped in a *[port.UpstreamError].
func (x *Exchange) Fail(kind FailureKind, status int, err error) *Failure {
	sent := x.body.started.Load()
	return &Failure{
		Err:  &port.UpstreamError{Op: x.op, Status: status, Sent: sent, Err: err},
		Kind: kind,
		Sent: sent,
	}
}

// Lost is the failure of a connection that broke with err. When the exchange
// was ended on purpose, the purpose is the cause.
func (x *Exchange) Lost(err error) *Failure {
	if cause := x.watch.Cause(); cause != nil {
		return x.Fail(Final, 0, cause)
	}
	return x.Fail(Broken, 0, quietError{err})
}

// Invalid is the failure of an answer that could not be read because of err, or
// that is none when err is nil.
func (x *Exchange) Invalid(err error) *Failure {
	if err == nil {
		return x.Fail(Final, x.resp.StatusCode, ErrInvalid)
	}
	return x.Fail(Final, x.resp.StatusCode, fmt.Errorf("%w: %w", ErrInvalid, err))
}

// quietError is an error of the transport, without what it quotes: that may be
// anything the server sent.
type quietError struct{ err error }

func (e quietError) Error() string {
	text, _, quoted := strings.Cut(e.err.Error(), `"`)
	if quoted {
		text += "(not shown)"
	}
	return text
}

func (e quietError) Unwrap() error { return e.err }
