package legacy

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// get serves GET: a stream for messages that belong to no request (A-L16).
func (f *Face) get(c *gin.Context, backend string) {
	if !edge.ParseAccept(c.Request).EventStream {
		edge.WriteError(c, http.StatusNotAcceptable, "", invalid("Accept: want %s", edge.EventStream))
		return
	}
	s, l, ok := f.join(c, backend, "")
	if !ok {
		return
	}
	if c.GetHeader("Last-Event-ID") != "" {
		// No event of this face carries an id yet, so none can be resumed.
		edge.WriteError(c, http.StatusBadRequest, "", invalid("Last-Event-ID: unknown event"))
		return
	}
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	defer cancel(nil)
	st := newStream(cancel)
	if err := f.open(l, st); err != nil {
		f.refuseSession(c, "", err)
		return
	}
	defer f.close(l, st)
	f.attach(l, s, c.GetHeader("Authorization"))
	f.serveStream(ctx, openEvents(c, f), l, st)
}

// serveStream writes what is pushed until the stream or its client ends.
func (f *Face) serveStream(ctx context.Context, ev *events, l *live, st *stream) {
	for ctx.Err() == nil {
		if msg, ok := l.next(st); ok {
			if ev.message(f.Filter("", msg)) != nil {
				return
			}
			continue
		}
		timer := f.Env.NewTimer(heartbeat)
		var err error
		select {
		case <-st.wake:
		case <-timer.C:
			err = ev.comment()
		case <-ctx.Done():
		}
		timer.Stop()
		if err != nil {
			return
		}
	}
}
