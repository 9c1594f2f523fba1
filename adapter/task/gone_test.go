package task_test

import (
	"context"
	"errors"
	"strings"
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

// TestHostedAnswerExpires: a hosted call that could not go on in time does not go on
// after it.
func TestHostedAnswerExpires(t *testing.T) {
	bubble(t, func(w *world) {
		request := call(0, asksFor("color"))
		request.TTL = minute
		w.onResume = func(context.Context, port.Caller, string, []port.Answer) task.Ending {
			w.Error("it goes on")
			return task.Ending{Result: someResult}
		}
		h := w.create(request).ID
		c := w.client(alice)
		ctx, cancel := context.WithCancel(w.Context())
		c.waits(ctx, h, c.stream())
		w.store.set(func(f *faulty) {
			f.get = func(_ context.Context, key string) error {
				if body(key) {
					return errDisk
				}
				return nil
			}
		})
		c.answers("1", `"red"`)
		cancel()
		after(minute) // the answer is on its way, from one attempt to the next
		w.store.set(func(f *faulty) { f.get = nil })
		after(minute)
		if strings.Contains(w.logged.String(), state.ErrNotFound.Error()) {
			w.Error("it is still tried")
		}
	})
}

// TestClosedAsksNothing: a manager that is closed puts no questions any more.
func TestClosedAsksNothing(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.create(call(0, asksFor("color"))).ID
		c := w.client(alice)
		own := c.stream()
		c.polls(h, own)
		after(second)
		w.stop()
		c.polls(h, own)
		own.want()
		w.start()
		c.pollsUntilAsked(h).want("1 color")
	})
}

// TestQuestionOutlivesItsRecord: a question that stays open for longer than anything
// is kept can be answered as long as somebody looks at its task (A-E3).
func TestQuestionOutlivesItsRecord(t *testing.T) {
	bubble(t, func(w *world) {
		c, h := w.due(q("color"))
		w.backend.set(func(b *backend) {
			d := b.docs["t1"]
			d.TTL = nil
			b.docs["t1"] = d
		})
		own := c.stream()
		c.polls(h, own)
		own.want("1 color")
		for range 155 { // more than a day
			after(10 * minute)
			c.polls(h, own)
		}
		own.want("1 color")
		w.backend.set(func(b *backend) { b.onUpdate = nil })
		c.answers("1", `"red"`)
		w.wantUpdates(`color="red"`)
		for range 10 {
			after(10 * minute)
			c.polls(h, own)
		}
		_, err := w.store.Store.Get(w.Context(), "question/"+w.desk.Session(alice)+"/1")
		if !errors.Is(err, state.ErrNotFound) {
			w.Errorf("the way from an answer is kept for ever: %v", err)
		}
	})
}
