package listen_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/listen"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

var errRefused = jsonrpc.NewError(-32602, "no such resource")

// refuse makes a script that agrees to everything but these resources.
func refuse(uris ...string) func(context.Context, port.SessionCall) error {
	return func(_ context.Context, call port.SessionCall) error {
		for _, uri := range uris {
			if call.Method == "subscribe" && string(call.Params) == uri {
				return errRefused
			}
		}
		return nil
	}
}

func TestAcknowledged(t *testing.T) {
	t.Run("§3.5 B1 what is honoured, B2 first and under the request's own id", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", "tools subscribe")
			s.do = func(ctx context.Context, call port.SessionCall) error {
				if call.Params == "ore://no" {
					s.say("tools", "early")
					s.say("updated", "ore://no")
					s.say("updated", "ore://1")
				}
				return refuse("ore://no")(ctx, call)
			}
			filter := port.ChangeFilter{Tools: true, Prompts: true, Resources: true, URIs: []string{"ore://1", "ore://no", "ore://1"}}
			one := w.listen("77", filter)
			one.want("77 ack true false false [ore://1] []", "77 tools early", "77 updated ore://1")
			s.do = refuse("ore://no")
			other := w.listen(`"77"`, filter)
			other.want(`"77" ack true false false [ore://1] []`)
			one.want()
			one.leave()
			other.leave()
			w.wantReleased(s, 2)
		})
	})
	t.Run("§3.5 B1 an empty set is acknowledged, and the stream stays open", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", "")
			c := w.listen("0", port.ChangeFilter{Tools: true, URIs: []string{"a://"}})
			c.want("0 ack false false false [] []")
			s.say("tools", "")
			s.say("updated", "a://")
			time.Sleep(time.Hour)
			c.want()
			w.wantAsked(s)
			c.leave()
		})
	})
	t.Run("§2.3 nothing is honoured without a standing stream", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := &standing{session: w.session("s", everything), none: true}
			w.lends(s)
			c := w.listen("1", port.ChangeFilter{Tools: true, URIs: []string{"a://"}})
			c.want("1 ack false false false [] []")
			w.wantAsked(s.session)
			c.leave()
		})
	})
	t.Run("a session that is not to be had", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			down := &port.UpstreamError{Op: "initialize", Err: errors.New("refused")}
			w.lendBy(func(context.Context) (listen.Lease, error) { return nil, down })
			c := w.listen("1", port.ChangeFilter{Tools: true})
			if out := <-c.ended; !errors.Is(out.Err, down) {
				t.Errorf("told %v", out)
			}
			c.want()
		})
	})
	t.Run("a client that cannot be told", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			c := w.listenTo("1", uris("a://"), errGone)
			if out := <-c.ended; !errors.Is(out.Err, errGone) {
				t.Errorf("told %v", out)
			}
			w.wantReleased(s, 1)
			w.wantAsked(s, "subscribe a://", "unsubscribe a://")
		})
	})
}

func TestFanOut(t *testing.T) {
	t.Run("§3.5 B3 one copy for each subscription that it concerns", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			other := w.session("other", everything)
			elsewhere := w.listen("9", port.ChangeFilter{Tools: true})
			elsewhere.got()
			s := w.session("s", everything)
			a := w.listen("1", port.ChangeFilter{Tools: true, URIs: []string{"a://x"}})
			b := w.listen("1", port.ChangeFilter{Tools: true})
			d := w.listen(`"d"`, uris("a://x", "a://dir/"))
			for _, c := range []*client{a, b, d} {
				c.got()
			}
			s.say("tools", "2")
			s.say("updated", "a://x")
			s.say("updated", "a://dir/sub/y")
			s.say("updated", "a://xy")
			s.say("updated", "a://dirt/z")
			s.say("message", "secret")
			s.say("tools", "malformed")
			if s.w.hub.Heard(s, jsonrpc.Message{Kind: jsonrpc.KindRequest, Method: "tools"}) {
				t.Error("a request was taken for a change")
			}
			a.want("1 updated a://x")
			b.want()
			d.want(`"d" updated a://x`, `"d" updated a://dir/sub/y`)
			s.say("tools", "3")
			a.want("1 tools 3")
			b.want("1 tools 3")
			d.want()
			elsewhere.want()
			other.say("tools", "4")
			elsewhere.want("9 tools 4")
			for _, c := range []*client{a, b, d, elsewhere} {
				c.leave()
			}
		})
	})
	t.Run("a client that reads slowly keeps the newest of each, and holds up nobody", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			filter := port.ChangeFilter{Tools: true, URIs: []string{"a://x"}}
			slow, quick := w.listen("1", filter), w.listen("2", filter)
			slow.got()
			quick.got()
			slow.stuck = make(chan struct{})
			s.say("tools", "0")
			synctest.Wait()
			for range 3 {
				s.say("updated", "a://x#"+time.Now().String())
				s.say("tools", "1")
				s.say("updated", "a://x#last")
				s.say("tools", "2")
				if got := len(quick.got()); got < 2 {
					t.Errorf("the other one was sent %d messages", got)
				}
			}
			close(slow.stuck)
			slow.want("1 tools 0", "1 updated a://x#last", "1 tools 2")
			slow.leave()
			quick.leave()
		})
	})
}

