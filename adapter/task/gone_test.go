package task_test

import (
	"context"
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
)

// TestQuestionsEndWithTheirTask: whatever ends a task withdraws what is open,
// drops what comes late, and leaves nothing behind (A-I8).
func TestQuestionsEndWithTheirTask(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, handle string){
		"§4.9 a cancellation": func(w *world, handle string) {
			if _, err := w.Cancel(w.Context(), backendName, alice, handle); err != nil {
				w.Error(err)
			}
		},
		"A-I8 its end": func(w *world, handle string) {
			w.now("t1", port.TaskCompleted)
			after(second)
			w.wantStatus(handle, port.TaskCompleted)
		},
		"A-I8 its question's end": func(w *world, handle string) {
			w.asks("t1")
			after(second)
			w.wantStatus(handle, port.TaskWorking)
		},
		"A-E1 that the backend has forgotten it": func(w *world, handle string) {
			w.backend.drop("t1")
			after(second)
			if err := w.getErr(handle); !errors.Is(err, errNoTask) {
				w.Errorf("Get: %v", err)
			}
		},
		"A-L11 the end of its owner": func(w *world, _ string) {
			w.EndOwner(w.Context(), backendName, alice)
		},
		"A-L11 the end of its owner, whose backend is away": func(w *world, _ string) {
			w.backend.set(func(b *backend) { b.cancelErr = errOutage })
			w.EndOwner(w.Context(), backendName, alice)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				c, h := w.due(q("color"))
				own := c.stream()
				c.polls(h, own)
				own.want("1 color")
				end(w, h)
				own.want("1 color", "withdrawn 1")
				c.answers("1", `"red"`)
				after(minute)
				w.wantUpdates()
				own.want("1 color", "withdrawn 1")
				if n := w.onDesk(); n != 0 {
					w.Errorf("%d things left on the desk, want none", n)
				}
			})
		})
	}
}

// TestHostedQuestionsEndWithTheirTask is the same for a call that the bridge hosts.
func TestHostedQuestionsEndWithTheirTask(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, handle string){
		"A-M12 a cancellation": func(w *world, handle string) {
			if _, err := w.Cancel(w.Context(), backendName, alice, handle); err != nil {
				w.Error(err)
			}
		},
		"A-E6 the end of its lifetime": func(w *world, handle string) {
			after(hour)
			if err := w.getErr(handle); !errors.Is(err, task.ErrUnknown) {
				w.Errorf("Get: %v", err)
			}
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("listed %v", page.Tasks)
			}
		},
		"A-L11 the end of its owner": func(w *world, _ string) {
			w.EndOwner(w.Context(), backendName, alice)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				h := w.hosting(func(context.Context, []port.Answer) task.Ending {
					w.Error("it goes on")
					return task.Ending{Result: someResult}
				}, "color")
				c, own := w.client(alice), (*stream)(nil)
				own = c.stream()
				c.polls(h, own)
				after(second)
				c.polls(h, own)
				own.want("1 color")
				end(w, h)
				own.want("1 color", "withdrawn 1")
				c.answers("1", `"red"`)
				after(minute)
				own.want("1 color", "withdrawn 1")
				if n := w.onDesk(); n != 0 {
					w.Errorf("%d things left on the desk, want none", n)
				}
				if len(w.store.bodies) != 0 {
					w.Errorf("%v left in the store, want nothing", w.store.bodies)
				}
			})
		})
	}
}

// TestHostedQuestionExpires: who waits for a hosted task learns that its time is
// over, and an answer that comes just then does not bring it back.
func TestHostedQuestionExpires(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.hosting(func(context.Context, []port.Answer) task.Ending {
			w.Error("it goes on")
			return task.Ending{Result: someResult}
		}, "color")
		c := w.client(alice)
		s := c.stream()
		out := c.waits(w.Context(), h, s)
		after(hour)
		c.answers("1", `"red"`)
		after(2 * second)
		if pending(out) {
			w.Fatal("it waits for ever")
		}
		if o := <-out; !errors.Is(o.Err, task.ErrUnknown) {
			w.Errorf("ended in %+v", o)
		}
		s.want("1 color", "withdrawn 1")
	})
}

// TestHostedThatIsNotTold: a task that nobody is told of leaves no saved call.
func TestHostedThatIsNotTold(t *testing.T) {
	bubble(t, func(w *world) {
		w.store.set(func(f *faulty) {
			f.put = func(_ context.Context, rec state.Record) error {
				if isRecord(rec.Key) {
					return errDisk
				}
				return nil
			}
		})
		if _, err := w.Create(w.Context(), call(0, asksFor("color"))); !errors.Is(err, errDisk) {
			w.Errorf("Create: %v", err)
		}
		if len(w.store.bodies) != 0 {
			w.Errorf("%v left in the store, want nothing", w.store.bodies)
		}
	})
}
