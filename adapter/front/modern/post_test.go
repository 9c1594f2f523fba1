package modern_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestShape(t *testing.T) {
	bad := func(id, text string) string { return failed(id, "-32600", "Invalid request: "+text, "") }
	const noJSON = "Parse error: message: want one valid JSON value"
	ids := []string{"0", "-7", `""`, `"1"`, "9007199254740993", `"\u00e9\ud800"`}
	var rows []row
	for _, id := range ids {
		rows = append(rows, row{"G-2 the id " + id, ask(id, "tools/list", ""), 200, served(id, "tools/list")})
	}
	run(t, append(rows, []row{
		{"G-2 a fractional id", ask("1.5", "tools/list", ""), 400, bad("", "id: want a string or an integer")},
		{"G-2 an id of null", ask("null", "tools/list", ""), 400, bad("", "id: want a string or an integer")},
		{"§6.2 a notification with an id of null", raw(`{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`), 400, bad("", "id: want a string or an integer")},
		{"G-2 an id that is an object", ask("{}", "tools/list", ""), 400, bad("", "id: want a string or an integer")},
		{"§1.8 text that is not JSON", raw(`{"jsonrpc":"2.0","id":1`), 400, failed("", "-32700", noJSON, "")},
		{"§1.8 nothing", raw(``), 400, failed("", "-32700", noJSON, "")},
		{"§1.8 two messages", raw(`{} {}`), 400, failed("", "-32700", noJSON, "")},
		{"§1.8 no UTF-8", raw("{\"method\":\"\xff\"}"), 400, failed("", "-32700", "Parse error: message: want UTF-8 text", "")},
		{"§1.8 never closed", raw(strings.Repeat("[", 4000)), 400, failed("", "-32700", noJSON, "")},
		{"B09 a batch", raw(`[{"jsonrpc":"2.0","id":18,"method":"tools/list","params":{` + meta + `}}]`), 400, bad("", "message: want an object")},
		{"B09 an empty batch", raw(`[]`), 400, bad("", "message: want an object")},
		{"B09 a result", raw(`{"jsonrpc":"2.0","id":99,"result":{"action":"accept"}}`, "MCP-Protocol-Version: 2026-07-28"), 400, bad("", "message: want no response: nothing was asked")},
		{"B09 an error", raw(`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":""}}`), 400, bad("", "message: want no response: nothing was asked")},
		{"B09 a result of no use", raw(`{"jsonrpc":"2.0","id":99,"result":5}`), 400, bad("", "result: want an object")},
		{"§1.8 no version of JSON-RPC", raw(`{"id":1,"method":"tools/list"}`), 400, bad("1", `jsonrpc: want \"2.0\"`)},
		{"§1.8 no method", raw(`{"jsonrpc":"2.0","id":"a"}`), 400, bad(`"a"`, "message: want a method, a result or an error")},
		{"§1.8 params that are an array", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`), 400, failed("1", "-32602", "Invalid params: params: want an object", "")},
		{"Strictness: a name twice in the envelope", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}`), 400, bad("", "method: "+once)},
		{"§1.8 too large", raw(`"` + strings.Repeat("x", 4<<10) + `"`), 413, bad("", "message: want at most 4096 bytes")},
		{"§1.8 a body of another type", raw(`{}`, "Content-Type: text/plain"), 415, bad("", "Content-Type: want application/json")},
		{"§1.8 a body of no type", raw(`{}`, "Content-Type:"), 415, bad("", "Content-Type: want application/json")},
		{"§1.8 parameters of the type", ask("1", "tools/list", "", "Content-Type: application/json; charset=utf-8"), 200, served("1", "tools/list")},
		{"§1.8 no Accept", ask("1", "tools/list", "", "Accept:"), 200, served("1", "tools/list")},
		{"§1.8 a weight of nothing", ask("1", "tools/list", "", "Accept: */*;q=0"), 406, bad("", "Accept: want application/json or text/event-stream")},
	}...))
}

// TestOtherHTTPMethods: there is nothing to be had but by POST (§1.6, B09).
func TestOtherHTTPMethods(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodPatch, http.MethodHead} {
			p := raw("", "Mcp-Session-Id: zzz", "Last-Event-ID: 4")
			p.method = method
			if a := r.do(p); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST" {
				t.Errorf("%s: %d, Allow %q", method, a.status, a.header.Get("Allow"))
			}
		}
		p := raw("")
		p.method = http.MethodOptions
		if a := r.do(p); a.status != http.StatusNoContent || a.header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("OPTIONS: %d, Allow %q", a.status, a.header.Get("Allow"))
		}
	})
}

// TestNotifications: none means anything here, whatever its headers say (Q37).
func TestNotifications(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		ended := r.crossing.hang("tools/call")
		s := r.background(call("1"))
		for _, method := range []string{"notifications/cancelled", "notifications/initialized", "notifications/roots/list_changed", "com.acme/x"} {
			for _, header := range []string{"MCP-Protocol-Version: 2025-11-25", "Mcp-Method: other"} {
				a := r.do(raw(`{"jsonrpc":"2.0","method":"`+method+`","params":{"requestId":1,"a":1,"a":2}}`, header))
				wantAnswer(t, a, http.StatusAccepted, "")
			}
		}
		if len(ended) != 0 || r.crossing.count() != 1 {
			t.Errorf("%d calls cancelled, %d messages passed on", len(ended), r.crossing.count())
		}
		if err := r.face.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-s
	})
}

