package bridge_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// subscriber is a modern client that has subscribed to something.
type subscriber struct {
	stream

	cancel context.CancelCauseFunc
	ended  chan port.Outcome
	mu     sync.Mutex
	told   []string
}

func (s *subscriber) Send(msg []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, string(msg))
	return nil
}

// got returns and forgets what the client was told.
func (s *subscriber) got() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	s.told = nil
	return told
}

// listen subscribes to what the params say.
func (d *down) listen(id, notifications string, tasks bool) *subscriber {
	ctx, cancel := context.WithCancelCause(d.t.Context())
	s := &subscriber{cancel: cancel, ended: make(chan port.Outcome, 1)}
	go func() {
		s.ended <- d.cross.Request(ctx, &port.Exchange{
			Backend: "basalt", Stream: s,
			Caller:  port.Caller{Principal: "p", Version: "2026-07-28", Capabilities: `{}`, Authorization: "Bearer n", Tasks: tasks},
			Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: jsonrpc.ID(id), Method: "subscriptions/listen", Params: wire.Value(`{"notifications":` + notifications + `,` + novaMeta + `}}`)},
		})
	}()
	return s
}

// announces has the backend say something on the session's standing stream.
func (d *down) announces(method, params string) {
	d.cross.Hear(bridge.Heard{Backend: "basalt", Session: d.session, Message: jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: method, Params: wire.Value(params)}})
}

