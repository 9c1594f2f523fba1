package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// maxGroup bounds the writes of one transaction, and maxGroupBytes their
	// values, after the write that crosses the bound.
	maxGroup      = 1024
	maxGroupBytes = 16 << 20
)

// op is one write. Its fields are its arguments and, once it was acknowledged
// without an error, its results.
type op interface {
	// apply does the write in the transaction. A refusal concerns this write
	// only and means that it has changed nothing; a failure is one of the
	// database and ends the whole group.
	apply(tx *txn) (refusal, failure error)
	// size is the number of bytes that the write carries.
	size() int
}

// request is a write that somebody waits for.
type request struct {
	op
	ctx  context.Context
	done chan error // one slot: the writer never waits for a waiter
}

// writer applies all writes, from one goroutine.
type writer struct {
	db  *sql.DB
	env env.Env
	log *slog.Logger

	mu      sync.Mutex
	queue   []*request
	stopped bool

	wake    chan struct{} // one slot: the queue or stopped has changed
	done    chan struct{} // closed when the goroutine has ended
	commits atomic.Int64  // transactions tried

	// What follows belongs to the goroutine.

	stmts statements
	revs  revisions
	// expiring is whether there may be rows that expire. Without any, no timer
	// runs.
	expiring bool
	sweeping env.Timer // its C is nil while no timer runs
}

// startWriter prepares the statements and starts the goroutine, which outlives
// ctx. revs is the last revision that may have been used before.
func startWriter(ctx context.Context, db *sql.DB, e env.Env, log *slog.Logger, revs int64) (*writer, error) {
	w := &writer{
		db:   db,
		env:  e,
		log:  log,
		wake: make(chan struct{}, 1),
		done: make(chan struct{}),
		revs: revisions{last: revs, reserved: revs},
	}
	var err error
	if w.stmts, err = prepareStatements(ctx, db); err != nil {
		return nil, err
	}
	if w.expiring, err = anyExpiring(ctx, db); err != nil {
		return nil, err
	}
	go w.run(context.WithoutCancel(ctx))
	return w, nil
}

// do queues the write and waits until it is on disk or refused. When ctx ends
// first, do returns its error and the outcome is open: a write that is still
// queued is dropped, one that the writer has begun takes place.
func (w *writer) do(ctx context.Context, o op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{op: o, ctx: ctx, done: make(chan error, 1)}
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return state.ErrClosed
	}
	w.queue = append(w.queue, r)
	w.mu.Unlock()
	w.signal()
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop lets the writer finish what is queued and waits for its end.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.signal()
	<-w.done
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // there is a signal that the writer has not seen yet
	}
}

// run is the goroutine.
func (w *writer) run(ctx context.Context) {
	defer close(w.done)
	for {
		w.scheduleSweep()
		select {
		case <-w.wake:
			if w.flush(ctx) {
				w.cancelSweep()
				return
			}
		case <-w.sweeping.C:
			w.sweeping = env.Timer{}
			w.sweep(ctx)
		}
	}
}

// flush commits what is queued, in as many groups as that takes, and reports
// whether the writer has been stopped.
func (w *writer) flush(ctx context.Context) (stopped bool) {
	for {
		group, stopped := w.take(maxGroup)
		if len(group) == 0 {
			return stopped
		}
		w.commit(ctx, group)
	}
}

// take removes up to n requests from the queue, without those that nobody waits
// for any more.
func (w *writer) take(n int) (group []*request, stopped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken, bytes := 0, 0
	for taken < len(w.queue) && len(group) < n && bytes < maxGroupBytes {
		r := w.queue[taken]
		taken++
		if r.ctx.Err() == nil {
			group = append(group, r)
			bytes += r.size()
		}
	}
	if rest := copy(w.queue, w.queue[taken:]); taken > 0 {
		clear(w.queue[rest:])
		w.queue = w.queue[:rest]
	}
	return group, w.stopped
}

// commit applies a group in one transaction, together with what is queued in
// the meantime, and then acknowledges each write. If the transaction fails as a
// whole, nothing of it has happened and every waiter hears so.
func (w *writer) commit(ctx context.Context, group []*request) {
	refusals := make([]error, 0, len(group))
	err := w.transact(ctx, func(tx *txn) error {
		bytes := 0
		for i := 0; i < len(group); i++ {
			refusal, failure := group[i].apply(tx)
			if failure != nil {
				return failure
			}
			refusals = append(refusals, refusal)
			bytes += group[i].size()
			if i == len(group)-1 && bytes < maxGroupBytes {
				more, _ := w.take(maxGroup - len(group))
				group = append(group, more...)
			}
		}
		return nil
	})
	if err != nil {
		w.log.LogAttrs(ctx, slog.LevelError, "state: a group of writes failed",
			slog.Int("writes", len(group)), slog.Any("error", err))
		err = fmt.Errorf("state/embedded: write: %w", err)
	}
	for i, r := range group {
		if err != nil {
			r.done <- err
			continue
		}
		r.done <- refusals[i]
	}
}

// nowMs is the clock in the unit of the database.
func (w *writer) nowMs() int64 { return w.env.Now().UnixMilli() }

// millis converts an instant or end of a duration to the database's unit, in
// which 0 is reserved for never.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.UnixMilli(), 1)
}
