package task_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// all runs n getters at once and returns what they got.
func (w *world) all(n int, handle string) []face {
	w.Helper()
	out := make([]face, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { out[i] = w.get(handle) })
	}
	wg.Wait()
	return out
}

func (w *world) wantGets(want int) {
	w.Helper()
	if gets, _ := w.backend.asked(); gets != want {
		w.Errorf("%d requests to the backend, want %d", gets, want)
	}
}

func TestGetCoalesces(t *testing.T) {
	t.Parallel()
	t.Run("A-T21 100 fast pollers cost one request per poll interval", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			for range 30 { // three seconds
				w.all(100, h)
				after(100 * time.Millisecond)
			}
			w.wantGets(3)
		})
	})
	t.Run("A-T21 what did not change is as fresh as the last request", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			for range 3 {
				after(second)
				for range 2 {
					if got := w.get(h); got.Updated != time.Now().UnixMilli() {
						w.Errorf("updated %d, want now: %d", got.Updated, time.Now().UnixMilli())
					}
				}
			}
		})
	})
	t.Run("A-T21 the bounds of the poll interval hold", func(t *testing.T) {
		bubble(t, func(w *world) {
			for id, poll := range map[string]int64{"none": 0, "tiny": 1, "huge": int64(hour / time.Millisecond), "own": 5000} {
				d := doc{ID: id, Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(24 * hour), Poll: poll}
				w.backend.put(d)
				h := w.create(call(0, task.Ending{Seed: d.value()})).ID
				want := map[string]time.Duration{"none": second, "tiny": 100 * time.Millisecond, "huge": 30 * second, "own": 5 * second}[id]
				before, _ := w.backend.asked()
				w.get(h)
				after(want - time.Millisecond)
				w.get(h)
				w.wantGets(before + 1)
				after(time.Millisecond)
				w.get(h)
				w.wantGets(before + 2)
			}
		})
	})
}

func TestGetShares(t *testing.T) {
	t.Parallel()
	t.Run("A-T21 concurrent getters share a request", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.getDelay = second })
			for _, f := range w.all(50, h) {
				if f.Status != port.TaskWorking {
					w.Errorf("got %+v", f)
				}
			}
			w.wantGets(1)
		})
	})
	t.Run("A-T21 the request goes on when the getter that began it leaves", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.getDelay = second })
			ctx, cancel := context.WithCancelCause(w.Context())
			left := errors.New("left")
			first := make(chan error, 1)
			go func() {
				_, err := w.Get(ctx, backendName, alice, h)
				first <- err
			}()
			synctest.Wait()
			second := make(chan face, 1)
			go func() { second <- w.get(h) }()
			synctest.Wait()
			cancel(left)
			if err := <-first; !errors.Is(err, left) {
				w.Errorf("first: %v, want its own cause", err)
			}
			if got := <-second; got.Status != port.TaskWorking {
				w.Errorf("second: %+v", got)
			}
			w.wantGets(1)
		})
	})
}

func TestGetAfterNews(t *testing.T) {
	t.Parallel()
	t.Run("A-T21 an event in between is what pollers see", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			d := doc{ID: "t1", Status: port.TaskInputRequired, Created: 5, TTL: ttl(hour), Poll: 1000}
			w.Observe(w.Context(), backendName, alice, "t1", d.value())
			w.wantStatus(h, port.TaskInputRequired)
			w.wantGets(1)
		})
	})
	t.Run("A-T21 also one that another replica got", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			other := w.another()
			defer w.close(other)
			for _, m := range []*task.Manager{w.Manager, other} {
				if _, err := m.Get(w.Context(), backendName, alice, h, nil); err != nil {
					w.Fatal(err)
				}
			}
			w.now("t1", port.TaskInputRequired)
			other.Observe(w.Context(), backendName, alice, "t1", w.backend.docs["t1"].value())
			w.wantStatus(h, port.TaskInputRequired)
		})
	})
	t.Run("A-T21 a cancellation in between is what pollers see", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("A-T21 after a refused cancellation the backend is asked again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			w.backend.set(func(b *backend) { b.cancelErr = errOutage })
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err == nil {
				w.Fatal("no error")
			}
			w.now("t1", port.TaskCompleted)
			w.wantStatus(h, port.TaskCompleted)
		})
	})
}

