package task_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// isRecord reports whether a key is that of a task's record.
func isRecord(key string) bool { return strings.HasPrefix(key, "task/") && !body(key) }

// beforeWrite runs f ahead of the next write of a task's record.
func (w *world) beforeWrite(f func()) {
	w.store.set(func(s *faulty) {
		s.put = func(_ context.Context, rec state.Record) error {
			if isRecord(rec.Key) {
				w.store.set(func(s *faulty) { s.put = nil })
				f()
			}
			return nil
		}
	})
}

// afterWrite runs f once the next write of a task's record is durable, before the
// writer knows.
func (w *world) afterWrite(f func()) {
	w.store.set(func(s *faulty) {
		s.lost = func(rec state.Record) error {
			if isRecord(rec.Key) {
				w.store.set(func(s *faulty) { s.lost = nil })
				f()
			}
			return nil
		}
	})
}

// ends completes a task at the backend, which says so by a notification.
func (w *world) ends(id string) {
	w.now(id, port.TaskCompleted)
	w.observes(id)
}

func (w *world) observes(id string) {
	w.backend.mu.Lock()
	v := w.backend.docs[id].value()
	w.backend.mu.Unlock()
	w.Observe(w.Context(), backendName, alice, id, v)
}

// due makes a task whose question goes to the session's own stream by the next
// poll.
func (w *world) due(questions ...question) (*client, string) {
	w.Helper()
	c := w.client(alice)
	h := w.asking(questions...)
	if got := c.polls(h, c.stream()); got != port.TaskInputRequired {
		w.Fatalf("status %q, want it to need input", got)
	}
	after(second)
	return c, h
}

func TestQuestionIsOvertaken(t *testing.T) {
	t.Parallel()
	t.Run("A-T19 a task that ends while its questions are put is shown as ended", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own := c.stream()
			w.beforeWrite(func() { w.ends("t1") })
			if got := c.polls(h, own); got != port.TaskCompleted {
				w.Errorf("status %q, want it completed", got)
			}
			own.want()
		})
	})
	t.Run("A-E1 one that is forgotten meanwhile is shown as it was", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own := c.stream()
			w.beforeWrite(func() { w.EndOwner(w.Context(), backendName, alice) })
			if got := c.polls(h, own); got != port.TaskInputRequired {
				w.Errorf("status %q, want the last one known", got)
			}
			own.want()
		})
	})
	t.Run("A-I8 a question that is withdrawn while it is made durable is not put", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own := c.stream()
			w.afterWrite(func() { w.ends("t1") })
			c.polls(h, own)
			own.want()
			if n := w.onDesk(); n != 0 {
				w.Errorf("%d things left on the desk, want none", n)
			}
		})
	})
	t.Run("§4.9 nothing is asked while a task is being cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own := c.stream()
			w.backend.set(func(b *backend) { b.cancelDelay = 5 * second })
			done := make(chan error, 1)
			w.beforeWrite(func() {
				go func() {
					_, err := w.Cancel(w.Context(), backendName, alice, h)
					done <- err
				}()
				after(second)
			})
			c.polls(h, own)
			if err := <-done; err != nil {
				w.Error(err)
			}
			own.want()
		})
	})
}

func TestAnswerIsOvertaken(t *testing.T) {
	t.Parallel()
	// asked has put its question on an own stream.
	asked := func(w *world) (*client, string, *stream) {
		c, h := w.due(q("color"))
		own := c.stream()
		c.polls(h, own)
		own.want("1 color")
		return c, h, own
	}
	t.Run("A-I8 by the end of the task: it is dropped", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, _, own := asked(w)
			w.beforeWrite(func() { w.ends("t1") })
			c.answers("1", `"red"`)
			own.want("1 color", "withdrawn 1")
			w.wantUpdates()
		})
	})
	t.Run("A-I8 by the loss of its question: it is dropped", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h, own := asked(w)
			w.beforeWrite(func() { w.asks("t1", q("size")); w.observes("t1") })
			c.answers("1", `"red"`)
			own.want("1 color", "withdrawn 1")
			w.wantUpdates()
			c.polls(h, own)
			own.want("1 color", "withdrawn 1", "2 size")
		})
	})
	t.Run("A-I5 by a change of something else: it is kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h, own := asked(w)
			w.beforeWrite(func() { w.asks("t1", q("color"), q("size")); w.observes("t1") })
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
			c.polls(h, own)
			own.want("1 color", "2 size")
		})
	})
	t.Run("A-I8 by a cancellation: it is dropped", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h, own := asked(w)
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			own.want("1 color", "withdrawn 1")
			c.answers("1", `"red"`)
			w.wantUpdates()
		})
	})
	t.Run("DESIGN §4.6 by the end of the bridge: it is refused, and can be given again", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, _, _ := asked(w)
			w.stop()
			if err := w.Answer(w.Context(), backendName, alice, result("1", `"red"`)); err == nil {
				w.Error("taken by a manager that is closed")
			}
			w.start()
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
		})
	})
}

