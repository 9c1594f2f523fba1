package task

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Drive follows a task that its client does not know of to its end, and returns
// the final document (A-T12, A-T16). It has no handle and no record. When ctx
// ends, the task is cancelled at the backend.
func (m *Manager) Drive(ctx context.Context, backend string, caller port.Caller, seed wire.Value) (wire.Value, error) {
	dialect := m.Dialect(backend)
	st, err := dialect.Read(seed)
	if err != nil {
		return "", err
	}
	id := st.ID
	var failing int
	for {
		doc, err := m.Backend.GetTask(ctx, backend, caller, id)
		switch {
		case ctx.Err() != nil:
			m.abandon(ctx, Request{Backend: backend, Caller: caller}, Ending{Seed: seed})
			return "", context.Cause(ctx)
		case err != nil && (!transient(err) || failing >= driveAttempts):
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
			m.abandon(ctx, Request{Backend: backend, Caller: caller}, Ending{Seed: seed})
			return "", err
		}
	}
}

// driveAttempts is how many polls in a row may fail, each already retried by the
// backend's client, before a driven task is given up.
const driveAttempts = 5