// over creates a task that has ended, and has been seen to.
func (w *world) over(id string) string {
	w.Helper()
	h := w.proxied(id)
	w.now(id, port.TaskCompleted)
	w.wantStatus(h, port.TaskCompleted)
	return h
}

func TestTerminalIsForGood(t *testing.T) {
	t.Parallel()
	t.Run("A-T19 it is served without the backend", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.over("t1")
			after(10 * minute)
			w.wantStatus(h, port.TaskCompleted)
			w.wantGets(1)
		})
	})
	t.Run("A-T19 it is served although the backend has forgotten the task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.over("t1")
			w.backend.drop("t1")
			w.asleep(hour - second)
			w.wantStatus(h, port.TaskCompleted)
		})
	})
	t.Run("A-T20 an illegal transition is hidden, also across a restart", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.over("t1")
			w.now("t1", port.TaskWorking)
			w.Observe(w.Context(), backendName, alice, "t1", w.backend.docs["t1"].value())
			after(10 * second)
			w.wantStatus(h, port.TaskCompleted)
			w.crash()
			w.wantStatus(h, port.TaskCompleted)
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCompleted}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-E2 after its lifetime the backend is asked whether it has the task still", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.over("t1")
			w.asleep(hour)
			w.now("t1", port.TaskWorking) // nonsense, but the task is there
			for range 10 {
				w.wantStatus(h, port.TaskCompleted)
			}
			w.wantGets(2)
			w.backend.drop("t1")
			after(second)
			w.wantCode(w.getErr(h), jsonrpc.CodeInvalidParams)
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("%d tasks listed, want none", len(page.Tasks))
			}
		})
	})
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	t.Run("A-T20 working and input_required flip freely", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			for _, status := range []port.TaskStatus{port.TaskInputRequired, port.TaskWorking, port.TaskInputRequired, port.TaskCompleted} {
				w.now("t1", status)
				after(second)
				w.wantStatus(h, status)
			}
		})
	})
	t.Run("A-T19 of two ends that arrive at once one is told to everybody", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			ends := []port.TaskStatus{port.TaskCompleted, port.TaskFailed}
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					d := doc{ID: "t1", Status: ends[i%2], Created: 5, TTL: ttl(hour)}
					w.Observe(w.Context(), backendName, alice, "t1", d.value())
				})
			}
			wg.Wait()
			if got := w.told(); len(got) != 1 || got[0] != w.get(h).Status {
				w.Errorf("notifications %v, status %v; want one and the same", got, w.get(h).Status)
			}
		})
	})
}

func TestBackendThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	t.Run("A-E4 an outage is an error, never a status and never unknown", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			after(second)
			for _, cause := range []error{
				errOutage,
				&port.UpstreamError{Op: "tasks/get", Status: 502, Err: errors.New("bad gateway")},
				// A proxy's error page may well be JSON-RPC: it is not the backend's word.
				&port.UpstreamError{Op: "tasks/get", Status: 500, Sent: true, Err: errNoTask},
			} {
				w.backend.set(func(b *backend) { b.getErr = cause })
				if err := w.getErr(h); !errors.Is(err, cause) {
					w.Errorf("Get: %v, want %v", err, cause)
				}
			}
			w.backend.set(func(b *backend) { b.getErr = nil })
			w.wantStatus(h, port.TaskWorking)
		})
	})
	t.Run("A-E4 a document that cannot be read is an error", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.raw = `{"taskId":"t1","status":"thinking"}` })
			if err := w.getErr(h); port.RPCError(err).Code != jsonrpc.CodeInternal {
				w.Errorf("Get: %v, want an internal error", err)
			}
		})
	})
	t.Run("A-E5 a backend without tasks says nothing about the task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.getErr = errMethod })
			if err := w.getErr(h); !errors.Is(err, errMethod) {
				w.Errorf("Get: %v, want %v", err, errMethod)
			}
			if page := w.list("", false, 10); len(page.Tasks) != 1 {
				w.Errorf("%d tasks listed, want 1", len(page.Tasks))
			}
		})
	})
}

