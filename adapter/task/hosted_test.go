package task_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const someResult = wire.Value(`{"content":[{"type":"text","text":"done"}]}`)

func TestSlowCallIsHosted(t *testing.T) {
	t.Parallel()
	t.Run("A-T9 after the grace there is a task, and a late result is its end", func(t *testing.T) {
		bubble(t, func(w *world) {
			start := time.Now()
			told := w.create(call(10*second, task.Ending{Result: someResult}))
			if took := time.Since(start); took != 3*second {
				w.Errorf("told after %v, want the grace", took)
			}
			w.wantStatus(told.ID, port.TaskWorking)
			waiting := w.waiting(w.Context(), told.ID)
			after(7*second - time.Millisecond)
			if !pending(waiting) {
				w.Fatal("a result before the call's end")
			}
			after(time.Millisecond)
			if out := <-waiting; out.Err != nil || out.Result != someResult {
				w.Errorf("result %+v, want the call's", out)
			}
			w.wantStatus(told.ID, port.TaskCompleted)
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCompleted}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("A-T9 a late error is the task's", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(10*second, task.Ending{Err: errInvalid}))
			after(10 * second)
			w.wantStatus(told.ID, port.TaskFailed)
			out := w.Result(w.Context(), backendName, alice, told.ID)
			if got := port.RPCError(out.Err); got.Code != errInvalid.Code || got.Message != errInvalid.Message {
				w.Errorf("result %v, want the backend's error", got)
			}
		})
	})
	t.Run("A-T9 a late outage fails the task without details", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(10*second, task.Ending{Err: errOutage}))
			after(10 * second)
			w.wantStatus(told.ID, port.TaskFailed)
			out := w.Result(w.Context(), backendName, alice, told.ID)
			if got := port.RPCError(out.Err); got.Code != jsonrpc.CodeInternal || strings.Contains(got.Message, "refused") {
				w.Errorf("result %v, want an internal error without the cause", got)
			}
		})
	})
	t.Run("G-8 a call ends with times.call_total", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(100*hour, task.Ending{Result: someResult})
			q.TTL = 24 * hour
			told := w.create(q)
			after(hour)
			w.wantStatus(told.ID, port.TaskFailed)
		})
	})
	t.Run("A-E6 a call that outlasts its task ends unseen, and its late task is cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(10*minute, w.seedOf("late"))
			q.TTL = minute
			told := w.create(q)
			waiting := w.waiting(w.Context(), told.ID)
			after(minute)
			if out := <-waiting; !errors.Is(out.Err, task.ErrUnknown) {
				w.Errorf("result %+v, want %v", out, task.ErrUnknown)
			}
			if err := w.getErr(told.ID); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("Get: %v, want %v", err, task.ErrUnknown)
			}
			after(10 * minute)
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
			if err := w.getErr(told.ID); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("Get after the end: %v, want %v", err, task.ErrUnknown)
			}
		})
	})
}

// late creates a task whose call yields a task of the backend only after the
// grace, and returns what was told and when.
func (w *world) late(id string) face {
	w.Helper()
	q := call(0, task.Ending{})
	q.Call = func(context.Context) task.Ending {
		time.Sleep(10 * second)
		return w.seedOf(id)
	}
	return w.create(q)
}

func TestLateTaskOfTheBackend(t *testing.T) {
	t.Parallel()
	t.Run("A-T9 it is proxied behind the handle already told, with the creation time told", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.late("t1")
			after(7 * second)
			w.now("t1", port.TaskInputRequired)
			got := w.get(told.ID)
			// Q38: the end stays where the backend put it, an hour after its own start.
			want := face{
				ID: told.ID, Status: port.TaskInputRequired, Created: told.Created, Updated: time.Now().UnixMilli(),
				TTL: ttl(hour + 7*second), Poll: 1000,
			}
			want.TTL = ttl(time.Duration(time.Now().UnixMilli()-told.Created)*time.Millisecond + hour)
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("got (-want +got):\n%s", diff)
			}
			waiting := w.waiting(w.Context(), told.ID)
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			if out := <-waiting; out.Err != nil {
				w.Errorf("result: %v", out.Err)
			}
			if page := w.list("", false, 10); len(page.Tasks) != 1 || parseFace(w.T, page.Tasks[0]).ID != told.ID {
				w.Errorf("list %v, want the one task", page.Tasks)
			}
		})
	})
	t.Run("A-T9 who waits goes on waiting, at once for the new task", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.late("t1")
			waiting := w.waiting(w.Context(), told.ID)
			after(7 * second)
			if gets, _ := w.backend.asked(); gets != 1 {
				w.Errorf("%d requests when the task came, want 1", gets)
			}
			if !pending(waiting) {
				w.Fatal("the wait ended before the task")
			}
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			if pending(waiting) {
				w.Error("the wait did not end with the task")
			}
		})
	})
	t.Run("§4.16 becoming a task of the backend is no change of status", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.late("t1")
			after(10 * second)
			if got := w.told(); len(got) != 0 {
				w.Errorf("notifications %v, want none", got)
			}
			if diff := cmp.Diff([]string{"+t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
}

func TestLateTaskEnds(t *testing.T) {
	t.Parallel()
	t.Run("A-X2 cancelling it cancels it at the backend", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.late("t1")
			after(10 * second)
			if _, err := w.Cancel(w.Context(), backendName, alice, told.ID); err != nil {
				w.Fatal(err)
			}
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
			w.wantStatus(told.ID, port.TaskCancelled)
		})
	})
	t.Run("A-T9 one that comes malformed fails the task", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(10*second, task.Ending{Seed: `{"taskId":"t1","status":"odd"}`}))
			after(10 * second)
			w.wantStatus(told.ID, port.TaskFailed)
		})
	})
	t.Run("A-E1 one that the backend forgets is unknown", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.late("t1")
			after(10 * second)
			w.backend.drop("t1")
			w.wantCode(w.getErr(told.ID), jsonrpc.CodeInvalidParams)
			if err := w.getErr(told.ID); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("second get: %v, want %v", err, task.ErrUnknown)
			}
		})
	})
}

