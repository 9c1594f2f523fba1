package adapter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/leak"
	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/adapter/watch"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Options are what a [Bridge] needs beside its configuration.
type Options struct {
	// Logger gets the log; nil drops it. Payloads and credentials never reach it.
	Logger *slog.Logger
	// Env is the clock and the randomness; nil is the system's.
	Env env.Env
	// Ready is called once every listener is open. May be nil.
	Ready func(Ready)
	// Listen opens the listeners of [Bridge.Run], with network "tcp"; nil opens
	// them on the system's network.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Store is used instead of the one that is configured, unless nil. Other bridges
	// may use it at the same time, if they have the same secrets. It stays open.
	Store state.Store
	// Dial connects to backends, with network "tcp"; nil uses the system's
	// network, and a proxy where the environment names one.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Ready says where a running bridge is reached.
type Ready struct {
	Routes []Route
	// Admin is the address of the admin listener, or empty when it is off.
	Admin string
}

// Route is one URL that clients use.
type Route struct {
	// Face is "legacy" or "modern".
	Face string
	// URL is the endpoint.
	URL string
	// Backend is the name of the backend behind it, Target its URL; a built-in
	// server has none.
	Backend, Target string
}

// Bridge is a complete bridge. It is closed by Run, or by Close if it never ran.
type Bridge struct {
	cfg    *config.Config
	logger *slog.Logger
	env    env.Env
	ready  func(Ready)
	listen func(ctx context.Context, network, address string) (net.Listener, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)

	budget *edge.Budget // of the bytes of messages
	access access
	store  state.Store
	owned  bool // the store is closed with the bridge
	shared bool // others may use the store at the same time
	peers  *replica.Replica
	tasks  *task.Manager
	watch  *watch.Watcher
	lot    *park.Lot
	pump   *pump.Manager
	down   *bridge.Downgrade
	prover *prover
	proven []*bridge.Proven
	pass   *bridge.PassLegacy
	pools  []*pool.Pool
	legacy *legacy.Face
	modern *modern.Face
	stops  []func() // of built-in servers and of clients
}

// New builds a bridge. The error says what cannot be opened; a store that
// another process holds is [ErrLocked].
func New(ctx context.Context, cfg *config.Config, o Options) (*Bridge, error) {
	b := &Bridge{cfg: cfg, logger: o.Logger, env: o.Env, ready: o.Ready, listen: o.Listen, dial: o.Dial}
	b.budget = edge.NewBudget(cfg.Limits.InflightBytes, max(cfg.Limits.Body, cfg.Limits.Result))
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	if b.env == nil {
		b.env = env.System()
	}
	if b.ready == nil {
		b.ready = func(Ready) {}
	}
	if b.listen == nil {
		b.listen = new(net.ListenConfig).Listen
	}
	keys, err := b.openState(ctx, o.Store)
	if err != nil {
		return nil, err
	}
	if b.peers, err = replica.New(ctx, replica.Options{Store: b.store, Keys: keys, Env: b.env, Logger: b.logger, Shared: b.shared}); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), b.Close(context.WithoutCancel(ctx)))
	}
	if err := b.build(keys); err != nil { //nolint:contextcheck // what is built outlives this call
		return nil, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	return b, nil
}

// build connects the parts.
func (b *Bridge) build(keys *seal.Keys) error {
	backends, err := b.backends()
	if err != nil {
		return err
	}
	b.buildAccess(backends)
	b.prover = b.newProver(backends)
	if err := errors.Join(b.buildLegacy(keys, backends), b.buildModern(keys, backends)); err != nil {
		return err
	}
	faces := b.faces()
	for _, face := range faces {
		face.public = b.publicURL(nil)
	}
	b.servePeers(faces)
	return nil
}

// servePeers serves what other processes pass on. Host and Origin were checked there.
func (b *Bridge) servePeers(faces []*face) {
	engine := newEngine()
	for _, f := range faces {
		f.routes(engine)
	}
	b.peers.Serve(engine)
}