func TestLifetimeOfABackendsTask(t *testing.T) {
	t.Parallel()
	t.Run("A-E2 ten minutes after the lifetime a task of an unreachable backend has expired", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			w.asleep(hour + 10*minute)
			w.wantCode(w.getErr(h), jsonrpc.CodeInternal)
			after(time.Millisecond)
			err := w.getErr(h)
			w.wantCode(err, jsonrpc.CodeInvalidParams)
			if !strings.Contains(err.Error(), "expired") {
				w.Errorf("error %v, want it to say expired", err)
			}
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("%d tasks listed, want none", len(page.Tasks))
			}
			w.asleep(3 * hour)
			w.wantCode(w.getErr(h), jsonrpc.CodeInvalidParams)
		})
	})
	t.Run("A-E2 a task is not expired before its backend does", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.asleep(hour)
			for range 5 {
				after(10 * minute)
				w.wantStatus(h, port.TaskWorking)
				if page := w.list("", false, 10); len(page.Tasks) != 1 {
					w.Errorf("%d tasks listed, want 1", len(page.Tasks))
				}
			}
			if got := w.told(); len(got) != 0 {
				w.Errorf("notifications %v, want none", got)
			}
		})
	})
	t.Run("A-E2 nor forgotten, as long as it is asked for", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			for range 3 {
				w.asleep(15 * hour)
				if page := w.list("", false, 10); len(page.Tasks) != 1 {
					w.Errorf("%d tasks listed, want 1", len(page.Tasks))
				}
				w.wantStatus(h, port.TaskWorking)
			}
		})
	})
	t.Run("A-E2 each answer's lifetime counts, also none at all", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			d := doc{ID: "t1", Status: port.TaskCompleted, Created: time.Now().UnixMilli()}
			w.observe(alice, "t1", d)
			w.backend.drop("t1")
			w.asleep(50 * minute)
			w.wantStatus(h, port.TaskCompleted)
			w.asleep(50 * minute)
			w.wantStatus(h, port.TaskCompleted)
		})
	})
}

func TestLifetimeByAnotherClock(t *testing.T) {
	t.Parallel()
	t.Run("A-E2 a backend whose clock is ahead has its tasks kept as long", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			d := doc{ID: "t1", Status: port.TaskCompleted, Created: time.Now().Add(hour).UnixMilli(), TTL: ttl(hour)}
			w.observe(alice, "t1", d)
			w.backend.drop("t1")
			w.asleep(2*hour - second)
			w.wantStatus(h, port.TaskCompleted)
		})
	})
	t.Run("A-E2 a backend whose clock is behind loses no task and no end", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().Add(-48 * hour).UnixMilli(), TTL: ttl(minute), Poll: 1000}
			w.backend.put(d)
			h := w.create(call(0, task.Ending{Seed: d.value()})).ID
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			w.now("t1", port.TaskCompleted)
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("A-E2 a backend's lifetime of zero makes no flood of notifications", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(0), Poll: 1000}
			w.backend.put(d)
			h := w.create(call(0, task.Ending{Seed: d.value()})).ID
			w.now("t1", port.TaskFailed)
			for range 5 {
				after(2 * second)
				w.wantStatus(h, port.TaskFailed)
			}
			if diff := cmp.Diff([]port.TaskStatus{port.TaskFailed}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
}

