package watch_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestAttach(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A1 one listen with the lists that the backend offers", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.lists = port.ChangeFilter{Tools: true, Resources: true}
			w.Attach(w.session("a"))
			after(burst)
			st := w.streams(1)[0]
			if diff := cmp.Diff(port.ChangeFilter{Tools: true, Resources: true}, st.filter); diff != "" {
				w.Errorf("filter (-want +got):\n%s", diff)
			}
			if st.caller.Authorization != "a" || st.backend != backendName {
				w.Errorf("opened by %+v at %q", st.caller, st.backend)
			}
			st.list("tools")
			if diff := cmp.Diff([]string{"tools"}, w.got("a")); diff != "" {
				w.Errorf("delivered (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("§3.5 A1 nothing is opened where nothing is offered", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.lists = port.ChangeFilter{}
			w.Attach(w.session("a"))
			after(minute)
			w.wantTries(0)
		})
	})
	t.Run("A-L16 a session that comes back has its resources still", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a", "file:///x", "file:///y"))
			after(burst)
			st := w.streams(1)[0]
			if diff := cmp.Diff([]string{"file:///x", "file:///y"}, st.filter.URIs); diff != "" {
				w.Errorf("filter (-want +got):\n%s", diff)
			}
			st.update("file:///y")
			if diff := cmp.Diff([]string{"updated file:///y"}, w.got("a")); diff != "" {
				w.Errorf("delivered (-want +got):\n%s", diff)
			}
		})
	})
}

func TestShares(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN: one listen per credential, and the filters are united", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a-1", "file:///x"))
			w.Attach(w.session("a-2", "file:///y"))
			w.Attach(w.session("b-1", "file:///z"))
			elsewhere := w.session("a-3", "file:///q")
			elsewhere.Backend = "b2"
			w.Attach(elsewhere)
			after(burst)
			got := make(map[string][]string)
			for _, st := range w.streams(3) {
				got[st.backend+" "+st.caller.Authorization] = st.filter.URIs
			}
			want := map[string][]string{
				"b1 a": {"file:///x", "file:///y"}, "b1 b": {"file:///z"}, "b2 a": {"file:///q"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("subscriptions (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("DESIGN: it is the credential sent to the backend that counts", func(t *testing.T) {
		bubbleWith(t, func(string, port.Caller) string { return "static" }, func(w *world) {
			w.Attach(w.session("a"))
			w.Attach(w.session("b"))
			after(burst)
			w.streams(1)[0].list("tools")
			if len(w.got("a")) != 1 || len(w.got("b")) != 1 {
				w.Error("a session was not told")
			}
		})
	})
	t.Run("a change goes to the sessions it concerns, and to no other", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a-1", "file:///dir"))
			w.Attach(w.session("a-2", "file:///other", "file:///dir/"))
			w.Attach(w.session("a-3"))
			after(burst)
			st := w.streams(1)[0]
			st.update("file:///dir")
			st.update("file:///dir/sub") // passed on as it is (§3.5 A4)
			st.update("file:///directory")
			st.update("file:///other")
			st.update("file:///elsewhere")
			st.list("tools")
			for name, want := range map[string][]string{
				"a-1": {"updated file:///dir", "updated file:///dir/sub", "tools"},
				"a-2": {"updated file:///dir/sub", "updated file:///other", "tools"},
				"a-3": {"tools"},
			} {
				if diff := cmp.Diff(want, w.got(name)); diff != "" {
					w.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	})
}

func TestDetach(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A6 the last one closes the subscription", func(t *testing.T) {
		bubble(t, func(w *world) {
			first := w.Attach(w.session("a-1", "file:///x"))
			second := w.Attach(w.session("a-2"))
			after(burst)
			st := w.streams(1)[0]
			first()
			after(minute)
			st.list("tools")
			if got := w.got("a-1"); len(got) != 0 {
				w.Errorf("a session that has ended was sent %v", got)
			}
			if got := w.got("a-2"); len(got) != 1 || st.isClosed() {
				w.Errorf("the other one was sent %v, closed: %v", got, st.isClosed())
			}
			second()
			w.wantEmpty()
			if !st.isClosed() {
				w.Error("the subscription is open still")
			}
			// And all over again.
			w.Attach(w.session("a-3"))
			after(burst)
			w.streams(2)[1].list("tools")
			if got := w.got("a-3"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
	t.Run("that comes late does not end the session's next attachment", func(t *testing.T) {
		bubble(t, func(w *world) {
			old := w.Attach(w.session("a"))
			after(burst)
			w.Attach(w.session("a", "file:///x"))
			old()
			after(burst)
			all := w.streams(2)
			all[1].update("file:///x")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v, want the update", got)
			}
			if shares, sessions := w.Sizes(); shares != 1 || sessions != 1 {
				w.Errorf("%d shares and %d sessions", shares, sessions)
			}
		})
	})
}

func TestDetachEarly(t *testing.T) {
	t.Parallel()
	t.Run("before the backend has said what it offers", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.offerDelay = 5 * second
			detach := w.Attach(w.session("a"))
			after(second)
			detach()
			after(minute)
			w.wantTries(0)
			w.wantEmpty()
		})
	})
	t.Run("while the subscription is being opened", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.listenDelay = 5 * second
			detach := w.Attach(w.session("a"))
			after(second)
			detach()
			after(minute)
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("the subscription is open still")
			}
		})
	})
	t.Run("ends what the session waits for", func(t *testing.T) {
		bubble(t, func(w *world) {
			detach := w.Attach(w.session("a"))
			after(burst)
			w.source.set(func(s *source) { s.listenDelay = 5 * second })
			wait := w.subscribe(w.Context(), w.session("a"), "file:///x")
			after(second)
			detach()
			if pending(wait) {
				w.Fatal("the request waits on")
			}
			if err := <-wait; err == nil {
				w.Error("no error")
			}
		})
	})
}

