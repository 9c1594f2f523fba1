package modern_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// FuzzPost: whatever is posted, with whatever headers, the answer is one JSON-RPC
// response or 202 with nothing; it carries the id of the request if it carries one;
// what was let through agrees with its headers; and no handler panics.
func FuzzPost(f *testing.F) {
	x := newCrossing()
	face := modern.New(options(f, x))
	f.Cleanup(func() {
		if err := face.Close(context.Background()); err != nil {
			f.Error(err)
		}
	})
	handler := engine(face)
	posts := []post{
		call("1"), listen(`"x"`), ask("0", "com.acme/dig", ""), ask("1", "ping", ""), ask("1", "initialize", ""),
		asking("1", "tasks/get", `"taskId":"a"`, metaTasks), asking("1", "tasks/update", `"taskId":"a","inputResponses":{}`, metaTasks),
		raw(""), raw("[]"), raw("{}"), raw("nul"), raw(`{"id":1`), raw(`{"jsonrpc":"2.0","id":null,"method":"a"}`),
		raw(`{"jsonrpc":"2.0","id":1,"result":{}}`), raw(`{"jsonrpc":"2.0","error":{"code":1}}`), raw(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`),
		ask("1", "tools/call", `"name":"\ud800","arguments":{"a":1,"a":2}`, "Mcp-Name: =?base64?77+9?="),
	}
	for _, p := range posts {
		f.Add(p.body, "application/json, text/event-stream", p.header.Get("MCP-Protocol-Version"), p.header.Get("Mcp-Method"), p.header.Get("Mcp-Name"))
		f.Add(p.body, "text/event-stream", "2026-07-28", "tools/call", "=?base64?c2lldmU=?=")
		f.Add(p.body, "application/json", "2025-11-25", "", "")
	}
	f.Fuzz(func(t *testing.T, body, accept, version, method, name string) {
		req := httptest.NewRequest(http.MethodPost, "/modern/"+backend, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		for header, value := range map[string]string{"Accept": accept, "MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				req.Header.Set(header, value)
			}
		}
		before := x.count()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		checkAnswer(t, body, w)
		if x.count() == before {
			return
		}
		m := x.last().Message
		if version := strings.Trim(version, " \t"); version != "2026-07-28" || strings.Trim(method, " \t") != m.Method || w.Code != http.StatusOK {
			t.Errorf("%q reached the crossing with version %q and method %q: %d", body, version, method, w.Code)
		}
	})
}

func checkAnswer(t *testing.T, body string, w *httptest.ResponseRecorder) {
	t.Helper()
	got := w.Body.String()
	switch {
	case w.Code == http.StatusAccepted:
		if got != "" {
			t.Errorf("202 with %q", got)
		}
		return
	case w.Header().Get("Content-Type") == "text/event-stream":
		var ok bool
		if got, ok = strings.CutPrefix(got, "data: "); !ok || !strings.HasSuffix(got, "\n\n") {
			t.Fatalf("event stream %q", w.Body)
		}
		got = strings.ReplaceAll(got, "\ndata: ", "\n")
	}
	answer, err := jsonrpc.Read([]byte(got))
	if err != nil {
		t.Fatalf("answer %d %q: %v", w.Code, got, err)
	}
	asked, err := jsonrpc.Read([]byte(body))
	isRequest := err == nil && asked.Kind == jsonrpc.KindRequest
	switch {
	case answer.Kind != jsonrpc.KindResult && answer.Kind != jsonrpc.KindError:
		t.Errorf("answer %q is no response", got)
	case answer.NullID():
		t.Errorf("answer %q has an id of null", got)
	case isRequest && answer.ID != asked.ID && (w.Code != http.StatusNotAcceptable || answer.ID != ""):
		t.Errorf("answer %q to id %s", got, asked.ID)
	case !isRequest && w.Code == http.StatusOK:
		t.Errorf("%q is no request, but was answered %q", body, got)
	}
}
