package modern

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Options are what a [Face] works with; all members are required.
type Options struct {
	Crossing port.Crossing
	// Params checks what only a backend's tools can tell; usually the crossing.
	Params port.ParamChecker
	// Peers are the other processes, which may have what a request is about.
	Peers  *replica.Replica
	Env    env.Env
	Logger *slog.Logger
	// Filter is the last look at everything a client gets, OwnEra that at what comes
	// from a backend of this era (S-3).
	Filter, OwnEra port.Filter
	// Budget bounds the bytes of all messages that are being handled, here and elsewhere.
	Budget *edge.Budget
	// Proxies are believed about the addresses of clients; nil is none.
	Proxies edge.Proxies
	Limits  Limits
}

// Limits bound what clients may hold (configuration key limits).
type Limits struct {
	// Body is the size of a message in bytes.
	Body int64
	// Requests counts all requests that are being handled, RequestsPerCaller those of
	// one principal and those of one client address: principals without a key set are
	// made up at will. StreamsPerCaller counts the open subscriptions of one principal, or
	// of one client address where there is none. RequestsPerCaller of zero is no bound.
	Requests, RequestsPerCaller, StreamsPerCaller int
}

// Route is a backend as clients of this face reach it.
type Route struct {
	// Backend is its name.
	Backend string
	// StrictTaskNames refuses requests about tasks without Mcp-Name (Q39).
	StrictTaskNames bool
}

// Face serves the modern routes. It is safe for concurrent use.
type Face struct {
	Options

	calls   edge.Crowd // exchanges by principal, and by address
	unnamed atomic.Int64
	work    sync.WaitGroup // exchanges

	mu       sync.Mutex
	draining bool
	closed   bool
	requests int
	streams  map[string]int // subscriptions by caller
	running  map[*stream]struct{}
}

// New returns a face. Close must be called.
func New(o Options) *Face {
	return &Face{
		Options: o, calls: edge.Crowd{All: math.MaxInt, Each: cmp.Or(o.Limits.RequestsPerCaller, o.Limits.Requests)},
		streams: make(map[string]int), running: make(map[*stream]struct{}),
	}
}

// others are the methods of HTTP that are not served.
var others = []string{
	http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodPut, http.MethodPatch,
	http.MethodConnect, http.MethodTrace,
}

// Register adds the route of a backend.
func (f *Face) Register(routes gin.IRoutes, path string, route Route) {
	routes.POST(path, func(c *gin.Context) {
		f.post(c, route)
		// The server sends what is still buffered when the handler has returned.
		edge.Extend(c.Writer, f.Env)
	})
	routes.Match(others, path, func(c *gin.Context) {
		c.Header("Allow", http.MethodPost)
		edge.WriteError(c, http.StatusMethodNotAllowed, "", invalid("%s: want POST", c.Request.Method))
	})
	// A route of its own, so that the checks ahead of it see preflights.
	routes.OPTIONS(path, func(c *gin.Context) {
		c.Header("Allow", "POST, OPTIONS")
		c.Status(http.StatusNoContent)
	})
}

// UnnamedTasks returns how many requests about tasks came without Mcp-Name, which
// is tolerated unless a route is strict (Q39).
func (f *Face) UnnamedTasks() int64 { return f.unnamed.Load() }

// Drain ends subscriptions, which may still say so to their clients, and refuses
// new ones. Everything else goes on.
func (f *Face) Drain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.draining = true
	for s := range f.running {
		if s.caller != "" {
			s.cancel(port.ErrDraining)
		}
	}
}

// Close ends every exchange. It returns when none runs any more or ctx is done;
// connections are their server's to close.
func (f *Face) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed, f.draining = true, true
	for s := range f.running {
		s.cancel(port.ErrDraining)
	}
	f.mu.Unlock()
	return f.Wait(ctx)
}

// Wait returns when no exchange runs any more, or ctx is done. Answers may still be
// on their way.
func (f *Face) Wait(ctx context.Context) error {
	return env.Join(ctx, &f.work)
}
