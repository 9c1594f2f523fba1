package port

import "context"

// Memory bounds what the messages that are being handled hold together.
type Memory interface {
	// TryHold reserves room for n more bytes of what a backend sends. Release gives it
	// back; it is nil where that happens with the end of the exchange whose context this
	// is. It reports false when there is no room now.
	TryHold(ctx context.Context, n int64) (release func(), ok bool)
	// Hold is TryHold that waits until ctx ends, and returns [ErrNoRoom] then.
	Hold(ctx context.Context, n int64) (release func(), err error)
}

// ErrNoRoom says that an answer could not be taken for all the messages that were being
// handled at the time.
var ErrNoRoom error = &CauseError{Text: "no room for an answer within limits.inflight_bytes", Public: "no room for the answer of the backend: too many messages at once"}
