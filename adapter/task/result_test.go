package task_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// crowd starts n waiters for one task.
func (w *world) crowd(n int, handle string) []<-chan port.Outcome {
	w.Helper()
	out := make([]<-chan port.Outcome, n)
	for i := range out {
		out[i] = w.waiting(w.Context(), handle)
	}
	return out
}

func TestResultBlocks(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		status port.TaskStatus
		result string
		err    *rpcError
		want   port.Outcome
	}{
		"A-R1 completed gives the result": {
			port.TaskCompleted, `{"content":[]}`, nil, port.Outcome{Result: `{"content":[]}`},
		},
		"A-R1 a tool error is a result, too": {
			port.TaskCompleted, `{"isError":true}`, nil, port.Outcome{Result: `{"isError":true}`},
		},
		"A-R1 failed gives the error": {
			port.TaskFailed, "", &rpcError{-32050, "out of ink"}, port.Fail(jsonrpc.NewError(-32050, "out of ink")),
		},
		"A-R1 cancelled gives an error": {
			port.TaskCancelled, "", nil, port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "Task was cancelled")),
		},
	}
	for name, tt := range ends {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				h := w.proxied("t1")
				waiting := w.waiting(w.Context(), h)
				after(10 * minute)
				if !pending(waiting) {
					w.Fatal("a result before the end")
				}
				w.backend.put(doc{ID: "t1", Status: tt.status, Created: 5, TTL: ttl(hour), Poll: 1000, Result: []byte(tt.result), Error: tt.err})
				after(1100 * time.Millisecond)
				// A-R4: again and again, until expiry.
				for range 3 {
					got := <-waiting
					if got.Result != tt.want.Result || tt.want.Err != nil && got.Err.Error() != tt.want.Err.Error() {
						w.Errorf("result %+v, want %+v", got, tt.want)
					}
					waiting = w.waiting(w.Context(), h)
				}
			})
		})
	}
}

func TestResultPolls(t *testing.T) {
	t.Parallel()
	t.Run("A-R2 100 waiters share one loop", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			crowd := w.crowd(100, h)
			after(minute)
			if gets, _ := w.backend.asked(); gets < 55 || gets > 67 {
				w.Errorf("%d requests in a minute, want about 60", gets)
			}
			w.now("t1", port.TaskCompleted)
			after(1100 * time.Millisecond)
			for i, c := range crowd {
				if pending(c) {
					w.Fatalf("waiter %d still waits", i)
				}
				if out := <-c; out.Err != nil {
					w.Errorf("waiter %d: %v", i, out.Err)
				}
			}
		})
	})
	t.Run("A-R2 the pace is the backend's, a tenth more or less", func(t *testing.T) {
		bubble(t, func(w *world) {
			for id, poll := range map[string]int64{"own": 5000, "none": 0, "tiny": 3, "huge": int64(hour / time.Millisecond)} {
				d := doc{ID: id, Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(24 * hour), Poll: poll}
				w.backend.set(func(b *backend) { b.gets = nil })
				w.backend.put(d)
				ctx, cancel := context.WithCancel(w.Context())
				w.waiting(ctx, w.create(call(0, task.Ending{Seed: d.value()})).ID)
				interval := map[string]time.Duration{"own": 5 * second, "none": second, "tiny": 100 * time.Millisecond, "huge": 30 * second}[id]
				after(50 * interval)
				cancel()
				gaps := make(map[time.Duration]bool)
				for i := 1; i < len(w.backend.gets); i++ {
					gap := w.backend.gets[i].at.Sub(w.backend.gets[i-1].at)
					gaps[gap] = true
					if gap < interval*9/10 || gap > interval*11/10 {
						w.Errorf("%s: polled after %v, want %v ± 10%%", id, gap, interval)
					}
				}
				if len(gaps) < 10 {
					w.Errorf("%s: %d polls with %d different gaps; want them to vary", id, len(w.backend.gets), len(gaps))
				}
			}
		})
	})
	t.Run("A-R2 A-T21 waiters and pollers together cost one request per interval", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.crowd(10, h)
			for range 600 { // a minute
				w.get(h)
				after(100 * time.Millisecond)
			}
			if gets, _ := w.backend.asked(); gets > 67 {
				w.Errorf("%d requests in a minute, want about 60", gets)
			}
		})
	})
	t.Run("A-H4 the loop speaks with the newest waiter's credential", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.waiting(w.Context(), h)
			renewed := alice
			renewed.Authorization = "Bearer fresh"
			go func() { w.Result(w.Context(), backendName, renewed, h) }()
			after(5 * second)
			if got := w.backend.gets[len(w.backend.gets)-1].authorization; got != renewed.Authorization {
				w.Errorf("asked with %q, want %q", got, renewed.Authorization)
			}
		})
	})
}

