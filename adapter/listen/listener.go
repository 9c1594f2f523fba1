package listen

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// listener is a subscription. It belongs to the goroutine of its request, except
// what the hub's lock guards.
type listener struct {
	h    *Hub
	r    *Request
	wake chan struct{} // capacity 1: the inbox is not empty

	lease   Lease
	session port.Session
	// missed is closed when changes may have been missed on the session.
	missed <-chan struct{}
	// begun is set once what is granted is settled.
	begun bool
	// wanted are the resources that may be granted, granted those that are, and
	// tasks the handles.
	wanted, granted, tasks []string
	work                   sync.WaitGroup // the watching of tasks

	// The hub's lock guards what follows. Feed is nil between two sessions; refs
	// are the resources it is asked for.
	feed   *feed
	refs   []string
	filter port.ChangeFilter // the lists
	uris   map[string]struct{}
	// longest is the length of the longest of uris.
	longest int
	inbox   inbox
}

func newListener(h *Hub, r *Request) *listener {
	l := &listener{h: h, r: r, wake: make(chan struct{}, 1)}
	l.wanted = distinct(r.Filter.URIs, maxURIs, func(uri string) bool { return uri != "" && len(uri) <= maxURI })
	return l
}

// distinct returns the first so many different names that are wanted, in order.
func distinct(names []string, most int, wanted func(string) bool) []string {
	var out []string
	seen := make(map[string]struct{})
	for _, name := range names {
		if _, repeated := seen[name]; repeated || !wanted(name) {
			continue
		}
		if len(out) == most {
			break
		}
		seen[name] = struct{}{}
		out = append(out, name)
	}
	return out
}

// run serves the subscription to its end.
func (l *listener) run(ctx context.Context) port.Outcome {
	defer l.leave()
	defer l.work.Wait()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if err := l.begin(ctx); err != nil {
		return port.Fail(err)
	}
	l.watch(watching)
	for {
		select {
		case <-l.wake:
			if err := l.deliver(); err != nil {
				return port.Fail(err)
			}
		case <-l.missed:
			if !l.await(ctx) {
				return l.end(ctx, l.lease.About()) // nothing will be heard any more
			}
			l.makeUp()
		case <-l.session.Lost():
			about := l.lease.About()
			if err := l.repair(ctx); err != nil {
				return l.end(ctx, about)
			}
			l.makeUp()
		case <-ctx.Done():
			_ = l.deliver() // what was heard before the end
			return l.end(ctx, l.lease.About())
		}
	}
}

// end is the end of a subscription that was acknowledged. Whoever has left is told
// nothing.
func (l *listener) end(ctx context.Context, about wire.Value) port.Outcome {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, port.ErrDraining) {
		return port.Fail(cause)
	}
	return l.h.Dialect.Ended(about, l.r.ID)
}

// begin opens the subscription, and acknowledges what is granted.
func (l *listener) begin(ctx context.Context) error {
	err := l.open(ctx)
	for tries := 1; errors.Is(err, port.ErrSessionLost) && tries < maxTries; tries++ {
		err = l.open(ctx)
	}
	if err != nil {
		return err
	}
	l.begun = true
	l.verify()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	honoured := l.filter
	honoured.URIs, honoured.TaskIDs = l.granted, l.tasks
	if asked := len(l.r.Filter.URIs) + len(l.r.Filter.TaskIDs); asked > len(l.granted)+len(l.tasks) {
		l.h.Logger.InfoContext(ctx, "subscription not honoured in full", "backend", l.r.Backend,
			"asked", asked, "resources", len(l.granted), "tasks", len(l.tasks))
	}
	return l.r.Send(l.h.Dialect.AppendAcknowledged(nil, honoured, l.r.ID))
}

// maxTries is how many sessions in a row may be lost before a subscription has
// begun.
const maxTries = 3

// verify finds out which tasks the caller may be told of.
func (l *listener) verify() {
	if l.h.Tasks == nil {
		return
	}
	l.tasks = distinct(l.r.Filter.TaskIDs, maxTasks, func(handle string) bool {
		return l.h.Tasks.Verify(l.r.Backend, l.r.Caller, handle) == nil
	})
}

// watch has the tasks watched, until ctx ends.
func (l *listener) watch(ctx context.Context) {
	for _, handle := range l.tasks {
		l.work.Go(func() {
			l.h.Tasks.Watch(ctx, l.r.Backend, l.r.Caller, handle, l.r.ID, func(notification []byte) (taken bool) {
				l.h.mu.Lock()
				defer l.h.mu.Unlock()
				return l.tell("task "+handle, item{told: notification})
			})
		})
	}
}

// deliver tells the client what has come.
func (l *listener) deliver() error {
	l.h.mu.Lock()
	items := l.inbox.take()
	l.h.mu.Unlock()
	for _, i := range items {
		msg := i.told
		if msg == nil {
			var err error
			if msg, err = l.h.Dialect.AppendNotice(nil, i.notice, l.r.ID); err != nil {
				l.h.Logger.Warn("notification dropped", "backend", l.r.Backend, "error", port.Reason(err))
				continue
			}
		}
		if err := l.r.Send(msg); err != nil {
			return err
		}
	}
	return nil
}

// makeUp tells the client that everything may have changed (Q26).
func (l *listener) makeUp() {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	filter := l.filter
	filter.URIs = l.granted
	for _, n := range l.h.Dialect.Synthesize(filter) {
		l.put(n.Key, item{notice: n})
	}
}

// repair replaces a lost session. A backend that refuses the client's credential
// refuses it for good.
func (l *listener) repair(ctx context.Context) error {
	ctx, cancel := env.WithTimeout(ctx, l.h.Env, repairTime, errSlow)
	defer cancel()
	for delay := firstDelay; ; delay *= 2 {
		err := l.open(ctx)
		if err == nil {
			return nil
		}
		l.h.Logger.InfoContext(ctx, "session of a subscription not replaced", "backend", l.r.Backend, "error", port.Reason(err))
		var upstream *port.UpstreamError
		if errors.As(err, &upstream) && (upstream.Status == http.StatusUnauthorized || upstream.Status == http.StatusForbidden) {
			return err
		}
		// No jitter: the subscriptions of a session meet in one opening.
		if err := env.Sleep(ctx, l.h.Env, delay); err != nil {
			return err
		}
	}
}
