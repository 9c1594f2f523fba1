package pump

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

// waiting is this process's wait for the end of a task, on which the backend asks
// its questions (B-I1).
type waiting struct {
	stop context.CancelFunc
	// leads is closed once this process is the one that waits, done when it does not
	// wait any more.
	leads, done chan struct{}
}

// holds reports whether this process is the one that waits for the task.
func (w *waiting) holds() bool {
	select {
	case <-w.leads:
		return true
	default:
		return false
	}
}

const (
	// reopenFirst and reopenMax bound the pause before the wait for a task is begun
	// again that has broken (B-I10).
	reopenFirst = 500 * time.Millisecond
	reopenMax   = 30 * time.Second
	// unwaitTime bounds what is said of a wait that is over: another one is held up by
	// it, or the end of the process.
	unwaitTime = time.Second
)

// await has this process wait for the end of a task that needs input, unless it does
// or another one does. It reports whether it has just begun.
func (m *Manager) await(l *live) bool {
	ctx, stop := context.WithCancel(m.ctx)
	w := &waiting{stop: stop, leads: make(chan struct{}), done: make(chan struct{})}
	l.mu.Lock()
	if l.waiting != nil || l.gone {
		l.mu.Unlock()
		stop()
		return false
	}
	l.waiting = w
	l.mu.Unlock()
	run := func() {
		defer stop()
		m.wait(ctx, l, w)
	}
	if !m.spawn(run) {
		stop()
		return false
	}
	return true
}

// wait holds the task's lease and waits for its end.
func (m *Manager) wait(ctx context.Context, l *live, w *waiting) {
	defer func() {
		l.mu.Lock()
		if l.waiting == w {
			l.waiting = nil
		}
		l.mu.Unlock()
		close(w.done)
	}()
	held, token, drop, err := m.hold(ctx, l.ref)
	if err != nil {
		if !errors.Is(err, state.ErrHeld) && ctx.Err() == nil {
			m.Logger.WarnContext(ctx, "end of a task not waited for", "error", port.Reason(err))
		}
		return // the next look at the task tries again
	}
	defer drop()
	close(w.leads)
	for pause := reopenFirst; ; pause = min(2*pause, reopenMax) {
		stale, going := m.opens(held, l, token)
		if !going {
			return
		}
		if stale != nil { // of a process that has died, maybe
			m.unwait(held, l, *stale)
		}
		began := m.Env.Now()
		if m.waitOnce(held, l, token) || held.Err() != nil {
			return
		}
		if m.Env.Now().Sub(began) > reopenMax {
			pause = reopenFirst
		}
		if env.Sleep(held, m.Env, m.jitter(pause)) != nil {
			return
		}
	}
}

// opens puts on record that the wait begins, or begins again. What was asked in one
// that has broken may be lost (B-I10). It reports false if there is nothing to wait
// for, and returns the request of the wait before if that may be open at the backend.
func (m *Manager) opens(ctx context.Context, l *live, token int64) (stale *sent, going bool) {
	l.mu.Lock()
	unheard := l.unheard
	l.mu.Unlock()
	rec, err := m.change(ctx, l.ref, func(rec *record) bool {
		going = !rec.Final && rec.Fence <= token
		if !going {
			return false
		}
		rec.Lost = rec.Opened > 0
		rec.Opened++
		rec.Fence = token
		return true
	})
	if err != nil && ctx.Err() == nil {
		m.Logger.WarnContext(ctx, "end of a task not waited for", "error", port.Reason(err))
	}
	if rec.Wait != nil && rec.Wait.ID != unheard {
		stale = rec.Wait
	}
	return stale, err == nil && going
}

// waits puts the request on record in which this process waits.
func (m *Manager) waits(ctx context.Context, l *live, token int64, r sent) {
	_, err := m.change(ctx, l.ref, func(rec *record) bool {
		if rec.Final || rec.Fence != token {
			return false
		}
		rec.Wait = &r
		return true
	})
	if err != nil && ctx.Err() == nil {
		m.Logger.InfoContext(ctx, "wait for a task not recorded", "error", port.Reason(err))
	}
}

// waited takes a request off the record that has been answered: the process that waits
// next has nothing to take back.
func (m *Manager) waited(ctx context.Context, l *live, r sent) {
	_, err := m.change(ctx, l.ref, func(rec *record) bool {
		if rec.Wait == nil || *rec.Wait != r {
			return false
		}
		rec.Wait = nil
		return true
	})
	if err != nil && ctx.Err() == nil {
		m.Logger.InfoContext(ctx, "end of a wait for a task not recorded", "error", port.Reason(err))
	}
}