// slow creates a task that is polled twice an hour only.
func (w *world) slow() string {
	w.Helper()
	w.times.PollCeiling = hour
	w.stop()
	w.start()
	d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(24 * hour), Poll: (30 * minute).Milliseconds()}
	w.backend.put(d)
	return w.create(call(0, task.Ending{Seed: d.value()})).ID
}

func TestResultWakesAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("A-R2 on a cancellation", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.slow()
			crowd := w.crowd(3, h)
			after(second)
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			for _, c := range crowd {
				if pending(c) {
					w.Fatal("a waiter sleeps on")
				}
				w.wantCode((<-c).Err, jsonrpc.CodeInternal)
			}
		})
	})
	t.Run("A-R2 on an observed event", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.slow()
			waiting := w.waiting(w.Context(), h)
			after(second)
			d := doc{ID: "t1", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour), Result: []byte(`{}`)}
			w.Observe(w.Context(), backendName, alice, "t1", d.value())
			if pending(waiting) {
				w.Fatal("the waiter sleeps on")
			}
			if out := <-waiting; out.Result != `{}` {
				w.Errorf("result %+v", out)
			}
			w.wantGets(1)
		})
	})
}

func TestResultSleepsThroughNothing(t *testing.T) {
	t.Parallel()
	t.Run("A-R2 on what another replica has seen", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.slow()
			waiting := w.waiting(w.Context(), h)
			after(second)
			other := w.another()
			defer w.close(other)
			w.now("t1", port.TaskCompleted)
			if _, err := other.Get(w.Context(), backendName, alice, h, nil); err != nil {
				w.Fatal(err)
			}
			if pending(waiting) {
				w.Error("the waiter sleeps on")
			}
		})
	})
	t.Run("A-R2 an end between looking and waiting is not slept through", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.slow()
			w.get(h)
			// The end comes on record right after the waiter has read the record.
			var looked sync.Once
			asked := make(chan struct{})
			waiting := make(chan port.Outcome, 1)
			d := doc{ID: "t1", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour), Result: []byte(`{}`)}
			w.store.set(func(f *faulty) {
				f.get = func(ctx context.Context, _ string) error {
					looked.Do(func() {
						close(asked)
						go w.Observe(context.WithoutCancel(ctx), backendName, alice, "t1", d.value())
					})
					return nil
				}
			})
			go func() { waiting <- w.Result(w.Context(), backendName, alice, h) }()
			after(second)
			select {
			case <-asked:
			default:
				w.Fatal("the store was not asked")
			}
			if pending(waiting) {
				w.Error("the waiter sleeps on")
			}
		})
	})
}

