package watch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Options are what a [Watcher] works with; all members are required.
type Options struct {
	Source port.ChangeSource
	Env    env.Env
	Logger *slog.Logger
	// OnTask gets the document of a tracked task that changed, with the caller
	// who tracks it.
	OnTask func(ctx context.Context, backend string, caller port.Caller, taskID string, doc wire.Value)
}

const (
	// burst is how long requests to subscribe are collected (§3.5 A2).
	burst = 50 * time.Millisecond
	// ackTimeout is how long a backend may take to acknowledge.
	ackTimeout = 10 * time.Second
	// overlap is how long an old subscription is read after a new one has been
	// acknowledged; what it repeats is dropped (§3.5 A3).
	overlap = time.Second
	// firstBackoff doubles up to lastBackoff while a backend stays away.
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
)

// Watcher holds the subscriptions of this process. It is safe for concurrent use.
type Watcher struct {
	Options

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	shares map[shareKey]*share
}

type shareKey struct{ backend, credential string }

var (
	errClosed   = errors.New("the bridge is shutting down")
	errNotAcked = errors.New("the backend did not acknowledge the subscription in time")
)

// New returns a watcher. Close must be called.
func New(o Options) *Watcher {
	ctx, cancel := context.WithCancel(context.Background())
	return &Watcher{Options: o, ctx: ctx, cancel: cancel, shares: make(map[shareKey]*share)}
}

// Close ends every subscription and returns when nothing of the watcher runs
// any more or ctx is done.
func (w *Watcher) Close(ctx context.Context) error {
	w.cancel()
	done := make(chan struct{})
	go func() {
		w.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Attach connects a session to the list changes of its backend, and to updates
// of the resources it has subscribed to before. Detach ends both.
func (w *Watcher) Attach(sub port.Subscriber) (detach func()) {
	sh := w.share(sub.Backend, sub.Caller)
	w.work.Go(func() {
		lists, _, err := w.Source.Offered(w.ctx, sub.Backend, sub.Caller)
		if err != nil {
			w.Logger.WarnContext(w.ctx, "backend not watched", "backend", sub.Backend, "error", err)
			return
		}
		sh.attach(sub, lists)
	})
	return func() { sh.detach(sub.Caller.Session) }
}

// Subscribe serves resources/subscribe: it returns once the backend has agreed
// to report updates of the resource. The error is a *[jsonrpc.Error].
func (w *Watcher) Subscribe(ctx context.Context, sub port.Subscriber, uri string) error {
	lists, resources, err := w.Source.Offered(ctx, sub.Backend, sub.Caller)
	if err != nil {
		return err
	}
	if !resources {
		return jsonrpc.NewError(jsonrpc.CodeMethodNotFound, "Method not found")
	}
	sh := w.share(sub.Backend, sub.Caller)
	wait := sh.subscribe(sub, lists, uri)
	select {
	case err := <-wait:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.ctx.Done():
		return errClosed
	}
}

// Unsubscribe serves resources/unsubscribe. An unknown URI is no error.
func (w *Watcher) Unsubscribe(sub port.Subscriber, uri string) {
	w.share(sub.Backend, sub.Caller).unsubscribe(sub.Caller.Session, uri)
}

// Track asks for the changes of a task, or no longer; see task.Options.OnTask.
func (w *Watcher) Track(backend string, caller port.Caller, taskID string, live bool) {
	if live {
		w.share(backend, caller).track(taskID, caller)
		return
	}
	w.mu.Lock()
	shares := make([]*share, 0, len(w.shares))
	for key, sh := range w.shares {
		if key.backend == backend {
			shares = append(shares, sh)
		}
	}
	w.mu.Unlock()
	for _, sh := range shares {
		sh.untrack(taskID)
	}
}

func (w *Watcher) share(backend string, caller port.Caller) *share {
	key := shareKey{backend, caller.Authorization}
	w.mu.Lock()
	defer w.mu.Unlock()
	sh := w.shares[key]
	if sh == nil {
		sh = newShare(w, backend)
		w.shares[key] = sh
		if w.ctx.Err() == nil {
			w.work.Go(sh.run)
		}
	}
	return sh
}
