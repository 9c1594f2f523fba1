package task

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// driveAttempts is how many polls in a row may fail, each already retried by the
// backend's client, before a driven task is given up.
const driveAttempts = 5

// Driven is a task that its client does not know of.
type Driven struct {
	Backend string
	Caller  port.Caller
	// Seed is the backend's answer that made the task.
	Seed wire.Value
	// Questions puts the task's questions to the client, inline.
	Questions *ask.Call
	// OnState is told of every document of the task. It must not block.
	OnState func(doc wire.Value)
}

// Drive follows a task that its client does not know of to its end, and returns
// the final document (A-T12, A-T16). It has no handle and no record. When ctx
// ends, a question stays without an answer, the task takes longer than
// Times.CallTotal or its backend stays out of reach, the task is cancelled at the
// backend.
func (m *Manager) Drive(ctx context.Context, d Driven) (wire.Value, error) {
	if !m.enter() {
		return "", errStopped
	}
	defer m.work.Done()
	bounded, cancel := m.bind(ctx, m.Times.CallTotal, errCallTotal)
	defer cancel()
	doc, err := m.drive(bounded, &d)
	if err == nil || unknownTask(err) {
		return doc, err
	}
	if bounded.Err() != nil {
		err = context.Cause(bounded)
	}
	m.work.Go(func() { m.abandon(ctx, d.Backend, d.Caller, d.Seed) })
	return "", err
}

func (m *Manager) drive(ctx context.Context, d *Driven) (wire.Value, error) {
	dialect := m.Dialect(d.Backend)
	st, err := dialect.Read(d.Seed)
	if err != nil {
		return "", err
	}
	d.OnState(d.Seed)
	id := st.ID
	for failing := 0; ; {
		doc, err := m.Backend.GetTask(ctx, d.Backend, d.Caller, id)
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
			d.OnState(doc)
			if st.Status.Terminal() {
				return doc, nil
			}
			if err := d.Questions.List(ctx, dialect.Questions(doc)); err != nil {
				return "", err
			}
		}
		if err := m.attend(ctx, d, id, m.interval(st)); err != nil {
			return "", err
		}
	}
}

// attend passes answers on until it is time for the next poll.
func (m *Manager) attend(ctx context.Context, d *Driven, id string, wait time.Duration) error {
	timer := m.Env.NewTimer(wait)
	defer timer.Stop()
	for {
		if err := m.update(ctx, d, id); err != nil {
			return err
		}
		select {
		case r := <-d.Questions.Responses():
			if err := d.Questions.Take(r); err != nil {
				return err
			}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// update tells the backend of a driven task what it is owed. What cannot be told
// now is told after the next poll; what is refused, that poll explains (A-I7).
func (m *Manager) update(ctx context.Context, d *Driven, id string) error {
	answers := d.Questions.Unsent()
	if len(answers) == 0 {
		return nil
	}
	err := m.Backend.UpdateTask(ctx, d.Backend, d.Caller, id, answers)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
	case transient(err), port.IsCode(err, jsonrpc.CodeInternal):
		m.Logger.WarnContext(ctx, "answer not told to the backend", "backend", d.Backend, "error", port.Reason(err))
		return nil
	default:
		m.Logger.WarnContext(ctx, "answer refused by the backend", "backend", d.Backend, "error", port.Reason(err))
	}
	d.Questions.Acknowledge(answers)
	return nil
}
