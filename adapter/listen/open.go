package listen

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

// open puts the subscription on a session, in place of the one before if there is
// one, and returns when it is decided what is reported there. The first time that
// settles what is granted; later, what is refused is tried again with the session
// after.
func (l *listener) open(ctx context.Context) error {
	l.leave()
	lease, err := l.r.Lease(ctx)
	if err != nil {
		return err
	}
	l.lease, l.session = lease, lease.Session()
	if offered := l.await(ctx); !l.begun {
		lists, resources := l.h.Dialect.Offered(lease.About())
		l.admit(offered, lists, resources)
	}
	return l.subscribe(ctx)
}

// leave gives the session up, and what the subscription wants on it.
func (l *listener) leave() {
	l.h.mu.Lock()
	if l.feed != nil {
		l.feed.leave(l, l.refs)
		l.feed, l.refs = nil, nil
	}
	l.h.mu.Unlock()
	if l.lease != nil {
		l.lease.Release()
		l.lease = nil
	}
}

// await waits for the session's standing stream, and reports whether there can be
// one.
func (l *listener) await(ctx context.Context) (offered bool) {
	standing, knows := l.session.(port.Standing)
	if !knows {
		l.missed = nil
		return true
	}
	offered, l.missed = standing.Standing(ctx)
	return offered
}

// admit narrows what is wanted down to what the session can report: nothing without
// a standing stream (§2.3).
func (l *listener) admit(standing bool, lists port.ChangeFilter, resources bool) {
	want := &l.r.Filter
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	l.filter = port.ChangeFilter{
		Tools:     standing && want.Tools && lists.Tools,
		Prompts:   standing && want.Prompts && lists.Prompts,
		Resources: standing && want.Resources && lists.Resources,
	}
	l.granted = nil
	if standing && resources {
		l.granted = l.wanted
	}
	l.about(l.granted)
}

// about is what resources the subscription is about; the hub's lock is held.
func (l *listener) about(uris []string) {
	l.uris, l.longest = make(map[string]struct{}, len(uris)), 0
	for _, uri := range uris {
		l.uris[uri] = struct{}{}
		l.longest = max(l.longest, len(uri))
	}
}

// subscribe joins the feed of the session and asks for the resources there. Those
// that the backend refuses, or is silent about for too long, are given up.
func (l *listener) subscribe(ctx context.Context) error {
	l.h.mu.Lock()
	l.feed = l.h.join(l, l.session)
	l.refs = l.granted
	attempts := make([]*attempt, len(l.refs))
	for i, uri := range l.refs {
		attempts[i] = l.feed.ref(uri, l.r.Authorization)
	}
	l.h.mu.Unlock()
	l.decided(ctx, attempts)

	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	var agreed []string
	for i, uri := range l.refs {
		if attempts[i] == nil || attempts[i].ok {
			agreed = append(agreed, uri)
		} else {
			l.feed.unref(uri)
		}
	}
	l.refs = agreed
	select {
	case <-l.session.Lost():
		return port.ErrSessionLost
	default:
	}
	if !l.begun {
		l.granted = agreed
		l.about(agreed)
		l.sift()
	}
	return nil
}

// decided waits for attempts to be decided, but not for long.
func (l *listener) decided(ctx context.Context, attempts []*attempt) {
	ctx, cancel := env.WithTimeout(ctx, l.h.Env, deciding, errSlow)
	defer cancel()
	for _, a := range attempts {
		if a == nil {
			continue
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return
		}
	}
}
