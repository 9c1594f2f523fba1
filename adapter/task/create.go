package task

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Ending is how a backend answered a call: with a task, a result, questions or an
// error.
type Ending struct {
	// Seed is the task the backend made.
	Seed wire.Value
	// Result is the backend's result.
	Result wire.Value
	// Round is what the backend wants to know before it goes on.
	Round *Round
	// Err is the backend's error, or one of [port.Back].
	Err error
}

// Round is a call that waits for answers (A-M8).
type Round struct {
	Questions []port.Question
	// Saved is the call itself, for [Options.Resume].
	Saved []byte
}

// Resumption is a call that has all its answers.
type Resumption struct {
	// Saved is that of the call's [Round].
	Saved   []byte
	Answers []port.Answer
	// Fresh is false if the answers were only given again, to questions that
	// came again.
	Fresh bool
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
	// Wrapped returns what Payload of port.TaskDialect has to know of the tool. It
	// is asked when the task is recorded: the call may have learned it. Nil is false.
	Wrapped func() bool
	// Call performs the call. Its context outlives the request that asked for
	// the task and ends when the task is cancelled.
	Call func(ctx context.Context) Ending
}

func (q *Request) wrapped() bool { return q.Wrapped != nil && q.Wrapped() }

// Create performs a call and returns the face's answer to it: a task in any
// case, unless the call fails before there is one (§4.2). The error is the
// backend's, untranslated. When ctx ends first there is no task: whatever the
// backend makes of the call is cancelled there (§1.7).
func (m *Manager) Create(ctx context.Context, q Request) (wire.Value, error) {
	if !m.enter() {
		return "", errStopped
	}
	defer m.work.Done()
	callCtx, stop := m.detach(ctx, m.Times.CallTotal, errCallTotal)
	done := make(chan Ending, 1)
	m.work.Go(func() { done <- m.perform(callCtx, q.Call) })

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
		m.dismiss(ctx, q, done)
		return "", context.Cause(ctx)
	}
}

// perform makes the call. A fault of the bridge ends this call and no other.
func (m *Manager) perform(ctx context.Context, call func(context.Context) Ending) (end Ending) {
	defer func() {
		if fault := recover(); fault != nil {
			port.LogFault(ctx, m.Logger, fault)
			end = Ending{Err: errFault}
		}
	}()
	return call(ctx)
}

// dismiss abandons whatever a call ends in.
func (m *Manager) dismiss(ctx context.Context, q Request, done <-chan Ending) {
	m.work.Go(func() { m.abandon(ctx, q.Backend, q.Caller, (<-done).Seed) })
}

// abandon ends a task at the backend that nobody will ever learn of (§1.7).
func (m *Manager) abandon(ctx context.Context, backend string, caller port.Caller, seed wire.Value) {
	if seed == "" {
		return
	}
	st, err := m.Dialect(backend).Read(seed)
	if err != nil || st.Status.Terminal() {
		return
	}
	ctx, cancel := m.parting(ctx)
	defer cancel()
	if err := m.Backend.CancelTask(ctx, backend, caller, st.ID); err != nil {
		m.Logger.WarnContext(ctx, "abandoned task not cancelled", "backend", backend, "error", port.Reason(err))
	}
}

func (m *Manager) settle(ctx context.Context, q Request, end Ending) (wire.Value, error) {
	switch {
	case end.Err != nil:
		return "", end.Err
	case end.Seed != "":
		answer, err := m.adopt(ctx, q, end.Seed)
		if err != nil {
			m.abandon(ctx, q.Backend, q.Caller, end.Seed)
		}
		return answer, err
	case end.Round != nil:
		return m.hostAsking(ctx, q, end.Round)
	default:
		return m.hostDone(ctx, q, end.Result)
	}
}

// adopt hands out a task of the backend.
func (m *Manager) adopt(ctx context.Context, q Request, seed wire.Value) (wire.Value, error) {
	dialect := m.Dialect(q.Backend)
	st, err := dialect.Read(seed)
	if err != nil {
		return "", err
	}
	r, err := m.mint(kindProxied, q.Backend, st.ID, q.Caller)
	if err != nil {
		return "", err
	}
	// Until the backend has been asked, the task is what its client was told: at
	// work, whatever the seed says.
	told := seed
	if st.Status != port.TaskWorking {
		told = wire.Value(dialect.AppendOverlay(nil, seed, port.TaskWorking, "", r.created))
		if st, err = dialect.Read(told); err != nil {
			return "", err
		}
	}
	rec := m.newRecord(r, q)
	rec.TaskID = st.ID
	rec.take(dialect, told, st)
	answer, err := m.commit(ctx, r, &rec, seed)
	if err != nil {
		return "", err
	}
	m.track(ctx, r, &rec, q.Caller)
	return answer, nil
}

// hostDone hands out a task for a call that is already over. The answer says
// working all the same (A-T6).
func (m *Manager) hostDone(ctx context.Context, q Request, result wire.Value) (wire.Value, error) {
	r, err := m.mint(kindHosted, q.Backend, "", q.Caller)
	if err != nil {
		return "", err
	}
	rec := m.newRecord(r, q)
	if err := m.host(r, &rec, port.HostedTask{Status: port.TaskCompleted, Result: result, TTL: m.hostedTTL(q.TTL)}); err != nil {
		return "", err
	}
	return m.commit(ctx, r, &rec, rec.doc)
}