const listening = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"basalt","version":"1"}}`

// TestDowngradeListen is B52: what is honoured, acknowledged and told (§3.5 B).
func TestDowngradeListen(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.about = listening
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			if call.Params == `{"uri":"ore://no"}` {
				return "", jsonrpc.NewError(-32602, "no such")
			}
			return `{}`, nil
		}
		s := d.listen("77", `{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["ore://1","ore://no"]}`, false)
		ack := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["ore://1"]},"_meta":{"io.modelcontextprotocol/subscriptionId":77}}}`
		if got := s.got(); !slices.Equal(got, []string{ack}) {
			t.Errorf("told %q\nwant %q", got, ack)
		}
		for _, call := range d.session.calls {
			if call.Method != "resources/subscribe" || call.Authorization != "Bearer n" {
				t.Errorf("the backend was asked %s %s", call.Method, call.Params)
			}
		}
		if lease := d.leases[0]; lease.Exclusive || lease.Owner != "owner of p" {
			t.Errorf("leased with %+v", lease)
		}
		other := d.listen(`"77"`, `{"toolsListChanged":true}`, false)
		other.got()
		d.announces("notifications/resources/updated", `{"uri":"ore://1","_meta":{"io.modelcontextprotocol/subscriptionId":"forged","x":1}}`)
		d.announces("notifications/resources/updated", `{"uri":"ore://no"}`)
		d.announces("notifications/resources/updated", `{}`)
		d.announces("notifications/prompts/list_changed", "")
		d.announces("notifications/message", `{"level":"error","data":1}`)
		d.announces("notifications/progress", `{"progressToken":1,"progress":1}`)
		d.announces("notifications/tools/list_changed", "")
		const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"ore://1","_meta":{"io.modelcontextprotocol/subscriptionId":77,"x":1}}}`,
			changed + `77}}}`,
		}
		if got := s.got(); !slices.Equal(got, want) {
			t.Errorf("told %q\nwant %q", got, want)
		}
		if got := other.got(); !slices.Equal(got, []string{changed + `"77"}}}`}) {
			t.Errorf("the other one was told %q", got)
		}
		s.cancel(port.ErrDraining)
		result := wire.Value(`{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"basalt","version":"1"},"io.modelcontextprotocol/subscriptionId":77}}`)
		if out := <-s.ended; compact(t, string(out.Result)) != compact(t, string(result)) {
			t.Errorf("B64: ended with %s %v", out.Result, out.Err)
		}
		other.cancel(context.Canceled)
		<-other.ended
		synctest.Wait()
		if last := d.session.calls[len(d.session.calls)-1]; last.Method != "resources/unsubscribe" || last.Params != `{"uri":"ore://1"}` {
			t.Errorf("at last the backend was asked %s %s", last.Method, last.Params)
		}
		if d.session.released != 2 {
			t.Errorf("released %d times", d.session.released)
		}
	})
}

// TestDowngradeListenOnAnyStream: what a backend says of changes counts on whatever
// stream it says it.
func TestDowngradeListenOnAnyStream(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.about = listening
		s := d.listen("77", `{"toolsListChanged":true}`, false)
		s.got()
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			if call.Method == "prompts/list" {
				call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/tools/list_changed"})
			}
			return `{"prompts":[]}`, nil
		}
		if _, sent := d.request(d.t.Context(), "prompts/list", `{`+novaMeta+`}}`, `{}`); len(sent) != 0 {
			t.Errorf("the request was told %q", sent)
		}
		if got := s.got(); len(got) != 1 || !strings.Contains(got[0], "tools/list_changed") {
			t.Errorf("told %q", got)
		}
		s.cancel(context.Canceled)
		<-s.ended
	})
}

// TestDowngradeListenRefused: what is no subscription, or not to be had (§3.5 B 1, B51).
func TestDowngradeListenRefused(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.about = listening
		for _, tt := range []struct {
			notifications string
			code          int64
			status        int
			message       string
		}{
			{`{"taskIds":["h.LT1"]}`, -32021, http.StatusBadRequest, "Missing required client capability"},
			{`{"taskIds":7,"toolsListChanged":7}`, -32021, http.StatusBadRequest, "Missing required client capability"},
			{`{"toolsListChanged":"yes"}`, -32602, 0, "params.notifications.toolsListChanged"},
			{`{"resourceSubscriptions":["a",1]}`, -32602, 0, "params.notifications.resourceSubscriptions[1]"},
			{`[]`, -32602, 0, "params.notifications"},
		} {
			s := d.listen("77", tt.notifications, false)
			out := <-s.ended
			var status *port.StatusError
			got := 0
			if errors.As(out.Err, &status) {
				got = status.Status
			}
			if e := port.RPCError(out.Err); e.Code != tt.code || got != tt.status || !strings.Contains(e.Message, tt.message) {
				t.Errorf("%s: HTTP %d %v", tt.notifications, got, e)
			}
			if told := s.got(); len(told) != 0 || len(d.leases) != 0 {
				t.Errorf("%s: told %q, leased %d sessions", tt.notifications, told, len(d.leases))
			}
		}
		d.refuse = jsonrpc.NewError(-32002, "closed")
		s := d.listen("77", `{}`, true)
		if out := <-s.ended; port.RPCError(out.Err).Code != -32602 && port.RPCError(out.Err).Code != -32603 {
			t.Errorf("told %v", out.Err)
		}
	})
}

// TestDowngradeListenMissed: where changes may have been missed, everything may have
// changed (Q26).
func TestDowngradeListenMissed(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.about = "" // resumed: what it does not say counts as offered
		d.session.do = func(context.Context, port.SessionCall) (wire.Value, error) { return `{}`, nil }
		d.session.missed = make(chan struct{})
		s := d.listen("77", `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["ore://1"]}`, false)
		if got := s.got(); len(got) != 1 || !strings.Contains(got[0], `"params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["ore://1"]}`) {
			t.Errorf("told %q", got)
		}
		missed := d.session.missed
		d.session.missed = nil
		close(missed)
		const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":77}}}`
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta,
			`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{` + meta,
			`{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{` + meta,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"ore://1",` + meta,
		}
		if got := s.got(); !slices.Equal(got, want) {
			t.Errorf("told %q\nwant %q", got, want)
		}
		d.announces("notifications/tools/list_changed", `{"_meta":7}`)
		if got := s.got(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
		s.cancel(context.Canceled)
		<-s.ended
	})
}

// TestDiscoverWithoutStandingStream: what cannot be told of is not offered (§2.3).
func TestDiscoverWithoutStandingStream(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.about = listening
		for _, tt := range []struct {
			none bool
			want string
		}{
			{false, `{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{}}`},
			{true, `{"tools":{},"prompts":{},"resources":{},"logging":{}}`},
		} {
			d.session.none = tt.none
			out, _ := d.request(d.t.Context(), "server/discover", `{`+novaMeta+`}}`, `{}`)
			if got := out.Result.Get("capabilities"); string(got) != tt.want {
				t.Errorf("discovered %s %v", got, out.Err)
			}
		}
	})
}
