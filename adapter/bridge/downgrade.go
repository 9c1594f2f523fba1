package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/adapter/listen"
	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// Downgrade is the crossing from the modern face to legacy backends (direction B).
// It is safe for concurrent use.
type Downgrade struct {
	backends map[string]*LegacyBackend
	lot      *park.Lot
	rounds   *park.Rounds
	tasks    *pump.Manager
	visits   *visits
	env      env.Env
	logger   *slog.Logger
	owners   func(port.Caller) []string
	times    Times
	tokens   atomic.Int64 // progress tokens, unique for all sessions (G-9)

	catalogue *catalogue[legacyTool]
	listens   *listen.Hub
	levels    *levels

	mu sync.Mutex
	// hearers are the requests that asked for progress, by their tokens.
	hearers map[wire.Value]*hearer
	held    map[port.Session][]*held
	// refusing counts the requests that are being refused.
	refusing map[port.Session]int
	// parked are the calls under way that can become tasks of the bridge.
	parked map[*park.Call]*parkable
	closed bool
	work   sync.WaitGroup
}

var (
	_ port.Crossing     = (*Downgrade)(nil)
	_ port.ParamChecker = (*Downgrade)(nil)
)

// NewDowngrade returns the crossing. Close must be called.
func NewDowngrade(o DowngradeOptions) (*Downgrade, error) {
	tools, err := newCatalogue[legacyTool](o.Env)
	if err != nil {
		return nil, err
	}
	visits, err := newVisits()
	if err != nil {
		return nil, err
	}
	d := &Downgrade{
		backends: make(map[string]*LegacyBackend, len(o.Backends)), lot: o.Lot, rounds: o.Rounds, tasks: o.Tasks, visits: visits, env: o.Env, logger: o.Logger, owners: o.Owners, times: o.Times,
		catalogue: tools, hearers: make(map[wire.Value]*hearer), held: make(map[port.Session][]*held), refusing: make(map[port.Session]int), parked: make(map[*park.Call]*parkable),
		listens: listen.New(listen.Options{Dialect: listenDialect{}, Env: o.Env, Logger: o.Logger, Tasks: o.Tasks}),
		levels:  newLevels(o.Env, o.Logger),
	}
	for _, b := range o.Backends {
		d.backends[b.Name] = b
	}
	return d, nil
}

// Close returns when nothing of the crossing runs any more outside its requests, or
// ctx is done.
func (d *Downgrade) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	for _, questions := range d.held {
		for _, q := range questions {
			q.stop()
		}
	}
	clear(d.held)
	d.mu.Unlock()
	return errors.Join(d.listens.Close(ctx), env.Join(ctx, &d.work))
}

// errUnserved is the answer to a method that this route does not have (§1.8).
var errUnserved = &port.StatusError{Status: http.StatusNotFound, Err: errMethod}

// Request implements [port.Crossing].
func (d *Downgrade) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	b := d.backends[x.Backend]
	if b == nil {
		return port.Fail(errNoBackend)
	}
	row, known := mapping.Lookup(x.Message.Method)
	switch {
	case known && (row.Notification || row.ToLegacy == mapping.Refused || row.Modern&mapping.FromClient == 0):
		return port.Fail(errUnserved)
	case x.Message.Method == ext2026.MethodServerDiscover:
		return d.discover(ctx, b, x)
	case x.Message.Method == ext2026.MethodTasksGet, x.Message.Method == ext2026.MethodTasksUpdate,
		x.Message.Method == ext2026.MethodTasksCancel:
		return d.task(ctx, x)
	case x.Message.Method == ext2026.MethodSubscriptionsListen:
		return d.listen(ctx, b, x)
	case ext2026.Asks(x.Message.Method):
		return d.call(ctx, b, x)
	default:
		return d.forward(ctx, b, x)
	}
}

// Notification implements [port.Crossing]. A modern client has none to send over
// HTTP (§1.7).
func (d *Downgrade) Notification(context.Context, *port.Exchange) {}

// Answer implements [port.Crossing]. A modern client is sent no requests (B-L2).
func (d *Downgrade) Answer(context.Context, *port.Exchange) error { return nil }

// Attach implements [port.Crossing]. A modern client has no session.
func (d *Downgrade) Attach(port.Subscriber) func() { return func() {} }

// EndSession implements [port.Crossing].
func (d *Downgrade) EndSession(context.Context, string, port.Caller) {}

