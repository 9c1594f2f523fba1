package task_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// answered makes a task whose one question has been answered, at a backend that
// fails to take it.
func (w *world) answered(failing error) (*client, string) {
	w.Helper()
	c, h := w.due(q("color"))
	c.polls(h, c.stream())
	w.backend.set(func(b *backend) { b.updateErr, b.onUpdate = failing, nil })
	c.answers("1", `"red"`)
	return c, h
}

// mended lets the backend take answers again.
func (w *world) mended() {
	w.backend.set(func(b *backend) { b.updateErr, b.onUpdate = nil, w.satisfied })
}

func (w *world) wantTold(n int) {
	w.Helper()
	if got := len(w.updates()); got != n {
		w.Errorf("%d updates, want %d", got, n)
	}
}

func TestUpdateFails(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]error{
		"A-I7 out of reach": &port.UpstreamError{Op: "tasks/update", Err: errDisk},
		"A-I7 in trouble":   jsonrpc.NewError(jsonrpc.CodeInternal, "no"),
	} {
		t.Run(name+": told again, more and more slowly, and never asked again", func(t *testing.T) {
			bubble(t, func(w *world) {
				c, h := w.answered(failing)
				w.wantTold(1)
				for n, pause := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
					after(pause*second - time.Millisecond)
					w.wantTold(n + 1)
					c.polls(h, c.stream()) // looking does not hurry it
					after(time.Millisecond)
					w.wantTold(n + 2)
				}
				w.mended()
				after(30 * second)
				w.wantTold(9)
				after(hour / 2)
				w.wantTold(9)
				if got := c.asked(); len(got) != 1 {
					w.Errorf("asked %q", got)
				}
			})
		})
	}
	t.Run("G-8 not for ever; the next look begins anew", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.answered(errOutage)
			after(hour + minute)
			n := len(w.updates())
			after(hour)
			w.wantTold(n)
			w.mended()
			c.polls(h, nil)
			w.wantTold(n + 1)
		})
	})
}

func TestUpdateRefused(t *testing.T) {
	t.Parallel()
	t.Run("A-I7 refused: the next poll tells, and what is still listed is told again", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.answered(errInvalid)
			w.wantTold(1)
			after(minute)
			w.wantTold(1)
			for range 3 {
				c.polls(h, nil)
				after(second)
			}
			w.wantTold(2)
			if got := c.polls(h, nil); got != port.TaskWorking {
				w.Errorf("told %q", got)
			}
			if got := c.asked(); len(got) != 1 {
				w.Errorf("asked %q", got)
			}
		})
	})
	t.Run("A-I7 refused by a task that is over: who waits learns it at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			w.backend.set(func(b *backend) {
				b.updateErr = errInvalid
				b.onUpdate = func([]port.Answer) { w.now("t1", port.TaskCompleted) }
			})
			c := w.client(alice)
			s := c.stream()
			out := c.waits(w.Context(), h, s)
			c.answers("1", `"red"`)
			if pending(out) {
				w.Error("it waits for the next poll")
			}
			s.want("1 color")
		})
	})
	t.Run("A-E1 refused by one that is gone", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.answered(errInvalid)
			w.backend.drop("t1")
			w.wantCode(w.getErr(h), jsonrpc.CodeInvalidParams)
			c.answers("1", `"red"`)
			after(hour)
			w.wantTold(1)
		})
	})
}

// TestUpdateUnauthorized: a credential that is refused is not tried again, a newer
// one is (A-H4, A-L17).
func TestUpdateUnauthorized(t *testing.T) {
	t.Parallel()
	refused := &port.UpstreamError{Op: "tasks/update", Status: http.StatusUnauthorized, Err: errDisk}
	renewed := alice
	renewed.Authorization = "Bearer renewed"
	t.Run("A-H4 the next look tells it with its own", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, h := w.answered(refused)
			after(hour)
			w.wantTold(1)
			w.mended()
			w.client(renewed).polls(h, nil)
			w.wantTold(2)
			if got := w.backend.updates[1].authorization; got != "Bearer renewed" {
				w.Errorf("told with %q", got)
			}
		})
	})
	t.Run("A-H4 one that comes while the old one is being refused is tried", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.set(func(b *backend) { b.updateDelay = 5 * second })
			c, h := w.due(q("color"), q("size"))
			c.polls(h, c.stream())
			w.backend.set(func(b *backend) { b.updateErr, b.onUpdate = refused, nil })
			c.answers("1", `"red"`)
			after(second)
			w.client(renewed).answers("2", `"large"`)
			after(4 * second)
			w.mended()
			after(10 * second)
			w.wantUpdates(`color="red"`, `color="red" size="large"`)
			if got := w.backend.updates[1].authorization; got != "Bearer renewed" {
				w.Errorf("told with %q", got)
			}
		})
	})
}

