package task_test

import (
	"fmt"
	"slices"
	"sync"
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
	w.stop()
	w.keys = keysOf(w.T, secrets...)
	w.start()
}

func keysOf(t *testing.T, secrets ...string) *seal.Keys {
	t.Helper()
	raw := make([][]byte, len(secrets))
	for i, secret := range secrets {
		raw[i] = []byte(secret)
	}
	keys, err := seal.New(raw, env.System().Random())
	if err != nil {
		t.Fatal(err)
	}
	return keys
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

// TestReplicasOfARotation: while a rotation goes through the replicas of a bridge, each
// pair of neighbours works on what the other has made, under load; what one has sealed
// with a secret that the other does not know yet is unknown there, and not harmed.
func TestReplicasOfARotation(t *testing.T) {
	for _, tt := range []struct {
		name     string
		one, two []string
		both     bool
	}{
		{"the new secret is made known", rotation[0], rotation[1], true},
		{"the new secret is used", rotation[1], rotation[2], true},
		{"the old secret goes", rotation[2], rotation[3], true}, // what was made before is over by then
		{"in two steps", rotation[0], rotation[2], false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.rotate(tt.one...)
				one := w.Manager
				keys := w.keys
				w.keys = keysOf(w.T, tt.two...)
				two := w.another()
				w.keys = keys
				defer w.close(two)
				secrets := map[*task.Manager][]string{one: tt.one, two: tt.two}
				var wg sync.WaitGroup
				var mu sync.Mutex
				made := map[*task.Manager][]string{}
				for i, m := range []*task.Manager{one, two, one, two, one, two} {
					wg.Go(func() {
						for range 5 {
							out, err := m.Create(w.Context(), call(0, task.Ending{Result: someResult}))
							if err != nil {
								w.Errorf("replica %d: %v", i%2, err)
								return
							}
							h := created(w.T, out).ID
							mu.Lock()
							made[m] = append(made[m], h)
							mu.Unlock()
							for _, m := range []*task.Manager{one, two} {
								_, _ = m.Get(w.Context(), backendName, alice, h, nil)
							}
						}
					})
				}
				wg.Wait()
				for _, m := range []*task.Manager{one, two} {
					for maker, handles := range made {
						for _, h := range handles {
							_, err := m.Get(w.Context(), backendName, alice, h, nil)
							if known := slices.Contains(secrets[m], secrets[maker][0]); (err == nil) != known || !known && tt.both {
								w.Errorf("a task made with %q, with %q: %v", secrets[maker], secrets[m], err)
							}
						}
					}
				}
				// Once both know the secrets of both, everything is there.
				w.keys = keysOf(w.T, secondSecret, firstSecret)
				last := w.another()
				defer w.close(last)
				page, err := last.List(w.Context(), backendName, alice, "", false, 100)
				if err != nil || len(page.Tasks) != 30 {
					w.Errorf("%d tasks, %v", len(page.Tasks), err)
				}
				w.keys = keys
			})
		})
	}
}