func TestResources(t *testing.T) {
	t.Run("§3.5 B1 each is subscribed to once, and given up with the last that wants it", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			a := w.listen("1", uris("a://x", "a://y"))
			w.wantAsked(s, "subscribe a://x", "subscribe a://y")
			b := w.listen("2", uris("a://x"))
			b.want("2 ack false false false [a://x] []")
			w.wantAsked(s)
			a.leave()
			w.wantAsked(s, "unsubscribe a://y")
			b.leave()
			w.wantAsked(s, "unsubscribe a://x")
			if got := s.credits["subscribe a://x"] + ", " + s.credits["unsubscribe a://x"]; got != "Bearer 1, Bearer 2" {
				t.Errorf("asked with %s", got)
			}
			w.wantReleased(s, 2)
			again := w.listen("3", uris("a://x"))
			w.wantAsked(s, "subscribe a://x")
			again.leave()
		})
	})
	t.Run("one that comes while it is given up subscribes after that", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			a := w.listen("1", uris("a://x"))
			a.got()
			s.do = func(_ context.Context, call port.SessionCall) error {
				time.Sleep(time.Second)
				return nil
			}
			a.leave()
			w.wantAsked(s, "subscribe a://x", "unsubscribe a://x")
			b := w.listen("2", uris("a://x"))
			w.wantAsked(s)
			b.want()
			time.Sleep(time.Second)
			w.wantAsked(s, "subscribe a://x")
			b.want()
			time.Sleep(time.Second)
			b.want("2 ack false false false [a://x] []")
			b.leave()
		})
	})
	t.Run("a refusal is no refusal for ever", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = refuse("a://x")
			a := w.listen("1", uris("a://x"))
			a.want("1 ack false false false [] []")
			s.do = nil
			b := w.listen("2", uris("a://x"))
			b.want("2 ack false false false [a://x] []")
			a.leave()
			w.wantAsked(s, "subscribe a://x", "subscribe a://x")
			b.leave()
			w.wantAsked(s, "unsubscribe a://x")
		})
	})
}

func TestResourcesInTransit(t *testing.T) {
	t.Run("§1.7 a client that leaves while it is subscribed", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(context.Context, port.SessionCall) error { time.Sleep(time.Second); return nil }
			a := w.listen("1", uris("a://x"))
			w.wantAsked(s, "subscribe a://x")
			w.took(0, a.leave)
			w.wantReleased(s, 1)
			time.Sleep(time.Second)
			w.wantAsked(s, "unsubscribe a://x")
			a.want()
		})
	})
	t.Run("one that comes when the other has left has the same", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(context.Context, port.SessionCall) error { time.Sleep(time.Second); return nil }
			a := w.listen("1", uris("a://x"))
			synctest.Wait()
			a.leave()
			b := w.listen("2", uris("a://x"))
			time.Sleep(time.Second)
			b.want("2 ack false false false [a://x] []")
			w.wantAsked(s, "subscribe a://x")
			b.leave()
		})
	})
	t.Run("one that another client still waits for is not given up", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(context.Context, port.SessionCall) error { time.Sleep(time.Second); return nil }
			a, b := w.listen("1", uris("a://x")), w.listen("2", uris("a://x"))
			w.wantAsked(s, "subscribe a://x")
			a.leave()
			time.Sleep(time.Second)
			b.want("2 ack false false false [a://x] []")
			w.wantAsked(s)
			b.leave()
		})
	})
}

func TestEnd(t *testing.T) {
	t.Run("§3.5 B4 the bridge drains: a result, after what was heard before", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			for range 20 { // whichever of the two it notices first
				s := w.session("s", everything)
				a := w.listen("77", port.ChangeFilter{Tools: true})
				a.got()
				s.say("tools", "1")
				a.cancel(port.ErrDraining)
				a.wantEnd("77 ended by " + everything)
				a.want("77 tools 1")
				w.wantReleased(s, 1)
			}
		})
	})
	t.Run("§3.5 B4 the hub closes", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			w.session("s", everything)
			a := w.listen("77", uris("a://x"))
			a.got()
			w.closed = true
			if err := w.hub.Close(w.Context()); err != nil {
				t.Error(err)
			}
			a.wantEnd("77 ended by " + everything)
			b := w.listen("78", uris("a://x"))
			if out := <-b.ended; !errors.Is(out.Err, port.ErrDraining) {
				t.Errorf("told %v", out)
			}
		})
	})
	t.Run("the bridge drains before the subscription has begun: no result without an acknowledgement", func(t *testing.T) {
		bubble(t, nil, func(w *world) {
			s := w.session("s", everything)
			s.do = func(ctx context.Context, _ port.SessionCall) error { <-ctx.Done(); return context.Cause(ctx) }
			a := w.listen("77", uris("a://x"))
			w.wantAsked(s, "subscribe a://x")
			a.cancel(port.ErrDraining)
			if out := <-a.ended; !errors.Is(out.Err, port.ErrDraining) || out.Result.Present() {
				t.Errorf("told %v", out)
			}
			a.want()
			time.Sleep(10 * time.Second)
			w.wantAsked(s, "unsubscribe a://x")
		})
	})
}
