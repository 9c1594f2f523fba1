package legacy_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

const (
	modernHere = `"error":{"code":-32600,"message":"Invalid request: this route speaks 2025-11-25; protocol 2026-07-28 is served at /modern/quarry"}}`
	claim      = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
)

func refusal(id, code, message string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return `{"jsonrpc":"2.0",` + id + `"error":{"code":` + code + `,"message":"` + message + `"}}`
}

// TestRefusedMessages: what never reaches a crossing. Each row is sent within a
// session.
func TestRefusedMessages(t *testing.T) {
	const once = "want each name only once"
	rows := []struct {
		name, body string
		header     []string
		status     int
		want       string
	}{
		{"broken JSON has no id", `{"jsonrpc":"2.0","id":1`, nil, 400, refusal("", "-32700", "Parse error: message: want one valid JSON value")},
		{"an empty body", ``, nil, 400, refusal("", "-32700", "Parse error: message: want one valid JSON value")},
		{"two messages", `{} {}`, nil, 400, refusal("", "-32700", "Parse error: message: want one valid JSON value")},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", nil, 400, refusal("", "-32700", "Parse error: message: want UTF-8 text")},
		{"never closed", strings.Repeat("[", 4000), nil, 400, refusal("", "-32700", "Parse error: message: want one valid JSON value")},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, 400, refusal("", "-32600", "Invalid request: message: want an object")},
		{"an empty batch", `[]`, nil, 400, refusal("", "-32600", "Invalid request: message: want an object")},
		{"G-2 a fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, 400, refusal("", "-32600", "Invalid request: id: want a string or an integer")},
		{"G-2 an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, 400, refusal("", "-32600", "Invalid request: id: want a string or an integer")},
		{"G-2 a request with id null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{}}`, nil, 400, refusal("", "-32600", "Invalid request: id: want a string or an integer")},
		{"no version", `{"id":1,"method":"ping"}`, nil, 400, refusal("1", "-32600", `Invalid request: jsonrpc: want \"2.0\"`)},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, nil, 400, refusal(`"a"`, "-32600", "Invalid request: message: want a method, a result or an error")},
		{"params that are an array", `{"jsonrpc":"2.0","id":0,"method":"ping","params":[]}`, nil, 400, refusal("0", "-32602", "Invalid params: params: want an object")},
		{"a result of no use", `{"jsonrpc":"2.0","id":1,"result":5}`, nil, 400, refusal("", "-32600", "Invalid request: result: want an object")},
		{"Strictness: a name twice in the envelope", `{"jsonrpc":"2.0","method":"ping","method":"ping"}`, nil, 400, refusal("", "-32600", "Invalid request: method: "+once)},
		{"Strictness: an id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, 400, refusal("", "-32600", "Invalid request: id: "+once)},
		{"Strictness: a name twice in params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}`, nil, 200, refusal("1", "-32602", "Invalid params: params.a: "+once)},
		{"Strictness: a name twice in _meta", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1,"\u0061":1}}}`, nil, 200, refusal("1", "-32602", "Invalid params: params._meta.a: "+once)},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("x", 4<<10) + `"}}`, nil, 413, refusal("", "-32600", "Invalid request: message: want at most 4096 bytes")},

		{"a modern claim in _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + claim + `}}`, nil, 400, `{"jsonrpc":"2.0","id":1,` + modernHere},
		{"a modern claim of any version", `{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}}`, nil, 400, `{"jsonrpc":"2.0","id":"x",` + modernHere},
		{"a modern claim in the header", call("1", "tools/list"), []string{"MCP-Protocol-Version: 2026-07-28"}, 400, `{"jsonrpc":"2.0","id":1,` + modernHere},
		{"a modern claim of a notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + claim + `}}`, nil, 400, `{"jsonrpc":"2.0",` + modernHere},
		{"a modern claim of a notification, in the header", initialized, []string{"MCP-Protocol-Version: 2026-07-28"}, 400, `{"jsonrpc":"2.0",` + modernHere},
		{"a modern claim of an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{"MCP-Protocol-Version: 2026-07-28"}, 400, `{"jsonrpc":"2.0",` + modernHere},
		{"a modern claim of initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + claim + `,"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`, []string{"Mcp-Session-Id:"}, 400, `{"jsonrpc":"2.0","id":1,` + modernHere},
		{"a modern claim of initialize, in the header", initialize, []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Session-Id:"}, 400, `{"jsonrpc":"2.0","id":0,` + modernHere},
		{"a modern claim comes before the session", call("1", "server/discover"), []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Session-Id:"}, 400, `{"jsonrpc":"2.0","id":1,` + modernHere},

		{"A-L13 an unknown version", call("1", "tools/list"), []string{"MCP-Protocol-Version: 2024-11-05"}, 400, refusal("1", "-32600", "Invalid request: MCP-Protocol-Version: unsupported version; this route speaks [2025-11-25 2025-06-18 2025-03-26]")},
		{"A-L14 a client that takes neither", call("1", "tools/list"), []string{"Accept: text/html"}, 406, refusal("", "-32600", "Invalid request: Accept: want application/json or text/event-stream")},
		{"A-L14 a weight of nothing", call("1", "tools/list"), []string{"Accept: */*;q=0"}, 406, refusal("", "-32600", "Invalid request: Accept: want application/json or text/event-stream")},
		{"A-L14 a body of another type", call("1", "tools/list"), []string{"Content-Type: text/plain"}, 415, refusal("", "-32600", "Invalid request: Content-Type: want application/json")},
		{"A-L14 a body of no type", call("1", "tools/list"), []string{"Content-Type:"}, 415, refusal("", "-32600", "Invalid request: Content-Type: want application/json")},
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				wantError(t, r.post(id, tt.body, tt.header...), tt.status, tt.want)
				if len(r.crossing.requests) != 1 || len(r.crossing.notes) != 0 {
					t.Error("the message reached the crossing")
				}
			})
		})
	}
}

// TestAcceptedRequests: what a client may do without being refused.
func TestAcceptedRequests(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header []string
	}{
		{"A-L13 no version", nil},
		{"A-L13 the negotiated version", []string{"MCP-Protocol-Version: 2025-11-25"}},
		{"A-L13 another legacy version", []string{"MCP-Protocol-Version: 2025-03-26"}},
		{"A-L14 no Accept", []string{"Accept:"}},
		{"A-L14 anything", []string{"Accept: */*"}},
		{"A-L14 JSON only", []string{"Accept: application/json"}},
		{"A-L14 a charset", []string{"Content-Type: application/json; charset=utf-8"}},
		{"A-L14 upper case", []string{"Content-Type: Application/JSON"}},
		{"§6.1 headers of the other era", []string{"Mcp-Method: tools/call", "Mcp-Name: x", "Mcp-Param-A: 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				wantError(t, r.post(id, call("1", "tools/list"), tt.header...), 200, `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`)
				if got := r.crossing.last().Caller.Version; got != "2025-11-25" {
					t.Errorf("served as %s, want the negotiated version", got)
				}
			})
		})
	}
}

func TestIDs(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		for _, given := range []string{`1`, `"1"`, `0`, `-7`, `9007199254740993`, `""`, `"\u00e9\ud800"`} { // G-2
			wantError(t, r.post(id, call(given, "tools/list")), 200, `{"jsonrpc":"2.0","id":`+given+`,"result":{"method":"tools/list"}}`)
		}
	})
}

func TestLocalAndForwarded(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		// §1.3: ping never reaches the backend, and its result is strictly empty.
		wantError(t, r.post(id, `{"jsonrpc":"2.0","id":7,"method":"ping"}`), 200, `{"jsonrpc":"2.0","id":7,"result":{}}`)
		if n := r.crossing.calls("ping"); n != 0 {
			t.Errorf("%d pings were forwarded", n)
		}
		body := `{"jsonrpc":"2.0", "id":8,"method":"com.acme/dig","params":{"n":1.0,"\u0061":{"b":[ ]}}}`
		r.post(id, body, "Authorization: Basic x")
		x := r.crossing.last()
		if string(x.Message.Raw) != body || x.Backend != backend || x.Caller.Authorization != "Basic x" {
			t.Errorf("the crossing got %+v", x)
		}
		for _, n := range []string{
			`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
			`{"jsonrpc":"2.0","method":"com.acme/hello"}`,
			`{"jsonrpc":"2.0","id":null,"method":"notifications/acme"}`,
			`{"jsonrpc":"2.0","id":99,"result":{}}`,
			`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"m"}}`,
			`{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`,
		} {
			if a := r.post(id, n); a.status != http.StatusAccepted || a.body != "" {
				t.Errorf("%s: %d %q, want 202 and nothing", n, a.status, a.body)
			}
		}
		want := []string{"notifications/roots/list_changed", "notifications/progress", "com.acme/hello", "notifications/acme"}
		if !slices.Equal(r.crossing.notes, want) {
			t.Errorf("notifications %v, want %v", r.crossing.notes, want)
		}
	})
}

func TestOtherHTTPMethods(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodHead} {
			a := r.do(method, id, "")
			if allow := a.header.Get("Allow"); a.status != http.StatusMethodNotAllowed || !strings.Contains(allow, "DELETE") {
				t.Errorf("%s: %d, Allow %q", method, a.status, allow)
			}
		}
		if a := r.do(http.MethodOptions, "", ""); a.status != http.StatusNoContent || a.header.Get("Allow") != "GET, POST, DELETE, OPTIONS" {
			t.Errorf("OPTIONS: %d, Allow %q", a.status, a.header.Get("Allow"))
		}
	})
}

// TestVersionHeaderOfOtherMethods: GET and DELETE are held to the same rules.
func TestVersionHeaderOfOtherMethods(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			wantError(t, r.do(method, id, "", "MCP-Protocol-Version: 2026-07-28"), 400, `{"jsonrpc":"2.0",`+modernHere)
			wantError(t, r.do(method, id, "", "MCP-Protocol-Version: x"), 400,
				refusal("", "-32600", "Invalid request: MCP-Protocol-Version: unsupported version; this route speaks [2025-11-25 2025-06-18 2025-03-26]"))
		}
		if a := r.post(id, call("1", "ping")); a.status != http.StatusOK {
			t.Errorf("the session is gone: %d", a.status)
		}
	})
}

