package task_test

import (
	"context"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// TestOwnStream: a session that polls and does not open tasks/result is asked on
// its own stream ("Settled", Q12).
func TestOwnStream(t *testing.T) {
	t.Parallel()
	t.Run("Settled: it is told first, and asked once it polls again an interval later", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c := w.client(alice)
			own := c.stream()
			if got := c.polls(h, own); got != port.TaskInputRequired {
				w.Errorf("told %q", got)
			}
			own.want()
			after(second - time.Millisecond)
			c.polls(h, own)
			own.want()
			after(time.Millisecond)
			if got := c.polls(h, own); got != port.TaskInputRequired {
				w.Errorf("told %q", got)
			}
			own.want("1 color")
			for range 5 {
				after(second)
				c.polls(h, own)
			}
			own.want("1 color")
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
			if got := c.polls(h, own); got != port.TaskWorking {
				w.Errorf("told %q once it is answered", got)
			}
		})
	})
	t.Run("Settled: each session for itself", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c, other := w.client(alice), w.client(mine)
			own, others := c.stream(), other.stream()
			c.polls(h, own)
			after(second)
			other.polls(h, others) // the first time for this one
			own.want()
			others.want()
			c.polls(h, own)
			after(second)
			other.polls(h, others)
			own.want("1 color")
			others.want()
		})
	})
	t.Run("A-I1 a tasks/result opened later gets nothing that was sent on a live stream", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own, s, others := c.stream(), c.stream(), w.client(mine).stream()
			c.polls(h, own)
			own.want("1 color")
			c.waits(w.Context(), h, s)
			w.client(mine).waits(w.Context(), h, others)
			own.leave() // it may be resumed
			after(minute)
			s.want()
			others.want()
			own.resume()
			w.asks("t1", q("color"), q("size"))
			after(2 * second)
			own.want("1 color")
			others.want("1 size") // the newest
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
		})
	})
}

func TestOwnStreamIsLost(t *testing.T) {
	t.Parallel()
	t.Run("A-I9 one that is not resumed in time is followed by the next", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own, next := c.stream(), c.stream()
			c.polls(h, own)
			own.leave()
			after(minute)
			c.polls(h, next)
			next.want()
			own.end()
			c.polls(h, next)
			next.want("withdrawn 1", "2 color")
			own.want("1 color")
			c.polls(h, next)
			next.want("withdrawn 1", "2 color")
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I9 or by a tasks/result", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own, s := c.stream(), c.stream()
			c.polls(h, own)
			own.end()
			c.waits(w.Context(), h, s)
			s.want("withdrawn 1", "2 color")
		})
	})
}

func TestNoOwnStream(t *testing.T) {
	t.Parallel()
	t.Run("Settled: without one nothing is lost", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			for range 5 {
				if got := c.polls(h, nil); got != port.TaskInputRequired {
					w.Errorf("told %q", got)
				}
				w.wantStatus(h, port.TaskInputRequired) // a face without such streams
				after(second)
			}
			if got := c.asked(); len(got) != 0 {
				w.Errorf("asked %q", got)
			}
			own := c.stream()
			c.polls(h, own)
			own.want("1 color")
		})
	})
	t.Run("Settled: who opens tasks/result is told first again when that has ended", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own, s := c.stream(), c.stream()
			ctx, cancel := context.WithCancel(w.Context())
			c.waits(ctx, h, s)
			s.want("1 color")
			s.end()
			cancel()
			after(second)
			c.polls(h, own)
			own.want()
			after(second)
			c.polls(h, own)
			own.want("withdrawn 1", "2 color")
		})
	})
}

func TestWhoCannotBeAsked(t *testing.T) {
	t.Parallel()
	able := alice
	able.Capabilities = `{"sampling":{}}`
	model := question{Key: "model", Text: "model", Needs: "sampling", Dismissible: true}
	// made creates a task of a session that asks for a model.
	made := func(w *world, by port.Caller, asks question) string {
		request := call(0, w.seedOf("t1"))
		request.Caller = by
		h := w.create(request).ID
		w.asks("t1", asks)
		w.backend.set(func(b *backend) { b.onUpdate = w.satisfied })
		return h
	}
	twice := func(c *client, h string, own *stream) {
		c.polls(h, own)
		after(second)
		c.polls(h, own)
	}
	t.Run("§4.11 it dismisses the questions of its own task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := made(w, alice, model)
			c := w.client(alice)
			twice(c, h, c.stream())
			w.wantUpdates(`model={"dismissed":true}`)
			w.wantStatus(h, port.TaskWorking)
			if got := c.asked(); len(got) != 0 {
				w.Errorf("asked %q", got)
			}
		})
	})
	t.Run("§4.11 or fails it, if they cannot be dismissed", func(t *testing.T) {
		bubble(t, func(w *world) {
			firm := model
			firm.Dismissible = false
			h := made(w, alice, firm)
			c := w.client(alice)
			twice(c, h, c.stream())
			w.wantStatus(h, port.TaskFailed)
			w.wantCancels(1)
		})
	})
	t.Run("§4.11 not those of another session's", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := made(w, able, model)
			other := w.client(mine)
			twice(other, h, other.stream())
			twice(other, h, other.stream())
			w.wantUpdates()
			w.wantStatus(h, port.TaskInputRequired)
			c := w.client(able)
			own := c.stream()
			twice(c, h, own)
			own.want("1 model")
			own.end() // and not once it was asked, either
			twice(other, h, other.stream())
			other.waits(w.Context(), h, other.stream())
			after(minute)
			w.wantUpdates()
			c.answers("1", `"haiku"`)
			w.wantUpdates(`model="haiku"`)
		})
	})
	t.Run("§4.11 nor its own, for a session that can be asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := made(w, alice, model)
			c := w.client(able)
			own := c.stream()
			twice(c, h, own)
			own.want("1 model")
			w.wantUpdates()
		})
	})
}
