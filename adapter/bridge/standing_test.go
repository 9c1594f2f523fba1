package bridge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// says makes the backend say something outside of every exchange.
func (d *down) says(holder func(jsonrpc.Message), msg string) {
	d.t.Helper()
	read, err := jsonrpc.Read([]byte(msg))
	if err != nil {
		d.t.Fatal(err)
	}
	d.cross.Hear(bridge.Heard{Backend: "basalt", Session: d.session, Holder: func() func(jsonrpc.Message) { return holder }, Message: read})
}

// TestUnasked: what a backend asks when there is no call to ask it in is refused at
// once; only roots, which servers like to know early, wait for one (B-U7, B-U9).
func TestUnasked(t *testing.T) {
	downgrade(t, func(d *down) {
		t := d.t
		for _, tt := range []struct{ rule, method, want string }{
			{"B-U9", "sampling/createMessage", `"id":1,"error":{"code":-32602`},
			{"B-U9", "elicitation/create", `"id":1,"error":{"code":-32602`},
			{"B-U7", "tasks/get", `"id":1,"error":{"code":-32601`},
			{"B-U7", "vendor/thing", `"id":1,"error":{"code":-32601`},
		} {
			d.says(nil, `{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`"}`)
			if said := d.session.heard(); len(said) != 1 || !strings.Contains(said[0], tt.want) {
				t.Errorf("%s %s: %q", tt.rule, tt.method, said)
			}
		}
		d.says(nil, `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
		time.Sleep(2*time.Second - time.Millisecond)
		if said := d.session.heard(); len(said) != 0 {
			t.Errorf("B-U9 too early: %q", said)
		}
		time.Sleep(time.Millisecond)
		if said := d.session.heard(); len(said) != 1 || !strings.Contains(said[0], `"id":2,"error":{"code":-32603`) {
			t.Errorf("B-U9 roots: %q", said)
		}
		for range 20 {
			d.says(nil, `{"jsonrpc":"2.0","id":3,"method":"roots/list"}`)
		}
		if said := d.session.heard(); len(said) != 4 {
			t.Errorf("B-U9 %d refused, want those beyond 16", len(said))
		}
	})
}

// TestHeldRoots: roots that were asked for early are asked in the next call (B-U9).
func TestHeldRoots(t *testing.T) {
	downgrade(t, func(d *down) {
		t := d.t
		d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
			if call.Method == "tools/list" {
				return `{"tools":[]}`, nil
			}
			<-ctx.Done()
			return "", ctx.Err()
		}
		d.says(nil, `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
		time.Sleep(time.Second)
		out, _ := d.request(t.Context(), "tools/call", `{"name":"dig",`+novaMeta+`}}`, `{"roots":{}}`)
		if got := out.Result.Get("inputRequests"); got != `{"roots-1":{"method":"roots/list"}}` {
			t.Errorf("B-U9 asked %s %v", got, out.Err)
		}
		time.Sleep(2 * time.Second)
		if said := d.session.heard(); len(said) != 0 {
			t.Errorf("B-U9 it was refused all the same: %q", said)
		}
	})
}

// TestHeldTooLate: roots that were asked for while a call was about to take the session
// are asked in that call (B-U9).
func TestHeldTooLate(t *testing.T) {
	downgrade(t, func(d *down) {
		looks := 0
		var got []string
		d.cross.Hear(bridge.Heard{
			Backend: "basalt", Session: d.session, Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "roots/list"},
			Holder: func() func(jsonrpc.Message) {
				if looks++; looks == 1 {
					return nil
				}
				return func(msg jsonrpc.Message) { got = append(got, msg.Method) }
			},
		})
		if !slices.Equal(got, []string{"roots/list"}) {
			d.t.Errorf("B-U9 the call heard %q", got)
		}
		time.Sleep(time.Minute)
		if said := d.session.heard(); len(said) != 0 {
			d.t.Errorf("B-U9 it was refused all the same: %q", said)
		}
	})
}

// TestHeldWithdrawn: a question that is taken back is answered no more (§1.7).
func TestHeldWithdrawn(t *testing.T) {
	downgrade(t, func(d *down) {
		d.says(nil, `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
		d.says(nil, `{"jsonrpc":"2.0","id":3,"method":"roots/list"}`)
		d.says(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		time.Sleep(time.Minute)
		if said := d.session.heard(); len(said) != 1 || !strings.Contains(said[0], `"id":3,`) {
			d.t.Errorf("§1.7 answered %q", said)
		}
	})
}

// TestHolder: what a backend asks aside belongs to the only call that may be asked
// something (B-U6). Messages are not: see TestLogAttribution.
func TestHolder(t *testing.T) {
	downgrade(t, func(d *down) {
		t := d.t
		var got []string
		holder := func(msg jsonrpc.Message) { got = append(got, msg.Method) }
		d.says(holder, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`)
		d.says(holder, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		d.says(holder, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		d.says(holder, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		if want := []string{"elicitation/create", "notifications/cancelled"}; !slices.Equal(got, want) {
			t.Errorf("B-U6 the call heard %q, want %q", got, want)
		}
	})
}

// TestProgressAside: progress is known by its token, on whatever stream it comes.
func TestProgressAside(t *testing.T) {
	downgrade(t, func(d *down) {
		t := d.t
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			for _, token := range []wire.Value{call.Params.Get("_meta").Get("progressToken"), `"1"`, `99`} {
				d.says(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(token)+`,"progress":1}}`) //nolint:contextcheck // a server has none
			}
			return `{"prompts":[]}`, nil
		}
		_, sent := d.request(t.Context(), "prompts/list", `{`+novaMeta+`,"progressToken":"t"}}`, `{}`)
		if want := []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`}; !slices.Equal(sent, want) {
			t.Errorf("G-9 sent %q", sent)
		}
		d.says(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`)
		synctest.Wait()
		if len(sent) != 1 {
			t.Errorf("G-9 progress after the end: %q", sent)
		}
	})
}

// TestProgressElsewhere: tokens can be guessed, but what is said in another session,
// maybe of another backend, is not about the request (G-9, G-12).
func TestProgressElsewhere(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			d.cross.Hear(bridge.Heard{Backend: "quarry", Session: &session{}, Message: jsonrpc.Message{ //nolint:contextcheck // a server has none
				Kind: jsonrpc.KindNotification, Method: "notifications/progress",
				Params: `{"progressToken":` + call.Params.Get("_meta").Get("progressToken") + `,"progress":1,"message":"forged"}`,
			}})
			return `{"prompts":[]}`, nil
		}
		if _, sent := d.request(d.t.Context(), "prompts/list", `{`+novaMeta+`,"progressToken":"t"}}`, `{}`); len(sent) > 0 {
			d.t.Errorf("G-9 another session's progress was told: %q", sent)
		}
	})
}

