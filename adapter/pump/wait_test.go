package pump_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var (
	errBroken   = &port.UpstreamError{Op: "result", Sent: true, Err: errors.New("unexpected end")}
	errTooLong  = &port.CauseError{Text: "the total is over", Public: port.TimedOut}
	errTimedOut = &port.UpstreamError{Op: "result", Sent: true, Err: errTooLong}
)

// TestWait: the wait for the end of a task goes on until there is one (B-I1, B-I10).
func TestWait(t *testing.T) {
	t.Parallel()
	t.Run("B-I10 broken it is begun again, and why it shows nothing is said", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			wait := w.waits1()
			wait.brk <- errBroken
			w.wantAsked(fmt.Sprintf(`cancelled {"id":%s}`, wait.rid))
			after(time.Second)
			w.wantAsked("result t1")
			if f := w.wantGet(h, port.TaskWorking); !strings.Contains(f.Message, "waiting for upstream") {
				w.Errorf("says %q", f.Message)
			}
			w.hands("t1", ask("3", "elicit", "", "name?"))
			if f := w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?"); f.Message != "" {
				w.Errorf("says %q", f.Message)
			}
		})
	})
	t.Run("B-I1 PEERS one that was answered is not taken back by the process that waits next", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.fails("result", errNotOver)
			h, other := w.waited("t1"), w.replica()
			w.backend.was()
			after(time.Minute)
			other.wantGet(h, port.TaskWorking)
			for _, told := range w.backend.was() {
				if strings.HasPrefix(told, "cancelled") {
					w.Errorf("the backend was told %q", told)
				}
			}
		})
	})
	t.Run("G-8 B-I10 and again, with longer and longer pauses", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.fails("result", errOutage)
			w.waited("t1")
			w.backend.was()
			after(10 * time.Minute)
			if n := len(w.backend.was()); n < 15 || n > 30 {
				w.Errorf("begun %d times in ten minutes", n)
			}
		})
	})
	t.Run("B-I3 B-I10 asked again in another wait it is the same question, with another id", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.hands("t1", ask("1", "elicit", "", "name?"))
			w.waits1().brk <- errBroken
			after(time.Second)
			w.hands("t1", ask("7", "elicit", "", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "elicitation-2=name?")
			w.backend.was()
			w.answers(h, `elicitation-1={"n":1}`, `elicitation-2={"n":2}`)
			w.wantAsked(`answered 7 {"answer":{"n":1},"of":"t1"}`, `answered 1 {"answer":{"n":2},"of":"t1"}`)
		})
	})
	t.Run("B-I10 asked again when its answer may have been lost: it is given again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.backend.set(func(b *backend) {
				b.answer = func(wire.Value) error { return errOutage }
			})
			w.answers(h, `elicitation-1={"n":1}`)
			w.waits1().brk <- errBroken
			after(time.Second)
			w.hands("t1", ask("7", "elicit", "", "name?"))
			w.wantGet(h, port.TaskWorking)
			w.backend.set(func(b *backend) { b.answer = nil })
			w.backend.was()
			after(time.Minute)
			w.wantAsked(`answered 7 {"answer":{"n":1},"of":"t1"}`)
			w.wantGet(h, port.TaskWorking)
		})
	})
}

// TestWaitPeers: backends that do not let wait, or ask whom nobody hears (PEERS).
func TestWaitPeers(t *testing.T) {
	t.Parallel()
	t.Run("PEERS the backend lets nobody wait: it is asked again when somebody looks", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.fails("result", errNotOver)
			h := w.waited("t1")
			after(hour / 2)
			w.wantAsked()
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1", "result t1", "get t1")
			w.says(ask("0", "elicit", "", "name?")) // as it does there
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("PEERS a wait is silent as long as nobody is asked anything", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.waited("t1")
			wait := w.waits1()
			after(hour / 2)
			if waited := wait.call.Waited; waited == nil || time.Since(waited()) > 0 {
				w.Error("its silence is held against the backend")
			}
		})
	})
	t.Run("PEERS nobody listens any more: the backend is told, or it asks nobody", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.waited("t1")
			wait := w.waits1()
			wait.brk <- errTimedOut
			after(time.Second)
			w.wantAsked(fmt.Sprintf(`cancelled {"id":%s}`, wait.rid), "result t1")
			rid := w.waits1().rid
			w.process.stop()
			w.wantAsked(fmt.Sprintf(`cancelled {"id":%s}`, rid))
		})
	})
}