func TestEndSurvivesAStoreThatFails(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 the end of a call is kept once the store works again", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(10*second, task.Ending{Result: someResult}))
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errDisk }
			})
			after(minute)
			w.wantStatus(told.ID, port.TaskWorking)
			w.store.set(func(f *faulty) { f.put = nil })
			after(minute)
			w.wantStatus(told.ID, port.TaskCompleted)
		})
	})
	t.Run("DESIGN §4.2 one that cannot be kept shows as failed, not as working for ever", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(10*second, w.seedOf("t1"))
			q.TTL = 24 * hour
			told := w.create(q)
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errDisk }
			})
			after(hour + minute)
			w.store.set(func(f *faulty) { f.put = nil })
			got := w.get(told.ID)
			if got.Status != port.TaskFailed || !strings.Contains(got.Message, "could not be recorded") {
				w.Errorf("got %+v, want it failed, and why", got)
			}
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations of the lost task, want 1", cancels)
			}
			if logged := w.logged.String(); !strings.Contains(logged, "end of a hosted task not recorded") {
				w.Errorf("logged %q, want the failure", logged)
			}
		})
	})
	t.Run("A-T9 a read that fails for a moment loses nothing either", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(10*second, w.seedOf("t1")))
			w.store.set(func(f *faulty) {
				f.get = func(context.Context, string) error { return errDisk }
			})
			after(10 * second)
			w.store.set(func(f *faulty) { f.get = nil })
			after(10 * second)
			w.now("t1", port.TaskCompleted)
			w.wantStatus(told.ID, port.TaskCompleted)
			if _, cancels := w.backend.asked(); cancels != 0 {
				w.Errorf("%d cancellations at the backend, want none", cancels)
			}
		})
	})
}

// wantInterrupted checks that a task has failed because its call was cut.
func wantInterrupted(w *world, handle string) {
	w.Helper()
	got := w.get(handle)
	if got.Status != port.TaskFailed || !strings.Contains(got.Message, "interrupted") {
		w.Errorf("got %+v, want it failed as interrupted", got)
	}
	out := w.Result(w.Context(), backendName, alice, handle)
	if err := port.RPCError(out.Err); out.Err == nil || !strings.Contains(err.Message, "interrupted") {
		w.Errorf("result %+v, want an error that says interrupted", out)
	}
}

func TestCloseInterruptsHostedCalls(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 an orderly stop marks running calls at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(hour, task.Ending{Result: someResult}))
			w.stop()
			w.start()
			wantInterrupted(w, told.ID)
		})
	})
	t.Run("DESIGN §4.2 what the backend answered in time is not called interrupted", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				return task.Ending{Err: errInvalid}
			}
			told := w.create(q)
			w.stop()
			w.start()
			out := w.Result(w.Context(), backendName, alice, told.ID)
			if got := port.RPCError(out.Err); got.Message != errInvalid.Message {
				w.Errorf("result %v, want the backend's error", got)
			}
		})
	})
	t.Run("DESIGN §4.2 calls of a process that died show as interrupted", func(t *testing.T) {
		bubble(t, func(w *world) {
			hosted := w.create(call(hour, task.Ending{Result: someResult})).ID
			proxied := w.proxied("t1")
			done := w.create(call(0, task.Ending{Result: someResult})).ID
			w.crash()
			w.wantStatus(proxied, port.TaskWorking)
			w.now("t1", port.TaskCompleted)
			after(second)
			w.wantStatus(proxied, port.TaskCompleted)
			w.wantStatus(done, port.TaskCompleted)
			wantInterrupted(w, hosted)
			if page := w.list("", false, 10); len(page.Tasks) != 3 {
				w.Errorf("%d tasks listed, want all 3", len(page.Tasks))
			}
		})
	})
}

