package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// seen is a request as the server got it.
type seen struct {
	verb   string
	header http.Header
	body   string
	msg    jsonrpc.Message
	at     time.Time
	// peer names the connection.
	peer string
}

// call is a request that a script answers.
type call struct {
	seen
	w http.ResponseWriter
	r *http.Request
	// n counts the requests with this verb and method, from 1.
	n int
}

// script answers requests by the method of their message, or by "GET", "DELETE"
// and "response". What it leaves out gets the usual answer.
type script map[string]func(x *call)

// fake is a scripted server and the client under test.
type fake struct {
	t      *testing.T
	client *legacy.Client

	handlers sync.WaitGroup

	mu     sync.Mutex
	script script
	seen   []seen
	counts map[string]int
	// strays are the messages that belong to no request.
	strays []jsonrpc.Message
	// slow is how long it takes to hear one, and inbox is held meanwhile.
	slow  time.Duration
	inbox sync.Mutex
}

// bubble runs test in fake time against a real HTTP server that follows s.
func bubble(t *testing.T, s script, tune func(*legacy.Options), test func(t *testing.T, f *fake)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, script: s, counts: map[string]int{}}
		net := memnet.Listen()
		o := legacy.Options{
			URL: &url.URL{Scheme: "http", Host: "backend.test", Path: "/mcp"},
			Env: env.System(), HTTP: transport.NewHTTPClient(nil),
		}
		if !net.Attach(o.HTTP) {
			t.Fatal("the transport was not attached")
		}
		if tune != nil {
			tune(&o)
		}
		f.client = legacy.New(o)
		server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		served := make(chan struct{})
		go func() { _ = server.Serve(net); close(served) }()
		t.Cleanup(func() {
			f.client.CloseIdle()
			_ = server.Close()
			<-served
			// A connection may have read a request that has no handler yet.
			synctest.Wait()
			f.handlers.Wait()
		})
		test(t, f)
	})
}

// ServeHTTP is the server's side.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.handlers.Add(1)
	defer f.handlers.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has given up
	}
	x := &call{seen: seen{verb: r.Method, header: r.Header.Clone(), body: string(body), at: time.Now(), peer: r.RemoteAddr}, w: w, r: r}
	name := r.Method
	if r.Method == http.MethodPost {
		if x.msg, err = jsonrpc.Read(body); err != nil {
			f.t.Errorf("request body %q: %v", body, err)
		}
		if name = x.msg.Method; name == "" {
			name = "response"
		}
	}
	f.mu.Lock()
	f.counts[name]++
	x.n = f.counts[name]
	f.seen = append(f.seen, x.seen)
	answer := f.script[name]
	f.mu.Unlock()
	if answer == nil {
		answer = usual
	}
	answer(x)
}

// usual is a server without a standing stream.
func usual(x *call) {
	switch {
	case x.verb == http.MethodGet:
		x.w.WriteHeader(http.StatusMethodNotAllowed)
	case x.msg.Method == "initialize":
		x.w.Header().Set("Mcp-Session-Id", "session-1")
		x.result(hello("2025-11-25"))
	case x.msg.Kind == jsonrpc.KindRequest:
		x.result(`{"ok":1}`)
	default:
		x.w.WriteHeader(http.StatusAccepted)
	}
}

func hello(version string) string {
	return `{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`
}

func (x *call) document(status int, contentType, body string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
}

func (x *call) rpc(status int, body string) { x.document(status, "application/json", body) }
func (x *call) result(result string)        { x.rpc(200, response(string(x.msg.ID), result)) }

// stream sends parts of an event stream; the first call sends its head.
func (x *call) stream(parts ...string) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range parts {
		_, _ = io.WriteString(x.w, part)
	}
	_ = http.NewResponseController(x.w).Flush()
}

// cut breaks the connection.
func (x *call) cut() {
	c, _, err := http.NewResponseController(x.w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// hold waits until the client has gone.
func (x *call) hold() { <-x.r.Context().Done() }

func event(data string) string     { return "data: " + data + "\n\n" }
func named(id, data string) string { return "id: " + id + "\ndata: " + data + "\n\n" }
func response(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func request(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
}
func note(method string) string { return `{"jsonrpc":"2.0","method":"` + method + `"}` }

func rpcError(id string, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"because"}}`, id, code)
}

// hello is what sessions of tests are opened with.
func (f *fake) hello() port.Hello {
	return port.Hello{
		ClientInfo: `{"name":"c","version":"2"}`, Capabilities: `{"roots":{}}`, Authorization: "Bearer s3cret",
		OnMessage: func(msg jsonrpc.Message) {
			if !f.inbox.TryLock() {
				f.t.Error("two messages at a time")
			}
			time.Sleep(f.slow)
			f.inbox.Unlock()
			f.mu.Lock()
			defer f.mu.Unlock()
			f.strays = append(f.strays, msg)
		},
	}
}

func (f *fake) open() port.Session {
	f.t.Helper()
	s, err := f.client.Open(f.t.Context(), f.hello())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func do(t *testing.T, s port.Session, call port.SessionCall) wire.Value {
	t.Helper()
	got, err := s.Do(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// list and tool are a request that changes nothing and one that may.
func list() port.SessionCall { return port.SessionCall{Method: "tools/list"} }

func tool() port.SessionCall {
	return port.SessionCall{Method: "tools/call", Params: `{"name":"dig","arguments":{"secret":"s3cret"}}`}
}

// follow changes the script. Scripts that use channels must make them in the
// bubble.
func (f *fake) follow(name string, answer func(x *call)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = mapsWith(f.script, name, answer)
}

func mapsWith(s script, name string, answer func(x *call)) script {
	with := script{name: answer}
	for name, answer := range s {
		if with[name] == nil {
			with[name] = answer
		}
	}
	return with
}

// got returns the requests with this verb or method.
func (f *fake) got(name string) []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []seen
	for _, s := range f.seen {
		if s.verb == name || s.msg.Method == name || name == "response" && (s.msg.Kind == jsonrpc.KindResult || s.msg.Kind == jsonrpc.KindError) {
			all = append(all, s)
		}
	}
	return all
}

func (f *fake) want(name string, n int) {
	f.t.Helper()
	if got := len(f.got(name)); got != n {
		f.t.Errorf("the server got %d times %s, want %d", got, name, n)
	}
}

// heard are the methods of the messages that belonged to no request.
func (f *fake) heard() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return methods(f.strays)
}

func methods(msgs []jsonrpc.Message) []string {
	var names []string
	for _, msg := range msgs {
		names = append(names, msg.Method)
	}
	return names
}

func wantMethods(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
}

func isLost(s port.Session) bool {
	select {
	case <-s.Lost():
		return true
	default:
		return false
	}
}

// upstream returns err as an *[port.UpstreamError], and fails the test when it is
// none or tells a secret.
func upstream(t *testing.T, err error) *port.UpstreamError {
	t.Helper()
	var got *port.UpstreamError
	if !errors.As(err, &got) {
		t.Fatalf("error %v, want an UpstreamError", err)
	}
	for _, secret := range []string{"s3cret", "Bearer", "payload", "session-1"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error %q tells %q", err, secret)
		}
	}
	return got
}
