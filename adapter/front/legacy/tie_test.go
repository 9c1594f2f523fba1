package legacy_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// marking makes the filters show which of them was used.
func marking(o *legacy.Options) {
	mark := func(as string) port.Filter {
		return func(_ string, msg []byte) []byte { return bytes.ReplaceAll(msg, []byte("MARK"), []byte(as)) }
	}
	o.Filter, o.OwnEra = mark("crossed"), mark("own")
}

// keeps makes the crossing keep a ticket with every session, and choose a revision.
func (r *rig) keeps(version string) {
	r.crossing.on("initialize", func(_ context.Context, x *port.Exchange) port.Outcome {
		x.Tie.Keep("ticket")
		x.Push("", note("0"))
		return port.Outcome{Result: wire.Value(`{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"MARK","version":"1"}}`)}
	})
}

// TestTie: what a crossing keeps with a session comes back with every message of it,
// in any process, and nothing that the client gets is filtered as if it had crossed
// (S-1, S-3).
func TestTie(t *testing.T) {
	bubble(t, marking, func(t *testing.T, r *rig) {
		r.keeps("2025-06-18")
		a := r.post("", initialize, "Authorization: Bearer a")
		id := a.header.Get("Mcp-Session-Id")
		if a.status != http.StatusOK || !strings.Contains(a.body, `"name":"own"`) {
			t.Fatalf("initialize: %d %s", a.status, a.body)
		}
		r.crossing.on("tools/list", func(_ context.Context, x *port.Exchange) port.Outcome {
			if err := x.Stream.Send([]byte(`{"jsonrpc":"2.0","method":"MARK"}`)); err != nil {
				t.Error(err)
			}
			return port.Outcome{Result: `{"n":"MARK"}`}
		})
		again := newRig(t, func(o *legacy.Options) {
			marking(o)
			o.Store = r.store
		})
		again.crossing.scripts = r.crossing.scripts
		for _, r := range []*rig{r, again} {
			a := r.post(id, call("1", "tools/list"), "Authorization: Bearer a")
			if !strings.Contains(a.body, `{"n":"own"}`) || !strings.Contains(a.body, `"method":"own"`) {
				t.Errorf("answer %s", a.body)
			}
			x := r.crossing.last()
			if x.Caller.Kept != "ticket" || x.Caller.Version != "2025-06-18" || x.Tie == nil || x.Tie.Keep != nil {
				t.Errorf("exchange %+v of %+v", x.Tie, x.Caller)
			}
			select {
			case <-x.Tie.Over:
				t.Error("over already")
			default:
			}
		}
		// What came before the session was there was kept for its first stream.
		s := r.stream(http.MethodGet, id, "", "Authorization: Bearer a")
		s.want(event(0))
		if sub := r.crossing.subs[0]; sub.Tie == nil || sub.Caller.Kept != "ticket" {
			t.Errorf("attached as %+v", sub)
		}
		r.crossing.last().Push("", []byte(`{"jsonrpc":"2.0","method":"MARK"}`))
		s.want(`data: {"jsonrpc":"2.0","method":"own"}`)
		own := r.crossing.last().Own()
		if err := own.Send([]byte(`{"jsonrpc":"2.0","method":"MARK2"}`)); err != nil {
			t.Error(err)
		}
		s.want(`data: {"jsonrpc":"2.0","method":"own2"}`)
		if a := r.do(http.MethodDelete, id, "", "Authorization: Bearer a"); a.status != http.StatusNoContent {
			t.Errorf("DELETE: %d", a.status)
		}
		synctest.Wait()
		<-r.crossing.last().Tie.Over
		if len(r.crossing.gone) != 1 || r.crossing.gone[0].Kept != "ticket" {
			t.Errorf("ended %+v", r.crossing.gone)
		}
	})
}

// TestNoTie: a session with which nothing is kept has none, and is filtered as one
// whose messages cross.
func TestNoTie(t *testing.T) {
	bubble(t, marking, func(t *testing.T, r *rig) {
		r.crossing.on("tools/list", func(context.Context, *port.Exchange) port.Outcome { return port.Outcome{Result: `{"n":"MARK"}`} })
		id := r.open("Authorization: Bearer a")
		if a := r.post(id, call("1", "tools/list"), "Authorization: Bearer a"); !strings.Contains(a.body, "crossed") || r.crossing.last().Tie != nil {
			t.Errorf("answer %s, tie %v", a.body, r.crossing.last().Tie)
		}
	})
}

// TestIdleTie: a session that expires is ended at the backend as well.
func TestIdleTie(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.keeps("2025-11-25")
		r.open("Authorization: Bearer a")
		time.Sleep(2 * idle)
		synctest.Wait()
		if len(r.crossing.gone) != 1 || r.crossing.gone[0].Kept != "ticket" {
			t.Errorf("ended %+v", r.crossing.gone)
		}
	})
}

