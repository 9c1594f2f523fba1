package transport

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

// Watchdog owns the context of one HTTP exchange and ends it with a cause: the
// caller's, silence, or the end of all patience (G-8). It costs one timer
// whatever the number of bytes that arrive.
type Watchdog struct {
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
	// excused returns until when silence counts for nothing; nil if it always counts.
	excused func() time.Time
}

// Watch derives a context that ends with parent, after idle without a
// [Watchdog.Touch], and at deadline. It must be closed.
func Watch(parent context.Context, e env.Env, idle time.Duration, deadline time.Time) *Watchdog {
	w := &Watchdog{env: e, start: e.Now(), deadline: deadline, idle: idle}
	// The exchange outlives parent where it must: a finished stream is drained
	// so that its connection can be used again, and a subscription goes on.
	w.ctx, w.cancel = context.WithCancelCause(context.WithoutCancel(parent))
	w.detach = context.AfterFunc(parent, func() { w.cancel(context.Cause(parent)) })
	if parent.Err() != nil {
		// Not later, as AfterFunc does it: nothing is sent for one who has gone.
		w.cancel(context.Cause(parent))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check()
	return w
}

// Excuse has the silence until the time that since returns not held against the
// server.
func (w *Watchdog) Excuse(since func() time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.excused = since
}

// Touch says that the server is alive.
func (w *Watchdog) Touch() { w.last.Store(int64(w.env.Now().Sub(w.start))) }

func (w *Watchdog) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check()
}

// check ends the context when its time has come, and otherwise looks again
// when it may have.
func (w *Watchdog) check() {
	if w.stopped {
		return
	}
	now := w.env.Now()
	left, cause := w.deadline.Sub(now), ErrTotal
	last := time.Duration(w.last.Load())
	if w.excused != nil {
		last = max(last, w.excused().Sub(w.start))
	}
	if quiet := w.idle - (now.Sub(w.start) - last); quiet < left {
		left, cause = quiet, ErrIdle
	}
	if left <= 0 {
		w.cancel(cause)
		return
	}
	w.stop = w.env.AfterFunc(left, w.wake)
}

// Release lets the exchange go on without deadlines and without its parent. It
// must still be closed.
func (w *Watchdog) Release() {
	w.detach()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.stop != nil {
		w.stop()
	}
}

// Cause returns why the context ended, or nil.
func (w *Watchdog) Cause() error { return context.Cause(w.ctx) }

// Close ends the exchange, with cause unless it has ended before.
func (w *Watchdog) Close(cause error) {
	w.Release()
	w.cancel(cause)
}
