package task_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// recorded checks, as a request is about to be sent, that it is on record: so that
// its answer finds its task, whatever happens now (A-I5).
func (w *world) recorded(c *client) func(string) {
	return func(message string) {
		id, _, isRequest := strings.Cut(strings.Split(message, "?")[0], " ")
		if !isRequest || id == "withdrawn" {
			return
		}
		if _, err := w.store.Store.Get(w.Context(), "question/"+w.desk.Session(c.caller)+"/"+id); err != nil {
			w.Errorf("%q is sent, but nothing leads from its answer to its task: %v", message, err)
		}
		records, err := w.store.Store.List(w.Context(), "tasks/"+backendName+"/"+w.Owner(c.caller), state.Pos{}, 10)
		if err != nil || len(records) != 1 || !bytes.Contains(records[0].Value, fmt.Appendf(nil, `"id":%q`, id)) {
			w.Errorf("%q is sent, but is not on record: %d records, %v", message, len(records), err)
		}
	}
}

// TestDurableBeforeSent: a store that fails keeps a question from being put, and
// loses none.
func TestDurableBeforeSent(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]func(key string) bool{
		"the way from the answer to the task": func(key string) bool { return strings.HasPrefix(key, "question/") },
		"the record":                          isRecord,
	} {
		t.Run("A-I5 "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				c, h := w.due(q("color"))
				own := c.stream()
				own.onSend = w.recorded(c)
				w.store.set(func(f *faulty) {
					f.put = func(_ context.Context, rec state.Record) error {
						if failing(rec.Key) {
							return errDisk
						}
						return nil
					}
				})
				for range 3 {
					if got := c.polls(h, own); got != port.TaskInputRequired {
						w.Errorf("told %q", got)
					}
					after(second)
				}
				own.want()
				if n := w.onDesk(); n != 0 {
					w.Errorf("%d things left on the desk, want none", n)
				}
				w.store.set(func(f *faulty) { f.put = nil })
				c.polls(h, own)
				own.want("4 color")
				c.answers("4", `"red"`)
				w.wantUpdates(`color="red"`)
			})
		})
	}
	t.Run("A-I5 an answer that cannot be kept is refused, and can be given again", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, h := w.due(q("color"))
			own := c.stream()
			c.polls(h, own)
			for what, failing := range map[string]func(f *faulty){
				"write": func(f *faulty) { f.put = func(context.Context, state.Record) error { return errDisk } },
				"read":  func(f *faulty) { f.get = func(context.Context, string) error { return errDisk } },
			} {
				w.store.set(failing)
				if err := w.Answer(w.Context(), backendName, alice, result("1", `"red"`)); err == nil {
					w.Errorf("taken by a store that cannot %s", what)
				}
				w.store.set(func(f *faulty) { f.put, f.get = nil, nil })
				w.wantUpdates()
			}
			c.answers("1", `"red"`)
			w.wantUpdates(`color="red"`)
			own.want("1 color")
		})
	})
	t.Run("A-M8 a call that cannot be saved is no task", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(_ context.Context, rec state.Record) error {
					if body(rec.Key) {
						return errDisk
					}
					return nil
				}
			})
			if out, err := w.Create(w.Context(), call(0, asksFor("color"))); err == nil {
				w.Errorf("created %s", out)
			}
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("listed %v", page.Tasks)
			}
		})
	})
}

// rounds is a hosted task of two questions, one after the other, played by a client
// that answers whatever it is asked. It returns how often the call was made again.
func (w *world) rounds() (ran *atomic.Int64) {
	ran = new(atomic.Int64)
	w.onResume = func(_ context.Context, _ port.Caller, _ string, answers []port.Answer) task.Ending {
		if ran.Add(1) == 1 {
			return asksFor("second")
		}
		return task.Ending{Result: someResult}
	}
	return ran
}

// TestEveryWriteMayFail: whichever write fails, with or without effect, a hosted
// call with two rounds of questions is made again once for each, asks each question
// once or says that it does so again, and ends as it should or as interrupted.
func TestEveryWriteMayFail(t *testing.T) {
	t.Parallel()
	for n := range 16 {
		for _, written := range []bool{false, true} {
			t.Run(fmt.Sprintf("DESIGN §4.2 write %d, written %v", n+1, written), func(t *testing.T) {
				bubble(t, func(w *world) {
					ran := w.rounds()
					h := w.create(call(0, asksFor("first"))).ID
					c := w.client(alice)
					s := c.stream()
					s.onSend = w.recorded(c)
					w.failsOnce(n, written)
					out := c.waits(w.Context(), h, s)
					for answered := 0; pending(out) && answered < 20; after(second) {
						for _, m := range s.got()[min(answered, len(s.got())):] {
							answered++
							if id, _, _ := strings.Cut(m, " "); id != "withdrawn" {
								for w.Answer(w.Context(), backendName, alice, result(jsonrpc.ID(id), `1`)) != nil {
									after(second)
								}
							}
						}
					}
					if pending(out) {
						w.Fatalf("it waits for ever; asked %q", s.got())
					}
					if o := <-out; o.Err == nil && o.Result == someResult && ran.Load() != 2 ||
						o.Err != nil && !strings.Contains(o.Err.Error(), "interrupted") {
						w.Errorf("ended in %+v after %d calls", o, ran.Load())
					}
					if ran.Load() > 2 {
						w.Errorf("made %d times", ran.Load())
					}
				})
			})
		}
	}
}

// failsOnce makes the write after n others fail, with or without effect.
func (w *world) failsOnce(n int, written bool) {
	var writes atomic.Int64
	fails := func(state.Record) error {
		if int(writes.Add(1)) == n+1 {
			return errDisk
		}
		return nil
	}
	w.store.set(func(f *faulty) {
		if written {
			f.lost = fails
		} else {
			f.put = func(_ context.Context, rec state.Record) error { return fails(rec) }
		}
	})
}

// TestHugeAnswer: an answer is never cut (A-I12), and survives a restart as it is.
func TestHugeAnswer(t *testing.T) {
	bubble(t, func(w *world) {
		c, h := w.due(q("color"))
		c.polls(h, c.stream())
		huge := `"` + strings.Repeat(`<\u2028&é`, 1<<17) + `"`
		w.backend.set(func(b *backend) { b.updateErr = errOutage })
		if err := w.Answer(w.Context(), backendName, alice, result("1", wire.Value(huge))); err != nil {
			w.Fatal(err)
		}
		w.crash()
		w.backend.set(func(b *backend) { b.updateErr, b.updates = nil, nil })
		c.polls(h, nil)
		if got := w.updates(); len(got) != 1 || got[0] != "color="+huge {
			w.Errorf("%d updates (-want +got):\n%.100s", len(got), cmp.Diff("color="+huge, strings.Join(got, "")))
		}
	})
}