// TestSessionsAreIgnored: what belongs to other transports is not looked at, and not
// sent (B-L1, B09).
func TestSessionsAreIgnored(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.do(ask("17", "tools/list", "", "Mcp-Session-Id: zzz", "Last-Event-ID: 4"))
		wantAnswer(t, a, 200, served("17", "tools/list"))
		for _, name := range []string{"Mcp-Session-Id", "Last-Event-Id"} {
			if got := a.header.Values(name); got != nil {
				t.Errorf("%s: %q", name, got)
			}
		}
		if x := r.crossing.last(); x.Caller.Session != "" || x.Own != nil {
			t.Error("there is a session")
		}
	})
}

// TestCaller: the client is what its request says and shows.
func TestCaller(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		const info, caps = `{"name":"nova","version":"0.9.0","x":1e2}`, `{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}`
		full := `"_meta":{` + version + `,"` + prefix + `clientInfo":` + info + `,"` + prefix + `clientCapabilities":` + caps + `,"` + prefix + `logLevel":"error"}`
		r.do(asking("1", "tools/list", "", full, "Authorization: Bearer a"))
		x := r.crossing.last()
		principal := x.Caller.Principal
		if !strings.HasPrefix(principal, "credential:") || strings.Contains(principal, "Bearer") {
			t.Errorf("principal %q", principal)
		}
		want := port.Caller{
			Principal: principal, Version: "2026-07-28", ClientInfo: info, Capabilities: caps, Tasks: true,
			LogLevel: "error", Authorization: "Bearer a",
		}
		if x.Caller != want || x.Backend != backend {
			t.Errorf("caller %+v\nwant %+v", x.Caller, want)
		}
		if got := x.Message.Params; !strings.Contains(string(got), full) {
			t.Errorf("params %s", got)
		}
		x.Push("k", note("1")) // goes nowhere
		r.do(asking("1", "tools/list", "", full, "Authorization: Bearer a"))
		if r.crossing.last().Caller.Principal != principal {
			t.Error("the same credential is another principal")
		}
		r.do(asking("1", "tools/list", "", full, "Authorization: Bearer b"))
		if r.crossing.last().Caller.Principal == principal {
			t.Error("another credential is the same principal")
		}
		r.do(ask("1", "tools/list", ""))
		if got, want := r.crossing.last().Caller, (port.Caller{Version: "2026-07-28", Capabilities: "{}"}); got != want {
			t.Errorf("caller %+v\nwant %+v", got, want)
		}
	})
}

// TestStatus: which HTTP status an error of the crossing has in a plain body (§1.6).
func TestStatus(t *testing.T) {
	rpc := func(code int64) error { return &jsonrpc.Error{Code: code, Message: "no"} }
	for _, tt := range []struct {
		name, method string
		err          error
		status       int
		code         string
	}{
		{"an error of the backend", "tools/call", rpc(-32602), 200, "-32602"},
		{"Q21 an outage", "tools/call", &port.UpstreamError{Op: "x", Status: 502, Err: context.Canceled}, 200, "-32603"},
		{"a method that only the backend knows not", "tools/call", rpc(-32601), 200, "-32601"},
		{"a vendor's method that nobody knows", "unknown/method", rpc(-32601), 404, "-32601"},
		{"a vendor's method that fails", "com.acme/dig", rpc(-32602), 200, "-32602"},
		{"a header", "tools/call", rpc(ext2026.CodeHeaderMismatch), 400, "-32020"},
		{"B31 a capability", "tools/call", rpc(ext2026.CodeMissingCapability), 400, "-32021"},
		{"a version", "tools/call", rpc(ext2026.CodeUnsupportedVersion), 400, "-32022"},
		{"one that was decided", "prompts/list", &port.StatusError{Status: 404, Err: jsonrpc.NewError(-32601, "no")}, 404, "-32601"},
		{"one that was decided badly", "prompts/list", &port.StatusError{Status: 7, Err: jsonrpc.NewError(-32601, "no")}, 200, "-32601"},
		{"malformed input", "tools/call", wire.Wrong("params.a", "b"), 200, "-32602"},
		{"anything else", "tools/call", context.DeadlineExceeded, 200, "-32603"},
	} {
		t.Run("§1.6 "+tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.crossing.on(tt.method, func(_ context.Context, x *port.Exchange) port.Outcome {
					if x.Message.ID == "2" {
						_ = x.Stream.Send(note("1"))
					}
					return port.Fail(tt.err)
				})
				p := func(id string) post { return ask(id, tt.method, `"name":"sieve"`, "Mcp-Name: sieve") }
				a := r.do(p("1"))
				if a.status != tt.status || a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, `"code":`+tt.code+",") {
					t.Errorf("answer %d %s", a.status, a.body)
				}
				if a = r.do(p("2")); a.status != 200 || !strings.Contains(a.body, event("1")+"\n\n") || !strings.Contains(a.body, `"code":`+tt.code+",") {
					t.Errorf("once a stream has begun: %d %s", a.status, a.body)
				}
				if a = r.do(p("1").with("Accept: text/event-stream")); a.status != tt.status {
					t.Errorf("to a client of streams: %d", a.status)
				}
			})
		})
	}
}