func TestSessionChangesItsCredential(t *testing.T) {
	bubble(t, func(w *world) {
		sub := w.session("a", "file:///x")
		detach := w.Attach(sub)
		after(burst)
		old := w.streams(1)[0]
		sub.Caller.Authorization = "renewed"
		w.settled(sub, "file:///y")
		fresh := w.streams(2)[1]
		if diff := cmp.Diff([]string{"file:///x", "file:///y"}, fresh.filter.URIs); diff != "" {
			w.Errorf("filter (-want +got):\n%s", diff)
		}
		if fresh.caller.Authorization != "renewed" || !old.isClosed() {
			w.Errorf("opened by %+v, the old one closed: %v", fresh.caller, old.isClosed())
		}
		fresh.update("file:///x")
		if got := w.got("a"); len(got) != 1 {
			w.Errorf("sent %v, want one update", got)
		}
		detach()
		w.wantEmpty()
		if !fresh.isClosed() {
			w.Error("the subscription is open still")
		}
	})
}

func TestSessionMovesToAnOpenSubscription(t *testing.T) {
	bubble(t, func(w *world) {
		w.settled(w.session("b"), "file:///y")
		sub := w.session("a", "file:///x")
		w.Attach(sub)
		after(burst)
		sub.Caller.Authorization = "b"
		w.settled(sub, "file:///y") // which is honoured there already
		after(burst)
		w.streams(3)[2].update("file:///x")
		if got := w.got("a"); len(got) != 1 {
			w.Errorf("sent %v, want the update", got)
		}
	})
}

