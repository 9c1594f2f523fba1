package pump_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestCreate: a task is on record before anybody is told of it (DESIGN §4.2).
func TestCreate(t *testing.T) {
	t.Parallel()
	t.Run("B-T2 B-T4 its handle is what is told, and its session is kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, out, err := w.Adopt(w.Context(), w.call(alice), w.job("task-one"))
			if err != nil {
				w.Fatal(err)
			}
			f := parseFace(w.T, out)
			if f.Status != port.TaskWorking || f.Info != `"basalt 1"` || strings.Contains(f.Handle, "task-one") || w.store.writes != 1 {
				w.Errorf("%+v, after %d writes", f, w.store.writes)
			}
			w.wantPinned(1)
			w.wantAsked()
			w.wantGet(f.Handle, port.TaskWorking)
		})
	})
	t.Run("DESIGN §4.2 not on record it does not exist", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errors.New("the disk is full") }
			})
			if _, out, err := w.Adopt(w.Context(), w.call(alice), w.job("t1")); err == nil {
				w.Errorf("told of %s", out)
			}
			w.wantPinned(0)
			w.Abandon(w.Context(), w.call(alice), w.jobOf(doc{ID: "t1"}))
			w.wantAsked("cancel t1")
		})
	})
	t.Run("DESIGN §4.2 its session cannot be had", func(t *testing.T) {
		bubble(t, func(w *world) {
			c, made := w.call(alice), w.job("t1")
			w.refuse = errors.New("no room")
			if _, out, err := w.Adopt(w.Context(), c, made); err == nil {
				w.Errorf("told of %s", out)
			}
			w.refuse = nil
			w.wantPinned(0)
			if w.store.writes != 0 {
				w.Errorf("%d records are left", w.store.writes)
			}
		})
	})
	t.Run("B-I3 a question that comes before it is on record", func(t *testing.T) {
		bubble(t, func(w *world) {
			took, said := false, false
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error {
					if !said {
						said = true
						took = w.says(ask("0", "elicit", "t1", "name?")) //nolint:contextcheck // a server has none
					}
					return nil
				}
			})
			task, h := w.adopts(alice, w.job("t1"))
			if !took { // it is the call's, which hands it on
				task.Ask(w.session(home), ask("0", "elicit", "t1", "name?"))
			}
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
}

// TestNotCreated: what is no task, or nobody learns of (B-T2, B-T6).
func TestNotCreated(t *testing.T) {
	t.Parallel()
	t.Run("B-T2 what is no task", func(t *testing.T) {
		bubble(t, func(w *world) {
			for _, made := range []wire.Value{`{}`, `{"task":7}`, `{"task":{"taskId":"t1","status":"odd"}}`} {
				if _, out, err := w.Adopt(w.Context(), w.call(alice), made); err == nil {
					w.Errorf("%s: %s", made, out)
				}
			}
			w.wantPinned(0)
		})
	})
	t.Run("B-T6 nobody learns of it", func(t *testing.T) {
		bubble(t, func(w *world) {
			task, h := w.adopts(alice, w.job("t1"))
			task.Abandon(w.Context(), alice)
			w.wantAsked("cancel t1")
			w.wantPinned(0)
			w.backend.set(func(b *backend) { delete(b.jobs, "t1") })
			w.wantCode(h, jsonrpc.CodeInvalidParams)
		})
	})
}

// TestEnd: the end of a task is fetched once, kept, and never changes (§4.20).
func TestEnd(t *testing.T) {
	t.Parallel()
	t.Run("B-G1 B-G7 fetched once, and kept whatever the backend says later", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.made("t1"), w.replica()
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
			w.wantAsked("get t1", "result t1")
			w.backend.now("t1", port.TaskWorking)
			w.wantGet(h, port.TaskCompleted)
			other.wantGet(h, port.TaskCompleted)
			w.cancels(h)
			w.crash()
			if f := w.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("result %s", f.Result)
			}
			w.wantAsked()
		})
	})
	t.Run("§4.20 failed and cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two, three := w.made("t1"), w.made("t2"), w.made("t3")
			w.backend.ends("t1", port.TaskFailed, "", jsonrpc.NewError(-32000, "broken"))
			w.backend.ends("t2", port.TaskFailed, `{"text":"so so"}`, nil)
			w.backend.ends("t3", port.TaskCancelled, "", errNoTask)
			if f := w.wantGet(one, port.TaskFailed); f.Error != "-32000 broken" {
				w.Errorf("error %s", f.Error)
			}
			if f := w.wantGet(two, port.TaskFailed); string(f.Result) != `{"text":"so so"}` {
				w.Errorf("result %s", f.Result)
			}
			w.backend.was()
			w.wantGet(three, port.TaskCancelled)
			w.wantAsked("get t3")
		})
	})
}

