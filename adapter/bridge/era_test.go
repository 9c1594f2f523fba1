package bridge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// lane is a crossing that notes what it was given.
type lane struct{ got []string }

func (l *lane) note(what string) { l.got = append(l.got, what) }

func (l *lane) Request(_ context.Context, x *port.Exchange) port.Outcome {
	l.note("request " + x.Message.Method)
	return port.Outcome{Result: "{}"}
}
func (l *lane) Notification(context.Context, *port.Exchange)    { l.note("notification") }
func (l *lane) Answer(context.Context, *port.Exchange) error    { l.note("answer"); return nil }
func (l *lane) Attach(port.Subscriber) func()                   { l.note("attach"); return func() {} }
func (l *lane) EndSession(context.Context, string, port.Caller) { l.note("end") }
func (l *lane) CheckParams(context.Context, *port.Exchange, func(string) []string) error {
	l.note("check")
	return nil
}

// TestEras: the era of a backend decides where a session begins, and where a request
// without one goes; a session stays where it began, without a look at the era (DESIGN
// 2, §1.10).
func TestEras(t *testing.T) {
	t.Parallel()
	asked := 0
	var own bool
	var verdict error
	inside, across := new(lane), new(lane)
	e := bridge.NewEras(bridge.ErasOptions{
		OwnEra: func(context.Context, string, port.Caller) (bool, error) { asked++; return own, verdict },
		Own:    inside, Across: across, OwnParams: inside, AcrossParams: across,
	})
	serve := func(method string, caller port.Caller) (err error) {
		x := &port.Exchange{Caller: caller, Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, Method: method}}
		return e.Request(t.Context(), x).Err
	}
	expect := func(what string, lane *lane, asks int, got ...string) {
		t.Helper()
		want(t, what, lane.got, got...)
		if asked != asks {
			t.Errorf("%s: the era was asked for %d times, want %d", what, asked, asks)
		}
		other := inside
		if lane == inside {
			other = across
		}
		want(t, what+", the other crossing", other.got)
		inside.got, across.got, asked = nil, nil, 0
	}
	for _, own = range []bool{false, true} {
		crossing, begun := across, port.Caller{Session: "s"}
		if own {
			crossing, begun = inside, port.Caller{Session: "s", Kept: "ticket"}
		}
		if err := errors.Join(serve("initialize", port.Caller{Session: "s"}), serve("tools/list", port.Caller{}),
			e.CheckParams(t.Context(), &port.Exchange{Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, Method: "tools/call"}}, nil)); err != nil {
			t.Error(err)
		}
		expect("what begins", crossing, 3, "request initialize", "request tools/list", "check")
		for _, verdict = range []error{nil, errUnreachable} {
			if err := serve("tools/list", begun); err != nil {
				t.Error(err)
			}
			e.Notification(t.Context(), &port.Exchange{Caller: begun})
			if err := e.Answer(t.Context(), &port.Exchange{Caller: begun}); err != nil {
				t.Error(err)
			}
			e.Attach(port.Subscriber{Caller: begun})()
			e.EndSession(t.Context(), "b", begun)
			expect("what has begun", crossing, 0, "request tools/list", "notification", "answer", "attach", "end")
		}
		if err := serve("initialize", port.Caller{Session: "s"}); !errors.Is(err, errUnreachable) {
			t.Errorf("error %v", err)
		}
		if err := e.CheckParams(t.Context(), &port.Exchange{}, nil); !errors.Is(err, errUnreachable) {
			t.Errorf("error %v", err)
		}
		expect("nothing is known", crossing, 2)
		verdict = nil
	}
}
