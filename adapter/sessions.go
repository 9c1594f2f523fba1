package adapter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/leak"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// sessionsPerCaller is how many sessions one caller may have at a backend: as many
// of its calls may wait for answers at a time.
const sessionsPerCaller = 100

// sessions are those at one backend of 2025-11-25, for callers of the modern face.
type sessions struct {
	*pool.Pool

	be   *backend
	env  env.Env
	hear func(bridge.Heard)

	mu sync.Mutex
	// hearers hear what is said to the holder of a session.
	hearers map[*pool.Lease]func(jsonrpc.Message)
	// info is who the backend has said last that it is. What else it says of itself may
	// be for the client only that it is said to.
	info wire.Value
}

// legacyBackend returns a backend as one of 2025-11-25. What it says outside of exchanges
// goes to hear.
func (b *Bridge) legacyBackend(be *backend, hear func(bridge.Heard)) *bridge.LegacyBackend {
	back := legacy.New(legacy.Options{
		URL: be.target, HTTP: be.http, Env: b.env, Logger: b.logger, Filter: leak.Legacy(b.logger).Apply,
		Limits: transport.Limits{Result: b.cfg.Limits.Result, Memory: b.budget},
		Times:  legacy.Times{Idle: b.cfg.Times.CallIdle, Total: b.cfg.Times.CallTotal},
	})
	s := &sessions{be: be, env: b.env, hear: hear, hearers: make(map[*pool.Lease]func(jsonrpc.Message))}
	s.Pool = pool.New(pool.Options{
		Back: back, Env: b.env, OnMessage: s.message, Total: b.cfg.Limits.Sessions, PerKey: sessionsPerCaller,
	})
	b.pools = append(b.pools, s.Pool)
	b.stops = append(b.stops, back.CloseIdle)
	c := be.cfg
	return &bridge.LegacyBackend{
		Name: c.Name, Lease: s.lease, Resume: s.resume, Authorization: be.authorization, Info: s.last,
		HostedTTL: c.HostedTTL, HostGrace: c.HostGrace, HostSlow: c.HostTasks == config.HostSlow, HostAuto: c.HostTasks == config.HostAuto,
		DriveRequired: c.RequiredTools == config.RequiredDrive,
	}
}

// message takes what a backend says outside of exchanges.
func (s *sessions) message(m *pool.Member, msg jsonrpc.Message) {
	s.hear(bridge.Heard{Backend: s.be.cfg.Name, Session: m.Session(), Message: msg, Holder: func() func(jsonrpc.Message) {
		holder := m.Holder()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.hearers[holder]
	}})
}

func (s *sessions) lease(ctx context.Context, o bridge.LeaseOptions) (bridge.Lease, error) {
	key, mode := pool.Key{Principal: o.Owner, Capabilities: fingerprint(o.Hello)}, pool.Shared
	switch {
	case !o.Exclusive:
	case o.Owner != "":
		mode = pool.Exclusive
	default:
		// A caller without a name shares no session on which it can be asked.
		id, err := env.NewID(s.env)
		if err != nil {
			return nil, err
		}
		key.Principal, mode = "anonymous "+id, pool.Single
	}
	return s.lend(ctx, o, func() (*pool.Lease, error) { return s.Get(ctx, key, o.Hello, mode) })
}

func (s *sessions) resume(ctx context.Context, place bridge.Place, o bridge.LeaseOptions) (bridge.Lease, error) {
	key := pool.Key{Principal: place.Owner, Capabilities: place.Capabilities}
	return s.lend(ctx, o, func() (*pool.Lease, error) { return s.Resume(ctx, key, place.Ticket, o.Hello) })
}

// lend lends a session, if the backend is of the era that has some. One that refuses
// to shake hands may have changed it.
func (s *sessions) lend(ctx context.Context, o bridge.LeaseOptions, get func() (*pool.Lease, error)) (bridge.Lease, error) {
	if err := s.be.era.Require(ctx, probe.Legacy, o.Hello.Authorization); err != nil {
		return nil, err
	}
	l, err := get()
	if err != nil {
		if port.IsRefusal(err) {
			s.be.era.Contradict()
		}
		return nil, err
	}
	lent := &lease{s: s, Lease: l}
	lent.remember()
	return lent, nil
}

// fingerprint names the clients that may share a session: what they have said of
// themselves is equal, byte for byte (B-U1).
func fingerprint(hello port.Hello) string {
	sum := sha256.New()
	for _, part := range []wire.Value{hello.ClientInfo, hello.Capabilities} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// lease implements [bridge.Lease].
type lease struct {
	*pool.Lease

	s *sessions
}

// remember keeps who the session's backend says it is.
func (l *lease) remember() {
	if info := l.About().Get("serverInfo"); info.Present() {
		l.s.mu.Lock()
		l.s.info = info
		l.s.mu.Unlock()
	}
}

func (l *lease) Ticket() port.Ticket { return l.Session().Ticket() }

// About is absent in a resumed session, also if other sessions know.
func (l *lease) About() wire.Value { return l.Session().About() }

// last is who the backend has said last that it is.
func (s *sessions) last() wire.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (l *lease) Notify(ctx context.Context, method string, params wire.Value) error {
	return l.Session().Notify(ctx, method, params)
}

func (l *lease) Respond(ctx context.Context, response []byte) error {
	return l.Session().Respond(ctx, response)
}

func (l *lease) Lost() <-chan struct{} { return l.Session().Lost() }

// Close gives the session back, which belongs to the pool.
func (l *lease) Close(context.Context) { l.Release() }

// Hear implements [bridge.Lease].
func (l *lease) Hear(hear func(jsonrpc.Message)) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.hearers[l.Lease] = hear
}

// Place implements [bridge.Lease].
func (l *lease) Place() bridge.Place {
	m := l.Member()
	return bridge.Place{Ticket: m.Session().Ticket(), Owner: m.Key().Principal, Capabilities: m.Key().Capabilities}
}

// Release implements [bridge.Lease].
func (l *lease) Release() {
	l.s.mu.Lock()
	delete(l.s.hearers, l.Lease)
	l.s.mu.Unlock()
	l.Lease.Release()
}
