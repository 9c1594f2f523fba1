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
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

func (w *world) cancel(handle string) (face, error) {
	w.Helper()
	out, err := w.Cancel(w.Context(), backendName, alice, handle)
	if err != nil {
		return face{}, err
	}
	return parseFace(w.T, out), nil
}

// wantRefused expects a cancellation to be refused with this error.
func (w *world) wantRefused(handle string, code int64, message string) {
	w.Helper()
	_, err := w.cancel(handle)
	if got := port.RPCError(err); err == nil || got.Code != code || message != "" && got.Message != message {
		w.Errorf("Cancel: %v, want code %d %q", err, code, message)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("§4.9 step 7: the answer is the task, cancelled, with its last known fields", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			created := time.Now().UnixMilli()
			after(5 * second)
			got, err := w.cancel(h)
			if err != nil {
				w.Fatal(err)
			}
			want := face{
				ID: h, Status: port.TaskCancelled, Message: "The task was cancelled by request.",
				Created: created, Updated: time.Now().UnixMilli(), TTL: ttl(hour), Poll: 1000,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, w.get(h)); diff != "" {
				w.Errorf("get (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCancelled}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"+t1", "-t1"}, w.liveness()); diff != "" {
				w.Errorf("tracked (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("§4.9 step 1: unknown and foreign handles", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.wantRefused("nonsense", jsonrpc.CodeInvalidParams, task.ErrUnknown.Message)
			if _, err := w.Cancel(w.Context(), backendName, bob, h); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("foreign: %v, want %v", err, task.ErrUnknown)
			}
			if _, cancels := w.backend.asked(); cancels != 0 {
				w.Errorf("%d cancellations at the backend, want none", cancels)
			}
		})
	})
	t.Run("§4.9 step 5: gone or over meanwhile is as good as cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelErr = errNoTask })
			if got, err := w.cancel(h); err != nil || got.Status != port.TaskCancelled {
				w.Errorf("Cancel: %+v, %v", got, err)
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
}

func TestCancelRefused(t *testing.T) {
	t.Parallel()
	for _, end := range []port.TaskStatus{port.TaskCompleted, port.TaskFailed, port.TaskCancelled} {
		t.Run("§4.9 steps 2 and 3: refused for a task that is "+string(end), func(t *testing.T) {
			bubble(t, func(w *world) {
				h := w.proxied("t1")
				w.now("t1", end)
				want := "Cannot cancel task: already in terminal status '" + string(end) + "'"
				w.wantRefused(h, jsonrpc.CodeInvalidParams, want) // learned from the backend
				w.wantRefused(h, jsonrpc.CodeInvalidParams, want) // on record
				if gets, cancels := w.backend.asked(); gets != 1 || cancels != 0 {
					w.Errorf("%d gets and %d cancellations at the backend, want 1 and 0", gets, cancels)
				}
				w.wantStatus(h, end)
			})
		})
	}
	t.Run("§4.9 step 3: the face's status counts", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.put(doc{ID: "t1", Status: port.TaskCompleted, TTL: ttl(hour), Result: []byte(`{"isError":true}`)})
			w.wantRefused(h, jsonrpc.CodeInvalidParams, "Cannot cancel task: already in terminal status 'failed'")
		})
	})
	t.Run("§4.9 step 3: a task that the backend has forgotten is unknown", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.drop("t1")
			w.wantRefused(h, jsonrpc.CodeInvalidParams, errNoTask.Message)
		})
	})
	t.Run("§4.9 step 3: an outage is an internal error, also for a task just seen", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			w.wantRefused(h, jsonrpc.CodeInternal, "")
			w.backend.set(func(b *backend) { b.getErr = nil })
			w.wantStatus(h, port.TaskWorking)
		})
	})
}

