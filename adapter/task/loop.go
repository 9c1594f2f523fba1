package task

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// loop polls one task for everyone who waits for its end (A-R2). Waiters and
// caller are guarded by the manager's lock, rec and err by done.
type loop struct {
	waiters int
	caller  port.Caller // who came last: the newest credential
	stop    context.CancelFunc
	nudge   chan struct{} // capacity 1: the task changed, look now
	done    chan struct{} // closed once rec or err is the final word
	rec     record
	err     error
}

// Result serves tasks/result: it waits until the task has ended and returns
// what the original call would have (A-R1). Meanwhile the caller is asked the
// task's questions on the stream, which may be nil. Ending ctx ends the wait, not
// the task (A-R5).
func (m *Manager) Result(ctx context.Context, backend string, caller port.Caller, handle string, stream port.Stream) port.Outcome {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return port.Fail(err)
	}
	rec, err := m.load(ctx, r)
	if err != nil {
		return port.Fail(err)
	}
	if m.stands(&rec) {
		m.prolong(ctx, r, &rec)
		return m.payload(ctx, r, &rec)
	}
	defer m.Desk.Sit(r.serial, caller, stream)()
	l := m.join(r, caller) //nolint:contextcheck // the loop serves others, too
	if l == nil {
		return port.Fail(errStopped)
	}
	defer m.leave(r, l)
	select {
	case <-l.done:
		if l.err != nil {
			return port.Fail(l.err)
		}
		return m.payload(ctx, r, &l.rec)
	case <-ctx.Done():
		return port.Fail(context.Cause(ctx))
	case <-m.ctx.Done():
		return port.Fail(errStopped)
	}
}

// join returns the loop of a task, with one waiter more, or nil once the manager
// is closed.
func (m *Manager) join(r ref, caller port.Caller) *loop {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	l := m.loops[r.serial]
	if l == nil {
		ctx, stop := context.WithCancel(m.ctx)
		l = &loop{stop: stop, nudge: make(chan struct{}, 1), done: make(chan struct{})}
		m.loops[r.serial] = l
		m.work.Go(func() { m.poll(ctx, r, l) })
	}
	if l.waiters++; l.waiters > 1 {
		l.look() // there may be questions for the newcomer
	}
	l.caller = caller
	return l
}

// look makes the loop look at once.
func (l *loop) look() {
	select {
	case l.nudge <- struct{}{}:
	default:
	}
}

func (m *Manager) leave(r ref, l *loop) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.waiters--; l.waiters == 0 {
		l.stop()
		if m.loops[r.serial] == l {
			delete(m.loops, r.serial)
		}
	}
}

func (m *Manager) speaker(l *loop) port.Caller {
	m.mu.Lock()
	defer m.mu.Unlock()
	return l.caller
}

// wake makes the loop of a task look at once.
func (m *Manager) wake(serial string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.loops[serial]; l != nil {
		l.look()
	}
}

// conclude ends the waits for a task.
func (m *Manager) conclude(serial string, rec record, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.loops[serial]
	if l == nil {
		return
	}
	delete(m.loops, serial)
	l.rec, l.err = rec, err
	close(l.done)
	l.stop()
}

// poll runs a loop until the task has ended, the wait is hopeless or nobody
// waits any more. It looks at once, since the task may have ended before there
// was a loop to wake.
func (m *Manager) poll(ctx context.Context, r ref, l *loop) {
	defer l.stop()
	lead := lead{m: m, r: r}
	defer lead.drop()
	var unreachable time.Time // since when; zero while the backend answers
	for fresh := false; ; {
		rec, err := m.look(ctx, r, m.speaker(l), fresh, lead.has(ctx))
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			unreachable = time.Time{}
		case unreachable.IsZero():
			unreachable = m.Env.Now()
		}
		if err == nil && rec.Final || err != nil && m.hopeless(err, unreachable) {
			m.conclude(r.serial, rec, err)
			return
		}
		nudged, err := m.pause(ctx, m.pace(r), l.nudge)
		if err != nil {
			return
		}
		// Others may have asked meanwhile, and what they learned is good enough.
		fresh = !nudged && !m.justAsked(r)
	}
}

// look is one look of a loop at its task, at which the questions are put. A loop that
// does not lead looks at what the one that does has put on record. A fault of the
// bridge ends the wait for this task and nothing else.
func (m *Manager) look(ctx context.Context, r ref, caller port.Caller, fresh, leads bool) (rec record, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			port.LogFault(ctx, m.Logger, fault)
			err = errFault
		}
	}()
	if leads {
		rec, err = m.current(ctx, r, caller, fresh)
	} else {
		rec, err = m.recorded(ctx, r)
	}
	if err != nil {
		return record{}, err
	}
	return m.pose(ctx, r, caller, rec, nil), nil
}

func (m *Manager) hopeless(err error, unreachable time.Time) bool {
	return !waitable(err) || m.Env.Now().Sub(unreachable) >= m.Times.CallTotal
}

// pause waits for the next poll and reports whether a change cut it short.
func (m *Manager) pause(ctx context.Context, d time.Duration, nudge <-chan struct{}) (nudged bool, err error) {
	timer := m.Env.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false, nil
	case <-nudge:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// pace is the time to the next poll: the backend's interval, varied so that
// loops do not march in step, and counted from when it was asked last.
func (m *Manager) pace(r ref) time.Duration {
	snap, ok := m.recent.Get(r.serial)
	switch {
	case ok && m.justAsked(r):
		return m.jitter(snap.interval) - m.age(&snap)
	case ok:
		return m.jitter(snap.interval)
	case r.kind == kindHosted:
		return m.jitter(m.Times.HostedPoll)
	default:
		return m.jitter(m.Times.PollDefault)
	}
}

// justAsked reports whether the backend has been asked within half an interval.
func (m *Manager) justAsked(r ref) bool {
	snap, ok := m.recent.Get(r.serial)
	return ok && m.age(&snap) < snap.interval/2
}
