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

// Ending is how a backend answered a call: with a task, a result or an error.
type Ending struct {
	// Seed is the task the backend made.
	Seed wire.Value
	// Result is the backend's result.
	Result wire.Value
	// Err is the backend's error, or one of [port.Back].
	Err error
}

// Request is a call whose caller asked for a task.
type Request struct {
	Backend string
	Caller  port.Caller
	// TTL is the lifetime asked for, or the default; it applies to a hosted task
	// only, since a backend decides itself (A-T3).
	TTL time.Duration
	// Grace is how long the backend may take before the task is hosted (A-T9).
	Grace time.Duration
	// Call performs the call. Its context outlives the request that asked for
	// the task and ends when the task is cancelled.
	Call func(ctx context.Context) Ending
}

// Create performs a call and returns the face's answer to it: a task in any
// case, unless the call fails before there is one (§4.2). The error is the
// backend's, untranslated.
func (m *Manager) Create(ctx context.Context, q Request) (wire.Value, error) {
	callCtx, stop := m.detach(ctx)
	done := make(chan Ending, 1)
	m.work.Go(func() { done <- q.Call(callCtx) })

	grace := m.Env.NewTimer(q.Grace)
	defer grace.Stop()
	select {
	case end := <-done:
		stop()
		return m.settle(ctx, q, end)
	case <-grace.C:
		return m.hostRunning(ctx, q, done, stop)
	case <-ctx.Done():
		stop()
		m.work.Go(func() { m.abandon(ctx, q, <-done) })
		return "", context.Cause(ctx)
	}
}

// abandon ends a task that nobody will ever learn of (§1.7).
func (m *Manager) abandon(ctx context.Context, q Request, end Ending) {
	if end.Seed == "" {
		return
	}
	st, err := m.Dialect(q.Backend).Read(end.Seed)
	if err != nil || st.Status.Terminal() {
		return
	}
	ctx, cancel := m.detach(ctx)
	defer cancel()
	if err := m.Backend.CancelTask(ctx, q.Backend, q.Caller, st.ID); err != nil {
		m.Logger.WarnContext(ctx, "abandoned task not cancelled", "backend", q.Backend, "error", err)
	}
}

func (m *Manager) settle(ctx context.Context, q Request, end Ending) (wire.Value, error) {
	switch {
	case end.Err != nil:
		return "", end.Err
	case end.Seed != "":
		return m.adopt(ctx, q, end.Seed)
	default:
		return m.hostDone(ctx, q, end.Result)
	}
}

// adopt hands out a task of the backend.
func (m *Manager) adopt(ctx context.Context, q Request, seed wire.Value) (wire.Value, error) {
	st, err := m.Dialect(q.Backend).Read(seed)
	if err != nil {
		return "", err
	}
	r, err := m.mint(kindProxied, q.Backend, st.ID, q.Caller)
	if err != nil {
		return "", err
	}
	rec := record{Handle: r.handle, Kind: r.kind, TaskID: st.ID, Created: r.created.UnixMilli()}
	rec.take(seed, st)
	rec.Seed, rec.Final = true, false
	answer, err := m.commit(ctx, r, &rec)
	if err != nil {
		m.abandon(ctx, q, Ending{Seed: seed})
		return "", err
	}
	m.track(r, &rec, q.Caller)
	return answer, nil
}

// hostDone hands out a task for a call that is already over. The answer says
// working all the same (A-T6).
func (m *Manager) hostDone(ctx context.Context, q Request, result wire.Value) (wire.Value, error) {
	r, err := m.mint(kindHosted, q.Backend, "", q.Caller)
	if err != nil {
		return "", err
	}
	rec := record{Handle: r.handle, Kind: kindHosted, Created: r.created.UnixMilli()}
	if err := m.host(r, &rec, port.HostedTask{Status: port.TaskCompleted, Result: result, TTL: m.hostedTTL(q.TTL)}); err != nil {
		return "", err
	}
	return m.commit(ctx, r, &rec)
}

