package demo_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/demo"
)

const (
	newest = "2025-11-25"
	middle = "2025-06-18"
	oldest = "2025-03-26"
	// related is the _meta key that ties a message to a task.
	related = prefix + "related-task"
)

// everything a client of the era can declare, as far as the demo minds.
var fullCaps = object{"elicitation": object{"form": object{}, "url": object{}}, "sampling": object{}, "roots": object{}}

func newLegacy(t *testing.T, opts demo.Options) *demo.Legacy {
	t.Helper()
	l := demo.NewLegacy(opts)
	t.Cleanup(l.Close)
	return l
}

// legacyRequest is a request as a well-behaved client sends it.
func legacyRequest(ctx context.Context, method, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1:8730/mcp", strings.NewReader(body))
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func message(t *testing.T, id any, method string, params object) string {
	t.Helper()
	msg := object{"jsonrpc": "2.0", "method": method}
	if id != nil {
		msg["id"] = id
	}
	if params != nil {
		msg["params"] = params
	}
	text, err := json.Marshal(msg)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// peer is one session of a client.
type peer struct {
	t       *testing.T
	l       *demo.Legacy
	session string
	version string
	lastID  int
}

func initialize(t *testing.T, l *demo.Legacy, version string, caps object) (*peer, object) {
	t.Helper()
	rec := httptest.NewRecorder()
	params := object{"protocolVersion": version, "capabilities": caps, "clientInfo": object{"name": "test", "version": "1"}}
	l.ServeHTTP(rec, legacyRequest(t.Context(), http.MethodPost, message(t, 0, "initialize", params)))
	res, _ := decode(t, rec.Body.String())["result"].(object)
	negotiated, _ := res["protocolVersion"].(string)
	p := &peer{t: t, l: l, session: rec.Header().Get("Mcp-Session-Id"), version: negotiated}
	if rec.Code != 200 || len(p.session) < 26 || negotiated == "" {
		t.Fatalf("initialize: HTTP %d %s", rec.Code, rec.Body)
	}
	return p, res
}

// join is a client that is initialized and can do everything.
func join(t *testing.T, l *demo.Legacy) *peer {
	t.Helper()
	return joinAs(t, l, newest, fullCaps)
}

func joinAs(t *testing.T, l *demo.Legacy, version string, caps object) *peer {
	t.Helper()
	p, _ := initialize(t, l, version, caps)
	if rec := p.post(message(t, nil, "notifications/initialized", nil)); rec.Code != 202 || rec.Body.Len() != 0 {
		t.Fatalf("initialized: HTTP %d %s", rec.Code, rec.Body)
	}
	return p
}

func (p *peer) request(ctx context.Context, method, body string) *http.Request {
	r := legacyRequest(ctx, method, body)
	r.Header.Set("Mcp-Session-Id", p.session)
	if p.version > oldest {
		r.Header.Set("MCP-Protocol-Version", p.version)
	}
	return r
}

// post sends a body and reads the whole answer.
func (p *peer) post(body string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	p.l.ServeHTTP(rec, p.request(p.t.Context(), http.MethodPost, body))
	return rec
}

// do sends a request and reads its answer, whichever form it has.
func (p *peer) do(method string, params object) answer {
	p.t.Helper()
	p.lastID++
	rec := p.post(message(p.t, p.lastID, method, params))
	a := answer{t: p.t, status: rec.Code, header: rec.Header(), raw: rec.Body.String()}
	if a.header.Get("Content-Type") == "application/json" {
		a.final = decode(p.t, a.raw)
		return a
	}
	for chunk := range strings.SplitSeq(a.raw, "\n\n") {
		ev := parseEvent(p.t, chunk)
		switch {
		case ev.msg == nil:
		case ev.msg["method"] != nil:
			a.notes = append(a.notes, ev.msg)
		default:
			a.final = ev.msg
		}
	}
	return a
}

// ok is the result of a request, which has none of the other era's members.
func (p *peer) ok(method string, params object) object {
	p.t.Helper()
	a := p.do(method, params)
	res, ok := a.final["result"].(object)
	if !ok || a.status != 200 {
		p.t.Fatalf("%s: HTTP %d %s", method, a.status, a.raw)
	}
	for _, k := range []string{"resultType", "ttlMs", "cacheScope", "inputRequests", "requestState"} {
		if _, there := res[k]; there {
			p.t.Errorf("%s is the other era's word: %s", k, a.raw)
		}
	}
	return res
}

func (p *peer) call(name string, arguments object) object {
	p.t.Helper()
	return p.ok("tools/call", toolParams(name, arguments))
}

func toolParams(name string, arguments object) object {
	params := object{"name": name}
	if arguments != nil {
		params["arguments"] = arguments
	}
	return params
}

func taskParams(name string, arguments, task object) object {
	params := toolParams(name, arguments)
	params["task"] = task
	return params
}

// task calls a tool as a task and returns its id.
func (p *peer) task(name string, arguments object) string {
	p.t.Helper()
	task, _ := p.ok("tools/call", taskParams(name, arguments, object{}))["task"].(object)
	id, _ := task["taskId"].(string)
	if task["status"] != "working" || id == "" {
		p.t.Fatalf("%s did not make a task: %v", name, task)
	}
	return id
}

func (p *peer) get(id string) object {
	p.t.Helper()
	return p.ok("tasks/get", object{"taskId": id})
}

// answer responds to a request of the server.
func (p *peer) answer(id any, result object) {
	p.t.Helper()
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": id, "result": result})
	if rec := p.post(string(body)); rec.Code != 202 {
		p.t.Fatalf("a response: HTTP %d %s", rec.Code, rec.Body)
	}
}

func (p *peer) refuse(id any, text string) {
	p.t.Helper()
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": id, "error": object{"code": -1, "message": text}})
	if rec := p.post(string(body)); rec.Code != 202 {
		p.t.Fatalf("an error response: HTTP %d %s", rec.Code, rec.Body)
	}
}
