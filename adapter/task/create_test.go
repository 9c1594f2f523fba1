package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var errDisk = errors.New("disk full")

func TestCreateSaysWorkingWhateverTheSeedSays(t *testing.T) {
	t.Parallel()
	for _, status := range []port.TaskStatus{port.TaskWorking, port.TaskInputRequired, port.TaskCompleted, port.TaskFailed} {
		t.Run("A-T6 seed status "+string(status)+" becomes working", func(t *testing.T) {
			bubble(t, func(w *world) {
				d := doc{ID: "t1", Status: status, Message: "seed", Created: 77, TTL: ttl(hour), Poll: 500}
				w.backend.put(d)
				got := w.create(call(0, task.Ending{Seed: d.value()}))
				want := face{ID: got.ID, Status: port.TaskWorking, Message: "seed", Created: 77, TTL: d.TTL, Poll: 500}
				if diff := cmp.Diff(want, got); diff != "" {
					w.Errorf("created (-want +got):\n%s", diff)
				}
				// A-T21: the seed never counts, the first get goes upstream.
				w.wantStatus(got.ID, status)
				if gets, _ := w.backend.asked(); gets != 1 {
					w.Errorf("%d requests, want 1", gets)
				}
			})
		})
	}
}

func TestCreateErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		end  task.Ending
		want error
	}{
		"the backend's error is passed on": {task.Ending{Err: errInvalid}, errInvalid},
		"an outage is passed on":           {task.Ending{Err: errOutage}, errOutage},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				_, err := w.Create(w.Context(), call(0, tt.end))
				if !errors.Is(err, tt.want) {
					w.Errorf("error %v, want %v", err, tt.want)
				}
				if page := w.list("", false, 10); len(page.Tasks) != 0 {
					w.Errorf("%d tasks listed, want none", len(page.Tasks))
				}
			})
		})
	}
	t.Run("a malformed seed makes no task", func(t *testing.T) {
		bubble(t, func(w *world) {
			if _, err := w.Create(w.Context(), call(0, task.Ending{Seed: `{"taskId":"t1","status":"odd"}`})); err == nil {
				w.Error("no error")
			}
		})
	})
}

// seedOf makes a task at the backend and returns the ending that tells of it.
func (w *world) seedOf(id string) task.Ending {
	d := doc{ID: id, Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(hour), Poll: 1000}
	w.backend.put(d)
	return task.Ending{Seed: d.value()}
}

func TestCreateIsDurableBeforeItIsTold(t *testing.T) {
	t.Parallel()
	t.Run("A-T10 a store that fails lets no handle escape, and the backend's task is cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errDisk }
			})
			out, err := w.Create(w.Context(), call(0, w.seedOf("t1")))
			if !errors.Is(err, errDisk) || out != "" {
				w.Errorf("Create: %q, %v; want the store's error", out, err)
			}
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
		})
	})
	t.Run("A-T10 nothing is told while the write is under way", func(t *testing.T) {
		bubble(t, func(w *world) {
			release := make(chan struct{})
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { <-release; return nil }
			})
			told := make(chan error, 1)
			go func() {
				_, err := w.Create(w.Context(), call(0, w.seedOf("t1")))
				told <- err
			}()
			after(minute)
			if !pending(told) {
				w.Fatal("the task was told before it was durable")
			}
			close(release)
			if err := <-told; err != nil {
				w.Errorf("Create: %v", err)
			}
		})
	})
}

func TestCreateLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	t.Run("A-S4 a task that was written but not told is not listed", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.lost = func(state.Record) error { return errDisk }
			})
			if _, err := w.Create(w.Context(), call(0, w.seedOf("t1"))); !errors.Is(err, errDisk) {
				w.Errorf("Create: %v, want the store's error", err)
			}
			w.store.set(func(f *faulty) { f.lost = nil })
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("%d tasks listed, want none", len(page.Tasks))
			}
			if live := w.liveness(); len(live) != 0 {
				w.Errorf("tracked: %v", live)
			}
		})
	})
	t.Run("A-T10 what is large of it is not left behind", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(_ context.Context, rec state.Record) error {
					if body(rec.Key) {
						return nil
					}
					return errDisk
				}
			})
			if _, err := w.Create(w.Context(), call(0, task.Ending{Result: wire.Value(large)})); !errors.Is(err, errDisk) {
				w.Errorf("Create: %v, want the store's error", err)
			}
			if n := w.bodies(); n != 0 {
				w.Errorf("%d documents kept, want none", n)
			}
		})
	})
	t.Run("A-T10 a hosted call that cannot be kept is cut, and what it still yields is cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errDisk }
			})
			cut := make(chan struct{})
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				close(cut)
				return w.seedOf("late")
			}
			start := time.Now()
			if _, err := w.Create(w.Context(), q); !errors.Is(err, errDisk) {
				w.Errorf("Create: %v, want the store's error", err)
			}
			<-cut
			if took := time.Since(start); took != q.Grace {
				w.Errorf("cut after %v, want at once", took)
			}
			if err := w.Drain(w.Context()); err != nil {
				w.Errorf("Drain: %v", err)
			}
			synctest.Wait()
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
		})
	})
}

var errLeft = errors.New("cancelled by the client")

// creating starts a creation whose client can leave.
func (w *world) creating(q task.Request) (leave func(), told <-chan error) {
	ctx, cancel := context.WithCancelCause(w.Context())
	out := make(chan error, 1)
	go func() {
		_, err := w.Create(ctx, q)
		out <- err
	}()
	synctest.Wait()
	return func() { cancel(errLeft) }, out
}

