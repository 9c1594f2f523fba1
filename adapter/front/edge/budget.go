package edge

import (
	"net/http"

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

// Room is what a request has reserved. It belongs to one goroutine.
type Room struct {
	budget *Budget
	size   int64
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
	if rest := r.size - int64(size); rest > 0 {
		r.budget.free.Release(rest)
		r.size -= rest
	}
}

// Release gives everything back.
func (r *Room) Release() { r.Keep(0) }
