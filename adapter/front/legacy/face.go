package legacy

import (
	"cmp"
	"container/list"
	"context"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Options are what a [Face] works with; all members are required unless they
// say otherwise.
type Options struct {
	Crossing port.Crossing
	Store    state.Store
	// Peers are the processes of the store, of which each session has one for home.
	Peers  *replica.Replica
	Keys   *seal.Keys
	Env    env.Env
	Logger *slog.Logger
	// Prove returns nil for a caller whose credential the backend has just accepted,
	// or of whom nobody has to prove anything; else, why what the face holds of its
	// session is not to be had. Nil proves nothing.
	Prove func(ctx context.Context, backend string, caller port.Caller) error
	// Filter is the last look at everything a client gets, OwnEra that at what comes
	// from a backend of this era (S-3).
	Filter, OwnEra port.Filter
	// Budget bounds the bytes of all messages that are being handled, here and elsewhere.
	Budget *edge.Budget
	// Proxies are believed about the addresses of clients; nil is none.
	Proxies edge.Proxies
	Limits  Limits
	Times   Times
}

// Limits bound what clients may hold (configuration key limits).
type Limits struct {
	// Body is the size of a message in bytes, Kept that of all messages that are kept
	// for clients which may come back.
	Body, Kept int64
	// Requests counts the requests in flight of all sessions, RequestsPerAddress those
	// of one client address, both with those that go on without their client. Zero is
	// no bound.
	Requests, RequestsPerAddress int
	// Sessions counts all sessions, SessionsPerAddress those of one client
	// address, StreamsPerSession the open GET streams of a session. One principal has
	// half of all at most.
	Sessions, SessionsPerAddress, StreamsPerSession int
}

// Times bound waits (configuration key times).
type Times struct {
	// SessionIdle is how long a session lives at least without a sign of life.
	// It lives at most half as long again.
	SessionIdle time.Duration
	// ReplayWindow is how long a call goes on, and every stream is kept, after its
	// client was lost.
	ReplayWindow time.Duration
}

// Face serves the legacy routes. It is safe for concurrent use.
type Face struct {
	Options

	// ctx is of work that belongs to no request; it is done once Close began.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	work     sync.WaitGroup // what runs beside the handlers
	draining atomic.Bool
	drains   context.Context //nolint:containedctx // done once the face drains
	drained  context.CancelCauseFunc
	calls    edge.Crowd   // requests in flight, by client address
	kept     atomic.Int64 // bytes that the streams of all sessions keep

	mu        sync.Mutex
	closed    bool
	live      map[string]*live // by session key
	addresses edge.Crowd       // sessions by client address
	holders   edge.Crowd       // the same by principal
	unused    list.List        // of *idler, those that were opened first in front
}

// ownerShare is the part of all sessions that one principal may have.
const ownerShare = 2

// New returns a face. Close must be called.
func New(o Options) *Face {
	ctx, cancel := context.WithCancelCause(context.Background())
	drains, drained := context.WithCancelCause(ctx)
	return &Face{
		Options: o, ctx: ctx, cancel: cancel, drains: drains, drained: drained,
		calls:     edge.Crowd{All: cmp.Or(o.Limits.Requests, math.MaxInt), Each: cmp.Or(o.Limits.RequestsPerAddress, math.MaxInt)},
		live:      make(map[string]*live),
		addresses: edge.Crowd{All: o.Limits.Sessions, Each: o.Limits.SessionsPerAddress},
		holders:   edge.Crowd{All: math.MaxInt, Each: max(1, o.Limits.Sessions/ownerShare)},
	}
}

// Register adds the route of a backend.
func (f *Face) Register(routes gin.IRoutes, path, backend string) {
	handle := func(serve func(*gin.Context, string)) gin.HandlerFunc {
		return func(c *gin.Context) {
			serve(c, backend)
			// The server sends what is still buffered when the handler has returned.
			edge.Extend(c.Writer, f.Env)
		}
	}
	routes.POST(path, handle(f.post))
	routes.GET(path, handle(f.get))
	routes.DELETE(path, handle(f.delete))
	// A route of its own, so that the checks ahead of it see preflights.
	routes.OPTIONS(path, func(c *gin.Context) {
		c.Header("Allow", "GET, POST, DELETE, OPTIONS")
		c.Status(http.StatusNoContent)
	})
}

// spawn runs work beside the handlers, which Close waits for. It reports false,
// and runs nothing, once the face is closed.
func (f *Face) spawn(work func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.work.Go(work)
	return true
}

// Drain ends what a client repeats or resumes without harm, streams of the session
// and waits for a task's result, and refuses new ones. Calls go on.
func (f *Face) Drain() {
	f.draining.Store(true)
	f.mu.Lock()
	all := make([]*live, 0, len(f.live))
	for _, l := range f.live {
		all = append(all, l)
	}
	f.mu.Unlock()
	for _, l := range all {
		l.drain()
	}
	f.drained(errClosing)
}

// Close ends every stream and every exchange. Sessions stay in the store. It
// returns when no exchange runs any more or ctx is done; connections are their
// server's to close.
func (f *Face) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed = true
	all := f.live
	f.live = make(map[string]*live)
	f.mu.Unlock()
	f.cancel(errClosing)
	for _, l := range all {
		l.end(errClosing)
	}
	return f.Wait(ctx)
}

// Wait returns when no exchange runs any more, those whose client was lost
// included, or ctx is done.
func (f *Face) Wait(ctx context.Context) error {
	return env.Join(ctx, &f.work)
}