const regional = `{"tools":[{"name":"dig","inputSchema":{"type":"object","properties":{"site":{"type":"string","x-mcp-header":"Site"},"depth":{"type":"integer","x-mcp-header":"Depth"}}}}]}`

// TestCheckParams: the headers that mirror a call's arguments have to say what the
// arguments say, as the backend's own schema asks (Q15, §3.8).
func TestCheckParams(t *testing.T) {
	downgrade(t, func(d *down) {
		t := d.t
		lists := 0
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			lists++
			return regional, nil
		}
		check := func(params string, header map[string][]string) error {
			return d.cross.CheckParams(t.Context(), &port.Exchange{
				Backend: "basalt", Caller: port.Caller{Principal: "p", Capabilities: `{}`},
				Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "tools/call", Params: wire.Value(params)},
			}, func(name string) []string { return header[name] })
		}
		const site, depth = "Mcp-Param-Site", "Mcp-Param-Depth"
		for _, tt := range []struct {
			name, params string
			header       map[string][]string
			ok           bool
		}{
			{"right", `{"name":"dig","arguments":{"site":"east","depth":42}}`, map[string][]string{site: {"east"}, depth: {"42.0"}}, true},
			{"encoded", `{"name":"dig","arguments":{"site":"öst"}}`, map[string][]string{site: {"=?base64?w7ZzdA==?="}}, true},
			{"missing", `{"name":"dig","arguments":{"site":"east"}}`, nil, false},
			{"unequal", `{"name":"dig","arguments":{"site":"east"}}`, map[string][]string{site: {"west"}}, false},
			{"twice", `{"name":"dig","arguments":{"site":"east"}}`, map[string][]string{site: {"east", "east"}}, false},
			{"bad sentinel", `{"name":"dig","arguments":{"site":"east"}}`, map[string][]string{site: {"=?base64?zz?="}}, false},
			{"of nothing", `{"name":"dig","arguments":{}}`, map[string][]string{site: {"east"}}, false},
			{"none asked for", `{"name":"dig","arguments":{}}`, map[string][]string{"Mcp-Param-Other": {"x"}}, true},
			{"unknown tool", `{"name":"fly","arguments":{"site":"east"}}`, nil, true},
		} {
			err := check(tt.params, tt.header)
			var status *port.StatusError
			if mismatch := errors.As(err, &status) && status.Status == 400 && status.Err.Code == -32020; (err == nil) != tt.ok || !tt.ok && !mismatch {
				t.Errorf("§3.8 %s: %v", tt.name, err)
			}
		}
		if lists != 1 {
			t.Errorf("B-T1 the tools were listed %d times, want once", lists)
		}
		d.says(nil, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		if err := check(`{"name":"fly"}`, nil); err != nil || lists != 2 {
			t.Errorf("B-T1 after a change: %v, listed %d times, want twice", err, lists)
		}
	})
}