// TestEndLate: an end that is not told in time, or to somebody who has left (B-G1).
func TestEndLate(t *testing.T) {
	t.Parallel()
	t.Run("B-G1 G-8 not told in time: an error, and asked again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.now("t1", port.TaskCompleted) // and nothing comes
			begun := time.Now()
			w.wantCode(h, jsonrpc.CodeInternal)
			if took := time.Since(begun); took > 8*time.Second {
				w.Errorf("took %v", took)
			}
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
		})
	})
	t.Run("B-G1 PEERS who waits is never answered: it is asked anew", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.backend.now("t1", port.TaskCompleted) // the request that is open stays so
			w.wantCode(h, jsonrpc.CodeInternal)
			w.backend.does("result", func(context.Context, string) (wire.Value, error) { return `{"text":"done"}`, nil })
			w.wantGet(h, port.TaskCompleted)
		})
	})
	t.Run("B-G1 the backend cannot be reached for the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			w.backend.fails("result", errOutage)
			w.wantCode(h, jsonrpc.CodeInternal)
			w.backend.behaves("result")
			w.wantGet(h, port.TaskCompleted)
		})
	})
	t.Run("B-G1 the client leaves while its end is fetched: it is kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, gives, given := w.made("t1"), make(chan struct{}), 0
			w.backend.completes("t1")
			w.backend.does("result", func(ctx context.Context, _ string) (wire.Value, error) {
				given++ // which is when the backend forgets it
				select {
				case <-gives:
					return `{"text":"done"}`, nil
				case <-ctx.Done():
					return "", &port.UpstreamError{Op: "result", Sent: true, Err: context.Cause(ctx)}
				}
			})
			ctx, leave := context.WithCancel(w.Context())
			done := make(chan error, 1)
			go func() {
				_, err := w.Get(ctx, backendName, alice, h)
				done <- err
			}()
			synctest.Wait()
			leave()
			if err := <-done; err == nil {
				w.Error("told somebody who has left")
			}
			close(gives)
			synctest.Wait()
			w.wantGet(h, port.TaskCompleted)
			if given != 1 {
				w.Errorf("fetched %d times, want once", given)
			}
		})
	})
}

