package probe_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
)

const (
	discovering  = "server/discover"
	initializing = "initialize"
)

var (
	once      = []string{discovering}
	twice     = []string{discovering, discovering}
	confirmed = []string{discovering, initializing}
	named     = []string{discovering, initializing, "GET"}
)

// verdict is what the server's answers amount to.
type verdict struct {
	script   script
	era      probe.Era
	versions []string
	asked    []string
}

const (
	legacyOnly = `["2025-11-25","2025-06-18"]`
	both       = `["2026-07-28","2025-11-25"]`
	oldTasks   = `{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}`
	newTasks   = `{"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{"specVersion":"draft"}}}`
)

var stream = answer{status: 200, contentType: "text/event-stream", body: "event: endpoint\ndata: /messages\n\n"}

var verdicts = map[string]verdict{
	"§1.10 DiscoverResult with a modern version": {
		script{discovering: {speaksModern}}, probe.Modern, []string{"2026-07-28"}, once,
	},
	"§1.10 DiscoverResult on an event stream": {
		script{discovering: {{status: 200, contentType: "text/event-stream", body: "data: " + speaksModern.body + "\n\n"}}},
		probe.Modern,
		[]string{"2026-07-28"},
		once,
	},
	"§1.10 DiscoverResult with both eras and the extension": {
		script{discovering: {discover(both, newTasks, "")}}, probe.Modern, []string{"2026-07-28", "2025-11-25"}, once,
	},
	"§1.10 DiscoverResult with both eras and no tasks at all": {
		script{discovering: {discover(both, `{"tools":{}}`, "")}}, probe.Modern, []string{"2026-07-28", "2025-11-25"}, once,
	},
	"Dual-era backend that keeps its tasks in the older era": {
		script{discovering: {discover(both, oldTasks, "")}}, probe.Legacy, []string{"2026-07-28", "2025-11-25"}, once,
	},
	"not a dual-era backend: it has no older era": {
		script{discovering: {discover(onlyModern, oldTasks, "")}}, probe.Modern, []string{"2026-07-28"}, once,
	},
	"§1.10 DiscoverResult with only legacy versions": {
		script{discovering: {discover(legacyOnly, `{}`, "")}}, probe.Legacy, []string{"2025-11-25", "2025-06-18"}, once,
	},
	"DiscoverResult with versions of the future": {
		script{discovering: {discover(`["2031-01-01"]`, `{}`, "")}}, probe.Unknown, []string{"2031-01-01"}, once,
	},
	"§1.10 -32022 with only legacy versions": {
		script{discovering: {rpcError(400, -32022, `{"supported":`+legacyOnly+`,"requested":"2026-07-28"}`)}},
		probe.Legacy,
		[]string{"2025-11-25", "2025-06-18"},
		once,
	},
	"§1.10 -32022 with only legacy versions, status 200": {
		script{discovering: {rpcError(200, -32022, `{"supported":`+legacyOnly+`}`)}}, probe.Legacy, []string{"2025-11-25", "2025-06-18"}, once,
	},
	"§1.10 -32022 with a mutual modern version": {
		script{discovering: {rpcError(400, -32022, `{"supported":`+both+`}`)}}, probe.Modern, []string{"2026-07-28", "2025-11-25"}, once,
	},
	"-32022 with versions of the future": {
		script{discovering: {rpcError(400, -32022, `{"supported":["2031-01-01"]}`)}}, probe.Unknown, []string{"2031-01-01"}, once,
	},
	"§1.10 -32021": {script{discovering: {rpcError(400, -32021, `{"requiredCapabilities":{"roots":{}}}`)}}, probe.Modern, nil, once},
	"§1.10 -32020, again after a retry (Q11)": {
		script{discovering: {rpcError(400, -32020, "")}}, probe.Modern, nil, twice,
	},
	"§1.10 -32020, cured by a retry": {
		script{discovering: {rpcError(400, -32020, ""), discover(legacyOnly, "{}", "")}}, probe.Legacy, []string{"2025-11-25", "2025-06-18"}, twice,
	},
	"§1.10 -32001, again after a retry (Q24)": {
		script{discovering: {rpcError(404, -32001, "")}}, probe.Legacy, nil, twice,
	},
	"§1.10 -32001, cured by a retry": {
		script{discovering: {rpcError(400, -32001, ""), speaksModern}}, probe.Modern, []string{"2026-07-28"}, twice,
	},
	"§1.10 400 with -32000 Server not initialized": {script{discovering: {rpcError(400, -32000, "")}}, probe.Legacy, nil, once},
	"§1.10 400 with -32600":                        {script{discovering: {rpcError(400, -32600, "")}}, probe.Legacy, nil, once},
	"§1.10 404 with -32601":                        {script{discovering: {rpcError(404, -32601, "")}}, probe.Legacy, nil, once},
	"§1.10 422 with -32602":                        {script{discovering: {rpcError(422, -32602, "")}}, probe.Legacy, nil, once},
	"§1.10 200 with -32601":                        {script{discovering: {rpcError(200, -32601, "")}}, probe.Legacy, nil, once},
	"§1.10 200 with -32602":                        {script{discovering: {rpcError(200, -32602, "")}}, probe.Legacy, nil, once},
	"G-14 an unheard-of code proves nothing": {
		script{discovering: {rpcError(400, 17, "")}, initializing: {initialized}}, probe.Legacy, []string{"2025-11-25"}, confirmed,
	},
	"§1.10 200 with a page": {
		script{discovering: {page(200)}, initializing: {initialized}}, probe.Legacy, []string{"2025-11-25"}, confirmed,
	},
	"§1.10 202 with nothing": {
		script{discovering: {{status: 202}}, initializing: {initialized}}, probe.Legacy, []string{"2025-11-25"}, confirmed,
	},
	"§1.10 200 with a result of something else": {
		script{discovering: {result(`{"tools":[]}`)}, initializing: {initialized}}, probe.Legacy, []string{"2025-11-25"}, confirmed,
	},
	"§1.10 initialize answered on a stream": {
		script{discovering: {page(400)}, initializing: {{
			status: 200, contentType: "text/event-stream; charset=utf-8",
			body: "id: 1\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\ndata: " + initialized.body + "\n\n",
		}}},
		probe.Legacy,
		[]string{"2025-11-25"},
		confirmed,
	},
	"§1.10 initialize refused in JSON-RPC": {
		script{discovering: {page(400)}, initializing: {rpcError(400, -32602, "")}}, probe.Legacy, nil, confirmed,
	},
	"§1.10 HTTP+SSE of 2024-11-05": {
		script{discovering: {page(405)}, initializing: {page(405)}, "GET": {stream}}, probe.Unknown, []string{"2024-11-05"}, named,
	},
	"§1.10 HTTP+SSE that accepts any POST": {
		script{discovering: {{status: 202}}, initializing: {{status: 202}}, "GET": {stream}}, probe.Unknown, []string{"2024-11-05"}, named,
	},
	"a web site":            {script{discovering: {page(200)}, initializing: {page(200)}, "GET": {page(200)}}, probe.Unknown, nil, named},
	"nothing at this place": {script{}, probe.Unknown, nil, named},
}

