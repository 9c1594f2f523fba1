package task_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// mine is another session of alice's.
var mine = port.Caller{Session: "sa2", Principal: "alice", Authorization: "Bearer a2"}

func TestAskedWhereSomebodyWaits(t *testing.T) {
	t.Parallel()
	t.Run("A-I1 on a live tasks/result, once, whoever polls besides", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own, s := c.stream(), c.stream()
			out := c.waits(w.Context(), h, s)
			s.want("1 color")
			c.polls(h, own)
			after(minute)
			c.polls(h, own)
			s.want("1 color")
			own.want()
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			if o := <-out; o.Err != nil {
				t.Error(o.Err)
			}
			s.want("1 color")
		})
	})
	t.Run("A-I1 on the newest, and on that one only", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			first, other := w.client(alice), w.client(mine)
			s1, s2 := first.stream(), other.stream()
			first.waits(w.Context(), h, s1)
			other.waits(w.Context(), h, s2)
			w.asks("t1", q("color"))
			after(3 * second)
			s1.want()
			s2.want("1 color")
			w.asks("t1", q("color"), q("size")) // A-I10
			after(2 * second)
			s2.want("1 color", "2 size")
			s1.want()
		})
	})
	t.Run("A-I1 not where nothing can be asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c := w.client(alice)
			s := c.stream()
			s.deaf = true
			c.waits(w.Context(), h, s)
			after(minute)
			s.want()
			w.wantStatus(h, port.TaskInputRequired)
		})
	})
	t.Run("A-I10 what a notification says is asked at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.proxied("t1")
			c := w.client(alice)
			s := c.stream()
			c.waits(w.Context(), h, s)
			after(2 * second)
			w.asks("t1", q("color"))
			w.observes("t1")
			s.want("1 color")
		})
	})
	t.Run("§4.11 who can be asked is, before those who cannot", func(t *testing.T) {
		bubble(t, func(w *world) {
			able := alice
			able.Capabilities = `{"sampling":{}}`
			h := w.asking(question{Key: "model", Text: "model", Needs: "sampling"})
			first, other := w.client(able), w.client(mine)
			s1 := first.stream()
			first.waits(w.Context(), h, s1)
			other.waits(w.Context(), h, other.stream())
			after(5 * second)
			s1.want("1 model")
			w.wantStatus(h, port.TaskInputRequired)
		})
	})
}

func TestAskedAgain(t *testing.T) {
	t.Parallel()
	t.Run("A-I9 not while the stream may be resumed and nobody else waits", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c := w.client(alice)
			s, own := c.stream(), c.stream()
			c.waits(w.Context(), h, s)
			s.want("1 color")
			s.leave()
			for range 5 {
				after(2 * second)
				c.polls(h, own)
			}
			s.resume()
			after(5 * second)
			s.want("1 color")
			own.want()
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I9 on a new tasks/result once the old stream is dead; either id answers, once", func(t *testing.T) {
		for id, rest := range map[jsonrpc.ID][]string{"1": {"withdrawn 2"}, "2": nil} {
			t.Run("by "+string(id), func(t *testing.T) {
				bubble(t, func(w *world) {
					h := w.asking(q("color"))
					c := w.client(alice)
					s := c.stream()
					c.waits(w.Context(), h, s)
					s.leave()
					again := c.stream()
					c.waits(w.Context(), h, again)
					again.want("withdrawn 1", "2 color")
					s.want("1 color")
					c.answers(id, `"red"`)
					c.answers("1", `"green"`)
					c.answers("2", `"blue"`)
					w.wantUpdates(`color="red"`)
					after(minute)
					again.want(append([]string{"withdrawn 1", "2 color"}, rest...)...)
					s.want("1 color") // what was taken back on the new stream is not on the old one, too
				})
			})
		}
	})
}

func TestAskedElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("A-I9 by another session: the first one's is taken back where it may come back to", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			first, other := w.client(alice), w.client(mine)
			s1, s2 := first.stream(), other.stream()
			first.waits(w.Context(), h, s1)
			s1.leave()
			other.waits(w.Context(), h, s2)
			s2.want("1 color")
			s1.want("1 color", "withdrawn 1")
			first.answers("1", `"red"`) // it had been read all the same
			w.wantUpdates(`color="red"`)
			s2.want("1 color", "withdrawn 1")
			other.answers("1", `"blue"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("A-I9 only so many ids are remembered", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c := w.client(alice)
			for range 12 {
				s := c.stream()
				ctx, cancel := context.WithCancel(w.Context())
				c.waits(ctx, h, s)
				s.end()
				cancel()
				after(second)
			}
			c.answers("4", `"red"`)
			w.wantUpdates()
			c.answers("5", `"red"`)
			w.wantUpdates(`color="red"`)
		})
	})
	t.Run("a store that fails in between costs no question that is being read", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c := w.client(alice)
			s := c.stream()
			c.waits(w.Context(), h, s)
			s.leave()
			w.store.set(func(f *faulty) { f.put = func(context.Context, state.Record) error { return errDisk } })
			again := c.stream()
			ctx, cancel := context.WithCancel(w.Context())
			c.waits(ctx, h, again)
			again.want()
			cancel()
			s.resume()
			w.store.set(func(f *faulty) { f.put = nil })
			after(10 * second)
			s.want("1 color")
			again.want()
		})
	})
}

func TestAnswersOfOthersAreDropped(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.asking(q("color"))
		c := w.client(alice)
		s := c.stream()
		c.waits(w.Context(), h, s)
		s.want("1 color")
		w.client(mine).answers("1", `"a session that was not asked"`)
		w.client(bob).answers("1", `"another owner"`)
		thief := bob
		thief.Session = alice.Session
		w.client(thief).answers("1", `"another owner in the same session"`)
		c.answers("2", `"another request"`)
		c.answers(`"1"`, `"an id of another type"`)
		if err := w.Answer(w.Context(), "b2", alice, result("1", `"another backend's route"`)); err != nil {
			w.Errorf("Answer: %v, want it dropped", err)
		}
		w.wantUpdates()
		w.wantStatus(h, port.TaskInputRequired)
		c.answers("1", `"red"`)
		w.wantUpdates(`color="red"`)
	})
}

// TestAskedOnce: however many look at a task at once, each question is put once.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	t.Run("A-I2 100 pollers and as many that wait", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"), q("size"))
			own := c.stream()
			ctx, cancel := context.WithCancel(w.Context())
			defer cancel()
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if _, err := w.Manager.Get(ctx, backendName, alice, h, func() port.Stream { return own }); err != nil {
						w.Errorf("Get: %v", err)
					}
				})
			}
			for range 100 {
				all.Go(func() { w.Manager.Result(ctx, backendName, alice, h, c.stream()) })
			}
			after(10 * second)
			asked := c.asked()
			if len(asked) != 2 || !strings.HasSuffix(strings.Join(asked, ""), "size") {
				w.Errorf("asked %q, want each question once", asked)
			}
			for _, m := range asked {
				id, _, _ := strings.Cut(m, " ")
				for range 3 {
					all.Go(func() {
						if err := w.Answer(ctx, backendName, alice, result(jsonrpc.ID(id), `1`)); err != nil {
							w.Errorf("Answer: %v", err)
						}
					})
				}
			}
			after(10 * second)
			if told := strings.Join(w.updates(), " "); strings.Count(told, "color") > 2 || strings.Count(told, "size") > 2 {
				w.Errorf("updates %q", told)
			}
			w.now("t1", port.TaskCompleted)
			after(2 * second)
			all.Wait()
			if got := c.asked(); len(got) != 2 {
				w.Errorf("asked %q, want nothing more", got)
			}
			if n := w.onDesk(); n != 0 {
				w.Errorf("%d things left on the desk, want none", n)
			}
		})
	})
}

func TestAskedApart(t *testing.T) {
	t.Parallel()
	t.Run("A-I2 two tasks, each by its own session and under one id", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.onResume = func(_ context.Context, caller port.Caller, _ string, answers []port.Answer) task.Ending {
				return task.Ending{Err: jsonrpc.NewError(-1, "%s %s", caller.Session, answers[0].Value)}
			}
			clients := []*client{w.client(alice), w.client(bob)}
			var outs []<-chan port.Outcome
			for _, c := range clients {
				request := call(0, asksFor("color"))
				request.Caller = c.caller
				s := c.stream()
				outs = append(outs, c.waits(w.Context(), w.create(request).ID, s))
				s.want("1 color")
			}
			for i, c := range clients {
				c.answers("1", wire.Value(strconv.Itoa(i)))
			}
			for i, out := range outs {
				want := fmt.Sprintf("%s %d", clients[i].caller.Session, i)
				if o := <-out; port.RPCError(o.Err).Message != want {
					w.Errorf("ended in %+v, want %s", o, want)
				}
			}
		})
	})
	t.Run("A-I3 no id, no question; the next look tries again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			c := w.client(alice)
			s := c.stream()
			s.noID = errors.New("no ids today")
			c.waits(w.Context(), h, s)
			after(3 * second)
			s.want()
			c.mu.Lock()
			s.noID = nil
			c.mu.Unlock()
			after(2 * second)
			s.want("1 color")
			if !strings.Contains(w.logged.String(), "no ids today") {
				w.Error("the failure is not logged")
			}
		})
	})
}
