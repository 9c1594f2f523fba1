package main

import (
	"context"
	"strings"
	"testing"
)

// again reports whether a request makes a call once more, with answers.
func again(a asked) bool { return a.Method == "tools/call" && a.Params.RequestState != "" }

// TestKillAfterHostedAnswer: the bridge is killed as soon as it has accepted the
// answer that a hosted call was waiting for. Either the call has not been begun
// again, and is after the restart, with the answer; or it has, and was cut, and says
// so. It is never made twice (A-M9, G-6; DESIGN, promises 2 and 3).
func TestKillAfterHostedAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ended := 0
	for range 6 {
		handle := w.c.create("ask_first", nil)
		before := w.c.result(handle)
		q, _ := before.question()
		w.c.mustAnswer(q.ID, "name", "Ada")
		w.restart()
		end, _ := w.c.result(handle).end()
		switch {
		case end.text() == "Hello, Ada":
			ended++
		case end.Error != nil && strings.Contains(end.Error.Message, "interrupted"):
		default:
			t.Errorf("the task ended with %s %+v", end.Result, end.Error)
		}
	}
	for _, a := range w.gate.all() {
		if got := a.Params.InputResponses["name"].Content["name"]; again(a) && got != "Ada" {
			t.Errorf("the backend was told %q", got)
		}
	}
	if n := w.c.runs()["ask_first"]; n < ended || n > 6 {
		t.Errorf("the tool ran %d times for 6 calls, of which %d have ended well", n, ended)
	}
	w.once()
}

// TestKillWhileMadeAgain: a hosted call is being made again when the kill comes.
// Whether or not the backend has it, the task has failed, says "interrupted", and the
// call is not made a third time (G-6; DESIGN, promises 2 and 3).
func TestKillWhileMadeAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		runs int
	}{{"the backend has not got it", 0}, {"the backend has got it", 1}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gate.set(func(ctx context.Context, a asked) verdict {
				switch {
				case !again(a):
					return through
				case tt.runs > 0:
					return withheld
				}
				<-ctx.Done()
				return cut
			})
			handle := w.c.create("ask_first", nil)
			before := w.c.result(handle)
			q, _ := before.question()
			w.c.mustAnswer(q.ID, "name", "Ada")
			w.gate.await(t, "the call, made again", func() bool {
				return w.gate.count("tools/call", "ask_first") == 2 && w.gate.keeps() == tt.runs
			})
			w.restart()
			w.gate.set(nil)
			w.c.mustAnswer(q.ID, "name", "Bob") // too late, and dropped
			if got := w.c.get(handle); got.Status != "failed" || !strings.Contains(got.StatusMessage, "interrupted") {
				t.Errorf("the task is %+v", got)
			}
			for range 2 {
				end, _ := w.c.result(handle).end()
				if end.Error == nil || !strings.Contains(end.Error.Message, "interrupted") {
					t.Errorf("the task ended with %s %+v", end.Result, end.Error)
				}
			}
			if n := w.gate.count("tools/call", "ask_first"); n != 2 {
				t.Errorf("the backend got the call %d times, want 2", n)
			}
			if n := w.c.runs()["ask_first"]; n != tt.runs {
				t.Errorf("the tool ran %d times, want %d", n, tt.runs)
			}
			w.once()
		})
	}
}

// TestKillPlainCall: a plain call has asked its client when the kill comes. It is
// gone: an answer finds nobody, and the backend is not called again (A-M7, G-6).
func TestKillPlainCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.c.open("tools/call", w.c.call("ask", nil))
	q, _ := before.question()
	w.restart()
	before.broken()
	w.c.mustAnswer(q.ID, "name", "Ada")
	if n := w.c.runs()["ask"]; n != 0 {
		t.Errorf("the tool ran %d times", n)
	}
	if n := w.gate.count("tools/call", "ask"); n != 1 {
		t.Errorf("the backend got the call %d times, want 1", n)
	}
	// Nothing is in the way of another one.
	after := w.c.open("tools/call", w.c.call("ask", nil))
	next, _ := after.question()
	if string(next.ID) == string(q.ID) {
		t.Errorf("the id %s is used again", q.ID)
	}
	w.c.mustAnswer(next.ID, "name", "Bob")
	if end, _ := after.end(); end.text() != `accept {"name":"Bob"}` {
		t.Errorf("another call ended with %s %+v", end.Result, end.Error)
	}
	w.once()
}