func TestBackendThatForgets(t *testing.T) {
	t.Parallel()
	t.Run("A-E1 its answer is passed on and the task leaves the list", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			w.backend.drop("t1")
			after(second)
			if err := w.getErr(h); !errors.Is(err, errNoTask) {
				w.Errorf("Get: %v, want the backend's message", err)
			}
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("%d tasks listed, want none", len(page.Tasks))
			}
			if diff := cmp.Diff([]string{"+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-E1 what it said before that does not stand in", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			w.backend.drop("t1")
			w.wantRefused(h, jsonrpc.CodeInvalidParams, errNoTask.Message)
			if err := w.getErr(h); !errors.Is(err, errNoTask) {
				w.Errorf("Get: %v, want %v", err, errNoTask)
			}
		})
	})
	t.Run("A-E1 A-X5 a cancellation that is under way hides it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			after(second)
			w.backend.set(func(b *backend) { b.getDelay = 10 * second })
			slow := make(chan face, 1)
			go func() { slow <- w.get(h) }()
			after(second)
			w.backend.set(func(b *backend) { b.getDelay, b.cancelDelay = 0, 20*second })
			other := w.another()
			defer w.close(other)
			go func() { _, _ = other.Cancel(w.Context(), backendName, alice, h) }()
			after(second)
			w.backend.drop("t1")
			if got := <-slow; got.Status != port.TaskWorking {
				w.Errorf("the slow getter got %+v, want it as it was", got)
			}
			after(20 * second)
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("A-E1 a cancellation that came on record meanwhile stands", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			after(second)
			w.backend.set(func(b *backend) { b.getDelay = 10 * second })
			slow := make(chan face, 1)
			go func() { slow <- w.get(h) }()
			after(second)
			// Another replica cancels, and this backend then forgets the task.
			w.backend.set(func(b *backend) { b.getDelay = 0; b.onCancel = func() { w.backend.drop("t1") } })
			other := w.another()
			defer w.close(other)
			if _, err := other.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			if got := <-slow; got.Status != port.TaskCancelled {
				w.Errorf("the slow getter got %+v, want it cancelled", got)
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
}

func TestStoreLost(t *testing.T) {
	bubble(t, func(w *world) {
		hosted := w.create(call(0, task.Ending{Result: someResult})).ID
		made := time.Now().UnixMilli()
		proxied := w.proxied("t1")
		after(second)
		long := w.proxied(strings.Repeat("x", 161))
		w.stop()
		lost := w.store
		w.store = openStore(w.T)
		if err := lost.Close(); err != nil {
			w.Fatal(err)
		}
		w.start()
		// DESIGN §4.2: the handle holds what it takes to reach a task of a backend.
		w.wantStatus(proxied, port.TaskWorking)
		for name, h := range map[string]string{"hosted": hosted, "stored id": long} {
			if err := w.getErr(h); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("%s: %v, want %v", name, err, task.ErrUnknown)
			}
		}
		w.backend.put(doc{ID: "t1", Status: port.TaskWorking, TTL: ttl(hour), Poll: 1000})
		after(second)
		if got := w.get(proxied); got.Created != made {
			w.Errorf("created %d, want the time in the handle: %d", got.Created, made)
		}
		// "gettable ⇒ listable"
		if page := w.list("", false, 10); len(page.Tasks) != 1 || parseFace(w.T, page.Tasks[0]).ID != proxied {
			w.Errorf("list %v, want the proxied task", page.Tasks)
		}
		w.now("t1", port.TaskCompleted)
		after(second)
		if out := w.Result(w.Context(), backendName, alice, proxied); out.Err != nil {
			w.Errorf("result: %v", out.Err)
		}
	})
}

// TestTombstoneLost: with the store goes that a task was cancelled here, and nothing
// else: it is what the backend says again (A-X4).
func TestTombstoneLost(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.proxied("t1")
		if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
			w.Fatal(err)
		}
		w.now("t1", port.TaskCompleted)
		after(second)
		w.wantStatus(h, port.TaskCancelled)
		w.stop()
		lost := w.store
		w.store = openStore(w.T)
		if err := lost.Close(); err != nil {
			w.Fatal(err)
		}
		w.start()
		w.wantStatus(h, port.TaskCompleted)
		if out := w.Result(w.Context(), backendName, alice, h); out.Err != nil {
			w.Errorf("A-X4 result: %v", out.Err)
		}
	})
}

func TestGetAfterClose(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.proxied("t1")
		w.get(h)
		after(second)
		w.stop()
		w.wantCode(w.getErr(h), jsonrpc.CodeInternal)
		w.wantGets(1)
	})
}
