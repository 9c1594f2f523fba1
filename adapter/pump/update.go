package pump

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Update serves tasks/update: answers to open questions are on record, and then with
// the backend if it can be reached, before the acknowledgement; those to anything
// else are ignored. If one is no answer to its question, none is taken (B-I7).
func (m *Manager) Update(ctx context.Context, backend string, caller port.Caller, handle string, answers []port.Answer) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	if !m.enter() {
		return "", errStopped
	}
	defer m.work.Done()
	var wrong error
	took := false
	ctx = context.WithoutCancel(ctx) // what was said is said
	rec, err := m.change(ctx, r, func(rec *record) bool {
		took, wrong = m.answer(rec, answers)
		return took
	})
	switch {
	case err != nil:
		return "", err
	case wrong != nil:
		return "", wrong
	}
	if took {
		l, err := m.attend(r, &rec, caller)
		if err != nil {
			return "", err
		}
		l.moved()
		m.hand(ctx, l, caller)
	}
	return wire.Value(m.Dialect.AppendAck(nil, wire.Value(rec.Info))), nil
}

// answer marks the questions that are answered. It reports whether there are any, or
// what is wrong with an answer.
func (m *Manager) answer(rec *record, answers []port.Answer) (took bool, err error) {
	for _, given := range answers {
		a := rec.find(given.Key)
		if a == nil {
			continue
		}
		path := wire.Join("params.inputResponses", given.Key)
		result, err := m.Dialect.AppendAnswer(nil, a.Method, wire.Value(a.Params), given.Value, rec.TaskID, path)
		if err != nil {
			return false, err
		}
		a.State, a.Answer = askAnswered, string(result)
		a.Sender, a.Sending = m.Process.ID(), m.Env.Now().UnixMilli()
		took = true
	}
	return took, nil
}
