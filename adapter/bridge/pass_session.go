package bridge

import (
	"context"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// passed is a session of a client and the backend's one that belongs to it. All of
// it but the ticket may be lost.
type passed struct {
	p *PassLegacy
	b *SessionBackend
	// caller is the client as it was when the session was found here: its tasks are
	// the same caller's for the session's whole life.
	caller port.Caller
	push   func(key string, msg []byte)
	// ready is closed once session is set, or will never be.
	ready   chan struct{}
	session port.Session

	mu     sync.Mutex
	closed bool
	// calls are the client's requests, by its ids.
	calls map[jsonrpc.ID]*passedCall
	// down are the client's progress tokens by the bridge's, up the backend's.
	down, up tokens
	asked    asked
	unowned  unowned
	refusing int // requests of the backend that are being refused
}

func (p *PassLegacy) newPassed(b *SessionBackend, caller port.Caller, push func(key string, msg []byte)) *passed {
	return &passed{
		p: p, b: b, caller: caller, push: push, ready: make(chan struct{}), calls: make(map[jsonrpc.ID]*passedCall),
		down: newTokens(), up: newTokens(), asked: newAsked(), unowned: newUnowned(),
	}
}

// begin makes an open session known.
func (p *PassLegacy) begin(s *passed, session port.Session, tie *port.Tie) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return port.ErrDraining
	}
	p.start(s, session, tie)
	return nil
}

// start is begin with the lock held.
func (p *PassLegacy) start(s *passed, session port.Session, tie *port.Tie) {
	s.session = session
	close(s.ready)
	p.sessions[s.caller.Session] = s
	p.work.Go(func() { s.watch(tie) })
}

// session finds the session of a caller here, or goes on with the one that another
// process had.
func (p *PassLegacy) session(ctx context.Context, backend string, caller port.Caller, push func(string, []byte), tie *port.Tie) (*passed, error) {
	b, err := p.backend(backend)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, port.ErrDraining
	}
	if s := p.sessions[caller.Session]; s != nil {
		return s, nil
	}
	ticket, ok := p.openTicket(backend, caller)
	if !ok {
		return nil, port.ErrSessionLost
	}
	p.renew(backend, caller, ticket, tie)
	s := p.newPassed(b, caller, push)
	p.start(s, b.Back.Resume(ctx, ticket, port.Hello{
		ClientInfo: caller.ClientInfo, Capabilities: caller.Capabilities,
		Authorization: b.Authorization(caller), OnMessage: s.standing,
	}), tie)
	return s, nil
}

// watch ends one session with the other.
func (s *passed) watch(tie *port.Tie) {
	select {
	case <-tie.Over:
	case <-s.session.Lost():
		if !s.over() {
			tie.Lose()
		}
	}
	s.p.drop(s)
}

func (s *passed) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// drop lets go of a session here. At the backend it lives on.
func (p *PassLegacy) drop(s *passed) {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	p.mu.Lock()
	if p.sessions[s.caller.Session] == s {
		delete(p.sessions, s.caller.Session)
	}
	p.mu.Unlock()
	if !first {
		return
	}
	s.session.Close(p.over)
}

// standing takes what the backend says outside of exchanges.
func (s *passed) standing(msg jsonrpc.Message) {
	<-s.ready
	if s.session != nil {
		s.heard(context.Background(), msg, nil)
	}
}

// deliver sends a message to the client: on the stream where it belongs, or, where
// that takes none or is gone, on one of the session's own, now or when there is one.
func (s *passed) deliver(stream port.Stream, key string, msg []byte) {
	if stream == nil || !stream.Asks() || stream.Send(msg) != nil {
		s.push(key, msg)
	}
}
