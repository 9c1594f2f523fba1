package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// leaseTTL is how long a process is believed alive after its last sign. A
// hosted call of a process that died shows as interrupted after that.
const leaseTTL = 15 * time.Second

func leaseName(process string) string { return "process/" + process }

// presence announces that this process lives, by a lease that it holds until
// all its hosted calls have ended.
type presence struct {
	m      *Manager
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// presenceRetry is how soon a lease that could not be taken or renewed is tried
// again: until then hosted calls of this process may count as interrupted.
const presenceRetry = 500 * time.Millisecond

// appear takes the lease. A store that cannot be reached now is no reason not to
// start: it is tried again until it can.
func (m *Manager) appear() (*presence, error) {
	lease, err := m.Store.Acquire(m.ctx, leaseName(m.id), m.id, leaseTTL)
	if errors.Is(err, state.ErrClosed) || errors.Is(err, state.ErrInvalid) {
		return nil, fmt.Errorf("announce the process: %w", err)
	}
	if err != nil {
		m.Logger.ErrorContext(m.ctx, "process not announced", "error", err)
		lease = nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.ctx))
	p := &presence{m: m, cancel: cancel}
	p.work.Go(func() { p.stay(ctx, lease) })
	return p, nil
}

// stay renews the lease. A process that was stopped for too long finds it lost
// and takes it again, or its next hosted calls would count as interrupted.
func (p *presence) stay(ctx context.Context, lease state.Lease) {
	m := p.m
	pause, failing := leaseTTL/3, lease == nil
	if failing {
		pause = presenceRetry
	}
	for env.Sleep(ctx, m.Env, pause) == nil {
		var err error
		lease, err = p.renew(ctx, lease)
		pause = leaseTTL / 3
		if err != nil {
			pause = presenceRetry
		}
		if err != nil && !failing && ctx.Err() == nil {
			m.Logger.ErrorContext(ctx, "process lease not renewed", "error", err)
		}
		failing = err != nil
		m.sweep()
	}
	if lease == nil {
		return
	}
	ctx, cancel := m.parting(ctx)
	defer cancel()
	if err := lease.Release(ctx); err != nil {
		m.Logger.WarnContext(ctx, "process lease not released", "error", err)
	}
}

// renew renews the lease, or takes it if there is none or it was lost.
func (p *presence) renew(ctx context.Context, lease state.Lease) (state.Lease, error) {
	if lease != nil {
		err := lease.Renew(ctx, leaseTTL)
		if !errors.Is(err, state.ErrLost) {
			return lease, err
		}
	}
	again, err := p.m.Store.Acquire(ctx, leaseName(p.m.id), p.m.id, leaseTTL)
	if err != nil {
		return nil, err
	}
	return again, nil
}

// end gives the lease up and returns when that is done.
func (p *presence) end() {
	p.cancel()
	p.work.Wait()
}

// lives reports whether a process holds its lease. Whoever holds it in its place
// has found it free, as this process does to learn the same.
func (m *Manager) lives(ctx context.Context, process string) (bool, error) {
	lease, err := m.Store.Acquire(ctx, leaseName(process), m.id, leaseTTL)
	var held *state.HeldError
	switch {
	case errors.As(err, &held):
		return held.Holder == process, nil
	case err != nil:
		return false, fmt.Errorf("look for the process of a hosted call: %w", err)
	}
	ctx, cancel := m.parting(ctx)
	defer cancel()
	if err := lease.Release(ctx); err != nil {
		m.Logger.WarnContext(ctx, "process lease not released", "error", err)
	}
	return false, nil
}
