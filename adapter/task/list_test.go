package task_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

func (w *world) list(cursor string, given bool, size int) task.Page {
	w.Helper()
	page, err := w.List(w.Context(), backendName, alice, cursor, given, size)
	if err != nil {
		w.Fatalf("List: %v", err)
	}
	return page
}

// handles returns the task ids of a page.
func (w *world) handles(page task.Page) []string {
	w.Helper()
	var out []string
	for _, v := range page.Tasks {
		out = append(out, parseFace(w.T, v).ID)
	}
	return out
}

func TestListPages(t *testing.T) {
	t.Parallel()
	t.Run("A-S2 twelve tasks in pages of five, by creation", func(t *testing.T) {
		bubble(t, func(w *world) {
			var want []string
			for i := range 12 {
				if i%3 == 0 {
					want = append(want, w.create(call(0, task.Ending{Result: someResult})).ID)
				} else {
					want = append(want, w.proxied(fmt.Sprintf("t%d", i)))
				}
				after(time.Millisecond)
			}
			var (
				got    []string
				sizes  []int
				cursor string
			)
			for given := false; ; given = true {
				page := w.list(cursor, given, 5)
				got = append(got, w.handles(page)...)
				sizes = append(sizes, len(page.Tasks))
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("order (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{5, 5, 2}, sizes); diff != "" {
				w.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-S2 the order is stable for tasks of the same instant", func(t *testing.T) {
		bubble(t, func(w *world) {
			for i := range 6 {
				w.proxied(fmt.Sprintf("t%d", i))
			}
			all := w.handles(w.list("", false, 10))
			first := w.list("", false, 3)
			second := w.list(first.Next, true, 3)
			if diff := cmp.Diff(all, append(w.handles(first), w.handles(second)...)); diff != "" {
				w.Errorf("pages differ from the whole (-want +got):\n%s", diff)
			}
			if second.Next != "" {
				w.Error("the last page has a next one")
			}
		})
	})
}

func TestListHolds(t *testing.T) {
	t.Parallel()
	t.Run("A-S1, A-S5 what others own, or another backend has, is not listed", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			foreign := call(0, w.seedOf("t2"))
			foreign.Caller = bob
			w.create(foreign)
			elsewhere := call(0, w.seedOf("t3"))
			elsewhere.Backend = "b2"
			w.create(elsewhere)
			if diff := cmp.Diff([]string{h}, w.handles(w.list("", false, 10))); diff != "" {
				w.Errorf("list (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-S2 the second page holds what came after the first, whatever happened since", func(t *testing.T) {
		bubble(t, func(w *world) {
			var all []string
			for i := range 6 {
				all = append(all, w.proxied(fmt.Sprintf("t%d", i)))
				after(time.Millisecond)
			}
			first := w.list("", false, 3)
			if _, err := w.cancel(all[2]); err != nil {
				w.Fatal(err)
			}
			w.now("t3", port.TaskCompleted)
			all = append(all, w.proxied("t6"))
			if diff := cmp.Diff(all[3:], w.handles(w.list(first.Next, true, 10))); diff != "" {
				w.Errorf("second page (-want +got):\n%s", diff)
			}
		})
	})
}

func TestListCursor(t *testing.T) {
	bubble(t, func(w *world) {
		for i := range 3 {
			w.proxied(fmt.Sprintf("t%d", i))
			q := call(0, w.seedOf(fmt.Sprintf("u%d", i)))
			q.Caller = bob
			w.create(q)
			q.Caller, q.Backend = alice, "b2"
			w.create(q)
		}
		next := func(backend string, caller port.Caller) string {
			page, err := w.List(w.Context(), backend, caller, "", false, 1)
			if err != nil || page.Next == "" {
				w.Fatalf("List: %+v, %v", page, err)
			}
			return page.Next
		}
		own := next(backendName, alice)
		raw, err := base64.RawURLEncoding.DecodeString(own)
		if err != nil {
			w.Fatal(err)
		}
		raw[len(raw)-1] ^= 1
		for name, cursor := range map[string]string{
			"empty":           "",
			"garbage":         "page 2",
			"forged":          base64.RawURLEncoding.EncodeToString(raw),
			"a handle":        w.proxied("t9"),
			"another owner's": next(backendName, bob),
			"another route's": next("b2", alice),
		} {
			if _, err := w.List(w.Context(), backendName, alice, cursor, true, 1); port.RPCError(err).Code != jsonrpc.CodeInvalidParams {
				w.Errorf("A-S2 %s: %v, want invalid params", name, err)
			}
		}
		after(hour)
		w.list(own, true, 1)
		after(time.Millisecond)
		if _, err := w.List(w.Context(), backendName, alice, own, true, 1); port.RPCError(err).Code != jsonrpc.CodeInvalidParams {
			w.Errorf("A-S2 expired: %v, want invalid params", err)
		}
	})
}

func TestListRefreshes(t *testing.T) {
	t.Parallel()
	t.Run("A-S3 what has not ended is refreshed, eight at a time", func(t *testing.T) {
		bubble(t, func(w *world) {
			ended := w.proxied("over")
			w.now("over", port.TaskCompleted)
			w.get(ended)
			for i := range 20 {
				id := fmt.Sprintf("t%d", i)
				w.proxied(id)
				w.now(id, port.TaskInputRequired)
			}
			w.backend.set(func(b *backend) { b.gets, b.getDelay = nil, 100*time.Millisecond })
			start := time.Now()
			page := w.list("", false, 50)
			if took := time.Since(start); took != 300*time.Millisecond {
				w.Errorf("took %v, want three rounds", took)
			}
			if w.backend.most != 8 {
				w.Errorf("%d requests at a time, want 8", w.backend.most)
			}
			w.wantGets(20)
			for _, v := range page.Tasks {
				if f := parseFace(w.T, v); f.ID != ended && f.Status != port.TaskInputRequired {
					w.Errorf("listed %+v, want it refreshed", f)
				}
			}
			w.list("", false, 50) // A-T21 holds here, too
			w.wantGets(20)
		})
	})
	t.Run("A-S3 after two seconds the last known state stands in", func(t *testing.T) {
		bubble(t, func(w *world) {
			var want []string
			for i := range 20 {
				want = append(want, w.proxied(fmt.Sprintf("t%d", i)))
				w.get(want[i])
				after(time.Millisecond)
			}
			after(second)
			w.now("t0", port.TaskCompleted)
			w.backend.set(func(b *backend) { b.gets, b.getDelay = nil, hour })
			start := time.Now()
			page := w.list("", false, 50)
			if took := time.Since(start); took != 2*second {
				w.Errorf("took %v, want the deadline of two seconds", took)
			}
			if diff := cmp.Diff(want, w.handles(page)); diff != "" {
				w.Errorf("list (-want +got):\n%s", diff)
			}
			for _, v := range page.Tasks {
				if f := parseFace(w.T, v); f.Status != port.TaskWorking {
					w.Errorf("listed %+v, want the last known state", f)
				}
			}
			w.wantGets(8) // nobody is asked when there is no time left
		})
	})
}

func TestListDrops(t *testing.T) {
	t.Parallel()
	t.Run("A-T21 a seed is never shown, not even when the backend cannot be asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskCompleted, Created: time.Now().UnixMilli(), TTL: ttl(hour), Poll: 1000}
			w.create(call(0, task.Ending{Seed: d.value()}))
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			page := w.list("", false, 10)
			if len(page.Tasks) != 1 || parseFace(w.T, page.Tasks[0]).Status != port.TaskWorking {
				w.Errorf("list %v, want what the client was told: working", page.Tasks)
			}
		})
	})
	t.Run("A-S3 A-E1 what the backend has forgotten is dropped, and the page is short", func(t *testing.T) {
		bubble(t, func(w *world) {
			var handles []string
			for i := range 6 {
				handles = append(handles, w.proxied(fmt.Sprintf("t%d", i)))
				after(time.Millisecond)
			}
			w.backend.drop("t0")
			w.backend.drop("t1")
			w.backend.drop("t2")
			page := w.list("", false, 3)
			if len(page.Tasks) != 0 || page.Next == "" {
				w.Errorf("%d tasks, next %q; want an empty page with a next one", len(page.Tasks), page.Next)
			}
			if diff := cmp.Diff(handles[3:], w.handles(w.list(page.Next, true, 3))); diff != "" {
				w.Errorf("second page (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(handles[3:], w.handles(w.list("", false, 3))); diff != "" {
				w.Errorf("the list afterwards (-want +got):\n%s", diff)
			}
		})
	})
}

func TestListInTrouble(t *testing.T) {
	t.Parallel()
	t.Run("a client that leaves ends it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.proxied("t1")
			w.backend.set(func(b *backend) { b.getDelay = hour })
			left := errors.New("left")
			ctx, cancel := context.WithCancelCause(w.Context())
			time.AfterFunc(second, func() { cancel(left) })
			if _, err := w.List(ctx, backendName, alice, "", false, 10); !errors.Is(err, left) {
				w.Errorf("List: %v, want %v", err, left)
			}
		})
	})
	t.Run("a record that cannot be read costs its own place only", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			owner := "tasks/" + backendName + "/" + w.Owner(alice)
			for key, value := range map[string]string{
				"no header": "junk", "no JSON": "junk\njunk", "no handle": "{}\n{}",
			} {
				if _, err := w.store.Put(w.Context(), state.Record{Key: key, Value: []byte(value), Owner: owner, Order: "0"}, state.Always); err != nil {
					w.Fatal(err)
				}
			}
			if diff := cmp.Diff([]string{h}, w.handles(w.list("", false, 10))); diff != "" {
				w.Errorf("list (-want +got):\n%s", diff)
			}
			if logged := w.logged.String(); strings.Count(logged, "task not listed") != 2 {
				w.Errorf("logged %q, want a line for each", logged)
			}
		})
	})
	t.Run("a store that cannot be read is an error", func(t *testing.T) {
		bubble(t, func(w *world) {
			if err := w.store.Close(); err != nil {
				w.Fatal(err)
			}
			if _, err := w.List(w.Context(), backendName, alice, "", false, 10); !errors.Is(err, state.ErrClosed) {
				w.Errorf("List: %v, want %v", err, state.ErrClosed)
			}
		})
	})
}

