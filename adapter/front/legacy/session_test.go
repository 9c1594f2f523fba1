package legacy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
)

const (
	unknownSession = `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request: unknown session"}}`
	missingSession = `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request: Mcp-Session-Id: want the header"}}`
)

func withoutID(body string) string { return strings.Replace(body, `"id":1,`, "", 1) }

// TestSessionsThatCannotBeUsed: unknown, foreign, deleted and expired sessions
// look the same (A-L10).
func TestSessionsThatCannotBeUsed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		begin  []string // headers of initialize
		spoil  func(r *rig, id string)
		use    []string // headers of the requests
		usable bool
	}{
		{name: "A-L10 its own", usable: true},
		{name: "A-L10 unknown", spoil: nil, use: []string{"Mcp-Session-Id: nobody"}},
		{name: "A-L10 of another backend", use: []string{"Path: /legacy/other"}},
		{name: "A-L10 with its credential", begin: []string{"Authorization: Bearer a"}, use: []string{"Authorization: Bearer a"}, usable: true},
		{name: "A-L10 with another credential", begin: []string{"Authorization: Bearer a"}, use: []string{"Authorization: Bearer b"}},
		{name: "A-L10 without its credential", begin: []string{"Authorization: Bearer a"}},
		{name: "A-L10 with a credential asked for later", use: []string{"Authorization: Bearer a"}, usable: true},
		{name: "A-L11 deleted", spoil: func(r *rig, id string) { r.do(http.MethodDelete, id, "") }},
		{name: "A-L12 expired", spoil: func(*rig, string) { time.Sleep(idle*5/4 + time.Second) }},
		{name: "A-L12 idle for no longer than allowed", spoil: func(*rig, string) { time.Sleep(idle) }, usable: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open(tt.begin...)
				if tt.spoil != nil {
					tt.spoil(r, id)
				}
				if tt.usable {
					wantError(t, r.post(id, call("1", "tools/list"), tt.use...), http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`)
					return
				}
				wantError(t, r.post(id, call("1", "tools/list"), tt.use...), http.StatusNotFound, unknownSession)
				wantError(t, r.post(id, initialized, tt.use...), http.StatusNotFound, withoutID(unknownSession))
				wantError(t, r.do(http.MethodGet, id, "", tt.use...), http.StatusNotFound, withoutID(unknownSession))
				wantError(t, r.do(http.MethodDelete, id, "", tt.use...), http.StatusNotFound, withoutID(unknownSession))
				if n := r.crossing.calls("tools/list"); n != 0 {
					t.Errorf("%d requests reached the crossing", n)
				}
			})
		})
	}
}

func TestMissingSession(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		wantError(t, r.post("", call("1", "tools/list")), http.StatusBadRequest, missingSession)
		wantError(t, r.post("", call("1", "ping")), http.StatusBadRequest, missingSession)
		wantError(t, r.post("", initialized), http.StatusBadRequest, withoutID(missingSession))
		wantError(t, r.do(http.MethodGet, "", ""), http.StatusBadRequest, withoutID(missingSession))
		wantError(t, r.do(http.MethodDelete, "", ""), http.StatusBadRequest, withoutID(missingSession))
		// The id of an answer is ours: echoed, it would name a request of the client.
		wantError(t, r.post("", `{"jsonrpc":"2.0","id":1,"result":{}}`), http.StatusBadRequest, withoutID(missingSession))
		wantError(t, r.post("", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`), http.StatusBadRequest, withoutID(missingSession))
	})
}

// TestPipelining: requests before notifications/initialized are served (A-L8).
func TestPipelining(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		if a := r.post(id, call("1", "tools/list")); a.status != http.StatusOK {
			t.Errorf("before initialized: %d %s", a.status, a.body)
		}
		for _, n := range []string{initialized, `{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`} {
			if a := r.post(id, n); a.status != http.StatusAccepted || a.body != "" {
				t.Errorf("%s: %d %q, want 202 and nothing", n, a.status, a.body)
			}
		}
		if len(r.crossing.notes) != 0 {
			t.Errorf("forwarded: %v", r.crossing.notes)
		}
	})
}

