package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// Eras serves the routes of one face: each exchange by the crossing that the era of
// its backend calls for. The face of a route never changes; the crossing behind it
// may, when a backend is found to have changed. A session goes on where it began.
type Eras struct{ o ErasOptions }

// ErasOptions are what an [Eras] works with; all members are required, except that
// a face without headers that mirror arguments needs no checkers of them.
type ErasOptions struct {
	// OwnEra reports whether a backend is of the face's era. One that speaks neither
	// era is not. It may have to ask the backend with the caller's credential.
	OwnEra func(ctx context.Context, backend string, caller port.Caller) (bool, error)
	// Own serves backends of the face's era, and Across all others: it says what is
	// wrong with those that are of no era.
	Own, Across port.Crossing
	// OwnParams and AcrossParams check what their backends want mirrored.
	OwnParams, AcrossParams port.ParamChecker
}

var (
	_ port.Crossing     = (*Eras)(nil)
	_ port.ParamChecker = (*Eras)(nil)
)

// NewEras returns the crossing of a face.
func NewEras(o ErasOptions) *Eras { return &Eras{o: o} }

// own reports whether an exchange stays within the face's era. Only a session that
// began so has something kept with it.
func (e *Eras) own(ctx context.Context, x *port.Exchange) (bool, error) {
	opens := x.Message.Kind == jsonrpc.KindRequest && x.Message.Method == legacy2025.MethodInitialize
	switch {
	case x.Caller.Kept != "":
		return true, nil
	case x.Caller.Session != "" && !opens:
		return false, nil
	default:
		return e.o.OwnEra(ctx, x.Backend, x.Caller)
	}
}

func (e *Eras) crossing(own bool) port.Crossing {
	if own {
		return e.o.Own
	}
	return e.o.Across
}

// Request implements [port.Crossing].
func (e *Eras) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	own, err := e.own(ctx, x)
	if err != nil {
		return port.Fail(err)
	}
	return e.crossing(own).Request(ctx, x)
}

// Notification implements [port.Crossing].
func (e *Eras) Notification(ctx context.Context, x *port.Exchange) {
	e.crossing(x.Caller.Kept != "").Notification(ctx, x)
}

// Answer implements [port.Crossing].
func (e *Eras) Answer(ctx context.Context, x *port.Exchange) error {
	return e.crossing(x.Caller.Kept != "").Answer(ctx, x)
}

// Attach implements [port.Crossing].
func (e *Eras) Attach(sub port.Subscriber) func() {
	return e.crossing(sub.Caller.Kept != "").Attach(sub)
}

// EndSession implements [port.Crossing].
func (e *Eras) EndSession(ctx context.Context, backend string, caller port.Caller) {
	e.crossing(caller.Kept != "").EndSession(ctx, backend, caller)
}

// CheckParams implements [port.ParamChecker].
func (e *Eras) CheckParams(ctx context.Context, x *port.Exchange, header func(name string) []string) error {
	own, err := e.own(ctx, x)
	if err != nil {
		return err
	}
	if own {
		return e.o.OwnParams.CheckParams(ctx, x, header)
	}
	return e.o.AcrossParams.CheckParams(ctx, x, header)
}
