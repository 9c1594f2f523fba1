package port

import (
	"context"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Caller is who stands behind an exchange, as the face knows it.
type Caller struct {
	// Session is the face's session id, or empty where the era has none.
	Session string
	// Principal is the opaque owner of tasks, sessions and cursors; equal
	// principals are the same owner, whatever secrets there are. It is for memory
	// only: what is stored is a keyed hash of it. It is never empty on the legacy
	// face, and empty for an anonymous caller of the modern one.
	Principal string
	// Version is the protocol revision negotiated with the client.
	Version string
	// ClientInfo is the client's Implementation object as received.
	ClientInfo wire.Value
	// Capabilities is the client's capabilities object as received.
	Capabilities wire.Value
	// Tasks is true when initialize has offered tasks to this session, which keeps
	// what it was offered (A-T1); on the modern face, when the request itself
	// declares the tasks extension (B-L3).
	Tasks bool
	// LogLevel is the level the client asked for, or empty when it never did.
	LogLevel string
	// Kept is what the crossing had kept with the session; see [Tie].
	Kept string
	// Authorization is the value of the client's Authorization header, or empty.
	// It may go to the exchange's backend and nowhere else.
	Authorization string
	// Verified is true when the bridge itself has verified who the caller is: no
	// backend has to accept the credential before the caller gets what is its own.
	Verified bool
}

// Exchange is one message of a client, on its way to a backend.
type Exchange struct {
	// Backend is the name of the route's backend.
	Backend string
	// Caller is the client.
	Caller Caller
	// Message is the request, notification or response as received.
	Message jsonrpc.Message
	// Stream is the exchange's own stream, ahead of the answer. It is nil for
	// notifications and responses.
	Stream Stream
	// Own returns the newest stream that the session has open outside any
	// exchange, or nil. It may be nil itself where a session has none.
	Own func() Stream
	// Push delivers a message in the face's era on the session's own stream,
	// outside any exchange; see [Subscriber].
	Push func(key string, msg []byte)
	// Tie is to the face's session. It is nil where a session has none.
	Tie *Tie
	// OwnEra is noted by the crossing, before it sends or returns anything, when
	// the backend is of the face's era: nothing was translated (S-3).
	OwnEra bool
}

// Tie is what a crossing needs that has a session of its own for each of the
// face's.
type Tie struct {
	// Keep has data kept with the session, which later exchanges bring as
	// [Caller.Kept], in whatever process. It is for the exchange that opens the
	// session, and nil on others. A session for which something is kept is always
	// told of with [Crossing.EndSession], and its notifications/cancelled reach
	// [Crossing.Notification] before the exchange ends.
	Keep func(data string)
	// Renew has other data kept in place of what is. It may be called at any time, does
	// not block, and may fail; it is nil on the exchange that opens the session.
	Renew func(data string)
	// Over is closed when this process lets go of the session, which may live on
	// in others.
	Over <-chan struct{}
	// Lose ends the session for its client, who is told with its next message. It
	// may be called at any time, and does not block.
	Lose func()
}

// Stream is a way to a client. It is safe for concurrent use.
type Stream interface {
	// Send delivers a message in the face's era. A client that has lost its
	// connection gets it once it resumes the stream. Send fails when it never can.
	Send(msg []byte) error
	// Asks reports whether the client can be sent requests here.
	Asks() bool
	// NewID mints the id of a request to the client: an integer that no request
	// of its session has ever had (A-I3).
	NewID(ctx context.Context) (jsonrpc.ID, error)
	// Connected reports whether the client reads the stream now.
	Connected() bool
	// Gone is closed when the stream has ended, or its client has not come back
	// in time.
	Gone() <-chan struct{}
}

// Withheld is a [Stream] whose answer may have a status of its own as long as it has
// not begun.
type Withheld interface {
	// HoldBack keeps the answer from beginning before its end: what is sent until
	// then is lost. It does nothing once the answer has begun.
	HoldBack()
}

// Outcome is the end of an exchange. Exactly one of the members is set, and an
// exchange has exactly one outcome.
type Outcome struct {
	// Result is the result object in the face's era.
	Result wire.Value
	// Err is what [RPCError] turns into an error response.
	Err error
}

// Fail returns the outcome for an error.
func Fail(err error) Outcome { return Outcome{Err: err} }

// Crossing serves the exchanges of a face.
type Crossing interface {
	// Request serves a request to its end. It returns when ctx is done.
	Request(ctx context.Context, x *Exchange) Outcome
	// Notification serves a notification; nothing is ever answered.
	Notification(ctx context.Context, x *Exchange)
	// Answer takes a client's response to a request that it was sent. Where the
	// answer matters after a crash it is durable when Answer returns. One to what
	// the session was never asked, or has answered before, is dropped.
	Answer(ctx context.Context, x *Exchange) error
	// Attach announces that a session has a stream open for changes. The
	// returned function ends the attachment.
	Attach(sub Subscriber) (detach func())
	// EndSession says that the client gave its session up, if that owned tasks
	// alone or something was kept with it. Tasks owned by the session alone become
	// unreachable and are cancelled (A-L11).
	EndSession(ctx context.Context, backend string, caller Caller)
}

// ParamChecker knows which arguments of its tools a backend wants mirrored in
// headers.
type ParamChecker interface {
	// CheckParams checks the Mcp-Param-* headers of a tools/call against its
	// arguments (§3.8). The function header returns the values of a field by its
	// name. Nil means that nothing is wrong with them, also where the tool is
	// unknown. It may have to ask the backend.
	CheckParams(ctx context.Context, x *Exchange, header func(name string) []string) error
}

// Subscriber is a session that is told about changes while it has a stream.
type Subscriber struct {
	// Backend is the name of the route's backend.
	Backend string
	// Caller is the session.
	Caller Caller
	// Tie is to the session, as in [Exchange].
	Tie *Tie
	// Resources are the URIs it has subscribed to.
	Resources []string
	// Push delivers a message on one of the session's open streams. Where none
	// is open the newest message of each key is kept, up to a bound. It never
	// blocks.
	Push func(key string, msg []byte)
}

// Filter is the last look at a message before its bytes leave on a leg. It
// returns the bytes to send, which are msg itself when nothing has to go.
// Method is the request's method, also for its response.
type Filter func(method string, msg []byte) []byte
