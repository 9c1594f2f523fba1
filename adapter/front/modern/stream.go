package modern

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var (
	errGone = errors.New("the client is gone")
	// errAsk keeps what expects an answer from a client that gives none (B-L2).
	errAsk = errors.New("a client of this revision is sent no requests")
)

// stream is the answer to a request while it is being served. Who sends writes at
// once, so that a crossing is never ahead of its client.
type stream struct {
	rep    *reply
	who    []string // under what names it is counted
	caller string   // under what name it is counted as a subscription, or empty

	// ctx is of the exchange; it ends with the connection, or with a cause.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// conn ends with the connection, or once the answer is written.
	conn context.Context
	gone context.CancelFunc

	// turn is held by whoever writes, and guards what follows.
	turn    chan struct{}
	written time.Time   // the last sign of life
	stop    func() bool // stops the next beat
	held    bool        // the answer may not begin before its end
}

var (
	_ port.Stream   = (*stream)(nil)
	_ port.Withheld = (*stream)(nil)
)

// newStream returns the stream of a request whose connection has this context.
func newStream(ctx context.Context, rep *reply) *stream {
	s := &stream{rep: rep, turn: make(chan struct{}, 1), stop: func() bool { return false }}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.conn, s.gone = context.WithCancel(ctx)
	return s
}

// Asks implements [port.Stream].
func (s *stream) Asks() bool { return false }

// NewID implements [port.Stream].
func (s *stream) NewID(context.Context) (jsonrpc.ID, error) { return "", errAsk }

// Gone implements [port.Stream].
func (s *stream) Gone() <-chan struct{} { return s.conn.Done() }

// Connected implements [port.Stream].
func (s *stream) Connected() bool { return s.conn.Err() == nil }

// Send implements [port.Stream]. It waits for a client that reads slowly. One that
// takes no stream loses the message.
func (s *stream) Send(msg []byte) error {
	if wire.Value(msg).Get("id").Present() {
		return errAsk
	}
	if s.rep.accepts.EventStream {
		msg = s.rep.filter(msg)
	}
	if !s.take() {
		return errGone
	}
	defer s.pass()
	if !s.rep.accepts.EventStream || len(msg) == 0 || s.held {
		return nil
	}
	return s.wrote(s.rep.stream().Message("", msg))
}

// HoldBack implements [port.Withheld].
func (s *stream) HoldBack() {
	if !s.take() {
		return
	}
	defer s.pass()
	if s.rep.events == nil {
		s.held = true
		s.stop()
	}
}

// hush keeps anything from being written here, and reports whether nothing was.
func (s *stream) hush() bool {
	s.HoldBack()
	if !s.take() {
		return false
	}
	defer s.pass()
	return s.held
}

// take waits for the turn to write. It reports false once there is nobody to write
// to.
func (s *stream) take() bool {
	select {
	case s.turn <- struct{}{}:
	case <-s.conn.Done():
		return false
	}
	if s.conn.Err() != nil {
		s.pass()
		return false
	}
	return true
}

func (s *stream) pass() { <-s.turn }

// wrote notes that something was written. A client that cannot be written to has
// left. The turn is held.
func (s *stream) wrote(err error) error {
	if err != nil {
		s.gone()
		s.cancel(errGone)
		return errors.Join(errGone, err)
	}
	s.written = s.rep.f.Env.Now()
	return nil
}

// watch keeps a client that takes a stream from long silence (B-L1).
func (s *stream) watch() {
	if !s.rep.accepts.EventStream || !s.take() {
		return
	}
	defer s.pass()
	s.written = s.rep.f.Env.Now()
	s.stop = s.rep.f.Env.AfterFunc(edge.Heartbeat, s.beat)
}

// beat writes a comment if nothing was written for a while. An answer that takes
// this long becomes a stream by it.
func (s *stream) beat() {
	if !s.take() {
		return
	}
	defer s.pass()
	if s.held {
		return
	}
	left := edge.Heartbeat - s.rep.f.Env.Now().Sub(s.written)
	if left <= 0 {
		left = edge.Heartbeat
		if s.wrote(s.rep.stream().Comment()) != nil {
			return
		}
	}
	s.stop = s.rep.f.Env.AfterFunc(left, s.beat)
}

// end writes the answer, unless there is nobody left to read it. Nothing can be
// sent any more.
func (s *stream) end(out port.Outcome) {
	s.turn <- struct{}{} // whoever writes is done in time
	defer s.pass()
	s.stop()
	left := s.conn.Err() != nil
	s.gone()
	if out.Err != nil && errors.Is(context.Cause(s.ctx), port.ErrDraining) {
		out = port.Fail(port.RPCError(port.ErrDraining))
	}
	s.cancel(nil)
	if !left {
		s.rep.end(out)
	}
}
