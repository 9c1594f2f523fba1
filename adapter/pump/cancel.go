package pump

import (
	"context"
	"errors"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Cancel serves tasks/cancel (§4.22). A task that is over is acknowledged as well.
func (m *Manager) Cancel(ctx context.Context, backend string, caller port.Caller, handle string) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	if !m.enter() {
		return "", errStopped
	}
	defer m.work.Done()
	for tries := 1; ; tries++ {
		rec, err := m.load(ctx, r)
		switch {
		case err != nil, m.stands(&rec):
		case r.kind == kindHosted:
			err = m.cancelHosted(ctx, r, caller, rec)
		default:
			err = m.cancelTask(ctx, r, caller, &rec)
		}
		switch {
		case err == nil:
			return wire.Value(m.Dialect.AppendAck(nil, wire.Value(rec.Info))), nil
		case tries == leftTries || !errors.Is(err, errLeft): // or it has ended, just now
			return "", err
		}
	}
}

// cancelTask asks the backend for the end of its task. It goes on if the client
// leaves.
func (m *Manager) cancelTask(ctx context.Context, r ref, caller port.Caller, rec *record) error {
	l, err := m.attend(r, rec, caller)
	if err != nil {
		return err
	}
	ctx, cancel := m.bind(context.WithoutCancel(ctx), askTime, errAskTime)
	defer cancel()
	lease, err := l.lend(ctx, caller)
	if err != nil {
		return err
	}
	if rec.Uncancellable || !m.Dialect.Cancels(lease.About()) {
		return m.giveUp(ctx, l, caller)
	}
	_, err = l.do(ctx, caller, port.TaskCancel, nil)
	l.moved()
	switch {
	case err == nil:
		return nil
	case transient(err):
		return err
	case port.IsCode(err, jsonrpc.CodeMethodNotFound), port.IsCode(err, jsonrpc.CodeInvalidRequest):
		return m.giveUp(ctx, l, caller)
	case !unknownTask(err):
		return m.told(port.TaskCancel, err)
	}
	// It is over, or there is no such task.
	if _, err = l.do(ctx, caller, port.TaskGet, nil); err != nil {
		_, err = m.failed(ctx, l, err)
	}
	return err
}

// giveUp is all that can be done at a backend that does not know cancellation:
// whatever the task wants to know is refused, so that it can end.
func (m *Manager) giveUp(ctx context.Context, l *live, caller port.Caller) error {
	_, err := m.change(ctx, l.ref, func(rec *record) bool {
		if rec.Final || rec.Cancelling {
			return false
		}
		for _, a := range rec.Asks {
			if a.State == askOpen {
				m.dismissAsk(a)
			}
		}
		rec.Cancelling = true
		return true
	})
	if err != nil {
		return err
	}
	l.moved()
	m.hand(ctx, l, caller)
	return nil
}
