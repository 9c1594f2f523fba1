package legacy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	backend     = "quarry"
	idle        = time.Hour
	window      = 5 * time.Minute
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"orbit","version":"3.1.0"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// crossing is a scripted [port.Crossing] that remembers what it was asked.
type crossing struct {
	mu       sync.Mutex
	scripts  map[string]func(context.Context, *port.Exchange) port.Outcome
	requests []*port.Exchange
	silent   []*port.Exchange // notifications and answers
	notes    []string
	answers  []string
	refuse   error // what becomes of answers
	subs     []port.Subscriber
	detached int
	gone     []port.Caller
	onEnd    func(context.Context)
}

// on scripts a method; every other one is answered with its own name.
func (x *crossing) on(method string, script func(context.Context, *port.Exchange) port.Outcome) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.scripts[method] = script
}

// hang answers when the exchange is cancelled, with the cause, which it also
// reports.
func (x *crossing) hang(method string) <-chan error {
	ended := make(chan error, 1000)
	x.on(method, func(ctx context.Context, _ *port.Exchange) port.Outcome {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return port.Fail(context.Cause(ctx))
	})
	return ended
}

// Request implements [port.Crossing].
func (x *crossing) Request(ctx context.Context, e *port.Exchange) port.Outcome {
	x.mu.Lock()
	x.requests = append(x.requests, e)
	script := x.scripts[e.Message.Method]
	x.mu.Unlock()
	switch {
	case script != nil:
		return script(ctx, e)
	case e.Message.Method == "initialize":
		return port.Outcome{Result: wire.Value(`{"protocolVersion":"` + e.Caller.Version + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)}
	default:
		return port.Outcome{Result: wire.Value(`{"method":"` + e.Message.Method + `"}`)}
	}
}

// Notification implements [port.Crossing].
func (x *crossing) Notification(_ context.Context, e *port.Exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notes, x.silent = append(x.notes, e.Message.Method), append(x.silent, e)
}

// Answer implements [port.Crossing].
func (x *crossing) Answer(_ context.Context, e *port.Exchange) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answers, x.silent = append(x.answers, string(e.Message.Raw)), append(x.silent, e)
	return x.refuse
}

// Attach implements [port.Crossing].
func (x *crossing) Attach(sub port.Subscriber) func() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.subs = append(x.subs, sub)
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.detached++
	}
}

// EndSession implements [port.Crossing].
func (x *crossing) EndSession(ctx context.Context, _ string, caller port.Caller) {
	x.mu.Lock()
	x.gone = append(x.gone, caller)
	then := x.onEnd
	x.mu.Unlock()
	if then != nil {
		then(ctx)
	}
}

// counts returns how many sessions are attached, were detached and have ended.
func (x *crossing) counts() (attached, detached, ended int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.subs), x.detached, len(x.gone)
}

func (x *crossing) last() *port.Exchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.requests[len(x.requests)-1]
}

// calls counts the requests of a method.
func (x *crossing) calls(method string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for _, e := range x.requests {
		if e.Message.Method == method {
			n++
		}
	}
	return n
}

// rig is a face behind a real HTTP server on an in-memory network.
type rig struct {
	t        testing.TB
	crossing *crossing
	store    state.Store
	face     *legacy.Face
	net      *memnet.Listener
	server   *http.Server
	client   *http.Client
	logs     *logs
}

// logs is what the face has logged.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// bubble runs test in fake time.
func bubble(t *testing.T, tune func(*legacy.Options), test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, tune)) })
}

func options(tb testing.TB, x port.Crossing) legacy.Options {
	tb.Helper()
	keys, err := seal.New([][]byte{bytes.Repeat([]byte("s"), seal.SecretSize)}, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	store, err := embedded.Open(context.Background(), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Errorf("store: %v", err)
		}
	})
	peers, err := replica.New(context.Background(), replica.Options{Keys: keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return legacy.Options{
		Crossing: x, Store: store, Peers: peers, Keys: keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler),
		Filter: func(_ string, msg []byte) []byte { return msg },
		Budget: edge.NewBudget(1<<30, 1<<30),
		Limits: legacy.Limits{Body: 4 << 10, Kept: 1 << 28, Sessions: 100, SessionsPerAddress: 100, StreamsPerSession: 2},
		Times:  legacy.Times{SessionIdle: idle, ReplayWindow: window},
	}
}

func engine(face *legacy.Face) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.Use(verified)
	face.Register(e, "/legacy/"+backend, backend)
	face.Register(e, "/legacy/other", "other")
	return e
}