func TestCancelIsSticky(t *testing.T) {
	t.Parallel()
	t.Run("A-X1 although the backend completes the task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.keep = true })
			if _, err := w.cancel(h); err != nil {
				w.Fatal(err)
			}
			w.now("t1", port.TaskCompleted)
			w.Observe(w.Context(), backendName, alice, "t1", w.backend.docs["t1"].value())
			for range 3 {
				w.wantStatus(h, port.TaskCancelled)
				out := w.Result(w.Context(), backendName, alice, h)
				w.wantCode(out.Err, jsonrpc.CodeInternal)
				w.wantRefused(h, jsonrpc.CodeInvalidParams, "Cannot cancel task: already in terminal status 'cancelled'")
				w.asleep(19 * minute)
			}
			w.crash()
			w.wantStatus(h, port.TaskCancelled)
			if page := w.list("", false, 10); len(page.Tasks) != 1 || parseFace(w.T, page.Tasks[0]).Status != port.TaskCancelled {
				w.Errorf("list %v, want the cancelled task until its lifetime ends", page.Tasks)
			}
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCancelled}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
			w.backend.drop("t1")
			after(4 * minute)
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("list %v, want nothing after expiry", page.Tasks)
			}
		})
	})
	t.Run("A-X1 for a task without a lifetime, a day at least", func(t *testing.T) {
		bubble(t, func(w *world) {
			d := doc{ID: "t1", Status: port.TaskWorking, Created: time.Now().UnixMilli(), Poll: 1000}
			w.backend.put(d)
			w.backend.set(func(b *backend) { b.keep = true })
			h := w.create(call(0, task.Ending{Seed: d.value()})).ID
			if _, err := w.cancel(h); err != nil {
				w.Fatal(err)
			}
			w.now("t1", port.TaskCompleted)
			w.asleep(24*hour - second)
			w.wantStatus(h, port.TaskCancelled)
			w.wantGets(1)
		})
	})
}

func TestCancelHosted(t *testing.T) {
	t.Parallel()
	t.Run("A-X2 the call is aborted", func(t *testing.T) {
		bubble(t, func(w *world) {
			aborted := make(chan error, 1)
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				aborted <- context.Cause(ctx)
				return task.Ending{Result: someResult}
			}
			h := w.create(q).ID
			waiting := w.waiting(w.Context(), h)
			got, err := w.cancel(h)
			if err != nil || got.Status != port.TaskCancelled || got.Message != "The task was cancelled by request." {
				w.Errorf("Cancel: %+v, %v", got, err)
			}
			if pending(aborted) {
				w.Error("the call goes on")
			}
			if pending(waiting) {
				w.Error("the waiter waits on")
			}
			// The result that came all the same is discarded.
			w.wantStatus(h, port.TaskCancelled)
			w.wantRefused(h, jsonrpc.CodeInvalidParams, "Cannot cancel task: already in terminal status 'cancelled'")
			if diff := cmp.Diff([]port.TaskStatus{port.TaskCancelled}, w.told()); diff != "" {
				w.Errorf("notifications (-want +got):\n%s", diff)
			}
			if gets, cancels := w.backend.asked(); gets+cancels != 0 {
				w.Errorf("%d requests to the backend, want none", gets+cancels)
			}
		})
	})
	t.Run("§4.9 step 2: refused once it is over", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.create(call(0, task.Ending{Result: `{"isError":true}`})).ID
			w.wantRefused(h, jsonrpc.CodeInvalidParams, "Cannot cancel task: already in terminal status 'failed'")
		})
	})
	t.Run("A-E6 unknown once it has expired", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(hour, task.Ending{})
			q.TTL = minute
			h := w.create(q).ID
			after(minute)
			if _, err := w.cancel(h); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("Cancel: %v, want %v", err, task.ErrUnknown)
			}
		})
	})
}

