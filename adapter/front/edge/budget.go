package edge

import (
	"context"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Budget bounds the bytes that the messages being handled hold together: those of
// clients, and what backends answer (configuration key limits.inflight_bytes). It is
// safe for concurrent use.
type Budget struct {
	free *semaphore.Weighted
	all  int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	return &Budget{free: semaphore.NewWeighted(bytes), all: bytes}
}

// Room is what a request has reserved. It is safe for concurrent use.
type Room struct {
	budget *Budget

	mu       sync.Mutex
	size     int64 // of the request's body
	answers  int64 // of what came in answer to it
	lent     int
	released bool
}

// Take reserves room for the body of a request: what it announces, or limit
// when it announces nothing, but never more than there is in all. It answers 503
// and returns false when there is no room. [Room.Release] gives it back.
func (b *Budget) Take(c *gin.Context, limit int64) (*Room, bool) {
	size := c.Request.ContentLength
	if size < 0 || size > limit {
		size = limit
	}
	size = min(size, b.all)
	if !b.free.TryAcquire(size) {
		c.Header("Retry-After", "1")
		WriteError(c, http.StatusServiceUnavailable, "", jsonrpc.NewError(jsonrpc.CodeInternal, "too many messages at once; try again"))
		return nil, false
	}
	r := &Room{budget: b, size: size}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), roomKey{}, r))
	return r, true
}

type roomKey struct{}

var _ port.Memory = (*Budget)(nil)

// TryHold implements [port.Memory]. What comes in answer to a request takes its place
// in that one's room.
func (b *Budget) TryHold(ctx context.Context, n int64) (release func(), ok bool) {
	if !b.free.TryAcquire(n) {
		return nil, false
	}
	return b.held(ctx, n), true
}

// Hold implements [port.Memory].
func (b *Budget) Hold(ctx context.Context, n int64) (release func(), err error) {
	if n > b.all || b.free.Acquire(ctx, n) != nil {
		return nil, port.ErrNoRoom
	}
	return b.held(ctx, n), nil
}

func (b *Budget) held(ctx context.Context, n int64) (release func()) {
	if r, ok := ctx.Value(roomKey{}).(*Room); ok && r.add(n) {
		return nil
	}
	return sync.OnceFunc(func() { b.free.Release(n) })
}

// add puts bytes that are reserved already into the room, unless that has been given
// back: what came later is somebody else's.
func (r *Room) add(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released && r.lent == 0 {
		return false
	}
	r.answers += n
	return true
}

// Keep gives back what a body of size bytes does not need.
func (r *Room) Keep(size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(size)
}

func (r *Room) keep(size int) {
	if rest := r.size - int64(size); rest > 0 {
		r.budget.free.Release(rest)
		r.size -= rest
	}
}

// Lend keeps the room for work that goes on when its request is over, until the
// returned function is called, once.
func (r *Room) Lend() (back func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lent++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lent--
		r.empty()
	}
}

// Release gives everything back, once nothing is lent any more.
func (r *Room) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = true
	r.empty()
}

// empty gives everything back if nobody needs it. The lock is held.
func (r *Room) empty() {
	if !r.released || r.lent > 0 {
		return
	}
	r.keep(0)
	r.budget.free.Release(r.answers)
	r.answers = 0
}
