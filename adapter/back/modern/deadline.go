package modern

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

// watchdog owns the context of one HTTP exchange and ends it with a cause: the
// caller's, silence, or the end of all patience (G-8). It costs one timer
// whatever the number of bytes that arrive.
type watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	detach func() bool
	env    env.Env

	start    time.Time
	deadline time.Time
	idle     time.Duration
	// last is when a byte arrived, counted from start.
	last atomic.Int64

	mu      sync.Mutex
	stop    func() bool
	stopped bool
}

// watch derives a context that ends with parent, after idle without a
// [watchdog.touch], and at deadline. It must be closed.
func watch(parent context.Context, e env.Env, idle time.Duration, deadline time.Time) *watchdog {
	w := &watchdog{env: e, start: e.Now(), deadline: deadline, idle: idle}
	// The exchange outlives parent where it must: a finished stream is drained
	// so that its connection can be used again, and a subscription goes on.
	w.ctx, w.cancel = context.WithCancelCause(context.WithoutCancel(parent))
	w.detach = context.AfterFunc(parent, func() { w.cancel(context.Cause(parent)) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check()
	return w
}

// touch says that the server is alive.
func (w *watchdog) touch() { w.last.Store(int64(w.env.Now().Sub(w.start))) }

func (w *watchdog) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check()
}

// check ends the context when its time has come, and otherwise looks again
// when it may have.
func (w *watchdog) check() {
	if w.stopped {
		return
	}
	now := w.env.Now()
	left, cause := w.deadline.Sub(now), ErrTotal
	if quiet := w.idle - (now.Sub(w.start) - time.Duration(w.last.Load())); quiet < left {
		left, cause = quiet, ErrIdle
	}
	if left <= 0 {
		w.cancel(cause)
		return
	}
	w.stop = w.env.AfterFunc(left, w.wake)
}

// release lets the exchange go on without deadlines and without its parent. It
// must still be closed.
func (w *watchdog) release() {
	w.detach()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.stop != nil {
		w.stop()
	}
}

// cause returns why the context ended, or nil.
func (w *watchdog) cause() error { return context.Cause(w.ctx) }

// close ends the exchange, with cause unless it has ended before.
func (w *watchdog) close(cause error) {
	w.release()
	w.cancel(cause)
}
