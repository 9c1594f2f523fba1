package edge

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Budget bounds the bytes that the requests being handled hold together
// (configuration key limits.inflight_bytes). It is safe for concurrent use.
type Budget struct{ free *semaphore.Weighted }

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{free: semaphore.NewWeighted(bytes)} }

// Take reserves room for the body of a request: what it announces, or limit
// when it announces nothing. It answers 503 and returns false when there is no
// room. The returned function gives it back.
func (b *Budget) Take(c *gin.Context, limit int64) (giveBack func(), ok bool) {
	size := c.Request.ContentLength
	if size < 0 || size > limit {
		size = limit
	}
	if !b.free.TryAcquire(size) {
		c.Header("Retry-After", "1")
		WriteError(c, http.StatusServiceUnavailable, "", jsonrpc.NewError(jsonrpc.CodeInternal, "too many messages at once; try again"))
		return nil, false
	}
	return func() { b.free.Release(size) }, true
}