func TestCancelHostedWithALateTask(t *testing.T) {
	t.Parallel()
	t.Run("A-X2 a task that its call yields all the same is cancelled at the backend", func(t *testing.T) {
		bubble(t, func(w *world) {
			q := call(0, task.Ending{})
			q.Call = func(ctx context.Context) task.Ending {
				<-ctx.Done()
				return w.seedOf("late")
			}
			h := w.create(q).ID
			if _, err := w.cancel(h); err != nil {
				w.Fatal(err)
			}
			synctest.Wait()
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("A-X2 a task that comes late in the middle of it is cancelled at the backend, too", func(t *testing.T) {
		bubble(t, func(w *world) {
			told := w.late("t1")
			after(6 * second)
			// The cancellation reads the record, and the task comes before it writes.
			w.store.set(func(f *faulty) {
				held := false
				f.put = func(context.Context, state.Record) error {
					w.store.mu.Lock()
					first := !held
					held = true
					w.store.mu.Unlock()
					if first {
						time.Sleep(5 * second)
					}
					return nil
				}
			})
			got, err := w.cancel(told.ID)
			if err != nil || got.Status != port.TaskCancelled {
				w.Fatalf("Cancel: %+v, %v", got, err)
			}
			if _, cancels := w.backend.asked(); cancels != 1 {
				w.Errorf("%d cancellations at the backend, want 1", cancels)
			}
			w.wantStatus(told.ID, port.TaskCancelled)
		})
	})
}

func TestCancelRefusedByTheBackend(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"an outage":              errOutage,
		"no tasks there":         errMethod,
		"a missing capability":   jsonrpc.NewError(-32021, "tasks"),
		"a proxy's lookalike":    &port.UpstreamError{Op: "tasks/cancel", Status: 503, Err: errNoTask},
		"an error of the server": jsonrpc.NewError(jsonrpc.CodeInternal, "boom"),
	} {
		t.Run("§4.9 step 5, A-X5: rolled back, unseen by readers: "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				h := w.proxied("t1")
				waiting := w.waiting(w.Context(), h)
				w.backend.set(func(b *backend) { b.cancelErr, b.cancelDelay = cause, 10*second })
				refused := make(chan error, 1)
				go func() {
					_, err := w.cancel(h)
					refused <- err
				}()
				after(5 * second)
				// A-X5: in the middle readers see the task as it was, and the backend is
				// left alone.
				before, _ := w.backend.asked()
				w.wantStatus(h, port.TaskWorking)
				w.wantGets(before)
				if page := w.list("", false, 10); parseFace(w.T, page.Tasks[0]).Status != port.TaskWorking {
					w.Errorf("listed %s", page.Tasks[0])
				}
				after(5 * second)
				w.wantCode(<-refused, jsonrpc.CodeInternal)
				if logged := w.logged.String(); !strings.Contains(logged, "backend not asked to cancel") {
					w.Errorf("logged %q, want the refusal", logged)
				}
				w.wantStatus(h, port.TaskWorking)
				if !pending(waiting) || len(w.told()) != 0 {
					w.Errorf("somebody was told of a cancellation that did not happen: %v", w.told())
				}
				// Nothing is left of it.
				w.backend.set(func(b *backend) { b.cancelErr = nil })
				if got, err := w.cancel(h); err != nil || got.Status != port.TaskCancelled {
					w.Errorf("second Cancel: %+v, %v", got, err)
				}
			})
		})
	}
}

func TestCancelInTrouble(t *testing.T) {
	t.Parallel()
	t.Run("A-X5 a rollback that fails blocks nobody", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.get(h)
			w.backend.set(func(b *backend) {
				b.cancelErr = errOutage
				b.onCancel = func() {
					w.store.set(func(f *faulty) {
						f.put = func(context.Context, state.Record) error { return errDisk }
					})
				}
			})
			w.wantRefused(h, jsonrpc.CodeInternal, "")
			w.store.set(func(f *faulty) { f.put = nil })
			if logged := w.logged.String(); !strings.Contains(logged, "not rolled back") {
				w.Errorf("logged %q, want the failure", logged)
			}
			w.backend.set(func(b *backend) { b.cancelErr, b.onCancel = nil, nil })
			w.now("t1", port.TaskCompleted)
			w.wantStatus(h, port.TaskCompleted)
		})
	})
	t.Run("G-8 a backend that does not answer is given up", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * hour })
			start := time.Now()
			w.wantRefused(h, jsonrpc.CodeInternal, "")
			// Others must not overrule the mark while it is alive.
			if took := time.Since(start); took >= minute {
				w.Errorf("given up after %v, want less than a minute", took)
			}
			w.wantStatus(h, port.TaskWorking)
		})
	})
}

