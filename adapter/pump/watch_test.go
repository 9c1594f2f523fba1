package pump_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// watch is a subscription to a task.
type watch struct {
	w     *world
	leave context.CancelFunc
	done  chan struct{}

	mu   sync.Mutex
	told []face
	full bool // nothing is taken
}

// watches watches a task from now on.
func (p *process) watches(caller port.Caller, handle string) *watch {
	ctx, leave := context.WithCancel(p.w.Context())
	s := &watch{w: p.w, leave: leave, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		p.Watch(ctx, backendName, caller, handle, "1", func(note []byte) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.full {
				return false
			}
			s.told = append(s.told, parseFace(p.w.T, wire.Value(note)))
			return true
		})
	}()
	synctest.Wait()
	return s
}

// fill says whether there is no room for what is told.
func (s *watch) fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// want checks what was told since the last look, as the status with the questions.
func (s *watch) want(want ...string) {
	s.w.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, f := range s.told {
		line := string(f.Status)
		for _, q := range f.asks() {
			line += " " + q
		}
		got = append(got, line)
	}
	s.told = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.w.Errorf("told %q, want %q", got, want)
	}
}

// wantEnd checks that the subscription is over, or that it is not.
func (s *watch) wantEnd(want bool) {
	s.w.Helper()
	synctest.Wait()
	select {
	case <-s.done:
		if !want {
			s.w.Error("the watch has ended")
		}
	default:
		if want {
			s.w.Error("the watch goes on")
			s.leave()
		}
	}
}

// TestWatch: who watches a task is told of its changes, as a look at it would (§4.24).
func TestWatch(t *testing.T) {
	t.Parallel()
	t.Run("§4.24 nothing of its beginning, each change once, and its end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			s := w.watches(alice, h)
			after(time.Minute)
			s.want()
			w.backend.set(func(b *backend) { b.jobs["t1"].Message = "half" })
			after(3 * time.Second)
			s.want("working")
			after(time.Minute)
			s.want()
			w.backend.now("t1", port.TaskInputRequired)
			after(3 * time.Second)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			s.want("input_required elicitation-1=name?")
			w.answers(h, "elicitation-1={}")
			s.want("working")
			w.backend.completes("t1")
			s.want("completed")
			s.wantEnd(true)
			w.wantPinned(0)
		})
	})
	t.Run("§4.24 it is told what its caller may know", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			s := w.watches(mute, h)
			w.hands("t1", ask("0", "elicit", "", "name?"))
			after(time.Minute)
			s.want()
			s.leave()
			s.wantEnd(true)
		})
	})
	t.Run("§4.24 what the backend says by itself is told at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			s := w.watches(alice, h)
			now := time.Now()
			w.says(status(doc{ID: "t1", Status: port.TaskWorking, Message: "half", Created: now.UnixMilli()}))
			w.says(status(doc{ID: "t1", Status: port.TaskWorking, Message: "half", Created: now.UnixMilli()}))
			s.want("working")
			w.backend.completes("t1")
			w.says(status(doc{ID: "t1", Status: port.TaskCompleted, Created: now.UnixMilli()}))
			s.want("completed")
			if !time.Now().Equal(now) {
				w.Errorf("after %v", time.Since(now))
			}
			s.wantEnd(true)
		})
	})
	t.Run("§4.24 over at the beginning: one word", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.completes("t1")
			w.get(h)
			s := w.watches(alice, h)
			s.want("completed")
			s.wantEnd(true)
			w.wantPinned(0)
		})
	})
}

