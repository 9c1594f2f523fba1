package legacy

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// A session has a home: the process that holds its streams, its requests in flight and
// what waits for its client. Any other passes on what it gets. When a home is gone, or
// about to stop, whoever gets the next request takes its place; what the old one still
// serves, it serves to the end.

// settle reports whether a request is this process's to serve. If not, it was passed
// on, and is answered.
func (f *Face) settle(c *gin.Context, s *session, p call) bool {
	ctx := c.Request.Context()
	for {
		place := f.place(c, s, p)
		passed := replica.From(ctx) != ""
		switch {
		case place == f.Peers.ID() && !(passed && f.draining.Load() && place == s.Home && !f.holds(c, s, p)):
			return true
		case passed:
			// The sender's view of the session is another, or it is to take the session over.
			f.refuseSession(c, p.id, errClosing)
			return false
		}
		if place != f.Peers.ID() {
			w := &tail{ResponseWriter: c.Writer}
			began, err := f.passOn(c, w, p, place)
			lost := errors.Is(err, replica.ErrCut) && f.lost(c, place)
			if !errors.Is(err, replica.ErrGone) && !(lost && !began && p.repeats(c)) {
				f.passed(c, s, p, passing{began: began, err: err, lost: lost, whole: w.whole()})
				return false
			}
		}
		if err := f.claim(c, s, place); err != nil {
			f.refuseSession(c, p.id, err)
			return false
		}
	}
}

// passOn has another process serve a request. A stream of the session, or a wait, ends
// here when this process is about to stop, as its own do; the client comes back to it.
func (f *Face) passOn(c *gin.Context, w http.ResponseWriter, p call, place string) (began bool, err error) {
	req := c.Request
	if p.wait || req.Method == http.MethodGet {
		ctx, cancel := context.WithCancelCause(req.Context())
		defer cancel(nil)
		defer context.AfterFunc(f.drains, func() { cancel(errClosing) })()
		req = req.WithContext(ctx)
	}
	return f.Peers.Pass(w, req, p.body, place)
}

// tail is an answer of which the end is remembered.
type tail struct {
	gin.ResponseWriter
	last [2]byte
}

// Write implements [http.ResponseWriter].
func (t *tail) Write(b []byte) (int, error) {
	for _, c := range b[max(0, len(b)-len(t.last)):] {
		t.last[0], t.last[1] = t.last[1], c
	}
	return t.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (t *tail) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// whole reports whether the answer is a stream that does not end amid an event.
func (t *tail) whole() bool {
	return strings.HasPrefix(t.Header().Get("Content-Type"), edge.EventStream) && t.last == [2]byte{'\n', '\n'}
}

// passing is how it ended that a request was passed on.
type passing struct {
	began bool // something of the answer was written
	err   error
	lost  bool // the other process has died
	whole bool // what was written are whole events
}

// place is the process that a request is for: the one that has what it names, or else
// the session's home.
func (f *Face) place(c *gin.Context, s *session, p call) string {
	named := ""
	switch {
	case p.answers != "":
		named = s.asker(p.answers)
	case c.Request.Method == http.MethodGet:
		named = f.maker(s, c.GetHeader(headerLastEvent))
	}
	switch named {
	case "", s.Home:
		return s.Home
	case f.Peers.ID():
		return named
	}
	if lives, err := f.Peers.Lives(c.Request.Context(), named); err != nil || !lives {
		return s.Home
	}
	return named
}

// holds reports whether a process that is about to stop still has what a request is
// about.
func (f *Face) holds(c *gin.Context, s *session, p call) bool {
	if p.answers != "" {
		return s.asker(p.answers) == f.Peers.ID()
	}
	return f.maker(s, c.GetHeader(headerLastEvent)) == f.Peers.ID()
}

// claimPause is the time between two tries to reach a process that stops.
const claimPause = 100 * time.Millisecond

// claim makes this process the home of a session, unless it has another home by now
// than the one that is gone.
func (f *Face) claim(c *gin.Context, s *session, gone string) error {
	ctx := c.Request.Context()
	if gone != s.Home {
		// What it named is gone, or about to be; the home may not be.
		if err := env.Sleep(ctx, f.Env, claimPause); err != nil {
			return err
		}
		return f.read(ctx, s)
	}
	return f.update(ctx, s, func(r *record) {
		if r.Home == gone {
			r.Home = f.Peers.ID()
		}
	})
}

// resumes reports whether the client opens the stream again that a request has opened,
// if it just ends (A-R7).
func (s *session) resumes(r *http.Request) bool {
	return legacy2025.TaskCapable(s.Version) || r.Method == http.MethodGet && r.Header.Get(headerLastEvent) == ""
}

// lost reports whether a process has died, as far as is known.
func (f *Face) lost(c *gin.Context, process string) bool {
	lives, err := f.Peers.Lives(c.Request.Context(), process)
	return err == nil && !lives
}

// repeats reports whether a request does no harm if it is served again.
func (p call) repeats(c *gin.Context) bool { return p.safe || c.Request.Method == http.MethodGet }

// passed ends a request that was passed on. One that may have been served is never
// served again. Where the process that has served it is lost, nobody comes back to its
// stream but who can wait elsewhere.
func (f *Face) passed(c *gin.Context, s *session, p call, end passing) {
	closing, answered := errors.Is(end.err, errClosing), c.Request.Method == http.MethodPost && p.id != ""
	switch {
	case end.err == nil, c.Request.Context().Err() != nil:
	case errors.Is(end.err, replica.ErrUnsent):
		f.Logger.WarnContext(c.Request.Context(), "request not passed to another process", "error", end.err)
		f.refuseSession(c, p.id, errBusy)
	case closing && !end.began && p.wait:
		edge.WriteError(c, http.StatusOK, p.id, errClosing)
	case closing && !end.began:
		f.refuseSession(c, p.id, errClosing)
	case closing && end.whole && s.resumes(c.Request):
	case end.lost && end.whole && answered && !p.wait:
		f.Logger.WarnContext(c.Request.Context(), "request cut at another process", "error", end.err)
		_ = edge.NewEvents(c, f.Env).Message("", jsonrpc.AppendError(nil, p.id, edge.ErrInterrupted)) // or the client has left
	case end.began:
		edge.Cut()
	case answered:
		f.Logger.WarnContext(c.Request.Context(), "request cut at another process", "error", end.err)
		edge.WriteError(c, http.StatusOK, p.id, edge.ErrInterrupted)
	default:
		c.Header("Retry-After", "1")
		edge.WriteError(c, http.StatusServiceUnavailable, p.id, edge.ErrInterrupted)
	}
}
