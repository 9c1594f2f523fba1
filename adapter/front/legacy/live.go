package legacy

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// live is what this process holds of a session: open streams, requests in
// flight, and messages that wait for a stream. All of it may be lost.
type live struct {
	f       *Face
	address string
	// principal is that of its record: empty for a session that is its own.
	principal string
	unused    *list.Element // where it stands among those; guarded by the face's lock
	nonce     string        // begins the ids of its streams

	mu       sync.Mutex
	ended    error              // why it has ended; nil while it lives
	used     time.Time          // the last sign of life
	streams  map[string]*stream // those that a client can come back to, by id
	own      []*stream          // open streams of the session itself, oldest first
	lost     []*stream          // those that wait for their client, oldest first
	kept     int                // bytes that all streams keep
	named    int64              // streams
	pending  []pending          // what no stream was open for
	inflight map[jsonrpc.ID]flight
	attached bool
	backend  string
	owner    port.Caller // of the session's tasks, if that is the session itself
	whose    string      // the principal of the session; empty if it is its own
	detach   func()      // ends the attachment to the backend's changes
	stop     func() bool // stops the next beat

	// over is closed once the session is not this process's any more.
	over chan struct{}
	// tied is set where the crossing has a session of its own for this one, so
	// that nothing is translated.
	tied atomic.Bool

	ids    sync.Mutex
	nextID int64 // the request id minted last
}

// nonceMark ends the nonce in the id of a stream. A nonce is sealed: it tells any process
// whose streams they are, and clients can neither read nor make one.
const (
	nonceMark    = "."
	purposeNonce = "streams of a session"
)

// maker is the process that has the stream of an event, if that is of this very session;
// else "".
func (f *Face) maker(s *session, place string) string {
	nonce, _, found := strings.Cut(place, nonceMark)
	if !found || len(place) > maxPlaceSize {
		return ""
	}
	process, err := f.Keys.Open(purposeNonce+" "+s.key, nonce)
	if err != nil {
		return ""
	}
	return string(process)
}

// maxInflight bounds the requests that a session has in flight, those included
// that go on without their client (A-L18).
const maxInflight = 1000

// flight is a request in flight.
type flight struct {
	cancel context.CancelCauseFunc
	// wait is set for requests that only wait: they can be repeated at any time.
	wait bool
}

var (
	errClosing   = jsonrpc.NewError(jsonrpc.CodeInternal, "the bridge is shutting down")
	errEnded     = jsonrpc.NewError(jsonrpc.CodeInternal, "the session has ended")
	errBusyID    = jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: id: a request with this id is in flight")
	errCrowded   = jsonrpc.NewError(jsonrpc.CodeInternal, "too many requests in flight; try again later")
	errBusy      = jsonrpc.NewError(jsonrpc.CodeInternal, "too many requests at once; try again later")
	errCancelled = errors.New("cancelled by the client")
	errFull      = errors.New("too many sessions or streams")
)

// enter returns what this process holds of a session. If it held nothing, it
// counts the session and says so.
func (f *Face) enter(key, address, principal string) (l *live, fresh bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, errClosing
	}
	if l := f.live[key]; l != nil {
		l.use(f.Env.Now())
		return l, false, nil
	}
	nonce, err := f.Keys.Seal(purposeNonce+" "+key, []byte(f.Peers.ID()))
	if err != nil {
		return nil, false, err
	}
	f.makeRoom()
	if !f.holders.Enter(principal) {
		return nil, false, errFull
	}
	if !f.addresses.Enter(address) {
		f.holders.Leave(principal)
		return nil, false, errFull
	}
	l = &live{
		f: f, address: address, principal: principal, nonce: nonce, inflight: make(map[jsonrpc.ID]flight), used: f.Env.Now(),
		over: make(chan struct{}),
	}
	l.stop = f.Env.AfterFunc(f.beatTime(), func() { f.beat(key, l) })
	f.live[key] = l
	return l, true, nil
}

// beatTime is the time between two looks at a session.
func (f *Face) beatTime() time.Duration { return f.Times.SessionIdle / 4 }

// beat looks after a session: one with anything open stays alive in the store
// (A-L12), one that is gone from there is forgotten here.
func (f *Face) beat(key string, l *live) {
	now := f.Env.Now()
	f.mu.Lock()
	if f.live[key] != l {
		f.mu.Unlock()
		return
	}
	l.mu.Lock()
	busy := l.gets(nil)+len(l.inflight) > 0
	if busy {
		l.used = now
	}
	idle := now.Sub(l.used) > f.lifetime()
	if idle {
		f.drop(key, l)
	} else {
		l.stop = f.Env.AfterFunc(f.beatTime(), func() { f.beat(key, l) })
	}
	l.mu.Unlock()
	f.mu.Unlock()
	switch {
	case idle:
		l.end(errEnded)
		f.spawn(func() { f.expired(key, l) })
	case busy:
		f.spawn(func() { f.keep(key, l) })
	}
}

