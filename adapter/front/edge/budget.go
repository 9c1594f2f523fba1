package edge

import (
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Budget bounds the bytes that the requests being handled hold together
// (configuration key limits.inflight_bytes). It is safe for concurrent use.
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
	size     int64
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
	return &Room{budget: b, size: size}, true
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
		if r.lent--; r.lent == 0 && r.released {
			r.keep(0)
		}
	}
}

// Release gives everything back, once nothing is lent any more.
func (r *Room) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released = true; r.lent == 0 {
		r.keep(0)
	}
}
