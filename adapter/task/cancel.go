package task

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const cancelledByRequest = "The task was cancelled by request."

const (
	// cancelAttempts bounds how often a cancellation starts over because the
	// record changed under it.
	cancelAttempts = 8
	// cancelTime is how long a backend may take to be asked. It is shorter than
	// cancelPatience, so that nobody else takes the task for free meanwhile.
	cancelTime = cancelPatience / 2
	// settlePause is the time between two looks at a cancellation of somebody else.
	settlePause = 250 * time.Millisecond
	// cancelMemory is how long a cancellation of a task without a lifetime is
	// kept at least (A-X1).
	cancelMemory = 24 * time.Hour
)

var (
	errBusy        = jsonrpc.NewError(jsonrpc.CodeInternal, "the task keeps changing; try again")
	errNotAsked    = jsonrpc.NewError(jsonrpc.CodeInternal, "the backend could not be asked to cancel the task")
	errCancelTimed = errors.New("the backend took too long to answer tasks/cancel")
	errSettleTimed = errors.New("another cancellation took too long")
)

// Cancel serves tasks/cancel by the algorithm of §4.9: the task is cancelled for
// good before the answer is given, whatever the backend makes of the request.
func (m *Manager) Cancel(ctx context.Context, backend string, caller port.Caller, handle string) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	if !m.enter() {
		return "", errStopped
	}
	defer m.work.Done()
	for range cancelAttempts {
		rec, err := m.current(ctx, r, caller, true)
		switch {
		case err != nil:
			return "", err
		case rec.Final:
			return "", m.alreadyOver(r, &rec)
		case m.cancelling(ctx, &rec):
			if err := m.settled(ctx, r); err != nil {
				return "", err
			}
			continue
		}
		answer, err := m.cancelTask(ctx, r, caller, rec)
		if !errors.Is(err, state.ErrConflict) {
			return answer, err
		}
	}
	return "", errBusy
}

// settled waits for the end of a cancellation that is under way already, so that who
// comes second is told what has become of the task (step 4), or cancels it after all.
func (m *Manager) settled(ctx context.Context, r ref) error {
	ctx, cancel := m.bind(ctx, cancelPatience, errSettleTimed)
	defer cancel()
	for {
		if err := env.Sleep(ctx, m.Env, m.jitter(settlePause)); err != nil {
			return err
		}
		if rec, err := m.load(ctx, r); err != nil || !m.cancelling(ctx, &rec) {
			return err
		}
	}
}

// cancelTask cancels a task that has not ended. It runs to its end even if the
// client leaves. [state.ErrConflict] says that the task has changed and nothing
// was done.
func (m *Manager) cancelTask(ctx context.Context, r ref, caller port.Caller, rec record) (wire.Value, error) {
	ctx = context.WithoutCancel(ctx)
	if rec.TaskID == "" {
		answer, err := m.commitCancel(ctx, r, &rec)
		if err == nil {
			m.stopCall(r, &rec)
		}
		return answer, err
	}
	rec.Cancelling, rec.Canceller = m.Env.Now().UnixMilli(), m.Process.ID()
	if err := m.save(ctx, r, &rec); err != nil {
		return "", err
	}
	if err := m.cancelUpstream(ctx, r, caller, &rec); err != nil {
		m.Logger.WarnContext(ctx, "backend not asked to cancel", "backend", r.backend, "error", port.Reason(err))
		m.rollback(ctx, r, caller, rec)
		return "", errNotAsked
	}
	answer, err := m.commitMarked(ctx, r, rec)
	m.untrack(r, rec.TaskID)
	return answer, err
}

// cancelUpstream asks the backend (step 5). That it does not know the task any
// more, or that the task has ended there, changes nothing.
func (m *Manager) cancelUpstream(ctx context.Context, r ref, caller port.Caller, rec *record) error {
	ctx, cancel := m.detach(ctx, cancelTime, errCancelTimed)
	defer cancel()
	err := m.Backend.CancelTask(ctx, r.backend, caller, rec.TaskID)
	if unknownTask(err) {
		return nil
	}
	return err
}

// rollback takes the mark back. Answers that came in meanwhile are on record, and are
// told to the backend now.
func (m *Manager) rollback(ctx context.Context, r ref, caller port.Caller, rec record) {
	marked, canceller := rec.Cancelling, rec.Canceller
	for {
		rec.Cancelling, rec.Canceller = 0, ""
		err := m.save(ctx, r, &rec)
		if err == nil {
			if m.owes(r, &rec) {
				m.deliver(r, caller)
			}
			return
		}
		if errors.Is(err, state.ErrConflict) {
			rec, err = m.load(ctx, r)
		}
		if err != nil {
			// Harmless but late: the mark is ignored after cancelPatience.
			m.Logger.ErrorContext(ctx, "cancellation not rolled back", "error", port.Reason(err))
			return
		}
		if rec.Cancelling != marked || rec.Canceller != canceller {
			return // it has ended, or somebody else has the mark now
		}
	}
}

// commitMarked commits a cancellation whose mark is on record. The backend has
// agreed to it, so only an end that somebody may have been told of stops it.
func (m *Manager) commitMarked(ctx context.Context, r ref, rec record) (wire.Value, error) {
	for range cancelAttempts {
		answer, err := m.commitCancel(ctx, r, &rec)
		if !errors.Is(err, state.ErrConflict) {
			return answer, err
		}
		latest, err := m.load(ctx, r)
		switch {
		case err != nil:
			return "", err
		case latest.Final:
			return "", m.alreadyOver(r, &latest)
		}
		rec = latest
	}
	return "", errBusy
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
	next.take(dialect, doc, st)
	if next.Expires == 0 {
		next.Expires = m.Env.Now().Add(max(m.Times.ListRetention, cancelMemory)).UnixMilli()
	}
	if err := m.save(ctx, r, &next); err != nil {
		return "", err
	}
	m.announce(ctx, r, &next)
	return m.render(r, &next)
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