// keep writes that a session is in use, and ends it here if it has ended
// elsewhere.
func (f *Face) keep(key string, l *live) {
	l.mu.Lock()
	s := &session{key: key, principal: l.whose}
	l.mu.Unlock()
	err := f.read(f.ctx, s)
	if err == nil {
		err = f.update(f.ctx, s, f.seen(s))
	}
	switch {
	case errors.Is(err, errUnknownSession):
		f.end(key)
	case err == nil && s.Home != f.Peers.ID():
		f.yield(key)
	case err != nil && f.ctx.Err() == nil:
		f.Logger.WarnContext(f.ctx, "session not kept alive", "error", err)
	}
}

// expired ends what belongs to a session alone once its record is gone: nobody
// can ask for its tasks any more (A-H3). Another process may have kept it alive.
func (f *Face) expired(key string, l *live) {
	l.mu.Lock()
	backend, owner := l.backend, l.owner
	l.mu.Unlock()
	if owner.Session == "" || !errors.Is(f.read(f.ctx, &session{key: key}), errUnknownSession) {
		return
	}
	f.Crossing.EndSession(f.ctx, backend, owner)
}

// drop forgets a session; the face's lock is held.
func (f *Face) drop(key string, l *live) {
	delete(f.live, key)
	f.isUsed(l)
	f.addresses.Leave(l.address)
	f.holders.Leave(l.principal)
}

// end ends everything of a session in this process.
func (f *Face) end(key string) {
	f.mu.Lock()
	l := f.live[key]
	if l != nil {
		f.drop(key, l)
	}
	f.mu.Unlock()
	if l != nil {
		l.end(errEnded)
	}
}

// yield gives up what belongs to a session itself: another process is its home by now.
// What was begun here ends here.
func (f *Face) yield(key string) {
	f.mu.Lock()
	l := f.live[key]
	f.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	for _, st := range slices.Clone(l.own) {
		st.retire(false)
	}
	detach := l.detach
	l.pending, l.detach, l.attached = nil, nil, false
	l.mu.Unlock()
	if detach != nil {
		detach()
	}
}

// belongs notes whose a session is, and whose end the crossing has to be told of: that
// of a session that owns its tasks, with the credential it uses by now, and of one that
// the crossing keeps something with.
func (l *live) belongs(s *session, authorization string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.whose = s.principal
	if !s.alone() {
		return
	}
	l.tied.Store(s.Kept != "")
	l.backend, l.owner = s.Backend, s.caller(authorization)
}

func (l *live) use(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = now
}

// end cancels everything with this cause. It must not be called with the face's
// lock held.
func (l *live) end(cause error) {
	l.mu.Lock()
	if l.ended == nil {
		close(l.over)
	}
	l.ended = cause
	l.stop()
	for _, fl := range l.inflight {
		fl.cancel(cause)
	}
	for _, st := range slices.Concat(l.own, l.lost) {
		st.retire(false)
	}
	l.pending = nil
	detach := l.detach
	l.detach = nil
	l.mu.Unlock()
	if detach != nil {
		detach()
	}
}

// drain ends the streams and the waits.
func (l *live) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, st := range slices.Clone(l.own) {
		for _, p := range st.part() {
			l.keep(p)
		}
	}
	for _, fl := range l.inflight {
		if fl.wait {
			fl.cancel(errClosing)
		}
	}
}

// begin registers a request in flight, so that it can be cancelled. The session's
// lock is held.
func (f *Face) begin(l *live, x *exchange) error {
	switch _, busy := l.inflight[x.msg.ID]; {
	case l.ended != nil:
		return l.ended
	case busy:
		return errBusyID
	case len(l.inflight) >= maxInflight:
		return errCrowded
	case x.rule.wait && f.draining.Load():
		return errClosing
	case !f.calls.Enter(l.address):
		return errBusy
	}
	l.inflight[x.msg.ID] = flight{x.cancel, x.rule.wait}
	return nil
}

func (l *live) done(id jsonrpc.ID, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.inflight, id)
	l.f.calls.Leave(l.address)
	l.used = now
}

// cancelRequest serves notifications/cancelled (§1.7). Unknown and finished ids
// are ignored; the id's type counts.
func (l *live) cancelRequest(id jsonrpc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fl, flying := l.inflight[id]; flying {
		fl.cancel(errCancelled)
	}
}

// attach connects the session to the changes of its backend, once. It stays
// connected while no stream is open, so that a client that reconnects has
// missed nothing but repetitions.
func (f *Face) attach(l *live, s *session, authorization string) {
	l.mu.Lock()
	first := !l.attached && l.ended == nil
	l.attached = true
	l.mu.Unlock()
	if !first {
		return
	}
	detach := f.Crossing.Attach(port.Subscriber{
		Backend: s.Backend, Caller: s.caller(authorization), Resources: s.Resources, Push: l.push, Tie: f.tie(l, s),
	})
	l.mu.Lock()
	ended := l.ended != nil
	if !ended {
		l.detach = detach
	}
	l.mu.Unlock()
	if ended {
		detach()
	}
}
