package task_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	firstSecret  = "the first secret, long enough"
	secondSecret = "the second secret, long enough"
)

// rotate starts the process anew with other secrets, current first.
func (w *world) rotate(secrets ...string) {
	w.Helper()
	raw := make([][]byte, len(secrets))
	for i, secret := range secrets {
		raw[i] = []byte(secret)
	}
	keys, err := seal.New(raw, env.System().Random())
	if err != nil {
		w.Fatal(err)
	}
	w.stop()
	w.keys = keys
	w.start()
}

// rotation is how secrets are replaced: each step is a restart.
var rotation = [][]string{{firstSecret}, {firstSecret, secondSecret}, {secondSecret, firstSecret}, {secondSecret}}

// TestRotation: what an owner has is the owner's at every step of a rotation, as long
// as the secret is accepted under which it was made (DESIGN "State").
func TestRotation(t *testing.T) {
	bubble(t, func(w *world) {
		type made struct {
			handle string
			step   int
		}
		var all []made
		for step, secrets := range rotation {
			w.rotate(secrets...)
			for i := range 2 {
				all = append(all, made{w.create(call(0, task.Ending{Result: someResult})).ID, step})
				after(time.Millisecond)
				all = append(all, made{w.proxied(fmt.Sprintf("t%d-%d", step, i)), step})
				after(time.Millisecond)
			}
			var want []string
			for _, m := range all {
				opens := slices.Contains(secrets, rotation[m.step][0])
				if opens {
					want = append(want, m.handle)
				}
				_, err := w.Get(w.Context(), backendName, alice, m.handle)
				if (err == nil) != opens {
					w.Errorf("step %d: a task of step %d: %v", step, m.step, err)
				}
				if _, err := w.Get(w.Context(), backendName, bob, m.handle); err == nil {
					w.Errorf("step %d: a task of step %d is another's, too", step, m.step)
				}
			}
			var got []string
			for cursor, given := "", false; ; given = true {
				page := w.list(cursor, given, 3)
				got = append(got, w.handles(page)...)
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				w.Errorf("step %d: the list has\n%q\nwant\n%q", step, got, want)
			}
		}
	})
}

// TestCursorOverRotation: a page may follow the one before under another secret
// (A-S2).
func TestCursorOverRotation(t *testing.T) {
	bubble(t, func(w *world) {
		w.rotate(rotation[0]...)
		var want []string
		for range 4 {
			want = append(want, w.create(call(0, task.Ending{Result: someResult})).ID)
			after(time.Millisecond)
		}
		first := w.list("", false, 2)
		w.rotate(rotation[2]...)
		want = append(want, w.create(call(0, task.Ending{Result: someResult})).ID)
		second := w.list(first.Next, true, 3)
		if got := append(w.handles(first), w.handles(second)...); !slices.Equal(got, want) || second.Next != "" {
			w.Errorf("got %q, want %q", got, want)
		}
		if _, err := w.List(w.Context(), backendName, bob, first.Next, true, 3); err == nil {
			w.Error("A-S2 another follows the cursor")
		}
	})
}

// TestEventsOverRotation: an event finds a task that its owner made under another
// secret, and so does the end of the owner's session.
func TestEventsOverRotation(t *testing.T) {
	bubble(t, func(w *world) {
		w.rotate(rotation[0]...)
		handle := w.proxied("t1")
		w.rotate(rotation[2]...)
		if _, err := w.Get(w.Context(), backendName, alice, handle); err != nil { // it is known here from now on
			w.Fatal(err)
		}
		w.Observe(w.Context(), backendName, alice, "t1", doc{ID: "t1", Status: port.TaskCompleted}.value())
		if got := w.told(); !slices.Contains(got, port.TaskCompleted) {
			w.Errorf("told of %q", got)
		}
		w.mu.Lock()
		owners := w.owners
		w.mu.Unlock()
		if !slices.Contains(w.Owners(alice), owners[len(owners)-1]) || w.Owner(alice) == owners[len(owners)-1] {
			w.Errorf("told %q, of which one is %q", owners, w.Owners(alice))
		}
		w.EndOwner(w.Context(), backendName, alice)
		if page := w.list("", false, 10); len(page.Tasks) != 0 {
			w.Errorf("left: %s", page.Tasks)
		}
	})
}
