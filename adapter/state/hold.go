package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

// Hold takes a lease and keeps it. Name, holder and ttl are those of [Store.Acquire].
type Hold struct {
	Store Store
	Env   env.Env
	// Trouble is told of a renewal, or the release, that has failed; the lease runs
	// out by itself. May be nil.
	Trouble func(ctx context.Context, err error)

	Name, Holder string
	TTL          time.Duration
}

// partingTime bounds the release of a lease whose holder may be about to stop.
const partingTime = 10 * time.Second

// Take takes the lease, or returns what [Store.Acquire] does. The returned context
// ends with [ErrLost] once the lease may be another's: a whole lifetime has passed
// since it was renewed last. Drop gives the lease up, and has to be called.
func (h Hold) Take(ctx context.Context) (held context.Context, token int64, drop func(), err error) {
	lease, err := h.Store.Acquire(ctx, h.Name, h.Holder, h.TTL)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("take a lease: %w", err)
	}
	held, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.renew(held, lease, cancel)
	}()
	return held, lease.Token(), func() {
		cancel(context.Canceled)
		<-done
		ctx, cancel := env.WithTimeout(context.WithoutCancel(ctx), h.Env, partingTime, context.DeadlineExceeded)
		defer cancel()
		if err := lease.Release(ctx); err != nil {
			h.trouble(ctx, err)
		}
	}, nil
}

// renew keeps the lease until ctx ends, or cancels it.
func (h Hold) renew(ctx context.Context, lease Lease, cancel context.CancelCauseFunc) {
	until := h.Env.Now().Add(h.TTL)
	for env.Sleep(ctx, h.Env, h.TTL/3) == nil {
		now := h.Env.Now()
		err := lease.Renew(ctx, h.TTL)
		switch {
		case err == nil:
			until = now.Add(h.TTL)
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrLost), !h.Env.Now().Before(until):
			cancel(ErrLost)
			return
		default:
			h.trouble(ctx, err)
		}
	}
}

func (h Hold) trouble(ctx context.Context, err error) {
	if h.Trouble != nil {
		h.Trouble(ctx, err)
	}
}
