package legacy

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// patience is how long an answer may take before its stream is opened without
// it, so that the client and every proxy see the request alive (A-L15).
const patience = 500 * time.Millisecond

var (
	errGone      = errors.New("the client is gone")
	errAbandoned = errors.New("the client did not come back")
)

// exchange is the stream of a request: it connects the goroutine that serves a request with the handler that
// owns its connection. Messages change hands one by one, so each one sent before
// the outcome is written before it.
type exchange struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	out    chan []byte
	end    chan port.Outcome
	gone   chan struct{} // closed when the handler has left

	asks  bool
	newID func(context.Context) (jsonrpc.ID, error)
}

var _ port.Stream = (*exchange)(nil)

// newExchange returns an exchange that a lost connection does not cancel
// (A-L18).
func newExchange(ctx context.Context) *exchange {
	x := &exchange{out: make(chan []byte), end: make(chan port.Outcome, 1), gone: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return x
}

// Asks implements [port.Stream].
func (x *exchange) Asks() bool { return x.asks }

// NewID implements [port.Stream].
func (x *exchange) NewID(ctx context.Context) (jsonrpc.ID, error) { return x.newID(ctx) }

// Gone implements [port.Stream].
func (x *exchange) Gone() <-chan struct{} { return x.gone }

// Connected implements [port.Stream].
func (x *exchange) Connected() bool {
	select {
	case <-x.gone:
		return false
	default:
		return true
	}
}

// Send implements [port.Stream].
func (x *exchange) Send(msg []byte) error {
	select {
	case x.out <- msg:
		return nil
	case <-x.gone:
		return errGone
	}
}

// request serves a request of a session.
func (f *Face) request(c *gin.Context, s *session, l *live, msg jsonrpc.Message, accepts edge.Accepts) {
	r := table[msg.Method]
	rep := &reply{f: f, c: c, msg: msg, accepts: accepts, plain: r.plain}
	if r.local {
		rep.end(local(msg))
		return
	}
	x := newExchange(c.Request.Context())
	x.asks, x.newID = rep.streams(), func(ctx context.Context) (jsonrpc.ID, error) { return f.newID(ctx, l, s.key) }
	if err := f.begin(l, msg.ID, flight{x.cancel, r.wait}); err != nil {
		x.cancel(err)
		f.refuseRequest(rep, err)
		return
	}
	authorization := c.GetHeader("Authorization")
	if r.attach {
		f.attach(l, s, authorization)
	}
	px := &port.Exchange{Backend: s.Backend, Caller: s.caller(authorization), Message: msg, Stream: x, Push: l.push}
	if !f.spawn(func() { f.cross(x, px, l, s, r) }) {
		l.done(msg.ID, f.Env.Now())
		x.cancel(errClosing)
		f.refuseRequest(rep, errClosing)
		return
	}
	answered := f.deliver(rep, x)
	close(x.gone)
	if !answered {
		f.abandon(x, r)
	}
}

// cross performs an exchange on a goroutine of its own.
func (f *Face) cross(x *exchange, px *port.Exchange, l *live, s *session, r rule) {
	out := f.outcome(x.ctx, px, s, r)
	l.done(px.Message.ID, f.Env.Now())
	x.end <- out
	x.cancel(nil)
}

// outcome performs an exchange. A fault of the bridge ends this exchange and no
// other: on a goroutine of our own nothing else would catch it.
func (f *Face) outcome(ctx context.Context, px *port.Exchange, s *session, r rule) (out port.Outcome) {
	defer func() {
		if fault := recover(); fault != nil {
			port.LogFault(ctx, f.Logger, fault)
			out = port.Fail(errInternal)
		}
	}()
	if r.before != nil {
		if err := r.before(s, px); err != nil {
			return port.Fail(err)
		}
	}
	out = f.Crossing.Request(ctx, px)
	if out.Err == nil && r.after != nil {
		if err := r.after(f, ctx, s, px); err != nil {
			return port.Fail(err)
		}
	}
	return out
}

// refuseRequest answers for a request that was not begun.
func (f *Face) refuseRequest(rep *reply, err error) {
	if errors.Is(err, errBusyID) {
		rep.end(port.Fail(err))
		return
	}
	f.refuseSession(rep.c, rep.msg.ID, err)
}

// abandon leaves an exchange without its client: what only waits or reads ends,
// a call goes on for a while (A-L18).
func (f *Face) abandon(x *exchange, r rule) {
	if !r.outlives {
		x.cancel(errAbandoned)
		return
	}
	stop := f.Env.AfterFunc(f.Times.ReplayWindow, func() { x.cancel(errAbandoned) })
	context.AfterFunc(x.ctx, func() { stop() })
}

// deliver writes what an exchange yields until its end, or returns false when
// the client has left before.
func (f *Face) deliver(rep *reply, x *exchange) bool {
	gone := rep.c.Request.Context().Done()
	wait := patience
	for {
		if rep.ev != nil {
			wait = heartbeat
		}
		timer := f.Env.NewTimer(wait)
		var err error
		select {
		case msg := <-x.out:
			err = rep.ahead(msg)
		case out := <-x.end:
			timer.Stop()
			rep.finish(context.Cause(x.ctx), out)
			return true
		case <-timer.C:
			err = rep.alive()
			wait = heartbeat
		case <-gone:
			err = errGone
		}
		timer.Stop()
		if err != nil {
			return false
		}
	}
}

// local answers a request that needs no backend.
func local(msg jsonrpc.Message) port.Outcome {
	params, err := wire.OptionalObject(msg.Params, "params")
	if err == nil {
		_, err = wire.OptionalObject(params.Get("_meta"), "params._meta")
	}
	if err != nil {
		return port.Fail(err)
	}
	return port.Outcome{Result: "{}"}
}
