package listen_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("a://%d", i)
	}
	return out
}

func TestLimits(t *testing.T) {
	t.Run("10,000 resources: the first thousand, eight at a time", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(context.Context, port.SessionCall) error { time.Sleep(10 * time.Millisecond); return nil }
			c := w.listen("1", uris(many(10_000)...))
			time.Sleep(1249 * time.Millisecond)
			c.want()
			time.Sleep(time.Millisecond)
			c.want(fmt.Sprintf("1 ack false false false %v []", many(1000)))
			if asked := s.asked(); len(asked) != 1000 || s.most != 8 {
				t.Errorf("%d requests, %d at once", len(asked), s.most)
			}
			c.leave()
			time.Sleep(1250 * time.Millisecond)
			if asked := s.asked(); len(asked) != 1000 || !strings.HasPrefix(asked[999], "unsubscribe") {
				t.Errorf("%d requests", len(asked))
			}
		})
	})
	t.Run("URIs that are none", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			fits := "a://" + strings.Repeat("x", 2<<10-4)
			c := w.listen("1", uris("", fits, fits+"x", strings.Repeat("/", 3<<20)))
			c.want("1 ack false false false [" + fits + "] []")
			w.wantAsked(s, "subscribe "+fits)
			s.say("updated", strings.Repeat("/", 3<<20))
			s.say("updated", fits+strings.Repeat("/", 3<<20))
			if got := c.got(); len(got) != 1 || len(got[0]) < 3<<20 {
				t.Errorf("told %d times", len(got))
			}
			c.leave()
		})
	})
	t.Run("a backend that never answers: not honoured, and not for long", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(ctx context.Context, call port.SessionCall) error {
				if call.Params == "a://3" || call.Method == "unsubscribe" {
					return nil
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}
			c := w.listen("1", port.ChangeFilter{Tools: true, URIs: many(100)})
			time.Sleep(20*time.Second - time.Nanosecond)
			c.want()
			time.Sleep(time.Nanosecond)
			c.want("1 ack true false false [a://3] []")
			asked := s.asked()
			if len(asked) >= 100 {
				t.Errorf("%d requests", len(asked))
			}
			time.Sleep(10 * time.Second)
			doubtful := slices.DeleteFunc(slices.Clone(asked), func(what string) bool { return strings.HasPrefix(what, "unsubscribe") || what == "subscribe a://3" })
			given := 0
			for _, what := range append(s.asked(), asked...) {
				if strings.HasPrefix(what, "unsubscribe") {
					given++
				}
			}
			if given == 0 || len(doubtful) == 0 {
				t.Errorf("%d doubtful, %d given up", len(doubtful), given)
			}
			c.leave()
			w.wantAsked(s, "unsubscribe a://3")
		})
	})
}

func TestCrowds(t *testing.T) {
	t.Run("100 subscriptions share the session's resources", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			clients := make([]*client, 100)
			for i := range clients {
				clients[i] = w.listen("1", port.ChangeFilter{Tools: true, URIs: many(10)})
			}
			synctest.Wait()
			if asked := s.asked(); len(asked) != 10 {
				t.Errorf("%d requests", len(asked))
			}
			s.say("tools", "x")
			s.say("updated", "a://7")
			for _, c := range clients {
				c.want(fmt.Sprintf("1 ack true false false %v []", many(10)), "1 tools x", "1 updated a://7")
				c.leave()
			}
			w.wantReleased(s, 100)
			if asked := s.asked(); len(asked) != 10 {
				t.Errorf("%d requests", len(asked))
			}
		})
	})
	t.Run("a flood of parts: a client that reads slowly is told of the whole", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			c := w.listen("1", uris("a://dir"))
			c.got()
			c.stuck = make(chan struct{})
			s.say("updated", "a://dir")
			synctest.Wait()
			for i := range 100_000 {
				s.say("updated", fmt.Sprintf("a://dir/%d", i))
			}
			close(c.stuck)
			got := c.got()
			if len(got) != 258 || got[1] != "1 updated a://dir/0" || got[257] != "1 updated a://dir#made up" {
				t.Errorf("told %d times, at last %q", len(got), got[len(got)-1])
			}
			c.leave()
		})
	})
}

func TestInboxIsBounded(t *testing.T) {
	bubble(t, nil, func(w *world) {
		s := w.session("s", everything)
		c := w.listen("1", port.ChangeFilter{Tools: true, URIs: many(100)})
		c.got()
		huge := strings.Repeat("x", 900<<10)
		c.stuck = make(chan struct{})
		s.say("tools", huge)
		synctest.Wait()
		for range 10 { // only the newest counts
			s.say("updated", "a://0#"+huge[:300<<10])
		}
		s.say("tools", huge[:300<<10])
		for _, uri := range many(100) {
			s.say("updated", uri+"#"+huge)
		}
		s.say("tools", "small")
		s.say("updated", "a://0#"+huge[:300<<10])
		close(c.stuck)
		got := c.got()
		if len(got) != 102 || got[0] != "1 tools "+huge || got[2] != "1 tools small" || got[101] != "1 updated a://99#made up" {
			t.Errorf("told %d times, at last %q", len(got), got[len(got)-1])
		}
		c.leave()
	})
}

