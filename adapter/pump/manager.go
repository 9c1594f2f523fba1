package pump

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Options are what a [Manager] works with. All members are required.
type Options struct {
	Store    state.Store
	Process  port.Process
	Keys     *seal.Keys
	Env      env.Env
	Logger   *slog.Logger
	Sessions port.SessionLender
	Dialect  port.SessionTaskDialect
	// Owners returns the keyed hashes under which a caller's tasks may be, at least one;
	// new tasks are under the first.
	Owners func(caller port.Caller) []string
	Times  Times
	// Attended is how many tasks of one backend this process looks after at a time; 0
	// stands for 2000.
	Attended int
}

// Times bound the waits and lifetimes of tasks.
type Times struct {
	// PollFloor and PollCeiling bound the time in which a backend is not asked again
	// about a task; PollDefault is used when it names none (A-T21).
	PollFloor, PollDefault, PollCeiling time.Duration
	// HostedPoll is the poll interval told for hosted tasks.
	HostedPoll time.Duration
	// MinTTL and MaxTTL bound the lifetime of hosted tasks (A-T11).
	MinTTL, MaxTTL time.Duration
	// Retention keeps what is known of a task without a lifetime after the last
	// access to it.
	Retention time.Duration
}

const (
	// endedSize is how many tasks that are over are remembered beside the store, unless
	// one has more than endedBytes.
	endedSize  = 4096
	endedBytes = 64 << 10
	// earlySize is how many tasks are remembered that a backend speaks of before it
	// has answered the call that made them.
	earlySize = 256
	// partingTime bounds what is still said to a backend for somebody who is gone.
	partingTime = 10 * time.Second
	// askTime bounds a request about a task whose caller may have left.
	askTime = time.Minute
)

// Manager keeps tasks. It is safe for concurrent use.
type Manager struct {
	Options

	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	fetches flight.Group[string, view]
	ended   *lru.Cache[string, record]    // by serial; never the only copy of anything
	early   *lru.Cache[sessionTask, bool] // that need input, before they are known

	mu     sync.Mutex
	closed bool
	tasks  map[string]*live // by serial: the tasks that this process looks after
	// order has the same tasks by backend, the one that was asked for last first.
	order map[string]*list.List
	idle  chan struct{} // closed when the last hosted call ends; nil while nobody waits
	// responding counts the questions that are being answered here, by session.
	responding map[port.Session]int
	running    int // hosted calls of this process
}

// sessionTask names a task as its backend does.
type sessionTask struct {
	session port.Session
	taskID  string
}

var (
	// errStopped is the cause of everything that ends because the bridge stops.
	errStopped = &port.CauseError{Text: "the bridge is shutting down", Public: "the bridge is shutting down"}
	errParting = errors.New("the backend took too long")
	errAskTime = &port.CauseError{Text: "the backend took too long to tell of a task", Public: port.TimedOut}
	// errLeft says that this process has just stopped looking after a task.
	errLeft = &port.CauseError{Text: "nobody looks after the task any more", Public: "the task is not to be had at the moment"}
)

// left is why a task is not looked after here any more.
func (m *Manager) left() error {
	if m.ctx.Err() != nil {
		return errStopped
	}
	return errLeft
}

// ErrUnknown is the answer for a handle that is malformed, forged, expired,
// another owner's, another backend's or another face's: they are
// indistinguishable (§4.23).
var ErrUnknown = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Unknown task")

// New returns a manager. Close must be called.
func New(o Options) (*Manager, error) {
	ended, err := lru.New[string, record](endedSize)
	if err != nil {
		return nil, err
	}
	early, err := lru.New[sessionTask, bool](earlySize)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	m := &Manager{
		Options: o, ctx: ctx, cancel: cancel, ended: ended, early: early,
		tasks: make(map[string]*live), order: make(map[string]*list.List), responding: make(map[port.Session]int),
	}
	o.Process.Answer(kindStop, m.stopAsked)
	if o.Process.Shared() {
		m.spawn(m.listenToOthers)
	}
	return m, nil
}

// Drain waits until every hosted call of this process has ended by itself, or
// until ctx is done.
func (m *Manager) Drain(ctx context.Context) error {
	m.mu.Lock()
	if m.running == 0 {
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

// Close cuts hosted calls, which then end as interrupted, gives the sessions back,
// in which the tasks live on, and returns when nothing of the manager runs any more
// or ctx is done.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	all := make([]*live, 0, len(m.tasks))
	for _, l := range m.tasks {
		all = append(all, l)
	}
	m.mu.Unlock()
	m.cancel(errStopped)
	for _, l := range all {
		l.cut()
	}
	err := env.Join(ctx, &m.work)
	for _, l := range all {
		m.let(l, false)
	}
	return err
}

// enter begins something that Close has to wait for; work.Done ends it. It
// reports false once the manager is closed.
func (m *Manager) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.work.Add(1)
	return true
}

// spawn runs f, and reports false once the manager is closed.
func (m *Manager) spawn(f func()) bool {
	if !m.enter() {
		return false
	}
	go func() {
		defer m.work.Done()
		defer func() {
			if fault := recover(); fault != nil {
				port.LogFault(m.ctx, m.Logger, fault)
			}
		}()
		f()
	}()
	return true
}

// bind returns a context that also ends with the manager and after d.
func (m *Manager) bind(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	bound, giveUp := context.WithCancelCause(ctx)
	stop := context.AfterFunc(m.ctx, func() { giveUp(errStopped) })
	bound, cancel := env.WithTimeout(bound, m.Env, d, cause)
	return bound, func() {
		stop()
		cancel()
		giveUp(nil)
	}
}

// parting returns a context for a last word: it outlives the request it came
// from and the manager, for a short time.
func (m *Manager) parting(ctx context.Context) (context.Context, context.CancelFunc) {
	return env.WithTimeout(context.WithoutCancel(ctx), m.Env, partingTime, errParting)
}
