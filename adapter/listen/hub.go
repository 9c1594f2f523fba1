package listen

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	// maxURIs and maxTasks are how many resources and tasks one subscription may
	// be about; those beyond are not honoured.
	maxURIs  = 1000
	maxTasks = 100
	// maxURI is the length of a URI in bytes beyond which it is not honoured.
	maxURI = 2 << 10
	// deciding is how long a backend may take to decide on all the resources of a
	// subscription; those it has not agreed to by then are not honoured.
	deciding = 20 * time.Second
	// requestTime is how long it may take to subscribe to a resource, or to give
	// it up.
	requestTime = 10 * time.Second
	// maxRequests is how many requests about resources a session has under way.
	maxRequests = 8
	// repairTime is how long it is tried to replace a session that is lost, first
	// after firstDelay, which doubles.
	repairTime = 30 * time.Second
	firstDelay = 500 * time.Millisecond
)

// errClosed is the cause of the end of what the hub itself has under way.
var errClosed = errors.New("the subscriptions are closed")

// Options are what a [Hub] works with. All members are required unless they say
// otherwise.
type Options struct {
	Dialect port.ListenDialect
	Env     env.Env
	Logger  *slog.Logger
	// Tasks tells of tasks; nil honours none.
	Tasks Tasks
}

// Tasks tells of tasks (§4.24).
type Tasks interface {
	// Verify returns nil for the handle of a task that the caller may see.
	Verify(backend string, caller port.Caller, handle string) error
	// Watch has tell called with a whole notification for every change of the task
	// from now on, one at a time, until the task is over or ctx ends. What tell does
	// not take is told again in a while, as it is then.
	Watch(ctx context.Context, backend string, caller port.Caller, handle string, subscription jsonrpc.ID, tell func(notification []byte) (taken bool))
}

// Lease is the use of a session.
type Lease interface {
	// Session is the session itself: it is what [Hub.Heard] names.
	Session() port.Session
	// About is the result of initialize, or absent where it is not known.
	About() wire.Value
	// Release gives the session back.
	Release()
}

// Request is a subscription that a client asks for.
type Request struct {
	Backend string
	Caller  port.Caller
	// ID is the request's, which names the subscription.
	ID jsonrpc.ID
	// Filter is what the client wants to be told; its TaskIDs are handles.
	Filter port.ChangeFilter
	// Authorization is the credential that goes to the backend, or empty.
	Authorization string
	// Lease lends a session for the subscription.
	Lease func(ctx context.Context) (Lease, error)
	// Send delivers a message to the client.
	Send func(msg []byte) error
}

// Hub holds the subscriptions of this process. It is safe for concurrent use.
type Hub struct {
	Options

	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	mu     sync.Mutex // guards all feeds and listeners, too
	closed bool
	feeds  map[port.Session]*feed
}

// New returns a hub. Close must be called.
func New(o Options) *Hub {
	h := &Hub{Options: o, feeds: make(map[port.Session]*feed)}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// Close ends every subscription gracefully and returns when nothing of the hub runs
// any more or ctx is done. Resources are not given up: their sessions end anyway.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel(errClosed)
	return env.Join(ctx, &h.work)
}

// spawn runs f as a part of the hub; the lock is held.
func (h *Hub) spawn(f func()) bool {
	if h.closed {
		return false
	}
	h.work.Go(f)
	return true
}

// Heard takes a notification that a backend sent on a session, on whichever stream.
// It never blocks, and reports whether it was about a change.
func (h *Hub) Heard(session port.Session, msg jsonrpc.Message) bool {
	if msg.Kind != jsonrpc.KindNotification {
		return false
	}
	n, ok := h.Dialect.Notice(msg)
	if !ok {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[session]; f != nil {
		for l := range f.members {
			l.offer(n)
		}
	}
	return true
}

// Listen serves a subscription to its end: until ctx ends, the bridge stops or the
// session is lost for good. What is granted is acknowledged first.
func (h *Hub) Listen(ctx context.Context, r Request) port.Outcome {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return port.Fail(port.ErrDraining)
	}
	h.work.Add(1)
	h.mu.Unlock()
	defer h.work.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(port.ErrDraining) })() //nolint:contextcheck // the hub's own end
	return newListener(h, &r).run(ctx)
}