// tasks is a scripted [listen.Tasks].
type tasks struct {
	t       *testing.T
	mu      sync.Mutex
	watched []string
	tell    func([]byte) bool
	tells   map[string]func([]byte) bool
	ended   int
}

func (s *tasks) Verify(backend string, _ port.Caller, handle string) error {
	if backend != "basalt" {
		s.t.Errorf("asked about %s", backend)
	}
	if !strings.HasPrefix(handle, "h.LT") {
		return errRefused
	}
	return nil
}

func (s *tasks) Watch(ctx context.Context, _ string, _ port.Caller, handle string, id jsonrpc.ID, tell func([]byte) bool) {
	s.mu.Lock()
	s.watched = append(s.watched, string(id)+" "+handle)
	s.tell = tell
	if s.tells == nil {
		s.tells = make(map[string]func([]byte) bool)
	}
	s.tells[handle] = tell
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
}

func TestTasks(t *testing.T) {
	t.Run("§4.24 those that the caller may see are acknowledged, then watched", func(t *testing.T) {
		script := &tasks{t: t}
		bubble(t, script, func(w *world) {
			w.session("s", everything)
			c := w.listen(`"L1"`, port.ChangeFilter{TaskIDs: []string{"h.LT1", "h.bad", "h.LT1", ""}})
			c.want(`"L1" ack false false false [] [h.LT1]`)
			if !slices.Equal(script.watched, []string{`"L1" h.LT1`}) {
				t.Errorf("watched %q", script.watched)
			}
			script.tell([]byte("completed"))
			c.want("completed")
			c.stuck = make(chan struct{})
			script.tell([]byte("1"))
			synctest.Wait()
			script.tell([]byte("2"))
			script.tell([]byte("3"))
			close(c.stuck)
			c.want("1", "3")
			c.leave()
			if script.ended != 1 {
				t.Error("it is watched still")
			}
		})
	})
	t.Run("a client that cannot be told of the acknowledgement watches nothing", func(t *testing.T) {
		script := &tasks{t: t}
		bubble(t, script, func(w *world) {
			w.session("s", everything)
			c := w.listenTo(`"L1"`, port.ChangeFilter{TaskIDs: []string{"h.LT1"}}, errGone)
			<-c.ended
			if len(script.watched) != 0 {
				t.Errorf("watched %q", script.watched)
			}
		})
	})
	t.Run("10,000 tasks: no more than 100", func(t *testing.T) {
		script := &tasks{t: t}
		bubble(t, script, func(w *world) {
			w.session("s", everything)
			handles := make([]string, 10_000)
			for i := range handles {
				handles[i] = fmt.Sprintf("h.LT%d", i)
			}
			c := w.listen("1", port.ChangeFilter{TaskIDs: handles})
			if got := c.got(); len(got) != 1 || strings.Count(got[0], "h.LT") != 100 {
				t.Errorf("told %q", got)
			}
			c.leave()
		})
	})
	t.Run("none are honoured where nobody tells of them", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			w.session("s", everything)
			c := w.listen("1", port.ChangeFilter{TaskIDs: []string{"h.LT1"}})
			c.want("1 ack false false false [] []")
			c.leave()
		})
	})
}

// TestSlowTasks: what is kept of tasks for a client that reads slowly is bounded.
func TestSlowTasks(t *testing.T) {
	t.Run("a client that reads slowly: what there is no room for is not taken", func(t *testing.T) {
		script := &tasks{t: t}
		bubble(t, script, func(w *world) {
			w.session("s", everything)
			c := w.listen("1", port.ChangeFilter{TaskIDs: []string{"h.LT1", "h.LT2", "h.LT3"}})
			c.got()
			c.stuck = make(chan struct{})
			script.tell([]byte("stuck"))
			synctest.Wait()
			large := []byte(strings.Repeat("x", 900<<10))
			for i, step := range []struct {
				handle string
				note   []byte
				taken  bool
			}{
				{"h.LT1", []byte(strings.Repeat("x", 3<<20)), true}, // alone, whatever its size
				{"h.LT2", []byte("small"), false},
				{"h.LT1", large, true}, // in place of the one before
				{"h.LT2", []byte("small"), true},
				{"h.LT3", large, false},
				{"h.LT2", large, false},
			} {
				if got := script.tells[step.handle](step.note); got != step.taken {
					t.Errorf("step %d: taken %v", i, got)
				}
			}
			close(c.stuck)
			c.want("stuck", string(large), "small")
			if !script.tells["h.LT3"]([]byte("later")) {
				t.Error("not taken when there is room again")
			}
			c.want("later")
			c.leave()
		})
	})
}
