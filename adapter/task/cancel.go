package task

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const cancelledByRequest = "The task was cancelled by request."

// cancelAttempts bounds how often a cancellation starts over because the record
// changed under it.
const cancelAttempts = 8

// Cancel serves tasks/cancel by the algorithm of §4.9: the task is cancelled for
// good before the answer is given, whatever the backend makes of the request.
func (m *Manager) Cancel(ctx context.Context, backend string, caller port.Caller, handle string) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	rec, err := m.current(ctx, r, caller, true)
	if err != nil {
		return "", err
	}
	// From here on the cancellation runs to its end even if the client leaves.
	ctx = context.WithoutCancel(ctx)
	if rec.TaskID == "" {
		return m.cancelHosted(ctx, r, rec)
	}
	return m.cancelProxied(ctx, r, caller, rec)
}

func (m *Manager) cancelHosted(ctx context.Context, r ref, rec record) (wire.Value, error) {
	for range cancelAttempts {
		if rec.Final {
			return "", m.alreadyOver(r, &rec)
		}
		rec.Runner = ""
		answer, err := m.commitCancel(ctx, r, &rec)
		if err == nil {
			m.mu.Lock()
			if stop := m.running[r.serial]; stop != nil {
				stop()
			}
			m.mu.Unlock()
			return answer, nil
		}
		if !errors.Is(err, state.ErrConflict) {
			return "", err
		}
		if rec, err = m.load(ctx, r); err != nil {
			return "", err
		}
	}
	return "", errBusy
}

var errBusy = jsonrpc.NewError(jsonrpc.CodeInternal, "the task keeps changing; try again")

func (m *Manager) cancelProxied(ctx context.Context, r ref, caller port.Caller, rec record) (wire.Value, error) {
	if err := m.beginCancel(ctx, r, &rec); err != nil {
		return "", err
	}
	err := m.Backend.CancelTask(ctx, r.backend, caller, rec.TaskID)
	if err != nil && !port.IsCode(err, jsonrpc.CodeInvalidParams) {
		m.rollback(ctx, r, &rec)
		m.Logger.WarnContext(ctx, "backend refused to cancel", "backend", r.backend, "error", err)
		return "", jsonrpc.NewError(jsonrpc.CodeInternal, "the backend could not be asked to cancel the task")
	}
	answer, err := m.commitCancel(ctx, r, &rec)
	if err != nil {
		return "", err
	}
	m.untrack(r, &rec)
	return answer, nil
}

// beginCancel puts the mark of a cancellation on record (step 4). Only one
// cancellation of a task goes through.
func (m *Manager) beginCancel(ctx context.Context, r ref, rec *record) error {
	for range cancelAttempts {
		if rec.Final {
			return m.alreadyOver(r, rec)
		}
		if m.cancelling(rec) {
			return jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Cannot cancel task: it is being cancelled already")
		}
		rec.Cancelling = m.Env.Now().UnixMilli()
		err := m.save(ctx, r, rec)
		if err == nil {
			return nil
		}
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
		if *rec, err = m.load(ctx, r); err != nil {
			return err
		}
	}
	return errBusy
}

func (m *Manager) rollback(ctx context.Context, r ref, rec *record) {
	rec.Cancelling = 0
	if err := m.save(ctx, r, rec); err != nil {
		// Harmless but late: the mark is ignored after cancelPatience.
		m.Logger.ErrorContext(ctx, "cancellation not rolled back", "error", err)
	}
}

// commitCancel makes the task cancelled, for good, and renders it.
func (m *Manager) commitCancel(ctx context.Context, r ref, rec *record) (wire.Value, error) {
	dialect := m.Dialect(r.backend)
	doc := wire.Value(dialect.AppendOverlay(nil, rec.doc, port.TaskCancelled, cancelledByRequest, m.Env.Now()))
	st, err := dialect.Read(doc)
	if err != nil {
		return "", err
	}
	next := *rec
	next.take(doc, st)
	next.Cancelling = 0
	if next.Expires == 0 {
		// Without a lifetime the cancellation is kept as long as the list (A-X1).
		next.Expires = m.Env.Now().Add(max(m.Times.ListRetention, 24*time.Hour)).UnixMilli()
	}
	if err := m.save(ctx, r, &next); err != nil {
		return "", err
	}
	*rec = next
	m.recent.Remove(r.serial)
	m.announce(ctx, r, rec)
	return m.render(r, rec)
}

// alreadyOver is the refusal to cancel a task that has ended (step 2). It names
// the status as the face shows it.
func (m *Manager) alreadyOver(r ref, rec *record) error {
	rendered, err := m.render(r, rec)
	if err != nil {
		return err
	}
	status, _ := rendered.Get("status").Text()
	return jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Cannot cancel task: already in terminal status '%s'", status)
}
