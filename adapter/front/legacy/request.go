package legacy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// patience is how long an answer may take before its stream is opened without
// it, so that the client and every proxy see the request alive (A-L15).
const patience = 500 * time.Millisecond

var (
	errGone      = errors.New("the client is gone")
	errAbandoned = errors.New("the client did not come back")
)

// exchange connects the goroutine that serves a request with the handler that
// owns its connection. Messages change hands one by one, so each one sent before
// the outcome is written before it.
type exchange struct {
	out  chan []byte
	end  chan port.Outcome
	gone chan struct{} // closed when the handler has left
}

func (x *exchange) send(msg []byte) error {
	select {
	case x.out <- msg:
		return nil
	case <-x.gone:
		return errGone
	}
}

// request serves a request of a session.
func (f *Face) request(c *gin.Context, backend string, s *session, l *live, msg jsonrpc.Message, accepts edge.Accepts) {
	r := table[msg.Method]
	if r.local {
		f.answer(c, msg, port.Outcome{Result: "{}"})
		return
	}
	// A lost connection is not a cancellation (A-L18).
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.Request.Context()))
	if err := l.begin(msg.ID, flight{cancel, r.wait}); err != nil {
		cancel(err)
		f.answer(c, msg, port.Fail(err))
		return
	}
	stop := context.AfterFunc(f.ctx, func() { cancel(errClosing) })
	x := &exchange{out: make(chan []byte), end: make(chan port.Outcome, 1), gone: make(chan struct{})}
	px := &port.Exchange{Backend: backend, Caller: s.caller(c.GetHeader("Authorization")), Message: msg, Send: x.send, Push: l.push}
	f.work.Go(func() {
		out := f.Crossing.Request(ctx, px)
		if out.Err == nil && r.after != nil {
			out.Err = r.after(f, ctx, s, px)
		}
		stop()
		l.done(msg.ID)
		x.end <- out
		cancel(nil)
	})
	f.deliver(ctx, c, msg, x, r, accepts)
	close(x.gone)
	if c.Request.Context().Err() == nil {
		return
	}
	if !r.outlives {
		cancel(errAbandoned)
		return
	}
	stopTimer := f.Env.AfterFunc(f.Times.ReplayWindow, func() { cancel(errAbandoned) })
	context.AfterFunc(ctx, func() { stopTimer() })
}

// deliver writes what an exchange yields until its end or the client's. The
// answer is a plain body as long as nothing had to precede it and it was quick.
func (f *Face) deliver(ctx context.Context, c *gin.Context, msg jsonrpc.Message, x *exchange, r rule, accepts edge.Accepts) {
	var ev *events
	open := func() {
		if ev == nil {
			ev = openEvents(c, f.Env)
		}
	}
	wait := patience
	for {
		timer := f.Env.NewTimer(wait)
		var err error
		select {
		case m := <-x.out:
			if accepts.EventStream { // a client that takes no stream loses what precedes its answer
				open()
				err = ev.message(f.Filter(msg.Method, m))
			}
		case out := <-x.end:
			timer.Stop()
			f.finish(ctx, c, msg, ev, out)
			return
		case <-timer.C:
			wait = heartbeat
			if ev != nil {
				err = ev.comment()
			} else if accepts.EventStream && !r.plain {
				open()
			}
		case <-c.Request.Context().Done():
			err = errGone
		}
		timer.Stop()
		if err != nil {
			return
		}
	}
}

// finish writes the end of an exchange. A request that its client has cancelled
// gets none (§1.7).
func (f *Face) finish(ctx context.Context, c *gin.Context, msg jsonrpc.Message, ev *events, out port.Outcome) {
	switch {
	case errors.Is(context.Cause(ctx), errCancelled):
		if ev == nil {
			c.Status(http.StatusAccepted)
		}
	case ev != nil:
		// The client may have left; there is nobody to tell.
		_ = ev.message(f.Filter(msg.Method, f.response(c, msg, out)))
	default:
		f.answer(c, msg, out)
	}
}

// answer writes an outcome as a plain body. Only a backend's refusal of the
// caller's credential changes the status (A-L17).
func (f *Face) answer(c *gin.Context, msg jsonrpc.Message, out port.Outcome) {
	status := http.StatusOK
	var upstream *port.UpstreamError
	if errors.As(out.Err, &upstream) && (upstream.Status == http.StatusUnauthorized || upstream.Status == http.StatusForbidden) {
		status = upstream.Status
		c.Header("WWW-Authenticate", challenge(upstream.Status))
	}
	c.Data(status, edge.JSON, f.Filter(msg.Method, f.response(c, msg, out)))
}

// challenge is the bridge's own; nothing of the backend's is passed on.
func challenge(status int) string {
	if status == http.StatusForbidden {
		return `Bearer error="insufficient_scope"`
	}
	return "Bearer"
}

func (f *Face) response(c *gin.Context, msg jsonrpc.Message, out port.Outcome) []byte {
	if out.Err == nil {
		return jsonrpc.AppendResult(nil, msg.ID, []byte(out.Result))
	}
	e := port.RPCError(out.Err)
	if e.Code == jsonrpc.CodeInternal {
		f.Logger.WarnContext(c.Request.Context(), "request failed", "method", msg.Method, "error", out.Err)
	}
	return jsonrpc.AppendError(nil, msg.ID, e)
}
