package pump

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Hosting is a call that becomes a task of the bridge.
type Hosting struct {
	Call

	// ID is that of the call at the backend.
	ID jsonrpc.ID
	// TTL is how long the task is kept, counted from now.
	TTL time.Duration
	// Stop ends the call, and tells the backend that it is not wanted any more.
	Stop func()
}

// hosted is a hosted call of this process.
type hosted struct{ stop func() }

var (
	errInterrupted = jsonrpc.NewError(jsonrpc.CodeInternal, "interrupted: the bridge stopped while the call was running; its outcome is unknown")
	// cancelledMessage is what a task that was cancelled here says.
	cancelledMessage = "The task was cancelled by request."
	// recordTime is how long the end of a hosted call is kept for a store that
	// fails.
	recordTime = time.Hour
)

// Host hands out a task for a call that goes on behind it. It is on record before
// the face's answer is returned, and the call has to be ended with [Task.Finish].
func (m *Manager) Host(ctx context.Context, h Hosting) (*Task, wire.Value, error) {
	if !m.enter() {
		return nil, "", errStopped
	}
	defer m.work.Done()
	r, err := m.mint(kindHosted, h.Backend, "", port.Place{}, h.Caller)
	if err != nil {
		return nil, "", err
	}
	rec := m.newRecord(r, h.Call)
	rec.CallID, rec.Runner = string(h.ID), m.Process.ID()
	rec.Expires = rec.Created + min(max(h.TTL, m.Times.MinTTL), m.Times.MaxTTL).Milliseconds()
	rec.doc = m.document(r, &rec, port.TaskWorking, "")
	answer, err := m.Dialect.AppendHostedCreated(nil, rec.doc, m.created(r, &rec))
	if err != nil {
		return nil, "", err
	}
	l, err := m.attend(r, &rec, h.Caller)
	if err != nil {
		return nil, "", err
	}
	l.mu.Lock()
	l.hosted = &hosted{h.Stop}
	l.mu.Unlock()
	m.mu.Lock()
	m.running++
	m.mu.Unlock()
	if _, err = m.begin(ctx, r, &rec, h.Call); err != nil {
		m.ran(l)
		m.dismiss(l)
		return nil, "", err
	}
	return &Task{m, l}, wire.Value(answer), nil
}

// ran notes that a hosted call of this process is no more.
func (m *Manager) ran(l *live) {
	l.mu.Lock()
	call := l.hosted
	l.hosted = nil
	l.mu.Unlock()
	if call == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running--; m.running == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

// calls returns the hosted call of the task, if it is one of this process.
func (l *live) calls() *hosted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosted
}

// cut ends the hosted call of a task, if there is one here.
func (l *live) cut() {
	if call := l.calls(); call != nil {
		call.stop()
	}
}

// document is that of a hosted task.
func (m *Manager) document(r ref, rec *record, status port.TaskStatus, message string) wire.Value {
	return wire.Value(m.Dialect.AppendHosted(nil, port.HostedTask{
		ID: r.serial, Status: status, StatusMessage: message, PollInterval: m.Times.HostedPoll,
		CreatedAt: time.UnixMilli(rec.Created), LastUpdatedAt: m.Env.Now(),
		TTL: time.Duration(rec.Expires-rec.Created) * time.Millisecond,
	}))
}

// Finish puts the end of a hosted call on record, unless the task was cancelled: the
// backend's result, or the error of [port.Session]. What the backend did is not lost
// to a store that fails for a while.
func (t *Task) Finish(result wire.Value, err error) {
	m, l := t.m, t.l
	defer m.dismiss(l)
	defer m.ran(l)
	end, status, message := port.TaskEnd{Result: result}, port.TaskCompleted, ""
	if err != nil {
		end, status = port.TaskEnd{Error: port.RPCError(err)}, port.TaskFailed
		if m.ctx.Err() != nil && (transient(err) || !answeredError(err)) {
			end.Error, message = errInterrupted, errInterrupted.Message
		}
	}
	ctx := context.WithoutCancel(m.ctx)
	giveUp := m.Env.Now().Add(recordTime)
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		stopping := m.ctx.Err() != nil
		_, err := m.change(ctx, l.ref, func(rec *record) bool {
			if rec.Final {
				return false
			}
			rec.over(m.document(l.ref, rec, status, message), end)
			return true
		})
		if err == nil || errors.Is(err, ErrUnknown) {
			l.moved()
			return
		}
		m.Logger.ErrorContext(ctx, "end of a hosted task not recorded", "error", port.Reason(err))
		if stopping || !m.Env.Now().Before(giveUp) {
			return
		}
		// Once the bridge stops there is one more attempt.
		_ = env.Sleep(m.ctx, m.Env, pause)
	}
}

