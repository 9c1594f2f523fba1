package legacy

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// stream is an open GET stream of a session.
type stream struct {
	out    chan []byte
	cancel context.CancelCauseFunc
}

// streamBuffer is how many messages a client may be behind.
const streamBuffer = 256

var errSlow = errors.New("the client does not read its stream")

// offer hands a message to the stream. A client that is too far behind loses
// the stream rather than a message of it.
func (st *stream) offer(msg []byte) {
	select {
	case st.out <- msg:
	default:
		st.cancel(errSlow)
	}
}

// get serves GET: a stream for messages that belong to no request (A-L16).
func (f *Face) get(c *gin.Context, backend string) {
	if !edge.ParseAccept(c.Request).EventStream {
		edge.WriteError(c, http.StatusNotAcceptable, "", jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: Accept: want %s", edge.EventStream))
		return
	}
	s, ok := f.admit(c, backend, "")
	if !ok {
		return
	}
	if c.GetHeader("Last-Event-ID") != "" {
		// No event of this face carries an id yet, so none can be resumed.
		edge.WriteError(c, http.StatusBadRequest, "", jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: Last-Event-ID: unknown event"))
		return
	}
	l, err := f.enter(s.key, s.Address)
	if err != nil {
		f.refuseSession(c, "", err)
		return
	}
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(errClosing) })()
	st := &stream{out: make(chan []byte, streamBuffer), cancel: cancel}
	if err := l.open(st, f.Limits.StreamsPerSession); err != nil {
		f.refuseSession(c, "", err)
		return
	}
	defer l.close(st)
	f.attach(l, s, c.GetHeader("Authorization"))
	f.serveStream(ctx, openEvents(c, f.Env), st, s)
}

func (f *Face) serveStream(ctx context.Context, ev *events, st *stream, s *session) {
	for {
		timer := f.Env.NewTimer(heartbeat)
		var err error
		select {
		case msg := <-st.out:
			err = ev.message(f.Filter("", msg))
		case <-timer.C:
			if err = ev.comment(); err == nil {
				err = f.touch(ctx, s)
			}
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		timer.Stop()
		if err != nil {
			return
		}
	}
}

// open adds a stream and gives it what waited for one.
func (l *live) open(st *stream, limit int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return errUnknownSession
	}
	if len(l.streams) >= limit {
		return errFull
	}
	l.streams = append(l.streams, st)
	for _, p := range l.pending {
		st.offer(p.msg)
	}
	l.pending = nil
	return nil
}

func (l *live) close(st *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = slices.DeleteFunc(l.streams, func(other *stream) bool { return other == st })
}

// attach connects the session to the changes of its backend, once. It stays
// connected while no stream is open, so that a client that reconnects has
// missed nothing but repetitions.
func (f *Face) attach(l *live, s *session, authorization string) {
	l.mu.Lock()
	attached := l.detach != nil
	if !attached {
		l.detach = func() {}
	}
	l.mu.Unlock()
	if attached {
		return
	}
	detach := f.Crossing.Attach(port.Subscriber{
		Backend: s.Backend, Caller: s.caller(authorization), Resources: s.Resources, Push: l.push,
	})
	l.mu.Lock()
	ended := l.ended
	l.detach = detach
	l.mu.Unlock()
	if ended {
		detach()
	}
}
