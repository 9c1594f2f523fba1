package pump

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// live is a task that this process looks after: it has the session in which the
// task lives, and keeps it at the backend as long as the task may (B-T4, B-U5).
type live struct {
	m   *Manager
	ref ref
	// spot is where it stands among the tasks of its backend. The manager's lock
	// guards it.
	spot *list.Element
	// lending holds one value while the session is being had.
	lending chan struct{}
	// giving holds one value while answers are given to the backend.
	giving chan struct{}

	mu     sync.Mutex
	taskID string
	caller port.Caller // who came last: the newest credential
	lease  port.LentSession
	// session is the one that the task is known to live in, kept with unpin.
	session port.Session
	unpin   func()
	gone    bool
	expires time.Time // of the task; zero while not known
	stop    func() bool

	// doc is what the backend has said last, at that time, and st its state. It is
	// stale once something has come between (A-T21), of which events counts all, and
	// told if it came by itself.
	doc         wire.Value
	st          port.TaskState
	at          time.Time
	stale, told bool
	events      int
	// needs is set while it is known to need input, by whatever said so last.
	needs bool
	// fetched is the end of a task that is over, until it is on record. Early is one
	// that came before anybody knew that it is over.
	fetched, early *port.TaskEnd

	waiting  *waiting // for the end of the task; nil while nobody does
	unheard  string   // the request for its end that this process has had an end of last
	handing  bool     // somebody sees to it that the backend gets its answers
	hosted   *hosted  // the call of a hosted task of this process
	watchers map[chan struct{}]struct{}
}

// attend returns the task among those that this process looks after.
func (m *Manager) attend(r ref, rec *record, caller port.Caller) (*live, error) {
	for {
		m.mu.Lock()
		if m.closed {
			m.mu.Unlock()
			return nil, errStopped
		}
		l := m.tasks[r.serial]
		if l == nil {
			l = &live{m: m, ref: r, lending: make(chan struct{}, 1), giving: make(chan struct{}, 1), watchers: make(map[chan struct{}]struct{})}
			m.tasks[r.serial] = l
		}
		crowd := m.place(l)
		m.mu.Unlock()
		for _, other := range crowd {
			m.leave(other)
		}
		if l.attended(rec, caller) {
			return l, nil
		} // it was dismissed in between
	}
}

// attended notes what is known of a task that somebody asks for. It reports false once
// nobody looks after it.
func (l *live) attended(rec *record, caller port.Caller) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return false
	}
	l.taskID, l.caller = rec.TaskID, caller
	l.expires = time.Time{}
	if rec.Expires != 0 {
		l.expires = time.UnixMilli(rec.Expires).Add(expiryGrace)
	}
	l.arm()
	return true
}

// arm sets the time at which the task counts as over although nobody has said so.
// The lock is held.
func (l *live) arm() {
	if l.stop != nil {
		l.stop()
	}
	m := l.m
	after := m.Times.Retention
	if !l.expires.IsZero() {
		after = max(l.expires.Sub(m.Env.Now()), expiryGrace)
	}
	l.stop = m.Env.AfterFunc(after, func() { m.dismiss(l) })
}

// dismiss looks after a task no more, and lets its session go.
func (m *Manager) dismiss(l *live) {
	if unpin := m.let(l, false); unpin != nil {
		unpin()
	}
}

// let looks after a task no more. The session is given back, as one to leave if the task
// lives on there, and what keeps it at the backend is returned.
func (m *Manager) let(l *live, leave bool) (unpin func()) {
	m.mu.Lock()
	m.remove(l)
	m.mu.Unlock()
	l.mu.Lock()
	l.gone = true
	if l.stop != nil {
		l.stop()
	}
	if l.waiting != nil {
		l.waiting.stop()
	}
	lease, unpin := l.lease, l.unpin
	l.lease, l.unpin, l.session = nil, nil, nil
	l.wake()
	l.mu.Unlock()
	if lease != nil {
		if leave {
			lease.Leave()
		}
		lease.Release()
	}
	return unpin
}

