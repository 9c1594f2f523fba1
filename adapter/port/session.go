package port

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// SessionBack is the client of one backend whose era has sessions.
type SessionBack interface {
	// Open shakes hands and returns a session (B-U2). The error is the backend's
	// own *[jsonrpc.Error] or an *[UpstreamError].
	Open(ctx context.Context, hello Hello) (Session, error)
	// Resume returns a session that exists at the backend already, such as one
	// that a task's handle names, without shaking hands. Whether it still exists
	// there shows with its first request.
	Resume(ctx context.Context, ticket Ticket, hello Hello) Session
}

// Hello is what a session is opened with.
type Hello struct {
	// ClientInfo and Capabilities are those of initialize, in the backend's era.
	ClientInfo, Capabilities wire.Value
	// Authorization is sent as the Authorization header unless empty.
	Authorization string
	// OnMessage gets the notifications and requests of the backend that arrive
	// outside the exchanges of [Session.Do]: on the session's standing stream. It
	// is called by one goroutine at a time and must not block for long.
	OnMessage func(msg jsonrpc.Message)
}

// Ticket is what it takes to go on with a session in another process.
type Ticket struct {
	// ID is the session's id, or empty where the backend gave none.
	ID string
	// Version is the negotiated revision.
	Version string
}

// Session is one initialized session at a backend. It is safe for concurrent use.
type Session interface {
	// Ticket returns what it takes to resume the session.
	Ticket() Ticket
	// About is the result of initialize as it came; absent after a resumption.
	About() wire.Value
	// Do sends a request and waits for its result. It is sent at most once, except
	// that requests that change nothing are repeated when the connection breaks.
	// The error is the backend's own *[jsonrpc.Error], an *[UpstreamError], or
	// [ErrSessionLost] when the backend does not know the session any more and has
	// run nothing (B-U4). Ending ctx drops the answer; the backend is told with
	// notifications/cancelled only by [Session.Notify].
	Do(ctx context.Context, call SessionCall) (wire.Value, error)
	// Notify sends a notification.
	Notify(ctx context.Context, method string, params wire.Value) error
	// Respond sends a whole response to a request of the backend.
	Respond(ctx context.Context, response []byte) error
	// Lost is closed once the backend is known to have forgotten the session, or
	// Close was called.
	Lost() <-chan struct{}
	// Close ends the session at the backend (DELETE) and everything of it here.
	Close(ctx context.Context)
}

// SessionCall is a request on a session, complete in the backend's era.
type SessionCall struct {
	Method string
	Params wire.Value
	// Authorization replaces that of the session's [Hello] unless empty.
	Authorization string
	// OnID is told the request's id before it is sent, so that it can be named in
	// notifications/cancelled. May be nil.
	OnID func(id jsonrpc.ID)
	// OnMessage gets every notification and every request of the backend that
	// arrives on the request's own stream, in order, until Do returns. Nil hands
	// them to the session's [Hello].
	OnMessage func(msg jsonrpc.Message)
	// Waited returns when the backend has last waited for something from here,
	// such as an answer to its question: its silence until then is not held against
	// it. May be nil.
	Waited func() time.Time
}
