package adapter

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// attached counts the attachments that reach the crossing behind a hub.
type attached struct {
	port.Crossing
	mu   sync.Mutex
	open int
}

// Attach implements [port.Crossing].
func (a *attached) Attach(port.Subscriber) func() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.open--
	}
}

// inbox collects what is pushed to a session.
type inbox struct{ got []string }

func (i *inbox) subscriber(backend, owner string) port.Subscriber {
	return port.Subscriber{
		Backend: backend, Caller: port.Caller{Principal: owner, Tasks: true},
		Push: func(key string, msg []byte) { i.got = append(i.got, key+" "+string(msg)) },
	}
}

func principals(c port.Caller) []string { return []string{c.Principal, "older " + c.Principal} }

// TestHubReachesTheOwner: a status goes to every session of the task's owner at
// its backend, and to nobody else (§4.16).
func TestHubReachesTheOwner(t *testing.T) {
	t.Parallel()
	h, inner := newHub(), new(attached)
	crossing := h.wrap(inner, principals)
	var one, two, foreign, elsewhere, old inbox
	detach := crossing.Attach(one.subscriber("quarry", "a"))
	crossing.Attach(two.subscriber("quarry", "a"))
	crossing.Attach(foreign.subscriber("quarry", "b"))
	crossing.Attach(elsewhere.subscriber("mill", "a"))
	without := old.subscriber("quarry", "a")
	without.Caller.Tasks = false
	crossing.Attach(without)
	if inner.open != 5 {
		t.Errorf("%d attachments reached the crossing, want 5", inner.open)
	}

	h.status("quarry", "a", "h1", []byte("working"))
	detach()
	h.status("quarry", "a", "h1", []byte("completed"))
	h.status("quarry", "nobody", "h2", []byte("working"))

	for name, tt := range map[string]struct {
		box  inbox
		want []string
	}{
		"the owner, until it detached": {one, []string{"task/h1 working"}},
		"another session of the owner": {two, []string{"task/h1 working", "task/h1 completed"}},
		"another owner":                {foreign, nil},
		"another backend":              {elsewhere, nil},
		"one that knows no tasks":      {old, nil},
	} {
		if !slices.Equal(tt.box.got, tt.want) {
			t.Errorf("%s got %q, want %q", name, tt.box.got, tt.want)
		}
	}
	if inner.open != 4 {
		t.Errorf("%d attachments left at the crossing, want 4", inner.open)
	}
}

// TestHubForgets: sessions that are gone leave nothing behind, also when they
// say it twice.
func TestHubForgets(t *testing.T) {
	t.Parallel()
	h := newHub()
	var box inbox
	owners := []string{"a", "once a"}
	sub := box.subscriber("quarry", "a")
	first := h.add("quarry", owners, &sub)
	first()
	other := box.subscriber("quarry", "a")
	second := h.add("quarry", owners, &other)
	first()
	h.status("quarry", "a", "h", []byte("x"))
	if len(box.got) != 1 {
		t.Errorf("got %q: the second session must still be there", box.got)
	}
	second()
	second()
	if len(h.subs) != 0 {
		t.Errorf("%d owners left", len(h.subs))
	}
}

// TestHubConcurrently: sessions come and go while tasks change.
func TestHubConcurrently(t *testing.T) {
	t.Parallel()
	h, inner := newHub(), new(attached)
	crossing := h.wrap(inner, principals)
	var group sync.WaitGroup
	for i := range 8 {
		owner := fmt.Sprint(i % 3)
		group.Go(func() {
			for range 100 {
				var mu sync.Mutex
				crossing.Attach(port.Subscriber{Backend: "quarry", Caller: port.Caller{Principal: owner, Tasks: true}, Push: func(string, []byte) {
					mu.Lock()
					defer mu.Unlock()
				}})()
			}
		})
		group.Go(func() {
			for range 100 {
				h.status("quarry", owner, "h", []byte("x"))
			}
		})
	}
	group.Wait()
	if len(h.subs) != 0 || inner.open != 0 {
		t.Errorf("%d owners and %d attachments left", len(h.subs), inner.open)
	}
}