func TestLoss(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"lost": errGone, "ended gracefully": io.EOF} {
		t.Run("§3.5 A5 a stream that is "+name+" is opened again, and changes are made up", func(t *testing.T) {
			bubble(t, func(w *world) {
				w.source.lists = port.ChangeFilter{Tools: true, Prompts: true}
				w.Attach(w.session("a-1", "file:///x"))
				w.Attach(w.session("a-2"))
				after(burst)
				w.streams(1)[0].fail <- cause
				after(second - time.Millisecond)
				w.streams(1)
				if got := w.got("a-1"); len(got) != 0 {
					w.Errorf("sent %v before anything was open", got)
				}
				after(300 * time.Millisecond)
				w.streams(2)[1].list("tools")
				want := map[string]int{"made up tools": 1, "made up prompts": 1, "made up file:///x": 1, "tools": 1}
				if diff := cmp.Diff(want, count(w.got("a-1"))); diff != "" {
					w.Errorf("a-1 (-want +got):\n%s", diff)
				}
				delete(want, "made up file:///x")
				if diff := cmp.Diff(want, count(w.got("a-2"))); diff != "" {
					w.Errorf("a-2 (-want +got):\n%s", diff)
				}
				w.settled(w.session("a-1"), "file:///y") // a next opening has missed nothing
				if got := w.got("a-1"); len(got) != 0 {
					w.Errorf("sent %v", got)
				}
				if logged := len(w.logged.String()); (logged > 0) != (cause == errGone) { //nolint:errorlint // this very one
					w.Errorf("logged %q", w.logged.String())
				}
			})
		})
	}
	t.Run("a stream that dies before it is relieved may have missed something", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			after(burst)
			w.source.set(func(s *source) { s.listenDelay = 5 * second })
			wait := w.subscribe(w.Context(), w.session("a"), "file:///x")
			after(second)
			w.streams(1)[0].fail <- errGone
			after(5 * second)
			if err := <-wait; err != nil {
				w.Fatal(err)
			}
			if diff := cmp.Diff(map[string]int{"made up tools": 1, "made up file:///x": 1}, count(w.got("a"))); diff != "" {
				w.Errorf("delivered (-want +got):\n%s", diff)
			}
			after(minute)
			w.streams(2)
		})
	})
	t.Run("what a stream of an older version did not report is asked for again", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.honour = func(f *port.ChangeFilter) { f.Tools = false }
			w.Attach(w.session("a", "file:///x"))
			after(burst)
			w.Attach(w.session("a-2", "file:///x"))
			after(minute)
			st := w.streams(1)[0] // not again and again
			w.source.set(func(s *source) { s.honour = nil })
			st.fail <- io.EOF
			after(2 * second)
			if st := w.streams(2)[1]; !st.filter.Tools {
				w.Errorf("filter %+v, want the tools again", st.filter)
			}
		})
	})
}

