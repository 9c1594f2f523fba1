package adapter

import (
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// hub hands status notifications of tasks to the sessions of their owner that
// have a stream open in this process (§4.16).
type hub struct {
	mu   sync.Mutex
	subs map[hubKey]map[*port.Subscriber]struct{}
}

type hubKey struct{ backend, owner string }

func newHub() *hub { return &hub{subs: make(map[hubKey]map[*port.Subscriber]struct{})} }

// status delivers a notification to every attached session of the owner.
func (h *hub) status(backend, owner, handle string, notification []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs[hubKey{backend, owner}] {
		sub.Push("task/"+handle, notification)
	}
}

// listens reports whether any session of an owner is attached.
func (h *hub) listens(backend, owner string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subs[hubKey{backend, owner}]) > 0
}

// add has a session told of the tasks that are under any of its owner's names.
func (h *hub) add(backend string, owners []string, sub *port.Subscriber) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, owner := range owners {
		key := hubKey{backend, owner}
		if h.subs[key] == nil {
			h.subs[key] = make(map[*port.Subscriber]struct{})
		}
		h.subs[key][sub] = struct{}{}
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, owner := range owners {
			key := hubKey{backend, owner}
			delete(h.subs[key], sub)
			if len(h.subs[key]) == 0 {
				delete(h.subs, key)
			}
		}
	}
}

// wrap returns a crossing whose attached sessions also hear of their tasks.
func (h *hub) wrap(c port.Crossing, owners func(port.Caller) []string) port.Crossing {
	return &hubCrossing{Crossing: c, hub: h, owners: owners}
}

type hubCrossing struct {
	port.Crossing
	hub    *hub
	owners func(port.Caller) []string
}

// Attach implements [port.Crossing].
func (c *hubCrossing) Attach(sub port.Subscriber) func() {
	if !sub.Caller.Tasks { // another session of the owner may have been offered tasks
		return c.Crossing.Attach(sub)
	}
	remove := c.hub.add(sub.Backend, c.owners(sub.Caller), &sub)
	detach := c.Crossing.Attach(sub)
	return func() {
		remove()
		detach()
	}
}
