package adapter

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
)

// adminOf returns a bridge's admin handler, with a store in memory.
func adminOf(t *testing.T, token string) (http.Handler, state.Store) {
	t.Helper()
	store, err := embedded.Open(context.Background(), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("store: %v", err)
		}
	})
	b := &Bridge{
		cfg:    &config.Config{AllowedHosts: []string{"localhost"}, Admin: config.Admin{Token: token}},
		logger: slog.New(slog.DiscardHandler), store: store,
	}
	return b.admin(), store
}

func request(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, nil)
	req.Host = "localhost:8721"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	const secret = "s3cret token"
	for _, tt := range []struct {
		name, token, method, path string
		header                    []string
		status                    int
		body                      string
	}{
		{"health", "", "GET", "/healthz", nil, 200, `{"status":"ok"}`},
		{"readiness", "", "GET", "/readyz", nil, 200, `{"status":"ready"}`},
		{"a credential nobody asked for", "", "GET", "/healthz", []string{"Authorization", "Bearer x"}, 200, `{"status":"ok"}`},
		{"another path", "", "GET", "/", nil, 404, "404 page not found"},
		{"another method", "", "POST", "/healthz", nil, 405, "405 method not allowed"},
		{"another host", "", "GET", "/healthz", []string{"Host", "evil.example"}, 403, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: host not allowed"}}`},
		{"another host on another path", "", "GET", "/x", []string{"Host", "evil.example"}, 403, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: host not allowed"}}`},
		{"another origin", "", "GET", "/readyz", []string{"Origin", "https://evil.example"}, 403, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: origin not allowed"}}`},
		{"another host before the token", secret, "GET", "/healthz", []string{"Host", "evil.example"}, 403, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: host not allowed"}}`},
		{"the token", secret, "GET", "/healthz", []string{"Authorization", "Bearer " + secret}, 200, `{"status":"ok"}`},
		{"the token, its scheme in lower case", secret, "GET", "/readyz", []string{"Authorization", "bearer " + secret}, 200, `{"status":"ready"}`},
		{"no token", secret, "GET", "/healthz", nil, 401, `{"status":"token required"}`},
		{"no token on another path", secret, "GET", "/x", nil, 401, `{"status":"token required"}`},
		{"another token", secret, "GET", "/readyz", []string{"Authorization", "Bearer s3cret"}, 401, `{"status":"token required"}`},
		{"an empty token", secret, "GET", "/healthz", []string{"Authorization", "Bearer "}, 401, `{"status":"token required"}`},
		{"the token of another scheme", secret, "GET", "/healthz", []string{"Authorization", "Basic " + secret}, 401, `{"status":"token required"}`},
		{"the token without a scheme", secret, "GET", "/healthz", []string{"Authorization", secret}, 401, `{"status":"token required"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _ := adminOf(t, tt.token)
			w := request(h, tt.method, tt.path, tt.header...)
			if w.Code != tt.status || w.Body.String() != tt.body {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.body)
			}
			if got := w.Header().Get("WWW-Authenticate"); (got == "Bearer") != (tt.status == 401) {
				t.Errorf("WWW-Authenticate %q", got)
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Error("a CORS answer from the admin listener")
			}
		})
	}
}

// TestReadiness: a bridge whose store is gone runs, but cannot serve.
func TestReadiness(t *testing.T) {
	t.Parallel()
	h, store := adminOf(t, "")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if w := request(h, http.MethodGet, "/readyz"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "store not available") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := request(h, http.MethodGet, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("health: %d", w.Code)
	}
}
