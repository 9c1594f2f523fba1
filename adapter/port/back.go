package port

import (
	"context"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Back is the client of one backend.
type Back interface {
	// Do sends a request and waits for its result. The error is the backend's
	// own *[jsonrpc.Error] or an *[UpstreamError]. Requests that change nothing
	// are sent again, with a new id, when the connection breaks (A-U6); all
	// others are sent at most once (G-6). Ending ctx aborts the request.
	Do(ctx context.Context, call Call) (wire.Value, error)
	// Listen opens a long-lived subscription and returns after the backend
	// acknowledged it.
	Listen(ctx context.Context, call Call) (Subscription, error)
}

// Call is a request to a backend, complete in the backend's era.
type Call struct {
	// Method is the request's method.
	Method string
	// Params is the params object, envelope included.
	Params wire.Value
	// Headers are the request's own headers beyond those that the era derives
	// from method and params.
	Headers []Header
	// Authorization is sent as the Authorization header unless empty.
	Authorization string
	// OnMessage gets every notification that precedes the response. It is not
	// called after Do has returned. Nil drops them.
	OnMessage func(msg jsonrpc.Message)
}

// Header is one HTTP header field.
type Header struct{ Name, Value string }

// Subscription is an open subscription at a backend.
type Subscription interface {
	// Acknowledged is the params object of the acknowledgement.
	Acknowledged() wire.Value
	// Next returns the next notification. After the subscription has ended it
	// returns an error: io.EOF for a graceful end.
	Next() (jsonrpc.Message, error)
	// Close ends the subscription. It may be called at any time.
	Close()
}