// hostAsking hands out a task for a call whose backend has questions first. The
// answer says working all the same (A-M8).
func (m *Manager) hostAsking(ctx context.Context, q Request, round *Round) (wire.Value, error) {
	r, err := m.mint(kindHosted, q.Backend, "", q.Caller)
	if err != nil {
		return "", err
	}
	rec := m.newRecord(r, q)
	rec.Expires = rec.Created + m.hostedTTL(q.TTL).Milliseconds()
	if err := m.hostRound(ctx, r, &rec, round); err != nil {
		return "", err
	}
	return m.commit(ctx, r, &rec, rec.doc)
}

// newRecord is the record of a task before it has a document.
func (m *Manager) newRecord(r ref, q Request) record {
	return record{
		Handle: r.handle, Created: r.created.UnixMilli(), Wrapped: q.wrapped(), Session: m.Desk.Session(q.Caller),
	}
}

// hostRunning hands out a task for a call that goes on behind it.
func (m *Manager) hostRunning(ctx context.Context, q Request, done <-chan Ending, stop context.CancelFunc) (wire.Value, error) {
	r, answer, ended, err := m.hostWorking(ctx, q, stop)
	if err != nil {
		stop()
		m.dismiss(ctx, q, done)
		return "", err
	}
	m.work.Go(func() {
		end := <-done
		stop()
		m.finish(ctx, r, q, end)
		ended()
	})
	return answer, nil
}

func (m *Manager) hostWorking(ctx context.Context, q Request, stop context.CancelFunc) (r ref, answer wire.Value, ended func(), err error) {
	if r, err = m.mint(kindHosted, q.Backend, "", q.Caller); err != nil {
		return r, "", nil, err
	}
	rec := m.newRecord(r, q)
	rec.Runner = m.Process.ID()
	if err := m.host(r, &rec, port.HostedTask{Status: port.TaskWorking, TTL: m.hostedTTL(q.TTL)}); err != nil {
		return r, "", nil, err
	}
	ended = m.setRunning(r.serial, stop)
	if answer, err = m.commit(ctx, r, &rec, rec.doc); err != nil {
		ended()
	}
	return r, answer, ended, err
}

// commit makes a new task durable and renders the answer that tells of it from
// the seed, in that order (A-T10). A task that nobody is going to be told of is
// not kept.
func (m *Manager) commit(ctx context.Context, r ref, rec *record, seed wire.Value) (wire.Value, error) {
	answer, err := m.Dialect(r.backend).AppendCreated(nil, seed, port.TaskView{Handle: r.handle, FirstSeen: r.created})
	if err != nil {
		return "", err
	}
	err = m.save(ctx, r, rec)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		m.discard(ctx, r, rec)
		return "", err
	}
	return wire.Value(answer), nil
}

// discard removes a record that may have been written although that failed.
func (m *Manager) discard(ctx context.Context, r ref, rec *record) {
	ctx, cancel := m.parting(ctx)
	defer cancel()
	if err := m.Store.Delete(ctx, recordKey(r), state.Always); err != nil {
		m.Logger.WarnContext(ctx, "record of a task that was not made not removed", "error", port.Reason(err))
	}
	m.unpack(ctx, rec)
	rec.unsaved = rec.Call
	m.written(ctx, r, rec)
}

// finish records how a hosted call ended, unless the task was cancelled. What
// the backend did for it is not lost to a store that fails for a while.
func (m *Manager) finish(ctx context.Context, r ref, q Request, end Ending) {
	ctx = context.WithoutCancel(ctx) // the end of a call must be kept even while the bridge stops
	giveUp := m.Env.Now().Add(m.Times.CallTotal)
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		stopping := m.ctx.Err() != nil
		err := m.end(ctx, r, q, end)
		if err == nil {
			return
		}
		m.Logger.ErrorContext(ctx, "end of a hosted task not recorded", "error", port.Reason(err))
		if stopping || !m.Env.Now().Before(giveUp) {
			m.abandon(ctx, q.Backend, q.Caller, end.Seed)
			return
		}
		// Once the bridge stops there is one more attempt.
		_ = env.Sleep(m.ctx, m.Env, pause) //nolint:contextcheck // the call's own context has ended
	}
}

// end puts the end of a hosted call on record. A task that the backend made late
// lives on behind the handle already told (A-T9).
func (m *Manager) end(ctx context.Context, r ref, q Request, end Ending) error {
	for {
		rec, err := m.load(ctx, r)
		if errors.Is(err, ErrUnknown) || err == nil && rec.Final {
			m.abandon(ctx, q.Backend, q.Caller, end.Seed)
			return nil
		}
		if err != nil {
			return err
		}
		if err := m.ended(ctx, r, &rec, end); err != nil {
			return err
		}
		switch err := m.save(ctx, r, &rec); {
		case errors.Is(err, state.ErrConflict):
			continue
		case err != nil:
			return err
		case rec.Final:
			m.announce(ctx, r, &rec)
		case end.Round != nil:
			m.announce(ctx, r, &rec)
			m.wake(r.serial)
		default:
			m.track(ctx, r, &rec, q.Caller)
			m.wake(r.serial)
		}
		return nil
	}
}
