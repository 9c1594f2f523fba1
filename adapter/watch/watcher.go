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

// Options are what a [Watcher] works with. All members are required unless they
// say otherwise.
type Options struct {
	Source port.ChangeSource
	Env    env.Env
	Logger *slog.Logger
	// OnTask gets the document of a tracked task that changed, with the caller
	// who tracks it.
	OnTask func(ctx context.Context, backend string, caller port.Caller, taskID string, doc wire.Value)
	// Credential returns the credential that a caller's requests carry to a
	// backend: callers with the same one share a subscription. Nil means that
	// each caller's own Authorization is sent.
	Credential func(backend string, caller port.Caller) string
}

const (
	// burst is how long requests to subscribe are collected (§3.5 A2).
	burst = 50 * time.Millisecond
	// ackTimeout is how long a backend may take to say what it offers, and to
	// acknowledge.
	ackTimeout = 10 * time.Second
	// overlap is how long an old subscription is read after a new one has been
	// acknowledged; what it repeats is dropped (§3.5 A3).
	overlap = time.Second
	// taskPause is the time between two openings that only add tasks, which are
	// polled anyway.
	taskPause = time.Second
	// firstBackoff doubles up to lastBackoff while a backend stays away. A
	// subscription that has held for lastBackoff starts it over.
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
)

// Watcher holds the subscriptions of this process. It is safe for concurrent use.
type Watcher struct {
	Options

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex // taken before that of a share
	closed bool
	shares map[shareKey]*share
	homes  map[sessionKey]*share // where a session is a member
}

type (
	shareKey   struct{ backend, credential string }
	sessionKey struct{ backend, session string }
)

var (
	errClosed   = errors.New("the bridge is shutting down")
	errNotAcked = errors.New("the backend did not answer the subscription in time")
)

// New returns a watcher. Close must be called.
func New(o Options) *Watcher {
	if o.Credential == nil {
		o.Credential = func(_ string, caller port.Caller) string { return caller.Authorization }
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Watcher{
		Options: o, ctx: ctx, cancel: cancel,
		shares: make(map[shareKey]*share), homes: make(map[sessionKey]*share),
	}
}

// Close ends every subscription and returns when nothing of the watcher runs
// any more or ctx is done.
func (w *Watcher) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	return env.Join(ctx, &w.work)
}

// Attach connects a session to the list changes of its backend, and to updates
// of the resources it has subscribed to before. Detach ends both, and whatever
// the session has subscribed to since.
func (w *Watcher) Attach(sub port.Subscriber) (detach func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return func() {}
	}
	a := new(attachment)
	w.home(sub).attach(sub, a)
	return func() { w.detach(sub.Backend, sub.Caller.Session, a) }
}

func (w *Watcher) detach(backend, session string, a *attachment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := sessionKey{backend, session}
	if sh := w.homes[key]; sh != nil && sh.detach(session, a) {
		delete(w.homes, key)
	}
}

// Subscribe serves resources/subscribe: it returns once the backend has agreed
// to report updates of the resource. The error is a *[jsonrpc.Error], that of
// the source, or why ctx or the watcher has ended.
func (w *Watcher) Subscribe(ctx context.Context, sub port.Subscriber, uri string) error {
	_, resources, err := w.Source.Offered(ctx, sub.Backend, sub.Caller)
	if err != nil {
		return err
	}
	if !resources {
		return jsonrpc.NewError(jsonrpc.CodeMethodNotFound, "Method not found")
	}
	wait := w.subscribe(sub, uri)
	if wait == nil {
		return errClosed
	}
	select {
	case err := <-wait.done:
		return err
	case <-ctx.Done():
		w.forsake(sub, wait)
		return context.Cause(ctx)
	case <-w.ctx.Done():
		return errClosed
	}
}

func (w *Watcher) subscribe(sub port.Subscriber, uri string) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	return w.home(sub).subscribe(sub, uri)
}

// forsake takes back a request whose client does not wait for it any more.
func (w *Watcher) forsake(sub port.Subscriber, wait *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sh := w.homes[sessionKey{sub.Backend, sub.Caller.Session}]; sh != nil {
		sh.forsake(wait)
	}
}

// Unsubscribe serves resources/unsubscribe. An unknown URI is no error.
func (w *Watcher) Unsubscribe(sub port.Subscriber, uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sh := w.homes[sessionKey{sub.Backend, sub.Caller.Session}]; sh != nil {
		sh.unsubscribe(sub.Caller.Session, uri)
	}
}

// Track asks for the changes of a task, or no longer; see task.Options.OnTask.
func (w *Watcher) Track(backend string, caller port.Caller, taskID string, live bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if live {
		if !w.closed {
			w.share(backend, caller).track(taskID, caller)
		}
		return
	}
	for key, sh := range w.shares {
		if key.backend == backend {
			sh.untrack(taskID)
		}
	}
}

// home returns the share that a session belongs to, and moves the session there
// if its credential has changed; the lock is held.
func (w *Watcher) home(sub port.Subscriber) *share {
	sh := w.share(sub.Backend, sub.Caller)
	key := sessionKey{sub.Backend, sub.Caller.Session}
	if was := w.homes[key]; was != nil && was != sh {
		if m := was.remove(sub.Caller.Session); m != nil {
			sh.add(sub.Caller.Session, m)
		}
	}
	w.homes[key] = sh
	return sh
}

// share returns the share of a caller; the lock is held.
func (w *Watcher) share(backend string, caller port.Caller) *share {
	key := shareKey{backend, w.Credential(backend, caller)}
	sh := w.shares[key]
	if sh == nil {
		sh = newShare(w, key)
		w.shares[key] = sh
		w.work.Go((&keeper{share: sh}).run)
	}
	return sh
}

// retire forgets the sessions that need nothing of a share any more, and the
// share itself once nobody does, which it reports. All that is asked of a share
// is asked under the lock, so nobody comes too late.
func (w *Watcher) retire(sh *share) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, session := range sh.prune() {
		delete(w.homes, sessionKey{sh.key.backend, session})
	}
	if !sh.unused() {
		return false
	}
	delete(w.shares, sh.key)
	return true
}

// jitter lengthens a delay by up to a fifth, so that many do not come back to a
// backend at the same moment.
func (w *Watcher) jitter(d time.Duration) time.Duration {
	return env.Jitter(w.Env, d, 1, 1.2)
}