func TestListRetention(t *testing.T) {
	t.Parallel()
	// Here list_retention is an hour.
	unlimited := func(w *world, id string) string {
		d := doc{ID: id, Status: port.TaskWorking, Created: time.Now().UnixMilli(), Poll: 1000}
		w.backend.put(d)
		return w.create(call(0, task.Ending{Seed: d.value()})).ID
	}
	t.Run("A-E3 without a lifetime, a task is listed for a retention after the last access", func(t *testing.T) {
		bubble(t, func(w *world) {
			asked, over, fetched := unlimited(w, "t1"), unlimited(w, "t2"), unlimited(w, "t4")
			silent := unlimited(w, "t3")
			for id, h := range map[string]string{"t2": over, "t4": fetched} {
				w.now(id, port.TaskCompleted)
				w.get(h)
				w.backend.drop(id) // from now on there is only the record
			}
			w.get(silent)
			for range 4 {
				w.get(asked)
				w.get(over)
				if out := w.Result(w.Context(), backendName, alice, fetched); out.Err != nil {
					w.Errorf("result: %v", out.Err)
				}
				w.asleep(20 * minute)
			}
			if diff := cmp.Diff([]string{asked, over, fetched}, w.handles(w.list("", false, 10)), cmpSorted()); diff != "" {
				w.Errorf("list (-want +got):\n%s", diff)
			}
			w.asleep(hour)
			if got := w.handles(w.list("", false, 10)); len(got) != 0 {
				w.Errorf("list %v, want nothing", got)
			}
			// A backend's task is still there to be asked for, and listed again.
			w.wantStatus(silent, port.TaskWorking)
			if diff := cmp.Diff([]string{silent}, w.handles(w.list("", false, 10))); diff != "" {
				w.Errorf("list (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-E3 keeping a task listed is not a write per access", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := unlimited(w, "t1")
			w.get(h)
			before := w.store.writes
			for range 60 {
				after(minute)
				w.get(h)
			}
			if writes := w.store.writes - before; writes < 6 || writes > 10 {
				w.Errorf("%d writes for 60 polls in an hour of retention, want about 8", writes)
			}
		})
	})
}
