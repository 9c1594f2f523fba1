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

const (
	// cancelAttempts bounds how often a cancellation starts over because the
	// record changed under it.
	cancelAttempts = 8
	// cancelTime is how long a backend may take to be asked. It is shorter than
	// cancelPatience, so that nobody else takes the task for free meanwhile.
	cancelTime = cancelPatience / 2
	// cancelMemory is how long a cancellation of a task without a lifetime is
	// kept at least (A-X1).
	cancelMemory = 24 * time.Hour
)

var (
	errBusy        = jsonrpc.NewError(jsonrpc.CodeInternal, "the task keeps changing; try again")
	errNotAsked    = jsonrpc.NewError(jsonrpc.CodeInternal, "the backend could not be asked to cancel the task")
	errCancelling  = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Cannot cancel task: it is being cancelled already")
	errCancelTimed = errors.New("the backend took too long to answer tasks/cancel")
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
		case m.cancelling(ctx, r, &rec):
			if err := m.second(ctx, r, &rec); err != nil {
				return "", err
			}
		}
		answer, err := m.cancelTask(ctx, r, caller, rec)
		if !errors.Is(err, state.ErrConflict) {
			return answer, err
		}
	}
	return "", errBusy
}

// kindCancelling is the kind of question whether a process is cancelling a task.
const kindCancelling = "task-cancelling"

const cancellingAnswer = "yes"

// second is what a cancellation comes to that finds another one under way: it is too late
// (step 4), unless the process that was at it is gone, or has failed to say that it gave
// up. A process that was killed may seem to live for a while: it is asked.
func (m *Manager) second(ctx context.Context, r ref, rec *record) error {
	if rec.Canceller == m.Process.ID() {
		return errCancelling // or it would not count
	}
	answer, err := m.Process.Ask(ctx, rec.Canceller, kindCancelling, []byte(r.serial))
	switch {
	case err == nil && string(answer) == cancellingAnswer:
		return errCancelling
	case err == nil:
		return nil
	}
	if lives, unsure := m.Process.Lives(ctx, rec.Canceller); lives || unsure != nil {
		return errBusy
	}
	return nil
}

// cancellingAsked answers another process whether this one is cancelling a task.
func (m *Manager) cancellingAsked(_ context.Context, serial []byte) []byte {
	if !m.cancels(string(serial)) {
		return nil
	}
	return []byte(cancellingAnswer)
}

// cancels reports whether this process is cancelling a task.
func (m *Manager) cancels(serial string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cancelled[serial] > 0
}

// cancelBegins notes that this process cancels a task, until the returned function is
// called.
func (m *Manager) cancelBegins(serial string) (ends func()) {
	add := func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.cancelled[serial] += n; m.cancelled[serial] == 0 {
			delete(m.cancelled, serial)
		}
	}
	add(1)
	return func() { add(-1) }
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
	defer m.cancelBegins(r.serial)()
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
