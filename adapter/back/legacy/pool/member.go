package pool

import (
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// Member is a session of a pool.
type Member struct {
	p   *Pool
	key Key
	// ready is closed when the session is open or has failed to open; session and
	// err are written before.
	ready   chan struct{}
	session port.Session
	err     error
	// resumed is set for a session that another process has opened, which alone knows
	// what lives in it.
	resumed bool

	// What follows is guarded by the pool's lock.

	// shared and holder are the leases, pins the reasons to keep the session
	// without one.
	shared, pins int
	holder       *Lease
	// left is set once something lives in the session that nobody here looks after.
	left bool
	// single is set while the session is for its first lease alone.
	single bool
	// alone is set for one that was opened like that.
	alone bool
	// gone is set once the pool lends the session to nobody any more.
	gone, closed bool
	// uses counts the times that the session came into use, so that a timer
	// knows whether it is about the present idleness, which began at since.
	uses  int
	since time.Time
	stop  func() bool
}

// Key is what the session is shared by.
func (m *Member) Key() Key { return m.key }

// Session is the session itself.
func (m *Member) Session() port.Session { return m.session }

// Holder is the exclusive lease on the session, or nil: the only call to which a
// question can belong that says nothing of its own (B-U6).
func (m *Member) Holder() *Lease {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	return m.holder
}

// opened reports whether the session is there, now.
func (m *Member) opened() bool {
	select {
	case <-m.ready:
		return m.err == nil
	default:
		return false
	}
}

// lost reports whether the server has forgotten the session.
func (m *Member) lost() bool {
	if !m.opened() {
		return false
	}
	select {
	case <-m.session.Lost():
		return true
	default:
		return false
	}
}

func (m *Member) leased() bool { return m.shared > 0 || m.holder != nil }

// idle reports whether nothing at all depends on the session (B-U5).
func (m *Member) idle() bool { return m.opened() && !m.leased() && m.pins == 0 }

// free reports whether the session can be lent in this mode.
func (m *Member) free(mode Mode) bool {
	return !m.gone && !m.resumed && !m.single && mode != Single && (mode == Shared || m.holder == nil)
}

// take lends the session to l.
func (m *Member) take(l *Lease) {
	m.use()
	if l.m = m; l.mode != Shared {
		m.holder = l
		return
	}
	m.shared++
}

// put takes the session back from l.
func (m *Member) put(l *Lease) {
	if l.mode != Shared {
		m.holder = nil
	} else {
		m.shared--
	}
	m.p.settle(m)
}

// use ends the idleness of the session.
func (m *Member) use() {
	m.uses++
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}
