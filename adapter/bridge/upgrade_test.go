package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// params of requests that need some.
var params = map[string]wire.Value{
	"tools/call":             `{"name":"sieve"}`,
	"prompts/get":            `{"name":"brief"}`,
	"resources/read":         `{"uri":"vein://1"}`,
	"resources/subscribe":    `{"uri":"vein://1"}`,
	"resources/unsubscribe":  `{"uri":"vein://1"}`,
	"logging/setLevel":       `{"level":"info"}`,
	"completion/complete":    `{"ref":{"type":"ref/prompt","name":"brief"},"argument":{"name":"a","value":"b"}}`,
	"tasks/get":              `{"taskId":"t"}`,
	"tasks/result":           `{"taskId":"t"}`,
	"tasks/cancel":           `{"taskId":"t"}`,
	"elicitation/create":     `{"message":"?"}`,
	"sampling/createMessage": `{"messages":[]}`,
}

// results of requests that need more than a type.
var results = map[string]wire.Value{
	"tools/list":               `{"resultType":"complete","tools":[]}`,
	"prompts/list":             `{"resultType":"complete","prompts":[]}`,
	"resources/list":           `{"resultType":"complete","resources":[]}`,
	"resources/templates/list": `{"resultType":"complete","resourceTemplates":[]}`,
	"tools/call":               `{"resultType":"complete","content":[]}`,
	"prompts/get":              `{"resultType":"complete","messages":[]}`,
	"resources/read":           `{"resultType":"complete","contents":[]}`,
	"completion/complete":      `{"resultType":"complete","completion":{"values":[]}}`,
}

// TestMethods: what the crossing does with a method is what the table of the
// translation says (§3.2). Methods of tasks and subscriptions need those, and are
// proved by conversations; ping never comes here (§1.3).
func TestMethods(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]bool{
		"ping": true, "tasks/get": true, "tasks/result": true, "tasks/list": true, "tasks/cancel": true,
		"resources/subscribe": true, "resources/unsubscribe": true,
	}
	for _, row := range mapping.Table() {
		if row.Notification || elsewhere[row.Method] {
			continue
		}
		t.Run(row.Rule+" "+row.Method, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.do = func(int, port.Call) (wire.Value, error) { return results[row.Method], nil }
			out := r.request(t, row.Method, params[row.Method])
			refused := port.IsCode(out.Err, jsonrpc.CodeMethodNotFound)
			switch {
			case row.ToModern == mapping.Refused || row.Legacy&mapping.FromClient == 0:
				if !refused || len(r.back.calls) > 0 {
					t.Errorf("outcome %v, %d calls; want a refusal and none", out.Err, len(r.back.calls))
				}
			case row.ToModern == mapping.Synthesized:
				if out.Err != nil || len(r.back.calls) > 0 {
					t.Errorf("outcome %v, %d calls; want an answer and none", out.Err, len(r.back.calls))
				}
			default:
				if out.Err != nil || len(r.back.calls) != 1 || r.back.calls[0].Method != row.Method {
					t.Errorf("outcome %v, calls %v; want one of the same name", out.Err, r.back.calls)
				}
			}
		})
	}
}

func TestUnknownMethodIsForwarded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.back.do = func(int, port.Call) (wire.Value, error) { return `{"resultType":"complete","x":1.0}`, nil }
	if out := r.request(t, "com.acme/dig", ""); out.Err != nil || out.Result != `{"x":1.0}` {
		t.Errorf("§1.3 outcome %v", out)
	}
}