func TestListsOffered(t *testing.T) {
	t.Parallel()
	for name, only := range map[string]port.ChangeFilter{
		"tools": {Tools: true}, "prompts": {Prompts: true}, "resources": {Resources: true},
	} {
		t.Run("a list that is offered but not reported is not asked for again: all but "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.source.lists = port.ChangeFilter{Tools: true, Prompts: true, Resources: true}
				w.source.honour = func(f *port.ChangeFilter) {
					f.Tools, f.Prompts, f.Resources = only.Tools, only.Prompts, only.Resources
				}
				w.Attach(w.session("a"))
				after(burst)
				w.Attach(w.session("a-2"))
				after(minute)
				w.streams(1)
				w.settled(w.session("a"), "file:///x")
				got := w.streams(2)[1].filter
				got.URIs = nil
				if diff := cmp.Diff(only, got); diff != "" {
					w.Errorf("filter (-want +got):\n%s", diff)
				}
			})
		})
		t.Run("a list that is offered from now on is asked for when a session attaches: "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.source.lists = port.ChangeFilter{}
				w.Attach(w.session("a", "file:///x"))
				after(burst)
				w.source.set(func(s *source) { s.lists = only })
				w.settled(w.session("a"), "file:///y")
				if offers := w.source.offers; offers != 2 { // one by the request itself
					w.Errorf("asked %d times what is offered, want 2", offers)
				}
				w.Attach(w.session("a-2"))
				after(burst)
				got := w.streams(3)[2].filter
				got.URIs = nil
				if diff := cmp.Diff(only, got); diff != "" {
					w.Errorf("filter (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestShareThatHasRested(t *testing.T) {
	bubble(t, func(w *world) {
		w.track("a", "t1") // keeps the share
		w.source.set(func(s *source) { s.listenErr = errGone })
		detach := w.Attach(w.session("a"))
		after(2 * minute)
		detach()
		after(burst)
		w.source.set(func(s *source) { s.listenErr = nil })
		w.Attach(w.session("a-2"))
		after(burst)
		w.streams(1)[0].fail <- errGone
		if got := w.got("a-2"); len(got) != 0 {
			w.Errorf("sent %v, though it has missed nothing", got)
		}
		after(1300 * time.Millisecond) // the shortest delay again
		w.streams(2)
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A5 the delay grows up to half a minute while nothing holds, and starts over", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			after(burst)
			for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
				st := w.streams(i + 1)[i]
				lost := time.Now()
				st.fail <- errGone
				after(want*second - time.Millisecond)
				w.streams(i + 1)
				after(want*second/5 + 2*time.Millisecond)
				if gap := w.streams(i + 2)[i+1].at.Sub(lost); gap < want*second || gap > want*second*6/5 {
					w.Errorf("opened again after %v, want %v and a fifth at most", gap, want*second)
				}
			}
			after(minute)
			w.streams(8)[7].fail <- errGone
			after(1300 * time.Millisecond)
			w.streams(9)
		})
	})
	t.Run("§3.5 A5 a backend that cannot be reached is tried with a growing delay", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.listenErr = errGone
			w.Attach(w.session("a"))
			after(burst)
			w.wantTries(1)
			if logged := w.logged.String(); !strings.Contains(logged, errGone.Error()) {
				w.Errorf("logged %q, want the cause", logged)
			}
			after(15 * second) // 1 + 2 + 4, and fifths
			w.wantTries(4)
			after(2 * minute)
			w.source.mu.Lock()
			tries := w.source.tries
			w.source.mu.Unlock()
			if tries < 7 || tries > 9 {
				w.Errorf("%d tries in two minutes", tries)
			}
			w.source.set(func(s *source) { s.listenErr = nil })
			after(40 * second)
			w.streams(1)
			if diff := cmp.Diff([]string{"made up tools"}, w.got("a")); diff != "" {
				w.Errorf("what was missed meanwhile (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a backend that cannot say what it offers is asked again", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.offerErr = errGone
			w.Attach(w.session("a"))
			after(10 * second)
			w.wantTries(0)
			w.source.set(func(s *source) { s.offerErr = nil })
			after(10 * second)
			w.streams(1)
		})
	})
}

func count(all []string) map[string]int {
	out := make(map[string]int)
	for _, s := range all {
		out[s]++
	}
	return out
}

func TestClose(t *testing.T) {
	t.Parallel()
	t.Run("in the middle of everything leaves nothing behind", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a", "file:///x"))
			w.Attach(w.session("b"))
			after(burst)
			w.settled(w.session("a"), "file:///y") // in the overlap
			w.source.set(func(s *source) { s.listenDelay = minute })
			wait := w.subscribe(w.Context(), w.session("b"), "file:///z") // being opened
			after(500 * time.Millisecond)
			if err := w.Close(w.Context()); err != nil {
				w.Fatal(err)
			}
			if err := <-wait; err == nil {
				w.Error("a waiting request got no error")
			}
		})
	})
	t.Run("afterwards nothing begins", func(t *testing.T) {
		bubble(t, func(w *world) {
			if err := w.Close(w.Context()); err != nil {
				w.Fatal(err)
			}
			w.Attach(w.session("a"))()
			w.Track(backendName, port.Caller{}, "t1", true)
			if err := w.Subscribe(w.Context(), w.session("a"), "file:///x"); err == nil {
				w.Error("no error")
			}
			after(minute)
			w.wantTries(0)
		})
	})
	t.Run("is bounded", func(t *testing.T) {
		bubble(t, func(w *world) {
			release := make(chan struct{})
			w.held = release // against the contract
			w.Attach(w.session("a"))
			w.track("a", "t1")
			after(burst)
			w.streams(1)[0].task("t1", "working")
			after(second)
			late := errors.New("deadline")
			ctx, cancel := context.WithCancelCause(w.Context())
			time.AfterFunc(20*second, func() { cancel(late) })
			if err := w.Close(ctx); !errors.Is(err, late) {
				w.Errorf("Close: %v, want the deadline's cause", err)
			}
			close(release)
		})
	})
}