// TestEndEarly: an end that is ahead of the state, or was given once (B-G1, B-G6).
func TestEndEarly(t *testing.T) {
	t.Parallel()
	t.Run("B-G1 the wait has it, and the state is not told: it is kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.backend.fails("get", errOutage)
			w.backend.completes("t1")
			w.wantCode(h, jsonrpc.CodeInternal)
			w.backend.behaves("get")
			w.backend.fails("result", errNoTask) // it was given once
			if f := w.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("shown %+v", f)
			}
		})
	})
	t.Run("B-G7 PEERS a result before the end is none if there is another at the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, early := w.made("t1"), wire.Value(`{"text":"not yet"}`)
			w.backend.does("result", func(context.Context, string) (wire.Value, error) { return early, nil })
			w.backend.now("t1", port.TaskInputRequired)
			w.wantGet(h, port.TaskWorking)
			w.wantGet(h, port.TaskWorking)
			w.backend.behaves("result")
			w.backend.completes("t1")
			if f := w.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("result %s", f.Result)
			}
		})
	})
	t.Run("B-G4 PEERS nor if there is an error", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, waits := w.made("t1"), 0
			w.backend.does("result", func(context.Context, string) (wire.Value, error) {
				if waits++; waits == 1 {
					return `{"text":"not yet"}`, nil
				}
				w.backend.now("t1", port.TaskFailed)
				return "", jsonrpc.NewError(-32000, "broken")
			})
			w.backend.now("t1", port.TaskInputRequired)
			w.wantGet(h, port.TaskWorking)
			w.get(h)
			if f := w.wantGet(h, port.TaskFailed); f.Error != "-32000 broken" {
				w.Errorf("shown %+v", f)
			}
		})
	})
	t.Run("B-G1 a result that was ahead of the state, and is given once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.backend.ends("t1", port.TaskInputRequired, `{"text":"done"}`, nil)
			w.wantGet(h, port.TaskWorking)
			w.backend.fails("result", errNoTask)
			w.backend.now("t1", port.TaskCompleted)
			if f := w.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("shown %+v", f)
			}
		})
	})
	t.Run("B-G6 completed, and its result was given to somebody else", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			w.backend.does("result", func(context.Context, string) (wire.Value, error) {
				w.backend.set(func(b *backend) { delete(b.jobs, "t1") })
				return "", errNoTask
			})
			w.wantCode(h, jsonrpc.CodeInvalidParams)
			w.wantPinned(0)
		})
	})
}

// TestEndKept: an end is told to all who look, and gets on record (DESIGN §4.2).
func TestEndKept(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 a store that fails: the end is told, and recorded later", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errors.New("the disk is full") }
			})
			w.wantGet(h, port.TaskCompleted)
			w.store.set(func(f *faulty) { f.put = nil })
			w.wantGet(h, port.TaskCompleted)
			w.wantAsked("get t1", "result t1", "get t1")
			w.crash()
			w.backend.fails("get", errNoTask)
			w.wantGet(h, port.TaskCompleted)
		})
	})
}

// TestEndRaces: those who see the end at the same time are told the same (B-G7, §4.20).
func TestEndRaces(t *testing.T) {
	t.Parallel()
	t.Run("B-G7 two processes see different ends: the first counts", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other, slow := w.made("t1"), w.replica(), make(chan struct{})
			w.backend.completes("t1")
			w.backend.does("result", func(context.Context, string) (wire.Value, error) {
				w.backend.behaves("result")
				<-slow
				return `{"text":"other"}`, nil
			})
			got := make(chan wire.Value)
			go func() {
				out, _ := w.Get(w.Context(), backendName, alice, h)
				got <- out.Get("result")
			}()
			time.Sleep(time.Second)
			other.wantGet(h, port.TaskCompleted)
			close(slow)
			if out := <-got; out != `{"text":"done"}` {
				w.Errorf("result %s", out)
			}
			w.wantPinned(0)
		})
	})
	t.Run("§4.20 somebody else sees the end while a session is had for a look", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.crash()
			other := w.replica()
			other.get(h)
			w.backend.completes("t1")
			w.lending = func() {
				w.lending = nil
				other.wantGet(h, port.TaskCompleted)
				w.wantGet(h, port.TaskCompleted)
			}
			w.wantGet(h, port.TaskCompleted)
			w.wantPinned(0)
			w.crash()
			w.lending = func() { w.Error("a session for a task that is over") }
			w.cancels(h)
			w.lending = nil
		})
	})
	t.Run("§4.20 many look at the end at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.made("t1"), w.replica()
			w.backend.completes("t1")
			var wg sync.WaitGroup
			for i := range 40 {
				p := []*process{w.process, other}[i%2]
				wg.Go(func() {
					time.Sleep(2*time.Second + time.Duration(i%5)*time.Microsecond)
					out, err := p.Get(w.Context(), backendName, alice, h)
					if out.Get("status") != `"completed"` || out.Get("result") != `{"text":"done"}` {
						w.Errorf("shown %s %v", out, err)
					}
				})
			}
			wg.Wait()
			w.wantPinned(0)
		})
	})
}