func TestUnknownBackend(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	x, _ := exchange("tools/list", "")
	x.Backend = "elsewhere"
	if out := r.upgrade.Request(t.Context(), x); !port.IsCode(out.Err, jsonrpc.CodeInternal) || len(r.back.calls) > 0 {
		t.Errorf("outcome %v", out)
	}
	if _, err := r.modern.GetTask(t.Context(), "elsewhere", legacyCaller, "t"); err == nil {
		t.Error("a task of an unknown backend was found")
	}
	if _, err := r.modern.Listen(t.Context(), "elsewhere", legacyCaller, port.ChangeFilter{Tools: true}); err == nil {
		t.Error("an unknown backend was subscribed to")
	}
	if _, _, err := r.modern.Offered(t.Context(), "elsewhere", legacyCaller); err == nil {
		t.Error("an unknown backend offers something")
	}
	// Its tasks are rendered all the same, for those that are left.
	if r.modern.Dialect("elsewhere") == nil {
		t.Error("no dialect")
	}
}

// TestEnvelope: what a backend is told of the caller (A-U1, A-C1, §2.2).
func TestEnvelope(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*port.Exchange)
		drive  bool
		want   wire.Value
	}{
		{"A-C1 what the client can be asked", func(*port.Exchange) {}, false, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}},"roots":{}}}`},
		{"A-T12 plain calls are driven", func(*port.Exchange) {}, true, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`},
		{"§3.4 a level", func(x *port.Exchange) { x.Caller.LogLevel = "error" }, false, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}},"roots":{}},"io.modelcontextprotocol/logLevel":"error"}`},
		{"§2.2 what is copied", func(x *port.Exchange) {
			x.Caller.Capabilities = `{"experimental":{"b":1.0,"a":2},"com.acme/x":{},"tasks":{"list":{}},"extensions":{"com.acme/y":{"z":1},"io.modelcontextprotocol/tasks":{}}}`
		}, false, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"experimental":{"b":1.0,"a":2},"com.acme/x":{},"extensions":{"com.acme/y":{"z":1}}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.backend.DrivePlain = tt.drive
			r.back.do = func(int, port.Call) (wire.Value, error) { return results["tools/call"], nil }
			x, _ := exchange("tools/call", `{"name":"sieve"}`)
			tt.change(x)
			if out := r.upgrade.Request(t.Context(), x); out.Err != nil {
				t.Fatal(out.Err)
			}
			call := r.back.calls[0]
			if got := call.Params.Get("_meta"); got != tt.want || call.Authorization != "Bearer a" {
				t.Errorf("%s, Authorization %q\nwant %s", got, call.Authorization, tt.want)
			}
		})
	}
}

// TestInsistingToolsAreKeptApart: A-T15 remembers backend and tool, and only what
// has really insisted.
func TestInsistingToolsAreKeptApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	missing := &jsonrpc.Error{Code: -32021, Message: "m", Data: `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`}
	r.back.do = func(_ int, call port.Call) (wire.Value, error) {
		declared := strings.Contains(string(call.Params), wire.TasksExtension)
		name, _ := call.Params.Get("name").Text()
		switch {
		case name == "never":
			return "", missing
		case name == "picky" && !declared:
			return "", missing
		case name == "other" && !declared:
			return "", &jsonrpc.Error{Code: -32021, Message: "m", Data: `{"requiredCapabilities":{"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`}
		}
		return results["tools/call"], nil
	}
	for _, tt := range []struct {
		tool  string
		calls int
		ok    bool
	}{
		{"picky", 2, true},
		{"picky", 1, true},
		{"plain", 1, true},
		// More than the extension is missing: there is nothing to add.
		{"other", 1, false},
		{"other", 1, false},
		// It insists although it was declared: that ends there.
		{"never", 2, false},
		{"never", 1, false},
	} {
		before := len(r.back.calls)
		out := r.request(t, "tools/call", `{"name":"`+wire.Value(tt.tool)+`"}`)
		if calls := len(r.back.calls) - before; calls != tt.calls || (out.Err == nil) != tt.ok {
			t.Errorf("%s: %d calls, %v; want %d, ok %v", tt.tool, calls, out.Err, tt.calls, tt.ok)
		}
	}
}