// lend returns the session in which the task lives.
func (l *live) lend(ctx context.Context, caller port.Caller) (port.LentSession, error) {
	select {
	case l.lending <- struct{}{}:
		defer func() { <-l.lending }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	lease := l.lease
	l.mu.Unlock()
	if lease != nil {
		return lease, nil
	}
	rec, err := l.m.load(ctx, l.ref)
	if isAway(err) && l.ref.kind == kindProxied {
		rec, err = l.m.unrecorded(l.ref), nil // it was made in this session
	}
	if err != nil {
		return nil, err
	}
	if lease, err = l.m.Sessions.Resume(ctx, l.ref.backend, rec.maker(caller), rec.Place); err != nil {
		return nil, err
	}
	if !l.have(lease) {
		lease.Release()
		return nil, l.m.left()
	}
	return lease, nil
}

// have takes a session over. It reports false once nobody looks after the task.
func (l *live) have(lease port.LentSession) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return false
	}
	l.lease, l.session, l.unpin = lease, lease.Session(), lease.Pin()
	return true
}

// left reports whether this process looks after the task no more.
func (l *live) left() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// do makes a request about the task. Hear gets what the backend sends ahead of its
// answer, with the session.
func (l *live) do(ctx context.Context, caller port.Caller, what port.TaskCall, hear func(said)) (wire.Value, error) {
	return l.doAs(ctx, caller, what, hear, func(port.LentSession, *port.SessionCall) {})
}

// doAs is [live.do] with a last word on how the request is made.
func (l *live) doAs(ctx context.Context, caller port.Caller, what port.TaskCall, hear func(said), how func(port.LentSession, *port.SessionCall)) (wire.Value, error) {
	lease, err := l.lend(ctx, caller)
	if err != nil {
		return "", err
	}
	defer lease.Pin()() // the task may end meanwhile, and its session with it
	l.mu.Lock()
	call := l.m.Dialect.Call(what, l.taskID)
	l.mu.Unlock()
	call.Authorization = l.m.Sessions.Authorization(l.ref.backend, caller)
	call.OnMessage = l.listen(lease, hear) //nolint:contextcheck // what is said is for everybody
	how(lease, &call)
	result, err := lease.Do(ctx, call)
	l.follow(ctx, lease)
	return result, err
}

// follow notices that the backend has forgotten the session and the lease is of
// another one. What was asked in the old one can be answered no more (B-U4).
func (l *live) follow(ctx context.Context, lease port.LentSession) {
	now := lease.Session()
	l.mu.Lock()
	same := l.gone || l.session == now
	var unpin func()
	if !same {
		unpin = l.unpin
		l.session, l.unpin = now, lease.Pin()
	}
	l.mu.Unlock()
	if same {
		return
	}
	unpin()
	place := lease.Place()
	_, err := l.m.change(context.WithoutCancel(ctx), l.ref, func(rec *record) bool {
		if rec.Final || rec.Place == place {
			return false
		}
		rec.Place, rec.Asks = place, nil
		return true
	})
	if err != nil {
		l.m.Logger.WarnContext(ctx, "new session of a task not recorded", "error", port.Reason(err))
	}
}

// wake has everybody look at the task who watches it. The lock is held.
func (l *live) wake() {
	for ch := range l.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// moved notes that something has happened to the task: what the backend said last
// is not good enough any more.
func (l *live) moved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale, l.told = true, false
	l.events++
	l.wake()
}

// happened counts what has happened to the task.
func (l *live) happened() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}

// answered notes what the backend has said of the task when it was asked, after so
// many events.
func (l *live) answered(doc wire.Value, st port.TaskState, events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doc, l.st, l.at, l.stale, l.told = doc, st, l.m.Env.Now(), l.events != events, false
	l.needs = st.Status == port.TaskInputRequired
}

// heard notes what the backend has said of the task by itself.
func (l *live) heard(doc wire.Value, st port.TaskState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doc, l.st, l.at, l.stale, l.told = doc, st, l.m.Env.Now(), true, true
	l.events++
	l.wake()
}

// known returns what the backend has said within its own poll interval. Who watches
// is content with what it has said by itself.
func (l *live) known(watching bool) (doc wire.Value, st port.TaskState, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	recent := !l.stale && l.m.Env.Now().Sub(l.at) < l.m.interval(l.st)
	return l.doc, l.st, l.doc.Present() && (recent || watching && l.told)
}

// interval is the time in which a backend is not asked again about a task.
func (m *Manager) interval(st port.TaskState) time.Duration {
	if st.PollInterval <= 0 {
		return m.Times.PollDefault
	}
	return min(max(st.PollInterval, m.Times.PollFloor), m.Times.PollCeiling)
}
