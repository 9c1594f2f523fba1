package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

const closing = "the bridge is shutting down"

// TestDrain: what can be repeated ends at once and is not begun anew; calls go
// on.
func TestDrain(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		waited := r.crossing.hang("tasks/result")
		r.crossing.on("tools/call", after(time.Minute))
		s := r.stream(http.MethodGet, id, "")
		w := r.stream(http.MethodPost, id, call("1", "tasks/result"))
		plain := r.background(id, call("5", "tasks/result"), "Accept: application/json")
		older := r.stream(http.MethodPost, r.openVersion("2025-06-18"), call("1", "tasks/result"))
		called := r.background(id, call("2", "tools/call"), "Accept: application/json")
		r.face.Drain()
		s.want("EOF")
		w.want("EOF") // A-R7: whoever has an event id comes back
		wantError(t, <-plain, http.StatusOK, refusal("5", "-32603", closing))
		older.want(data(refusal("1", "-32603", closing)), "EOF")
		for range 3 {
			if err := <-waited; err.Error() != closing+" (code -32603)" {
				t.Errorf("the wait ended with %v", err)
			}
		}
		wantError(t, r.do(http.MethodGet, id, ""), http.StatusServiceUnavailable, refusal("", "-32603", closing))
		wantError(t, r.post(id, call("3", "tasks/result")), http.StatusServiceUnavailable, refusal("3", "-32603", closing))
		wantError(t, r.post(id, call("4", "tasks/get")), http.StatusOK, `{"jsonrpc":"2.0","id":4,"result":{"method":"tasks/get"}}`)
		wantError(t, <-called, http.StatusOK, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		r.face.Drain() // again
	})
}

// TestDrainOlderClient: one that would not come back by itself is told (A-R7).
func TestDrainOlderClient(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion("2025-06-18")
		say := r.crossing.talk("tasks/result")
		post := make(chan *stream)
		go func() { post <- r.stream(http.MethodPost, id, call("1", "tasks/result")) }()
		say <- "1"
		s := <-post
		s.want(event(1))
		r.face.Drain()
		s.want(data(refusal("1", "-32603", closing)), "EOF")
	})
}

// TestClose: everything ends, nothing begins, sessions stay in the store.
func TestClose(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		ended := r.crossing.hang("tools/call")
		s := r.stream(http.MethodGet, id, "")
		a := r.stream(http.MethodPost, id, call("1", "tools/call"))
		b := r.background(id, call("2", "tools/call"), "Accept: application/json")
		lost := r.stream(http.MethodPost, id, call("3", "tools/call"))
		lost.hangUp() // goes on for the replay window
		if err := r.face.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(ended) != 3 {
			t.Errorf("%d calls have ended when Close returns, want 3", len(ended))
		}
		s.want("EOF")
		a.want(data(refusal("1", "-32603", closing)), "EOF")
		wantError(t, <-b, http.StatusOK, refusal("2", "-32603", closing))
		for method, body := range map[string]string{http.MethodPost: call("9", "tools/list"), http.MethodGet: "", http.MethodDelete: ""} {
			if a := r.do(method, id, body); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, closing) || a.header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", method, a.status, a.body)
			}
		}
		wantError(t, r.post("", initialize), http.StatusServiceUnavailable, refusal("0", "-32603", closing))
		if _, detached, ended := r.crossing.counts(); detached != 1 || ended != 0 {
			t.Errorf("detached %d, ended %d", detached, ended)
		}
		again := newRig(t, func(o *legacy.Options) { o.Store = r.store })
		if a := again.post(id, call("1", "tools/list")); a.status != http.StatusOK {
			t.Errorf("after a restart: %d %s", a.status, a.body)
		}
	})
}

// TestCloseHasADeadline: work that does not end holds Close no longer than
// allowed (G-8).
func TestCloseHasADeadline(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		r.crossing.onEnd = func(ctx context.Context) {
			<-ctx.Done() // told, but deaf
			<-release
		}
		r.do(http.MethodDelete, r.open(), "")
		synctest.Wait()
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, late)
		defer cancel()
		if err := r.face.Close(ctx); !errors.Is(err, late) {
			t.Errorf("close: %v, want the cause", err)
		}
		close(release)
		if err := r.face.Close(t.Context()); err != nil {
			t.Errorf("close again: %v", err)
		}
	})
}

// TestManySessions: 10,000 sessions with 100 streams and calls in flight leave
// neither goroutines, which the bubble would report, nor attachments behind.
func TestManySessions(t *testing.T) {
	const sessions, streams = 10_000, 100
	tune := func(o *legacy.Options) {
		o.Limits.Sessions, o.Limits.SessionsPerAddress = sessions, sessions
	}
	bubble(t, tune, func(t *testing.T, r *rig) {
		handler := r.server.Handler
		ids := make([]string, sessions)
		for i := range ids {
			w := record(handler, http.MethodPost, "", initialize)
			if ids[i] = w.Header().Get("Mcp-Session-Id"); ids[i] == "" {
				t.Fatalf("session %d: %d %s", i, w.Code, w.Body)
			}
		}
		if w := record(handler, http.MethodPost, "", initialize); w.Code != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", w.Code)
		}
		r.crossing.on("tools/call", func(ctx context.Context, x *port.Exchange) port.Outcome {
			_ = x.Stream.Send(note("0")) // opens the stream without waiting
			<-ctx.Done()
			return port.Fail(context.Cause(ctx))
		})
		var open []*stream
		for i := range streams {
			open = append(open, r.stream(http.MethodGet, ids[i], ""), r.stream(http.MethodPost, ids[i], call("1", "tools/call")))
		}
		var group sync.WaitGroup
		for i, sub := range r.crossing.subs {
			group.Go(func() { sub.Push("k", note(fmt.Sprint(i))) })
		}
		group.Wait()
		for i := range streams {
			open[2*i].want(event(i))
			open[2*i].hangUp()
			open[2*i+1].hangUp()
		}
		time.Sleep(2*idle + window)
		if w := record(handler, http.MethodPost, ids[sessions-1], call("1", "ping")); w.Code != http.StatusNotFound {
			t.Errorf("after twice the idle time: %d", w.Code)
		}
		if attached, detached, _ := r.crossing.counts(); attached != streams || detached != streams {
			t.Errorf("attached %d, detached %d", attached, detached)
		}
		for range 3 {
			r.open()
		}
	})
}

// TestDeleteWhileInUse: a session that is deleted while requests come in ends
// for all of them, and is not counted any more.
func TestDeleteWhileInUse(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Sessions = 1 }, func(t *testing.T, r *rig) {
		for range 20 {
			id := r.open()
			r.crossing.on("tools/call", func(ctx context.Context, _ *port.Exchange) port.Outcome {
				<-ctx.Done()
				return port.Fail(context.Cause(ctx))
			})
			var group sync.WaitGroup
			for i := range 5 {
				group.Go(func() { r.post(id, call(fmt.Sprint(i), "tools/call")) })
				group.Go(func() { r.do(http.MethodGet, id, "") })
			}
			group.Go(func() { r.do(http.MethodDelete, id, "") })
			group.Wait()
		}
	})
}