func TestCreateForAClientThatLeaves(t *testing.T) {
	t.Parallel()
	t.Run("§1.7 before the id exists: the call is aborted, and a task it still made is cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				return w.seedOf("t1")
			}
			cancel, told := w.creating(q)
			after(second)
			cancel()
			if err := <-told; !errors.Is(err, errLeft) {
				w.Errorf("Create: %v, want the client's reason", err)
			}
			synctest.Wait()
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
		})
	})
	t.Run("§1.7 while the task is written: it is cancelled and not kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(ctx context.Context, _ state.Record) error { time.Sleep(10 * second); return nil }
			})
			cancel, told := w.creating(call(0, w.seedOf("t1")))
			cancel()
			if err := <-told; err == nil {
				w.Error("the task was told to a client that had left")
			}
			synctest.Wait()
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("%d tasks listed, want none", len(page.Tasks))
			}
		})
	})
}

func TestCreateForAClientThatLeavesTooLate(t *testing.T) {
	t.Parallel()
	t.Run("§1.7 just when the task has been written: it is cancelled and not kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			ctx, cancel := context.WithCancelCause(w.Context())
			w.store.set(func(f *faulty) {
				f.lost = func(state.Record) error { cancel(errLeft); return nil }
			})
			if _, err := w.Create(ctx, call(0, w.seedOf("t1"))); !errors.Is(err, errLeft) {
				w.Errorf("Create: %v, want the client's reason", err)
			}
			w.wantCancels(1)
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("%d tasks listed, want none", len(page.Tasks))
			}
		})
	})
	t.Run("§1.7 after the answer a hosted call goes on to its end", func(t *testing.T) {
		bubble(t, func(w *world) {
			ctx, cancel := context.WithCancel(w.Context())
			out, err := w.Create(ctx, call(10*second, task.Ending{Result: someResult}))
			if err != nil {
				w.Fatal(err)
			}
			cancel()
			after(10 * second)
			w.wantStatus(created(w.T, out).ID, port.TaskCompleted)
		})
	})
	t.Run("§1.7 after the answer nothing is undone", func(t *testing.T) {
		bubble(t, func(w *world) {
			ctx, cancel := context.WithCancel(w.Context())
			out, err := w.Create(ctx, call(0, w.seedOf("t1")))
			if err != nil {
				w.Fatal(err)
			}
			cancel()
			after(minute)
			w.wantStatus(created(w.T, out).ID, port.TaskWorking)
			if _, cancels := w.backend.asked(); cancels != 0 {
				w.Errorf("%d cancellations at the backend, want none", cancels)
			}
		})
	})
	t.Run("§1.7 a task that ended before its client left is not cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				return task.Ending{Seed: doc{ID: "t1", Status: port.TaskCompleted}.value()}
			}
			cancel, told := w.creating(q)
			cancel()
			<-told
			synctest.Wait()
			if _, cancels := w.backend.asked(); cancels != 0 {
				w.Errorf("%d cancellations at the backend, want none", cancels)
			}
		})
	})
}

func TestHostedTTL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ asked, want time.Duration }{
		"A-T11 zero is clamped up": {0, minute},
		"A-T11 the maximum holds":  {48 * hour, 2 * hour},
		"A-T11 any other is kept":  {5 * second, 5 * second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				q := call(0, task.Ending{Result: `{"content":[]}`})
				q.TTL = tt.asked
				got := w.create(q)
				if got.TTL == nil || *got.TTL != tt.want.Milliseconds() {
					w.Errorf("ttl %v, want %v", got.TTL, tt.want)
				}
				w.asleep(tt.want - time.Millisecond)
				w.wantStatus(got.ID, port.TaskCompleted)
				after(time.Millisecond)
				// A-E6: the same answer as for a handle that never was.
				if err := w.getErr(got.ID); !errors.Is(err, task.ErrUnknown) {
					w.Errorf("after the ttl: %v, want %v", err, task.ErrUnknown)
				}
				if out := w.Result(w.Context(), backendName, alice, got.ID); !errors.Is(out.Err, task.ErrUnknown) {
					w.Errorf("result after the ttl: %v, want %v", out.Err, task.ErrUnknown)
				}
				if page := w.list("", false, 10); len(page.Tasks) != 0 {
					w.Errorf("%d tasks listed after the ttl, want none", len(page.Tasks))
				}
			})
		})
	}
	t.Run("A-T8 the bridge's own clock, pace and id stand in a hosted task", func(t *testing.T) {
		bubble(t, func(w *world) {
			got := w.create(call(second, task.Ending{Result: `{"content":[]}`}))
			at := time.Now().UnixMilli()
			want := face{ID: got.ID, Status: port.TaskWorking, Created: at, Updated: at, TTL: ttl(hour), Poll: 1000}
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("created (-want +got):\n%s", diff)
			}
			if gets, _ := w.backend.asked(); gets != 0 {
				w.Errorf("%d requests for a hosted task, want none", gets)
			}
		})
	})
	t.Run("§4.2 a tool error is a failed task with the result behind it", func(t *testing.T) {
		bubble(t, func(w *world) {
			got := w.create(call(0, task.Ending{Result: `{"content":[],"isError":true}`}))
			w.wantStatus(got.ID, port.TaskFailed)
			out := w.Result(w.Context(), backendName, alice, got.ID)
			if out.Err != nil || out.Result != `{"content":[],"isError":true}` {
				w.Errorf("result %+v", out)
			}
		})
	})
}

func TestCreateAfterClose(t *testing.T) {
	bubble(t, func(w *world) {
		w.stop()
		ran := false
		q := call(0, task.Ending{})
		q.Call = func(context.Context) task.Ending { ran = true; return task.Ending{} }
		_, err := w.Create(w.Context(), q)
		w.wantCode(err, jsonrpc.CodeInternal)
		if ran {
			w.Error("the call was made although the bridge had stopped")
		}
	})
}
