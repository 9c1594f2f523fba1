package task_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
)

// observe sends a document of the backend's own accord.
func (w *world) observe(caller port.Caller, id string, d doc) {
	w.Observe(w.Context(), backendName, caller, id, d.value())
}

func TestStatusNotifications(t *testing.T) {
	t.Parallel()
	t.Run("§4.16 once per change, and never for lastUpdatedAt alone", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			waiting := w.waiting(w.Context(), h)
			step := func(change func(d *doc)) {
				w.backend.set(func(b *backend) {
					d := b.docs["t1"]
					change(&d)
					b.docs["t1"] = d
				})
				for range 30 { // the fake says "now" on every poll
					w.all(3, h)
					after(100 * time.Millisecond)
				}
			}
			step(func(*doc) {})
			step(func(d *doc) { d.Status = port.TaskInputRequired })
			step(func(d *doc) { d.Status, d.Message = port.TaskWorking, "half" })
			step(func(d *doc) { d.TTL = ttl(2 * hour) })
			step(func(d *doc) { d.Poll = 500 })
			step(func(d *doc) { d.Status = port.TaskCompleted })
			<-waiting
			var got []string
			for _, f := range w.statuses {
				got = append(got, fmt.Sprint(f.Status, " ", f.Message, " ", *f.TTL))
				if f.ID != h {
					w.Errorf("notification about %s, want the handle", f.ID)
				}
			}
			want := []string{"input_required  3600000", "working half 3600000", "working half 7200000", "completed half 7200000"}
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
			for _, owner := range w.owners {
				if owner != w.Owner(alice) {
					w.Errorf("notification for %s, want the owner", owner)
				}
			}
		})
	})
	t.Run("A-T6 what the create answer has said is no news", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			d := doc{ID: "t2", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour)}
			w.backend.put(d)
			h2 := w.create(call(0, task.Ending{Seed: d.value()})).ID
			w.wantStatus(h2, port.TaskCompleted)
			// The seed of the second said completed, but its client was told working.
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCompleted}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
}

func TestStatusOrder(t *testing.T) {
	t.Parallel()
	t.Run("A-T19 a state that was overtaken while it was rendered is not told", func(t *testing.T) {
		bubble(t, func(w *world) {
			release := make(chan struct{})
			w.onStatus = func(d doc) {
				if d.Status == port.TaskInputRequired {
					<-release
				}
			}
			w.proxied("t1")
			go w.observe(alice, "t1", doc{ID: "t1", Status: port.TaskInputRequired, TTL: ttl(hour)})
			synctest.Wait()
			w.observe(alice, "t1", doc{ID: "t1", Status: port.TaskCompleted, TTL: ttl(hour)})
			close(release)
			synctest.Wait()
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCompleted}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-T19 an older state is never told after a newer one", func(t *testing.T) {
		bubble(t, func(w *world) {
			for i := range 50 {
				id := fmt.Sprintf("t%d", i)
				h := w.proxied(id)
				var wg sync.WaitGroup
				for n := range 10 {
					status := port.TaskInputRequired
					if n == 5 {
						status = port.TaskCompleted
					}
					wg.Go(func() {
						w.observe(alice, id, doc{ID: id, Status: status, Message: fmt.Sprint(n), TTL: ttl(hour)})
					})
				}
				wg.Wait()
				last := w.statuses[len(w.statuses)-1]
				if w.wantStatus(h, port.TaskCompleted); last.Status != port.TaskCompleted {
					w.Fatalf("the last notification says %+v", last)
				}
			}
		})
	})
}

func TestObserve(t *testing.T) {
	t.Parallel()
	end := doc{ID: "t1", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour), Result: []byte(`{"late":1}`)}
	t.Run("it has the weight of a poll's answer", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.observe(alice, "t1", end)
			w.wantStatus(h, port.TaskCompleted)
			w.wantGets(0)
			if out := w.Result(w.Context(), backendName, alice, h); out.Result != `{"late":1}` {
				w.Errorf("result %+v", out)
			}
			if diff := cmp.Diff([]string{"+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("§4.16 what is foreign, unknown or malformed is ignored", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.observe(bob, "t1", end)
			w.observe(alice, "t2", end)
			w.Observe(w.Context(), "b2", alice, "t1", end.value())
			w.Observe(w.Context(), backendName, alice, "t1", `{"taskId":"t1","status":"odd"}`)
			w.wantStatus(h, port.TaskWorking)
			if got := w.told(); len(got) != 0 {
				w.Errorf("notifications %v, want none", got)
			}
			w.stop()
			w.observe(alice, "t1", end)
			w.start()
			w.wantStatus(h, port.TaskWorking)
		})
	})
	t.Run("§4.16 suppressed after a cancellation", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			if _, err := w.cancel(h); err != nil {
				w.Fatal(err)
			}
			w.observe(alice, "t1", end)
			w.wantStatus(h, port.TaskCancelled)
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCancelled}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-X5 held back while a cancellation is under way", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * second })
			go func() { _, _ = w.cancel(h) }()
			after(second)
			w.observe(alice, "t1", end)
			w.wantStatus(h, port.TaskWorking)
			after(10 * second)
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("A-T9 a task that came late is counted from the creation its client was told", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.late("t1")
			after(10 * second)
			w.observe(alice, "t1", doc{ID: "t1", Status: port.TaskInputRequired, Created: time.Now().UnixMilli(), TTL: ttl(hour)})
			if got := w.get(told.ID); got.Created != told.Created || got.Status != port.TaskInputRequired {
				w.Errorf("got %+v, want it created at %d", got, told.Created)
			}
		})
	})
}