// hostedView returns the state of a hosted task without an end. If the process that
// ran its call is gone, the call was cut and the task has failed: that is said, never
// passed over in silence.
func (m *Manager) hostedView(ctx context.Context, r ref, rec record, caller port.Caller) (view, error) {
	if rec.Final || !m.lives(&rec) {
		return view{}, ErrUnknown // its lifetime is over
	}
	if !m.runs(ctx, r, &rec) {
		rec, err := m.change(ctx, r, func(rec *record) bool {
			if rec.Final {
				return false
			}
			rec.over(m.document(r, rec, port.TaskFailed, errInterrupted.Message), port.TaskEnd{Error: errInterrupted})
			return true
		})
		if err != nil {
			return view{}, fmt.Errorf("end of a hosted task: %w", err)
		}
		return view{rec: rec, doc: rec.doc}, nil
	}
	l, err := m.attend(r, &rec, caller)
	if err != nil {
		return view{}, err
	}
	m.resend(l, &rec)
	return view{rec: rec, doc: rec.doc, st: port.TaskState{PollInterval: m.Times.HostedPoll}}, nil
}

// runs reports whether the call of a hosted task is still under way, for all anyone
// knows.
func (m *Manager) runs(ctx context.Context, r ref, rec *record) bool {
	if rec.Runner != m.Process.ID() {
		lives, err := m.Process.Lives(ctx, rec.Runner)
		return lives || err != nil
	}
	m.mu.Lock()
	l := m.tasks[r.serial]
	m.mu.Unlock()
	return l != nil && l.calls() != nil
}

// cancelHosted cancels a task of the bridge for good, and with it the call.
func (m *Manager) cancelHosted(ctx context.Context, r ref, caller port.Caller, rec record) error {
	if !m.lives(&rec) {
		return ErrUnknown
	}
	ctx = context.WithoutCancel(ctx)
	var open []ask
	did := false
	rec, err := m.change(ctx, r, func(rec *record) bool {
		open, did = nil, false
		if rec.Final {
			return false
		}
		for _, a := range rec.Asks {
			if a.State == askOpen {
				open = append(open, *a)
			}
		}
		rec.over(m.document(r, rec, port.TaskCancelled, cancelledMessage), port.TaskEnd{})
		did = true
		return true
	})
	if err != nil || !did {
		return err
	}
	l, err := m.attend(r, &rec, caller)
	if err != nil {
		return nil // it is cancelled, and the bridge stops
	}
	l.moved()
	ctx, cancel := m.parting(ctx)
	defer cancel()
	m.dismissAll(ctx, l, caller, open)
	m.stopCall(l, caller, &rec) //nolint:contextcheck // the client does not wait for it
	return nil
}

// kindStop is the kind of request by which a process has another one stop the call of
// a hosted task.
const kindStop = "session-call-stop"

// stopped is the answer of a process that had the call.
const stopped = "stopped"

// stopCall ends the call of a hosted task, whichever process runs it.
func (m *Manager) stopCall(l *live, caller port.Caller, rec *record) {
	if call := l.calls(); call != nil {
		call.stop()
		return
	}
	runner, id := rec.Runner, rec.CallID
	if !m.spawn(func() { m.stopElsewhere(l, caller, runner, id) }) {
		m.dismiss(l)
	}
}

// stopElsewhere has the process that runs a call stop it. If there is none any more, the
// backend is told from here.
func (m *Manager) stopElsewhere(l *live, caller port.Caller, runner, id string) {
	defer m.dismiss(l)
	answer, err := m.Process.Ask(m.ctx, runner, kindStop, []byte(l.ref.serial))
	if err == nil && string(answer) == stopped {
		return
	}
	ctx, cancel := m.parting(m.ctx)
	defer cancel()
	lease, err := l.lend(ctx, caller)
	if err == nil {
		method, params := m.Dialect.Withdrawal(wire.Value(id))
		err = lease.Session().Notify(ctx, method, params)
	}
	if err != nil {
		m.Logger.InfoContext(ctx, "backend not told of a cancelled call", "backend", l.ref.backend, "error", port.Reason(err))
	}
}

// stopAsked is [Manager.stopCall] for another process.
func (m *Manager) stopAsked(_ context.Context, serial []byte) []byte {
	m.mu.Lock()
	l := m.tasks[string(serial)]
	m.mu.Unlock()
	if l == nil {
		return nil
	}
	call := l.calls()
	if call == nil {
		return nil
	}
	call.stop()
	return []byte(stopped)
}

// dismissAll answers the questions of a hosted task that nobody is going to answer.
func (m *Manager) dismissAll(ctx context.Context, l *live, caller port.Caller, open []ask) {
	if len(open) == 0 {
		return
	}
	lease, err := l.lend(ctx, caller)
	for i := range open {
		if err == nil && open[i].Place.Ticket == lease.Place().Ticket {
			m.dismissAsk(&open[i])
			err = open[i].tell(ctx, lease.Session())
		}
	}
	if err != nil {
		m.Logger.InfoContext(ctx, "backend's questions not answered", "error", port.Reason(err))
	}
}
