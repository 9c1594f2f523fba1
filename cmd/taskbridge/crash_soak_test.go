package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// soakKills is how often TestSoak kills the bridge.
	soakKills = 20
	// soakSteps is how many times at most a call or an answer is sent, arrives or is
	// answered, on either leg, before a kill.
	soakSteps = 24
	// soakClients is how many clients the session has.
	soakClients = 4
)

// soakTools are what the clients call: a task of the backend that asks, one that is
// hosted until it is answered, and two that ask nothing.
var soakTools = []struct {
	name      string
	arguments map[string]any
	says      string
}{
	{"ask", nil, `accept {"name":"NAME"}`},
	{"ask_first", nil, "Hello, NAME"},
	{"work", map[string]any{"ms": 50}, "worked 50 ms"},
	{"grind", map[string]any{"ms": 100}, "ground 100 ms"},
}

// TestSoak: the bridge is killed again and again, at points that chance chooses among
// those where a call or an answer is sent, arrives or is answered. In the end every
// task that a client was told of has ended; a client whose answer was accepted was
// not asked again, and the tool has got that answer; no call was made twice (DESIGN,
// promises 2 and 3).
func TestSoak(t *testing.T) {
	t.Parallel()
	s := &soak{
		world: newWorld(t), sent: make(map[string]int),
		random: rand.New(rand.NewPCG(1, 2)), // the same choices in every run
	}
	s.gate.set(func(_ context.Context, a asked) verdict {
		if a.Method == "tools/call" || a.Method == "tasks/update" {
			s.step()
		}
		return through
	})
	for i := range soakClients {
		c := *s.c
		c.id = (i + 1) * 1_000_000
		s.clients = append(s.clients, &c)
	}
	for range soakKills {
		s.run(1 + s.random.IntN(soakSteps))
		s.start()
	}
	s.run(0)
	s.check()
}

// soak are clients that go on whatever happens.
type soak struct {
	*world
	clients []*client

	mu     sync.Mutex
	random *rand.Rand
	tasks  []*soaked
	left   []*soaked      // tasks that nobody looks after
	sent   map[string]int // calls by tool, those without an answer included
	fuse   int            // steps before the kill; 0 is none
	dead   chan struct{}
}

// soaked is a task that a client was told of.
type soaked struct {
	handle, tool, says string
	// given is the answer that was sent last, accepted says that it was accepted.
	given    string
	accepted bool
	// over is how the task has ended: well, cut, or not yet.
	over string
}

// run lets the clients work until the bridge is killed after so many steps. With none
// they only bring to an end what there is.
func (s *soak) run(steps int) {
	s.fuse, s.dead = steps, make(chan struct{})
	var group sync.WaitGroup
	for _, c := range s.clients {
		c.url = s.bridge.url
		group.Go(func() {
			for s.look(c, steps == 0) {
			}
		})
	}
	group.Wait()
}

// step kills the bridge if its time has come.
func (s *soak) step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fuse == 0 {
		return
	}
	if s.fuse--; s.fuse == 0 {
		s.bridge.kill()
		close(s.dead)
	}
}

// look makes a task, or takes one that was left, and sees to it. It reports false
// when there is nothing to do.
func (s *soak) look(c *client, finish bool) bool {
	select {
	case <-s.dead:
		return false
	default:
	}
	s.mu.Lock()
	var task *soaked
	if len(s.left) > 0 && (finish || s.random.IntN(2) == 0) {
		task, s.left = s.left[0], s.left[1:]
	}
	tool := soakTools[s.random.IntN(len(soakTools))]
	s.mu.Unlock()
	if task == nil && finish {
		return false
	}
	if task == nil {
		task = s.create(c, tool.name, tool.says, tool.arguments)
	}
	if task != nil && !s.follow(c, task) {
		if finish {
			s.t.Errorf("the wait for a task of %s breaks off", task.tool)
			return true
		}
		s.mu.Lock()
		s.left = append(s.left, task)
		s.mu.Unlock()
	}
	return true
}

func (s *soak) create(c *client, tool, says string, arguments map[string]any) *soaked {
	s.mu.Lock()
	s.sent[tool]++
	s.mu.Unlock()
	s.step()
	m, err := c.try("tools/call", c.task(tool, arguments))
	s.step()
	if err != nil {
		return nil
	}
	var created struct{ Task taskView }
	if m.Error != nil || json.Unmarshal(m.Result, &created) != nil {
		s.t.Errorf("%s: %s %+v", tool, m.Result, m.Error)
		return nil
	}
	task := &soaked{handle: created.Task.TaskID, tool: tool, says: says}
	s.mu.Lock()
	s.tasks = append(s.tasks, task)
	s.mu.Unlock()
	return task
}

// follow waits for the end of a task, answering what it asks. It reports false when
// the bridge has gone before.
func (s *soak) follow(c *client, task *soaked) bool {
	stream := c.result(task.handle)
	for {
		var m message
		ok, late := false, false
		select {
		case m, ok = <-stream.messages:
		case <-time.After(patience):
			late = true
		}
		switch {
		case late:
			s.t.Errorf("nothing comes for a task of %s", task.tool)
			task.over = "late"
			return true
		case !ok:
			return false
		case m.Method == "" && m.Error == nil && m.text() == strings.Replace(task.says, "NAME", task.given, 1):
			task.over = "well"
			return true
		case m.Method == "" && m.Error != nil && strings.Contains(m.Error.Message, "interrupted"):
			task.over = "cut"
			return true
		case m.Method == "":
			s.t.Errorf("a task of %s with the answer %q has ended with %s %+v", task.tool, task.given, m.Result, m.Error)
			task.over = "wrong"
			return true
		case m.ID == nil: // taken back
		case task.accepted:
			s.t.Errorf("a task of %s asks again although %q was accepted", task.tool, task.given)
		default:
			task.given = fmt.Sprint("n", c.id)
			s.step()
			task.accepted = c.answer(m.ID, "name", task.given) == nil
			s.step()
		}
	}
}

// check compares what the clients were told with what the backend was asked.
func (s *soak) check() {
	well, cut := make(map[string]int), make(map[string]int)
	for _, task := range s.tasks {
		switch task.over {
		case "well":
			well[task.tool]++
		case "cut":
			cut[task.tool]++
		default:
			s.t.Errorf("a task of %s has not ended well: %q", task.tool, task.over)
		}
	}
	runs := s.c.runs()
	for tool, sent := range s.sent {
		if runs[tool] < well[tool] || runs[tool] > sent {
			s.t.Errorf("%s: %d calls, %d runs", tool, sent, runs[tool])
		}
		s.t.Logf("%s: %d calls, %d runs, %d ended well, %d cut", tool, sent, runs[tool], well[tool], cut[tool])
	}
	s.once()
}
