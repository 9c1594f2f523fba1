package pump_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestQuestions: a task's questions come while somebody waits for its end: the bridge
// does, from the first sign that there may be some (B-I1).
func TestQuestions(t *testing.T) {
	t.Parallel()
	t.Run("B-I1 B-I5 B-G1 nobody waits before, one does then, and its result is the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1")
			w.backend.now("t1", port.TaskInputRequired)
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1", "result t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.answers(h, `elicitation-1={"n":1}`)
			w.wantAsked("get t1", `answered 0 {"answer":{"n":1},"of":"t1"}`)
			w.wantGet(h, port.TaskWorking)
			w.backend.completes("t1")
			if f := w.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` || f.Info != `"basalt 1"` {
				w.Errorf("shown %+v", f)
			}
			w.wantAsked("get t1", "get t1")
			w.wantGet(h, port.TaskCompleted)
			w.wantAsked()
			w.wantPinned(0)
		})
	})
	t.Run("B-I3 it is on record before anybody is shown it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errors.New("the disk is full") }
			})
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("refused 0 -32603", "get t1")
		})
	})
}

// TestQuestionsTwice: what is said twice is one question (B-I3, B-I8; PEERS, questions
// twice).
func TestQuestionsTwice(t *testing.T) {
	t.Parallel()
	t.Run("B-I3 said twice it is one, on whatever stream", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			w.says(ask("0", "elicit", "t1", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("B-I3 nor is it two if said elsewhere under another id: both get the answer", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			w.says(ask("1", "elicit", "t1", "name?"))
			w.says(ask("2", "elicit", "t1", "name?"))
			w.hands("t1", ask("2", "elicit", "t1", "name?"))
			w.says(ask("0", "elicit", "t1", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			w.answers(h, `elicitation-1={}`)
			const result = ` {"answer":{},"of":"t1"}`
			w.wantAsked("answered 2"+result, "answered 0"+result, "answered 1"+result)
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("B-I8 an id that is taken back leaves the others, one that is something else, too", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			for _, id := range []string{"1", "2", "3"} {
				w.says(ask(id, "elicit", "t1", "name?"))
			}
			w.says(note("withdrawn", `{"id":3}`))
			w.says(note("withdrawn", `{"id":0}`))
			w.says(ask("1", "sample", "t1", "age?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "sampling-2=age?")
			w.backend.was()
			w.answers(h, `elicitation-1={}`)
			w.wantAsked(`answered 2 {"answer":{},"of":"t1"}`)
		})
	})
	t.Run("B-I3 who asks the same again and again is refused in the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			for id := range 17 {
				w.says(ask(strconv.Itoa(id+1), "elicit", "t1", "name?"))
			}
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.wantAsked("refused 17 -32603", "get t1")
		})
	})
	t.Run("B-I3 several samples for one prompt", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "sample", "t1", "a haiku?"))
			w.hands("t1", ask("1", "sample", "t1", "a haiku?"))
			w.wantGet(h, port.TaskInputRequired, "sampling-1=a haiku?", "sampling-2=a haiku?")
		})
	})
	t.Run("B-I3 and also when its answer is on the way", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			w.backend.set(func(b *backend) {
				b.answer = func(wire.Value) error {
					w.says(ask("0", "elicit", "t1", "name?"))
					return nil
				}
			})
			w.answers(h, `elicitation-1={}`)
			w.wantGet(h, port.TaskWorking)
		})
	})
}

// TestQuestionIDs: the ids of a backend are no keys (B-I3, G-2).
func TestQuestionIDs(t *testing.T) {
	t.Parallel()
	t.Run("B-I3 an id that comes back is another question, under a key that has never been", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.answers(h, `elicitation-1={}`)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-2=name?")
			w.hands("t1", ask("0", "sample", "", "age?"))
			w.wantGet(h, port.TaskInputRequired, "sampling-3=age?")
			w.answers(h, `elicitation-2={}`) // can be answered no more
			w.answers(h, `sampling-3={}`)
			w.backend.was()
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("G-2 an id keeps its type", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			for _, id := range []string{`1`, `"1"`, `""`, `9007199254740993`} {
				w.hands("t1", ask(id, "elicit", "", "q"+strconv.Itoa(len(id))))
			}
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=q1", "elicitation-2=q3", "elicitation-3=q2", "elicitation-4=q16")
			w.backend.was()
			w.answers(h, "elicitation-1={}", "elicitation-2={}", "elicitation-3={}", "elicitation-4={}")
			const result = ` {"answer":{},"of":"t1"}`
			w.wantAsked("answered 1"+result, `answered "1"`+result, `answered ""`+result, "answered 9007199254740993"+result)
		})
	})
}

// TestQuestionLimits: questions are bounded, and end (B-I3, B-I8, B-I9).
func TestQuestionLimits(t *testing.T) {
	t.Parallel()
	t.Run("B-I3 no more than can be kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			for i := range 65 {
				w.hands("t1", ask(fmt.Sprint(i), "elicit", "", fmt.Sprint(i)))
			}
			w.wantAsked("refused 64 -32603")
			if n := len(w.get(h).Asks); n != 64 {
				w.Errorf("%d questions, want 64", n)
			}
		})
	})
	t.Run("B-I3 nor larger", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			large := strings.Repeat("x", 5<<19)
			w.hands("t1", ask("0", "elicit", "", large))
			w.hands("t1", ask("1", "elicit", "", "more "+large))
			w.hands("t1", ask("2", "elicit", "", "name?"))
			w.wantAsked("refused 1 -32603")
			if n := len(w.get(h).Asks); n != 2 {
				w.Errorf("%d questions, want 2", n)
			}
		})
	})
	t.Run("B-I8 taken back it is gone, and its key burnt", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			if !w.says(note("withdrawn", `{"id":0}`)) || w.says(note("withdrawn", `{"id":"0"}`)) {
				w.Error("the wrong one was taken back")
			}
			w.wantGet(h, port.TaskWorking)
			w.backend.was()
			w.answers(h, `elicitation-1={}`)
			w.wantAsked()
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-2=name?")
		})
	})
	t.Run("B-I9 over with the task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
			w.backend.was()
			w.answers(h, `elicitation-1={}`)
			w.wantAsked()
		})
	})
}

// TestUnaskable: what no client could answer is refused at once, so that the task can
// go on (B-I4, B-U7).
func TestUnaskable(t *testing.T) {
	t.Parallel()
	t.Run("B-I4 the call that made the task has declared less", func(t *testing.T) {
		bubble(t, func(w *world) {
			asker := port.Caller{Principal: "alice", Capabilities: `{"elicit":{}}`}
			_, h := w.adopts(asker, w.job("t1"))
			w.says(ask("1", "sample", "t1", "poem?"))
			w.says(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "2", Method: "elicit", Params: `{"text":"go","url":"x","of":"t1"}`})
			w.wantAsked("refused 1 -32601", "refused 2 -32602")
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("B-U7 no question at all", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.made("t1")
			w.says(ask("1", "launch", "t1", "rocket"))
			w.says(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "2", Method: "elicit", Params: `{"text":7,"of":"t1"}`})
			w.wantAsked("refused 1 -32601", "refused 2 -32602")
		})
	})
	t.Run("B-I4 hidden from a request that does not declare it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.hands("t1", ask("1", "sample", "", "poem?"))
			wantShown(w, w.getAs(mute, h), port.TaskWorking)
			wantShown(w, w.getAs(port.Caller{Principal: "alice", Capabilities: `{"sample":{}}`}, h), port.TaskInputRequired, "sampling-2=poem?")
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "sampling-2=poem?")
		})
	})
	t.Run("B-I9 asked when the task is over", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.backend.set(func(b *backend) { b.about = `{"cancel":false}` })
			task, h := w.adopts(alice, w.job("t1"))
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
			w.backend.was()
			task.Ask(w.session(home), ask("0", "elicit", "", "name?"))
			w.wantAsked("refused 0 -32603")
		})
	})
}

// TestUpdate: answers are on record, and with the backend, before they are
// acknowledged (B-I5).
func TestUpdate(t *testing.T) {
	t.Parallel()
	t.Run("B-I5 some answered, some not asked, some twice", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := asked(w)
			w.answers(h, `sampling-2={"p":1}`, `nobody={}`, `elicitation-9=7`)
			w.wantAsked(`answered 1 {"answer":{"p":1},"of":"t1"}`)
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			w.answers(h, `sampling-2={"p":2}`)
			w.wantAsked()
			w.answers(h)
			w.wantAsked()
		})
	})
	t.Run("B-I7 one that is none: none is taken, and the questions stay", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := asked(w)
			wantCode(w, "", w.answerAs(alice, h, `sampling-2={"p":1}`, `elicitation-1=7`), jsonrpc.CodeInvalidParams)
			w.wantAsked()
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "sampling-2=poem?")
		})
	})
	t.Run("B-I5 not on record, not acknowledged, not given", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := asked(w)
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errors.New("the disk is full") }
			})
			if err := w.answerAs(alice, h, `elicitation-1={}`); err == nil {
				w.Error("acknowledged")
			}
			w.wantAsked()
			w.store.set(func(f *faulty) { f.put = nil })
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?", "sampling-2=poem?")
		})
	})
}

// TestUpdateGiven: an answer is given until the backend has it or refuses it (B-I5).
func TestUpdateGiven(t *testing.T) {
	t.Parallel()
	t.Run("B-I5 B-I6 not taken at once it is acknowledged, gone, and given again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, tries := asked(w), 0
			w.backend.set(func(b *backend) {
				b.answer = func(wire.Value) error {
					if tries++; tries < 3 {
						return &port.UpstreamError{Op: "answer", Status: 503, Err: errors.New("busy")}
					}
					return nil
				}
			})
			w.answers(h, `elicitation-1={}`)
			w.wantGet(h, port.TaskInputRequired, "sampling-2=poem?")
			after(time.Minute)
			if tries != 3 {
				w.Errorf("given %d times, want 3", tries)
			}
			w.wantGet(h, port.TaskInputRequired, "sampling-2=poem?")
		})
	})
	t.Run("B-I5 slow to take them: no other process gives them meanwhile", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.waited("t1"), w.replica()
			for i := range 4 {
				w.hands("t1", ask(fmt.Sprint(i), "elicit", "", fmt.Sprint(i)))
			}
			w.backend.was()
			w.backend.set(func(b *backend) {
				b.answer = func(wire.Value) error {
					time.Sleep(6 * time.Second)
					return nil
				}
			})
			go w.answers(h, "elicitation-1={}", "elicitation-2={}", "elicitation-3={}", "elicitation-4={}")
			for range 30 {
				time.Sleep(time.Second)
				other.get(h)
			}
			told := make(map[string]int)
			for _, s := range w.backend.was() {
				if told[s]++; told[s] > 1 && strings.HasPrefix(s, "answered") {
					w.Errorf("the backend was told twice: %s", s)
				}
			}
			if len(told) != 5 { // with "get"
				w.Errorf("the backend was told %v", told)
			}
		})
	})
	t.Run("B-I5 refused it is not given again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, tries := asked(w), 0
			w.backend.set(func(b *backend) {
				b.answer = func(wire.Value) error {
					tries++
					return &port.UpstreamError{Op: "answer", Status: 400, Err: errors.New("too late")}
				}
			})
			w.answers(h, `elicitation-1={}`)
			after(time.Minute)
			w.wantGet(h, port.TaskInputRequired, "sampling-2=poem?")
			if tries != 1 {
				w.Errorf("given %d times, want once", tries)
			}
		})
	})
}

// TestUpdateOnce: an answer is one person's, and nobody's if it cannot be given (B-I5,
// B-U4, §4.23).
func TestUpdateOnce(t *testing.T) {
	t.Parallel()
	t.Run("B-I5 answers race: one wins", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := asked(w), w.replica()
			done := make(chan error, 2)
			for i, p := range []*process{w.process, other} {
				go func() { done <- p.answerAs(alice, h, fmt.Sprintf(`elicitation-1={"n":%d}`, i)) }()
			}
			if err := errors.Join(<-done, <-done); err != nil {
				w.Error(err)
			}
			if got := w.backend.was(); len(got) != 1 {
				w.Errorf("the backend was told %q", got)
			}
		})
	})
	t.Run("B-U4 the session is lost: the answer goes nowhere, and the task is told lost", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := asked(w)
			w.backend.set(func(b *backend) { b.bound = true; b.lost[home.ID] = true })
			w.answers(h, `elicitation-1={}`)
			w.wantCode(h, jsonrpc.CodeInvalidParams)
			w.wantCode(h, jsonrpc.CodeInvalidParams)
			w.wantPinned(0)
		})
	})
	t.Run("§4.23 another's task cannot be answered", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := asked(w)
			wantCode(w, "", w.answerAs(bob, h, `elicitation-1={}`), jsonrpc.CodeInvalidParams)
			w.wantAsked()
		})
	})
}

// asked makes a task with two questions.
func asked(w *world) string {
	h := w.waited("t1")
	w.hands("t1", ask("0", "elicit", "", "name?"))
	w.hands("t1", ask("1", "sample", "", "poem?"))
	return h
}