// buildLegacy connects the parts behind the legacy face. Tasks and subscriptions
// reach the backends through the crossing, and the crossing creates tasks and
// subscriptions.
func (b *Bridge) buildLegacy(keys *seal.Keys, backends []*backend) error {
	clients := make([]*bridge.Backend, len(backends))
	for i, be := range backends {
		var err error
		if clients[i], err = b.modernBackend(be, leak.Modern(b.logger)); err != nil {
			return fmt.Errorf("backend %s: %w", be.cfg.Name, err)
		}
	}
	modern, err := bridge.NewModern(b.logger, b.env, clients)
	if err != nil {
		return fmt.Errorf("backends: %w", err)
	}
	b.prover.modern = modern
	desk, err := ask.NewDesk(b.env, b.peers)
	if err != nil {
		return fmt.Errorf("questions: %w", err)
	}
	hub := newHub()
	var upgrade *bridge.Upgrade
	b.tasks, err = task.New(task.Options{
		Store: b.store, Process: b.peers, Keys: keys, Env: b.env, Logger: b.logger,
		Backend: modern, Dialect: modern.Dialect, Times: taskTimes(b.cfg.Times), Desk: desk,
		Resume: func(ctx context.Context, backend string, caller port.Caller, call task.Resumption) task.Ending {
			return upgrade.Resume(ctx, backend, caller, call)
		},
		OnStatus: hub.status, Listens: hub.listens,
		OnTask: func(backend string, caller port.Caller, taskID string, live bool) {
			b.watch.Track(backend, caller, taskID, live)
		},
	})
	if err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	b.watch = watch.New(watch.Options{
		Source: modern, Env: b.env, Logger: b.logger, Credential: modern.Credential,
		OnTask: func(ctx context.Context, backend string, caller port.Caller, taskID string, doc wire.Value) {
			b.tasks.Observe(ctx, backend, caller, taskID, doc)
		},
	})
	upgrade, err = bridge.NewUpgrade(bridge.UpgradeOptions{
		Modern: modern, Tasks: b.tasks, Watch: b.watch, Desk: desk, Env: b.env,
		Times: bridge.Times{Answer: b.cfg.Times.Answer, CallTotal: b.cfg.Times.CallTotal},
	})
	if err != nil {
		return fmt.Errorf("crossing: %w", err)
	}
	b.pass, err = b.passLegacy(keys, backends)
	if err != nil {
		return fmt.Errorf("crossing within an era: %w", err)
	}
	b.legacy = legacy.New(legacy.Options{
		Crossing: &ownCredentials{closed: b.closed(), Crossing: bridge.NewEras(bridge.ErasOptions{
			OwnEra: ownEra(backends, probe.Legacy), Own: b.pass, Across: b.guarded(hub.wrap(upgrade, b.tasks.Owners)),
		})},
		Store: b.store, Peers: b.peers, Keys: keys, Env: b.env, Logger: b.logger, Prove: b.prover.Require,
		Filter: leak.Legacy(b.logger).Apply, OwnEra: leak.LegacyOwn(b.logger).Apply,
		Budget: b.budget, Proxies: b.cfg.TrustedProxies,
		Limits: legacy.Limits{
			Body: b.cfg.Limits.Body, Kept: b.cfg.Limits.InflightBytes / keptShare, Sessions: b.cfg.Limits.Sessions,
			Requests: maxRequests, RequestsPerAddress: maxRequestsOfOne,
			SessionsPerAddress: b.cfg.Limits.SessionsPerAddress, StreamsPerSession: b.cfg.Limits.StreamsPerSession,
		},
		Times: legacy.Times{SessionIdle: b.cfg.Times.SessionIdle, ReplayWindow: b.cfg.Times.ReplayWindow},
	})
	return nil
}

// guarded keeps what the bridge holds from whom it was not proven to belong to.
func (b *Bridge) guarded(c port.Crossing) *bridge.Proven {
	p := bridge.NewProven(c, b.prover)
	b.proven = append(b.proven, p)
	return p
}

// The waits of parked calls that are nobody's to choose (B-P1, B-P4).
const (
	parkWindow = 50 * time.Millisecond
	parkKeep   = time.Minute
)

const (
	// maxRequests bounds the requests that a face handles at a time, maxRequestsOfOne
	// those of one caller.
	maxRequests      = 10000
	maxRequestsOfOne = 2000
	// keptShare is the part of limits.inflight_bytes that the streams of sessions keep
	// beside it, for clients that may come back.
	keptShare = 4
)