// hostRunning hands out a task for a call that goes on behind it.
func (m *Manager) hostRunning(ctx context.Context, q Request, done <-chan Ending, stop context.CancelFunc) (wire.Value, error) {
	r, err := m.mint(kindHosted, q.Backend, "", q.Caller)
	if err != nil {
		stop()
		return "", err
	}
	rec := record{Handle: r.handle, Kind: kindHosted, Created: r.created.UnixMilli(), Runner: m.id}
	if err := m.host(r, &rec, port.HostedTask{Status: port.TaskWorking, TTL: m.hostedTTL(q.TTL)}); err != nil {
		stop()
		return "", err
	}
	m.setRunning(r.serial, stop)
	answer, err := m.commit(ctx, r, &rec)
	if err != nil {
		m.setRunning(r.serial, nil)
		stop()
		return "", err
	}
	m.work.Go(func() {
		end := <-done
		stop()
		m.finish(ctx, r, q, end)
		m.setRunning(r.serial, nil)
	})
	return answer, nil
}

// commit makes a new task durable and renders the answer that tells of it, in
// that order (A-T10).
func (m *Manager) commit(ctx context.Context, r ref, rec *record) (wire.Value, error) {
	answer, err := m.Dialect(r.backend).AppendCreated(nil, rec.doc, r.handle, r.created)
	if err != nil {
		return "", err
	}
	if err := m.save(ctx, r, rec); err != nil {
		return "", err
	}
	return wire.Value(answer), nil
}

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
	rec.take(doc, st)
	return nil
}

// finish records how a hosted call ended, unless the task was cancelled. A task
// that the backend made late lives on behind the handle already told (A-T9).
func (m *Manager) finish(ctx context.Context, r ref, q Request, end Ending) {
	ctx = context.WithoutCancel(ctx) // the end of a call must be kept even while the bridge stops
	for {
		rec, err := m.load(ctx, r)
		if err != nil || rec.Final {
			m.abandon(ctx, q, end)
			return
		}
		if err := m.ended(r, &rec, end); err != nil {
			m.Logger.ErrorContext(ctx, "end of a hosted task not recorded", "error", err)
			return
		}
		switch err := m.save(ctx, r, &rec); {
		case err == nil:
			m.announce(ctx, r, &rec)
			if rec.TaskID != "" {
				m.track(r, &rec, q.Caller)
			}
			return
		case !errors.Is(err, state.ErrConflict):
			m.Logger.ErrorContext(ctx, "end of a hosted task not recorded", "error", err)
			return
		}
	}
}

func (m *Manager) ended(r ref, rec *record, end Ending) error {
	ttl := time.Duration(rec.Expires-rec.Created) * time.Millisecond
	rec.Runner = ""
	switch {
	case end.Seed != "":
		st, err := m.Dialect(r.backend).Read(end.Seed)
		if err != nil {
			return m.host(r, rec, port.HostedTask{Status: port.TaskFailed, TTL: ttl, Error: port.RPCError(err)})
		}
		rec.TaskID, rec.Seed = st.ID, true
		return nil
	case end.Err != nil && m.ctx.Err() != nil:
		return m.host(r, rec, interrupted(ttl))
	case end.Err != nil:
		return m.host(r, rec, port.HostedTask{Status: port.TaskFailed, TTL: ttl, Error: port.RPCError(end.Err)})
	default:
		return m.host(r, rec, port.HostedTask{Status: port.TaskCompleted, TTL: ttl, Result: end.Result})
	}
}

func interrupted(ttl time.Duration) port.HostedTask {
	return port.HostedTask{
		Status: port.TaskFailed, TTL: ttl,
		StatusMessage: "interrupted: the bridge stopped while the call was running; its outcome is unknown",
		Error:         jsonrpc.NewError(jsonrpc.CodeInternal, "interrupted: the bridge stopped while the call was running; its outcome is unknown"),
	}
}

func (m *Manager) setRunning(serial string, stop context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stop == nil {
		delete(m.running, serial)
	} else {
		m.running[serial] = stop
	}
}
