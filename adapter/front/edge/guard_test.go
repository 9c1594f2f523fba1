package edge_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// served sends a request through a guard to a handler that answers 200.
func served(g *edge.Guard, method, host string, header ...string) *httptest.ResponseRecorder {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	group := e.Group("", g.Check)
	handler := func(c *gin.Context) { c.Header("Vary", "Accept"); c.String(http.StatusOK, "served") }
	group.POST("/", handler)
	group.OPTIONS("/", handler)
	req := httptest.NewRequest(method, "/", nil)
	req.Host = host
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, req)
	return w
}

var guard = &edge.Guard{
	Hosts:   []string{"localhost", "127.0.0.1", "[::1]", "bridge.example"},
	Origins: []string{"https://app.example", "http://localhost:3000"},
}

func TestHost(t *testing.T) {
	t.Parallel()
	const refused = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: host not allowed"}}`
	for _, tt := range []struct {
		host string
		ok   bool
	}{
		{"localhost", true},
		{"localhost:8720", true},
		{"LocalHost:80", true},
		{"127.0.0.1", true},
		{"127.0.0.1:8720", true},
		{"[::1]", true},
		{"[::1]:8720", true},
		{"bridge.example:443", true},
		{"", false},
		{":8720", false},
		{"::1", false},
		{"evil.example", false},
		{"localhost.evil.example", false},
		{"evil.example:8720", false},
		{"localhost:1:2", false},
		{"localhost@evil.example", false},
		{"[::2]", false},
		{"[127.0.0.1]", false},
	} {
		t.Run("DESIGN Edges: Host "+tt.host, func(t *testing.T) {
			t.Parallel()
			w := served(guard, http.MethodPost, tt.host)
			switch {
			case tt.ok && w.Code != http.StatusOK:
				t.Errorf("%d %s", w.Code, w.Body)
			case !tt.ok && (w.Code != http.StatusForbidden || w.Body.String() != refused):
				t.Errorf("%d %s, want 403", w.Code, w.Body)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	const refused = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: origin not allowed"}}`
	for _, tt := range []struct {
		name, origin string
		ok, cors     bool
	}{
		{"none", "", true, false},
		{"allowed", "https://app.example", true, true},
		{"allowed in upper case", "HTTPS://App.Example", true, true},
		{"allowed with its port", "http://localhost:3000", true, true},
		{"our own host", "http://localhost:8720", true, false},
		{"our own host over TLS", "https://bridge.example", true, false},
		{"our own address", "http://[::1]:8720", true, false},
		{"foreign", "https://evil.example", false, false},
		{"an allowed one's other scheme", "http://app.example", false, false},
		{"an allowed one's other port", "https://app.example:8443", false, false},
		{"a name that begins like ours", "http://localhost.evil.example", false, false},
		{"a name that begins like an allowed one", "https://app.example.evil.example", false, false},
		{"our name as a user", "http://localhost@evil.example", false, false},
		{"opaque", "null", false, false},
		{"of another scheme", "file://localhost", false, false},
		{"garbage", "http://[::1", false, false},
	} {
		t.Run("A-L14 Origin "+tt.name, func(t *testing.T) {
			t.Parallel()
			var header []string
			if tt.origin != "" {
				header = []string{"Origin", tt.origin}
			}
			w := served(guard, http.MethodPost, "localhost", header...)
			switch {
			case tt.ok && w.Code != http.StatusOK:
				t.Errorf("%d %s", w.Code, w.Body)
			case !tt.ok && (w.Code != http.StatusForbidden || w.Body.String() != refused):
				t.Errorf("%d %s, want 403", w.Code, w.Body)
			}
			allow, expose := w.Header().Get("Access-Control-Allow-Origin"), w.Header().Get("Access-Control-Expose-Headers")
			if tt.cors && (allow != tt.origin || expose != "Mcp-Session-Id, WWW-Authenticate") || !tt.cors && allow+expose != "" {
				t.Errorf("CORS: allow %q, expose %q", allow, expose)
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	asks := []string{"Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "mcp-session-id,content-type"}
	w := served(guard, http.MethodOptions, "localhost", asks...)
	want := map[string]string{
		"Access-Control-Allow-Origin":  "https://app.example",
		"Access-Control-Allow-Methods": "GET, POST, DELETE",
		"Access-Control-Allow-Headers": "mcp-session-id,content-type",
		"Access-Control-Max-Age":       "600",
		"Vary":                         "Origin",
	}
	for name, value := range want {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
		t.Errorf("%d %s, want 204 and nothing", w.Code, w.Body)
	}

	asks[1] = "https://evil.example"
	if w := served(guard, http.MethodOptions, "localhost", asks...); w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("foreign: %d, %v", w.Code, w.Header())
	}
	asks[1] = "http://localhost:8720"
	if w := served(guard, http.MethodOptions, "localhost", asks...); w.Body.String() != "served" || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("our own host, which is not on the list: %d, %v", w.Code, w.Header())
	}
	if w := served(guard, http.MethodOptions, "localhost", "Origin", "https://app.example"); w.Body.String() != "served" {
		t.Errorf("no preflight: %d", w.Code)
	}
}

// TestVary: where the answer can depend on the origin, caches are told so.
func TestVary(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "https://app.example", "http://localhost"} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		c.Request.Host = "localhost"
		c.Request.Header.Set("Origin", origin)
		guard.Check(c)
		if got := w.Header().Get("Vary"); got != "Origin" {
			t.Errorf("origin %q: Vary %q", origin, got)
		}
		closed := &edge.Guard{Hosts: guard.Hosts}
		w.Header().Del("Vary")
		if closed.Check(c); w.Header().Get("Vary") != "" {
			t.Error("Vary without any allowed origin")
		}
	}
}
