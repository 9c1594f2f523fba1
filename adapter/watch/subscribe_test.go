package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

func TestSubscribe(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A2 honoured", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.listenDelay = second
			wait := w.subscribe(w.Context(), w.session("a"), "file:///x")
			after(second)
			if !pending(wait) {
				w.Fatal("answered before the backend has")
			}
			after(burst)
			if err := <-wait; err != nil {
				w.Fatal(err)
			}
			st := w.streams(1)[0]
			if diff := cmp.Diff(port.ChangeFilter{Tools: true, URIs: []string{"file:///x"}}, st.filter); diff != "" {
				w.Errorf("filter (-want +got):\n%s", diff)
			}
			st.update("file:///x")
			if diff := cmp.Diff([]string{"updated file:///x"}, w.got("a")); diff != "" {
				w.Errorf("delivered (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("§3.5 A2 a burst is one listen", func(t *testing.T) {
		bubble(t, func(w *world) {
			var waits []<-chan error
			for i := range 10 {
				waits = append(waits, w.subscribe(w.Context(), w.session(fmt.Sprintf("a-%d", i%3)), fmt.Sprintf("file:///%d", i)))
				after(4 * time.Millisecond)
			}
			after(burst)
			for _, wait := range waits {
				if err := <-wait; err != nil {
					w.Error(err)
				}
			}
			if st := w.streams(1)[0]; len(st.filter.URIs) != 10 {
				w.Errorf("filter %v, want all ten", st.filter.URIs)
			}
		})
	})
	t.Run("§3.5 A2 already subscribed is answered without traffic", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.settled(w.session("a-1"), "file:///x")
			start := time.Now()
			w.settled(w.session("a-1"), "file:///x")
			w.settled(w.session("a-2"), "file:///x") // as somebody else has, with this credential
			if took := time.Since(start); took != 0 {
				w.Errorf("took %v", took)
			}
			after(minute)
			w.streams(1)[0].update("file:///x")
			if len(w.got("a-1")) != 1 || len(w.got("a-2")) != 1 {
				w.Error("a session was not told once")
			}
		})
	})
}

func TestSubscribeRefused(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A2 not honoured, and the rest goes on", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.settled(w.session("a-1"), "file:///x")
			w.source.set(func(s *source) {
				s.honour = func(f *port.ChangeFilter) {
					f.URIs = slices.DeleteFunc(f.URIs, func(uri string) bool { return uri == "file:///no" })
				}
			})
			refused := w.subscribe(w.Context(), w.session("a-2"), "file:///no")
			agreed := w.subscribe(w.Context(), w.session("a-1"), "file:///y")
			after(burst)
			w.wantCode(<-refused, jsonrpc.CodeInvalidParams)
			if err := <-agreed; err != nil {
				w.Error(err)
			}
			st := w.streams(2)[1]
			st.update("file:///x")
			if got := w.got("a-1"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
			after(minute)
			w.streams(2) // it is not asked for again
		})
	})
	t.Run("§3.5 A2 not honoured, and nothing else was wanted", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.lists = port.ChangeFilter{}
			w.source.honour = func(f *port.ChangeFilter) { f.URIs = nil }
			w.Attach(w.session("a"))
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///no"), jsonrpc.CodeInvalidParams)
			after(burst)
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("an empty subscription is kept open")
			}
		})
	})
	t.Run("§3.5 A2 no acknowledgement in time", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.settled(w.session("a"), "file:///x")
			w.source.set(func(s *source) { s.listenDelay = minute })
			start := time.Now()
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///y"), jsonrpc.CodeInternal)
			if took := time.Since(start); took != 10*second+burst {
				w.Errorf("took %v, want ten seconds", took)
			}
			// The old one is kept.
			w.streams(1)[0].update("file:///x")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
	t.Run("§3.5 A2 a backend without subscriptions", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.resources = false
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///x"), jsonrpc.CodeMethodNotFound)
			w.source.offerErr = &port.UpstreamError{Op: "server/discover", Err: errGone}
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///x"), jsonrpc.CodeInternal)
			after(minute)
			w.wantTries(0)
		})
	})
}

