package legacy

import (
	"context"
	"errors"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

var (
	errGone      = errors.New("the client is gone")
	errAbandoned = errors.New("the client did not come back")
)

// exchange is a request in service. Its stream is that of the POST it came with,
// as seen by the crossing: each message sent before the answer is written before
// it.
type exchange struct {
	st     *stream
	key    string          // of the session
	msg    jsonrpc.Message // empty once it is answered; see spare
	rule   rule
	ctx    context.Context
	cancel context.CancelCauseFunc
	asks   bool
	gone   chan struct{} // closed with over

	// The session's lock guards what follows.
	ended    bool   // nothing comes of it any more
	over     bool   // it is answered, or its client is lost
	response []byte // for a plain body; nil once the answers are events
	status   int    // for a plain body
	refused  edge.Refusal
}

var _ port.Stream = (*exchange)(nil)

// exchange adds a request to a stream. A lost connection does not cancel it
// (A-L18). With events the client takes an event stream.
func (st *stream) exchange(ctx context.Context, s *session, msg jsonrpc.Message, events bool) *exchange {
	r := table[msg.Method]
	x := &exchange{st: st, key: s.key, msg: msg, rule: r, asks: events && !r.plain, gone: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	st.requests = append(st.requests, x)
	st.unanswered++
	return x
}

// Asks implements [port.Stream].
func (x *exchange) Asks() bool { return x.asks }

// NewID implements [port.Stream].
func (x *exchange) NewID(ctx context.Context) (jsonrpc.ID, error) {
	return x.st.l.f.newID(ctx, x.st.l, x.key)
}

// Gone implements [port.Stream].
func (x *exchange) Gone() <-chan struct{} { return x.gone }

// Connected implements [port.Stream].
func (x *exchange) Connected() bool {
	x.st.l.mu.Lock()
	defer x.st.l.mu.Unlock()
	return !x.over && x.st.reader != nil
}

// Send implements [port.Stream]. It waits for a client that reads slowly. One that
// takes no stream loses the message.
func (x *exchange) Send(msg []byte) error {
	st := x.st
	if x.asks {
		msg = st.l.filter("", msg)
	}
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	for !x.over && st.reader != nil && st.ahead() {
		st.room.Wait()
	}
	switch {
	case x.over:
		return errGone
	case x.asks && len(msg) > 0:
		st.begin()
		st.append(event{msg: msg, stays: true})
	}
	return nil
}

// ahead reports whether the sender has to wait for the client.
func (st *stream) ahead() bool {
	count, size := st.behind(st.pos)
	return count >= aheadEvents || size >= aheadSize
}

// begin makes the answers events, those that are there already first. The lock is
// held.
func (st *stream) begin() {
	if st.begun {
		return
	}
	st.begun = true
	for _, x := range st.requests {
		if x.response != nil {
			st.append(event{msg: x.response, stays: true})
			x.response = nil
		}
	}
	st.wake()
}

// close ends what the crossing can send. The lock is held.
func (x *exchange) close() {
	x.over = true
	close(x.gone)
}

// settle ends the exchange. A response of nil is none; the status is that of a
// plain body.
func (x *exchange) settle(response []byte, status int) {
	st := x.st
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	if !x.over {
		x.close()
	}
	st.unanswered--
	x.ended = true
	switch {
	case st.retired:
	case st.begun && response != nil:
		st.append(event{msg: response, stays: true})
	default:
		x.response, x.status = response, status
	}
	st.room.Broadcast()
	st.wake()
	st.spare()
}

// abandon leaves an exchange without its client. What only waits or reads ends;
// a call goes on for a while, unless that has passed (A-L18).
func (x *exchange) abandon(waited bool) {
	f := x.st.l.f
	if waited || !x.rule.outlives {
		x.cancel(errAbandoned)
		return
	}
	stop := f.Env.AfterFunc(f.Times.ReplayWindow, func() { x.cancel(errAbandoned) })
	context.AfterFunc(x.ctx, func() { stop() })
}

// ownStream is a stream of the session itself, as seen by a crossing.
type ownStream struct {
	*stream
	key string // of the session
}

var _ port.Stream = ownStream{}

// newest returns the stream that the session has opened last and has open, or nil.
func (l *live) newest(key string) port.Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.own) == 0 {
		return nil
	}
	return ownStream{l.own[len(l.own)-1], key}
}

// Asks implements [port.Stream].
func (o ownStream) Asks() bool { return true }

// NewID implements [port.Stream].
func (o ownStream) NewID(ctx context.Context) (jsonrpc.ID, error) {
	return o.l.f.newID(ctx, o.l, o.key)
}

// Gone implements [port.Stream].
func (o ownStream) Gone() <-chan struct{} { return o.gone }

// Connected implements [port.Stream].
func (o ownStream) Connected() bool {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	return o.reader != nil
}

// Send implements [port.Stream]. It never waits: a client that is too far behind
// loses its connection.
func (o ownStream) Send(msg []byte) error {
	msg = o.l.filter("", msg)
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	if o.reader != nil && o.full() {
		o.l.route(o.part())
	}
	switch {
	case o.retired:
		return errGone
	case len(msg) > 0:
		o.append(event{msg: msg, stays: true})
	}
	return nil
}
