package legacy

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// maxPongs is how many pings of the server are being answered at a time; more
// are ignored, as they may be.
const maxPongs = 4

// session implements [port.Session].
type session struct {
	c      *Client
	hello  port.Hello
	lastID atomic.Int64
	// auth is the credential that the server has accepted last.
	auth atomic.Pointer[string]

	// ticket, about and early are written by the handshake and only read after.
	ticket port.Ticket
	about  wire.Value
	// early are the messages that came before the session was open.
	early     []jsonrpc.Message
	earlySize int
	// opening is set during the handshake.
	opening bool

	// ctx ends with Close, streaming also when the session is lost.
	ctx       context.Context
	cancel    context.CancelCauseFunc
	streaming context.Context
	silence   context.CancelCauseFunc
	standing  *standing
	lost      chan struct{}
	losing    sync.Once
	closing   sync.Once

	// inbox holds one value while hello.OnMessage runs.
	inbox chan struct{}
	pongs chan struct{}

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

var _ port.Session = (*session)(nil)

func (c *Client) newSession(hello port.Hello) *session {
	s := &session{
		c: c, hello: hello,
		standing: newStanding(), lost: make(chan struct{}), pongs: make(chan struct{}, maxPongs), inbox: make(chan struct{}, 1),
	}
	s.auth.Store(&hello.Authorization)
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.streaming, s.silence = context.WithCancelCause(s.ctx)
	return s
}

// Ticket implements [port.Session].
func (s *session) Ticket() port.Ticket { return s.ticket }

// About implements [port.Session].
func (s *session) About() wire.Value { return s.about }

// Lost implements [port.Session].
func (s *session) Lost() <-chan struct{} { return s.lost }

// gone reports whether the session is lost or closed.
func (s *session) gone() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// lose notes that the server has forgotten the session. What is under way goes
// on: its connection may still bring an answer.
func (s *session) lose() {
	s.losing.Do(func() { close(s.lost) })
	s.silence(port.ErrSessionLost)
}

// Close implements [port.Session]. Requests under way fail. A session that the
// server has given no id, or has forgotten, needs no end there, and gets none when
// ctx has ended already; refusals of the DELETE are ignored (B-U5).
func (s *session) Close(ctx context.Context) {
	s.closing.Do(func() {
		known := s.ticket.ID != "" && !s.gone()
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.lose()
		s.cancel(transport.ErrClosed)
		if known && ctx.Err() == nil {
			s.delete(ctx)
		}
		s.work.Wait()
	})
}

func (s *session) delete(ctx context.Context) {
	x := s.exchange(ctx, "DELETE", s.c.times.Accept)
	_ = x.Send(http.MethodDelete, s.header(http.MethodDelete, ""), nil)
	x.Close()
}

// spawn runs f as a part of the session, unless that has been closed.
func (s *session) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(f)
	return true
}

// join derives a context that also ends when the session is closed.
func (s *session) join(ctx context.Context) (context.Context, context.CancelFunc) {
	joined, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(s.ctx, func() { cancel(transport.ErrClosed) })
	return joined, func() {
		detach()
		cancel(nil)
	}
}

// deliver hands a message on that belongs to no request. A fault of whoever takes it
// costs this message and no other.
func (s *session) deliver(msg jsonrpc.Message) {
	if s.hello.OnMessage == nil {
		return
	}
	s.inbox <- struct{}{}
	defer func() {
		<-s.inbox
		if fault := recover(); fault != nil {
			port.LogFault(s.ctx, s.c.server.Log, fault)
		}
	}()
	s.hello.OnMessage(msg)
}