func TestVerdicts(t *testing.T) {
	for name, c := range verdicts {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.script, func(t *testing.T, f *fake) {
				got, err := probe.HTTP(t.Context(), f.options())
				if err != nil {
					t.Fatal(err)
				}
				if got.Era != c.era || got.Reason == "" {
					t.Errorf("era %q (%s), want %q", got.Era, got.Reason, c.era)
				}
				if diff := cmp.Diff(c.versions, got.Versions); diff != "" {
					t.Errorf("versions (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.asked, f.requests()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
	for _, status := range []int{400, 404, 405, 406, 415, 422} {
		for name, a := range map[string]answer{"no body": {status: status}, "a page": page(status)} {
			t.Run("§1.10 "+http.StatusText(status)+" with "+name, func(t *testing.T) {
				bubble(t, script{discovering: {a}, initializing: {initialized}}, func(t *testing.T, f *fake) {
					got, err := probe.HTTP(t.Context(), f.options())
					if err != nil || got.Era != probe.Legacy {
						t.Errorf("verdict %+v, error %v; want legacy", got, err)
					}
					if diff := cmp.Diff(confirmed, f.requests()); diff != "" {
						t.Errorf("requests (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

func TestDiscoverResultIsKept(t *testing.T) {
	bubble(t, script{discovering: {speaksModern}}, func(t *testing.T, f *fake) {
		got, err := probe.HTTP(t.Context(), f.options())
		if err != nil || got.Discover.Get("cacheScope") != `"private"` {
			t.Errorf("result %s, error %v", got.Discover, err)
		}
	})
}

func TestNoVerdict(t *testing.T) {
	slow := answer{status: 200, wait: time.Hour}
	for name, c := range map[string]struct {
		script script
		status int
		asked  []string
	}{
		"§1.10 401":                      {script{discovering: {page(401)}}, 401, once},
		"§1.10 401 with a JSON-RPC body": {script{discovering: {rpcError(401, -32601, "")}}, 401, once},
		"§1.10 403":                      {script{discovering: {page(403)}}, 403, once},
		"§1.10 500":                      {script{discovering: {page(500)}}, 500, once},
		"§1.10 502":                      {script{discovering: {page(502)}}, 502, once},
		"§1.10 503 with a JSON-RPC body": {script{discovering: {rpcError(503, -32601, "")}}, 503, once},
		"429":                            {script{discovering: {page(429)}}, 429, once},
		"a redirect":                     {script{discovering: {{status: 307, header: [2]string{"Location", "/x"}}}}, 307, once},
		"a cut":                          {script{discovering: {{status: 200, body: "{", cut: true}}}, 0, []string{discovering, discovering, discovering, discovering}},
		"401 to initialize":              {script{discovering: {page(400)}, initializing: {page(401)}}, 401, confirmed},
		"500 to initialize":              {script{discovering: {page(400)}, initializing: {page(500)}}, 500, confirmed},
		"a redirect of initialize":       {script{discovering: {page(400)}, initializing: {{status: 302, header: [2]string{"Location", "/x"}}}}, 302, confirmed},
		"a cut answer to initialize":     {script{discovering: {page(400)}, initializing: {{status: 200, body: "{", cut: true}}}, 0, confirmed},
		"a cut stream of initialize":     {script{discovering: {page(400)}, initializing: {{status: 200, contentType: "text/event-stream", body: ":", cut: true}}}, 0, confirmed},
		"500 to the last resort":         {script{discovering: {page(400)}, initializing: {page(404)}, "GET": {page(500)}}, 500, named},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.script, func(t *testing.T, f *fake) {
				got, err := probe.HTTP(t.Context(), f.options())
				var upstream *port.UpstreamError
				if !errors.As(err, &upstream) || upstream.Status != c.status || got.Era != "" {
					t.Errorf("verdict %+v, error %v; want status %d and no verdict", got, err, c.status)
				}
				if err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("the error tells the credential: %v", err)
				}
				if diff := cmp.Diff(c.asked, f.requests()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
	for name, s := range map[string]script{
		"§1.10 no answer in time":         {discovering: {slow}},
		"§1.10 none to initialize either": {discovering: {page(400)}, initializing: {slow}},
		"none to the last resort":         {discovering: {page(400)}, initializing: {page(400)}, "GET": {slow}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, s, func(t *testing.T, f *fake) {
				start := time.Now()
				got, err := probe.HTTP(t.Context(), f.options())
				if !errors.Is(err, probe.ErrTimeout) || got.Era != "" {
					t.Errorf("verdict %+v, error %v; want a timeout", got, err)
				}
				if waited := time.Since(start); waited != 5*time.Second {
					t.Errorf("waited %v, want 5s", waited)
				}
			})
		})
	}
	t.Run("an internal error may be a bad day", func(t *testing.T) {
		bubble(t, script{discovering: {rpcError(200, -32603, "")}}, func(t *testing.T, f *fake) {
			if got, err := probe.HTTP(t.Context(), f.options()); !port.IsCode(err, -32603) {
				t.Errorf("verdict %+v, error %v; want -32603", got, err)
			}
		})
	})
	t.Run("§1.10 refused", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, f *fake) {
			transport, _ := f.client.Transport.(*http.Transport)
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
			if got, err := probe.HTTP(t.Context(), f.options()); !errors.Is(err, syscall.ECONNREFUSED) || got.Era != "" {
				t.Errorf("verdict %+v, error %v; want a refusal", got, err)
			}
		})
	})
}

func TestProbeRequests(t *testing.T) {
	t.Run("§1.10 discover is a complete modern request", func(t *testing.T) {
		bubble(t, script{discovering: {speaksModern}}, func(t *testing.T, f *fake) {
			if _, err := probe.HTTP(t.Context(), f.options()); err != nil {
				t.Fatal(err)
			}
			want := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientInfo":{"name":"taskbridge-probe","version":"1"},` +
				`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
			if got := f.bodies[0]; got != want {
				t.Errorf("body\n%s, want\n%s", got, want)
			}
			wantHeaders(t, f.header(0), http.Header{
				"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}, "User-Agent": {"taskbridge"},
				"Mcp-Method": {discovering}, "Mcp-Protocol-Version": {"2026-07-28"}, "Authorization": {"Bearer s3cret"}, "X-Key": {"k"},
			})
		})
	})
	t.Run("§1.10 initialize has nothing modern, and its session is given back", func(t *testing.T) {
		session := initialized
		session.header = [2]string{"Mcp-Session-Id", "s-1"}
		bubble(t, script{discovering: {page(404)}, initializing: {session}}, func(t *testing.T, f *fake) {
			if _, err := probe.HTTP(t.Context(), f.options()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{discovering, initializing, "DELETE"}, f.requests()); diff != "" {
				t.Fatalf("requests (-want +got):\n%s", diff)
			}
			want := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
				`"clientInfo":{"name":"taskbridge-probe","version":"1"}}}`
			if got := f.bodies[1]; got != want {
				t.Errorf("body\n%s, want\n%s", got, want)
			}
			wantHeaders(t, f.header(1), http.Header{
				"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}, "User-Agent": {"taskbridge"},
				"Authorization": {"Bearer s3cret"}, "X-Key": {"k"},
			})
			if got := f.header(2).Get("Mcp-Session-Id"); got != "s-1" {
				t.Errorf("session %q was given back", got)
			}
		})
	})
}

func wantHeaders(t *testing.T, got, want http.Header) {
	t.Helper()
	got.Del("Content-Length")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