// TestWaitEnds: the wait ends with its task (B-G5, B-U4).
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	t.Run("B-G5 the task is gone", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.backend.set(func(b *backend) { delete(b.jobs, "t1") })
			w.waits1().brk <- errNoTask
			w.wantAsked("get t1")
			w.wantPinned(0)
			w.wantCode(h, jsonrpc.CodeInvalidParams)
		})
	})
	t.Run("B-U4 and so is its session", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.backend.set(func(b *backend) { b.bound = true; b.lost[home.ID] = true })
			w.waits1().brk <- port.ErrSessionLost
			w.wantAsked("result t1", "get t1")
			w.wantPinned(0)
			w.wantCode(h, jsonrpc.CodeInvalidParams)
		})
	})
	t.Run("§4.21 it ends as the task does, without a poll", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.backend.completes("t1")
			w.wantAsked("get t1")
			w.wantPinned(0)
			w.wantGet(h, port.TaskCompleted)
			w.wantAsked()
		})
	})
}

// TestLeases: one process waits for a task, whichever is asked (B-I1, DESIGN §4.5).
func TestLeases(t *testing.T) {
	t.Parallel()
	t.Run("B-I1 two processes, one wait, the same questions", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			other.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			other.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"t1"}`)
			w.answers(h, "elicitation-1={}")
			w.wantAsked()
			w.wantGet(h, port.TaskWorking)
			w.backend.completes("t1")
			w.backend.was()
			if f := other.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("result %s", f.Result)
			}
			w.wantAsked()
			w.wantPinned(0)
		})
	})
	t.Run("B-I1 the one that waits has died", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			wait := w.waits1()
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.process.kill()
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.wantAsked("get t1")
			after(15 * time.Second)
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			// The dead one's request may be open there, and the backend asks on it.
			w.wantAsked("get t1", fmt.Sprintf(`cancelled {"id":%s}`, wait.rid), "result t1")
			w.hands("t1", ask("9", "elicit", "", "name?"))
			w.hands("t1", ask("0", "elicit", "", "age?"))
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "elicitation-2=age?")
			w.process = w.launch()
		})
	})
	t.Run("B-I1 it stops: the other goes on at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			took := fmt.Sprintf(`cancelled {"id":%s}`, w.waits1().rid)
			w.process.stop()
			w.wantAsked(took)
			other.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1", took, "result t1") // it cannot know that the backend knows
			w.process = w.launch()
		})
	})
}

// TestLeaseLost: a process that has lost its lease waits no more, and loses nothing (DESIGN §4.3).
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.3 it has lost the lease: it does not wait any more", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			wait := w.waits1()
			w.store.set(func(f *faulty) { f.renew = func() error { return errors.New("the store is away") } })
			after(8 * time.Second)
			w.wantAsked()
			after(2 * time.Second)
			took := fmt.Sprintf(`cancelled {"id":%s}`, wait.rid)
			w.wantAsked(took)
			other.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1", took, "result t1")
			// What it was asked last, it was asked.
			wait.call.OnMessage(ask("0", "elicit", "", "name?"))
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			// The backend asks the other again, which is the same.
			w.hands("t1", ask("1", "elicit", "", "name?"))
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			other.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 1 {"answer":{},"of":"t1"}`)
		})
	})
	t.Run("DESIGN §4.3 it has stood still, and does not know that it has lost the lease", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			wait := w.waits1()
			w.store.set(func(f *faulty) { f.still = true })
			after(16 * time.Second)
			other.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1", fmt.Sprintf(`cancelled {"id":%s}`, wait.rid), "result t1")
			wait.brk <- errBroken
			after(time.Minute)
			w.wantAsked(fmt.Sprintf(`cancelled {"id":%s}`, wait.rid))
			w.waits1()
		})
	})
	t.Run("DESIGN §4.3 one that has lost it hears again what the other was asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			wait := w.waits1()
			w.store.set(func(f *faulty) { f.renew = func() error { return errors.New("the store is away") } })
			after(16 * time.Second)
			other.get(h)
			w.hands("t1", ask("1", "elicit", "", "name?"))
			wait.call.OnMessage(ask("0", "elicit", "", "name?"))
			other.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			other.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 1 {"answer":{},"of":"t1"}`)
		})
	})
}

// TestGoOn: another process goes on where one has died, even without the store (DESIGN §4.5, §4.23).
func TestGoOn(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.5 an answer that its process cannot give is given by another", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := pair(w)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.backend.set(func(b *backend) { b.answer = func(wire.Value) error { return errOutage } })
			w.answers(h, `elicitation-1={"n":1}`)
			w.process.kill()
			w.backend.set(func(b *backend) { b.answer = nil })
			w.backend.was()
			other.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1")
			after(15 * time.Second)
			other.wantGet(h, port.TaskWorking)
			if got := w.backend.was(); !slices.Contains(got, `answered 0 {"answer":{"n":1},"of":"t1"}`) {
				w.Errorf("the backend was told %q", got)
			}
			w.process = w.launch()
		})
	})
	t.Run("§4.23 a store that has lost everything loses no task of a backend", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.answers(h, "elicitation-1={}")
			w.loseStore()
			w.backend.was()
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1", "result t1")
			w.hands("t1", ask("1", "elicit", "", "name?"))
			asks := w.get(h).asks()
			if len(asks) != 1 || asks[0] == "elicitation-1=name?" || asks[0] == "elicitation-2=name?" {
				w.Errorf("asks %q, want one question under a key that has never been", asks)
			}
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
		})
	})
}

// TestKilled: a process dies between any two steps, and nothing is lost or done twice
// (DESIGN §4.2, §4.3).
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 after the task is on record, before anybody is told", func(t *testing.T) {
		bubble(t, func(w *world) {
			made := w.job("t1")
			dies(w)
			if _, out, err := w.Adopt(w.Context(), w.call(alice), made); err == nil {
				w.crash() // the handle is as good as ever
				w.wantGet(parseFace(w.T, out).Handle, port.TaskWorking)
				return
			}
			w.crash()
			w.wantPinned(0)
		})
	})
	t.Run("B-I3 after a question is on record: it is shown after", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			dies(w)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.crash()
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			w.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"t1"}`)
		})
	})
	t.Run("B-I5 after an answer is on record, before the backend has it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			dies(w)
			_ = w.answerAs(alice, h, `elicitation-1={"n":1}`)
			w.wantAsked()
			w.crash()
			w.wantGet(h, port.TaskWorking)
			after(15 * time.Second)
			w.wantGet(h, port.TaskWorking)
			told := slices.DeleteFunc(w.backend.was(), func(s string) bool { return !strings.HasPrefix(s, "answered") })
			if want := []string{`answered 0 {"answer":{"n":1},"of":"t1"}`}; !slices.Equal(told, want) {
				w.Errorf("the backend was told %q, want %q", told, want)
			}
			w.answers(h, `elicitation-1={"n":2}`)
			w.wantAsked()
		})
	})
}