// waitOnce waits for the end of the task, and reports whether that is all: the task
// is over or unknown, or the backend does not let anybody wait.
func (m *Manager) waitOnce(ctx context.Context, l *live, token int64) bool {
	l.mu.Lock()
	caller := l.caller
	l.mu.Unlock()
	var last sent
	result, err := l.doAs(ctx, caller, port.TaskResult, func(s said) { m.hear(ctx, l, s, token) }, func(lease port.LentSession, call *port.SessionCall) {
		call.Waited = m.Env.Now // that nothing is said means that nothing is wanted
		call.OnID = func(id jsonrpc.ID) {
			this := sent{string(id), lease.Place()}
			if last.ID != "" { // it has broken
				m.unwait(ctx, l, last)
				m.opens(ctx, l, token)
			}
			last = this
			m.waits(ctx, l, token, this)
		}
	})
	var rpc *jsonrpc.Error
	if err != nil && last.ID != "" && (ctx.Err() != nil || unanswered(err)) {
		m.unwait(ctx, l, last)
	}
	l.mu.Lock()
	l.unheard = last.ID
	l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return true
	case err == nil, !transient(err) && errors.As(err, &rpc): // that is an answer
	default:
		m.Logger.InfoContext(ctx, "wait for a task broken", "backend", l.ref.backend, "error", port.Reason(err))
		return false
	}
	var end *port.TaskEnd
	if rpc == nil {
		end = &port.TaskEnd{Result: result}
		l.mu.Lock()
		l.early = end
		l.mu.Unlock()
	}
	doc, err := l.do(ctx, caller, port.TaskGet, nil)
	if err == nil {
		var st port.TaskState
		if st, err = m.Dialect.Read(doc); err == nil {
			if !st.Status.Terminal() {
				m.waited(ctx, l, last)
			}
			m.ends(ctx, l, caller, view{doc: doc, st: st}, end)
			return true
		}
	}
	if unknownTask(err) {
		_, err = m.failed(ctx, l, err)
	}
	if err != nil && !errors.Is(err, ErrUnknown) {
		m.Logger.InfoContext(ctx, "end of a task not known", "backend", l.ref.backend, "error", port.Reason(err))
	}
	return rpc == nil || !transient(err)
}

// unanswered reports whether a request may be under way at the backend still.
func unanswered(err error) bool {
	var upstream *port.UpstreamError
	return errors.As(err, &upstream) && upstream.Sent && upstream.Status == 0
}

// unwait tells the backend that nobody hears the answer to a request any more: it would
// ask its next question there, and only there, whether its connection is broken or not.
func (m *Manager) unwait(ctx context.Context, l *live, r sent) {
	if l.left() {
		return
	}
	ctx, cancel := env.WithTimeout(context.WithoutCancel(ctx), m.Env, unwaitTime, errParting)
	defer cancel()
	l.mu.Lock()
	caller := l.caller
	l.mu.Unlock()
	lease, err := l.lend(ctx, caller)
	if err == nil && lease.Place().Ticket == r.Place.Ticket { // or it is gone with its session
		method, params := m.Dialect.Withdrawal(wire.Value(r.ID))
		err = lease.Session().Notify(ctx, method, params)
	}
	if err != nil {
		m.Logger.InfoContext(ctx, "backend not told of a request that is given up", "backend", l.ref.backend, "error", port.Reason(err))
	}
}

// ends puts the end of the task on record that the wait has brought, if the task is
// over. Some backends answer with an error or anything as long as it is not, because
// nobody can wait there; then they are asked again when it is.
func (m *Manager) ends(ctx context.Context, l *live, caller port.Caller, v view, end *port.TaskEnd) {
	l.mu.Lock()
	if v.st.Status.Terminal() {
		l.fetched = end
	}
	l.waiting = nil // or it would wait for itself
	l.mu.Unlock()
	if !v.st.Status.Terminal() {
		l.answered(v.doc, v.st, l.happened())
		return
	}
	if _, err := m.conclude(ctx, l, caller, v); err != nil && ctx.Err() == nil {
		m.Logger.InfoContext(ctx, "end of a task not recorded", "backend", l.ref.backend, "error", port.Reason(err))
	}
}
