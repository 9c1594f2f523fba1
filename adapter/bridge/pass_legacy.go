package bridge

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// SessionBackend is a legacy backend with a session for each of its clients.
type SessionBackend struct {
	// Name is the {backend} of the routes.
	Name string
	// Back opens the sessions. It must filter as between peers of one era.
	Back port.SessionBack
	// Authorization is the Authorization header that a caller's requests carry.
	Authorization func(caller port.Caller) string
	// Contradict says that the backend has refused to shake hands (G-13).
	Contradict func()
}

// PassLegacyOptions are what a [PassLegacy] works with; all members are required.
type PassLegacyOptions struct {
	Backends []*SessionBackend
	Handles  *handle.Book
	Keys     *seal.Keys
	Env      env.Env
	Logger   *slog.Logger
}

// PassLegacy serves clients of the legacy face in front of legacy backends (§4.27):
// for each session of a client there is one at the backend, opened with what the
// client says of itself, and lost and ended with it. What it takes to go on with the
// backend's session is kept, sealed, with the client's, so that any process can. It
// is safe for concurrent use. Close must be called.
type PassLegacy struct {
	o        PassLegacyOptions
	backends map[string]*SessionBackend
	tokens   atomic.Int64 // progress tokens of both directions, unique for all sessions (G-9)

	mu       sync.Mutex
	closed   bool
	sessions map[string]*passed // by the client's session
	work     sync.WaitGroup
	// over has ended: what is closed with it is let go without a word.
	over context.Context
}

var _ port.Crossing = (*PassLegacy)(nil)

// NewPassLegacy returns the crossing.
func NewPassLegacy(o PassLegacyOptions) *PassLegacy {
	p := &PassLegacy{o: o, backends: make(map[string]*SessionBackend, len(o.Backends)), sessions: make(map[string]*passed)}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	p.over = over
	for _, b := range o.Backends {
		p.backends[b.Name] = b
	}
	return p
}

func (p *PassLegacy) backend(name string) (*SessionBackend, error) {
	if b := p.backends[name]; b != nil {
		return b, nil
	}
	return nil, errNoBackend
}

// Request implements [port.Crossing].
func (p *PassLegacy) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	x.OwnEra = true
	b, err := p.backend(x.Backend)
	if err != nil {
		return port.Fail(err)
	}
	switch {
	case x.Message.Method == legacy2025.MethodInitialize:
		return p.initialize(ctx, b, x)
	case isModernOnly(x.Message.Method):
		return port.Fail(errMethod)
	}
	s, err := p.session(ctx, x.Backend, x.Caller, x.Push, x.Tie)
	if err != nil {
		return port.Fail(err)
	}
	return s.request(ctx, x)
}

// Notification implements [port.Crossing].
func (p *PassLegacy) Notification(ctx context.Context, x *port.Exchange) {
	if isModernOnly(x.Message.Method) {
		return
	}
	s, err := p.session(ctx, x.Backend, x.Caller, x.Push, x.Tie)
	if err == nil {
		err = s.notify(ctx, x)
	}
	switch {
	case err == nil:
	case errors.Is(err, port.ErrSessionLost):
		x.Tie.Lose()
	default:
		p.o.Logger.InfoContext(ctx, "notification not passed on", "backend", x.Backend, "method", x.Message.Method, "error", port.Reason(err))
	}
}

// Answer implements [port.Crossing].
func (p *PassLegacy) Answer(ctx context.Context, x *port.Exchange) error {
	s, err := p.session(ctx, x.Backend, x.Caller, x.Push, x.Tie)
	if err != nil {
		return err
	}
	return s.answer(ctx, x)
}

// Attach implements [port.Crossing]. The backend's session has its standing stream
// from the start; after a restart, from the first sign of its client.
func (p *PassLegacy) Attach(sub port.Subscriber) func() {
	if _, err := p.session(context.Background(), sub.Backend, sub.Caller, sub.Push, sub.Tie); errors.Is(err, port.ErrSessionLost) {
		sub.Tie.Lose()
	}
	return func() {}
}

