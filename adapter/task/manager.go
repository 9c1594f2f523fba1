package task

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Options are what a [Manager] works with. All members are required unless they
// say otherwise.
type Options struct {
	Store   state.Store
	Keys    *seal.Keys
	Env     env.Env
	Backend port.TaskBackend
	// Dialect returns the task shapes of a backend and the face in front of it.
	Dialect func(backend string) port.TaskDialect
	Logger  *slog.Logger
	Times   Times
	// OnStatus gets the face's notification about a task that changed, for the
	// sessions of its owner, who is named as by [Manager.Owner]. It must not
	// block. May be nil.
	OnStatus func(backend, owner, handle string, notification []byte)
	// OnTask is told of a task at a backend whose changes are of interest, and
	// again with live false once they no longer are. May be nil.
	OnTask func(backend string, caller port.Caller, taskID string, live bool)
}

// Times bound the waits and lifetimes of tasks (configuration key times).
type Times struct {
	// PollFloor and PollCeiling bound the interval between two polls of a task;
	// PollDefault is used when the backend asks for none (A-R2).
	PollFloor, PollDefault, PollCeiling time.Duration
	// HostedPoll is the poll interval told for hosted tasks (A-T8).
	HostedPoll time.Duration
	// ZeroTTL replaces a requested lifetime of zero, MaxTTL bounds all (A-T11).
	ZeroTTL, MaxTTL time.Duration
	// ListRetention keeps a task without a lifetime in the list after its last
	// change (A-E3).
	ListRetention time.Duration
	// CallTotal is the hard cap of one backend call, and of a wait for a task
	// whose backend stays unreachable (G-8).
	CallTotal time.Duration
}

// expiryGrace is how long a record outlives its task: a backend that cannot be
// reached is asked that long before the task counts as expired (A-E2).
const expiryGrace = 10 * time.Minute

// snapshots is how many recent documents are held for fast pollers.
const snapshots = 4096

// Manager creates, follows and ends tasks. It is safe for concurrent use.
type Manager struct {
	Options

	id     string // of this process run, holder of its lease
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	fetches singleflight.Group
	recent  *lru.Cache[string, snapshot] // by serial; never the only copy of anything

	mu      sync.Mutex
	loops   map[string]*loop              // by serial: waiters of tasks/result
	running map[string]context.CancelFunc // by serial: hosted calls of this process
	tracked map[trackKey]ref              // backend's id to task, for events
}

type trackKey struct{ backend, taskID string }

// errStopped is the cause of everything that ends because the bridge stops.
var errStopped = errors.New("the bridge is shutting down")

// ErrUnknown is the answer for a handle that is malformed, forged, expired,
// another owner's or another backend's: they are indistinguishable (A-H2).
var ErrUnknown = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Unknown task")

// New returns a manager. Close must be called.
func New(o Options) (*Manager, error) {
	id, err := env.NewID(o.Env)
	if err != nil {
		return nil, err
	}
	recent, err := lru.New[string, snapshot](snapshots)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	m := &Manager{
		Options: o, id: id, ctx: ctx, cancel: cancel, recent: recent,
		loops:   make(map[string]*loop),
		running: make(map[string]context.CancelFunc),
		tracked: make(map[trackKey]ref),
	}
	if err := m.holdLease(); err != nil {
		cancel(err)
		return nil, err
	}
	return m, nil
}

// Close cuts hosted calls, which then end as interrupted, releases every waiter
// and returns when nothing of the manager runs any more or ctx is done.
func (m *Manager) Close(ctx context.Context) error {
	m.cancel(errStopped)
	done := make(chan struct{})
	go func() {
		m.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// detach returns a context that outlives the request it came from, ends with
// the manager and is bounded by the total time of a call.
func (m *Manager) detach(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := env.WithTimeout(context.WithoutCancel(ctx), m.Env, m.Times.CallTotal, errCallTotal)
	stop := context.AfterFunc(m.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

var errCallTotal = errors.New("the call took longer than times.call_total")
