package task

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// trackKey names a task as its backend does.
type trackKey struct{ backend, taskID string }

// tracking is a living task of a backend, for its events. A backend may call two
// of its tasks the same, or make one of two calls.
type tracking struct {
	ref
	until time.Time // when it counts as over although nobody has said so
}

// Observe takes a document that a backend sent of its own accord. It has the
// weight of a poll's answer.
func (m *Manager) Observe(ctx context.Context, backend string, caller port.Caller, taskID string, doc wire.Value) {
	if !m.enter() {
		return
	}
	defer m.work.Done()
	for _, r := range m.trackedBy(trackKey{backend, taskID}, m.Owners(caller)) {
		rec, err := m.load(ctx, r)
		if err == nil {
			_, err = m.accept(ctx, r, caller, rec, doc)
			m.wake(r.serial) // there may be questions (A-I10)
		}
		if err != nil {
			m.Logger.WarnContext(ctx, "task notification ignored", "backend", backend, "error", port.Reason(err))
		}
	}
}

func (m *Manager) trackedBy(key trackKey, owners []string) []ref {
	m.trackMu.Lock()
	defer m.trackMu.Unlock()
	var out []ref
	for _, t := range m.tracked[key] {
		if slices.Contains(owners, t.owner) {
			out = append(out, t.ref)
		}
	}
	return out
}

// track remembers a living task of a backend, so that events find it.
func (m *Manager) track(ctx context.Context, r ref, rec *record, caller port.Caller) {
	until := m.Env.Now().Add(m.Times.ListRetention)
	if rec.Expires != 0 {
		until = time.UnixMilli(rec.Expires).Add(expiryGrace)
	}
	if m.remember(tracking{r, until}, rec.TaskID, caller) {
		return
	}
	// It may have ended or gone between being read and being tracked; whoever
	// ended it found nothing to untrack then.
	latest, err := m.load(ctx, r)
	if errors.Is(err, ErrUnknown) || err == nil && (latest.Final || latest.rev == 0) {
		m.untrack(r, rec.TaskID)
	}
}

func (m *Manager) remember(t tracking, taskID string, caller port.Caller) (known bool) {
	key := trackKey{t.backend, taskID}
	m.trackMu.Lock()
	defer m.trackMu.Unlock()
	all := m.tracked[key]
	if all == nil {
		all = make(map[string]tracking)
		m.tracked[key] = all
	}
	_, known = all[t.serial]
	all[t.serial] = t
	if len(all) == 1 && !known && m.OnTask != nil {
		m.OnTask(t.backend, caller, taskID, true)
	}
	return known
}

func (m *Manager) untrack(r ref, taskID string) {
	m.trackMu.Lock()
	defer m.trackMu.Unlock()
	m.drop(trackKey{r.backend, taskID}, r.serial)
}

// drop forgets a tracked task; the lock is held.
func (m *Manager) drop(key trackKey, serial string) {
	all := m.tracked[key]
	if _, known := all[serial]; !known {
		return
	}
	if delete(all, serial); len(all) > 0 {
		return
	}
	delete(m.tracked, key)
	if m.OnTask != nil {
		m.OnTask(key.backend, port.Caller{}, key.taskID, false)
	}
}

// sweepEvery is the time between two sweeps.
const sweepEvery = 5 * time.Second

// keepTidy sweeps until the manager is closed.
func (m *Manager) keepTidy() {
	for env.Sleep(m.ctx, m.Env, sweepEvery) == nil {
		m.sweep()
	}
}

// sweep forgets tracked tasks whose time is over: nobody may ever ask for them
// again.
func (m *Manager) sweep() {
	now := m.Env.Now()
	m.trackMu.Lock()
	defer m.trackMu.Unlock()
	for key, all := range m.tracked {
		for serial, t := range all {
			if t.until.Before(now) {
				m.drop(key, serial)
			}
		}
	}
}

// EndOwner cancels and forgets all tasks of an owner that will not come back. It
// ends early when ctx or the manager does.
func (m *Manager) EndOwner(ctx context.Context, backend string, caller port.Caller) {
	var after state.Pos
	for ctx.Err() == nil && m.ctx.Err() == nil {
		stored, err := m.kept(ctx, backend, m.Owners(caller), after, refreshers)
		if err != nil {
			m.Logger.WarnContext(ctx, "tasks of an ended session not listed", "error", port.Reason(err))
			return
		}
		if len(stored) == 0 {
			return
		}
		after = stored[len(stored)-1].Pos()
		var group errgroup.Group
		for _, s := range stored {
			group.Go(func() error { return m.endTask(ctx, backend, caller, s) })
		}
		if err := group.Wait(); err != nil {
			m.Logger.WarnContext(ctx, "task of an ended session not removed", "error", port.Reason(err))
		}
	}
}

func (m *Manager) endTask(ctx context.Context, backend string, caller port.Caller, stored state.Record) error {
	rec, err := decodeRecord(stored)
	if err != nil {
		return err
	}
	r, err := m.open(backend, caller, rec.Handle)
	if err != nil {
		return err
	}
	if !rec.Final {
		if _, err := m.Cancel(ctx, backend, caller, rec.Handle); err != nil {
			m.Logger.InfoContext(ctx, "task of an ended session not cancelled", "error", port.Reason(err))
		}
	}
	for {
		if rec, err = m.load(ctx, r); errors.Is(err, ErrUnknown) {
			return nil
		}
		if err == nil {
			err = m.forget(ctx, r, &rec)
		}
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
}
