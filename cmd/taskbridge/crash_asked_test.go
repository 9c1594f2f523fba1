package main

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// questions are tools that ask for a name: one whose task is the backend's, and one
// whose task the bridge hosts until it is answered.
var questions = []struct{ tool, says string }{
	{"ask", `accept {"name":"NAME"}`},
	{"ask_first", "Hello, NAME"},
}

// TestKillWhileAsked: the bridge is killed while a client waits for a task that has
// asked it something. The wait goes on with another tasks/result, on which the
// question is put once more, under a new id. The old one still counts, and the first
// answer wins (A-R5, A-I9; DESIGN, promise 2).
func TestKillWhileAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range questions {
		for _, order := range []string{"the old id first", "the new id first"} {
			t.Run(tt.tool+", "+order, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				handle := w.c.create(tt.tool, nil)
				before := w.c.result(handle)
				old, _ := before.question()
				w.restart()
				before.broken()

				after := w.c.result(handle)
				asked, withdrawn := after.question()
				if string(asked.ID) == string(old.ID) || !bytes.Equal(asked.Params, old.Params) {
					t.Errorf("asked %s %s, and again %s %s", old.ID, old.Params, asked.ID, asked.Params)
				}
				if len(withdrawn) != 1 || withdrawn[0] != string(old.ID) {
					t.Errorf("taken back: %v, want %s", withdrawn, old.ID)
				}
				first, second := old.ID, asked.ID
				open := []string{string(asked.ID)} // of the two, the one that is on a stream
				if order == "the new id first" {
					first, second, open = second, first, nil
				}
				w.c.mustAnswer(first, "name", "Ada")
				w.c.mustAnswer(second, "name", "Bob")
				end, withdrawn := after.end()
				if want := strings.Replace(tt.says, "NAME", "Ada", 1); end.text() != want {
					t.Errorf("the task ended with %s %+v, want %s", end.Result, end.Error, want)
				}
				if !slices.Equal(withdrawn, open) {
					t.Errorf("taken back: %v, want %s", withdrawn, open)
				}
				if got := w.c.get(handle); got.Status != "completed" {
					t.Errorf("the task is %+v", got)
				}
				if n := w.c.runs()[tt.tool]; n != 1 {
					t.Errorf("the tool ran %d times", n)
				}
				w.once()
			})
		}
	}
}

// TestKillAndResume: the bridge is killed while a client waits for a task that has
// asked it something. The client comes back to its stream with Last-Event-ID, as if
// the connection alone had broken: the question is put again there, and the response
// carries the id of the request that was made before the kill (A-L16, A-R5, A-I9).
func TestKillAndResume(t *testing.T) {
	t.Parallel()
	for _, tt := range questions {
		t.Run(tt.tool, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.c.result(w.c.create(tt.tool, nil))
			waiting := w.c.id
			old, _ := before.question()
			w.restart()
			before.broken()
			after := w.c.resume(old.event)
			asked, withdrawn := after.question()
			if string(asked.ID) == string(old.ID) || len(withdrawn) != 1 || withdrawn[0] != string(old.ID) {
				t.Errorf("asked as %s, and again as %s; taken back: %v", old.ID, asked.ID, withdrawn)
			}
			w.c.mustAnswer(asked.ID, "name", "Ada")
			end, _ := after.end()
			if want := strings.Replace(tt.says, "NAME", "Ada", 1); end.text() != want || string(end.ID) != strconv.Itoa(waiting) {
				t.Errorf("request %d ended as %s with %s %+v, want %s", waiting, end.ID, end.Result, end.Error, want)
			}
			if n := w.c.runs()[tt.tool]; n != 1 {
				t.Errorf("the tool ran %d times", n)
			}
			w.once()
		})
	}
}

