package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// gate stands in front of a backend: it knows what the backend was asked, and can
// keep a request or its answer from getting through.
type gate struct {
	url     string
	proxy   *httputil.ReverseProxy
	changed chan struct{} // capacity 1: there is more in seen

	mu   sync.Mutex
	seen []asked
	kept int                                  // answers that were swallowed or withheld
	pass func(context.Context, asked) verdict // nil lets everything through
}

// asked is a request of the bridge.
type asked struct {
	Method string
	Params struct {
		Name, TaskID string
		// RequestState is there when a call is made again with answers.
		RequestState   string
		InputResponses map[string]struct{ Content map[string]string }
		Meta           struct {
			// Nonce names the client's call that it is made for; see nonceKey.
			Nonce string `json:"test.example/nonce"`
		} `json:"_meta"`
	}
}

// verdict is what becomes of a request.
type verdict int

const (
	through   verdict = iota
	cut               // the connection breaks before the backend has it
	swallowed         // the backend has it, and the connection breaks before the answer
	withheld          // the backend has it, and the answer does not come
)

// newGate opens a gate in front of a backend.
func newGate(t *testing.T, backend string) *gate {
	t.Helper()
	target, err := url.Parse(backend)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{changed: make(chan struct{}, 1)}
	g.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL, r.Out.Host = target, target.Host
		},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(g)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g.url = server.URL + "/mcp"
	return g
}

// ServeHTTP implements [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var a asked
	if err != nil || json.Unmarshal(body, &a) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	g.seen = append(g.seen, a)
	pass := g.pass
	g.mu.Unlock()
	g.tell()
	r.Body = io.NopCloser(bytes.NewReader(body))
	v := through
	if pass != nil {
		v = pass(r.Context(), a)
	}
	switch v {
	case through:
		g.proxy.ServeHTTP(w, r)
		return
	case swallowed, withheld:
		g.proxy.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
		g.mu.Lock()
		g.kept++
		g.mu.Unlock()
		g.tell()
		if v == withheld {
			<-r.Context().Done()
		}
	case cut:
	}
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func (g *gate) tell() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// set changes what gets through.
func (g *gate) set(pass func(context.Context, asked) verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass = pass
}

// count returns how many requests of a method there were, for a tool or for any.
func (g *gate) count(method, tool string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.seen {
		if a.Method == method && (tool == "" || a.Params.Name == tool) {
			n++
		}
	}
	return n
}

// all returns every request so far.
func (g *gate) all() []asked {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]asked(nil), g.seen...)
}

// keeps returns how many answers were swallowed or withheld.
func (g *gate) keeps() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.kept
}

// await waits until something is true of what the backend was asked.
func (g *gate) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(patience)
	for !holds() {
		select {
		case <-g.changed:
		case <-late:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// world is a bridge, a backend, each a process of its own, the gate between them,
// and a client.
type world struct {
	t      *testing.T
	gate   *gate
	bridge *process
	serve  []string
	c      *client
}

// newWorld starts everything. The bridge keeps its state in a file, and has the
// settings.
func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	backend := launch(t, "demo", "modern", "--listen", "127.0.0.1:0")
	w := &world{t: t, gate: newGate(t, backend.url)}
	w.serve = []string{
		"serve", "--admin", "off", "--store", "embedded:" + filepath.Join(t.TempDir(), "state", "taskbridge.db"),
		"--backend", "default=" + w.gate.url, "--listen", "127.0.0.1:0",
		"--set", "sync_grace=50ms", "--set", "times.hosted_poll=100ms", "--set", "era=modern",
	}
	for _, s := range settings {
		w.serve = append(w.serve, "--set", s)
	}
	w.c = &client{t: t}
	w.start()
	w.c.initialize()
	return w
}

// start starts the bridge, or another one in its place.
func (w *world) start() {
	w.t.Helper()
	w.bridge = launch(w.t, w.serve...)
	w.c.url = w.bridge.url
}

// restart kills the bridge and starts it again.
func (w *world) restart() {
	w.t.Helper()
	w.bridge.kill()
	w.start()
}

// once fails the test if the backend got a call twice that a client has made once,
// or its repetition with the answers.
func (w *world) once() {
	w.t.Helper()
	first, again := make(map[string]int), make(map[string]int)
	for _, a := range w.gate.all() {
		if nonce := a.Params.Meta.Nonce; a.Method == "tools/call" && nonce != "" {
			if a.Params.RequestState == "" {
				first[nonce]++
			} else {
				again[nonce]++
			}
		}
	}
	for nonce, n := range first {
		if n > 1 || again[nonce] > 1 {
			w.t.Errorf("call %s was made %d times, and %d times with answers", nonce, n, again[nonce])
		}
	}
}