func TestDelete(t *testing.T) {
	for _, tt := range []struct {
		name, authorization string
		ends                int
	}{
		{"A-L11 tasks of a session without a credential end with it", "", 1},
		{"A-L11 tasks of a principal stay", "Bearer a", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				auth := "Authorization: " + tt.authorization
				id := r.open(auth)
				ended := r.crossing.hang("tools/call")
				s := r.stream(http.MethodGet, id, "", auth)
				pending := r.background(id, call("1", "tools/call"), auth)
				time.Sleep(time.Second)
				if a := r.do(http.MethodDelete, id, "", auth); a.status != http.StatusNoContent || a.body != "" {
					t.Errorf("DELETE: %d %q", a.status, a.body)
				}
				s.want("EOF")
				if err := <-ended; err.Error() != "the session has ended (code -32603)" {
					t.Errorf("the call was cancelled with %v", err)
				}
				if a := <-pending; !strings.Contains(a.body, `"the session has ended"`) {
					t.Errorf("the call ended with %s", a.body)
				}
				synctest.Wait()
				if attached, detached, ends := r.crossing.counts(); attached != 1 || detached != 1 || ends != tt.ends {
					t.Errorf("attached %d, detached %d, ended %d; want 1, 1, %d", attached, detached, ends, tt.ends)
				}
				if tt.ends > 0 && (r.crossing.gone[0].Session != id || r.crossing.gone[0].Principal != "session:"+id) {
					t.Errorf("ended %+v", r.crossing.gone[0])
				}
				wantError(t, r.do(http.MethodDelete, id, "", auth), http.StatusNotFound, withoutID(unknownSession))
			})
		})
	}
}

// TestExpiryEndsTasks: a session that is never used again ends like one that its
// client deletes (A-H3).
func TestExpiryEndsTasks(t *testing.T) {
	for _, tt := range []struct {
		name, authorization string
		ends                int
	}{
		{"A-H3 tasks of a session without a credential die with it", "", 1},
		{"A-H3 tasks of a principal stay", "Bearer a", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				auth := "Authorization: " + tt.authorization
				id := r.open(auth)
				r.post(id, call("1", "tools/list"), auth)
				time.Sleep(2 * idle)
				synctest.Wait()
				if _, _, ends := r.crossing.counts(); ends != tt.ends {
					t.Errorf("ended %d times, want %d", ends, tt.ends)
				}
				if tt.ends > 0 && (r.crossing.gone[0].Session != id || r.crossing.gone[0].Principal != "session:"+id) {
					t.Errorf("ended %+v", r.crossing.gone[0])
				}
			})
		})
	}
}

// TestIdleExpiry: what a session has open keeps it alive, in this process and in
// the store (A-L12).
func TestIdleExpiry(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begin func(r *rig, id string) (end func())
	}{
		{"A-L12 a silent stream", func(r *rig, id string) func() {
			s := r.stream(http.MethodGet, id, "")
			go func() {
				for {
					if _, err := s.lines.ReadString('\n'); err != nil {
						return
					}
				}
			}()
			return s.hangUp
		}},
		{"A-L12 a stream that is never silent", func(r *rig, id string) func() {
			s := r.stream(http.MethodGet, id, "")
			push := r.crossing.subs[0].Push
			stop := make(chan struct{})
			go func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Second):
						push("tools", note(fmt.Sprint(i)))
						s.next()
					}
				}
			}()
			return func() { close(stop); synctest.Wait(); s.hangUp() }
		}},
		{"A-L12 a call in flight", func(r *rig, id string) func() {
			release := make(chan struct{})
			r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
				<-release
				return port.Outcome{Result: "{}"}
			})
			done := r.background(id, call("1", "tools/call"), "Accept: application/json")
			return func() { close(release); <-done }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				end := tt.begin(r, id)
				time.Sleep(5*idle + time.Minute)
				end()
				time.Sleep(idle - time.Minute)
				if a := r.post(id, call("2", "tools/list")); a.status != http.StatusOK {
					t.Errorf("after the end and almost the idle time: %d %s", a.status, a.body)
				}
				time.Sleep(2 * idle)
				if a := r.post(id, call("3", "tools/list")); a.status != http.StatusNotFound {
					t.Errorf("after twice the idle time: %d %s", a.status, a.body)
				}
				if attached, detached, _ := r.crossing.counts(); attached != detached {
					t.Errorf("attached %d, detached %d", attached, detached)
				}
			})
		})
	}
}