// TestCredentialRefused: a backend's refusal of the caller's credential is the
// caller's to cure (§1.6, A-L17).
func TestCredentialRefused(t *testing.T) {
	for status, challenge := range map[int]string{401: "Bearer", 403: `Bearer error="insufficient_scope"`} {
		t.Run(fmt.Sprintf("A-L17 %d", status), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.crossing.on("tools/list", func(context.Context, *port.Exchange) port.Outcome {
					return port.Fail(&port.UpstreamError{Op: "tools/list", Status: status, Err: context.Canceled})
				})
				a := r.do(ask("1", "tools/list", ""))
				wantAnswer(t, a, status, failed("1", "-32603", fmt.Sprintf("backend answered HTTP %d", status), ""))
				if got := a.header.Get("WWW-Authenticate"); got != challenge {
					t.Errorf("challenge %q", got)
				}
				r.crossing.on("tools/list", func(context.Context, *port.Exchange) port.Outcome {
					return port.Fail(&port.UpstreamError{Op: "tools/list", Status: status, Scope: "files:read", Err: context.Canceled})
				})
				kind := map[int]string{401: "invalid_token", 403: "insufficient_scope"}[status]
				want := `Bearer error="` + kind + `", scope="files:read", resource_metadata="https://bridge.example/meta"`
				if got := r.do(ask("1", "tools/list", "", "Authorization: Bearer a", "X-Verified: s")).header.Get("WWW-Authenticate"); got != want {
					t.Errorf("challenge %q, want %q", got, want)
				}
			})
		})
	}
}

// TestFilter: everything a crossing lets go is looked at once more.
func TestFilter(t *testing.T) {
	filter := func(method string, msg []byte) []byte {
		switch {
		case method != "tools/call":
			return nil
		case strings.Contains(string(msg), `"n":7`):
			return nil
		default:
			return []byte(strings.ReplaceAll(string(msg), "bad", "good"))
		}
	}
	bubble(t, func(o *modern.Options) { o.Filter = filter }, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			for _, n := range []string{"7", `"bad"`} {
				if err := x.Stream.Send(note(n)); err != nil {
					return port.Fail(err)
				}
			}
			return port.Outcome{Result: `{"a":"bad"}`}
		})
		s := r.stream(call("1"))
		s.want(event(`"good"`), data(result("1", `{"a":"good"}`)), "EOF")
		wantAnswer(t, r.do(ask("1", "tools/list", "")), 200, failed("1", "-32603", "Internal error", ""))
	})
}

// TestFault: a fault of the bridge fails the request it happens in, and its log
// tells where it was.
func TestFault(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			var none *port.Outcome
			return *none
		})
		wantAnswer(t, r.do(call("1")), 200, failed("1", "-32603", "Internal error", ""))
		if log := r.logs.String(); !strings.Contains(log, "nil pointer dereference") || !strings.Contains(log, "post_test.go") {
			t.Errorf("log %s", log)
		}
		r.crossing.on("tools/call", after(0))
		wantAnswer(t, r.do(call("1")), 200, result("1", "{}"))
	})
}

// TestFailuresAreLogged: without payloads, and without what a client can see itself.
func TestFailuresAreLogged(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			return port.Fail(&port.UpstreamError{Op: "tools/call", Status: 502, Err: context.DeadlineExceeded})
		})
		r.do(call("1"))
		if log := r.logs.String(); !strings.Contains(log, "deadline exceeded") || strings.Contains(log, "sieve") {
			t.Errorf("log %q", log)
		}
		before := r.logs.String()
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			return port.Fail(jsonrpc.NewError(-32603, "secret"))
		})
		r.do(call("1"))
		r.do(call("1", "Mcp-Name: x"))
		if log := r.logs.String(); log != before {
			t.Errorf("log %q", log)
		}
	})
}

// TestSlowBody: a client has a minute for its message, and holds nothing after that.
func TestSlowBody(t *testing.T) {
	bubble(t, func(o *modern.Options) { o.Limits.Requests = 1 }, func(t *testing.T, r *rig) {
		conn, err := r.net.Dial(context.Background(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		go func() {
			_, _ = fmt.Fprintf(conn, "POST /modern/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", backend)
			buf := make([]byte, 1<<10)
			for err := error(nil); err == nil; {
				_, err = conn.Read(buf)
			}
		}()
		synctest.Wait()
		if a := r.do(ask("1", "tools/list", "")); a.status != http.StatusServiceUnavailable {
			t.Errorf("meanwhile: %d", a.status)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		wantAnswer(t, r.do(ask("1", "tools/list", "")), 200, served("1", "tools/list"))
	})
}
