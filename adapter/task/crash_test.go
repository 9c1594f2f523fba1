package task_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
)

// dies makes the process die as soon as its next write of a task's record is
// durable: it says nothing more to anybody.
func (w *world) dies(streams ...*stream) {
	w.afterWrite(func() {
		w.store.set(func(f *faulty) { f.dead = true })
		for _, s := range streams {
			s.end()
		}
	})
}

// pollsUntilAsked polls as a client does that comes back after a crash.
func (c *client) pollsUntilAsked(handle string) *stream {
	c.w.Helper()
	own := c.stream()
	c.polls(handle, own)
	own.want()
	after(second)
	c.polls(handle, own)
	return own
}

func TestCrashWithAQuestion(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 before it is sent: it is asked once, with a new id", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			first := c.stream()
			w.dies(first)
			c.polls(h, first)
			first.want()
			w.crash()
			own := c.pollsUntilAsked(h)
			own.want("withdrawn 1", "2 color")
			c.answers("2", `"red"`)
			c.answers("1", `"blue"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I9 after it is sent: the old id answers, too", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			c.polls(h, c.stream())
			w.crash()
			c.answers("1", `"red"`) // before anybody has looked
			w.wantUpdates(`color="red"`)
			own := c.pollsUntilAsked(h)
			own.want()
			c.answers("1", `"blue"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I9 and after it was asked again: the first answer wins", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			c.polls(h, c.stream())
			w.crash()
			s := c.stream()
			c.waits(w.Context(), h, s)
			s.want("withdrawn 1", "2 color")
			c.answers("1", `"red"`)
			s.want("withdrawn 1", "2 color", "withdrawn 2")
			c.answers("2", `"blue"`)
			w.wantUpdates(`color="red"`)
			w.crash()
			after(second)
			w.get(h)
			w.wantUpdates(`color="red"`)
		})
	})
}

func TestCrashWithAnAnswer(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 before the backend is told: it is told after", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			c.polls(h, c.stream())
			w.dies()
			c.answers("1", `"red"`)
			w.wantUpdates()
			w.crash()
			own := c.stream()
			if got := c.polls(h, own); got != port.TaskWorking {
				w.Errorf("told %q, want that it is answered", got)
			}
			w.wantUpdates(`color="red"`)
			after(second)
			c.polls(h, own)
			own.want()
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I6 after it was told, before that is on record: told again, not asked again", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			c.polls(h, c.stream())
			w.backend.set(func(b *backend) {
				b.onUpdate = func([]port.Answer) { w.store.set(func(f *faulty) { f.dead = true }) }
			})
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
			w.crash()
			after(9 * second) // until then another process may be at it
			w.backend.set(func(b *backend) { b.onUpdate = w.satisfied })
			own := c.stream()
			c.polls(h, own)
			w.wantUpdates(`color="red"`, `color="red"`)
			after(second)
			c.polls(h, own)
			after(second)
			c.polls(h, own)
			own.want()
			w.wantUpdates(`color="red"`, `color="red"`)
		})
	})
	t.Run("A-I6 or not even told again, if the backend has moved on", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			c.polls(h, c.stream())
			w.backend.set(func(b *backend) {
				b.onUpdate = func(answers []port.Answer) {
					w.satisfied(answers)
					w.store.set(func(f *faulty) { f.dead = true })
				}
			})
			c.answers("1", `"red"`)
			w.crash()
			own := c.pollsUntilAsked(h)
			own.want()
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I5 of two, the one that was given is not asked for again", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"), q("size"))
			w.backend.set(func(b *backend) { b.updateErr, b.onUpdate = errOutage, nil })
			c.polls(h, c.stream())
			c.answers("2", `"large"`)
			w.crash()
			w.backend.set(func(b *backend) { b.updateErr, b.updates, b.onUpdate = nil, nil, w.satisfied })
			own := c.pollsUntilAsked(h)
			own.want("withdrawn 1", "3 color")
			w.wantUpdates(`size="large"`)
			c.answers("3", `"red"`)
			w.wantUpdates(`size="large"`, `color="red"`)
		})
	})
}