// buildModern connects the parts behind the modern face.
func (b *Bridge) buildModern(keys *seal.Keys, backends []*backend) error {
	b.lot = park.NewLot(b.env, keys, b.peers.ID(), park.Times{Window: parkWindow, Park: b.cfg.Times.Park, Keep: parkKeep})
	clients := make([]*bridge.LegacyBackend, len(backends))
	for i, be := range backends {
		clients[i] = b.legacyBackend(be, func(h bridge.Heard) { b.down.Hear(h) })
	}
	rounds, err := park.NewRounds(b.store, b.env, keys, b.peers.ID(), parkKeep)
	if err != nil {
		return fmt.Errorf("rounds: %w", err)
	}
	b.pump, err = pump.New(pump.Options{
		Store: b.store, Process: b.peers, Keys: keys, Env: b.env, Logger: b.logger, Owners: b.tasks.Owners,
		Sessions: bridge.NewLender(clients, b.tasks.Owners), Dialect: bridge.LegacyTasks{}, Times: pumpTimes(b.cfg.Times),
	})
	if err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	b.down, err = bridge.NewDowngrade(bridge.DowngradeOptions{
		Backends: clients, Lot: b.lot, Rounds: rounds, Tasks: b.pump, Env: b.env, Logger: b.logger, Owners: b.tasks.Owners,
		Times: bridge.Times{Answer: b.cfg.Times.Answer, CallTotal: b.cfg.Times.CallTotal},
	})
	if err != nil {
		return fmt.Errorf("crossing: %w", err)
	}
	pass, err := b.passModern(keys, backends)
	if err != nil {
		return fmt.Errorf("crossing within an era: %w", err)
	}
	across := b.guarded(b.down)
	eras := bridge.NewEras(bridge.ErasOptions{
		OwnEra: ownEra(backends, probe.Modern), Own: pass, Across: across, OwnParams: pass, AcrossParams: across,
	})
	b.modern = modern.New(modern.Options{
		Crossing: &ownCredentials{eras, b.closed()}, Params: &ownParams{eras, b.closed()}, Peers: b.peers, Env: b.env, Logger: b.logger,
		Filter: leak.Modern(b.logger).Apply, OwnEra: leak.ModernOwn(b.logger).Apply,
		Budget: b.budget, Proxies: b.cfg.TrustedProxies,
		Limits: modern.Limits{
			Body: b.cfg.Limits.Body, Requests: maxRequests, RequestsPerCaller: maxRequestsOfOne,
			StreamsPerCaller: b.cfg.Limits.StreamsPerSession,
		},
	})
	return nil
}

// pollDefault and pollCeiling bound polls where the backend says nothing, or
// something absurd (A-R2).
const (
	pollDefault = time.Second
	pollCeiling = 30 * time.Second
)

func taskTimes(t config.Times) task.Times {
	return task.Times{
		PollFloor: t.PollFloor, PollDefault: pollDefault, PollCeiling: pollCeiling, HostedPoll: t.HostedPoll,
		ZeroTTL: t.MinTTL, MaxTTL: t.MaxTTL, ListRetention: t.ListRetention, CallTotal: t.CallTotal,
	}
}

func pumpTimes(t config.Times) pump.Times {
	return pump.Times{
		PollFloor: t.PollFloor, PollDefault: pollDefault, PollCeiling: pollCeiling, HostedPoll: t.HostedPoll,
		MinTTL: t.MinTTL, MaxTTL: t.MaxTTL, Retention: t.ListRetention,
	}
}

// Register adds the routes of both faces to an engine, behind the checks of Host
// and Origin, and their metadata, if auth.public_url says where they are.
func (b *Bridge) Register(routes gin.IRouter) {
	for _, face := range b.faces() {
		face.public = b.publicURL(nil)
		face.routes(routes.Group("", b.guard(face).Check))
	}
}

// Close ends everything that New has started, hosted calls included. It returns
// when nothing of the bridge runs any more or ctx is done.
func (b *Bridge) Close(ctx context.Context) error {
	var errs []error
	if b.legacy != nil {
		errs = append(errs, b.legacy.Close(ctx))
	}
	if b.modern != nil {
		errs = append(errs, b.modern.Close(ctx))
	}
	for _, p := range b.proven {
		errs = append(errs, p.Close(ctx))
	}
	if b.pump != nil {
		errs = append(errs, b.pump.Close(ctx))
	}
	if b.lot != nil {
		errs = append(errs, b.lot.Close(ctx))
	}
	if b.down != nil {
		errs = append(errs, b.down.Close(ctx))
	}
	for _, p := range b.pools {
		p.Close(ctx)
	}
	if b.pass != nil {
		errs = append(errs, b.pass.Close(ctx))
	}
	if b.watch != nil {
		errs = append(errs, b.watch.Close(ctx))
	}
	if b.tasks != nil {
		errs = append(errs, b.tasks.Close(ctx))
	}
	for _, stop := range b.stops {
		stop()
	}
	b.stops = nil
	if b.peers != nil {
		errs = append(errs, b.peers.Close(ctx)) // only now: until its calls have ended the process lives
	}
	if b.store != nil && b.owned {
		errs = append(errs, b.store.Close())
	}
	return errors.Join(errs...)
}
