package demo_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestLegacyHTTP(t *testing.T) {
	t.Parallel()
	l := newLegacy(t, demo.Options{})
	p := join(t, l)
	ping := message(t, 1, "ping", nil)
	for name, test := range map[string]struct {
		method string
		edit   func(*http.Request)
		status int
	}{
		"a plain request":        {edit: func(*http.Request) {}, status: 200},
		"PUT":                    {method: "PUT", edit: func(*http.Request) {}, status: 405},
		"a foreign Host":         {edit: func(r *http.Request) { r.Host = "evil.example.com" }, status: 403},
		"a foreign Origin":       {edit: header("Origin", "http://evil.example.com"), status: 403},
		"no Accept":              {edit: func(r *http.Request) { r.Header.Del("Accept") }, status: 406},
		"Accept of JSON only":    {edit: header("Accept", "application/json"), status: 406},
		"Accept of events only":  {edit: header("Accept", "text/event-stream"), status: 406},
		"GET of JSON only":       {method: "GET", edit: header("Accept", "application/json"), status: 406},
		"another Content-Type":   {edit: header("Content-Type", "text/plain"), status: 415},
		"the other era":          {edit: header("MCP-Protocol-Version", "2026-07-28"), status: 400},
		"no version":             {edit: func(r *http.Request) { r.Header.Del("MCP-Protocol-Version") }, status: 200},
		"another's version":      {edit: header("MCP-Protocol-Version", middle), status: 400},
		"no session":             {edit: func(r *http.Request) { r.Header.Del("Mcp-Session-Id") }, status: 400},
		"an unknown session":     {edit: header("Mcp-Session-Id", "nobody"), status: 404},
		"GET without a session":  {method: "GET", edit: func(r *http.Request) { r.Header.Del("Mcp-Session-Id") }, status: 400},
		"GET, unknown session":   {method: "GET", edit: header("Mcp-Session-Id", "nobody"), status: 404},
		"DELETE, no session":     {method: "DELETE", edit: func(r *http.Request) { r.Header.Del("Mcp-Session-Id") }, status: 400},
		"DELETE, unknown":        {method: "DELETE", edit: header("Mcp-Session-Id", "nobody"), status: 404},
		"a body too long":        {edit: body(`{"x":"` + strings.Repeat("x", 4<<20) + `"}`), status: 413},
		"resuming nothing":       {method: "GET", edit: header("Last-Event-ID", "77.1"), status: 400},
		"resuming nonsense":      {method: "GET", edit: header("Last-Event-ID", "x"), status: 400},
		"two session headers":    {edit: func(r *http.Request) { r.Header.Add("Mcp-Session-Id", p.session) }, status: 400},
		"an event id is ignored": {edit: header("Last-Event-ID", "1.1"), status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method := test.method
			if method == "" {
				method = http.MethodPost
			}
			r := p.request(t.Context(), method, ping)
			test.edit(r)
			rec := httptest.NewRecorder()
			l.ServeHTTP(rec, r)
			if rec.Code != test.status {
				t.Errorf("HTTP %d %s, want %d", rec.Code, rec.Body, test.status)
			}
			if allow := rec.Header().Get("Allow"); (rec.Code == 405) != (allow == "GET, POST, DELETE") {
				t.Errorf("Allow = %q", allow)
			}
			if rec.Code >= 400 && decode(t, rec.Body.String())["error"] == nil {
				t.Errorf("no error in %s", rec.Body)
			}
		})
	}
}

