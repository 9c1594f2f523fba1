package modern

import (
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// Why an exchange failed, besides what the network says. They are wrapped in a
// *[port.UpstreamError]; test with [errors.Is].
var (
	// ErrIdle: the server was silent for longer than Times.Idle.
	ErrIdle = transport.ErrIdle
	// ErrTotal: the request took longer than Times.Total.
	ErrTotal = transport.ErrTotal
	// ErrNotAcknowledged: a subscription was not acknowledged within
	// Times.Probe, or ended before.
	ErrNotAcknowledged error = &port.CauseError{Text: "subscription not acknowledged", Public: "backend did not acknowledge the subscription"}
	// ErrTooLarge: a message exceeds Limits.Result. No part of it was used.
	ErrTooLarge = transport.ErrTooLarge
	// ErrFiltered: the filter for outgoing requests has stopped the whole request.
	ErrFiltered = transport.ErrFiltered
	// ErrInvalid: the answer is not the JSON-RPC response to the request.
	ErrInvalid = transport.ErrInvalid
	// ErrNoResponse: the event stream ended without a response.
	ErrNoResponse = transport.ErrNoResponse
	// ErrRefused: the answer is a failure of HTTP, or a redirect, and holds no
	// JSON-RPC error.
	ErrRefused = transport.ErrRefused
)
