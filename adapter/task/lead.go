package task

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// leaseTTL is how long a process that does something for all others is believed alive
// after its last sign.
const leaseTTL = 9 * time.Second

// lease makes this process the only one that does something. The returned context ends
// when it may not be any more; drop leaves it to others, and has to be called.
func (m *Manager) lease(ctx context.Context, name string) (held context.Context, drop func(), err error) {
	held, _, drop, err = state.Hold{
		Store: m.Store, Env: m.Env, Name: name, Holder: m.Process.ID(), TTL: leaseTTL,
		Trouble: func(ctx context.Context, err error) {
			m.Logger.DebugContext(ctx, "lease of a task not kept", "error", port.Reason(err))
		},
	}.Take(ctx)
	return held, drop, err
}

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
	held, free, err := l.m.lease(ctx, "poll/"+l.r.serial)
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
