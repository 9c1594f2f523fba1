package watch

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// share is the subscription of everyone who reaches a backend with the same
// credential.
type share struct {
	w       *Watcher
	backend string
	kick    chan struct{} // capacity 1: what is wanted has changed

	mu       sync.Mutex
	sessions map[string]*member
	tasks    map[string]port.Caller // by the backend's id
	noTasks  bool                   // the backend does not report tasks
	honoured port.ChangeFilter      // of the open subscription
	open     bool
	waiting  []waiter
}

// member is a session of a share.
type member struct {
	sub   port.Subscriber
	lists port.ChangeFilter
	uris  map[string]struct{}
}

// waiter is a request to subscribe that the backend has not decided yet.
type waiter struct {
	session, uri string
	done         chan<- error
}

func newShare(w *Watcher, backend string) *share {
	return &share{
		w: w, backend: backend, kick: make(chan struct{}, 1),
		sessions: make(map[string]*member), tasks: make(map[string]port.Caller),
	}
}

func (sh *share) changed() {
	select {
	case sh.kick <- struct{}{}:
	default:
	}
}

// join returns the session's membership; the lock is held.
func (sh *share) join(sub port.Subscriber, lists port.ChangeFilter) *member {
	m := sh.sessions[sub.Caller.Session]
	if m == nil {
		m = &member{uris: make(map[string]struct{})}
		sh.sessions[sub.Caller.Session] = m
	}
	for _, uri := range sub.Resources {
		m.uris[uri] = struct{}{}
	}
	m.sub, m.lists = sub, lists
	return m
}

func (sh *share) attach(sub port.Subscriber, lists port.ChangeFilter) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.join(sub, lists)
	sh.changed()
}

func (sh *share) detach(session string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	delete(sh.sessions, session)
	sh.changed()
}

func (sh *share) subscribe(sub port.Subscriber, lists port.ChangeFilter, uri string) <-chan error {
	done := make(chan error, 1)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	m := sh.join(sub, lists)
	m.uris[uri] = struct{}{}
	if sh.open && slices.Contains(sh.honoured.URIs, uri) {
		done <- nil
		return done
	}
	sh.waiting = append(sh.waiting, waiter{sub.Caller.Session, uri, done})
	sh.changed()
	return done
}

// unsubscribe shrinks the subscription with its next opening: until then the
// backend's updates find no taker (§3.5 A2).
func (sh *share) unsubscribe(session, uri string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if m := sh.sessions[session]; m != nil {
		delete(m.uris, uri)
	}
}

func (sh *share) track(taskID string, caller port.Caller) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.tasks[taskID] = caller
	if !sh.noTasks && len(sh.sessions) > 0 {
		sh.changed()
	}
}

func (sh *share) untrack(taskID string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	delete(sh.tasks, taskID)
}

// wanted unites the filters of all members. The caller is any of them: they
// share their credential. Without members nothing is wanted.
func (sh *share) wanted() (port.Caller, port.ChangeFilter, bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var (
		caller port.Caller
		want   port.ChangeFilter
		uris   = make(map[string]struct{})
	)
	for _, m := range sh.sessions {
		caller = m.sub.Caller
		want.Tools = want.Tools || m.lists.Tools
		want.Prompts = want.Prompts || m.lists.Prompts
		want.Resources = want.Resources || m.lists.Resources
		maps.Copy(uris, m.uris)
	}
	want.URIs = slices.Sorted(maps.Keys(uris))
	if len(sh.sessions) > 0 && !sh.noTasks {
		want.TaskIDs = slices.Sorted(maps.Keys(sh.tasks))
	}
	return caller, want, want.Tools || want.Prompts || want.Resources || len(want.URIs)+len(want.TaskIDs) > 0
}

// covered reports whether the open subscription already serves the filter.
func (sh *share) covered(want port.ChangeFilter) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	h := sh.honoured
	return sh.open && len(sh.waiting) == 0 &&
		(h.Tools || !want.Tools) && (h.Prompts || !want.Prompts) && (h.Resources || !want.Resources) &&
		subset(want.URIs, h.URIs) && subset(want.TaskIDs, h.TaskIDs)
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// opened settles everyone who waits by what the backend has honoured, and
// forgets what it has not, so that it is not asked again and again.
func (sh *share) opened(asked, honoured port.ChangeFilter) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.open, sh.honoured = true, honoured
	sh.noTasks = sh.noTasks || len(asked.TaskIDs) > 0 && len(honoured.TaskIDs) == 0
	refused := func(uri string) bool {
		return slices.Contains(asked.URIs, uri) && !slices.Contains(honoured.URIs, uri)
	}
	for _, m := range sh.sessions {
		m.lists.Tools = m.lists.Tools && (honoured.Tools || !asked.Tools)
		m.lists.Prompts = m.lists.Prompts && (honoured.Prompts || !asked.Prompts)
		m.lists.Resources = m.lists.Resources && (honoured.Resources || !asked.Resources)
		maps.DeleteFunc(m.uris, func(uri string, _ struct{}) bool { return refused(uri) })
	}
	sh.waiting = slices.DeleteFunc(sh.waiting, func(w waiter) bool {
		switch {
		case refused(w.uri):
			w.done <- jsonrpc.NewError(jsonrpc.CodeInvalidParams, "the backend does not report updates of this resource")
		case slices.Contains(honoured.URIs, w.uri):
			w.done <- nil
		default:
			return false // asked for while this subscription was being opened
		}
		return true
	})
}

// failed settles everyone who waits with an error, and takes back what they
// asked for.
func (sh *share) failed(err error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, w := range sh.waiting {
		if m := sh.sessions[w.session]; m != nil {
			delete(m.uris, w.uri)
		}
		w.done <- err
	}
	sh.waiting = nil
}

func (sh *share) lost() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.open, sh.honoured = false, port.ChangeFilter{}
}

// deliver hands a change to the sessions it concerns.
func (sh *share) deliver(c port.Change) {
	sh.mu.Lock()
	if c.Task.Present() {
		caller, tracked := sh.tasks[c.TaskID]
		sh.mu.Unlock()
		if tracked {
			sh.w.OnTask(sh.w.ctx, sh.backend, caller, c.TaskID, c.Task)
		}
		return
	}
	defer sh.mu.Unlock()
	for _, m := range sh.sessions {
		if c.URI == "" || m.concerns(c.URI) {
			m.sub.Push(c.Key, c.Message)
		}
	}
}

// concerns reports whether the session has subscribed to the resource or to one
// that it is a part of.
func (m *member) concerns(uri string) bool {
	if _, exact := m.uris[uri]; exact {
		return true
	}
	for subscribed := range m.uris {
		if rest, below := strings.CutPrefix(uri, strings.TrimSuffix(subscribed, "/")); below && strings.HasPrefix(rest, "/") {
			return true
		}
	}
	return false
}