// TestFilter: it sees the answer with its method, and what it takes away is not
// written; a client that waits for an answer still gets one.
func TestFilter(t *testing.T) {
	tune := func(o *legacy.Options) {
		o.Filter = func(method string, msg []byte) []byte {
			switch method {
			case "tools/list":
				return []byte(strings.Replace(string(msg), `"method"`, `"was"`, 1))
			case "prompts/list":
				return nil
			default:
				return msg
			}
		}
	}
	bubble(t, tune, func(t *testing.T, r *rig) {
		id := r.open()
		wantError(t, r.post(id, call("1", "tools/list")), 200, `{"jsonrpc":"2.0","id":1,"result":{"was":"tools/list"}}`)
		wantError(t, r.post(id, call("2", "prompts/list")), 200, refusal("2", "-32603", "Internal error"))
	})
}

func TestErrors(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			return port.Fail(&port.UpstreamError{Op: "tools/call", Status: 502, Err: http.ErrServerClosed})
		})
		wantError(t, r.post(id, call("1", "tools/call")), 200, refusal("1", "-32603", "backend answered HTTP 502"))
		if !strings.Contains(r.logs.String(), http.ErrServerClosed.Error()) {
			t.Error("the cause is not in the log")
		}
	})
}

// TestInflightBytes: messages that are being handled share a bound, whatever
// they announce.
func TestInflightBytes(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Budget = edge.NewBudget(5<<10, 5<<10) }, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", after(10*time.Second))
		// Of unknown length, each of these is first taken for the largest possible.
		small := r.background(id, call("1", "tools/call"), "Accept: application/json", "Transfer-Encoding: chunked")
		big := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"a":"` + strings.Repeat("x", 3<<10) + `"}}`
		large := r.background(id, big, "Accept: application/json", "Transfer-Encoding: chunked")
		a := r.post(id, strings.Replace(big, `"id":2`, `"id":3`, 1))
		wantError(t, a, http.StatusServiceUnavailable, refusal("", "-32603", "too many messages at once; try again"))
		if a := r.post(id, call("4", "ping")); a.status != http.StatusOK {
			t.Errorf("a small message: %d", a.status)
		}
		wantError(t, <-small, http.StatusOK, result1)
		wantError(t, <-large, http.StatusOK, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		r.crossing.on("tools/call", after(0))
		wantError(t, r.post(id, strings.Replace(big, `"id":2`, `"id":3`, 1)), http.StatusOK, `{"jsonrpc":"2.0","id":3,"result":{}}`)
	})
}

// TestInflightBytesOfLostCalls: a call that goes on without its client holds its
// message until it ends.
func TestInflightBytesOfLostCalls(t *testing.T) {
	big := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"a":"` + strings.Repeat("x", 3<<10) + `"}}`
	}
	full := refusal("", "-32603", "too many messages at once; try again")
	for _, tt := range []struct {
		name, version, body, response string
		left                          time.Duration
	}{
		{"before its stream", "2025-11-25", big("1"), `{"jsonrpc":"2.0","id":2,"result":{}}`, 100 * time.Millisecond},
		{"after it", "2025-11-25", big("1"), `{"jsonrpc":"2.0","id":2,"result":{}}`, time.Second},
		{"in a batch", "2025-03-26", "[" + call("0", "ping") + "," + big("1") + "]", `{"jsonrpc":"2.0","id":2,"result":{}}`, time.Second},
	} {
		t.Run("A-L18 "+tt.name, func(t *testing.T) {
			bubble(t, func(o *legacy.Options) { o.Budget = edge.NewBudget(5<<10, 5<<10) }, func(t *testing.T, r *rig) {
				id := r.openVersion(tt.version)
				r.crossing.on("tools/call", after(time.Minute))
				lost := rawRequest(t, r, http.MethodPost, id, tt.body)
				time.Sleep(tt.left)
				lost.hangUp()
				r.crossing.on("tools/call", after(0))
				wantError(t, r.post(id, big("2")), http.StatusServiceUnavailable, full)
				time.Sleep(time.Minute)
				wantError(t, r.post(id, big("2")), http.StatusOK, tt.response)
			})
		})
	}
}
