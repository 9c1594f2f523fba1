package modern_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const backend = "basalt"

// script is what becomes of a request.
type script func(context.Context, *port.Exchange) port.Outcome

// crossing is a scripted [port.Crossing] that remembers what it was asked.
type crossing struct {
	port.Crossing // a call of any other method is a fault
	mu            sync.Mutex
	scripts       map[string]script
	requests      []*port.Exchange
	check         func(ctx context.Context, x *port.Exchange, header func(string) []string) error
}

// on scripts a method; every other one is answered with its own name.
func (x *crossing) on(method string, s script) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.scripts[method] = s
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

// talk sends what it is told, one message after the other, and answers once there
// is no more.
func (x *crossing) talk(method string) chan<- string {
	say := make(chan string)
	x.on(method, func(ctx context.Context, e *port.Exchange) port.Outcome {
		for {
			select {
			case n, more := <-say:
				if !more {
					return port.Outcome{Result: "{}"}
				}
				if err := e.Stream.Send(note(n)); err != nil {
					return port.Fail(err)
				}
			case <-ctx.Done():
				return port.Fail(context.Cause(ctx))
			}
		}
	})
	return say
}

// Request implements [port.Crossing].
func (x *crossing) Request(ctx context.Context, e *port.Exchange) port.Outcome {
	x.mu.Lock()
	x.requests = append(x.requests, e)
	s := x.scripts[e.Message.Method]
	x.mu.Unlock()
	if s != nil {
		return s(ctx, e)
	}
	return port.Outcome{Result: wire.Value(`{"method":` + string(wire.AppendString(nil, e.Message.Method)) + `}`)}
}

// CheckParams implements [port.ParamChecker].
func (x *crossing) CheckParams(ctx context.Context, e *port.Exchange, header func(string) []string) error {
	if x.check == nil {
		return nil
	}
	return x.check(ctx, e, header)
}

func (x *crossing) last() *port.Exchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.requests[len(x.requests)-1]
}

func (x *crossing) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.requests)
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

// rig is a face behind a real HTTP server on an in-memory network.
type rig struct {
	t        testing.TB
	crossing *crossing
	face     *modern.Face
	net      *memnet.Listener
	server   *http.Server
	client   *http.Client
	logs     *logs
}

// bubble runs test in fake time.
func bubble(t *testing.T, tune func(*modern.Options), test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, tune)) })
}

func options(tb testing.TB, x *crossing) modern.Options {
	tb.Helper()
	peers, err := replica.New(context.Background(), replica.Options{Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return modern.Options{
		Crossing: x, Params: x, Peers: peers, Env: env.System(), Logger: slog.New(slog.DiscardHandler),
		Filter: func(_ string, msg []byte) []byte { return msg },
		Budget: edge.NewBudget(1<<30, 1<<30),
		Limits: modern.Limits{Body: 4 << 10, Requests: 100, StreamsPerCaller: 2},
	}
}

func engine(face *modern.Face) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.Use(verified)
	face.Register(e, "/modern/"+backend, modern.Route{Backend: backend})
	face.Register(e, "/modern/strict", modern.Route{Backend: "strict", StrictTaskNames: true})
	return e
}

func newCrossing() *crossing { return &crossing{scripts: make(map[string]script)} }

func newRig(t testing.TB, tune func(*modern.Options)) *rig {
	t.Helper()
	r := &rig{t: t, crossing: newCrossing(), logs: new(logs), net: memnet.Listen()}
	o := options(t, r.crossing)
	o.Logger = slog.New(slog.NewTextHandler(r.logs, nil))
	if tune != nil {
		tune(&o)
	}
	r.face = modern.New(o)
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

// post is a POST as a conformant client sends it, before a test spoils it.
type post struct {
	method string // of HTTP
	path   string
	body   string
	header http.Header
}

// meta is the least that a request says of its client.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// metaTasks also declares the tasks extension.
const metaTasks = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// ask is a request; params are the members beside _meta.
func ask(id, method, params string, header ...string) post {
	return asking(id, method, params, meta, header...)
}

func asking(id, method, params, meta string, header ...string) post {
	if params != "" {
		params += ","
	}
	return raw(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":{`+params+meta+`}}`,
		append([]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}, header...)...)
}

// call is a tools/call.
func call(id string, header ...string) post {
	return ask(id, "tools/call", `"name":"sieve"`, append([]string{"Mcp-Name: sieve"}, header...)...)
}

// listen is a subscription.
func listen(id string, header ...string) post {
	return ask(id, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, header...)
}

// raw is a POST of any body.
func raw(body string, header ...string) post {
	p := post{method: http.MethodPost, path: "/modern/" + backend, body: body, header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}}
	return p.with(header...)
}

