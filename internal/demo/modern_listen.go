package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// keepAlivePeriod is the time between two comments on a quiet stream.
	keepAlivePeriod = 15 * time.Second
	// backlog is how many notifications a slow listener may lag behind.
	backlog = 256
)

// notice is a notification for whoever listens for its list or its task.
type notice struct {
	method     string
	params     object
	list, task string
}

// filter is what one subscription listens for.
type filter struct {
	lists       []string // tools, prompts, resources
	uris, tasks []string
}

func (f filter) wants(n notice) bool {
	return slices.Contains(f.lists, n.list) || slices.Contains(f.tasks, n.task)
}

// subscription is one open listen stream.
type subscription struct {
	filter filter
	out    chan notice
	lost   chan struct{} // closed when it lags too far behind
}

// hub passes notices to the subscriptions that want them.
type hub struct {
	mu   sync.Mutex
	subs map[*subscription]bool // false once lost
}

func newHub() *hub { return &hub{subs: map[*subscription]bool{}} }

func (h *hub) add(f filter) *subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &subscription{filter: f, out: make(chan notice, backlog), lost: make(chan struct{})}
	h.subs[s] = true
	return s
}

func (h *hub) remove(s *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subs, s)
}

// publish never waits: a listener that does not keep up loses its stream, not
// a notice out of the middle of it.
func (h *hub) publish(n notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s, alive := range h.subs {
		if !alive || !s.filter.wants(n) {
			continue
		}
		select {
		case s.out <- n:
		default:
			h.subs[s] = false
			close(s.lost)
		}
	}
}

// announce says that a list may have changed.
func (h *hub) announce(list string) {
	h.publish(notice{method: "notifications/" + list + "/list_changed", params: object{}, list: list})
}

// listen serves subscriptions/listen: the acknowledgement, then notices until
// one side ends it. Spec: 2026-07-28 basic/patterns/subscriptions; ext-tasks
// "Task Status Notifications".
func (m *Modern) listen(ctx context.Context, req *request, rep *reply) (object, error) {
	f, ack, err := m.honour(req)
	if err != nil {
		return nil, err
	}
	if !rep.events {
		return nil, refuse(http.StatusNotAcceptable, "a subscription needs Accept: "+typeEvents)
	}
	sub := m.hub.add(f) // before the acknowledgement: nothing after it is missed
	defer m.hub.remove(sub)
	send := func(n notice) error {
		params := maps.Clone(n.params)
		params["_meta"] = object{metaSubscription: req.id}
		return rep.notify(n.method, params)
	}
	if err := send(notice{method: "notifications/subscriptions/acknowledged", params: object{"notifications": ack}}); err != nil {
		return nil, fmt.Errorf("%w: %w", errGone, err)
	}
	if err := m.relay(ctx, sub, rep, send); err != nil {
		return nil, err
	}
	return object{"_meta": object{metaSubscription: req.id}}, nil
}

// relay sends notices until the server closes, which is the graceful end, or
// the stream fails.
func (m *Modern) relay(ctx context.Context, sub *subscription, rep *reply, send func(notice) error) error {
	quiet := time.NewTicker(keepAlivePeriod)
	defer quiet.Stop()
	var tick <-chan time.Time
	if slices.Contains(sub.filter.uris, clockURI) {
		clock := time.NewTicker(clockPeriod)
		defer clock.Stop()
		tick = clock.C
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			if m.ctx.Err() != nil {
				return nil
			}
			return ctx.Err()
		case <-sub.lost:
			return errGone
		case n := <-sub.out:
			err = send(n)
		case <-tick:
			err = send(notice{method: "notifications/resources/updated", params: object{"uri": clockURI}})
		case <-quiet.C:
			err = rep.keepAlive()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
}

// honour reads the filter of a listen request and returns the part of it that
// this server can serve, also in the form of the acknowledgement.
func (m *Modern) honour(req *request) (filter, object, error) {
	wanted, err := readObject(req.params["notifications"])
	if err != nil {
		return filter{}, nil, invalid("params.notifications: %v", err)
	}
	var f filter
	ack := object{}
	for _, list := range []string{"tools", "prompts", "resources"} {
		var on bool
		name := list + "ListChanged"
		if raw, given := wanted[name]; given && json.Unmarshal(raw, &on) != nil {
			return filter{}, nil, invalid("params.notifications.%s: want true or false", name)
		}
		if on {
			f.lists = append(f.lists, list)
			ack[name] = true
		}
	}
	if raw, given := wanted["resourceSubscriptions"]; given {
		f.uris, err = pick(raw, func(uri string) bool { _, ok := readResource(uri, time.Time{}); return ok })
		if err != nil {
			return filter{}, nil, invalid("params.notifications.resourceSubscriptions: %v", err)
		}
		ack["resourceSubscriptions"] = f.uris
	}
	if raw, given := wanted["taskIds"]; given {
		if !req.caps.tasks {
			return filter{}, nil, needs(object{"extensions": object{tasksExtension: object{}}})
		}
		f.tasks, err = pick(raw, func(id string) bool { _, err := m.jobs.get(id); return err == nil })
		if err != nil {
			return filter{}, nil, invalid("params.notifications.taskIds: %v", err)
		}
		ack["taskIds"] = f.tasks
	}
	return f, ack, nil
}

// pick returns the strings in a list that ok accepts, each once.
func pick(raw json.RawMessage, ok func(string) bool) ([]string, error) {
	var all []json.RawMessage
	if firstByte(raw) != '[' || json.Unmarshal(raw, &all) != nil {
		return nil, errNoStrings
	}
	picked := []string{}
	for _, one := range all {
		s, isString := readString(one)
		if !isString {
			return nil, errNoStrings
		}
		if ok(s) && !slices.Contains(picked, s) {
			picked = append(picked, s)
		}
	}
	return picked, nil
}