func TestSubscribeErrors(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A2 an acknowledgement that comes too late", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.listenDelay, w.source.deaf = 12*second, true
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///y"), jsonrpc.CodeInternal)
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("the late subscription is open still")
			}
			w.wantEmpty()
		})
	})
	for name, cause := range map[string]error{
		"the backend's error": jsonrpc.NewError(-32050, "no more room"),
		"an outage":           &port.UpstreamError{Op: "subscriptions/listen", Err: errGone},
		"an error page":       &port.UpstreamError{Op: "subscriptions/listen", Status: 500, Err: jsonrpc.NewError(-32602, "secret")},
	} {
		t.Run("§3.5 A2 an error: "+name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.settled(w.session("a"), "file:///x")
				w.source.set(func(s *source) { s.listenErr = cause })
				err := w.Subscribe(w.Context(), w.session("a"), "file:///y")
				w.wantCode(err, jsonrpc.CodeInternal)
				if name == "the backend's error" != (err.Error() == "the backend refused the subscription: no more room (code -32603)") {
					w.Errorf("error %v", err)
				}
				w.wantTries(2)
				w.source.set(func(s *source) { s.listenErr = nil })
				after(minute)
				// Nobody wants it any more, and what was subscribed to goes on.
				w.streams(1)[0].update("file:///x")
				if got := w.got("a"); len(got) != 1 {
					w.Errorf("sent %v", got)
				}
				w.settled(w.session("a"), "file:///z")
				if got := w.got("a"); len(got) != 0 {
					w.Errorf("sent %v, though nothing was missed", got)
				}
			})
		})
	}
	t.Run("a second request that fails takes nothing from the first", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a", "file:///x"))
			after(burst)
			w.streams(1)[0].fail <- errGone
			after(burst)
			w.source.set(func(s *source) { s.listenErr = errGone })
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///x"), jsonrpc.CodeInternal)
			w.source.set(func(s *source) { s.listenErr = nil })
			after(minute)
			w.streams(2)[1].update("file:///x")
			if got := w.got("a"); !slices.Contains(got, "updated file:///x") {
				w.Errorf("sent %v, want the update", got)
			}
		})
	})
}

func TestSubscribeMeanwhile(t *testing.T) {
	t.Parallel()
	t.Run("an outage in between is answered at once, not after the delay of the next attempt", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.listenErr = errGone
			w.Attach(w.session("a"))
			after(2 * minute) // the next attempt is up to 36 seconds away
			start := time.Now()
			w.wantCode(w.Subscribe(w.Context(), w.session("a"), "file:///x"), jsonrpc.CodeInternal)
			w.source.set(func(s *source) { s.listenErr = nil })
			w.settled(w.session("a"), "file:///x")
			w.Attach(w.session("a-2", "file:///y")) // and now there is no delay any more
			after(burst)
			w.streams(2)
			if took := time.Since(start); took != 3*burst {
				w.Errorf("took %v, want three bursts", took)
			}
		})
	})
	t.Run("what is asked for while a listen is being opened gets the next one", func(t *testing.T) {
		for _, cause := range []error{nil, errGone} {
			t.Run(fmt.Sprint("which ends in ", cause), func(t *testing.T) {
				bubble(t, func(w *world) {
					w.source.listenDelay, w.source.listenErr = second, cause
					first := w.subscribe(w.Context(), w.session("a-1"), "file:///x")
					after(500 * time.Millisecond)
					second := w.subscribe(w.Context(), w.session("a-2"), "file:///y")
					after(600 * time.Millisecond)
					if err := <-first; !errors.Is(err, nil) && cause == nil || err == nil && cause != nil {
						w.Errorf("first: %v", err)
					}
					if !pending(second) {
						w.Fatal("the second was answered by a listen that did not ask for it")
					}
					w.source.set(func(s *source) { s.listenErr = nil })
					after(1100 * time.Millisecond)
					if pending(second) {
						w.Fatal("the second waits on")
					}
					if err := <-second; err != nil {
						w.Errorf("second: %v", err)
					}
				})
			})
		}
	})
}

