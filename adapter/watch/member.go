package watch

import (
	"slices"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// member is a session of a share.
type member struct {
	sub  port.Subscriber
	uris map[string]struct{}
	// attached is nil for a session that has only subscribed so far; it is a
	// member for as long as it is subscribed to something.
	attached *attachment
}

// attachment tells one attaching of a session from the next.
type attachment struct{ _ byte } // not empty: each has an address of its own

// waiter is a request to subscribe that the backend has not decided yet.
type waiter struct {
	session, uri string
	added        bool // the session had not subscribed to it before
	done         chan error
}

var errDetached = jsonrpc.NewError(jsonrpc.CodeInternal, "the session has ended or changed its credential")

// join returns the session's membership; the lock is held.
func (sh *share) join(sub port.Subscriber) *member {
	m := sh.members[sub.Caller.Session]
	if m == nil {
		m = &member{uris: make(map[string]struct{})}
		sh.members[sub.Caller.Session] = m
	}
	m.sub = sub
	return m
}

func (sh *share) attach(sub port.Subscriber, a *attachment) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	m := sh.join(sub)
	m.attached = a
	for _, uri := range sub.Resources {
		m.uris[uri] = struct{}{}
	}
	sh.unsure = true
	sh.changed()
}

// detach ends a membership, unless the session has attached again since, and
// reports whether it did.
func (sh *share) detach(session string, a *attachment) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	m := sh.members[session]
	if m == nil || m.attached != nil && m.attached != a {
		return false
	}
	sh.dismiss(session)
	return true
}

// dismiss ends a membership; the lock is held.
func (sh *share) dismiss(session string) {
	delete(sh.members, session)
	sh.release(func(w *waiter) bool { return w.session == session }, errDetached)
	sh.changed()
}

// release settles those who wait in vain; the lock is held.
func (sh *share) release(which func(*waiter) bool, err error) {
	sh.waiting = slices.DeleteFunc(sh.waiting, func(w *waiter) bool {
		if which(w) {
			w.done <- err
			return true
		}
		return false
	})
}

// remove takes a session out of the share, to be added to another one.
func (sh *share) remove(session string) *member {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	m := sh.members[session]
	if m != nil {
		sh.dismiss(session)
	}
	return m
}

func (sh *share) add(session string, m *member) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.members[session] = m
	sh.changed()
}

func (sh *share) subscribe(sub port.Subscriber, uri string) *waiter {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	m := sh.join(sub)
	w := &waiter{session: sub.Caller.Session, uri: uri, added: !has(m.uris, uri), done: make(chan error, 1)}
	m.uris[uri] = struct{}{}
	if sh.open && has(sh.honoured.uris, uri) {
		w.done <- nil
		return w
	}
	sh.waiting = append(sh.waiting, w)
	sh.changed()
	return w
}

// forsake takes a request to subscribe back.
func (sh *share) forsake(w *waiter) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.waiting = slices.DeleteFunc(sh.waiting, func(other *waiter) bool { return other == w })
	same := func(other *waiter) bool { return other.session == w.session && other.uri == w.uri }
	if w.added && !slices.ContainsFunc(sh.waiting, same) {
		sh.drop(w.session, w.uri)
	}
}

// unsubscribe shrinks the subscription with its next opening: until then the
// backend's updates find no taker (§3.5 A2).
func (sh *share) unsubscribe(session, uri string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	// Who still waits for it has subscribed and unsubscribed, and got both.
	sh.release(func(w *waiter) bool { return w.session == session && w.uri == uri }, nil)
	sh.drop(session, uri)
}

// drop takes a resource from a session; the lock is held.
func (sh *share) drop(session, uri string) {
	m := sh.members[session]
	if m == nil {
		return
	}
	delete(m.uris, uri)
	if len(m.uris) == 0 {
		sh.changed() // there may be nothing left to subscribe to
	}
}

// idle reports whether nothing makes the session a member any more.
func (m *member) idle() bool { return m.attached == nil && len(m.uris) == 0 }

// prune ends idle memberships and returns their sessions.
func (sh *share) prune() (sessions []string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for session, m := range sh.members {
		if m.idle() {
			delete(sh.members, session)
			sessions = append(sessions, session)
		}
	}
	return sessions
}

// concerns reports whether the session has subscribed to the resource or to one
// that it is a part of.
func (m *member) concerns(uri string) bool {
	if has(m.uris, uri) {
		return true
	}
	for subscribed := range m.uris {
		if rest, below := strings.CutPrefix(uri, strings.TrimSuffix(subscribed, "/")); below && strings.HasPrefix(rest, "/") {
			return true
		}
	}
	return false
}
