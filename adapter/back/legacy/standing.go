package legacy

import (
	"context"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

var _ port.Standing = (*session)(nil)

// standing is what is known of a session's standing stream.
type standing struct {
	mu sync.Mutex
	// known is closed while the server has answered for the stream, which is open
	// then, unless the server has refused it for now or for good.
	known chan struct{}
	// missed is closed when a stream is opened that does not go on where the one
	// before ended, and when there will be no more.
	missed chan struct{}
	// settled is set while known is closed, late once that was waited for in vain.
	settled, late bool
	// before is set once there was a stream, none when there will be none any more.
	before, none bool
}

func newStanding() *standing {
	return &standing{known: make(chan struct{}), missed: make(chan struct{})}
}

// answered notes that the server has answered for the first time, whatever it said.
func (st *standing) answered() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.settle()
}

func (st *standing) settle() {
	if !st.settled {
		st.settled = true
		close(st.known)
	}
}

// miss tells that something may have been missed; the lock is held.
func (st *standing) miss() {
	close(st.missed)
	st.missed = make(chan struct{})
}

// opened notes that the stream is open. Resumed says that it goes on where the one
// before ended. If the server had answered and refused it before, the session was in
// use without.
func (st *standing) opened(resumed bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !resumed && (st.before || st.settled) {
		st.miss()
	}
	st.before = true
	st.settle()
}

// broke notes that the stream is not open any more.
func (st *standing) broke() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.settled, st.late, st.known = false, false, make(chan struct{})
}

// never notes that there will be no stream any more.
func (st *standing) never() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.none = true; st.before {
		st.miss()
	}
	st.settle()
}

// wait waits until it is known whether the stream is open, but not for long, and
// only once: some servers send the head of it with the first event.
func (st *standing) wait(ctx context.Context, e env.Env) {
	st.mu.Lock()
	known, late := st.known, st.late
	st.mu.Unlock()
	if late {
		return
	}
	timer := e.NewTimer(streamGrace)
	defer timer.Stop()
	select {
	case <-known:
	case <-ctx.Done():
	case <-timer.C:
		st.mu.Lock()
		defer st.mu.Unlock()
		st.late = st.known == known
	}
}

// Standing implements [port.Standing]. Open has waited for it already; it may have
// broken since, and a resumed session opens it on its own time.
func (s *session) Standing(ctx context.Context) (offered bool, missed <-chan struct{}) {
	s.standing.wait(ctx, s.c.server.Env)
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	return !s.standing.none, s.standing.missed
}