// TestErrors: the errors of a backend as the face gets them (§1.6).
func TestErrors(t *testing.T) {
	t.Parallel()
	rpc := func(code int64, data wire.Value) *jsonrpc.Error {
		return &jsonrpc.Error{Code: code, Message: "m", Data: data}
	}
	urls := wire.Value(`{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://quarry.test/","message":"go"}]}`)
	for _, tt := range []struct {
		name, method string
		err          error
		want         *jsonrpc.Error
		status       int // that the face can still see
	}{
		{"-32700", "tools/list", rpc(-32700, `1`), rpc(-32603, `1`), 0},
		{"-32600", "tools/list", rpc(-32600, ``), rpc(-32603, ``), 0},
		{"-32601", "tools/list", rpc(-32601, ``), rpc(-32601, ``), 0},
		{"-32602", "tools/call", rpc(-32602, `1`), rpc(-32602, `1`), 0},
		{"a resource that is not there", "resources/read", rpc(-32602, `{"uri":"vein://1"}`), rpc(-32002, `{"uri":"vein://1"}`), 0},
		{"another resource", "resources/read", rpc(-32602, `{"uri":"vein://2"}`), rpc(-32602, `{"uri":"vein://2"}`), 0},
		{"-32020", "tools/list", rpc(-32020, `1`), rpc(-32603, ``), 0},
		{"-32050", "tools/list", rpc(-32050, `1`), rpc(-32603, `{"originalCode":-32050,"originalData":1}`), 0},
		{"-32042", "tools/call", rpc(-32042, urls), rpc(-32042, urls), 0},
		{"-32042 malformed", "tools/call", rpc(-32042, `{}`), rpc(-32603, ``), 0},
		{"7", "tools/list", rpc(7, `1`), rpc(7, `1`), 0},
		{"A-L17 401 without JSON-RPC", "tools/list", &port.UpstreamError{Op: "tools/list", Status: 401, Err: errors.New("x")}, &jsonrpc.Error{Code: -32603, Message: "backend answered HTTP 401"}, 401},
		{"A-L17 403 with JSON-RPC", "tools/list", &port.UpstreamError{Op: "tools/list", Status: 403, Err: rpc(-32600, `1`)}, rpc(-32603, `1`), 403},
		{"503 with JSON-RPC", "tools/list", &port.UpstreamError{Op: "tools/list", Status: 503, Err: rpc(-32099, ``)}, rpc(-32603, `{"originalCode":-32099}`), 503},
		{"not sent", "tools/call", &port.UpstreamError{Op: "tools/call", Err: errors.New("10.0.0.7 refused")}, &jsonrpc.Error{Code: -32603, Message: "backend unreachable"}, 0},
		{"A-U6 sent", "tools/call", &port.UpstreamError{Op: "tools/call", Sent: true, Err: errors.New("reset")}, &jsonrpc.Error{Code: -32603, Message: "upstream connection lost; outcome unknown"}, 0},
		{"anything else", "tools/list", errors.New("secret"), &jsonrpc.Error{Code: -32603, Message: "Internal error"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.do = func(int, port.Call) (wire.Value, error) { return "", tt.err }
			out := r.request(t, tt.method, params[tt.method])
			if got := port.RPCError(out.Err); *got != *tt.want {
				t.Errorf("%#v\nwant %#v", got, tt.want)
			}
			var upstream *port.UpstreamError
			status := 0
			if errors.As(out.Err, &upstream) {
				status = upstream.Status
			}
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
		})
	}
}

// TestURLElicitationNeedsAClient: -32042 passes only to a client that can open URLs
// and speaks the revision that has the code (§1.6).
func TestURLElicitationNeedsAClient(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*port.Caller){
		func(c *port.Caller) { c.Capabilities = `{"elicitation":{}}` },
		func(c *port.Caller) { c.Version = "2025-06-18" },
	} {
		r := newRig(t)
		r.back.do = func(int, port.Call) (wire.Value, error) {
			return "", &jsonrpc.Error{Code: -32042, Data: `{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://quarry.test/","message":"go"}]}`}
		}
		x, _ := exchange("tools/call", `{"name":"sieve"}`)
		change(&x.Caller)
		if out := r.upgrade.Request(t.Context(), x); !port.IsCode(out.Err, jsonrpc.CodeInternal) {
			t.Errorf("outcome %v", out.Err)
		}
	}
}

