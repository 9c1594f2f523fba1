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

// FuzzLastEventID: whatever event a client comes back to, it gets a stream or 400,
// and the session lives on.
func FuzzLastEventID(f *testing.F) {
	x := &crossing{scripts: make(map[string]func(context.Context, *port.Exchange) port.Outcome)}
	face := legacy.New(options(f, x))
	f.Cleanup(func() {
		if err := face.Close(context.Background()); err != nil {
			f.Error(err)
		}
	})
	handler := engine(face)
	session := record(handler, http.MethodPost, "", initialize).Header().Get("Mcp-Session-Id")
	get := func(place string) *httptest.ResponseRecorder {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		req := httptest.NewRequest(http.MethodGet, "/legacy/"+backend, http.NoBody).WithContext(ctx)
		req.Header.Set("Mcp-Session-Id", session)
		req.Header["Last-Event-Id"] = []string{place}
		w := hasty{httptest.NewRecorder(), cancel}
		handler.ServeHTTP(w, req)
		return w.ResponseRecorder
	}
	first := get("").Body.String()
	place, _, _ := strings.Cut(strings.TrimPrefix(first, "id: "), "\n")
	if !strings.HasSuffix(place, ":0") {
		f.Fatalf("no event in %q", first)
	}
	for _, seed := range []string{place, of(place, 1), "x:1", ":", ":0", "a:b:0", "a:-1", "a:00", "\x00:1", strings.Repeat("9", 40), strings.Repeat("a", 5000) + ":1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		w := get(text)
		if known := text == place; known != (w.Code == http.StatusOK) || !known && w.Body.String() != unknownEvent {
			t.Errorf("%q: %d %s", text, w.Code, w.Body)
		}
		if got := record(handler, http.MethodPost, session, call("1", "ping")).Code; got != http.StatusOK {
			t.Errorf("the session answers %d", got)
		}
	})
}

// hasty is a client that leaves as soon as it has read something.
type hasty struct {
	*httptest.ResponseRecorder
	leave func()
}

// Write implements [http.ResponseWriter].
func (h hasty) Write(p []byte) (int, error) {
	defer h.leave()
	return h.ResponseRecorder.Write(p)
}
