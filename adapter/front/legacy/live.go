package legacy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// live is what this process holds of a session: open streams, requests in
// flight, and messages that wait for a stream. All of it may be lost.
type live struct {
	address string

	mu       sync.Mutex
	ended    bool
	streams  []*stream // open GET streams, oldest first
	detach   func()    // ends the attachment to the backend's changes
	inflight map[jsonrpc.ID]flight
	pending  []pending
	idle     func() bool // stops the timer that ends an unused session
}

// flight is a request in flight.
type flight struct {
	cancel context.CancelCauseFunc
	// wait is set for requests that only wait: they can be repeated at any time.
	wait bool
}

// pending is a message for which no stream was open.
type pending struct {
	key string
	msg []byte
}

// maxPending bounds the messages kept for a session without a stream.
const maxPending = 256

var (
	errClosing   = errors.New("the bridge is shutting down")
	errEnded     = errors.New("the session has ended")
	errCancelled = errors.New("cancelled by the client")
	errBusyID    = jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: id: a request with this id is in flight")
	errFull      = errors.New("too many sessions")
)

// enter returns what this process holds of a session, and counts it if it is
// new here.
func (f *Face) enter(key, address string) (*live, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.live[key]; l != nil {
		l.rest(f, key)
		return l, nil
	}
	if len(f.live) >= f.Limits.Sessions || f.addresses[address] >= f.Limits.SessionsPerAddress {
		return nil, errFull
	}
	l := &live{address: address, inflight: make(map[jsonrpc.ID]flight)}
	f.live[key] = l
	f.addresses[address]++
	l.rest(f, key)
	return l, nil
}

// rest restarts the timer after which an unused session is forgotten here.
func (l *live) rest(f *Face, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle != nil {
		l.idle()
	}
	l.idle = f.Env.AfterFunc(f.Times.SessionIdle+time.Second, func() { f.forget(key, l) })
}

// forget drops a session that has been idle, unless something of it is open.
func (f *Face) forget(key string, l *live) {
	l.mu.Lock()
	busy := len(l.streams) > 0 || len(l.inflight) > 0
	l.mu.Unlock()
	if busy {
		l.rest(f, key)
		return
	}
	f.end(key)
}

// end cancels everything of a session in this process.
func (f *Face) end(key string) {
	f.mu.Lock()
	l := f.live[key]
	if l != nil {
		delete(f.live, key)
		if f.addresses[l.address]--; f.addresses[l.address] == 0 {
			delete(f.addresses, l.address)
		}
	}
	f.mu.Unlock()
	if l == nil {
		return
	}
	if detach := l.finish(); detach != nil {
		detach()
	}
}

// finish ends everything and returns what detaches the session, to be called
// without the lock.
func (l *live) finish() (detach func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.idle != nil {
		l.idle()
	}
	for _, st := range l.streams {
		st.cancel(errEnded)
	}
	for _, fl := range l.inflight {
		fl.cancel(errEnded)
	}
	return l.detach
}

// drain ends the streams and the waits.
func (l *live) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, st := range l.streams {
		st.cancel(errClosing)
	}
	for _, fl := range l.inflight {
		if fl.wait {
			fl.cancel(errClosing)
		}
	}
}

// begin registers a request in flight, so that it can be cancelled.
func (l *live) begin(id jsonrpc.ID, fl flight) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return errUnknownSession
	}
	if _, busy := l.inflight[id]; busy {
		return errBusyID
	}
	l.inflight[id] = fl
	return nil
}

func (l *live) done(id jsonrpc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.inflight, id)
}

// cancelRequest serves notifications/cancelled (§1.7). Unknown and finished ids
// are ignored.
func (l *live) cancelRequest(id jsonrpc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fl, flying := l.inflight[id]; flying {
		fl.cancel(errCancelled)
	}
}

// push delivers a message on the newest open stream, or keeps the newest of its
// key until there is one (§3.5 A4).
func (l *live) push(key string, msg []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.streams); n > 0 {
		l.streams[n-1].offer(msg)
		return
	}
	l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return p.key == key })
	if len(l.pending) == maxPending {
		l.pending = slices.Delete(l.pending, 0, 1)
	}
	l.pending = append(l.pending, pending{key, msg})
}