// TestRefusedWithOthers: a question that can neither be put nor dismissed ends the
// task before the client sees any of the others.
func TestRefusedWithOthers(t *testing.T) {
	bubble(t, func(w *world) {
		c, h := w.due(q("color"), question{Key: "model", Text: "model", Needs: "sampling"})
		own := c.stream()
		if got := c.polls(h, own); got != port.TaskFailed {
			w.Errorf("status %q, want it failed (§4.11)", got)
		}
		own.want()
		w.wantCancels(1)
		if n := w.onDesk(); n != 0 {
			w.Errorf("%d things left on the desk, want none", n)
		}
	})
}

// TestClientErrorWithOthers: a client's error to a question that cannot be
// dismissed ends the task, and takes the other questions back.
func TestClientErrorWithOthers(t *testing.T) {
	bubble(t, func(w *world) {
		c, h := w.due(q("color"), question{Key: "model", Text: "model"})
		own := c.stream()
		c.polls(h, own)
		own.want("1 color", "2 model")
		c.responds(refusal("2", "no model"))
		own.want("1 color", "2 model", "withdrawn 1")
		if got := w.get(h); got.Status != port.TaskFailed || got.Message != "no model" {
			w.Errorf("%+v, want it failed with the client's words", got)
		}
		w.wantCancels(1)
		c.answers("1", `"red"`)
		w.wantUpdates()
		if n := w.onDesk(); n != 0 {
			w.Errorf("%d things left on the desk, want none", n)
		}
	})
}

func TestHostedRoundsOverlap(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.3 a call that has gone on while its last round is still being told is at work", func(t *testing.T) {
		bubble(t, func(w *world) {
			c := w.client(alice)
			rounds := 0
			h := w.hosting(func(context.Context, []port.Answer) task.Ending {
				if rounds++; rounds == 1 {
					return asksFor("second")
				}
				after(10 * second)
				return task.Ending{Result: someResult}
			}, "first")
			out := c.waits(w.Context(), h, c.stream())
			slow := false
			w.onStatus = func(d doc) {
				if len(d.Asks) > 0 && d.Asks[0].Key == "second" && !slow {
					slow = true
					after(5 * second)
				}
			}
			c.answers("1", `1`)
			after(2 * second)
			c.answers("2", `2`)
			after(6 * second)
			w.wantStatus(h, port.TaskWorking)
			after(10 * second)
			if o := <-out; o.Err != nil || o.Result != someResult {
				w.Errorf("ended in %+v", o)
			}
		})
	})
	t.Run("A-X2 and can be cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			c := w.client(alice)
			left := errors.New("nobody cut it")
			h := w.hosting(func(ctx context.Context, _ []port.Answer) task.Ending {
				<-ctx.Done()
				left = nil
				return task.Ending{Err: ctx.Err()}
			}, "first")
			c.waits(w.Context(), h, c.stream())
			c.answers("1", `1`)
			if _, err := w.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			after(second)
			if left != nil {
				w.Error(left)
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
}

// TestHostedAsksALot: a hosted call is not asked for its questions again, so those
// beyond what may be open at a time come up as others are answered.
func TestHostedAsksALot(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.client(alice)
		keys := make([]string, 70)
		for i := range keys {
			keys[i] = string(rune('A' + i))
		}
		var got int
		h := w.hosting(func(_ context.Context, answers []port.Answer) task.Ending {
			got = len(answers)
			return task.Ending{Result: someResult}
		}, keys...)
		out := c.waits(w.Context(), h, c.stream())
		if n := len(c.asked()); n != 64 {
			w.Errorf("%d questions at once, want 64", n)
		}
		for answered := 0; answered < len(keys) && pending(out); after(2 * second) {
			for _, m := range c.asked()[answered:] {
				id, _, _ := strings.Cut(m, " ")
				c.answers(jsonrpc.ID(id), `1`)
				answered++
			}
		}
		if pending(out) || got != len(keys) {
			w.Errorf("went on with %d answers, want %d", got, len(keys))
		}
		if n := len(c.asked()); n != len(keys) {
			w.Errorf("%d questions, want %d", n, len(keys))
		}
	})
}
