package pump

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// view is what is known of a task at one time.
type view struct {
	rec record
	doc wire.Value
	st  port.TaskState
	// unkept says that the end of the task is known here, and not on record yet.
	unkept bool
}

const (
	// askPatience is how long the first sign of a task's questions waits for them: most
	// backends ask as soon as somebody listens.
	askPatience = 100 * time.Millisecond
	// leftTries is how often a task is looked for whose end others see at the same time.
	leftTries = 3
)

// Get serves tasks/get: the face's rendering of the task's state now.
func (m *Manager) Get(ctx context.Context, backend string, caller port.Caller, handle string) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	v, err := m.current(ctx, r, caller, false)
	if err != nil {
		return "", err
	}
	out, err := m.Dialect.AppendTask(nil, v.doc, m.shown(r, &v, caller))
	return wire.Value(out), err
}

// shown is how a task is shown to a caller: with the questions that it has declared
// it can be asked (B-I4).
func (m *Manager) shown(r ref, v *view, caller port.Caller) port.SessionTaskView {
	out := port.SessionTaskView{Handle: r.handle, FirstSeen: r.created, ServerInfo: wire.Value(v.rec.Info)}
	if v.rec.Final {
		out.End = v.rec.end()
		return out
	}
	for _, a := range v.rec.Asks {
		if may, _ := m.Dialect.MayAsk(caller.Capabilities, a.Method, wire.Value(a.Params)); may && a.State == askOpen {
			out.Questions = append(out.Questions, port.Question{Key: a.Key, Request: wire.Value(a.Entry)})
		}
	}
	if v.rec.Lost && len(v.rec.Asks) == 0 && v.st.Status == port.TaskInputRequired {
		out.Message = "waiting for upstream input request"
	}
	return out
}

// current returns the newest state of a task. Who watches it is content with what the
// backend has said by itself; others have it asked, at most once per poll interval
// (A-T21).
func (m *Manager) current(ctx context.Context, r ref, caller port.Caller, watching bool) (v view, err error) {
	for range leftTries {
		if v, err = m.look(ctx, r, caller, watching); !errors.Is(err, errLeft) {
			break // or it has ended, just now
		}
	}
	return v, err
}

// look is one attempt of [Manager.current]. It ends with [errLeft] when somebody else
// has seen the end of the task meanwhile.
func (m *Manager) look(ctx context.Context, r ref, caller port.Caller, watching bool) (view, error) {
	if rec, ok := m.ended.Get(r.serial); ok && m.lives(&rec) && !m.fades(&rec) {
		return view{rec: rec, doc: rec.doc}, nil
	}
	rec, err := m.load(ctx, r)
	if err == nil {
		m.touch(ctx, r, &rec)
	}
	switch {
	case isAway(err) && r.kind == kindProxied && !watching:
		return m.without(ctx, r, caller, err)
	case err != nil:
		return view{}, err
	case m.stands(&rec):
		m.remember(r, &rec)
		m.mu.Lock()
		l := m.tasks[r.serial]
		m.mu.Unlock()
		if l != nil && l.calls() == nil {
			m.dismiss(l) // another process has seen the end
		}
		return view{rec: rec, doc: rec.doc}, nil
	case r.kind == kindHosted:
		return m.hostedView(ctx, r, rec, caller)
	}
	l, err := m.attend(r, &rec, caller)
	if err != nil {
		return view{}, err
	}
	m.resend(l, &rec)
	if doc, st, ok := l.known(watching); ok {
		return m.taken(ctx, l, caller, view{rec: rec, doc: doc, st: st})
	}
	v, err := m.shared(ctx, r, func(ctx context.Context) (view, error) { return m.fetch(ctx, l, caller) })
	if err == nil && !v.rec.Final {
		// The fetch may be older than an answer of this caller.
		v.rec, err = m.load(ctx, r)
	}
	if v.rec.Final && !v.unkept {
		m.dismiss(l) // the end may have been seen by way of another
		v.doc = v.rec.doc
	}
	return v, err
}

