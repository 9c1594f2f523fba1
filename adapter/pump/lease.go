package pump

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// leaseTTL is how long a process that waits for a task is believed alive after its
// last sign.
const leaseTTL = 9 * time.Second

var errLeaseLost = errors.New("another process looks after the task")

func leaseName(r ref) string { return "pump/" + r.serial }

// hold takes the lease of a task. The returned context ends when it is lost; drop
// gives it up and has to be called.
func (m *Manager) hold(ctx context.Context, r ref) (held context.Context, token int64, drop func(), err error) {
	lease, err := m.Store.Acquire(ctx, leaseName(r), m.Process.ID(), leaseTTL)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("take the lease of a task: %w", err)
	}
	held, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.renew(held, lease, cancel)
	}()
	return held, lease.Token(), func() {
		cancel(context.Canceled)
		<-done
		ctx, cancel := m.parting(ctx)
		defer cancel()
		if err := lease.Release(ctx); err != nil {
			m.Logger.WarnContext(ctx, "lease of a task not released", "error", port.Reason(err)) // it expires
		}
	}, nil
}

// renew keeps a lease until ctx ends, or cancels it once the lease may be another's:
// that is when a whole lifetime has passed since it was renewed last.
func (m *Manager) renew(ctx context.Context, lease state.Lease, cancel context.CancelCauseFunc) {
	until := m.Env.Now().Add(leaseTTL)
	for env.Sleep(ctx, m.Env, leaseTTL/3) == nil {
		now := m.Env.Now()
		err := lease.Renew(ctx, leaseTTL)
		switch {
		case err == nil:
			until = now.Add(leaseTTL)
		case ctx.Err() != nil:
			return
		case errors.Is(err, state.ErrLost), !m.Env.Now().Before(until):
			cancel(errLeaseLost)
			return
		default:
			m.Logger.WarnContext(ctx, "lease of a task not renewed", "error", port.Reason(err))
		}
	}
}
