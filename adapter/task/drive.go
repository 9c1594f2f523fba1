package task

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// driveAttempts is how many polls in a row may fail, each already retried by the
// backend's client, before a driven task is given up.
const driveAttempts = 5

// Drive follows a task that its client does not know of to its end, and returns
// the final document (A-T12, A-T16). It has no handle and no record. When ctx
// ends, the task takes longer than Times.CallTotal or its backend stays out of
// reach, the task is cancelled at the backend.
func (m *Manager) Drive(ctx context.Context, backend string, caller port.Caller, seed wire.Value) (wire.Value, error) {
	if !m.enter() {
		return "", errStopped
	}
	defer m.work.Done()
	bounded, cancel := m.bind(ctx, m.Times.CallTotal, errCallTotal)
	defer cancel()
	doc, err := m.drive(bounded, backend, caller, seed)
	if err == nil || unknownTask(err) {
		return doc, err
	}
	if bounded.Err() != nil {
		err = context.Cause(bounded)
	}
	m.work.Go(func() { m.abandon(ctx, backend, caller, seed) })
	return "", err
}

func (m *Manager) drive(ctx context.Context, backend string, caller port.Caller, seed wire.Value) (wire.Value, error) {
	dialect := m.Dialect(backend)
	st, err := dialect.Read(seed)
	if err != nil {
		return "", err
	}
	id := st.ID
	for failing := 0; ; {
		doc, err := m.Backend.GetTask(ctx, backend, caller, id)
		switch {
		case err != nil && (!transient(err) || failing == driveAttempts):
			return "", err
		case err != nil:
			failing++
		default:
			failing = 0
			if st, err = dialect.Read(doc); err != nil {
				return "", err
			}
			if st.Status.Terminal() {
				return doc, nil
			}
		}
		if err := env.Sleep(ctx, m.Env, m.interval(st)); err != nil {
			return "", err
		}
	}
}