// shared has one of those who want to know of a task look, for all of them.
func (m *Manager) shared(ctx context.Context, r ref, look func(context.Context) (view, error)) (view, error) {
	return m.fetches.Do(ctx, r.serial, func(ctx context.Context) (v view, err error) {
		defer func() { // where several wait, it would end the process
			if fault := recover(); fault != nil {
				port.LogFault(ctx, m.Logger, fault)
				v, err = view{}, jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error")
			}
		}()
		return look(ctx)
	})
}

// fetch asks the backend for the state of a task.
func (m *Manager) fetch(ctx context.Context, l *live, caller port.Caller) (view, error) {
	if !m.enter() {
		return view{}, errStopped
	}
	defer m.work.Done()
	ctx, cancel := m.bind(ctx, askTime, errAskTime)
	defer cancel()
	events := l.happened()
	doc, err := l.do(ctx, caller, port.TaskGet, nil)
	if err != nil {
		return m.failed(ctx, l, err)
	}
	st, err := m.Dialect.Read(doc)
	if err != nil {
		return view{}, err
	}
	l.answered(doc, st, events)
	rec, err := m.load(ctx, l.ref)
	if err != nil {
		return view{}, err
	}
	return m.taken(ctx, l, caller, view{rec: rec, doc: doc, st: st})
}

// failed decides what it means that a backend has not told the state of a task. It is
// no news of one that is over while it lives on record (B-G7); otherwise a backend that
// does not know it has forgotten it (B-G5).
func (m *Manager) failed(ctx context.Context, l *live, cause error) (view, error) {
	rec, err := m.load(ctx, l.ref)
	switch {
	case err == nil && m.stands(&rec):
		m.dismiss(l)
		return view{rec: rec, doc: rec.doc}, nil
	case !unknownTask(cause):
		return view{}, m.told(port.TaskGet, cause)
	case err != nil:
		return view{}, err
	}
	m.forget(ctx, l.ref, &rec)
	m.dismiss(l)
	m.tell(context.WithoutCancel(ctx), l.ref, "")
	return view{}, ErrUnknown
}

// taken draws the conclusions from what a backend has said of a task.
func (m *Manager) taken(ctx context.Context, l *live, caller port.Caller, v view) (view, error) {
	switch {
	case v.rec.Final: // whatever the backend says now (B-G7)
		m.dismiss(l)
		v.doc = v.rec.doc
		return v, nil
	case v.st.Status.Terminal():
		return m.conclude(ctx, l, caller, v)
	case v.st.Status != port.TaskInputRequired || !m.await(l): //nolint:contextcheck // it outlives the request
		return v, nil
	}
	// It was not waited for before: the first question may be here in a moment.
	if len(v.rec.Asks) == 0 {
		l.firstAsk(ctx)
		rec, err := m.load(ctx, l.ref)
		if err != nil {
			return view{}, err
		}
		v.rec = rec
	}
	return v, nil
}

// firstAsk waits a moment for a question.
func (l *live) firstAsk(ctx context.Context) {
	news, stop := l.watch()
	defer stop()
	timer := l.m.Env.NewTimer(askPatience)
	defer timer.Stop()
	select {
	case <-news:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watch returns a channel that gets a value when something happens to the task.
func (l *live) watch() (news <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchers[ch] = struct{}{}
	return ch, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watchers, ch)
	}
}

// told is the error that a caller gets for the failure of a request about its task.
func (m *Manager) told(what port.TaskCall, err error) error {
	var rpc *jsonrpc.Error
	if transient(err) || !errors.As(err, &rpc) {
		return err
	}
	return m.Dialect.Error(what, rpc)
}

// transient reports whether a backend could not be reached, or did not answer
// properly, which says nothing about the task.
func transient(err error) bool {
	var upstream *port.UpstreamError
	return errors.As(err, &upstream)
}

// unknownTask reports whether the answer is that there is no such task.
func unknownTask(err error) bool {
	return !transient(err) && port.IsCode(err, jsonrpc.CodeInvalidParams)
}

// jitter varies a duration by a tenth either way.
func (m *Manager) jitter(d time.Duration) time.Duration { return env.Jitter(m.Env, d, 0.9, 1.1) }