// spent is a hosted task whose call counts how often it is made again.
func (w *world) spent(call func(ctx context.Context) task.Ending) (handle string, ran *atomic.Int64) {
	w.Helper()
	ran = new(atomic.Int64)
	return w.hosting(func(ctx context.Context, _ []port.Answer) task.Ending {
		ran.Add(1)
		return call(ctx)
	}, "first"), ran
}

func wantRan(w *world, ran *atomic.Int64, want int64) {
	w.Helper()
	if got := ran.Load(); got != want {
		w.Errorf("the call was made again %d times, want %d", got, want)
	}
}

func ends(context.Context) task.Ending { return task.Ending{Result: someResult} }

func TestCrashOfAHostedCall(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 after the last answer: it goes on once somebody looks", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, ran := w.spent(ends)
			c := w.client(alice)
			c.pollsUntilAsked(h).want("1 first")
			w.dies()
			c.answers("1", `1`)
			w.crash()
			wantRan(w, ran, 0)
			c.polls(h, nil)
			after(second)
			wantRan(w, ran, 1)
			w.wantStatus(h, port.TaskCompleted)
			c.answers("1", `2`)
			wantRan(w, ran, 1)
		})
	})
	t.Run("DESIGN §4.3 while it is made: interrupted, and never made again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, ran := w.spent(func(ctx context.Context) task.Ending {
				<-ctx.Done()
				return task.Ending{Err: &port.UpstreamError{Op: "tools/call", Sent: true, Err: ctx.Err()}}
			})
			c := w.client(alice)
			c.pollsUntilAsked(h)
			c.answers("1", `1`)
			wantRan(w, ran, 1)
			w.crash()
			w.wantStatus(h, port.TaskFailed)
			wantInterrupted(w, h)
			c.answers("1", `1`)
			after(minute)
			wantRan(w, ran, 1)
		})
	})
	t.Run("DESIGN §4.3 before its end is on record: interrupted, and never made again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, ran := w.spent(func(context.Context) task.Ending {
				w.store.set(func(f *faulty) { f.dead = true })
				return task.Ending{Result: someResult}
			})
			c := w.client(alice)
			c.pollsUntilAsked(h)
			c.answers("1", `1`)
			w.crash()
			after(minute)
			wantInterrupted(w, h)
			wantRan(w, ran, 1)
		})
	})
}

func TestCrashAroundAHostedCall(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 after its end: it stands", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, ran := w.spent(ends)
			c := w.client(alice)
			c.pollsUntilAsked(h)
			c.answers("1", `1`)
			w.crash()
			w.wantStatus(h, port.TaskCompleted)
			if out := w.Result(w.Context(), backendName, alice, h); out.Result != someResult {
				w.Errorf("result %+v", out)
			}
			c.answers("1", `1`)
			wantRan(w, ran, 1)
			if len(w.store.bodies) != 0 {
				w.Errorf("%v left in the store, want nothing", w.store.bodies)
			}
		})
	})
	t.Run("DESIGN §4.3 its state is spent, by a store that does not say so: not made at all", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, ran := w.spent(ends)
			c := w.client(alice)
			c.pollsUntilAsked(h)
			writes := 0
			w.store.set(func(f *faulty) {
				f.lost = func(state.Record) error {
					if writes++; writes == 2 { // the answer, then this
						return errDisk
					}
					return nil
				}
			})
			c.answers("1", `1`)
			after(minute)
			if got := w.get(h); got.Status != port.TaskFailed || !strings.Contains(got.Message, "interrupted") {
				w.Errorf("%+v, want it interrupted", got)
			}
			wantRan(w, ran, 0)
		})
	})
	t.Run("A-M10 the second round is asked after it, too", func(t *testing.T) {
		bubble(t, func(w *world) {
			ran := w.rounds()
			h := w.create(call(0, asksFor("first"))).ID
			c := w.client(alice)
			c.pollsUntilAsked(h)
			c.answers("1", `1`)
			w.crash()
			own := c.pollsUntilAsked(h)
			own.want("2 second")
			c.answers("1", `9`)
			wantRan(w, ran, 1)
			c.answers("2", `2`)
			wantRan(w, ran, 2)
			w.wantStatus(h, port.TaskCompleted)
		})
	})
}