// TestKilledLater: a process dies after the last step of something.
func TestKilledLater(t *testing.T) {
	t.Parallel()
	t.Run("B-I5 after the backend has it, before that is on record: nobody is asked again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			p := w.process
			w.backend.set(func(b *backend) {
				b.answer = func(wire.Value) error {
					p.store.set(func(f *faulty) { f.dead = true })
					p.end()
					return nil
				}
			})
			_ = w.answerAs(alice, h, `elicitation-1={"n":1}`)
			w.crash()
			w.backend.set(func(b *backend) { b.answer = nil })
			w.wantGet(h, port.TaskWorking)
			after(15 * time.Second)
			w.wantGet(h, port.TaskWorking)
			for _, told := range w.backend.was() {
				if strings.HasPrefix(told, "answered") && told != `answered 0 {"answer":{"n":1},"of":"t1"}` {
					w.Errorf("the backend was told %s", told)
				}
			}
		})
	})
	t.Run("B-G1 after the end is on record", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			dies(w)
			w.get(h)
			w.crash()
			w.backend.was()
			if f := w.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("result %s", f.Result)
			}
			w.wantAsked()
		})
	})
	t.Run("§4.22 after a cancellation that the backend does not know is on record", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.set(func(b *backend) { b.about = `{"cancel":false}` })
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.hands("t1", ask("1", "sample", "", "poem?"))
			dies(w)
			_, _ = w.Cancel(context.WithoutCancel(w.Context()), backendName, alice, h)
			w.wantAsked()
			w.crash()
			w.wantGet(h, port.TaskWorking)
			after(15 * time.Second)
			w.wantGet(h, port.TaskWorking)
			told := slices.DeleteFunc(w.backend.was(), func(s string) bool { return !strings.HasPrefix(s, "answered") && !strings.HasPrefix(s, "refused") })
			if want := []string{`answered 0 {"dismissed":true}`, "refused 1 -32603"}; !slices.Equal(told, want) {
				w.Errorf("the backend was told %q, want %q", told, want)
			}
		})
	})
}

// pair is two processes, of which the first waits for the task.
func pair(w *world) (h string, other *process) {
	return w.waited("t1"), w.replica()
}

// dies has the process die once it has written.
func dies(w *world) {
	p := w.process
	p.store.set(func(f *faulty) {
		f.wrote = func(state.Record) {
			p.store.set(func(f *faulty) { f.dead = true })
			p.end()
		}
	})
}
