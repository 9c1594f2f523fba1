//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
)

// terminate is SIGTERM, and returns when the process has ended. It must end well.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// TestTerminateWhileAsked: the bridge is asked to end while clients wait for tasks
// that have asked them something. Their streams end at once, for the client to come back
// to. After the restart the questions are put again, and nothing is lost (A-R7, A-I9;
// DESIGN, promises 2 and 6).
func TestTerminateWhileAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handles, before, olds := make([]string, len(questions)), make([]*stream, len(questions)), make([]message, len(questions))
	for i, tt := range questions {
		handles[i] = w.c.create(tt.tool, nil)
		before[i] = w.c.result(handles[i])
		olds[i], _ = before[i].question()
	}
	w.bridge.terminate(t)
	for _, s := range before {
		s.broken()
	}
	w.start()
	for i, tt := range questions {
		s := w.c.result(handles[i])
		asked, withdrawn := s.question()
		if string(asked.ID) == string(olds[i].ID) || len(withdrawn) != 1 || withdrawn[0] != string(olds[i].ID) {
			t.Errorf("%s: asked as %s, and again as %s; taken back: %v", tt.tool, olds[i].ID, asked.ID, withdrawn)
		}
		w.c.mustAnswer(asked.ID, "name", "Ada")
		if end, _ := s.end(); end.text() != strings.Replace(tt.says, "NAME", "Ada", 1) {
			t.Errorf("%s ended with %s %+v", tt.tool, end.Result, end.Error)
		}
		if n := w.c.runs()[tt.tool]; n != 1 {
			t.Errorf("%s ran %d times", tt.tool, n)
		}
	}
	w.once()
}

// TestTerminateWhileAnswered: answers arrive while the bridge is being asked to end.
// Each is accepted and counts, or is refused and the question is put again (A-I5,
// A-M9; DESIGN, promises 2 and 3).
func TestTerminateWhileAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accepted := 0
	for i := range 8 {
		tt := questions[i%len(questions)]
		handle := w.c.create(tt.tool, nil)
		s := w.c.result(handle)
		q, _ := s.question()
		answered := make(chan bool, 1)
		c := *w.c
		go func() { answered <- c.answer(q.ID, "name", "Ada") == nil }()
		w.bridge.terminate(t)
		sure := <-answered
		w.start()
		after := w.c.result(handle)
		name := "Ada"
		m, ok := after.next()
		for ok && m.Method == "notifications/cancelled" {
			m, ok = after.next()
		}
		if m.Method != "" {
			if sure {
				t.Errorf("%s asks again although the answer was accepted", tt.tool)
			}
			name = "Bob"
			w.c.mustAnswer(m.ID, "name", name)
			m, _ = after.end()
		}
		if sure {
			accepted++
		}
		if m.text() != strings.Replace(tt.says, "NAME", name, 1) {
			t.Errorf("%s with the answer %s (accepted: %v) ended with %s %+v", tt.tool, name, sure, m.Result, m.Error)
		}
	}
	t.Logf("%d of 8 answers were accepted", accepted)
	if runs := w.c.runs(); runs["ask"] != 4 || runs["ask_first"] != 4 {
		t.Errorf("the tools ran %v", runs)
	}
	w.once()
}

// TestTerminatePlainCall: a plain call has asked its client when the bridge is asked to
// end. Nobody can answer any more: the call is refused, and the backend is not called
// again (A-M7, G-8).
func TestTerminatePlainCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "times.drain=3s")
	s := w.c.open("tools/call", w.c.call("ask", nil))
	q, _ := s.question()
	w.bridge.terminate(t)
	if end, _ := s.end(); end.Error == nil || !strings.Contains(end.Error.Message, "shutting down") {
		t.Errorf("the call ended with %s %+v", end.Result, end.Error)
	}
	w.start()
	w.c.mustAnswer(q.ID, "name", "Ada")
	if n := w.gate.count("tools/call", "ask"); n != 1 {
		t.Errorf("the backend got the call %d times, want 1", n)
	}
	if n := w.c.runs()["ask"]; n != 0 {
		t.Errorf("the tool ran %d times", n)
	}
}
