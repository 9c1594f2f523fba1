package adapter_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/demo"
)

// backendHost is a demo server that writes down the headers it gets, and may refuse.
type backendHost struct {
	*httptest.Server

	mu      sync.Mutex
	headers []http.Header
	refuse  http.HandlerFunc // answers in place of the server, unless nil
}

// newBackendHost runs a server of an era.
func newBackendHost(t *testing.T, e era) *backendHost {
	t.Helper()
	var inner interface {
		http.Handler
		Close()
	} = demo.NewModern(demo.Options{})
	if e == legacyEra {
		inner = demo.NewLegacy(demo.Options{})
	}
	h := &backendHost{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.headers = append(h.headers, r.Header.Clone())
		refuse := h.refuse
		h.mu.Unlock()
		if refuse != nil {
			refuse(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		inner.Close()
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *backendHost) refuses(with http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuse = with
}

// values are the distinct values that a header had; "-" stands for none.
func (h *backendHost) values(name string) map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string]bool)
	for _, header := range h.headers {
		if value := strings.Join(header.Values(name), "|"); value != "" {
			out[value] = true
		} else {
			out["-"] = true
		}
	}
	return out
}

// all is everything that was received in headers.
func (h *backendHost) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(h.headers)
}

// safeLog is a log that several may write.
type safeLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// site is a bridge on this machine, and everything that its clients have read.
type site struct {
	t      *testing.T
	base   string // scheme://host:port of the faces
	admin  string
	log    safeLog
	client *http.Client

	mu   sync.Mutex
	read strings.Builder
}

// newSite runs a bridge with a configuration file.
func newSite(t *testing.T, file string, vars ...string) *site {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bridge.yaml")
	if !strings.Contains(file, "admin:") {
		file = "admin: {listen: off}\n" + file
	}
	if err := os.WriteFile(name, []byte("store: 'memory:'\nlisten: 127.0.0.1:0\n"+file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Inputs{Flags: config.Flags{Config: &name}, LookupEnv: func(name string) (string, bool) {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}}
	ready := make(chan adapter.Ready, 1)
	bridge, err := adapter.New(t.Context(), cfg, adapter.Options{
		Logger: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Ready:  func(r adapter.Ready) { ready <- r },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- bridge.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	select {
	case r := <-ready:
		s.base, _, _ = strings.Cut(r.Routes[0].URL, "/"+r.Routes[0].Face+"/")
		s.admin = r.Admin
	case err := <-done:
		t.Fatalf("run: %v", err)
	}
	return s
}

// response is an answer that was read to its end.
type response struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers are names and values in turn, Host among them.
func (s *site) do(method, path, body string, header ...string) response {
	s.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = s.base + path
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return response{}
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Error(err)
		return response{}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	fmt.Fprintln(&s.read, resp.Status, resp.Header, string(text))
	s.mu.Unlock()
	return response{resp.StatusCode, resp.Header, string(text)}
}

// everything is what the log holds and what clients have read.
func (s *site) everything() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String() + s.read.String()
}

// initialize opens a session of the legacy face and returns its id, if there is one.
func (s *site) initialize(backend string, header ...string) (string, response) {
	s.t.Helper()
	r := s.do(http.MethodPost, "/legacy/"+backend, initializing, append(posting(), header...)...)
	return r.header.Get("Mcp-Session-Id"), r
}

const initializing = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

func posting() []string {
	return []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
}

// ask sends a request without params of its own to a face; session is of the legacy one.
func (s *site) ask(face, backend, session, method string, header ...string) response {
	s.t.Helper()
	header = append(posting(), header...)
	if face == "legacy" {
		return s.do(http.MethodPost, "/legacy/"+backend, `{"jsonrpc":"2.0","id":2,"method":"`+method+`","params":{}}`,
			append(header, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25")...)
	}
	return s.do(http.MethodPost, "/modern/"+backend, `{"jsonrpc":"2.0","id":2,"method":"`+method+`","params":{"_meta":`+string(clientMeta("{}"))+`}}`,
		append(header, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method)...)
}

// bearers are tokens for a bridge whose audience is "bridge".
func bearers(t *testing.T) (issuer *authtest.Issuer, settings string, token func(subject string) string) {
	t.Helper()
	issuer = authtest.New(t, "https://id.example")
	server := httptest.NewServer(issuer)
	t.Cleanup(server.Close)
	return issuer, "jwks_url: " + server.URL + "/keys, issuer: https://id.example, audience: bridge", func(subject string) string {
		return issuer.Token(t, map[string]any{
			"iss": "https://id.example", "sub": subject, "aud": "bridge", "exp": time.Now().Add(time.Hour).Unix(),
		})
	}
}
