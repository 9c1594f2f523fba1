package listen

import (
	"context"
	"errors"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

// feed is a session with the subscriptions that live on it. The hub's lock guards
// it.
type feed struct {
	h       *Hub
	session port.Session
	members map[*listener]struct{}
	// resources are those that somebody wants, or that the backend may still
	// report, by URI.
	resources map[string]*resource
	// queue are the resources that a worker has to look at.
	queue   []*resource
	workers int
}

// resource is a resource on a session.
type resource struct {
	uri string
	// refs is how many subscriptions want it, credential that of the last of them.
	refs       int
	credential string
	// on is set while the backend has agreed to report updates, doubtful when it
	// may do so although it has not said it.
	on, doubtful bool
	// queued is set while a worker looks at it, or will.
	queued bool
	// attempt is the subscribing that is to come or under way.
	attempt *attempt
}

// attempt is one try to subscribe to a resource.
type attempt struct {
	done chan struct{} // closed once ok is final
	ok   bool
}

// join makes the listener a member of the session's feed; the lock is held.
func (h *Hub) join(l *listener, session port.Session) *feed {
	f := h.feeds[session]
	if f == nil {
		f = &feed{h: h, session: session, members: make(map[*listener]struct{}), resources: make(map[string]*resource)}
		h.feeds[session] = f
	}
	f.members[l] = struct{}{}
	return f
}

// leave ends a membership, and gives up what nobody else wants; the lock is held.
func (f *feed) leave(l *listener, uris []string) {
	delete(f.members, l)
	for _, uri := range uris {
		f.unref(uri)
	}
	f.settle()
}

// settle forgets a feed that nobody needs; the lock is held.
func (f *feed) settle() {
	if len(f.members)+len(f.resources)+f.workers == 0 {
		delete(f.h.feeds, f.session)
	}
}

// ref asks for a resource and returns how that is decided, or nil if the backend
// reports it already; the lock is held.
func (f *feed) ref(uri, credential string) *attempt {
	r := f.resources[uri]
	if r == nil {
		r = &resource{uri: uri}
		f.resources[uri] = r
	}
	r.refs++
	r.credential = credential
	if r.on {
		return nil
	}
	if r.attempt == nil {
		r.attempt = &attempt{done: make(chan struct{})}
		f.look(r)
	}
	return r.attempt
}

// unref takes a [feed.ref] back; the lock is held.
func (f *feed) unref(uri string) {
	r := f.resources[uri]
	if r == nil {
		return
	}
	if r.refs--; r.refs > 0 {
		return
	}
	switch {
	case r.queued: // whoever looks at it sees that
	case r.on || r.doubtful:
		f.look(r)
	default:
		delete(f.resources, uri)
	}
}

// look has a worker bring a resource in line with what is wanted; the lock is held.
func (f *feed) look(r *resource) {
	if r.queued {
		return
	}
	r.queued = true
	f.queue = append(f.queue, r)
	if f.workers < maxRequests && f.h.spawn(f.serve) {
		f.workers++
	}
}

// serve is a worker: it looks at resources until there is nothing to do.
func (f *feed) serve() {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	for len(f.queue) > 0 {
		r := f.queue[0]
		f.queue[0] = nil
		f.queue = f.queue[1:]
		f.adjust(r)
	}
	f.workers--
	f.settle()
}

// adjust brings a resource in line, however often what is wanted changes meanwhile.
// The lock is held, but not during requests.
func (f *feed) adjust(r *resource) {
	for {
		switch {
		case r.refs > 0 && r.attempt != nil:
			f.subscribe(r)
		case r.refs == 0 && (r.on || r.doubtful):
			r.on, r.doubtful = false, false
			// There is nothing to do about a refusal: updates find no taker.
			_ = f.request(r, f.h.Dialect.Unsubscribe(r.uri))
		default:
			r.queued = false
			if r.refs == 0 {
				delete(f.resources, r.uri)
			}
			return
		}
	}
}

// subscribe asks the backend to report updates of a resource; see adjust.
func (f *feed) subscribe(r *resource) {
	err := f.request(r, f.h.Dialect.Subscribe(r.uri))
	var upstream *port.UpstreamError
	r.on = err == nil
	// An answer that did not come may still have been a yes.
	r.doubtful = errors.As(err, &upstream) && upstream.Sent
	r.decide(r.on)
}

// decide settles everyone who waits for the present attempt.
func (r *resource) decide(ok bool) {
	if r.attempt != nil {
		r.attempt.ok = ok
		close(r.attempt.done)
		r.attempt = nil
	}
}

// errSlow is the cause of the end of a request that the backend did not answer.
var errSlow error = &port.CauseError{Text: "no answer about a resource", Public: port.TimedOut}

// request performs a request about a resource; the lock is not held meanwhile.
func (f *feed) request(r *resource, call port.SessionCall) error {
	call.Authorization = r.credential
	f.h.mu.Unlock()
	defer f.h.mu.Lock()
	ctx, cancel := env.WithTimeout(f.h.ctx, f.h.Env, requestTime, errSlow)
	defer cancel()
	_, err := f.session.Do(ctx, call)
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return &port.UpstreamError{Op: call.Method, Sent: true, Err: cause}
	}
	return err
}