// TestWatchLasts: a watch goes on until its task is over, whatever happens (§4.24, B-G5).
func TestWatchLasts(t *testing.T) {
	t.Parallel()
	t.Run("§4.24 whatever any process does", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.made("t1"), w.replica()
			s := other.watches(alice, h)
			w.cancels(h)
			after(3 * time.Second)
			s.want("cancelled")
			s.wantEnd(true)
		})
	})
	t.Run("§4.24 the backend cannot be reached, and can be again", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			s := w.watches(alice, h)
			w.backend.fails("get", errOutage)
			after(time.Minute)
			s.want()
			s.wantEnd(false)
			w.backend.behaves("get")
			w.backend.completes("t1")
			after(3 * time.Second)
			s.want("completed")
			s.wantEnd(true)
		})
	})
	t.Run("B-G5 its backend has forgotten it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			s := w.watches(alice, h)
			w.backend.fails("get", errNoTask)
			after(3 * time.Second)
			s.want()
			s.wantEnd(true)
			w.wantPinned(0)
		})
	})
}

// TestWatchMany: many watches, and watches of all kinds of tasks (A-T21, §4.24).
func TestWatchMany(t *testing.T) {
	t.Parallel()
	t.Run("A-T21 many who watch are one who asks", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, h := w.adopts(alice, w.jobOf(doc{ID: "t1", Poll: 10_000}))
			var all []*watch
			for range 20 {
				all = append(all, w.watches(alice, h))
			}
			after(time.Minute)
			if n := len(w.backend.was()); n < 4 || n > 14 {
				w.Errorf("asked %d times in a minute, at an interval of 10 s", n)
			}
			for _, s := range all {
				s.leave()
				s.wantEnd(true)
			}
		})
	})
	t.Run("§4.24 a hosted task", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.hosts(hour)
			s := w.watches(alice, h.handle)
			h.Ask(w.session(home), ask("0", "elicit", "", "name?"))
			s.want("input_required elicitation-1=name?")
			h.Finish(`{}`, nil)
			s.want("completed")
			s.wantEnd(true)
		})
	})
	t.Run("DESIGN §4.6 it ends with its process", func(t *testing.T) {
		bubble(t, func(w *world) {
			s := w.watches(alice, w.made("t1"))
			w.process.stop()
			s.wantEnd(true)
			s.want()
			w.process = w.launch()
		})
	})
	t.Run("§4.24 a store that is away", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			s := w.watches(alice, h)
			w.store.set(func(f *faulty) { f.get = func() error { return errors.New("the store is away") } })
			after(time.Minute)
			s.want()
			s.wantEnd(false)
			w.store.set(func(f *faulty) { f.get = nil })
			w.backend.completes("t1")
			after(3 * time.Second)
			s.want("completed")
		})
	})
}

// TestWatchWithoutRoom: what a client cannot be told now is not kept for it.
func TestWatchWithoutRoom(t *testing.T) {
	t.Parallel()
	t.Run("§4.24 what there was no room for is told later, as it is then", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			s := w.watches(alice, h)
			s.fill(true)
			w.backend.set(func(b *backend) { b.jobs["t1"].Message = "half" })
			after(3 * time.Second)
			w.backend.completes("t1")
			after(time.Minute)
			s.want()
			s.wantEnd(false)
			s.fill(false)
			after(3 * time.Second)
			s.want("completed")
			s.wantEnd(true)
			w.wantPinned(0)
		})
	})
}

// TestWatchElsewhere: what the backend says to one process is told by another one at once
// (§4.24; DESIGN.md §4, promise 5).
func TestWatchElsewhere(t *testing.T) {
	bubble(t, func(w *world) {
		h, other := w.made("t1"), w.replica()
		s := other.watches(alice, h)
		now := time.Now()
		w.says(status(doc{ID: "t1", Status: port.TaskWorking, Message: "half", Created: now.UnixMilli()}))
		w.says(status(doc{ID: "t1", Status: port.TaskWorking, Message: "half", Created: now.UnixMilli()}))
		s.want("working")
		w.backend.completes("t1")
		w.says(status(doc{ID: "t1", Status: port.TaskCompleted, Created: now.UnixMilli()}))
		s.want("completed")
		if !time.Now().Equal(now) {
			w.Errorf("after %v", time.Since(now))
		}
		s.wantEnd(true)
	})
}
