package task

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/sized"
)

// Options are what a [Manager] works with. All members are required unless they
// say otherwise.
type Options struct {
	Store   state.Store
	Process port.Process
	Keys    *seal.Keys
	Env     env.Env
	Backend port.TaskBackend
	// Dialect returns the task shapes of a backend and the face in front of it.
	Dialect func(backend string) port.TaskDialect
	// Desk has the streams on which clients are asked.
	Desk *ask.Desk
	// Resume goes on with a hosted call that has asked its client, with the
	// credential of the caller. Its context ends when the task is cancelled.
	Resume func(ctx context.Context, backend string, caller port.Caller, call Resumption) Ending
	Logger *slog.Logger
	Times  Times
	// OnStatus gets the face's notification about a task that changed, for the
	// sessions of its owner, who is named as by one of [Manager.Owners]. It must neither
	// block nor call the manager. May be nil.
	OnStatus func(backend, owner, handle string, notification []byte)
	// Listens reports whether OnStatus reaches anybody for an owner. May be nil,
	// which means that it does not.
	Listens func(backend, owner string) bool
	// OnTask is told of a task at a backend whose changes are of interest, and
	// again with live false once they no longer are, in that order. It must
	// neither block nor call the manager. May be nil.
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
	// ListRetention keeps a task without a lifetime in the list after the last
	// access to it (A-E3).
	ListRetention time.Duration
	// CallTotal is the hard cap of one backend call, of a driven task, and of a
	// wait for a task whose backend stays unreachable (G-8).
	CallTotal time.Duration
}

// recentSize is how many tasks are remembered for fast pollers, and for keeping
// notifications in order; recentBytes and toldBytes is how much of them.
const (
	recentSize  = 4096
	recentBytes = 64 << 20
	toldBytes   = 16 << 20
)

// partingTime bounds what is still said to a backend for somebody who is gone,
// also while the bridge stops.
const partingTime = 10 * time.Second

// Manager creates, follows and ends tasks. It is safe for concurrent use.
type Manager struct {
	Options

	ctx    context.Context
	cancel context.CancelCauseFunc
	// work counts the goroutines and operations that Close waits for; see enter.
	work sync.WaitGroup

	fetches singleflight.Group
	recent  *sized.Cache[string, snapshot] // by serial; never the only copy of anything

	mu       sync.Mutex
	closed   bool
	draining bool                // calls that have been answered are left to the next process
	loops    map[string]*loop    // by serial: waiters of tasks/result
	running  map[string]*running // by serial: hosted calls of this process
	// cancelled counts the cancellations of tasks that are under way here, by serial.
	cancelled map[string]int
	idle      chan struct{} // closed when the last of them ends; nil while nobody waits

	// trackMu is held while OnTask is called, so that the calls about a task keep
	// their order.
	trackMu sync.Mutex
	tracked map[trackKey]map[string]tracking // by serial

	// answers are the tasks whose answers are on their way to the backend.
	answers map[string]*delivery

	// tellMu is held while OnStatus is called; told has what was told last, by
	// serial, so that nothing older is ever told after it.
	tellMu sync.Mutex
	told   *sized.Cache[string, telling]

	// news are the handles of tasks that have changed, for other processes.
	news chan string
}

// telling is a status notification: the revision it was made from, and what a
// client sees of it.
type telling struct {
	rev   state.Rev
	shown string
}

var (
	// errStopped is the cause of everything that ends because the bridge stops.
	errStopped   = errors.New("the bridge is shutting down")
	errCallTotal = &port.CauseError{Text: "the call took longer than times.call_total", Public: port.TimedOut}
	errParting   = errors.New("the backend took too long")
)

// ErrUnknown is the answer for a handle that is malformed, forged, expired,
// another owner's or another backend's: they are indistinguishable (A-H2).
var ErrUnknown = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Unknown task")

// New returns a manager. Close must be called.
func New(o Options) (*Manager, error) {
	recent, err := sized.New[string](recentSize, recentBytes, snapshot.size)
	if err != nil {
		return nil, err
	}
	told, err := sized.New[string](recentSize, toldBytes, func(t telling) int { return len(t.shown) })
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	m := &Manager{
		Options: o, ctx: ctx, cancel: cancel, recent: recent, told: told,
		loops:   make(map[string]*loop),
		running: make(map[string]*running), cancelled: make(map[string]int),
		tracked: make(map[trackKey]map[string]tracking),
		answers: make(map[string]*delivery),
		news:    make(chan string, newsSize),
	}
	o.Process.Answer(kindStop, m.stopAsked)
	o.Process.Answer(kindCancelling, m.cancellingAsked)
	if o.Process.Shared() {
		m.work.Go(m.hearNews)
		m.work.Go(m.tellNews)
	}
	m.work.Go(m.keepTidy)
	return m, nil
}

// Drain waits until every hosted call of this process has ended by itself, or
// until ctx is done: a call that is cut is work lost, since it is never made
// again (G-6). From now on none is gone on with whose questions are answered; the
// answers are on record, for a process that has the time.
func (m *Manager) Drain(ctx context.Context) error {
	m.mu.Lock()
	m.draining = true
	if len(m.running) == 0 {
		m.mu.Unlock()
		return nil
	}
	if m.idle == nil {
		m.idle = make(chan struct{})
	}
	idle := m.idle
	m.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close cuts hosted calls, which then end as interrupted, releases every waiter
// and returns when nothing of the manager runs any more or ctx is done.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel(errStopped)
	return env.Join(ctx, &m.work)
}

// enter begins something that Close has to wait for; work.Done ends it. It
// reports false once the manager is closed: the store may be, too.
func (m *Manager) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.work.Add(1)
	return true
}

// bind returns a context that also ends with the manager and is bounded by d.
func (m *Manager) bind(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := env.WithTimeout(ctx, m.Env, d, cause)
	stop := context.AfterFunc(m.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// detach is bind for what outlives the request it came from.
func (m *Manager) detach(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	return m.bind(context.WithoutCancel(ctx), d, cause)
}

// parting returns a context for a last word: it outlives the request it came
// from and the manager, for a short time.
func (m *Manager) parting(ctx context.Context) (context.Context, context.CancelFunc) {
	return env.WithTimeout(context.WithoutCancel(ctx), m.Env, partingTime, errParting)
}

// jitter varies a duration by a tenth either way, so that what many do at the
// same pace does not happen in step.
func (m *Manager) jitter(d time.Duration) time.Duration {
	return env.Jitter(m.Env, d, 0.9, 1.1)
}
