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

const (
	// smallBytes is what an exchange may hold, its request and all answers together,
	// without counting as a large one.
	smallBytes = 64 << 10
	// largeShare is the part of all that large exchanges may hold together, in percent:
	// a crowd of them must not keep small ones out.
	largeShare = 75
	// originShare is the part of all that the large exchanges of one client address may
	// hold. One at a time is always allowed.
	originShare = 4
	// firstBytes are reserved before anything has come of a message. The rest is as it
	// comes: what is only announced takes nothing from others.
	firstBytes = 4 << 10
)

// Budget bounds the bytes that the messages being handled hold together: those of
// clients, and what backends answer (configuration key limits.inflight_bytes). It is
// safe for concurrent use.
type Budget struct {
	free  *semaphore.Weighted
	large *semaphore.Weighted // what of that large exchanges may have
	all   int64

	mu sync.Mutex
	by map[string]int64 // of the large exchanges of an address
}

// NewBudget returns a budget of so many bytes. Largest is the size of the largest
// message: there is room for one always.
func NewBudget(bytes, largest int64) *Budget {
	return &Budget{
		free: semaphore.NewWeighted(bytes), large: semaphore.NewWeighted(max(bytes*largeShare/100, min(bytes, largest))),
		all: bytes, by: make(map[string]int64),
	}
}

// Room is what a request has reserved, for itself and for what comes in answer to it. It
// is safe for concurrent use.
type Room struct {
	budget *Budget
	origin string

	mu       sync.Mutex
	body     int64 // of the request
	answers  int64
	large    int64 // how much of both counts as that of a large exchange
	lent     int
	released bool
}

// Take begins to reserve room for a request of an address, which it becomes part of. It
// answers 503 and returns false when there is none. [Room.Release] gives it back.
func (b *Budget) Take(c *gin.Context, origin string) (*Room, bool) {
	r := &Room{budget: b, origin: origin}
	first := int64(firstBytes)
	if announced := c.Request.ContentLength; announced >= 0 {
		first = min(first, announced)
	}
	if !r.grow(min(first, b.all)) {
		tooBusy(c)
		return nil, false
	}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), roomKey{}, r))
	return r, true
}

// tooBusy answers for a message for which there is no room.
func tooBusy(c *gin.Context) {
	c.Header("Retry-After", "1")
	WriteError(c, http.StatusServiceUnavailable, "", jsonrpc.NewError(jsonrpc.CodeInternal, "too many messages at once; try again"))
}

// grow reserves room for so many bytes of the body, those that it has included. It
// reports false when there is none.
func (r *Room) grow(size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := size - r.body; more > 0 {
		if !r.reserve(more, (*semaphore.Weighted).TryAcquire) {
			return false
		}
		r.body = size
	}
	return true
}

// reserve takes n more bytes out of the budget, with acquire, and those that make the
// exchange a large one. The lock is held.
func (r *Room) reserve(n int64, acquire func(*semaphore.Weighted, int64) bool) bool {
	b := r.budget
	if n > b.all {
		return false
	}
	large := r.body + r.answers + n - r.large
	if r.body+r.answers+n <= smallBytes {
		large = 0
	}
	if large > 0 && !r.takeLarge(large, acquire) {
		return false
	}
	if !acquire(b.free, n) {
		r.giveLarge(large)
		return false
	}
	return true
}

func (r *Room) takeLarge(n int64, acquire func(*semaphore.Weighted, int64) bool) bool {
	b := r.budget
	b.mu.Lock()
	others := b.by[r.origin] - r.large
	full := r.origin != "" && others > 0 && b.by[r.origin]+n > b.all/originShare
	if !full {
		b.by[r.origin] += n
	}
	b.mu.Unlock()
	if full {
		return false
	}
	r.large += n
	if !acquire(b.large, n) {
		r.forget(n)
		return false
	}
	return true
}

// giveLarge takes back takeLarge.
func (r *Room) giveLarge(n int64) {
	if n > 0 {
		r.budget.large.Release(n)
		r.forget(n)
	}
}

func (r *Room) forget(n int64) {
	b := r.budget
	r.large -= n
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[r.origin] -= n; b.by[r.origin] == 0 {
		delete(b.by, r.origin)
	}
}

// shrink gives back n bytes, and what then counts as large no more. The lock is held,
// and the bytes are not the room's any more.
func (r *Room) shrink(n int64) {
	r.budget.free.Release(n)
	rest := r.body + r.answers
	if rest <= smallBytes {
		rest = 0
	}
	r.giveLarge(r.large - min(r.large, rest))
}

type roomKey struct{}

var _ port.Memory = (*Budget)(nil)

// TryHold implements [port.Memory]. What comes in answer to a request takes its place
// in that one's room.
func (b *Budget) TryHold(ctx context.Context, n int64) (release func(), ok bool) {
	return b.hold(ctx, n, (*semaphore.Weighted).TryAcquire)
}

// Hold implements [port.Memory].
func (b *Budget) Hold(ctx context.Context, n int64) (release func(), err error) {
	release, ok := b.hold(ctx, n, func(s *semaphore.Weighted, n int64) bool { return s.Acquire(ctx, n) == nil })
	if !ok {
		return nil, port.ErrNoRoom
	}
	return release, nil
}

func (b *Budget) hold(ctx context.Context, n int64, acquire func(*semaphore.Weighted, int64) bool) (release func(), ok bool) {
	if r, known := ctx.Value(roomKey{}).(*Room); known {
		if ok, alive := r.answer(n, acquire); alive {
			return nil, ok
		}
	}
	// It belongs to no request, or to one that is over.
	r := &Room{budget: b}
	ok, _ = r.answer(n, acquire)
	return sync.OnceFunc(r.Release), ok
}

// answer reserves n bytes for what comes in answer to the request, unless the room has
// been given back: what came later is somebody else's.
func (r *Room) answer(n int64, acquire func(*semaphore.Weighted, int64) bool) (ok, alive bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released && r.lent == 0 {
		return false, false
	}
	if !r.reserve(n, acquire) {
		return false, true
	}
	r.answers += n
	return true, true
}

// Keep gives back what a body of size bytes does not need.
func (r *Room) Keep(size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rest := r.body - int64(size); rest > 0 {
		r.body -= rest
		r.shrink(rest)
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
	rest := r.body + r.answers
	r.body, r.answers = 0, 0
	r.shrink(rest)
}