func TestCancelWithoutItsClient(t *testing.T) {
	t.Parallel()
	t.Run("§1.7 it runs to its end when the client leaves", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * second })
			ctx, cancel := context.WithCancel(w.Context())
			go func() { _, _ = w.Cancel(ctx, backendName, alice, h) }()
			after(5 * second)
			cancel()
			after(5 * second)
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("a stop of the bridge waits for it, rolled back", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * second })
			go func() { _, _ = w.cancel(h) }()
			after(5 * second)
			w.stop()
			w.start()
			w.wantStatus(h, port.TaskWorking)
			w.backend.set(func(b *backend) { b.cancelDelay = 0 })
			if _, err := w.cancel(h); err != nil {
				w.Errorf("Cancel: %v", err)
			}
		})
	})
	t.Run("§4.9 a crash between mark and commit blocks nobody", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * second })
			go func() { _, _ = w.cancel(h) }()
			after(5 * second)
			w.crash()
			w.backend.set(func(b *backend) { b.cancelDelay = 0 })
			w.wantStatus(h, port.TaskWorking)
			if got, err := w.cancel(h); err != nil || got.Status != port.TaskCancelled {
				w.Errorf("Cancel once more: %+v, %v", got, err)
			}
		})
	})
	t.Run("a crash between mark and commit: the backend's word counts", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * second })
			go func() { _, _ = w.cancel(h) }()
			after(5 * second)
			w.crash()
			waiting := w.waiting(w.Context(), h)
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			w.wantStatus(h, port.TaskCompleted)
			if pending(waiting) {
				w.Error("the waiter waits on")
			}
		})
	})
}

// TestSecondCancel: who cancels a task that another process is cancelling is too late,
// unless that process has died over it, or failed to say that it gave up (§4.9 step 4).
func TestSecondCancel(t *testing.T) {
	t.Parallel()
	t.Run("§4.9 step 4: too late at another replica as well", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.proxied("t1"), w.another()
			defer w.close(other)
			w.backend.set(func(b *backend) { b.cancelDelay = 10 * second })
			go func() { _, _ = w.cancel(h) }()
			after(second)
			_, err := other.Cancel(w.Context(), backendName, alice, h)
			w.wantCode(err, jsonrpc.CodeInvalidParams)
			after(10 * second)
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	for name, at := range map[string]bool{"there": true, "elsewhere": false} {
		t.Run("§4.9 step 5: a mark that could not be taken back does not count, "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				h, other := w.proxied("t1"), w.another()
				defer w.close(other)
				w.backend.set(func(b *backend) {
					b.cancelErr = errOutage
					b.onCancel = func() {
						w.store.set(func(f *faulty) {
							f.put = func(context.Context, state.Record) error { return errors.New("the store is away") }
						})
					}
				})
				if _, err := w.cancel(h); err == nil {
					w.Fatal("cancelled")
				}
				w.store.set(func(f *faulty) { f.put = nil })
				w.backend.set(func(b *backend) { b.cancelErr, b.onCancel = nil, nil })
				m := w.Manager
				if !at {
					m = other
				}
				if _, err := m.Cancel(w.Context(), backendName, alice, h); err != nil {
					w.Errorf("Cancel: %v", err)
				}
				w.wantStatus(h, port.TaskCancelled)
			})
		})
	}
}

