package listen_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/listen"
	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestSessionLost(t *testing.T) {
	t.Run("§3.5 B5 replaced: subscribed again silently, and everything may have changed (Q26)", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			a := w.listen("1", port.ChangeFilter{Tools: true, URIs: []string{"a://x", "a://y"}})
			b := w.listen("2", uris("a://x"))
			a.got()
			b.got()
			next := w.session("next", everything)
			next.do = refuse("a://y")
			close(s.lost)
			a.want("1 tools made up", "1 updated a://x#made up", "1 updated a://y#made up")
			b.want("2 updated a://x#made up")
			w.wantAsked(next, "subscribe a://x", "subscribe a://y")
			w.wantReleased(s, 2)
			s.say("tools", "of the old one")
			next.say("tools", "1")
			next.say("updated", "a://x")
			a.want("1 tools 1", "1 updated a://x")
			b.want("2 updated a://x")
			last := w.session("last", everything)
			close(next.lost)
			a.want("1 tools made up", "1 updated a://x#made up", "1 updated a://y#made up")
			w.wantAsked(last, "subscribe a://x", "subscribe a://y")
			a.leave()
			b.leave()
			w.wantReleased(last, 2)
		})
	})
	t.Run("§3.5 B5 what is granted stays so: what was refused is not asked for again", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = refuse("a://no")
			a := w.listen("1", port.ChangeFilter{Tools: true, URIs: []string{"a://no", "a://x"}})
			a.got()
			next := w.session("next", "prompts subscribe")
			close(s.lost)
			a.want("1 tools made up", "1 updated a://x#made up")
			w.wantAsked(next, "subscribe a://x")
			next.say("updated", "a://no")
			next.say("tools", "1")
			a.want("1 tools 1")
			a.leave()
		})
	})
	t.Run("§3.5 B4 not to be replaced: a result, within half a minute", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			a := w.listen("77", port.ChangeFilter{Tools: true})
			a.got()
			w.lendBy(func(context.Context) (listen.Lease, error) { return nil, &port.UpstreamError{Op: "initialize"} })
			w.took(30*time.Second, func() {
				close(s.lost)
				a.wantEnd("77 ended by " + everything)
			})
			a.want()
			w.wantReleased(s, 1)
			if w.leases != 7 {
				t.Errorf("tried %d times, want 7", w.leases)
			}
		})
	})
	t.Run("§3.5 B4 a credential that is refused is refused for good", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			a := w.listen("77", port.ChangeFilter{Tools: true})
			a.got()
			w.lendBy(func(context.Context) (listen.Lease, error) {
				return nil, &port.UpstreamError{Op: "initialize", Status: 401}
			})
			w.took(0, func() {
				close(s.lost)
				a.wantEnd("77 ended by " + everything)
			})
		})
	})
}

func TestSessionLostMeanwhile(t *testing.T) {
	t.Run("a client that leaves, or a bridge that drains, while it is replaced", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			a, b := w.listen("1", port.ChangeFilter{Tools: true}), w.listen("2", port.ChangeFilter{Tools: true})
			a.got()
			b.got()
			w.lendBy(func(ctx context.Context) (listen.Lease, error) { <-ctx.Done(); return nil, context.Cause(ctx) })
			close(s.lost)
			synctest.Wait()
			a.leave()
			b.cancel(port.ErrDraining)
			b.wantEnd("2 ended by " + everything)
		})
	})
	t.Run("lost before the subscription has begun: the next one serves", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(context.Context, port.SessionCall) error {
				w.session("next", "tools subscribe")
				close(s.lost)
				return port.ErrSessionLost
			}
			a := w.listen("1", port.ChangeFilter{Tools: true, Resources: true, URIs: []string{"a://x"}})
			a.want("1 ack true false false [a://x] []")
			w.wantReleased(s, 1)
			a.leave()
		})
	})
	t.Run("a backend that forgets every session", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			w.lendBy(func(context.Context) (listen.Lease, error) {
				s := &session{w: w, about: everything, lost: make(chan struct{}), credits: make(map[string]string)}
				close(s.lost)
				return s, nil
			})
			a := w.listen("1", uris("a://x"))
			if out := <-a.ended; !errors.Is(out.Err, port.ErrSessionLost) {
				t.Errorf("told %v", out)
			}
			a.want()
			if w.leases != 3 {
				t.Errorf("tried %d sessions, want 3", w.leases)
			}
		})
	})
}

func TestStandingStream(t *testing.T) {
	t.Run("Q26 what it may have missed is made up for, each time", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := &standing{session: w.session("s", everything), missed: make(chan struct{})}
			w.lends(s)
			a := w.listen("1", port.ChangeFilter{Tools: true, URIs: []string{"a://x"}})
			a.want("1 ack true false false [a://x] []")
			for range 2 {
				missed := s.missed
				s.missed = make(chan struct{})
				close(missed)
				a.want("1 tools made up", "1 updated a://x#made up")
			}
			s.say("tools", "1")
			a.want("1 tools 1")
			w.wantAsked(s.session, "subscribe a://x")
			s.none = true
			close(s.missed)
			a.wantEnd("1 ended by " + everything)
			a.want()
		})
	})
}
