package task

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// leadTTL is how long the process that polls a task for all others is believed alive
// after its last sign.
const leadTTL = 9 * time.Second

// lead is the part of a loop in the polling of its task: of all processes that wait
// for one, one asks the backend (A-R2).
type lead struct {
	m    *Manager
	r    ref
	held context.Context //nolint:containedctx // ends when the lease is lost
	free func()
}

// has reports whether this process leads, which it does as soon as no other does.
// Where a store cannot say, everybody leads: too many polls are better than none.
func (l *lead) has(ctx context.Context) bool {
	if !l.m.Process.Shared() || l.r.kind == kindHosted {
		return true
	}
	if l.held != nil && l.held.Err() == nil {
		return true
	}
	l.drop()
	held, _, free, err := state.Hold{
		Store: l.m.Store, Env: l.m.Env, Name: "poll/" + l.r.serial, Holder: l.m.Process.ID(), TTL: leadTTL,
		Trouble: func(ctx context.Context, err error) {
			l.m.Logger.DebugContext(ctx, "lead of a task's polling not kept", "error", port.Reason(err))
		},
	}.Take(ctx)
	if err != nil {
		return !errors.Is(err, state.ErrHeld)
	}
	l.held, l.free = held, free
	return true
}

// drop leaves the lead to another process.
func (l *lead) drop() {
	if l.free != nil {
		l.free()
		l.held, l.free = nil, nil
	}
}

// recorded returns the newest state of a task on record.
func (m *Manager) recorded(ctx context.Context, r ref) (record, error) {
	rec, err := m.load(ctx, r)
	switch {
	case err != nil:
		return record{}, err
	case m.stands(&rec):
		m.prolong(ctx, r, &rec)
	case rec.Final && rec.TaskID == "":
		return record{}, ErrUnknown
	}
	return rec, nil
}
