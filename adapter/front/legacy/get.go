package legacy

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

var errExpired = errors.New("the token of the stream has expired")

// get serves GET: a stream for messages that belong to no request, or, with
// Last-Event-ID, the one that this event is of (A-L16). It ends with the token that it
// was opened with.
func (f *Face) get(c *gin.Context, backend string) {
	if !edge.ParseAccept(c.Request).EventStream {
		edge.WriteError(c, http.StatusNotAcceptable, "", invalid("Accept: want %s", edge.EventStream))
		return
	}
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	defer cancel(nil)
	defer edge.WhileVerified(c, f.Env, func() { cancel(errExpired) })()
	c.Request = c.Request.WithContext(ctx)
	s, l, ok := f.join(c, backend, call{})
	if !ok {
		return
	}
	if !f.proven(c, s) {
		return
	}
	rd, place := newReader(true), c.GetHeader(headerLastEvent)
	var st *stream
	var after int64
	var err error
	if place == "" {
		st, err = f.open(l, s.Version, rd)
	} else {
		st, after, err = f.resume(c, l, s, rd, place)
	}
	switch {
	case errors.Is(err, errUnknownEvent), errors.Is(err, errBusyID):
		edge.WriteError(c, http.StatusBadRequest, "", invalid("%s: unknown event", headerLastEvent))
		return
	case err != nil:
		f.refuseSession(c, "", err)
		return
	}
	defer st.leave(rd)
	if st.own {
		f.attach(l, s, c.GetHeader("Authorization"))
	}
	f.serve(&reply{f: f, c: c}, st, rd, after)
}

// open adds a stream of the session itself, and gives it what waited for one.
func (f *Face) open(l *live, version string, rd *reader) (*stream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := f.room(l, nil); err != nil {
		return nil, err
	}
	st := newStream(l, version, true)
	st.tell(l.name())
	st.attach(rd, 0)
	return st, nil
}

// room says why a session cannot have another stream open, beside one that is
// taken over. The lock is held.
func (f *Face) room(l *live, taken *stream) error {
	switch {
	case l.ended != nil:
		return l.ended
	case f.draining.Load():
		return errClosing
	case l.gets(taken) >= f.Limits.StreamsPerSession:
		return errFull
	}
	return nil
}

// gets counts the streams that are written to a GET, but for one. The lock is
// held.
func (l *live) gets(but *stream) (n int) {
	for _, st := range l.streams {
		if st != but && st.reader != nil && st.reader.get {
			n++
		}
	}
	return n
}
