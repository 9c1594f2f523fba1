package watch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// task reports a change of a task.
func (s *stream) task(id, status string) {
	s.queue <- port.Change{Key: "task/" + id + "/" + status, TaskID: id, Task: wire.String(status)}
}

func (w *world) track(who, id string) {
	w.Track(backendName, port.Caller{Principal: who, Authorization: who}, id, true)
}

func TestTrack(t *testing.T) {
	t.Parallel()
	t.Run("§4.16 a task is listened for with its owner's sessions, and goes to its owner", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			w.Attach(w.session("b"))
			w.track("a", "t1")
			w.track("b", "t2")
			after(burst)
			for _, st := range w.streams(2) {
				if want := map[string]string{"a": "t1", "b": "t2"}[st.caller.Authorization]; !slices.Equal(st.filter.TaskIDs, []string{want}) {
					w.Errorf("filter of %s: %v, want %s", st.caller.Authorization, st.filter.TaskIDs, want)
				}
				st.task("t1", "working")
				st.task("t3", "working")
			}
			// The other stream may say what it likes of tasks that are not its own.
			if diff := cmp.Diff([]string{`b1 a t1 "working"`}, w.events()); diff != "" {
				w.Errorf("events (-want +got):\n%s", diff)
			}
			if got := append(w.got("a"), w.got("b")...); len(got) != 0 {
				w.Errorf("sessions were sent %v", got)
			}
		})
	})
	t.Run("§4.16 nothing is opened for a task alone", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.track("a", "t1")
			after(minute)
			w.wantTries(0)
			w.Attach(w.session("a"))
			after(burst)
			if st := w.streams(1)[0]; !slices.Equal(st.filter.TaskIDs, []string{"t1"}) {
				w.Errorf("filter %v", st.filter.TaskIDs)
			}
		})
	})
	t.Run("§4.16 what is over is not reported, and left out at the next opening", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			w.track("a", "t1")
			w.track("a", "t2")
			after(burst)
			w.Track(backendName, port.Caller{}, "t1", false)
			w.Track("b2", port.Caller{}, "t2", false) // of another backend
			st := w.streams(1)[0]
			st.task("t1", "completed")
			st.task("t2", "completed")
			if diff := cmp.Diff([]string{`b1 a t2 "completed"`}, w.events()); diff != "" {
				w.Errorf("events (-want +got):\n%s", diff)
			}
			after(minute)
			w.streams(1)
			w.settled(w.session("a"), "file:///x")
			if st := w.streams(2)[1]; !slices.Equal(st.filter.TaskIDs, []string{"t2"}) {
				w.Errorf("filter %v", st.filter.TaskIDs)
			}
		})
	})
}

func TestTrackSparingly(t *testing.T) {
	t.Parallel()
	t.Run("§4.16 tasks alone reopen a subscription once a second at most", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			for i := range 25 {
				after(100 * time.Millisecond)
				w.track("a", fmt.Sprintf("t%d", i))
			}
			after(2 * second)
			w.source.mu.Lock()
			all := w.source.streams
			w.source.mu.Unlock()
			if n := len(all); n < 3 || n > 5 {
				w.Errorf("%d subscriptions in three seconds", n)
			}
			if n := len(all[len(all)-1].filter.TaskIDs); n != 25 {
				w.Errorf("%d tasks are listened for, want all 25", n)
			}
		})
	})
	t.Run("§4.16 a backend that does not report tasks is not asked again", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.honour = func(f *port.ChangeFilter) { f.TaskIDs = nil }
			w.Attach(w.session("a"))
			w.track("a", "t1")
			after(burst)
			w.streams(1)
			w.track("a", "t2")
			after(minute)
			w.streams(1)
			w.settled(w.session("a"), "file:///x")
			if st := w.streams(2)[1]; len(st.filter.TaskIDs) != 0 {
				w.Errorf("filter %v, want no tasks", st.filter.TaskIDs)
			}
		})
	})
	t.Run("§4.16 a task that the backend leaves out is not asked for again", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.honour = func(f *port.ChangeFilter) {
				f.TaskIDs = slices.DeleteFunc(f.TaskIDs, func(id string) bool { return id == "over" })
			}
			w.Attach(w.session("a"))
			w.track("a", "t1")
			w.track("a", "over")
			after(burst)
			w.Attach(w.session("a-2"))
			after(minute)
			w.streams(1)
			w.streams(1)[0].task("t1", "working")
			if got := w.events(); len(got) != 1 {
				w.Errorf("events %v", got)
			}
		})
	})
}

func TestShareEnds(t *testing.T) {
	t.Parallel()
	t.Run("a credential that nobody uses any more leaves nothing behind", func(t *testing.T) {
		bubble(t, func(w *world) {
			detach := w.Attach(w.session("a"))
			w.track("a", "t1")
			after(burst)
			detach()
			after(burst)
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("the subscription is open still")
			}
			w.Track(backendName, port.Caller{}, "t1", false)
			w.wantEmpty()
			w.Attach(w.session("a"))
			after(burst)
			w.streams(2)[1].list("tools")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
}