// with sets headers. Each is "Name: value", "Name:" for one that must not be sent,
// or "+Name: value" for one more.
func (p post) with(header ...string) post {
	p.header = p.header.Clone()
	for _, h := range header {
		name, value, _ := strings.Cut(h, ":")
		more, add := strings.CutPrefix(name, "+")
		switch value = strings.TrimPrefix(value, " "); {
		case add:
			p.header.Add(more, value)
		case value == "":
			p.header.Del(name)
		default:
			p.header.Set(name, value)
		}
	}
	return p
}

// to sends the request elsewhere.
func (p post) to(path string) post {
	p.path = path
	return p
}

func (r *rig) send(ctx context.Context, p post) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, p.method, "http://localhost"+p.path, strings.NewReader(p.body))
	if err != nil {
		return nil, err
	}
	req.Header = p.header
	return r.client.Do(req)
}

// answer is a response that has been read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request and reads its answer.
func (r *rig) do(p post) answer {
	r.t.Helper()
	resp, err := r.send(context.Background(), p)
	if err != nil {
		r.t.Fatalf("%s: %v", p.body, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("read the answer: %v", err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// background sends a request whose answer arrives on the channel.
func (r *rig) background(p post) <-chan answer {
	r.t.Helper()
	done := make(chan answer, 1)
	go func() { done <- r.do(p) }()
	synctest.Wait()
	return done
}

// stream is an event stream that is being read.
type stream struct {
	tb     testing.TB
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// stream sends a request whose answer must be an event stream.
func (r *rig) stream(p post) *stream {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := r.send(ctx, p)
	if err != nil {
		r.t.Fatalf("%s: %v", p.body, err)
	}
	r.t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		r.t.Fatalf("%s: %d %s, want an event stream", p.body, resp.StatusCode, got)
	}
	return &stream{tb: r.t, resp: resp, lines: bufio.NewReader(resp.Body), cancel: cancel}
}

// next returns the lines of the next event, or "EOF".
func (s *stream) next() string {
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

func wantAnswer(t *testing.T, a answer, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("answer %d %s\nwant %d %s", a.status, a.body, status, body)
	}
}

// failed is an error response; data is raw and may be empty.
func failed(id, code, message, data string) string {
	if id != "" {
		id = `,"id":` + id
	}
	if data != "" {
		data = `,"data":` + data
	}
	return `{"jsonrpc":"2.0"` + id + `,"error":{"code":` + code + `,"message":"` + message + `"` + data + `}}`
}

func result(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func note(n string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":` + n + `}}`)
}

func data(msg string) string { return "data: " + strings.ReplaceAll(msg, "\n", "\ndata: ") }

func event(n string) string { return data(string(note(n))) }

// after answers when d has passed.
func after(d time.Duration) script {
	return func(context.Context, *port.Exchange) port.Outcome {
		time.Sleep(d)
		return port.Outcome{Result: "{}"}
	}
}

// large is a result of at least n bytes.
func large(n int) wire.Value { return wire.Value(`{"text":"` + strings.Repeat("x", n) + `"}`) }

const keepAlive = ": keep-alive"
