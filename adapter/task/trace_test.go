package task_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// traces counts the requests to a client whose answers the store leads to a task.
func (w *world) traces(c *client) (n int) {
	for id := range c.ids + 1 {
		key := "question/" + w.desk.Session(c.caller) + "/" + strconv.FormatInt(id, 10)
		if _, err := w.store.Store.Get(w.Context(), key); err == nil {
			n++
		}
	}
	return n
}

// TestOldQuestionsLeaveNothing: however many questions a backend asks in the life of
// a task, the store keeps those that can be answered, and no more.
func TestOldQuestionsLeaveNothing(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]func(w *world, c *client, i int){
		"A-I8 of those that are withdrawn": func(*world, *client, int) {},
		"A-I5 of those that are answered": func(_ *world, c *client, i int) {
			c.answers(jsonrpc.IntID(int64(i)), `"red"`)
		},
		"§4.11 of those that a client refuses": func(_ *world, c *client, i int) {
			c.responds(refusal(jsonrpc.IntID(int64(i)), "no"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				c, h := w.due(q("k1"))
				own := c.stream()
				for i := 1; i <= 20; i++ {
					w.asks("t1", q("k"+strconv.Itoa(i)))
					after(second)
					c.polls(h, own)
					if got := own.got(); got[len(got)-1] != strconv.Itoa(i)+" k"+strconv.Itoa(i) {
						w.Fatalf("asked %v", got)
					}
					each(w, c, i)
					if n := w.traces(c); n > 1 {
						w.Fatalf("after %d questions the store leads from %d to the task, want one", i, n)
					}
				}
			})
		})
	}
	t.Run("§4.11 of one whose refusal ends the task", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"), question{Key: "model", Text: "model"})
			own := c.stream()
			c.polls(h, own)
			own.want("1 color", "2 model")
			c.responds(refusal("2", "no model"))
			if n := w.traces(c); n != 0 {
				w.Errorf("%d left", n)
			}
		})
	})
}

// TestOldRequestsLeaveNothing: of the requests that put one question again and again
// the store keeps those that can be answered.
func TestOldRequestsLeaveNothing(t *testing.T) {
	t.Parallel()
	t.Run("A-I9 of ids that are not remembered", func(t *testing.T) {
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
			if n := w.traces(c); n != 8 {
				w.Errorf("%d left, want those that can be answered", n)
			}
			c.answers("7", `"red"`)
			if n := w.traces(c); n != 0 {
				w.Errorf("%d left behind the answer", n)
			}
		})
	})
	t.Run("A-I9 but of an older id that can still be answered, by another session", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.asking(q("color"))
			first, other := w.client(alice), w.client(mine)
			s := first.stream()
			ctx, cancel := context.WithCancel(w.Context())
			first.waits(ctx, h, s)
			s.leave()
			cancel()
			other.waits(w.Context(), h, other.stream())
			if a, b := w.traces(first), w.traces(other); a != 1 || b != 1 {
				w.Fatalf("%d and %d, want one each", a, b)
			}
			first.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
			if a, b := w.traces(first), w.traces(other); a+b != 0 {
				w.Errorf("%d and %d left behind the answer", a, b)
			}
		})
	})
	t.Run("A-I5 of one that could not be put", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			w.store.set(func(f *faulty) {
				f.put = func(_ context.Context, rec state.Record) error {
					if strings.HasPrefix(rec.Key, "question/") {
						return nil
					}
					return errDisk
				}
			})
			c.polls(h, c.stream())
			if n := w.traces(c); n != 0 {
				w.Errorf("%d left", n)
			}
		})
	})
}