func TestConcurrentCancels(t *testing.T) {
	t.Parallel()
	for name, hosted := range map[string]bool{"proxied": false, "hosted": true} {
		t.Run("§4.9 step 4: exactly one of many goes through, "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				h := ""
				if hosted {
					h = w.create(call(hour, task.Ending{})).ID
				} else {
					h = w.proxied("t1")
				}
				w.backend.set(func(b *backend) { b.cancelDelay = second })
				errs := make([]error, 10)
				var wg sync.WaitGroup
				for i := range errs {
					wg.Go(func() { _, errs[i] = w.cancel(h) })
				}
				wg.Wait()
				won := 0
				for _, err := range errs {
					if err == nil {
						won++
					} else {
						w.wantCode(err, jsonrpc.CodeInvalidParams)
					}
				}
				if won != 1 {
					w.Errorf("%d cancellations went through, want 1", won)
				}
				if _, cancels := w.backend.asked(); !hosted && cancels != 1 {
					w.Errorf("%d cancellations at the backend, want 1", cancels)
				}
				if diff := cmp.Diff([]port.TaskStatus{port.TaskCancelled}, w.told()); diff != "" {
					w.Errorf("notifications (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// rewrite changes the one record that alice has, as another writer does.
func (w *world) rewrite(change func(value string) string) {
	w.Helper()
	stored, err := w.store.List(w.Context(), "tasks/"+backendName+"/"+w.Owner(alice), state.Pos{}, 10)
	if err != nil || len(stored) != 1 {
		w.Fatalf("%d records, %v", len(stored), err)
	}
	stored[0].Value = []byte(change(string(stored[0].Value)))
	if _, err := w.store.Store.Put(w.Context(), stored[0], state.Always); err != nil {
		w.Fatal(err)
	}
}

func TestCancelOvertaken(t *testing.T) {
	t.Parallel()
	t.Run("§4.9 a record that is written between mark and commit does not undo what the backend agreed to", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) {
				b.onCancel = func() { w.rewrite(func(value string) string { return value }) }
			})
			if got, err := w.cancel(h); err != nil || got.Status != port.TaskCancelled {
				w.Errorf("Cancel: %+v, %v", got, err)
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
	t.Run("A-T19 but an end that somebody may have been told of does", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			w.backend.set(func(b *backend) {
				b.onCancel = func() {
					w.rewrite(func(value string) string {
						value = strings.Replace(value, `"cancelling":`, `"final":true,"was":`, 1)
						return strings.Replace(value, `"status":"working"`, `"status":"completed"`, 1)
					})
				}
			})
			w.wantRefused(h, jsonrpc.CodeInvalidParams, "Cannot cancel task: already in terminal status 'completed'")
			w.wantStatus(h, port.TaskCompleted)
		})
	})
}

// terminals collects the final statuses that anybody is told.
type terminals struct {
	mu   sync.Mutex
	seen map[port.TaskStatus]bool
}

func (s *terminals) add(status port.TaskStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status.Terminal() {
		s.seen[status] = true
	}
}

func TestCancelRacesWithTheEnd(t *testing.T) {
	t.Parallel()
	for name, hosted := range map[string]bool{"proxied": false, "hosted": true} {
		t.Run("A-T19 A-X1 nobody is ever told two ends, "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				for range 100 {
					seen := terminals{seen: make(map[port.TaskStatus]bool)}
					release := make(chan struct{})
					var h string
					if hosted {
						q := call(0, task.Ending{})
						q.Call = func(context.Context) task.Ending {
							<-release
							return task.Ending{Result: someResult}
						}
						h = w.create(q).ID
					} else {
						h = w.proxied("t1")
					}
					var wg sync.WaitGroup
					for range 4 {
						wg.Go(func() {
							for range 3 {
								seen.add(w.get(h).Status)
							}
						})
					}
					wg.Go(func() {
						close(release)
						w.now("t1", port.TaskCompleted)
						w.Observe(w.Context(), backendName, alice, "t1", doc{ID: "t1", Status: port.TaskCompleted, TTL: ttl(hour)}.value())
					})
					wg.Go(func() {
						if got, err := w.cancel(h); err == nil {
							seen.add(got.Status)
						} else {
							w.wantCode(err, jsonrpc.CodeInvalidParams)
						}
					})
					wg.Wait()
					synctest.Wait()
					end := w.get(h).Status
					seen.add(end)
					for _, f := range w.statuses {
						if f.ID == h {
							seen.add(f.Status)
						}
					}
					if len(seen.seen) != 1 || !end.Terminal() {
						w.Fatalf("told %v, ended %q", seen.seen, end)
					}
				}
			})
		})
	}
}
