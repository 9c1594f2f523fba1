package pool

import (
	"context"
	"errors"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Lease is the use of a session until it is released. It is safe for concurrent
// use.
type Lease struct {
	p     *Pool
	mode  Mode
	key   Key
	hello port.Hello
	// renewing holds one value while the session is being exchanged.
	renewing chan struct{}

	// m and released are guarded by the pool's lock.
	m        *Member
	released bool
}

// Member is the session that is lent now: it changes when the server has
// forgotten the one before.
func (l *Lease) Member() *Member {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	return l.m
}

// Session is the session of [Lease.Member].
func (l *Lease) Session() port.Session { return l.Member().session }

// Do performs a request. When the server has forgotten the session, and has run
// nothing, it is performed once more in a new one (B-U4), in which nothing of the
// old one exists. The errors are those of [port.Session], of opening a session,
// and those of [Pool.Get].
func (l *Lease) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	m := l.Member()
	result, err := m.session.Do(ctx, call)
	if !errors.Is(err, port.ErrSessionLost) {
		return result, err
	}
	if err = l.renew(ctx, m); err != nil {
		return "", err
	}
	return l.Session().Do(ctx, call)
}

// renew exchanges the lost session of the lease for another.
func (l *Lease) renew(ctx context.Context, lost *Member) error {
	select {
	case l.renewing <- struct{}{}:
		defer func() { <-l.renewing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.p.mu.Lock()
	l.p.drop(lost)
	done, released := l.m != lost, l.released
	l.p.mu.Unlock()
	switch {
	case released:
		return port.ErrSessionLost
	case done:
		return nil // by another request of the same lease
	}
	next, err := l.p.Get(ctx, l.key, l.hello, l.mode)
	if err != nil {
		return err
	}
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if l.released {
		next.release()
		return port.ErrSessionLost
	}
	fresh := next.m
	lost.put(l)
	if l.m = fresh; l.mode != Shared {
		fresh.holder = l
	}
	return nil
}

// Pin keeps the session at the server beyond the lease: something lives in it,
// such as a task, a parked call or a subscription (B-U5). Unpin ends that; it may
// be called again. A session that the server has forgotten is not kept.
func (l *Lease) Pin() (unpin func()) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	m := l.m
	m.use()
	m.pins++
	return sync.OnceFunc(func() {
		l.p.mu.Lock()
		defer l.p.mu.Unlock()
		m.pins--
		l.p.settle(m)
	})
}

// Linger has a [Single] session live on for a while after its lease, as others do:
// the backend may still have something to say in it.
func (l *Lease) Linger() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.m.single = false
}

// Leave says that something lives on in the session for which nobody here keeps it: its
// slot may go to another, but its end is never asked of the server. [Pool.Resume] finds
// it again.
func (l *Lease) Leave() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.m.left = true
}

// Release gives the session back. It may be called again.
func (l *Lease) Release() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.release()
}

func (l *Lease) release() {
	if l.released {
		return
	}
	l.released = true
	l.m.put(l)
}