// TestAnswersWhileUpdating: what comes while an update is under way is told by the
// next, and there is one at a time for each task (A-I5).
func TestAnswersWhileUpdating(t *testing.T) {
	bubble(t, func(w *world) {
		w.backend.set(func(b *backend) { b.updateDelay = 2 * second })
		c, h := w.due(q("a"), q("b"), q("c"))
		c.polls(h, c.stream())
		c.answers("1", `1`)
		after(second)
		c.answers("2", `2`)
		c.answers("3", `3`)
		c.polls(h, nil)
		w.wantUpdates("a=1")
		after(10 * second)
		w.wantUpdates("a=1", "b=2 c=3")
	})
}

// TestLag: a backend that goes on listing what it was told is told again after
// three polls, with what else is new; nobody is asked again (A-I5, A-I6).
func TestLag(t *testing.T) {
	bubble(t, func(w *world) {
		c, h := w.due(q("a"), q("b"))
		own := c.stream()
		c.polls(h, own)
		w.backend.set(func(b *backend) { b.onUpdate = nil })
		c.answers("1", `1`)
		w.wantUpdates("a=1")
		for range 2 {
			c.polls(h, own)
			after(second)
		}
		w.wantUpdates("a=1")
		c.answers("2", `2`)
		w.wantUpdates("a=1", "a=1 b=2")
		for range 3 {
			c.polls(h, own)
			after(second)
		}
		w.wantUpdates("a=1", "a=1 b=2", "a=1 b=2")
		own.want("1 a", "2 b")
	})
}

// TestQuestionsAreAnnounced: owners are told of a change once, and of what a client
// does not see not at all (§4.16).
func TestQuestionsAreAnnounced(t *testing.T) {
	t.Parallel()
	wantTold := func(w *world, want ...port.TaskStatus) {
		w.Helper()
		if d := cmp.Diff(want, w.told()); d != "" {
			w.Errorf("notifications (-want +got):\n%s", d)
		}
	}
	t.Run("§4.16 of a task of the backend", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own := c.stream()
			c.polls(h, own)
			wantTold(w, port.TaskInputRequired)
			w.backend.set(func(b *backend) { b.onUpdate = nil }) // it lags
			c.answers("1", `"red"`)
			for range 5 {
				after(second)
				c.polls(h, own)
			}
			wantTold(w, port.TaskInputRequired, port.TaskWorking)
			w.asks("t1")
			after(second)
			c.polls(h, own)
			wantTold(w, port.TaskInputRequired, port.TaskWorking)
			w.asks("t1", q("size"))
			after(second)
			c.polls(h, own)
			wantTold(w, port.TaskInputRequired, port.TaskWorking, port.TaskInputRequired)
		})
	})
	t.Run("§4.16 of a hosted one, in rounds", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.rounds()
			h := w.create(call(0, asksFor("first"))).ID
			c := w.client(alice)
			c.waits(w.Context(), h, c.stream())
			after(5 * second)
			wantTold(w) // the create answer's working, then what polls say
			c.answers("1", `1`)
			after(5 * second)
			c.answers("2", `2`)
			after(5 * second)
			got := fmt.Sprint(w.told())
			if strings.Count(got, "input_required") != 1 || !strings.HasSuffix(got, "working completed]") {
				w.Errorf("notifications %s", got)
			}
		})
	})
	t.Run("§4.16 of one whose questions nobody can be asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(question{Key: "model", Text: "m", Needs: "sampling", Dismissible: true})
			w.backend.set(func(b *backend) { b.onUpdate = nil })
			for range 5 {
				c.polls(h, c.stream())
				after(second)
			}
			wantTold(w, port.TaskInputRequired, port.TaskWorking)
		})
	})
}

// TestResumeGetsTheAnswerer: a hosted call goes on with the credential of the session
// that has answered last, and with all answers of the round in their order (A-M9).
func TestResumeGetsTheAnswerer(t *testing.T) {
	bubble(t, func(w *world) {
		var got []string
		w.onResume = func(_ context.Context, caller port.Caller, saved string, answers []port.Answer) task.Ending {
			for _, a := range answers {
				got = append(got, a.Key+"="+string(a.Value))
			}
			got = append(got, caller.Authorization, saved)
			return task.Ending{Result: someResult}
		}
		h := w.create(call(0, asksFor("a", "b"))).ID
		c, other := w.client(alice), w.client(mine)
		s := c.stream()
		ctx, cancel := context.WithCancel(w.Context())
		c.waits(ctx, h, s)
		c.answers("2", `2`)
		if got != nil {
			w.Errorf("A-M9 went on with a part: %q", got)
		}
		s.end()
		cancel()
		after(second)
		own := other.stream()
		out := other.waits(w.Context(), h, own)
		own.want("1 a")
		other.answers("1", `1`)
		if d := cmp.Diff([]string{"a=1", "b=2", "Bearer a2", "saved"}, got); d != "" {
			w.Errorf("goes on with (-want +got):\n%s", d)
		}
		if o := <-out; o.Result != someResult {
			w.Errorf("ended in %+v", o)
		}
	})
}
