package legacy

import (
	"context"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
)

var _ port.Standing = (*session)(nil)

// standing is what is known of a session's standing stream.
type standing struct {
	mu sync.Mutex
	// known is closed while the stream is open, and once it is clear that there
	// will be none.
	known chan struct{}
	// missed is closed when a stream is opened that does not go on where the one
	// before ended.
	missed chan struct{}
	// settled is set while known is closed.
	settled, none bool
	before        bool // there was a stream
}

func newStanding() *standing {
	return &standing{known: make(chan struct{}), missed: make(chan struct{})}
}

// opened notes that the stream is open. Resumed says that it goes on where the one
// before ended.
func (st *standing) opened(resumed bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.before && !resumed {
		close(st.missed)
		st.missed = make(chan struct{})
	}
	st.before = true
	st.settle()
}

// broke notes that the stream is not open any more.
func (st *standing) broke() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.settled, st.known = false, make(chan struct{})
}

// never notes that there will be no stream.
func (st *standing) never() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.none = true
	st.settle()
}

// settle has those who wait know; the lock is held.
func (st *standing) settle() {
	if !st.settled {
		st.settled = true
		close(st.known)
	}
}

// Standing implements [port.Standing]. Open has waited for it already; it may have
// broken since, and a resumed session opens it on its own time.
func (s *session) Standing(ctx context.Context) (offered bool, missed <-chan struct{}) {
	s.standing.mu.Lock()
	known := s.standing.known
	s.standing.mu.Unlock()
	timer := s.c.server.Env.NewTimer(streamGrace)
	defer timer.Stop()
	select {
	case <-known:
	case <-timer.C:
	case <-ctx.Done():
	}
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	return !s.standing.none, s.standing.missed
}
