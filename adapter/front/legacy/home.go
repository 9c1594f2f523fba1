package legacy

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// A session has a home: the process that holds its streams, its requests in flight and
// what waits for its client. Any other passes on what it gets. When a home is gone, or
// about to stop, whoever gets the next request takes its place; what the old one still
// serves, it serves to the end.

// errCut is for a request that another process may have served.
var errCut = jsonrpc.NewError(jsonrpc.CodeInternal, "interrupted: the process that served the request was lost; its outcome is unknown")

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
			if !replica.Refuse(c.Writer) {
				f.refuseSession(c, p.id, errClosing)
			}
			return false
		}
		if place != f.Peers.ID() {
			began, err := f.Peers.Pass(c.Writer, c.Request, p.body, place)
			if !errors.Is(err, replica.ErrGone) && !f.repeats(c, p, place, began, err) {
				f.passed(c, p, began, err)
				return false
			}
		}
		if err := f.claim(c, s, place); err != nil {
			f.refuseSession(c, p.id, err)
			return false
		}
	}
}

// place is the process that a request is for: the one that has what it names, or else
// the session's home.
func (f *Face) place(c *gin.Context, s *session, p call) string {
	named := ""
	switch {
	case p.answers != "":
		named = s.asker(p.answers)
	case c.Request.Method == http.MethodGet:
		named, _, _ = strings.Cut(c.GetHeader(headerLastEvent), nonceMark)
	}
	if named == "" || named == s.Home || named == f.Peers.ID() {
		if named == "" {
			return s.Home
		}
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
	process, _, _ := strings.Cut(c.GetHeader(headerLastEvent), nonceMark)
	return process == f.Peers.ID()
}

// claim makes this process the home of a session, unless it has another home by now
// than the one that is gone.
func (f *Face) claim(c *gin.Context, s *session, gone string) error {
	ctx := c.Request.Context()
	if gone != s.Home {
		return f.read(ctx, s) // what it named is gone; the home may not be
	}
	return f.update(ctx, s, func(r *record) {
		if r.Home == gone {
			r.Home = f.Peers.ID()
		}
	})
}

// repeats reports whether a request was cut by the death of the process that may have
// served it, and does no harm if it is served again.
func (f *Face) repeats(c *gin.Context, p call, place string, began bool, err error) bool {
	if began || !errors.Is(err, replica.ErrCut) || !p.safe && c.Request.Method != http.MethodGet {
		return false
	}
	lives, err := f.Peers.Lives(c.Request.Context(), place)
	return err == nil && !lives
}

// passed ends a request that was passed on. One that may have been served is never
// served again.
func (f *Face) passed(c *gin.Context, p call, began bool, err error) {
	switch {
	case err == nil, c.Request.Context().Err() != nil:
	case began:
		edge.Cut()
	case c.Request.Method == http.MethodPost && p.id != "":
		f.Logger.WarnContext(c.Request.Context(), "request cut at another process", "error", err)
		edge.WriteError(c, http.StatusOK, p.id, errCut)
	default:
		c.Header("Retry-After", "1")
		edge.WriteError(c, http.StatusServiceUnavailable, p.id, errCut)
	}
}
