package legacy_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func initializeAs(version string) string {
	return strings.Replace(initialize, `"2025-11-25"`, version, 1)
}

func TestNegotiation(t *testing.T) {
	for _, tt := range []struct{ name, asked, want string }{
		{"A-L2 the era's own version", "2025-11-25", "2025-11-25"},
		{"A-L2 an older version is echoed", "2025-06-18", "2025-06-18"},
		{"A-L2 the oldest version is echoed", "2025-03-26", "2025-03-26"},
		{"A-L2 a modern version never is", "2026-07-28", "2025-11-25"},
		{"A-L2 garbage gets the latest", "soon", "2025-11-25"},
		{"A-L2 the version before sessions", "2024-11-05", "2025-11-25"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				a := r.post("", initializeAs(`"`+tt.asked+`"`))
				if a.status != http.StatusOK || !strings.Contains(a.body, `"protocolVersion":"`+tt.want+`"`) {
					t.Errorf("answer %d %s, want version %s", a.status, a.body, tt.want)
				}
				caller := r.crossing.last().Caller
				r.post(a.header.Get("Mcp-Session-Id"), call("1", "tools/list"))
				if got := r.crossing.last().Caller.Version; caller.Version != tt.want || got != tt.want {
					t.Errorf("served as %s, then as %s, want %s", caller.Version, got, tt.want)
				}
			})
		})
	}
}

func TestInitializeParams(t *testing.T) {
	t.Parallel()
	refused := func(name, params, want string) {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				a := r.post("", `{"jsonrpc":"2.0","id":"i","method":"initialize"`+params+`}`)
				wantError(t, a, http.StatusOK, `{"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"Invalid params: `+want+`"}}`)
				if a.header.Get("Mcp-Session-Id") != "" || r.crossing.calls("initialize") != 0 {
					t.Error("a session was begun")
				}
			})
		})
	}
	refused("A-L6 no params", ``, "params: want an object")
	refused("A-L6 no version", `,"params":{"capabilities":{},"clientInfo":{"name":"a","version":"1"}}`, "params.protocolVersion: want a string")
	refused("A-L6 capabilities that are no object", `,"params":{"protocolVersion":"2025-11-25","capabilities":[],"clientInfo":{"name":"a","version":"1"}}`, "params.capabilities: want an object")
	refused("A-L6 no client version", `,"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a"}}`, "params.clientInfo.version: want a string")
	refused("Strictness: a name twice", `,"params":{"protocolVersion":"1","protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`, "params.protocolVersion: want each name only once")
}

// TestSessionKeepsTheClient: what the client said of itself comes back byte for
// byte with every later request, from a face that has only the store.
func TestSessionKeepsTheClient(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		const (
			info         = `{"version":"1", "name":"<orbit> & é","z":12345678901234567890}`
			capabilities = `{"experimental":{"\u0061":1.0}, "roots":{}}`
		)
		r.crossing.on("initialize", func(_ context.Context, x *port.Exchange) port.Outcome {
			return port.Outcome{Result: wire.Value(`{"capabilities":{"tasks":` + x.Message.Params.Get("offer") + `}}`)}
		})
		a := r.post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"offer":{},"protocolVersion":"2025-06-18","capabilities":`+capabilities+`,"clientInfo":`+info+`}}`, "Authorization: Bearer a")
		id := a.header.Get("Mcp-Session-Id")
		if !regexp.MustCompile(`^[\x21-\x7e]{22,}$`).MatchString(id) {
			t.Errorf("A-L10 session id %q: want visible ASCII of at least 128 bits", id)
		}
		r.post(id, `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}`, "Authorization: Bearer a")
		r.post(id, call("3", "tools/call"), "Authorization: Bearer a")
		got := r.crossing.last().Caller
		want := port.Caller{
			Session: id, Principal: got.Principal, Version: "2025-06-18", ClientInfo: info, Capabilities: capabilities,
			Tasks: true, LogLevel: "warning", Authorization: "Bearer a",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("caller: -want +got\n%s", d)
		}
		// A-T1: a session keeps what it was offered.
		id = r.post("", strings.Replace(initialize, `"protocol`, `"offer":null,"protocol`, 1)).header.Get("Mcp-Session-Id")
		if r.post(id, call("1", "tools/list")); r.crossing.last().Caller.Tasks {
			t.Error("tasks were not offered, but are kept as such")
		}
		if strings.Contains(got.Principal, "Bearer a") {
			t.Errorf("principal %q holds the credential", got.Principal)
		}
	})
}

func TestInitializeFails(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"A-L4 the backend is unreachable", &port.UpstreamError{Op: "server/discover", Err: errors.New("dial 10.0.0.1: refused")}, "backend unreachable"},
		{"A-L5 the backend is of no use", errors.New("only 2025-11-25"), "Internal error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(o *legacy.Options) { o.Limits.SessionsPerAddress = 1 }, func(t *testing.T, r *rig) {
				r.crossing.on("initialize", func(context.Context, *port.Exchange) port.Outcome { return port.Fail(tt.err) })
				for range 3 { // a failure must not count as a session
					a := r.post("", initialize)
					wantError(t, a, http.StatusOK, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"`+tt.want+`"}}`)
					if a.header.Get("Mcp-Session-Id") != "" {
						t.Error("a session was begun")
					}
				}
				r.crossing.on("initialize", nil)
				r.open()
			})
		})
	}
}