// TestPolls: what a backend has said is good for its poll interval (A-T21).
func TestPolls(t *testing.T) {
	t.Parallel()
	t.Run("A-T21 a hundred at once are one, and one more is none", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, h := w.adopts(alice, w.jobOf(doc{ID: "t1", Poll: 400}))
			polls(w, h, 100)
			polls(w, h, 100)
			w.wantAsked("get t1")
			after(399 * time.Millisecond)
			polls(w, h, 1)
			w.wantAsked()
			after(time.Millisecond)
			polls(w, h, 1)
			w.wantAsked("get t1")
		})
	})
	t.Run("A-T21 unless something has happened", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			polls(w, h, 1)
			w.backend.was()
			polls(w, h, 1)
			w.wantAsked()
			w.answers(h, "elicitation-1={}")
			w.backend.was()
			polls(w, h, 1)
			w.wantAsked("get t1")
		})
	})
	t.Run("A-T21 within bounds", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, fast := w.adopts(alice, w.jobOf(doc{ID: "t1", Poll: 1}))
			_, slow := w.adopts(alice, w.jobOf(doc{ID: "t2", Poll: 3600_000}))
			polls(w, fast, 1)
			polls(w, slow, 1)
			w.backend.was()
			after(99 * time.Millisecond)
			polls(w, fast, 1)
			w.wantAsked()
			after(time.Millisecond)
			polls(w, fast, 1)
			w.wantAsked("get t1")
			after(30 * time.Second)
			polls(w, slow, 1)
			w.wantAsked("get t2")
		})
	})
}

// TestLooksThatFail: what a look at a task may meet instead (§4.20, B-G5, B-U4).
func TestLooksThatFail(t *testing.T) {
	t.Parallel()
	t.Run("§4.20 malformed, broken or not of this world: an error, and the task stays", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			for _, says := range []wire.Value{`7`, `{}`, `{"status":"odd"}`, `{"status":"fault"}`} {
				w.backend.does("get", func(context.Context, string) (wire.Value, error) { return says, nil })
				w.wantCode(h, jsonrpc.CodeInternal)
			}
			for _, err := range []error{errOutage, jsonrpc.NewError(jsonrpc.CodeInternal, "Odd"), port.ErrSessionLost} {
				w.backend.fails("get", err)
				w.wantCode(h, jsonrpc.CodeInternal)
			}
			w.backend.behaves("get")
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("B-G5 the backend has forgotten it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.fails("get", errNoTask)
			w.wantCode(h, jsonrpc.CodeInvalidParams)
			w.wantPinned(0)
		})
	})
	t.Run("B-U4 a session that was lost, at a backend whose tasks outlive it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.backend.set(func(b *backend) { b.lost[home.ID] = true })
			w.waits1().brk <- port.ErrSessionLost
			// What was asked there can be answered no more, and is asked again if the
			// backend wants to know.
			w.wantGet(h, port.TaskWorking)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-2=name?")
			w.backend.was()
			w.answers(h, "elicitation-2={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"t1"} in fresh-3`)
			w.wantPinned(1)
			w.crash() // the new session is on record
			w.wantGet(h, port.TaskWorking)
			if at := w.places[len(w.places)-1]; at != "fresh-3" {
				w.Errorf("resumed in session %s", at)
			}
		})
	})
	t.Run("B-U4 two processes that have gone on in different sessions", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.made("t1"), w.replica()
			other.get(h)
			w.backend.set(func(b *backend) { b.lost[home.ID] = true })
			w.get(h)
			other.get(h)
			mine := port.Ticket{ID: "fresh-2"}
			w.saysIn(mine, ask("0", "elicit", "t1", "name?"))
			w.saysIn(mine, ask("1", "elicit", "t1", "age?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "elicitation-2=age?")
			w.backend.was()
			w.answers(h, "elicitation-1={}")
			other.answers(h, "elicitation-2={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"t1"} in fresh-2`, `answered 1 {"answer":{},"of":"t1"} in fresh-2`)
		})
	})
}