func newRig(t testing.TB, tune func(*legacy.Options)) *rig {
	t.Helper()
	r := &rig{t: t, crossing: &crossing{scripts: make(map[string]func(context.Context, *port.Exchange) port.Outcome)}, logs: new(logs), net: memnet.Listen()}
	o := options(t, r.crossing)
	o.Logger = slog.New(slog.NewTextHandler(r.logs, nil))
	if tune != nil {
		tune(&o)
	}
	r.store, r.face = o.Store, legacy.New(o)
	r.server = &http.Server{Handler: engine(r.face), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.NewTextHandler(r.logs, nil), slog.LevelError)}
	r.client = &http.Client{Transport: &http.Transport{DialContext: r.net.Dial, MaxIdleConnsPerHost: 100}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = r.server.Serve(r.net)
	}()
	t.Cleanup(func() {
		if err := r.face.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		r.client.CloseIdleConnections()
		_ = r.server.Close()
		<-served
		if strings.Contains(r.logs.String(), "http: panic") {
			t.Errorf("a handler panicked:\n%s", r.logs)
		}
	})
	return r
}

// request sends a request. Each header is "Name: value", or "Name:" for one that
// must not be sent.
func (r *rig) request(ctx context.Context, method, session, body string, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost/legacy/"+backend, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ":")
		switch value = strings.TrimSpace(value); {
		case name == "Transfer-Encoding":
			req.ContentLength = -1
		case name == "Path":
			req.URL.Path = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, body, err)
	}
	return resp
}

// answer is a response that has been read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func read(tb testing.TB, resp *http.Response) answer {
	tb.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatalf("read the answer: %v", err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// do sends a request and reads its answer.
func (r *rig) do(method, session, body string, header ...string) answer {
	r.t.Helper()
	resp := r.request(context.Background(), method, session, body, header...)
	defer func() { _ = resp.Body.Close() }()
	return read(r.t, resp)
}

func (r *rig) post(session, body string, header ...string) answer {
	r.t.Helper()
	return r.do(http.MethodPost, session, body, header...)
}

// open begins a session.
func (r *rig) open(header ...string) string {
	r.t.Helper()
	a := r.post("", initialize, header...)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != http.StatusOK || id == "" {
		r.t.Fatalf("initialize: %d %q %s", a.status, id, a.body)
	}
	return id
}

// openVersion begins a session of a revision.
func (r *rig) openVersion(version string) string {
	r.t.Helper()
	a := r.post("", strings.Replace(initialize, "2025-11-25", version, 1))
	if a.status != http.StatusOK || !strings.Contains(a.body, `"protocolVersion":"`+version) {
		r.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	return a.header.Get("Mcp-Session-Id")
}

// stream is an event stream that is being read.
type stream struct {
	tb     testing.TB
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
	primed string // the event without a message that it began with
	last   string // the id of the last event
}

// stream sends a request whose answer must be an event stream.
func (r *rig) stream(method, session, body string, header ...string) *stream {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	resp := r.request(ctx, method, session, body, header...)
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		r.t.Fatalf("%s %s: %d %s, want an event stream", method, body, resp.StatusCode, got)
	}
	r.t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	return &stream{tb: r.t, resp: resp, lines: bufio.NewReader(resp.Body), cancel: cancel}
}

// next returns the lines of the next event with a message, its id apart, or
// "EOF".
func (s *stream) next() string {
	s.tb.Helper()
	for {
		event := s.event()
		first, rest, _ := strings.Cut(event, "\n")
		id, found := strings.CutPrefix(first, "id: ")
		if !found {
			return event
		}
		s.last = id
		if rest != "retry: 1000\ndata: " {
			return rest
		}
		if s.primed != "" {
			s.tb.Errorf("a second event without a message: %s", event)
		}
		s.primed = id
	}
}

// event returns the lines of the next event, or "EOF".
func (s *stream) event() string {
	s.tb.Helper()
	var event []string
	for {
		line, err := s.lines.ReadString('\n')
		switch {
		case err == io.EOF && line == "" && event == nil:
			return "EOF"
		case err != nil:
			s.tb.Fatalf("event stream: %v after %q", err, append(event, line))
		case line == "\n":
			return strings.Join(event, "\n")
		}
		event = append(event, strings.TrimSuffix(line, "\n"))
	}
}

// want reads the next events and compares them.
func (s *stream) want(events ...string) {
	s.tb.Helper()
	for _, want := range events {
		if got := s.next(); got != want {
			s.tb.Errorf("event\n%s\nwant\n%s", got, want)
		}
	}
}

// hangUp drops the connection.
func (s *stream) hangUp() {
	s.cancel()
	_ = s.resp.Body.Close()
	synctest.Wait()
}

// background sends a request whose answer arrives on the channel.
func (r *rig) background(session, body string, header ...string) <-chan answer {
	r.t.Helper()
	done := make(chan answer, 1)
	go func() { done <- r.post(session, body, header...) }()
	synctest.Wait()
	return done
}

func wantError(t *testing.T, a answer, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("answer %d %s\nwant %d %s", a.status, a.body, status, body)
	}
}

const keepAlive = ": keep-alive"

func call(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"name":"sieve"}}`
}

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func note(n string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":` + n + `}}`)
}

// large is a result of at least n bytes.
func large(n int) wire.Value {
	return wire.Value(`{"text":"` + strings.Repeat("x", n) + `"}`)
}

// record calls the handler itself.
func record(handler http.Handler, method, session, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "/legacy/"+backend, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return w
}
