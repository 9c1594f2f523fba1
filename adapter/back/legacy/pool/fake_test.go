package pool_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// back is a server whose sessions are made by hand.
type back struct {
	mu sync.Mutex
	// takes is how long a handshake takes, and fails how it ends.
	takes time.Duration
	fails error
	// deaf handshakes do not end with their context.
	deaf bool
	// early makes every session speak before it is open.
	early    bool
	sessions []*session
	resumed  []port.Ticket
}

func (b *back) Open(ctx context.Context, hello port.Hello) (port.Session, error) {
	b.mu.Lock()
	takes, fails := b.takes, b.fails
	s := &session{b: b, hello: hello, ticket: port.Ticket{ID: fmt.Sprint(len(b.sessions) + 1)}, lost: make(chan struct{})}
	b.sessions = append(b.sessions, s)
	b.mu.Unlock()
	if b.early {
		go s.say("early")
	}
	if b.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if err := env.Sleep(ctx, env.System(), takes); err != nil {
		return nil, err
	}
	if fails != nil {
		return nil, fails
	}
	return s, nil
}

// set has every handshake from now on fail.
func (b *back) set(fails error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails = fails
}

func (b *back) Resume(_ context.Context, ticket port.Ticket, hello port.Hello) port.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &session{b: b, hello: hello, ticket: ticket, lost: make(chan struct{})}
	b.sessions = append(b.sessions, s)
	b.resumed = append(b.resumed, ticket)
	return s
}

// End implements [port.SessionBack]; a pool ends none that it has not.
func (b *back) End(context.Context, port.Ticket, port.Hello) {}

// session is a session of back.
type session struct {
	b      *back
	hello  port.Hello
	ticket port.Ticket
	lost   chan struct{}
	once   sync.Once
	// calls are the requests it got, deleted is set when it was closed with time
	// to tell the server, and left when without.
	calls         int
	deleted, left bool
}

func (s *session) Ticket() port.Ticket                              { return s.ticket }
func (s *session) About() wire.Value                                { return "" }
func (s *session) Notify(context.Context, string, wire.Value) error { return nil }
func (s *session) Respond(context.Context, []byte) error            { return nil }
func (s *session) Lost() <-chan struct{}                            { return s.lost }
func (s *session) lose()                                            { s.once.Do(func() { close(s.lost) }) }
func (s *session) say(method string)                                { s.hello.OnMessage(jsonrpc.Message{Method: method}) }

func (s *session) Do(context.Context, port.SessionCall) (wire.Value, error) {
	select {
	case <-s.lost:
		return "", fmt.Errorf("%w: it said so", port.ErrSessionLost)
	default:
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.calls++
	return wire.String(s.ticket.ID), nil
}

func (s *session) Close(ctx context.Context) {
	s.b.mu.Lock()
	if ctx.Err() == nil {
		s.deleted = true
	} else {
		s.left = true
	}
	s.b.mu.Unlock()
	s.lose()
}

// rig is a pool at a server of hand-made sessions.
type rig struct {
	*pool.Pool
	t    *testing.T
	back *back
	mu   sync.Mutex
	said []string
}

var (
	alice = pool.Key{Principal: "alice", Capabilities: "{}"}
	bob   = pool.Key{Principal: "bob", Capabilities: "{}"}
)

func bubble(t *testing.T, tune func(o *pool.Options, b *back), test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, back: &back{takes: time.Second}}
		o := pool.Options{Back: r.back, Env: env.System(), OnMessage: func(m *pool.Member, msg jsonrpc.Message) {
			r.mu.Lock()
			defer r.mu.Unlock()
			holder := ""
			if m.Holder() != nil {
				holder = " to its holder"
			}
			r.said = append(r.said, msg.Method+" by "+m.Key().Principal+" on "+m.Session().Ticket().ID+holder)
		}}
		if tune != nil {
			tune(&o, r.back)
		}
		r.Pool = pool.New(o)
		t.Cleanup(func() { r.Close(context.Background()) })
		test(t, r)
	})
}

func (r *rig) get(key pool.Key, mode pool.Mode) *pool.Lease {
	r.t.Helper()
	l, err := r.Get(r.t.Context(), key, port.Hello{}, mode)
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

// opened returns the sessions that were begun.
func (r *rig) opened() []*session {
	synctest.Wait()
	r.back.mu.Lock()
	defer r.back.mu.Unlock()
	return r.back.sessions
}

func (r *rig) want(opened int) {
	r.t.Helper()
	if got := len(r.opened()); got != opened {
		r.t.Errorf("%d sessions were opened, want %d", got, opened)
	}
}

// ended are the ids of the sessions that were ended at the server.
func (r *rig) ended() string {
	ids := ""
	for _, s := range r.opened() {
		r.back.mu.Lock()
		if s.deleted {
			ids += s.ticket.ID
		}
		r.back.mu.Unlock()
	}
	return ids
}

func (r *rig) wantEnded(want string) {
	r.t.Helper()
	if got := r.ended(); got != want {
		r.t.Errorf("sessions %q were ended, want %q", got, want)
	}
}

func id(l *pool.Lease) string { return l.Session().Ticket().ID }

var errRefused = errors.New("refused")

// nth is the n-th session that was begun, from 0.
func (b *back) nth(n int) *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[n]
}
