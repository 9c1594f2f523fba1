package pump

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Call is a call that has made a task, or is to become one.
type Call struct {
	Backend string
	Caller  port.Caller
	// Lease is the session of the call. It is not released.
	Lease port.LentSession
}

// Task is a task that has just been made, for what the call that made it hears of
// it.
type Task struct {
	m *Manager
	l *live
}

// Ask takes a request of the backend that belongs to the task, in the session of its
// call.
func (t *Task) Ask(session port.Session, msg jsonrpc.Message) {
	t.m.question(t.m.ctx, t.l, said{session, msg}, 0)
}

// Withdraw removes a question that the backend has taken back.
func (t *Task) Withdraw(session port.Session, id jsonrpc.ID) {
	t.m.withdraw(t.m.ctx, t.l.ref.backend, session, id)
}

// Adopt hands out a task of the backend, by its answer to the call that made it: it
// is on record, and this process looks after it, before the face's answer is
// returned. The error leaves the task to its fate; see [Manager.Abandon].
func (m *Manager) Adopt(ctx context.Context, c Call, result wire.Value) (*Task, wire.Value, error) {
	if !m.enter() {
		return nil, "", errStopped
	}
	defer m.work.Done()
	doc, err := m.Dialect.ReadCreated(result)
	if err != nil {
		return nil, "", err
	}
	st, err := m.Dialect.Read(doc)
	if err != nil {
		return nil, "", err
	}
	r, err := m.mint(kindProxied, c.Backend, st.ID, c.Lease.Place(), c.Caller)
	if err != nil {
		return nil, "", err
	}
	rec := m.newRecord(r, c)
	rec.TaskID = st.ID
	rec.lifetime(st)
	answer, err := m.Dialect.AppendCreated(nil, result, m.created(r, &rec))
	if err != nil {
		return nil, "", err
	}
	l, err := m.begin(ctx, r, &rec, c)
	if err != nil {
		return nil, "", err
	}
	l.mu.Lock()
	l.doc, l.st, l.at, l.stale = doc, st, m.Env.Now(), true // the first poll asks
	session := l.session
	l.mu.Unlock()
	if early := (sessionTask{session, st.ID}); m.early.Remove(early) {
		m.await(l) //nolint:contextcheck // it outlives the call
	}
	return &Task{m, l}, wire.Value(answer), nil
}

func (m *Manager) newRecord(r ref, c Call) record {
	return record{
		Place: c.Lease.Place(), Created: r.created.UnixMilli(), Capabilities: string(c.Caller.Capabilities),
		Info: string(m.Dialect.ServerInfo(c.Lease.About())), Uncancellable: !m.Dialect.Cancels(c.Lease.About()),
	}
}

func (m *Manager) created(r ref, rec *record) port.SessionTaskView {
	return port.SessionTaskView{Handle: r.handle, FirstSeen: r.created, ServerInfo: wire.Value(rec.Info)}
}

// begin puts a new task on record, and then looks after it in the session of its call:
// what the backend asks before is the call's.
func (m *Manager) begin(ctx context.Context, r ref, rec *record, c Call) (*live, error) {
	if err := m.save(ctx, r, rec); err != nil {
		return nil, err
	}
	l, err := m.settle(ctx, r, rec, c)
	if err != nil {
		ctx, cancel := m.parting(ctx)
		defer cancel()
		m.forget(ctx, r, rec)
	}
	return l, err
}

// settle has this process look after a new task.
func (m *Manager) settle(ctx context.Context, r ref, rec *record, c Call) (*live, error) {
	lease, err := m.Sessions.Resume(ctx, r.backend, rec.maker(c.Caller), rec.Place)
	if err != nil {
		return nil, err
	}
	l, err := m.attend(r, rec, c.Caller)
	if err == nil && !l.have(lease) {
		err = m.left()
	}
	if err != nil {
		lease.Release()
		return nil, err
	}
	return l, nil
}

// Abandon ends a task at the backend that nobody will ever learn of (B-T6), by the
// backend's answer to the call that made it.
func (m *Manager) Abandon(ctx context.Context, c Call, result wire.Value) {
	doc, err := m.Dialect.ReadCreated(result)
	if err != nil {
		return
	}
	st, err := m.Dialect.Read(doc)
	if err != nil || st.Status.Terminal() || !m.Dialect.Cancels(c.Lease.About()) {
		return
	}
	ctx, cancel := m.parting(ctx)
	defer cancel()
	call := m.Dialect.Call(port.TaskCancel, st.ID)
	call.Authorization = m.Sessions.Authorization(c.Backend, c.Caller)
	if _, err := c.Lease.Do(ctx, call); err != nil {
		m.Logger.InfoContext(ctx, "abandoned task not cancelled", "backend", c.Backend, "error", port.Reason(err))
	}
}

// Abandon ends the task at the backend, because nobody will ever learn of it.
func (t *Task) Abandon(ctx context.Context, caller port.Caller) {
	m, l := t.m, t.l
	ctx, cancel := m.parting(ctx)
	defer cancel()
	rec, err := m.load(ctx, l.ref)
	if err == nil {
		if l.ref.kind == kindHosted {
			err = m.cancelHosted(ctx, l.ref, caller, rec)
		} else {
			err = m.cancelTask(ctx, l.ref, caller, &rec)
		}
		m.forget(ctx, l.ref, &rec)
	}
	m.dismiss(l)
	if err != nil {
		m.Logger.InfoContext(ctx, "abandoned task not cancelled", "backend", l.ref.backend, "error", port.Reason(err))
	}
}
