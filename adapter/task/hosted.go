package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// leaseTTL is how long a process is believed alive after its last sign. A
// hosted call of a process that died shows as interrupted after that.
const leaseTTL = 15 * time.Second

func leaseName(process string) string { return "process/" + process }

// holdLease announces that this process lives, until the manager is closed.
func (m *Manager) holdLease() error {
	lease, err := m.Store.Acquire(m.ctx, leaseName(m.id), m.id, leaseTTL)
	if err != nil {
		return fmt.Errorf("announce the process: %w", err)
	}
	m.work.Go(func() {
		for env.Sleep(m.ctx, m.Env, leaseTTL/3) == nil {
			if err := lease.Renew(m.ctx, leaseTTL); err != nil && m.ctx.Err() == nil {
				m.Logger.Error("process lease not renewed", "error", err)
			}
		}
		if err := lease.Release(context.WithoutCancel(m.ctx)); err != nil {
			m.Logger.Warn("process lease not released", "error", err)
		}
	})
	return nil
}

// hostedState returns the state of a hosted task without an end. If the process
// that ran its call is gone, the call was cut and the task has failed: that is
// said, never passed over in silence.
func (m *Manager) hostedState(ctx context.Context, r ref, rec record) (record, error) {
	if m.expired(&rec) {
		return record{}, ErrUnknown
	}
	if rec.Runner == m.id {
		return rec, nil
	}
	lease, err := m.Store.Acquire(ctx, leaseName(rec.Runner), m.id, leaseTTL)
	if errors.Is(err, state.ErrHeld) {
		return rec, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("look for the process of a hosted call: %w", err)
	}
	defer func() {
		if err := lease.Release(ctx); err != nil {
			m.Logger.WarnContext(ctx, "process lease not released", "error", err)
		}
	}()
	rec.Runner = ""
	if err := m.host(r, &rec, interrupted(time.Duration(rec.Expires-rec.Created)*time.Millisecond)); err != nil {
		return record{}, err
	}
	switch err := m.save(ctx, r, &rec); {
	case errors.Is(err, state.ErrConflict): // the end came in after all, or another reader was first
		return m.load(ctx, r)
	case err != nil:
		return record{}, err
	}
	m.announce(ctx, r, &rec)
	return rec, nil
}
