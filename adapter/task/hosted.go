package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// hostedTTL applies A-T11. A lifetime of zero would end the task before it can
// be asked for; any other is the caller's choice, up to the maximum.
func (m *Manager) hostedTTL(asked time.Duration) time.Duration {
	if asked == 0 {
		asked = m.Times.ZeroTTL
	}
	return min(asked, m.Times.MaxTTL)
}

// host writes the document of a hosted task into its record.
func (m *Manager) host(r ref, rec *record, h port.HostedTask) error {
	h.ID = r.serial
	h.CreatedAt = time.UnixMilli(rec.Created)
	h.LastUpdatedAt = m.Env.Now()
	h.PollInterval = m.Times.HostedPoll
	dialect := m.Dialect(r.backend)
	doc := wire.Value(dialect.AppendHosted(nil, h))
	st, err := dialect.Read(doc)
	if err != nil {
		return fmt.Errorf("hosted task: %w", err)
	}
	rec.take(dialect, doc, st)
	return nil
}

// ended puts the end of a hosted call into the task's record.
func (m *Manager) ended(ctx context.Context, r ref, rec *record, end Ending) error {
	switch {
	case end.Round != nil:
		return m.hostRound(ctx, r, rec, end.Round)
	case end.Seed != "":
		st, err := m.Dialect(r.backend).Read(end.Seed)
		if err != nil {
			return m.hostFailed(r, rec, port.RPCError(err), "")
		}
		rec.TaskID = st.ID
		return nil
	case end.Err != nil && m.ctx.Err() != nil && !answered(end.Err):
		return m.hostFailed(r, rec, errInterrupted, errInterrupted.Message)
	case end.Err != nil:
		return m.hostFailed(r, rec, port.RPCError(end.Err), "")
	}
	err := m.host(r, rec, port.HostedTask{Status: port.TaskCompleted, TTL: lifetime(rec), Result: end.Result})
	if err != nil {
		return m.hostFailed(r, rec, port.RPCError(err), "")
	}
	return nil
}

// answered reports whether err is the backend's own answer.
func answered(err error) bool {
	var rpc *jsonrpc.Error
	return !transient(err) && errors.As(err, &rpc)
}

// lifetime is that of a hosted task; it does not change.
func lifetime(rec *record) time.Duration {
	return time.Duration(rec.Expires-rec.Created) * time.Millisecond
}

func (m *Manager) hostFailed(r ref, rec *record, cause *jsonrpc.Error, message string) error {
	return m.host(r, rec, port.HostedTask{
		Status: port.TaskFailed, TTL: lifetime(rec), Error: cause, StatusMessage: message,
	})
}

var (
	errFault       = jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error")
	errInterrupted = jsonrpc.NewError(jsonrpc.CodeInternal, "interrupted: the bridge stopped while the call was running; its outcome is unknown")
	errUnrecorded  = jsonrpc.NewError(jsonrpc.CodeInternal, "interrupted: the end of the call could not be recorded; its outcome is unknown")
)

// running is a hosted call of this process.
type running struct{ stop context.CancelFunc }

// setRunning notes that the call of a hosted task runs. The returned function notes
// that it has ended; the next call of the task may run by then.
func (m *Manager) setRunning(serial string, stop context.CancelFunc) (ended func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.started(serial, stop)
}

// proceed is setRunning for a hosted call that has been answered. It returns nil
// when this process is about to stop: it would only cut the call.
func (m *Manager) proceed(serial string, stop context.CancelFunc) (ended func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.draining {
		return nil
	}
	return m.started(serial, stop)
}

// started is setRunning with the lock held.
func (m *Manager) started(serial string, stop context.CancelFunc) (ended func()) {
	this := &running{stop}
	m.running[serial] = this
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.running[serial] != this {
			return
		}
		delete(m.running, serial)
		if len(m.running) == 0 && m.idle != nil {
			close(m.idle)
			m.idle = nil
		}
	}
}

// stopRunning cuts a hosted call of this process.
func (m *Manager) stopRunning(serial string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if call := m.running[serial]; call != nil {
		call.stop()
	}
}

// kindStop is the kind of request by which a process has another one stop the call of
// a hosted task.
const kindStop = "hosted-call-stop"

// stopCall cuts the call of a hosted task that has been cancelled, whichever process
// runs it (A-X2).
func (m *Manager) stopCall(r ref, rec *record) {
	if rec.Runner == m.Process.ID() || !m.Process.Shared() || rec.Call != "" {
		m.stopRunning(r.serial)
		return
	}
	m.work.Go(func() {
		if _, err := m.Process.Ask(m.ctx, rec.Runner, kindStop, []byte(r.serial)); err != nil && m.ctx.Err() == nil {
			m.Logger.DebugContext(m.ctx, "call of a cancelled task not stopped at its process", "error", port.Reason(err))
		}
	})
}

// stopAsked is [Manager.stopCall] for another process.
func (m *Manager) stopAsked(_ context.Context, serial []byte) []byte {
	m.stopRunning(string(serial))
	return nil
}

// runs reports whether the call of a hosted task is still under way, for all anyone
// knows.
func (m *Manager) runs(ctx context.Context, r ref, rec *record) bool {
	if rec.Runner != m.Process.ID() {
		lives, err := m.Process.Lives(ctx, rec.Runner)
		return lives || err != nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running[r.serial] != nil
}

// hostedState returns the state of a hosted task without an end. If the process
// that ran its call is gone, the call was cut and the task has failed: that is
// said, never passed over in silence.
func (m *Manager) hostedState(ctx context.Context, r ref, rec record) (record, error) {
	if m.expired(&rec) {
		m.forgetAsking(ctx, r, &rec)
		return record{}, ErrUnknown
	}
	if rec.Call != "" {
		return rec, nil // it waits for answers, and nothing runs
	}
	if m.runs(ctx, r, &rec) {
		return rec, nil
	}
	cause := errInterrupted
	if rec.Runner == m.Process.ID() {
		cause = errUnrecorded
	}
	if err := m.hostFailed(r, &rec, cause, cause.Message); err != nil {
		return record{}, err
	}
	switch err := m.save(ctx, r, &rec); {
	case errors.Is(err, state.ErrConflict): // the end came in after all, or another reader was first
		return m.load(ctx, r)
	case err != nil:
		return record{}, err
	}
	m.announce(ctx, r, &rec)
	return rec, nil
}

// forgetAsking removes the record of a hosted task whose time is over while it
// waits for answers, and takes its questions back. A store that fails keeps it for
// the next look.
func (m *Manager) forgetAsking(ctx context.Context, r ref, rec *record) {
	if rec.Call == "" {
		return // it goes by itself
	}
	if err := m.forget(ctx, r, rec); err != nil && !errors.Is(err, state.ErrConflict) {
		m.Logger.WarnContext(ctx, "task record not removed", "error", err)
	}
}