// Show shows a caller's credential to its backend: with a ping on the session that the
// caller has there, if this process has it. It reports whether it does.
func (p *PassLegacy) Show(ctx context.Context, caller port.Caller) (shown bool, err error) {
	p.mu.Lock()
	s := p.sessions[caller.Session]
	p.mu.Unlock()
	if s == nil {
		return false, nil
	}
	_, err = s.session.Do(ctx, port.SessionCall{Method: legacy2025.MethodPing, Params: "{}", Authorization: s.b.Authorization(caller)})
	return true, err
}

// EndSession implements [port.Crossing]: the backend's session ends with the
// client's, and what becomes of its tasks is for the backend to say.
func (p *PassLegacy) EndSession(ctx context.Context, backend string, caller port.Caller) {
	p.mu.Lock()
	s := p.sessions[caller.Session]
	p.mu.Unlock()
	if s != nil {
		p.drop(s)
	}
	b, err := p.backend(backend)
	if err != nil {
		return
	}
	if ticket, ok := p.openTicket(b.Name, caller); ok {
		b.Back.End(ctx, ticket, port.Hello{Authorization: b.Authorization(caller)})
	}
}

// Close lets go of all sessions, which live on at their backends for the next
// process. It returns when nothing of them runs any more, or ctx is done.
func (p *PassLegacy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	all := make([]*passed, 0, len(p.sessions))
	for _, s := range p.sessions {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		p.drop(s)
	}
	return env.Join(ctx, &p.work)
}

// ticketPurpose binds what is kept to the client's session and its backend.
func ticketPurpose(backend string, caller port.Caller) string {
	return "session of a backend, " + backend + " " + caller.Session
}

func (p *PassLegacy) sealTicket(backend string, caller port.Caller, t port.Ticket) (string, error) {
	var f seal.Fields
	f.String(t.ID)
	f.String(t.Version)
	return p.o.Keys.Seal(ticketPurpose(backend, caller), f.Bytes())
}

// renew has a ticket kept under the newest secret: the session may outlive the one that it
// is under.
func (p *PassLegacy) renew(backend string, caller port.Caller, t port.Ticket, tie *port.Tie) {
	if p.o.Keys.Newest(caller.Kept) || tie.Renew == nil {
		return
	}
	if kept, err := p.sealTicket(backend, caller, t); err == nil {
		tie.Renew(kept)
	}
}

func (p *PassLegacy) openTicket(backend string, caller port.Caller) (port.Ticket, bool) {
	plain, err := p.o.Keys.Open(ticketPurpose(backend, caller), caller.Kept)
	if err != nil {
		return port.Ticket{}, false
	}
	f := seal.ReadFields(plain)
	t := port.Ticket{ID: f.String(), Version: f.String()}
	return t, f.Done() == nil
}

// told is the revision that a client is told: what the backend has chosen, or what
// the client has asked for if that is older, and one of those that it may have.
func told(asked, chosen string) string {
	version := min(asked, chosen)
	if !legacy2025.Supported(version) {
		versions := legacy2025.Versions()
		return versions[len(versions)-1]
	}
	return version
}

// initialize opens the backend's session with what the client has said.
func (p *PassLegacy) initialize(ctx context.Context, b *SessionBackend, x *port.Exchange) port.Outcome {
	params := replaced(x.Message.Params, to(""), "_meta", wire.MetaProgressToken)
	params = replaced(params, to(wire.String(x.Caller.Version)), "protocolVersion")
	s := p.newPassed(b, x.Caller, x.Push)
	session, err := b.Back.Open(ctx, port.Hello{
		ClientInfo: x.Caller.ClientInfo, Capabilities: x.Caller.Capabilities, Params: params,
		Authorization: b.Authorization(x.Caller), OnMessage: s.standing,
	})
	if err != nil {
		close(s.ready)
		if port.IsRefusal(err) {
			b.Contradict()
		}
		return port.Fail(err)
	}
	kept, err := p.sealTicket(b.Name, x.Caller, session.Ticket())
	if err == nil {
		x.Tie.Keep(kept)
		err = p.begin(s, session, x.Tie)
	}
	if err != nil {
		close(s.ready)
		session.Close(context.WithoutCancel(ctx))
		return port.Fail(err)
	}
	version := told(x.Caller.Version, session.Ticket().Version)
	return port.Outcome{Result: replaced(session.About(), to(wire.String(version)), "protocolVersion")}
}