// TestKillBetweenAnswers: of two questions one is answered when the kill comes. Only
// the other one is put again (A-I4, A-I9).
func TestKillBetweenAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handle := w.c.create("ask_both", nil)
	before := w.c.result(handle)
	ids := make(map[string]message)
	for range 2 {
		q, _ := before.question()
		field := "right"
		if bytes.Contains(q.Params, []byte(`"left"`)) {
			field = "left"
		}
		ids[field] = q
	}
	w.c.mustAnswer(ids["left"].ID, "left", "a door")
	w.restart()
	after := w.c.result(handle)
	asked, withdrawn := after.question()
	if !bytes.Equal(asked.Params, ids["right"].Params) || len(withdrawn) != 1 || withdrawn[0] != string(ids["right"].ID) {
		t.Errorf("asked again: %s, taken back %v", asked.Params, withdrawn)
	}
	w.c.mustAnswer(asked.ID, "right", "a wall")
	end, _ := after.end()
	if want := `left: accept {"left":"a door"}; right: accept {"right":"a wall"}`; end.text() != want {
		t.Errorf("the task ended with %s %+v, want %s", end.Result, end.Error, want)
	}
	if n := w.c.runs()["ask_both"]; n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
	w.once()
}

// TestKillWhileWaiting: clients that wait for a task at work go on with another
// tasks/result, and all get its end (A-R4, A-R5).
func TestKillWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handle := w.c.create("work", map[string]any{"ms": 1000})
	var before, after []*stream
	for range 3 {
		before = append(before, w.c.result(handle))
	}
	w.gate.await(t, "a look at the task", func() bool { return w.gate.count("tasks/get", "") > 0 })
	w.restart()
	for _, s := range before {
		s.broken()
		after = append(after, w.c.result(handle))
	}
	for _, s := range after {
		if end, _ := s.end(); end.text() != "worked 1000 ms" {
			t.Errorf("the task ended with %s %+v", end.Result, end.Error)
		}
	}
	if n := w.c.runs()["work"]; n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
	w.once()
}

// TestKillAfterAnswer: the bridge is killed as soon as it has accepted an answer,
// which the backend has not been told, or has without the bridge knowing. It is told
// after the restart, and the client is not asked again (A-I5, A-U6; DESIGN, promise
// 2).
func TestKillAfterAnswer(t *testing.T) {
	t.Parallel()
	for name, withheld := range map[string]verdict{"not told": cut, "told without an acknowledgement": swallowed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gate.set(func(_ context.Context, a asked) verdict {
				if a.Method == "tasks/update" {
					return withheld
				}
				return through
			})
			handle := w.c.create("ask", nil)
			before := w.c.result(handle)
			q, _ := before.question()
			w.c.mustAnswer(q.ID, "name", "Ada")
			w.bridge.kill()
			w.gate.set(nil)
			w.start()
			after := w.c.result(handle)
			if end, withdrawn := after.end(); end.text() != `accept {"name":"Ada"}` || len(withdrawn) != 0 {
				t.Errorf("the task ended with %s %+v, taken back %v", end.Result, end.Error, withdrawn)
			}
			for _, a := range w.gate.all() {
				if got := a.Params.InputResponses["name"].Content["name"]; a.Method == "tasks/update" && got != "Ada" {
					t.Errorf("the backend was told %q", got)
				}
			}
			if n := w.c.runs()["ask"]; n != 1 {
				t.Errorf("the tool ran %d times", n)
			}
			w.once()
		})
	}
}

// TestKillAfterUpdateWasHeld: the backend does not take the answer for as long as the
// bridge lives, however often it tries (A-I7).
func TestKillAfterUpdateWasHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gate.set(func(ctx context.Context, a asked) verdict {
		if a.Method == "tasks/update" {
			<-ctx.Done()
			return cut
		}
		return through
	})
	handle := w.c.create("ask", nil)
	before := w.c.result(handle)
	q, _ := before.question()
	w.c.mustAnswer(q.ID, "name", "Ada")
	w.gate.await(t, "an update", func() bool { return w.gate.count("tasks/update", "") > 0 })
	w.bridge.kill()
	w.gate.set(nil)
	w.start()
	// Any look at the task will do.
	if got := w.c.get(handle); got.Status != "working" && got.Status != "completed" {
		t.Errorf("after the restart the task is %+v", got)
	}
	w.gate.await(t, "another update", func() bool { return w.gate.count("tasks/update", "") > 1 })
	if end, _ := w.c.result(handle).end(); end.text() != `accept {"name":"Ada"}` {
		t.Errorf("the task ended with %s %+v", end.Result, end.Error)
	}
	if n := w.c.runs()["ask"]; n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
}
