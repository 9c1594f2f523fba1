package legacy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// FuzzPost: whatever is posted, the answer is one JSON-RPC response or 202 with
// nothing, it carries the id of the request if it carries one, and no handler
// panics.
func FuzzPost(f *testing.F) {
	x := &crossing{scripts: make(map[string]func(context.Context, *port.Exchange) port.Outcome)}
	face := legacy.New(options(f, x))
	f.Cleanup(func() {
		if err := face.Close(context.Background()); err != nil {
			f.Error(err)
		}
	})
	handler := engine(face)
	session := record(handler, http.MethodPost, "", initialize).Header().Get("Mcp-Session-Id")
	for _, body := range []string{
		initialize, initialized, cancelled("1"), call("1", "tools/call"), call(`"x"`, "ping"), "", "[]", "{}", "nul", "{\"id\":1",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"method":"a"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + claim + `}}`, `{"jsonrpc":"2.0","id":1e3,"method":"logging/setLevel","params":{"level":"\ud800"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":{}}}`, `{"jsonrpc":"2.0","error":{"code":1}}`,
	} {
		f.Add(body, "application/json, text/event-stream", "2025-11-25", true)
		f.Add(body, "text/event-stream", "", true)
		f.Add(body, "*/*;q=0", "2026-07-28", false)
	}
	f.Fuzz(func(t *testing.T, body, accept, version string, known bool) {
		req := httptest.NewRequest(http.MethodPost, "/legacy/"+backend, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", accept)
		req.Header.Set("MCP-Protocol-Version", version)
		if known {
			req.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		checkAnswer(t, body, w)
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
		_, rest, primed := strings.Cut(got, ":0\nretry: 1000\ndata: \n\n")
		if primed {
			_, got, _ = strings.Cut(rest, ":1\n") // the id of its only event
		}
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
	case isRequest && w.Code != http.StatusNotAcceptable && answer.ID != asked.ID:
		t.Errorf("answer %q to id %s", got, asked.ID)
	case !isRequest && w.Code == http.StatusOK:
		t.Errorf("%q is no request, but was answered %q", body, got)
	}
}
