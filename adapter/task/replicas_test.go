package task_test

import (
	"context"
	"sync"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
)

// waitingAt waits for a task at one of several replicas.
func (w *world) waitingAt(m *task.Manager, ctx context.Context, handle string, stream port.Stream) <-chan port.Outcome { //nolint:revive // m is where, ctx how long
	done := make(chan port.Outcome, 1)
	go func() { done <- m.Result(ctx, backendName, alice, handle, stream) }()
	return done
}

// TestOneLoop: of all replicas that wait for a task one polls it, and another goes on
// when that is gone (A-R2).
func TestOneLoop(t *testing.T) {
	t.Parallel()
	t.Run("A-R2 two replicas wait, one polls", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.proxied("t1"), w.another()
			defer w.close(other)
			first := w.waiting(w.Context(), h)
			after(second / 10)
			second1 := w.waitingAt(other, w.Context(), h, nil)
			after(minute)
			gets, _ := w.backend.asked()
			if gets < 50 || gets > 70 {
				w.Errorf("%d polls in a minute at an interval of a second", gets)
			}
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			for _, c := range []<-chan port.Outcome{first, second1} {
				if pending(c) {
					w.Fatal("a waiter sleeps on")
				}
				if out := <-c; out.Err != nil {
					w.Error(out.Err)
				}
			}
		})
	})
	t.Run("A-R2 the one that polls stops: the other goes on at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.proxied("t1"), w.another()
			defer w.close(other)
			first := w.waiting(w.Context(), h)
			after(second)
			rest := w.waitingAt(other, w.Context(), h, nil)
			after(second)
			w.stop()
			<-first
			w.now("t1", port.TaskCompleted)
			after(3 * second)
			if pending(rest) {
				w.Error("the waiter sleeps on")
			}
			w.start()
		})
	})
	t.Run("A-R2 the one that polls dies: the other goes on within seconds", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.proxied("t1"), w.another()
			defer w.close(other)
			w.waiting(w.Context(), h)
			after(second)
			rest := w.waitingAt(other, w.Context(), h, nil)
			after(second)
			w.store.set(func(f *faulty) { f.renew = func() error { return errDisk } })
			w.backend.set(func(b *backend) { b.getErr = errOutage }) // it polls in vain, too
			after(10 * second)
			w.backend.set(func(b *backend) { b.getErr = nil })
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			if pending(rest) {
				w.Error("the waiter sleeps on")
			}
			w.store.set(func(f *faulty) { f.renew = nil })
		})
	})
}

// TestQuestionAtAnotherReplica: a question is put once, to whoever waits, wherever that
// is; and is taken back there when it is answered elsewhere (A-I1, A-I8, A-I9).
func TestQuestionAtAnotherReplica(t *testing.T) {
	t.Parallel()
	t.Run("A-I1 the one that does not poll has the client", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, other := w.client(alice), w.another()
			defer w.close(other)
			h := w.proxied("t1")
			w.waiting(w.Context(), h) // it cannot be asked there
			after(second)
			s := c.stream()
			w.waitingAt(other, w.Context(), h, s)
			after(second)
			w.asks("t1", q("color"))
			after(2 * second)
			s.want("1 color")
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I9 two clients wait at two replicas: one is asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, other := w.client(alice), w.another()
			defer w.close(other)
			h := w.proxied("t1")
			here, there := c.stream(), c.stream()
			var both sync.WaitGroup
			both.Go(func() { w.Manager.Result(w.Context(), backendName, alice, h, here) })
			both.Go(func() { other.Result(w.Context(), backendName, alice, h, there) })
			after(second)
			w.asks("t1", q("color"))
			after(minute)
			if n := len(here.got()) + len(there.got()); n != 1 {
				w.Errorf("asked %d times: %v, %v", n, here.got(), there.got())
			}
		})
	})
}

// TestCancelElsewhere: a call that one replica runs ends when another cancels its task,
// and holds up nobody's stop (A-X2; DESIGN §4.6).
func TestCancelElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("A-X2 the call of a hosted task is aborted", func(t *testing.T) {
		bubble(t, func(w *world) {
			other, cut := w.another(), make(chan struct{})
			defer w.close(other)
			q := call(hour, task.Ending{Result: someResult})
			made := q.Call
			q.Call = func(ctx context.Context) task.Ending {
				defer close(cut)
				return made(ctx)
			}
			h := w.create(q).ID
			if _, err := other.Cancel(w.Context(), backendName, alice, h); err != nil {
				w.Fatal(err)
			}
			after(second)
			select {
			case <-cut:
			default:
				w.Error("the call goes on")
			}
			w.wantStatus(h, port.TaskCancelled)
		})
	})
}

// TestAnswerIsToldOnce: an answer that several replicas could tell the backend, one of
// them tells (A-I5).
func TestAnswerIsToldOnce(t *testing.T) {
	bubble(t, func(w *world) {
		c, other := w.client(alice), w.another()
		defer w.close(other)
		h := w.asking(q("color"))
		w.backend.set(func(b *backend) {
			b.onUpdate = func(answers []port.Answer) {
				after(3 * second) // it takes its time
				w.satisfied(answers)
			}
		})
		s := c.stream()
		c.waits(w.Context(), h, s)
		w.waitingAt(other, w.Context(), h, nil)
		after(2 * second)
		s.want("1 color")
		go c.answers("1", `"red"`)
		after(minute)
		w.wantUpdates(`color="red"`)
	})
}
