package legacy

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// request serves a request of a session.
func (f *Face) request(c *gin.Context, s *session, l *live, room *edge.Room, msg jsonrpc.Message, accepts edge.Accepts) {
	st, rd := newStream(l, s.Version, false), newReader(false)
	st.reader, st.memory = rd, room
	x := st.exchange(c.Request.Context(), s, msg, accepts.EventStream)
	switch err := f.launch(x, l, s, c.GetHeader("Authorization")); {
	case errors.Is(err, errBusyID), errors.Is(err, errCrowded):
		x.settle(f.response(x, port.Fail(err)))
	case err != nil:
		f.refuseSession(c, msg.ID, err)
		return
	}
	f.deliver(&reply{f: f, c: c, accepts: accepts}, s, st, rd)
}

// launch starts the service of a request, which ends with its [exchange.settle].
// After an error nothing was started.
func (f *Face) launch(x *exchange, l *live, s *session, authorization string) error {
	if x.rule.local {
		x.settle(f.response(x, local(x.msg)))
		return nil
	}
	l.mu.Lock()
	err := f.begin(l, x)
	l.mu.Unlock()
	if err != nil {
		x.cancel(err)
		return err
	}
	return f.start(x, l, s, authorization)
}

// start serves a request that has begun on a goroutine of its own.
func (f *Face) start(x *exchange, l *live, s *session, authorization string) error {
	if x.rule.attach {
		f.attach(l, s, authorization)
	}
	px := f.outgoing(s, l, x.msg, authorization)
	px.Stream = x
	release := x.st.hold()
	if !f.spawn(func() { f.cross(x, px, l, s); release() }) {
		release()
		l.done(x.msg.ID, f.Env.Now())
		x.cancel(errClosing)
		return errClosing
	}
	return nil
}

// outgoing is a message of a session on its way to the crossing.
func (f *Face) outgoing(s *session, l *live, msg jsonrpc.Message, authorization string) *port.Exchange {
	return &port.Exchange{
		Backend: s.Backend, Caller: s.caller(authorization), Message: msg,
		Own: func() port.Stream { return l.newest(s.key) }, Push: l.push, Tie: f.tie(l, s),
	}
}

// cross performs an exchange to its end.
func (f *Face) cross(x *exchange, px *port.Exchange, l *live, s *session) {
	out := f.outcome(x.ctx, px, s, x.rule)
	l.done(px.Message.ID, f.Env.Now())
	x.settle(f.conclude(x, out))
	x.cancel(nil)
	if errors.Is(out.Err, port.ErrSessionLost) {
		f.lose(s.key)
	}
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
