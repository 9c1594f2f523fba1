package task

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// loop polls one task for everyone who waits for its end (A-R2). Its members
// are guarded by the manager's lock.
type loop struct {
	waiters int
	stop    context.CancelFunc
	nudge   chan struct{} // capacity 1: the task changed, look now
	done    chan struct{} // closed once rec or err is the final word
	rec     record
	err     error
}

// Result serves tasks/result: it waits until the task has ended and returns
// what the original call would have (A-R1). Ending ctx ends the wait, not the
// task (A-R5).
func (m *Manager) Result(ctx context.Context, backend string, caller port.Caller, handle string) port.Outcome {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return port.Fail(err)
	}
	rec, err := m.current(ctx, r, caller, false)
	switch {
	case err == nil && rec.Final:
		return m.Dialect(backend).Payload(rec.doc, r.handle)
	case err != nil && !transient(err):
		return port.Fail(err)
	}
	l := m.join(r, caller)
	defer m.leave(r, l)
	select {
	case <-l.done:
		if l.err != nil {
			return port.Fail(l.err)
		}
		return m.Dialect(backend).Payload(l.rec.doc, r.handle)
	case <-ctx.Done():
		return port.Fail(context.Cause(ctx))
	case <-m.ctx.Done():
		return port.Fail(errStopped)
	}
}

// transient reports whether a wait goes on after err: the backend could not be
// reached, which says nothing about the task (A-R6).
func transient(err error) bool {
	var upstream *port.UpstreamError
	return errors.As(err, &upstream)
}

func (m *Manager) join(r ref, caller port.Caller) *loop {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.loops[r.serial]
	if l == nil {
		ctx, stop := context.WithCancel(m.ctx)
		l = &loop{stop: stop, nudge: make(chan struct{}, 1), done: make(chan struct{})}
		m.loops[r.serial] = l
		m.work.Go(func() { m.poll(ctx, r, caller, l) })
	}
	l.waiters++
	return l
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

// wake makes the loop of a task look at once.
func (m *Manager) wake(serial string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.loops[serial]; l != nil {
		select {
		case l.nudge <- struct{}{}:
		default:
		}
	}
}

// poll runs a loop until the task has ended, the wait is hopeless or nobody
// waits any more.
func (m *Manager) poll(ctx context.Context, r ref, caller port.Caller, l *loop) {
	defer l.stop()
	wait := m.pace(r)
	var unreachable time.Time // since when; zero while the backend answers
	for {
		nudged, err := m.pause(ctx, wait, l.nudge)
		if err != nil {
			return
		}
		rec, err := m.current(ctx, r, caller, !nudged)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			unreachable = time.Time{}
		case unreachable.IsZero():
			unreachable = m.Env.Now()
		}
		if err == nil && rec.Final || err != nil && m.hopeless(err, unreachable) {
			m.conclude(r, l, rec, err)
			return
		}
		wait = m.pace(r)
	}
}

func (m *Manager) hopeless(err error, unreachable time.Time) bool {
	return !transient(err) || m.Env.Now().Sub(unreachable) >= m.Times.CallTotal
}

func (m *Manager) conclude(r ref, l *loop, rec record, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.rec, l.err = rec, err
	if m.loops[r.serial] == l {
		delete(m.loops, r.serial)
	}
	close(l.done)
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

// pace is the time to the next poll: the backend's interval with a jitter of a
// tenth either way, so that loops do not march in step.
func (m *Manager) pace(r ref) time.Duration {
	d := m.Times.PollDefault
	if snap, ok := m.recent.Peek(r.serial); ok {
		if st, err := m.Dialect(r.backend).Read(snap.rec.doc); err == nil {
			d = m.interval(st)
		}
	} else if r.kind == kindHosted {
		d = m.Times.HostedPoll
	}
	// The jitter needs no secrecy and no replay: it never reaches a message.
	return d + time.Duration((rand.Float64()-0.5)*0.2*float64(d)) //nolint:gosec // see above
}
