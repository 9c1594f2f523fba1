//go:build interop

package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// redisBridge is a running bridge over a Redis, with the demo servers behind.
type redisBridge struct {
	*testing.T
	legacy, modern, admin string
}

func redisConfig(t *testing.T, store string) *config.Config {
	t.Helper()
	demo, listen, admin := true, "127.0.0.1:0", "127.0.0.1:0"
	cfg, err := config.Load(config.Inputs{
		LookupEnv: func(string) (string, bool) { return "", false },
		Flags: config.Flags{
			Demo: &demo, Listen: &listen, Admin: &admin, Store: &store,
			Set: []string{"secrets=0123456789abcdef", "times.drain=1s"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func startRedisBridge(t *testing.T, store string) *redisBridge {
	t.Helper()
	r := &redisBridge{T: t}
	ready := make(chan adapter.Ready, 1)
	ctx, stop := context.WithCancel(t.Context())
	b, err := adapter.New(ctx, redisConfig(t, store), adapter.Options{Ready: func(r adapter.Ready) { ready <- r }})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	at := <-ready
	r.admin = "http://" + at.Admin
	for _, route := range at.Routes {
		switch {
		case route.Backend != "demo-modern":
		case route.Face == "legacy":
			r.legacy = route.URL
		default:
			r.modern = route.URL
		}
	}
	return r
}

// readiness returns the status of /readyz.
func (r *redisBridge) readiness() int {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.admin+"/readyz", nil)
	if err != nil {
		r.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		r.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		r.Fatal(err)
	}
	return resp.StatusCode
}

// eventually waits until check is nil.
func (r *redisBridge) eventually(check func() error) {
	r.Helper()
	for deadline := time.Now().Add(15 * time.Second); ; {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (r *redisBridge) isReady() error {
	if status := r.readiness(); status != http.StatusOK {
		return fmt.Errorf("readiness: %d", status)
	}
	return nil
}

// redisReply is what a request brought.
type redisReply struct {
	session string
	code    int64 // of a JSON-RPC error
	body    string
}

// post sends one message and expects the answer within limit.
func (r *redisBridge) post(limit time.Duration, url, body string, header ...string) redisReply {
	r.Helper()
	start := time.Now()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		r.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		r.Fatal(err)
	}
	if took := time.Since(start); took > limit {
		r.Fatalf("answered after %v, want %v at most: %s", took, limit, text)
	}
	out := redisReply{session: resp.Header.Get("Mcp-Session-Id"), body: string(text)}
	var message struct {
		Error struct {
			Code int64 `json:"code"`
		} `json:"error"`
	}
	line := string(text)
	for part := range strings.Lines(line) { // the last event of a stream
		if data, ok := strings.CutPrefix(part, "data: "); ok && strings.Contains(data, "jsonrpc") {
			line = data
		}
	}
	if line != "" {
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			r.Fatalf("status %d, not an answer: %s", resp.StatusCode, text)
		}
	}
	out.code = message.Error.Code
	return out
}

const (
	redisInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	redisTools      = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	redisModern     = `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// session opens a session.
func (r *redisBridge) session() string {
	r.Helper()
	out := r.post(10*time.Second, r.legacy, redisInitialize)
	if out.session == "" || out.code != 0 {
		r.Fatalf("initialize: %+v", out)
	}
	r.post(10*time.Second, r.legacy, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"Mcp-Session-Id", out.session, "Mcp-Protocol-Version", "2025-11-25")
	return out.session
}

func (r *redisBridge) list(limit time.Duration, session string) redisReply {
	r.Helper()
	return r.post(limit, r.legacy, redisTools, "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25")
}

// withoutStore is a request of a client of 2026-07-28, which needs no store.
func (r *redisBridge) withoutStore() {
	r.Helper()
	out := r.post(2*time.Second, r.modern, redisModern, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	if out.code != 0 || !strings.Contains(out.body, `"tools"`) {
		r.Errorf("a request that needs no store: %+v", out)
	}
}

// TestRedisOutage is DESIGN.md §4 over a Redis that comes late, stands still and
// is killed: what needs the store is refused at once, the rest goes on, and
// everything works again without a restart.
func TestRedisOutage(t *testing.T) {
	t.Parallel()
	const internal, atOnce, oneTry = -32603, 2 * time.Second, 8 * time.Second
	server := redistest.Start(t, redistest.Options{Fsync: "always"})
	server.Kill()
	r := startRedisBridge(t, server.URL())
	if status := r.readiness(); status != http.StatusServiceUnavailable {
		t.Errorf("readiness without Redis: %d", status)
	}
	if out := r.post(atOnce, r.legacy, redisInitialize); out.code != internal || out.session != "" {
		t.Errorf("initialize without Redis: %+v", out)
	}
	r.withoutStore()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	r.eventually(r.isReady)
	session := r.session()
	if out := r.list(oneTry, session); out.code != 0 {
		t.Fatalf("tools/list: %+v", out)
	}
	for name, outage := range map[string]struct {
		begin func() error
		end   func() error
	}{
		"standing still": {server.Pause, server.Resume},
		"killed":         {func() error { server.Kill(); return nil }, server.Restart},
	} {
		if err := outage.begin(); err != nil {
			t.Fatal(err)
		}
		r.post(oneTry, r.legacy, redisInitialize) // the first to notice
		if out := r.post(atOnce, r.legacy, redisInitialize); out.code != internal {
			t.Errorf("%s: initialize: %+v", name, out)
		}
		if status := r.readiness(); status != http.StatusServiceUnavailable {
			t.Errorf("%s: readiness: %d", name, status)
		}
		// A session that this process has at hand may go on; what may not happen is
		// that its client waits, or takes it for ended.
		if out := r.list(atOnce, session); out.code != 0 && out.code != internal {
			t.Errorf("%s: tools/list: %+v", name, out)
		}
		r.withoutStore()
		if err := outage.end(); err != nil {
			t.Fatal(err)
		}
		r.eventually(r.isReady)
		if out := r.list(oneTry, session); out.code != 0 {
			t.Errorf("%s: tools/list afterwards: %+v", name, out)
		}
	}
}

// TestRedisRefused is a configuration that no waiting mends.
func TestRedisRefused(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{Password: "right"})
	_, err := adapter.New(t.Context(), redisConfig(t, strings.Replace(server.URL(), "right", "wrong", 1)), adapter.Options{})
	if !errors.Is(err, adapter.ErrStore) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("got error %v, want %v without the password", err, adapter.ErrStore)
	}
}