func TestLegacyMessage(t *testing.T) {
	t.Parallel()
	p := join(t, newLegacy(t, demo.Options{}))
	for name, test := range map[string]struct {
		body   string
		status int
		code   float64
		id     any
	}{
		"no JSON":              {`{`, 400, -32700, nil},
		"broken UTF-8":         {"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", 400, -32700, nil},
		"a number":             {`7`, 400, -32600, nil},
		"a batch":              {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, -32600, nil},
		"an empty batch":       {`[]`, 400, -32600, nil},
		"id null":              {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, -32600, nil},
		"a fraction":           {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, -32600, nil},
		"a duplicate":          {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, 400, -32600, nil},
		"no version":           {`{"id":1,"method":"ping"}`, 400, -32600, 1.0},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, 400, -32600, nil},
		"both":                 {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, 400, -32600, 1.0},
		"params of no object":  {`{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}`, 400, -32602, "a"},
		"result and error":     {`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, 400, -32600, nil},
		"a result that is not": {`{"jsonrpc":"2.0","id":1,"result":7}`, 400, -32600, nil},
		"an error without code": {
			`{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}`, 400, -32600, nil,
		},
		"an answer to nothing": {`{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600, nil},
		"unknown method":       {`{"jsonrpc":"2.0","id":9007199254740993,"method":"server/discover"}`, 200, -32601, 9007199254740993.0},
		"initialize again": {
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`,
			400, -32600, 1.0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := p.post(test.body)
			a := answer{t: t, status: rec.Code, raw: rec.Body.String(), final: decode(t, rec.Body.String())}
			a.fails(test.status, test.code)
			if id := a.final["id"]; id != test.id {
				t.Errorf("id = %v, want %v", id, test.id)
			}
		})
	}
	for _, id := range []string{`0`, `-7`, `""`, `9007199254740993`} {
		if rec := p.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`); !strings.Contains(rec.Body.String(), `"id":`+id) {
			t.Errorf("ping under %s: %s", id, rec.Body)
		}
	}
	if rec := p.post(`{"jsonrpc":"2.0","method":"notifications/unheard_of"}`); rec.Code != 202 {
		t.Errorf("an unknown notification: HTTP %d", rec.Code)
	}
}

// Spec 2025-11-25 basic/lifecycle, "Version Negotiation".
func TestLegacyInitialize(t *testing.T) {
	t.Parallel()
	l := newLegacy(t, demo.Options{})
	for asked, want := range map[string]string{
		newest: newest, middle: middle, oldest: oldest, "2024-11-05": newest, "2026-07-28": newest, "": newest,
	} {
		p, res := initialize(t, l, asked, object{})
		caps, _ := res["capabilities"].(object)
		info, _ := res["serverInfo"].(object)
		if p.version != want || (caps["tasks"] != nil) != (want == newest) || (info["title"] != nil) != (want > oldest) {
			t.Errorf("asked for %q: %v", asked, res)
		}
	}
	for name, params := range map[string]string{
		"no version":      `{"capabilities":{},"clientInfo":{"name":"a","version":"1"}}`,
		"no capabilities": `{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"}}`,
		"no info":         `{"protocolVersion":"2025-11-25","capabilities":{}}`,
		"half an info":    `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a"}}`,
	} {
		rec := httptest.NewRecorder()
		l.ServeHTTP(rec, legacyRequest(t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+params+`}`))
		if !strings.Contains(rec.Body.String(), "-32602") || rec.Header().Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: HTTP %d %s", name, rec.Code, rec.Body)
		}
	}
}

func TestLegacyDelete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{})
		p, other := join(t, l), join(t, l)
		f := p.listen("")
		id := p.task("work", object{"ms": 10_000})
		call := p.open("c", "tools/call", toolParams("grind", object{"ms": 10_000}))
		synctest.Wait()
		rec := httptest.NewRecorder()
		l.ServeHTTP(rec, p.request(t.Context(), "DELETE", ""))
		if rec.Code != 204 {
			t.Errorf("DELETE: HTTP %d %s", rec.Code, rec.Body)
		}
		<-f.done
		<-call.done
		if rec := p.post(message(t, 1, "ping", nil)); rec.Code != 404 {
			t.Errorf("after DELETE: HTTP %d", rec.Code)
		}
		other.do("tasks/get", object{"taskId": id}).fails(200, -32602)
		other.ok("ping", nil)
	})
}

func TestLegacySessionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{})
		p, listener := join(t, l), join(t, l)
		f := listener.listen("")
		time.Sleep(29 * time.Minute)
		p.ok("ping", nil)
		time.Sleep(30*time.Minute - time.Second)
		p.ok("ping", nil)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if rec := p.post(message(t, 1, "ping", nil)); rec.Code != 404 {
			t.Errorf("an idle session: HTTP %d", rec.Code)
		}
		listener.ok("ping", nil) // its stream keeps it
		f.hangUp()
	})
}

func TestLegacyClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := demo.NewLegacy(demo.Options{})
		p := join(t, l)
		p.ok("resources/subscribe", object{"uri": "demo://clock"})
		f := p.listen("")
		wait := p.open("r", "tasks/result", object{"taskId": p.task("ask", nil)})
		call := p.open("c", "tools/call", toolParams("ask", nil))
		time.Sleep(time.Second)
		l.Close()
		for _, s := range []flow{f, wait, call} {
			<-s.done
		}
		if rec := p.post(message(t, 1, "ping", nil)); rec.Code != 503 {
			t.Errorf("after Close: HTTP %d", rec.Code)
		}
		l.Close()
	})
}