func TestSubscribeForAClientThatLeaves(t *testing.T) {
	t.Parallel()
	t.Run("the request is taken back", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			after(burst)
			w.source.set(func(s *source) { s.listenDelay = 5 * second })
			left := errors.New("left")
			ctx, cancel := context.WithCancelCause(w.Context())
			wait := w.subscribe(ctx, w.session("a"), "file:///x")
			after(second)
			cancel(left)
			if err := <-wait; !errors.Is(err, left) {
				w.Errorf("Subscribe: %v, want %v", err, left)
			}
			after(10 * second)
			all := w.streams(2)
			all[1].update("file:///x")
			if got := w.got("a"); len(got) != 0 {
				w.Errorf("sent %v", got)
			}
		})
	})
	t.Run("but not what it had, or another request of the session wants, too", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a", "file:///x"))
			w.source.set(func(s *source) { s.listenDelay = 5 * second })
			ctx, cancel := context.WithCancel(w.Context())
			w.subscribe(ctx, w.session("a"), "file:///x")
			w.subscribe(ctx, w.session("a"), "file:///y")
			other := w.subscribe(w.Context(), w.session("a"), "file:///y")
			after(second)
			cancel()
			after(10 * second)
			if err := <-other; err != nil {
				w.Fatal(err)
			}
			st := w.streams(1)[0]
			st.update("file:///x")
			st.update("file:///y")
			if got := w.got("a"); len(got) != 2 {
				w.Errorf("sent %v, want both", got)
			}
		})
	})
	t.Run("a session that only wanted this is gone", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.set(func(s *source) { s.listenDelay = 5 * second })
			ctx, cancel := context.WithCancel(w.Context())
			wait := w.subscribe(ctx, w.session("a"), "file:///x")
			after(second)
			cancel()
			<-wait
			after(10 * second)
			w.wantEmpty()
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("the subscription is open still")
			}
		})
	})
}

func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A2 the subscription shrinks lazily, deliveries stop at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.settled(w.session("a"), "file:///x")
			w.settled(w.session("a"), "file:///y")
			w.Unsubscribe(w.session("a"), "file:///x")
			after(minute)
			st := w.streams(2)[1]
			st.update("file:///x")
			st.update("file:///y")
			if diff := cmp.Diff([]string{"updated file:///y"}, w.got("a")); diff != "" {
				w.Errorf("delivered (-want +got):\n%s", diff)
			}
			w.settled(w.session("a"), "file:///x") // still honoured: no traffic
			w.streams(2)
			w.Unsubscribe(w.session("a"), "file:///x")
			w.settled(w.session("a"), "file:///z")
			if diff := cmp.Diff([]string{"file:///y", "file:///z"}, w.streams(3)[2].filter.URIs); diff != "" {
				w.Errorf("the next filter (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("§3.5 A2 of an unknown resource, and of an unknown session", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Unsubscribe(w.session("a"), "file:///x")
			w.settled(w.session("a"), "file:///x")
			w.Unsubscribe(w.session("a"), "file:///y")
			after(minute)
			w.streams(1)[0].update("file:///x")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
	t.Run("of what is still being subscribed to", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.listenDelay = 5 * second
			w.Attach(w.session("a"))
			wait := w.subscribe(w.Context(), w.session("a"), "file:///x")
			w.Unsubscribe(w.session("a"), "file:///x")
			if pending(wait) {
				w.Fatal("the request waits on")
			}
			if err := <-wait; err != nil {
				w.Error(err)
			}
			after(minute)
			if st := w.streams(1)[0]; len(st.filter.URIs) != 0 {
				w.Errorf("filter %v", st.filter.URIs)
			}
		})
	})
}