func TestResultErrors(t *testing.T) {
	t.Parallel()
	t.Run("A-R6 a task that the backend forgets ends the waits", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			crowd := w.crowd(3, h)
			after(5 * second)
			w.backend.drop("t1")
			after(1100 * time.Millisecond)
			for _, c := range crowd {
				if pending(c) {
					w.Fatal("a waiter waits on")
				}
				w.wantCode((<-c).Err, jsonrpc.CodeInvalidParams)
			}
		})
	})
	t.Run("A-R6 a waiter is told of the cancellation that made the backend forget", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			waiting := w.waiting(w.Context(), h)
			w.backend.set(func(b *backend) {
				b.onCancel = func() { w.backend.drop("t1"); time.Sleep(5 * second) }
			})
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			if out := <-waiting; port.RPCError(out.Err).Message != "Task was cancelled" {
				w.Errorf("result %+v, want the cancellation", out)
			}
		})
	})
	t.Run("A-R6 a backend without tasks ends the waits", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.getErr = errMethod })
			if out := w.Result(w.Context(), backendName, alice, h); !errors.Is(out.Err, errMethod) {
				w.Errorf("result %+v, want %v", out, errMethod)
			}
		})
	})
}

func TestResultThroughAnOutage(t *testing.T) {
	t.Parallel()
	t.Run("A-R6 an outage is waited out", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			waiting := w.waiting(w.Context(), h)
			after(50 * minute)
			w.backend.set(func(b *backend) { b.getErr = nil })
			after(second + second)
			w.backend.set(func(b *backend) { b.getErr = errOutage }) // the clock starts again
			after(15 * minute)
			if !pending(waiting) {
				w.Fatalf("the wait ended: %+v", <-waiting)
			}
			w.backend.set(func(b *backend) { b.getErr = nil })
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			if pending(waiting) {
				w.Fatal("the waiter waits on")
			}
			if out := <-waiting; out.Err != nil {
				w.Errorf("result: %v", out.Err)
			}
		})
	})
	t.Run("A-R6 G-8 an outage is not waited out for longer than times.call_total", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().UnixMilli(), Poll: 1000}
			h := w.create(call(0, task.Ending{Seed: d.value()})).ID
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			waiting := w.waiting(w.Context(), h)
			after(hour - second)
			if !pending(waiting) {
				w.Fatal("the wait ended early")
			}
			after(3 * second)
			if pending(waiting) {
				w.Fatal("the waiter waits on")
			}
			w.wantCode((<-waiting).Err, jsonrpc.CodeInternal)
		})
	})
	t.Run("A-R6 A-E2 nor beyond the lifetime", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(minute), Poll: 1000}
			h := w.create(call(0, task.Ending{Seed: d.value()})).ID
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			waiting := w.waiting(w.Context(), h)
			after(11*minute + 2*second)
			if pending(waiting) {
				w.Fatal("the waiter waits on")
			}
			w.wantCode((<-waiting).Err, jsonrpc.CodeInvalidParams)
		})
	})
}

func TestWaitersComeAndGo(t *testing.T) {
	t.Parallel()
	t.Run("A-R5 one that leaves leaves the others, and the last one stops the loop", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			left := errors.New("left")
			ctx, cancel := context.WithCancelCause(w.Context())
			first := w.waiting(ctx, h)
			ctx2, cancel2 := context.WithCancelCause(w.Context())
			second := w.waiting(ctx2, h)
			cancel(left)
			if out := <-first; !errors.Is(out.Err, left) {
				w.Errorf("the first: %+v, want its own cause", out)
			}
			before, _ := w.backend.asked()
			after(10 * time.Second)
			if now, _ := w.backend.asked(); now == before || !pending(second) {
				w.Errorf("%d polls after one of two waiters left", now-before)
			}
			cancel2(left)
			<-second
			before, cancels := w.backend.asked()
			after(minute)
			w.wantGets(before)
			if cancels != 0 {
				w.Error("A-R5: the task was cancelled because its waiters left")
			}
			// A new one begins again.
			third := w.waiting(w.Context(), h)
			w.now("t1", port.TaskCompleted)
			after(2 * time.Second)
			if pending(third) {
				w.Error("a waiter that came later sleeps on")
			}
		})
	})
	t.Run("closing the manager releases the waiters", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			crowd := w.crowd(5, h)
			w.stop()
			for _, c := range crowd {
				w.wantCode((<-c).Err, jsonrpc.CodeInternal)
			}
			out := w.Result(w.Context(), backendName, alice, h)
			w.wantCode(out.Err, jsonrpc.CodeInternal)
		})
	})
	t.Run("a store that cannot be read is an error", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.store.set(func(f *faulty) {
				f.get = func(context.Context, string) error { return errDisk }
			})
			if out := w.Result(w.Context(), backendName, alice, h); !errors.Is(out.Err, errDisk) {
				w.Errorf("result %+v, want %v", out, errDisk)
			}
		})
	})
}