func TestLease(t *testing.T) {
	t.Parallel()
	t.Run("a hosted call of a living process is at work for every replica", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.create(call(hour, task.Ending{Result: someResult}))
			other := w.another()
			defer w.close(other)
			for range 20 {
				after(minute)
				out, err := other.Get(w.Context(), backendName, alice, told.ID, nil)
				if err != nil || parseFace(w.T, out).Status != port.TaskWorking {
					w.Fatalf("Get at another replica: %s, %v; want it working", out, err)
				}
			}
		})
	})
}

func TestLeaseOfTheDead(t *testing.T) {
	t.Parallel()
	t.Run("many readers of a dead process's calls all see them interrupted", func(t *testing.T) {
		bubble(t, func(w *world) {
			var handles []string
			for range 12 {
				handles = append(handles, w.create(call(hour, task.Ending{Result: someResult})).ID)
			}
			w.crash()
			after(15 * second)
			page := w.list("", false, 20)
			if len(page.Tasks) != len(handles) {
				w.Fatalf("%d tasks listed, want %d", len(page.Tasks), len(handles))
			}
			for _, listed := range page.Tasks {
				if f := parseFace(w.T, listed); f.Status != port.TaskFailed {
					w.Errorf("listed %+v, want it failed", f)
				}
			}
			if got := len(w.told()); got != len(handles) {
				w.Errorf("%d notifications, want one each", got)
			}
		})
	})
	t.Run("DESIGN §4.6 the lease is held until the last hosted call has ended, then given up", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				time.Sleep(minute) // a backend that is slow to let go
				return task.Ending{Result: someResult}
			}
			told := w.create(q)
			first := w.Manager
			w.start()
			closed := make(chan struct{})
			go func() { w.close(first); close(closed) }()
			after(minute - second)
			w.wantStatus(told.ID, port.TaskWorking)
			<-closed
			w.wantStatus(told.ID, port.TaskCompleted)
		})
	})
}

func TestDrain(t *testing.T) {
	bubble(t, func(w *world) {
		if err := w.Drain(w.Context()); err != nil { // nothing to wait for
			w.Error(err)
		}
		first := w.create(call(10*second, task.Ending{Result: someResult}))
		other := w.create(call(20*second, task.Ending{Result: someResult}))
		late := errors.New("deadline")
		ctx, cancel := context.WithCancelCause(w.Context())
		drained := make(chan error, 2)
		go func() { drained <- w.Drain(ctx) }()
		go func() { drained <- w.Drain(w.Context()) }()
		after(8 * second) // the first has ended
		w.wantStatus(first.ID, port.TaskCompleted)
		if !pending(drained) {
			w.Fatalf("drained with a call under way: %v", <-drained)
		}
		cancel(late)
		if err := <-drained; !errors.Is(err, late) {
			w.Errorf("Drain: %v, want the deadline's cause", err)
		}
		if err := <-drained; err != nil {
			w.Errorf("Drain: %v", err)
		}
		w.wantStatus(other.ID, port.TaskCompleted)
		w.create(call(10*second, task.Ending{Result: someResult})) // and all over again
		if err := w.Drain(w.Context()); err != nil {
			w.Errorf("second Drain: %v", err)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	bubble(t, func(w *world) {
		release := make(chan struct{})
		q := call(0, task.Ending{})
		q.Call = func(context.Context) task.Ending {
			<-release // a backend that does not let go
			return task.Ending{Result: someResult}
		}
		w.create(q)
		late := errors.New("deadline")
		ctx, cancel := context.WithCancelCause(w.Context())
		time.AfterFunc(20*second, func() { cancel(late) })
		if err := w.Close(ctx); !errors.Is(err, late) {
			w.Errorf("Close: %v, want the deadline's cause", err)
		}
		close(release)
	})
}

// TestFault: a fault of the bridge in a call fails that call, before there is a
// task as well as behind one.
func TestFault(t *testing.T) {
	bubble(t, func(w *world) {
		var none []int
		q := call(0, task.Ending{})
		q.Call = func(context.Context) task.Ending { return task.Ending{Result: wire.Value(rune(none[0]))} }
		if _, err := w.Create(w.Context(), q); !port.IsCode(err, jsonrpc.CodeInternal) {
			w.Errorf("a call at fault ended with %v", err)
		}
		q.Call = func(context.Context) task.Ending {
			time.Sleep(10 * second)
			return task.Ending{Result: wire.Value(rune(none[0]))}
		}
		told := w.create(q)
		after(10 * second)
		w.wantStatus(told.ID, port.TaskFailed)
	})
}