// TestLifetimes: a task is kept as long as its backend may have it.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	t.Run("B-G2 its end is told until its time is over, and then what the backend says", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
			after(hour - 10*time.Second)
			w.backend.was()
			w.wantGet(h, port.TaskCompleted)
			w.wantAsked()
			after(10 * time.Second)
			w.wantGet(h, port.TaskCompleted) // it has it still
			w.wantAsked("get t1")
			w.backend.set(func(b *backend) { delete(b.jobs, "t1") })
			w.wantCode(h, jsonrpc.CodeInvalidParams)
			w.wantPinned(0)
		})
	})
	t.Run("B-G7 what is over stays over after its time, too", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
			after(hour)
			w.backend.now("t1", port.TaskWorking)
			w.wantGet(h, port.TaskCompleted)
			w.wantPinned(0)
		})
	})
	t.Run("B-I1 a task that outlives its time is asked for, waited for and answered", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, h := w.adopts(alice, w.jobOf(doc{ID: "t1", TTL: ms(time.Second)}))
			w.backend.now("t1", port.TaskInputRequired)
			w.wantGet(h, port.TaskWorking)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			w.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"t1"}`)
		})
	})
	t.Run("PEERS a lifetime of 0 is none", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, h := w.adopts(alice, w.jobOf(doc{ID: "t1", TTL: ms(0)}))
			after(7 * hour)
			w.wantPinned(1)
			w.backend.completes("t1")
			if f := w.wantGet(h, port.TaskCompleted); f.TTL == nil || *f.TTL != 0 {
				w.Errorf("shown %+v", f)
			}
			w.backend.was()
			after(7 * hour)
			w.wantGet(h, port.TaskCompleted)
			w.wantAsked()
		})
	})
	t.Run("DESIGN §4.2 without a lifetime it is kept as long as somebody asks", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.set(func(b *backend) { b.about = `{"cancel":false}` })
			_, open := w.adopts(alice, w.jobOf(doc{ID: "t1"}))
			_, over := w.adopts(alice, w.jobOf(doc{ID: "t2"}))
			w.backend.completes("t2")
			w.wantGet(over, port.TaskCompleted)
			w.backend.now("t2", port.TaskWorking)
			w.cancels(open) // which is known to the record alone
			for range 4 {
				after(5 * hour)
				w.wantGet(open, port.TaskWorking)
				w.wantGet(over, port.TaskCompleted)
			}
			w.crash()
			w.wantGet(over, port.TaskCompleted)
			w.get(open)
			w.backend.was()
			w.says(ask("0", "elicit", "t1", "name?"))
			w.wantAsked(`answered 0 {"dismissed":true}`)
		})
	})
}

// polls looks at a task, so many at once.
func polls(w *world, h string, n int) {
	w.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := w.Get(w.Context(), backendName, alice, h); err != nil {
				w.Errorf("Get: %v", err)
			}
		})
	}
	wg.Wait()
}

// TestEndElsewhere: a task that has ended, or is gone, is let go by every process (B-U5,
// B-G5; DESIGN.md §4, promise 5).
func TestEndElsewhere(t *testing.T) {
	bubble(t, func(w *world) {
		ended, gone, other := w.waited("t1"), w.made("t2"), w.replica()
		other.get(ended)
		other.get(gone)
		w.wantPinned(2)
		w.backend.completes("t1")
		w.backend.set(func(b *backend) { delete(b.jobs, "t2") })
		after(time.Minute)
		other.wantGet(ended, port.TaskCompleted)
		out, err := other.Get(w.Context(), backendName, alice, gone)
		wantCode(w, out, err, jsonrpc.CodeInvalidParams)
		w.wantPinned(0)
	})
}