func TestTracking(t *testing.T) {
	t.Parallel()
	t.Run("after a restart a task is tracked from the first poll on", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.crash()
			w.observe(alice, "t1", doc{ID: "t1", Status: port.TaskCompleted})
			w.wantStatus(h, port.TaskWorking)
			w.observe(alice, "t1", doc{ID: "t1", Status: port.TaskCompleted})
			w.wantStatus(h, port.TaskCompleted)
			if diff := cmp.Diff([]string{"+t1", "+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a task that nobody asks for is not tracked for ever", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.proxied("t1")
			after(hour + 9*minute)
			if diff := cmp.Diff([]string{"+t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
			after(2 * minute)
			if diff := cmp.Diff([]string{"+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("nor one without a lifetime", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().UnixMilli(), Poll: 1000}
			w.create(call(0, task.Ending{Seed: d.value()}))
			after(hour - minute)
			if diff := cmp.Diff([]string{"+t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
			after(2 * minute)
			if diff := cmp.Diff([]string{"+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
}

func TestTrackingRaces(t *testing.T) {
	t.Parallel()
	t.Run("one that another replica has ended meanwhile is not tracked on", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.crash()
			w.backend.set(func(b *backend) { b.raw, b.getDelay = b.docs["t1"].value(), 10*second })
			go func() { _, _ = w.Get(w.Context(), backendName, alice, h) }()
			after(second)
			w.backend.set(func(b *backend) { b.getDelay = 0 })
			other := w.another()
			defer w.close(other)
			if _, err := other.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			after(10 * second)
			if diff := cmp.Diff([]string{"+t1", "+t1", "-t1", "+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("each beginning has one end, in this order, whatever races", func(t *testing.T) {
		bubble(t, func(w *world) {
			for i := range 50 {
				id := fmt.Sprintf("t%d", i)
				h := w.proxied(id)
				w.crash()
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() { w.get(h) })
				}
				wg.Go(func() { _, _ = w.cancel(h) })
				wg.Go(func() { w.observe(alice, id, doc{ID: id, Status: port.TaskCompleted, TTL: ttl(hour)}) })
				wg.Wait()
				synctest.Wait()
				if status := w.get(h).Status; !status.Terminal() {
					w.Fatalf("status %s", status)
				}
				open := 1 // of the process that crashed
				for _, l := range w.liveness() {
					switch l {
					case "+" + id:
						open++
					case "-" + id:
						open--
					}
					if open < 1 || open > 3 {
						w.Fatalf("ends without beginnings: %v", w.liveness())
					}
				}
				if open != 2 {
					w.Fatalf("%s is tracked still: %v", id, w.liveness())
				}
			}
		})
	})
	t.Run("two tasks that a backend calls the same do not untrack each other", func(t *testing.T) {
		bubble(t, func(w *world) {
			first, second := w.proxied("t1"), w.proxied("t1")
			if _, err := w.cancel(first); err != nil {
				w.Fatal(err)
			}
			w.observe(alice, "t1", doc{ID: "t1", Status: port.TaskCompleted, TTL: ttl(hour)})
			w.wantStatus(first, port.TaskCancelled)
			w.wantStatus(second, port.TaskCompleted)
			w.wantGets(1)
		})
	})
}

func TestEndOwner(t *testing.T) {
	t.Parallel()
	t.Run("A-L11 the tasks are cancelled, whatever they are, and forgotten", func(t *testing.T) {
		bubble(t, func(w *world) {
			var handles []string
			for i := range 20 {
				handles = append(handles, w.proxied(fmt.Sprintf("t%d", i)))
			}
			over := w.proxied("over")
			w.now("over", port.TaskCompleted)
			w.get(over)
			aborted := make(chan struct{})
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				close(aborted)
				return task.Ending{}
			}
			hosted := w.create(q).ID
			q = call(0, w.seedOf("bobs"))
			q.Caller = bob
			bobs := w.create(q).ID
			waiting := w.waiting(w.Context(), handles[0])

			w.EndOwner(w.Context(), backendName, alice)
			<-aborted
			if pending(waiting) {
				w.Error("a waiter waits on")
			}
			if _, cancels := w.backend.asked(); cancels != 20 {
				w.Errorf("%d cancellations at the backend, want 20", cancels)
			}
			if page := w.list("", false, 50); len(page.Tasks) != 0 {
				w.Errorf("%d tasks left", len(page.Tasks))
			}
			for _, h := range []string{hosted} {
				if err := w.getErr(h); err != task.ErrUnknown { //nolint:errorlint // it is this very one
					w.Errorf("Get: %v, want %v", err, task.ErrUnknown)
				}
			}
			if out, err := w.Get(w.Context(), backendName, bob, bobs); err != nil || parseFace(w.T, out).Status != port.TaskWorking {
				w.Errorf("another owner's task: %s, %v", out, err)
			}
			living := 0
			for _, l := range w.liveness() {
				living += map[byte]int{'+': 1, '-': -1}[l[0]]
			}
			if living != 1 {
				w.Errorf("%d tasks tracked, want only the other owner's", living)
			}
		})
	})
	t.Run("A-L11 a backend that cannot be reached keeps no task alive here", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.proxied("t1")
			w.backend.set(func(b *backend) { b.getErr, b.cancelErr = errOutage, errOutage })
			w.EndOwner(w.Context(), backendName, alice)
			if page := w.list("", false, 50); len(page.Tasks) != 0 {
				w.Errorf("%d tasks left", len(page.Tasks))
			}
		})
	})
}

func TestEndOwnerInTrouble(t *testing.T) {
	t.Parallel()
	t.Run("it races with a cancellation and a poll", func(t *testing.T) {
		bubble(t, func(w *world) {
			for i := range 50 {
				h := w.proxied(fmt.Sprintf("t%d", i))
				var wg sync.WaitGroup
				wg.Go(func() { _, _ = w.cancel(h) })
				wg.Go(func() { _, _ = w.Get(w.Context(), backendName, alice, h) })
				wg.Go(func() { w.EndOwner(w.Context(), backendName, alice) })
				wg.Wait()
				w.EndOwner(w.Context(), backendName, alice)
				if page := w.list("", false, 50); len(page.Tasks) != 0 {
					w.Fatalf("%d tasks left", len(page.Tasks))
				}
			}
		})
	})
	t.Run("it ends with the manager, and with its context", func(t *testing.T) {
		bubble(t, func(w *world) {
			for i := range 30 {
				w.proxied(fmt.Sprintf("t%d", i))
			}
			w.backend.set(func(b *backend) { b.getDelay = second })
			done := make(chan struct{})
			ctx, cancel := context.WithCancel(w.Context())
			go func() { w.EndOwner(ctx, backendName, alice); close(done) }()
			after(1500 * time.Millisecond)
			cancel()
			<-done
			go w.EndOwner(w.Context(), backendName, alice)
			after(500 * time.Millisecond)
			w.stop()
			synctest.Wait()
			w.start()
			w.backend.set(func(b *backend) { b.getDelay = 0 })
			if page := w.list("", false, 50); len(page.Tasks) == 0 {
				w.Error("all tasks were ended although both were stopped")
			}
		})
	})
	t.Run("a record that cannot be read stops nothing", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.proxied("t1")
			owner := "tasks/" + backendName + "/" + w.Owner(alice)
			if _, err := w.store.Put(w.Context(), state.Record{Key: "junk", Value: []byte("junk"), Owner: owner, Order: "0"}, state.Always); err != nil {
				w.Fatal(err)
			}
			w.EndOwner(w.Context(), backendName, alice)
			if page := w.list("", false, 50); len(page.Tasks) != 0 {
				w.Errorf("%d tasks left", len(page.Tasks))
			}
			if logged := w.logged.String(); !strings.Contains(logged, "not removed") {
				w.Errorf("logged %q, want a line about the record", logged)
			}
		})
	})
}