// discover tells what the backend has said of itself (B-L4).
func (d *Downgrade) discover(ctx context.Context, b *LegacyBackend, x *port.Exchange) port.Outcome {
	lease, err := d.lease(ctx, b, x.Caller, false)
	if err != nil {
		return d.fail(x, err)
	}
	defer lease.Release()
	about, err := mapping.ReadUpInitialize(lease.About())
	if err != nil {
		return port.Fail(err)
	}
	out, _, err := mapping.AppendUpDiscover(nil, about, mapping.DiscoverOptions{HostTasks: b.HostSlow, CanListen: stands(ctx, lease.Session())})
	return done(out, err)
}

// forward passes a request on that a backend answers without asking anything.
func (d *Downgrade) forward(ctx context.Context, b *LegacyBackend, x *port.Exchange) port.Outcome {
	lease, err := d.lease(ctx, b, x.Caller, false)
	if err != nil {
		return d.fail(x, err)
	}
	defer lease.Release()
	if lacks(lease.About(), x.Message.Method) {
		return port.Fail(errUnserved)
	}
	h := d.hearer(b, x, lease)
	h.crowded = x.Caller.Principal == ""
	raw, err := h.send(ctx)
	if err != nil {
		return d.fail(x, err)
	}
	return d.result(b, x, lease, raw)
}

// lacks reports whether a backend has said that it has no part of the protocol to
// which a method belongs: then the method is not implemented (§1.6).
func lacks(about wire.Value, method string) bool {
	part, _, _ := strings.Cut(method, "/")
	switch part {
	case "prompts", "resources":
	case "completion":
		part = "completions"
	default:
		return false
	}
	return about.Present() && !about.Get("capabilities").Get(part).Present()
}

// result renders a backend's result.
func (d *Downgrade) result(b *LegacyBackend, x *port.Exchange, session port.Session, raw wire.Value) port.Outcome {
	o := mapping.UpResultOptions{ServerInfo: serverInfo(session)}
	switch x.Message.Method {
	case ext2026.MethodToolsList:
		out, facts, _, err := mapping.AppendUpToolsList(nil, raw, o)
		if err == nil {
			d.learn(b, x, raw, facts)
		}
		return done(out, err)
	case ext2026.MethodToolsCall:
		out, _, err := mapping.AppendUpCallResult(nil, raw, o)
		return done(out, err)
	case ext2026.MethodCompletionComplete:
		out, _, err := mapping.AppendUpComplete(nil, raw, o)
		return done(out, err)
	default:
		out, _, err := mapping.AppendUpResult(nil, x.Message.Method, raw, o)
		return done(out, err)
	}
}

// serverInfo is who the backend says it is where no session is at hand; absent when
// that is not known.
func (b *LegacyBackend) serverInfo() wire.Value {
	if b.Info == nil {
		return ""
	}
	return b.Info()
}

// serverInfo is who a session's server says it is; absent when that is not known.
func serverInfo(session port.Session) wire.Value { return session.About().Get("serverInfo") }

// refusesMethod reports whether this status, alone, says that a backend does not
// know a method that the bridge does not know either.
func refusesMethod(method string, status int) bool {
	if _, known := mapping.Lookup(method); known {
		return false
	}
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	default:
		return false
	}
}

// fail ends an exchange with an error as the modern face tells it (§1.6).
func (d *Downgrade) fail(x *port.Exchange, err error) port.Outcome {
	var (
		rpc      *jsonrpc.Error
		upstream *port.UpstreamError
		decided  *port.StatusError
	)
	if errors.As(err, &decided) {
		return port.Fail(err) // the bridge's own
	}
	errors.As(err, &upstream)
	if !errors.As(err, &rpc) {
		if upstream != nil && refusesMethod(x.Message.Method, upstream.Status) {
			return port.Fail(errUnserved)
		}
		return port.Fail(err)
	}
	if missing := mapping.UpMissing(rpc, x.Caller.Capabilities); missing != nil {
		return port.Fail(&port.StatusError{Status: http.StatusBadRequest, Err: missing})
	}
	told := mapping.UpError(x.Message.Method, rpc)
	if _, known := mapping.Lookup(x.Message.Method); !known && told.Code == jsonrpc.CodeMethodNotFound {
		return port.Fail(&port.StatusError{Status: http.StatusNotFound, Err: told})
	}
	if upstream != nil {
		kept := *upstream
		kept.Err = told
		return port.Fail(&kept)
	}
	return port.Fail(told)
}