// countingStore counts writes.
type countingStore struct {
	state.Store
	puts atomic.Int64
}

// Put implements [state.Store].
func (s *countingStore) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	s.puts.Add(1)
	return s.Store.Put(ctx, rec, cond)
}

// TestUseKeepsAlive: a session in use lives on, and is written once in a quarter
// of the idle time.
func TestUseKeepsAlive(t *testing.T) {
	store := new(countingStore)
	bubble(t, func(o *legacy.Options) { store.Store, o.Store = o.Store, store }, func(t *testing.T, r *rig) {
		id := r.open()
		for range 99 {
			time.Sleep(idle / 10)
			if a := r.post(id, call("1", "ping")); a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		if n := store.puts.Load(); n != 2+33 {
			t.Errorf("%d writes in 99 tenths of the idle time, want one in three, and one each for its beginning and its first use", n)
		}
	})
}

// TestEndedElsewhere: a session that another process has deleted loses its
// streams here.
func TestEndedElsewhere(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		s := r.stream(http.MethodGet, id, "")
		other := newRig(t, func(o *legacy.Options) { o.Store = r.store })
		if a := other.do(http.MethodDelete, id, ""); a.status != http.StatusNoContent {
			t.Fatalf("%d %s", a.status, a.body)
		}
		event := s.next()
		for event == keepAlive {
			event = s.next()
		}
		if event != "EOF" {
			t.Errorf("event %q, want the end", event)
		}
		if _, detached, _ := r.crossing.counts(); detached != 1 {
			t.Errorf("detached %d times", detached)
		}
	})
}

// TestRestart: sessions outlive the process (DESIGN "Nothing accepted is lost").
func TestRestart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.post(id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ore://1"}}`)
		if err := r.face.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := newRig(t, func(o *legacy.Options) { o.Store = r.store })
		s := again.stream(http.MethodGet, id, "")
		if d := cmp.Diff([]string{"ore://1"}, again.crossing.subs[0].Resources); d != "" {
			t.Errorf("resources: %s", d)
		}
		s.want(keepAlive)
	})
}

// TestConcurrentChanges: changes of one session at the same time do not undo each
// other.
func TestConcurrentChanges(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		const n = 20
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				method := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"ore://%d"}}`, i, i)
				if a := r.post(id, method); a.status != http.StatusOK || strings.Contains(a.body, "error") {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
		group.Go(func() {
			r.post(id, `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"error"}}`)
		})
		group.Wait()
		r.post(id, `{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"ore://7"}}`)
		r.post(id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ore://3"}}`) // again
		again := newRig(t, func(o *legacy.Options) { o.Store = r.store })
		again.stream(http.MethodGet, id, "")
		sub := again.crossing.subs[0]
		if len(sub.Resources) != n-1 || sub.Caller.LogLevel != "error" {
			t.Errorf("%d resources, level %q", len(sub.Resources), sub.Caller.LogLevel)
		}
	})
}

// TestRefusedChangesAreNotKept: only what the crossing accepted changes the
// session.
func TestRefusedChangesAreNotKept(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		refuse := func(context.Context, *port.Exchange) port.Outcome { return port.Fail(context.Canceled) }
		r.crossing.on("resources/subscribe", refuse)
		r.crossing.on("logging/setLevel", refuse)
		r.post(id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ore://1"}}`)
		r.post(id, `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`)
		again := newRig(t, func(o *legacy.Options) { o.Store = r.store })
		again.stream(http.MethodGet, id, "")
		if sub := again.crossing.subs[0]; len(sub.Resources) != 0 || sub.Caller.LogLevel != "" {
			t.Errorf("kept %v and %q", sub.Resources, sub.Caller.LogLevel)
		}
	})
}
