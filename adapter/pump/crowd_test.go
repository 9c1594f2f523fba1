package pump_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// few has the process look after so many tasks only.
func (w *world) few(tasks int) {
	w.Helper()
	w.stop()
	w.attended = tasks
	w.process = w.launch()
}

// wantLeases checks how many sessions are in use, and how many were left in which tasks
// live on.
func (w *world) wantLeases(inUse, left int) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leases != inUse || w.left != left {
		w.Errorf("%d leases and %d left, want %d and %d", w.leases, w.left, inUse, left)
	}
}

// TestRefusals: a backend that asks and asks, and does not listen, keeps few goroutines.
func TestRefusals(t *testing.T) {
	bubble(t, func(w *world) {
		w.waited("t1")
		w.backend.set(func(b *backend) { b.unheeding = true })
		flood := func(from int) int {
			for i := range 100 {
				w.says(ask(fmt.Sprint(from+i), "elicit", "t1", fmt.Sprint(from+i)))
			}
			synctest.Wait()
			return len(w.backend.was())
		}
		if n := flood(1000); n != 16 { // beside the 64 that are kept
			t.Errorf("%d refusals at a time", n)
		}
		if n := flood(2000); n != 0 {
			t.Errorf("%d more", n)
		}
		time.Sleep(11 * time.Second)
		if n := flood(3000); n != 16 {
			t.Errorf("%d once the first are over", n)
		}
	})
}

// TestCrowd: tasks that nobody asks for do not keep their sessions from others, and
// nothing of them is lost by that.
func TestCrowd(t *testing.T) {
	t.Parallel()
	t.Run("B-T4 those that nobody has asked for the longest are left, and found again", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.few(3)
			handles := make([]string, 10)
			for i := range handles {
				handles[i] = w.made(fmt.Sprint("t", i))
				if i > 0 {
					w.get(handles[0]) // which is asked for all the time
				}
			}
			w.wantLeases(3, 7)
			w.wantPinned(1) // one session for all of them
			for i, h := range handles {
				w.backend.completes(fmt.Sprint("t", i))
				w.wantGet(h, port.TaskCompleted)
			}
			w.wantLeases(0, 7) // the rest was looked after to its end
			w.wantPinned(0)
		})
	})
	t.Run("B-I1 a question, open or yet to come, is none the worse for it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.few(1)
			asked, asks := w.waited("t1"), w.job("t2")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			w.wantGet(asked, port.TaskInputRequired, "elicitation-1=name?")
			_, other := w.adopts(alice, asks)
			w.wantLeases(1, 1)
			w.wantGet(asked, port.TaskInputRequired, "elicitation-1=name?")
			w.answers(asked, "elicitation-1={}")
			w.wantGet(asked, port.TaskWorking)
			w.backend.now("t2", port.TaskInputRequired)
			w.get(other)
			w.hands("t2", ask("1", "elicit", "t2", "age?"))
			w.wantGet(other, port.TaskInputRequired, "elicitation-1=age?")
			w.backend.completes("t1")
			w.wantGet(asked, port.TaskCompleted)
		})
	})
	t.Run("§4.24 one that is watched is looked after, whatever comes", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.few(1)
			s := w.watches(alice, w.made("t1"))
			for i := range 5 {
				w.made(fmt.Sprint("u", i))
			}
			w.backend.completes("t1")
			after(3 * time.Second)
			s.want("completed")
			s.wantEnd(true)
		})
	})
	t.Run("A-T9 a hosted call is not cut short", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.few(1)
			h := w.hosts(hour)
			for i := range 5 {
				w.made(fmt.Sprint("t", i))
			}
			w.wantGet(h.handle, port.TaskWorking)
			h.Finish(`{"text":"done"}`, nil)
			w.wantGet(h.handle, port.TaskCompleted)
		})
	})
}
