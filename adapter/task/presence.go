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

func (m *Manager) appear() (*presence, error) {
	lease, err := m.Store.Acquire(m.ctx, leaseName(m.id), m.id, leaseTTL)
	if err != nil {
		return nil, fmt.Errorf("announce the process: %w", err)
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
	for env.Sleep(ctx, m.Env, leaseTTL/3) == nil {
		err := lease.Renew(ctx, leaseTTL)
		if errors.Is(err, state.ErrLost) {
			var again state.Lease
			if again, err = m.Store.Acquire(ctx, leaseName(m.id), m.id, leaseTTL); err == nil {
				lease = again
			}
		}
		if err != nil && ctx.Err() == nil {
			m.Logger.ErrorContext(ctx, "process lease not renewed", "error", err)
		}
		m.sweep()
	}
	ctx, cancel := m.parting(ctx)
	defer cancel()
	if err := lease.Release(ctx); err != nil {
		m.Logger.WarnContext(ctx, "process lease not released", "error", err)
	}
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
