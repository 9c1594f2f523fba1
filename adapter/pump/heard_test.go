package pump_test

import (
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

var elsewhere = port.Ticket{ID: "session-2", Version: "v"}

// TestAttribution: a question is of the task that it names, else of the one whose end
// the stream is for, else of the only one of the session that can have asked (B-I2).
func TestAttribution(t *testing.T) {
	t.Parallel()
	t.Run("B-I2 by name, on whatever stream", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two := w.waited("t1"), w.waited("t2")
			w.hands("t1", ask("0", "elicit", "t2", "name?"))
			w.says(ask("1", "roots", "t1", "where?"))
			w.wantGet(one, port.TaskInputRequired, "roots-1=where?")
			w.wantGet(two, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("B-I2 B-G1 by the request whose answer it comes ahead of", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two := w.waited("t1"), w.waited("t2")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			w.hands("t2", ask("0", "roots", "", "where?"))
			w.wantGet(one, port.TaskInputRequired, "elicitation-1=name?")
			w.wantGet(two, port.TaskInputRequired, "roots-1=where?")
		})
	})
	t.Run("PEERS without a name, on the standing stream, status working: of the only task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			if !w.says(ask("0", "elicit", "", "name?")) {
				w.Error("not taken")
			}
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			w.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"t1"}`)
		})
	})
	t.Run("B-I2 of several, the only one that needs input", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two := w.made("t1"), w.waited("t2")
			if !w.says(ask("0", "elicit", "", "name?")) {
				w.Error("not taken")
			}
			w.wantGet(one, port.TaskWorking)
			w.wantGet(two, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("B-I2 of several, one of which needed input before", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two := w.made("t1"), w.waited("t2")
			w.backend.now("t2", port.TaskWorking)
			w.wantGet(two, port.TaskWorking)
			if w.says(ask("0", "elicit", "", "name?")) {
				w.Error("taken, of one that does not need input")
			}
			w.backend.now("t1", port.TaskInputRequired)
			w.wantGet(one, port.TaskWorking)
			if !w.says(ask("1", "elicit", "", "name?")) {
				w.Error("not taken")
			}
			w.wantGet(one, port.TaskInputRequired, "elicitation-1=name?")
			w.wantGet(two, port.TaskWorking)
		})
	})
}

// TestNobodysQuestions: what can be of several tasks, or of none, is no task's (B-U6, B-I2, B-P6).
func TestNobodysQuestions(t *testing.T) {
	t.Parallel()
	t.Run("B-U6 of several, none or more of which need input: nobody's", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.made("t1")
			w.made("t2")
			if w.says(ask("0", "elicit", "", "name?")) {
				w.Error("taken, and none needs input")
			}
			w.backend.now("t1", port.TaskInputRequired)
			w.backend.now("t2", port.TaskInputRequired)
			for _, h := range []string{w.made("t3"), w.waited("t4"), w.waited("t5")} {
				w.get(h)
			}
			if w.says(ask("1", "elicit", "", "name?")) {
				w.Error("taken, and two need input")
			}
		})
	})
	t.Run("B-U6 of no task of this session, or of one that is over", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			if w.saysIn(elsewhere, ask("0", "elicit", "", "name?")) || w.saysIn(elsewhere, ask("0", "elicit", "t1", "name?")) {
				w.Error("taken from another session")
			}
			if w.says(ask("0", "elicit", "t9", "name?")) {
				w.Error("taken, of a task that is not known")
			}
			w.wantGet(h, port.TaskWorking)
			w.backend.completes("t1")
			w.wantGet(h, port.TaskCompleted)
			if w.says(ask("0", "elicit", "", "name?")) {
				w.Error("taken, of one that is over")
			}
		})
	})
	t.Run("B-I2 on a task's own stream, of a task that is not known: nobody is shown it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "stranger", "name?"))
			w.wantAsked("refused 0 -32602")
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("B-P6 during a request in which nobody can be asked", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.set(func(b *backend) {
				b.hearGet = func(call port.SessionCall) {
					call.OnMessage(ask("0", "elicit", "", "name?"))
					call.OnMessage(ask("1", "elicit", "t1", "age?"))
					call.OnMessage(note("progress", `{}`))
				}
			})
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=age?")
			w.wantAsked("get t1", "refused 0 -32601")
		})
	})
}

// TestStatus: what a backend says of a task by itself has the weight of an answer, for
// the task of that session.
func TestStatus(t *testing.T) {
	t.Parallel()
	t.Run("B-I1 it needs input: somebody waits, without a poll", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.says(status(doc{ID: "t1", Status: port.TaskInputRequired}))
			w.wantAsked("result t1")
			w.says(ask("0", "elicit", "", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("PEERS before the create answer", func(t *testing.T) {
		bubble(t, func(w *world) {
			made := w.job("t1")
			w.says(status(doc{ID: "t1", Status: port.TaskInputRequired}))
			w.wantAsked()
			w.adopts(alice, made)
			w.wantAsked("result t1")
		})
	})
	t.Run("S-2 PEERS of another session's task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			if !w.saysIn(elsewhere, status(doc{ID: "t1", Status: port.TaskInputRequired})) {
				w.Error("passed on: it is nobody's business")
			}
			w.wantAsked()
			w.says(status(doc{ID: "stranger", Status: port.TaskCompleted}))
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1")
		})
	})
	t.Run("B-G7 that it is over is not believed without its end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.says(status(doc{ID: "t1", Status: port.TaskCompleted, Created: 1}))
			w.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1")
		})
	})
	t.Run("§4.20 malformed, or not of this world", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.says(note("status", `{"task":7}`))
			w.says(status(doc{ID: "t1", Status: "odd"}))
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("A-T21 it spoils what was known", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.get(h)
			w.says(status(doc{ID: "t1", Status: port.TaskWorking, Message: "half"}))
			w.backend.was()
			out, err := w.Get(w.Context(), backendName, alice, h)
			if err != nil {
				w.Fatalf("%s %v", out, err)
			}
			w.wantAsked("get t1")
		})
	})
	t.Run("§4.26 there is no progress for tasks", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.made("t1")
			if !w.says(note("progress", `{"of":"t1"}`)) || w.says(note("progress", `{}`)) || w.says(note("log", `{}`)) {
				w.Error("what is no task's is not passed on")
			}
		})
	})
}

// TestPinned: a session is kept as long as its tasks may live (B-U5).
func TestPinned(t *testing.T) {
	t.Parallel()
	t.Run("B-U5 the session lives as long as its tasks", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.wantPinned(1)
			if !w.Lives(backendName, w.session(home)) || w.Lives(backendName, w.session(elsewhere)) {
				w.Error("the wrong session")
			}
			w.backend.fails("get", jsonrpc.NewError(jsonrpc.CodeInvalidParams, "not found"))
			w.wantCode(h, jsonrpc.CodeInvalidParams)
			w.wantPinned(0)
		})
	})
	t.Run("B-U5 and not longer than they can", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.made("t1")
			after(hour + 9*time.Minute)
			w.wantPinned(1)
			after(2 * time.Minute)
			w.wantPinned(0)
		})
	})
}