// TestRepeated: what is sent once more, and what that costs (§1.6, G-6).
func TestRepeated(t *testing.T) {
	t.Parallel()
	version := func(list wire.Value) *jsonrpc.Error {
		return &jsonrpc.Error{Code: -32022, Message: "m", Data: `{"supported":` + list + `}`}
	}
	for _, tt := range []struct {
		name                string
		err                 error
		calls, contradicted int
	}{
		{"-32022 that lists ours", version(`["2027-01-01","2026-07-28"]`), 2, 0},
		{"-32022 that does not", version(`["2025-11-25"]`), 1, 1},
		{"-32022 that lists nothing", version(`7`), 1, 1},
		// The call, and the list of tools twice: without it the call is hopeless.
		{"-32020", &jsonrpc.Error{Code: -32020}, 3, 0},
		{"-32603", &jsonrpc.Error{Code: -32603}, 1, 0},
		{"a broken connection", &port.UpstreamError{Sent: true, Err: errors.New("reset")}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.do = func(int, port.Call) (wire.Value, error) { return "", tt.err }
			out := r.request(t, "tools/call", `{"name":"sieve"}`)
			if out.Err == nil || len(r.back.calls) != tt.calls || r.contradicted != tt.contradicted {
				t.Errorf("%v after %d calls, contradicted %d times; want %d and %d", out.Err, len(r.back.calls), r.contradicted, tt.calls, tt.contradicted)
			}
		})
	}
}

// TestTaskErrors: errors of polls are translated before anybody waits for them,
// since a task's own error must not be (A-R1, A-E5).
func TestTaskErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		cancel       bool
		err          error
		want         int64
		contradicted int
	}{
		{"A-E1 gone", false, &jsonrpc.Error{Code: -32602}, -32602, 0},
		{"A-E5 no tasks", false, &jsonrpc.Error{Code: -32601}, -32603, 1},
		{"A-E5 more than the extension", false, &jsonrpc.Error{Code: -32021}, -32603, 1},
		{"§1.6 -32050", false, &jsonrpc.Error{Code: -32050}, -32603, 0},
		{"§4.9 no tasks/cancel", true, &jsonrpc.Error{Code: -32601}, -32601, 0},
		{"§4.9 gone", true, &jsonrpc.Error{Code: -32602}, -32602, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.do = func(int, port.Call) (wire.Value, error) { return "", tt.err }
			_, err := r.modern.GetTask(t.Context(), "quarry", legacyCaller, "tk")
			if tt.cancel {
				r.contradicted = 0
				err = r.modern.CancelTask(t.Context(), "quarry", legacyCaller, "tk")
			}
			if !port.IsCode(err, tt.want) || r.contradicted != tt.contradicted {
				t.Errorf("%v, contradicted %d times", err, r.contradicted)
			}
		})
	}
}

func TestTaskRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	caller := legacyCaller
	caller.LogLevel = "debug"
	if _, err := r.modern.GetTask(t.Context(), "quarry", caller, `t"1`); err != nil {
		t.Fatal(err)
	}
	if err := r.modern.CancelTask(t.Context(), "quarry", caller, `t"1`); err != nil {
		t.Fatal(err)
	}
	want := wire.Value(`{"taskId":"t\"1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`)
	for i, method := range []string{"tasks/get", "tasks/cancel"} {
		call := r.back.calls[i]
		if call.Method != method || call.Params != want || call.Authorization != "Bearer a" || call.OnMessage != nil {
			t.Errorf("§2.2 %s %s\nwant %s", call.Method, call.Params, want)
		}
	}
}

// TestNotifications: what the face has not consumed ends here (§1.3).
func TestNotifications(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	x, sent := exchange("notifications/com.acme/hello", `{}`)
	r.upgrade.Notification(t.Context(), x)
	if len(r.back.calls)+len(*sent) > 0 {
		t.Error("a notification went on")
	}
}