// TestInitializeOfALostClient: one that leaves before it has its session holds
// no place in the limits.
func TestInitializeOfALostClient(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Sessions = 1 }, func(t *testing.T, r *rig) {
		ended := r.crossing.hang("initialize")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/legacy/"+backend, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if resp, err := r.client.Do(req); err == nil {
			_ = resp.Body.Close()
			t.Fatal("initialize was answered")
		}
		<-ended
		synctest.Wait()
		r.crossing.on("initialize", nil)
		r.open()
	})
}

func TestSecondInitialize(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.post(id, initialize)
		wantError(t, a, http.StatusBadRequest, `{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"Invalid request: the session is initialized already"}}`)
		if other := r.open(); other == id {
			t.Error("A-L7 without the header: want a new session")
		}
		// A client that was told 404 may still send the id it had.
		if a := r.post("gone", initialize); a.header.Get("Mcp-Session-Id") == "" {
			t.Errorf("A-L7 with an unknown session: %d %s", a.status, a.body)
		}
	})
}

func TestSessionLimits(t *testing.T) {
	full := `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"too many sessions or streams; try again later"}}`
	for _, tt := range []struct {
		name string
		tune func(*legacy.Options)
	}{
		{"limits.sessions", func(o *legacy.Options) { o.Limits.Sessions = 3 }},
		{"limits.sessions_per_address", func(o *legacy.Options) { o.Limits.SessionsPerAddress = 3 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.tune, func(t *testing.T, r *rig) {
				ids := []string{r.open(), r.open(), r.open()}
				a := r.post("", initialize)
				wantError(t, a, http.StatusServiceUnavailable, full)
				if a.header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
				if n := r.crossing.calls("initialize"); n != 3 {
					t.Errorf("the backend was asked %d times, want 3: the limit comes first", n)
				}
				r.do(http.MethodDelete, ids[0], "")
				r.open()
				wantError(t, r.post("", initialize), http.StatusServiceUnavailable, full)
				time.Sleep(2 * idle) // all of them expire
				r.open()
				r.open()
				r.open()
			})
		})
	}
}

// TestInitializeEnvelope: the answer is the crossing's, wrapped in exactly an
// envelope (G-4) with the id as it came (G-2).
func TestInitializeEnvelope(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.crossing.on("initialize", func(context.Context, *port.Exchange) port.Outcome {
			return port.Outcome{Result: wire.Value(`{"n":12345678901234567890}`)}
		})
		a := r.post("", strings.Replace(initialize, `"id":0`, `"id":"9007199254740993"`, 1))
		wantError(t, a, http.StatusOK, `{"jsonrpc":"2.0","id":"9007199254740993","result":{"n":12345678901234567890}}`)
	})
}