func TestUnsubscribeTheLast(t *testing.T) {
	t.Parallel()
	t.Run("the last one closes what nobody needs", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.settled(w.session("a"), "file:///x")
			w.Unsubscribe(w.session("a"), "file:///x")
			w.wantEmpty()
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("the subscription is open still")
			}
		})
	})
	t.Run("a session that is attached has its lists still", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.Attach(w.session("a"))
			w.settled(w.session("a"), "file:///x")
			w.Unsubscribe(w.session("a"), "file:///x")
			after(minute)
			st := w.streams(1)[0]
			st.list("tools")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
	t.Run("a session without lists that wants nothing any more rests, and comes back", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.source.lists = port.ChangeFilter{}
			w.Attach(w.session("a"))
			w.settled(w.session("a"), "file:///x")
			w.Unsubscribe(w.session("a"), "file:///x")
			after(burst)
			if st := w.streams(1)[0]; !st.isClosed() {
				w.Error("the subscription is open still")
			}
			w.settled(w.session("a"), "file:///y")
			w.streams(2)[1].update("file:///y")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
}

// enlarge makes a second subscription take over from the first.
func (w *world) enlarge() (old, fresh *stream) {
	w.Helper()
	w.settled(w.session("a"), "file:///x")
	w.settled(w.session("a"), "file:///y")
	all := w.streams(2)
	return all[0], all[1]
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A3 the old one is read for a second more, then closed", func(t *testing.T) {
		bubble(t, func(w *world) {
			old, _ := w.enlarge()
			after(second - time.Millisecond)
			old.update("file:///x") // only there: it was from before
			if got := w.got("a"); len(got) != 1 || old.isClosed() {
				w.Errorf("sent %v, closed: %v", got, old.isClosed())
			}
			after(time.Millisecond)
			if !old.isClosed() {
				w.Error("the old subscription is open still")
			}
		})
	})
	t.Run("§3.5 A3 what the old one repeats is dropped", func(t *testing.T) {
		bubble(t, func(w *world) {
			old, fresh := w.enlarge()
			fresh.update("file:///x")
			w.got("a")
			old.update("file:///x")
			old.list("tools")
			fresh.list("tools")
			fresh.update("file:///x") // a second change is one
			if diff := cmp.Diff(map[string]int{"tools": 2, "updated file:///x": 1}, count(w.got("a")), atMost("tools")); diff != "" {
				w.Errorf("delivered (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("§3.5 A3 what only the new one reports is never held back", func(t *testing.T) {
		bubble(t, func(w *world) {
			old, fresh := w.enlarge()
			old.update("file:///x") // from before, late
			w.got("a")
			fresh.update("file:///x") // and once more since
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v, want the second change", got)
			}
		})
	})
}

func TestOverlapOfThree(t *testing.T) {
	t.Parallel()
	t.Run("§3.5 A3 with three at a time", func(t *testing.T) {
		bubble(t, func(w *world) {
			first, second := w.enlarge()
			w.settled(w.session("a"), "file:///z")
			third := w.streams(3)[2]
			third.update("file:///x")
			w.got("a")
			first.update("file:///x")
			second.update("file:///x")
			if got := w.got("a"); len(got) != 0 {
				w.Errorf("sent %v again", got)
			}
			after(time.Second)
			if !first.isClosed() || !second.isClosed() || third.isClosed() {
				w.Errorf("closed: %v, %v, %v", first.isClosed(), second.isClosed(), third.isClosed())
			}
			third.update("file:///x")
			if got := w.got("a"); len(got) != 1 {
				w.Errorf("sent %v", got)
			}
		})
	})
	t.Run("an old one that ends in the overlap is nobody's loss", func(t *testing.T) {
		bubble(t, func(w *world) {
			old, _ := w.enlarge()
			old.fail <- errGone
			after(minute)
			w.streams(2)
			if got := w.got("a"); len(got) != 0 {
				w.Errorf("sent %v", got)
			}
		})
	})
}

// atMost compares counts, and takes one or two of these for the same.
func atMost(name string) cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		step, ok := p.Last().(cmp.MapIndex)
		return ok && step.Key().String() == name
	}, cmp.Comparer(func(a, b int) bool { return min(a, b) > 0 }))
}
