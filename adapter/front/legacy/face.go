package legacy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Options are what a [Face] works with; all members are required.
type Options struct {
	Crossing port.Crossing
	Store    state.Store
	Keys     *seal.Keys
	Env      env.Env
	Logger   *slog.Logger
	// Filter is the last look at everything a client gets.
	Filter port.Filter
	Limits Limits
	Times  Times
}

// Limits bound what clients may hold (configuration key limits).
type Limits struct {
	// Body is the size of a message in bytes.
	Body int64
	// Sessions counts all sessions, SessionsPerAddress those of one client
	// address, StreamsPerSession the open GET streams of a session.
	Sessions, SessionsPerAddress, StreamsPerSession int
}

// Times bound waits (configuration key times).
type Times struct {
	// SessionIdle ends a session that shows no sign of life.
	SessionIdle time.Duration
	// ReplayWindow is how long a call goes on after its client was lost.
	ReplayWindow time.Duration
}

// Face serves the legacy routes. It is safe for concurrent use.
type Face struct {
	Options

	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	mu        sync.Mutex
	live      map[string]*live // by session key
	addresses map[string]int   // sessions by client address
}

// New returns a face. Close must be called.
func New(o Options) *Face {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Face{
		Options: o, ctx: ctx, cancel: cancel,
		live: make(map[string]*live), addresses: make(map[string]int),
	}
}

// Register adds the route of a backend.
func (f *Face) Register(routes gin.IRoutes, path, backend string) {
	routes.POST(path, func(c *gin.Context) { f.post(c, backend) })
	routes.GET(path, func(c *gin.Context) { f.get(c, backend) })
	routes.DELETE(path, func(c *gin.Context) { f.delete(c, backend) })
}

// Drain ends what a client repeats without harm: streams, and waits for a
// task's result. Calls go on.
func (f *Face) Drain() {
	f.mu.Lock()
	all := make([]*live, 0, len(f.live))
	for _, l := range f.live {
		all = append(all, l)
	}
	f.mu.Unlock()
	for _, l := range all {
		l.drain()
	}
}

// Close ends every stream and every exchange. Sessions stay in the store. It
// returns when nothing of the face runs any more or ctx is done.
func (f *Face) Close(ctx context.Context) error {
	f.cancel(errClosing)
	done := make(chan struct{})
	go func() {
		f.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