// bodies counts the records that hold a document of their own.
func (w *world) bodies() int {
	w.Helper()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return len(w.store.bodies)
}

var large = []byte(`{"content":"` + strings.Repeat("x", 200<<10) + `"}`)

func TestLargeResult(t *testing.T) {
	t.Parallel()
	t.Run("polls and lists do not read it, results do", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.put(doc{ID: "t1", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour), Result: large})
			hosted := w.create(call(0, task.Ending{Result: wire.Value(large)})).ID
			w.wantStatus(h, port.TaskCompleted)
			w.crash()
			stored, err := w.store.List(w.Context(), "tasks/"+backendName+"/"+w.Owner(alice), state.Pos{}, 10)
			if err != nil || len(stored) != 2 {
				w.Fatalf("%d records, %v", len(stored), err)
			}
			for _, rec := range stored {
				if len(rec.Value) > 4<<10 {
					w.Errorf("a listed record has %d bytes", len(rec.Value))
				}
			}
			w.wantStatus(h, port.TaskCompleted)
			if page := w.list("", false, 10); parseFace(w.T, page.Tasks[0]).Status != port.TaskCompleted {
				w.Errorf("listed %s", page.Tasks[0])
			}
			for range 2 {
				for _, handle := range []string{h, hosted} {
					if out := w.Result(w.Context(), backendName, alice, handle); string(out.Result) != string(large) {
						w.Errorf("result of %d bytes, %v; want all %d", len(out.Result), out.Err, len(large))
					}
				}
			}
			w.wantGets(1)
		})
	})
	t.Run("who waits for it gets it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			waiting := w.waiting(w.Context(), h)
			w.backend.put(doc{ID: "t1", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour), Result: large})
			after(2 * second)
			if out := <-waiting; string(out.Result) != string(large) {
				w.Errorf("result of %d bytes, %v", len(out.Result), out.Err)
			}
		})
	})
}

func TestLargeResultGoes(t *testing.T) {
	t.Parallel()
	t.Run("it goes with its task, and with the one that lost the race to record it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			d := doc{ID: "t1", Status: port.TaskCompleted, Created: 5, TTL: ttl(hour), Result: large}
			for range 8 {
				go w.Observe(w.Context(), backendName, alice, "t1", d.value())
			}
			after(second)
			if n := w.bodies(); n != 1 {
				w.Errorf("%d documents kept, want 1", n)
			}
			for _, until := range w.store.bodies {
				if until.Before(time.Now().Add(hour)) || until.After(time.Now().Add(48*hour)) {
					w.Errorf("a document expires at %v, want it to go with its task", until)
				}
			}
			w.wantStatus(h, port.TaskCompleted)
			w.EndOwner(w.Context(), backendName, alice)
			if n := w.bodies(); n != 0 {
				w.Errorf("%d documents kept after their task, want none", n)
			}
		})
	})
	t.Run("A-E3 it lives as long as a task without a lifetime is asked for", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.put(doc{ID: "t1", Status: port.TaskCompleted, Created: 5, Result: large})
			w.wantStatus(h, port.TaskCompleted)
			for range 5 {
				w.asleep(30 * minute)
				w.wantStatus(h, port.TaskCompleted)
			}
			if out := w.Result(w.Context(), backendName, alice, h); string(out.Result) != string(large) {
				w.Errorf("result of %d bytes, %v", len(out.Result), out.Err)
			}
		})
	})
}
