package pump

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// watchInterval is the pace at which a task is looked at that somebody watches, if
// its backend names none.
const watchInterval = 2 * time.Second

// Watch tells of every change of a task, as a whole notification with the id of the
// subscription, until the task is over, its backend does not know it, or ctx ends.
// It tells the same as [Manager.Get] would say then (§4.24). The state at the
// beginning is taken as known, unless the task is over.
//
// Tell is called by Watch itself, and so one call at a time. What it does not take is
// not kept: the task is looked at again in a while.
func (m *Manager) Watch(ctx context.Context, backend string, caller port.Caller, handle string, subscription jsonrpc.ID, tell func(notification []byte) (taken bool)) {
	r, err := m.open(backend, caller, handle)
	if err != nil || !m.enter() {
		return
	}
	defer m.work.Done()
	w := watcher{m: m, r: r, caller: caller, subscription: subscription, tell: tell}
	for first := true; ctx.Err() == nil && m.ctx.Err() == nil; first = false {
		l, news, stop := w.news(ctx)
		over, pause := w.look(ctx, first)
		if over {
			stop()
			if l != nil {
				m.dismiss(l)
			}
			return
		}
		timer := m.Env.NewTimer(m.jitter(pause))
		select {
		case <-news:
		case <-timer.C:
		case <-ctx.Done():
		case <-m.ctx.Done():
		}
		timer.Stop()
		stop()
	}
}

// watcher is one watch of a task.
type watcher struct {
	m            *Manager
	r            ref
	caller       port.Caller
	subscription jsonrpc.ID
	tell         func([]byte) bool
	// shown is what the client knows, once based is set.
	shown string
	based bool
}

// known returns what this process knows of a task at work, without asking anybody.
func (w *watcher) known(ctx context.Context) (view, bool) {
	m := w.m
	m.mu.Lock()
	l := m.tasks[w.r.serial]
	m.mu.Unlock()
	rec, err := m.load(ctx, w.r)
	if l == nil || err != nil || rec.Final {
		return view{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v := view{rec: rec, doc: l.doc, st: l.st}
	return v, v.doc.Present() && !v.st.Status.Terminal()
}

// news returns a channel that gets a value when something happens to the task.
func (w *watcher) news(ctx context.Context) (l *live, news <-chan struct{}, stop func()) {
	rec, err := w.m.load(ctx, w.r)
	if err != nil || rec.Final {
		return nil, nil, func() {}
	}
	if l, err = w.m.attend(w.r, &rec, w.caller); err != nil {
		return nil, nil, func() {}
	}
	news, stop = l.watch()
	return l, news, stop
}

// look looks at the task and tells what has changed; the first look is content with
// what is known. It returns when to look again.
func (w *watcher) look(ctx context.Context, first bool) (over bool, again time.Duration) {
	v, known := view{}, false
	if first {
		v, known = w.known(ctx)
	}
	if !known {
		var err error
		if v, err = w.m.current(ctx, w.r, w.caller, true); err != nil {
			return errors.Is(err, ErrUnknown), watchInterval
		}
	}
	note, shown, err := w.m.Dialect.AppendStatus(nil, v.doc, w.subscription, w.m.shown(w.r, &v, w.caller))
	if err != nil {
		w.m.Logger.WarnContext(ctx, "task notification not rendered", "backend", w.r.backend, "error", port.Reason(err))
		return v.rec.Final, watchInterval
	}
	if (v.rec.Final || w.based && shown != w.shown) && !w.tell(note) {
		return false, watchInterval
	}
	w.shown, w.based = shown, true
	again = watchInterval
	if v.st.PollInterval > 0 {
		again = w.m.interval(v.st)
	}
	return v.rec.Final, again
}
