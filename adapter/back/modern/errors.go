package modern

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// Why an exchange failed, besides what the network says. They are wrapped in a
// *[port.UpstreamError]; test with [errors.Is].
var (
	// ErrIdle: the server was silent for longer than Times.Idle.
	ErrIdle error = &port.CauseError{Text: "no byte from the backend in time", Public: port.TimedOut}
	// ErrTotal: the request took longer than Times.Total.
	ErrTotal error = &port.CauseError{Text: "no answer from the backend in time", Public: port.TimedOut}
	// ErrNotAcknowledged: a subscription was not acknowledged within
	// Times.Probe, or ended before.
	ErrNotAcknowledged error = &port.CauseError{Text: "subscription not acknowledged", Public: "backend did not acknowledge the subscription"}
	// ErrTooLarge: a message exceeds Limits.Result. No part of it was used.
	ErrTooLarge error = &port.CauseError{Text: "message exceeds the limit", Public: "answer of the backend is too large"}
	// ErrFiltered: the filter for outgoing requests has stopped the whole request.
	ErrFiltered error = &port.CauseError{Text: "the request belongs to the other era", Public: "the request has no counterpart at the backend"}
	// ErrInvalid: the answer is not the JSON-RPC response to the request.
	ErrInvalid error = &port.CauseError{Text: "not a JSON-RPC response to the request", Public: "invalid response of the backend"}
	// ErrNoResponse: the event stream ended without a response.
	ErrNoResponse = errors.New("event stream ended without a response")
	// ErrRefused: the answer is a failure of HTTP, or a redirect, and holds no
	// JSON-RPC error.
	ErrRefused = errors.New("no JSON-RPC error in the answer")
)

// failure is how one attempt ended, and what that means for another.
type failure struct {
	err  error
	kind failureKind
	sent bool
	// after is how long the server asked to be left alone.
	after time.Duration
}

type failureKind uint8

const (
	// final: another attempt would end the same way.
	final failureKind = iota
	// broken: the connection failed before the answer was complete.
	broken
	// throttled: the server asked to come back later.
	throttled
)

func (x *exchange) fail(kind failureKind, status int, err error) *failure {
	return &failure{
		err:  &port.UpstreamError{Op: x.call.Method, Status: status, Sent: x.body.started.Load(), Err: err},
		kind: kind,
		sent: x.body.started.Load(),
	}
}

// lost is the failure of a connection that broke with err. When the exchange
// was ended on purpose, the purpose is the cause.
func (x *exchange) lost(err error) *failure {
	if cause := x.watch.cause(); cause != nil {
		return x.fail(final, 0, cause)
	}
	return x.fail(broken, 0, quietError{err})
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

func invalid(err error) error { return fmt.Errorf("%w: %w", ErrInvalid, err) }