// TestTieThatFails: a session that was not made durable is ended at the backend.
func TestTieThatFails(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Store = failing{o.Store} }, func(t *testing.T, r *rig) {
		r.keeps("2025-11-25")
		if a := r.post("", initialize); a.header.Get("Mcp-Session-Id") != "" || !strings.Contains(a.body, "-32603") {
			t.Errorf("initialize: %d %s", a.status, a.body)
		}
		synctest.Wait()
		if len(r.crossing.gone) != 1 || r.crossing.gone[0].Kept != "ticket" {
			t.Errorf("ended %+v", r.crossing.gone)
		}
	})
}

// failing is a store in which nothing can be written.
type failing struct{ state.Store }

func (failing) Put(context.Context, state.Record, state.Cond) (state.Rev, error) {
	return 0, errors.New("disk full")
}

// TestLostSession: a session that the backend has forgotten is unknown to its client
// from then on (S-1: 404 at the backend is 404 here).
func TestLostSession(t *testing.T) {
	gone := func(context.Context, *port.Exchange) port.Outcome {
		return port.Fail(errors.Join(errors.New("x"), port.ErrSessionLost))
	}
	over := func(t *testing.T, r *rig, id string) {
		t.Helper()
		synctest.Wait()
		wantError(t, r.post(id, call("1", "tools/list")), http.StatusNotFound, unknownSession)
		if a := r.do(http.MethodGet, id, ""); a.status != http.StatusNotFound {
			t.Errorf("GET: %d", a.status)
		}
		if len(r.crossing.gone) != 0 {
			t.Errorf("the backend is told to end what it has lost: %v", r.crossing.gone)
		}
	}
	t.Run("S-1 a request finds it lost", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.keeps("2025-11-25")
			id := r.open()
			ended := r.crossing.hang("prompts/list")
			s := r.stream(http.MethodGet, id, "")
			s.want(event(0))
			other := r.background(id, call("2", "prompts/list"))
			r.crossing.on("tools/call", gone)
			wantError(t, r.post(id, call("1", "tools/call")), http.StatusNotFound, unknownSession)
			<-ended
			if a := <-other; !strings.Contains(a.body, "the session has ended") {
				t.Errorf("the other request: %s", a.body)
			}
			s.want("EOF")
			over(t, r, id)
		})
	})
	t.Run("S-1 on a stream that has begun", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.keeps("2025-11-25")
			id := r.open()
			r.crossing.on("tools/call", func(ctx context.Context, x *port.Exchange) port.Outcome {
				if err := x.Stream.Send(note("1")); err != nil {
					t.Error(err)
				}
				return gone(ctx, x)
			})
			r.stream(http.MethodPost, id, call("1", "tools/call")).want(event(1), "data: "+unknownSession, "EOF")
			over(t, r, id)
		})
	})
	t.Run("S-1 in a batch", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.keeps("2025-03-26")
			id := r.open()
			r.crossing.on("tools/call", gone)
			if a := r.post(id, "["+call("1", "tools/call")+"]"); a.body != "["+unknownSession+"]" {
				t.Errorf("batch: %d %s", a.status, a.body)
			}
			over(t, r, id)
		})
	})
	t.Run("S-1 an answer finds it lost", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.keeps("2025-11-25")
			id := r.open()
			r.crossing.refuse = port.ErrSessionLost
			wantError(t, r.post(id, `{"jsonrpc":"2.0","id":1,"result":{}}`), http.StatusNotFound, withoutID(unknownSession))
			over(t, r, id)
		})
	})
	t.Run("S-1 the crossing finds it lost", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.keeps("2025-11-25")
			id := r.open()
			r.post(id, call("1", "tools/list"))
			r.crossing.last().Tie.Lose()
			r.crossing.last().Tie.Lose()
			over(t, r, id)
		})
	})
}

// TestCancelledBehindATie: the crossing is told what the client says of a request that
// it cancels, while that is still under way (S-1).
func TestCancelledBehindATie(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.keeps("2025-11-25")
		id := r.open()
		ended := r.crossing.hang("tools/call")
		pending := r.background(id, call("31", "tools/call"))
		if a := r.post(id, cancelled("31")); a.status != http.StatusAccepted {
			t.Errorf("cancelled: %d", a.status)
		}
		<-ended
		<-pending
		if len(r.crossing.notes) != 1 || r.crossing.silent[0].Message.Params.Get("requestId") != "31" {
			t.Errorf("told %v", r.crossing.notes)
		}
	})
}

// TestUntakenAnswer: that a backend does not take an answer is no fault of the session's,
// nor of the bridge's, and what it says about that is not logged (S-1).
func TestUntakenAnswer(t *testing.T) {
	for name, err := range map[string]error{
		"cannot": &port.UpstreamError{Op: "response", Status: 500, Err: errors.New("x")}, "will not": jsonrpc.NewError(-32000, "secret"),
	} {
		t.Run("the backend "+name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.keeps("2025-11-25")
				id := r.open()
				r.crossing.refuse = err
				wantError(t, r.post(id, `{"jsonrpc":"2.0","id":1,"result":{}}`), http.StatusBadGateway, refusal("", "-32603", "the backend did not take the answer"))
				if log := r.logs.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "secret") || !strings.Contains(log, "answer not taken") {
					t.Errorf("log %s", log)
				}
			})
		})
	}
}
