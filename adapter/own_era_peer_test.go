package adapter_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/demo"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// eraCell is a bridge in front of a demo server of the era that its face speaks.
type eraCell struct {
	t     *testing.T
	dir   string
	set   []string // configuration keys, from the next beginning on
	logs  string   // what errors may be logged of
	store *tapped  // that other processes use as well; nil for one of its own
	back  *memnet.Listener
	front *memnet.Listener
	http  *http.Client
	log   *record
	stop  func() error
	all   []*incoming
}

// cellOf runs test in fake time with a cell.
func cellOf(t *testing.T, server http.Handler, test func(c *eraCell)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := &eraCell{t: t, dir: dir, back: memnet.Listen(), log: &record{}}
		hs := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = hs.Serve(c.back)
		}()
		defer func() {
			c.end()
			if s, ok := server.(interface{ Close() }); ok {
				s.Close()
			}
			_ = hs.Close()
			<-served
			if c.store != nil {
				_ = c.store.Close()
			}
			for _, line := range c.log.lines("level=ERROR") {
				if c.logs == "" || !strings.Contains(line, c.logs) {
					t.Errorf("log: %s", line)
				}
			}
		}()
		c.begin()
		test(c)
	})
}

func (c *eraCell) begin() {
	c.t.Helper()
	store, admin, listen := "embedded:"+c.dir+"/taskbridge.db", "off", "127.0.0.1:0"
	cfg, err := config.Load(config.Inputs{
		Flags:     config.Flags{Backends: []string{"quarry=http://127.0.0.1/mcp"}, Store: &store, Admin: &admin, Listen: &listen, Set: c.set},
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	front, ready := memnet.Listen(), make(chan struct{})
	c.front, c.http = front, &http.Client{Transport: &http.Transport{}}
	front.Attach(c.http)
	options := adapter.Options{
		Logger: slog.New(slog.NewTextHandler(c.log, nil)), Dial: c.back.Dial, Ready: func(adapter.Ready) { close(ready) },
		Listen: func(context.Context, string, string) (net.Listener, error) { return front, nil },
	}
	if c.store != nil {
		options.Store = c.store
	}
	bridge, err := adapter.New(c.t.Context(), cfg, options)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bridge.Run(ctx) }()
	<-ready
	c.stop = func() error {
		cancel()
		return <-done
	}
}

func (c *eraCell) end() {
	c.t.Helper()
	for _, in := range c.all {
		in.hangUp()
	}
	if err := c.stop(); err != nil {
		c.t.Errorf("the bridge ended with %v", err)
	}
	c.http.CloseIdleConnections()
}

// restart ends the bridge and begins another with the same store.
func (c *eraCell) restart() {
	c.t.Helper()
	c.end()
	synctest.Wait()
	c.begin()
}

// incoming is an answer that is being read.
type incoming struct {
	t      *testing.T
	status int
	header http.Header
	lines  *bufio.Reader
	stream bool
	cancel context.CancelFunc
	body   io.Closer
}

// send sends a request of HTTP.
func (c *eraCell) send(face, method, body string, header map[string]string) *incoming {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/"+face+"/quarry", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := c.http.Do(r) //nolint:bodyclose // hangUp does
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, body, err)
	}
	in := &incoming{
		t: c.t, status: resp.StatusCode, header: resp.Header, lines: bufio.NewReader(resp.Body), body: resp.Body, cancel: cancel,
		stream: strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"),
	}
	c.all = append(c.all, in)
	return in
}

// hangUp drops the connection.
func (in *incoming) hangUp() {
	in.cancel()
	_ = in.body.Close()
	synctest.Wait()
}

// next is the next message, or absent at the end.
func (in *incoming) next() wire.Value {
	in.t.Helper()
	if !in.stream {
		text, err := io.ReadAll(in.lines)
		if err != nil {
			in.t.Fatal(err)
		}
		return wire.Value(strings.TrimSpace(string(text)))
	}
	for {
		line, err := in.lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok && len(strings.TrimSpace(data)) > 0 {
			return wire.Value(strings.TrimSpace(data))
		}
		if err != nil {
			return ""
		}
	}
}

// last is the last message: the response.
func (in *incoming) last() (response wire.Value) {
	in.t.Helper()
	for {
		msg := in.next()
		if !msg.Present() {
			in.hangUp()
			return response
		}
		response = msg
		if !in.stream {
			in.hangUp()
			return response
		}
	}
}

// want reads a message of a method.
func (in *incoming) want(method string) wire.Value {
	in.t.Helper()
	msg := in.next()
	if got, _ := msg.Get("method").Text(); got != method {
		in.t.Fatalf("got %s, want %s", msg, method)
	}
	return msg
}

func text(v wire.Value, path ...string) string {
	for _, name := range path {
		v = v.Get(name)
	}
	s, _ := v.Text()
	return s
}

// oldClient is a client of 2025-11-25 with one session.
type oldClient struct {
	*eraCell

	session string
	auth    string
	id      int
}

func (c *eraCell) old(auth string) *oldClient {
	c.t.Helper()
	o := &oldClient{eraCell: c, auth: auth}
	in := o.post(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":{"elicitation":{"form":{}},"sampling":{},"roots":{}}}}`)
	o.session = in.header.Get("Mcp-Session-Id")
	if got := in.last(); o.session == "" || text(got, "result", "protocolVersion") != "2025-11-25" || !got.Get("result").Get("capabilities").Get("tasks").IsObject() {
		c.t.Fatalf("initialize: %d %s", in.status, got)
	}
	if in := o.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); in.status != http.StatusAccepted {
		c.t.Fatalf("initialized: %d", in.status)
	}
	return o
}

func (o *oldClient) headers() map[string]string {
	h := map[string]string{}
	if o.session != "" {
		h["Mcp-Session-Id"], h["MCP-Protocol-Version"] = o.session, "2025-11-25"
	}
	if o.auth != "" {
		h["Authorization"] = o.auth
	}
	return h
}

func (o *oldClient) post(body string) *incoming {
	o.t.Helper()
	return o.send("legacy", http.MethodPost, body, o.headers())
}

func (o *oldClient) get() *incoming {
	o.t.Helper()
	return o.send("legacy", http.MethodGet, "", o.headers())
}

func (o *oldClient) open(method, params string) *incoming {
	o.t.Helper()
	o.id++
	return o.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, o.id, method, params))
}

func (o *oldClient) do(method, params string) wire.Value {
	o.t.Helper()
	return o.open(method, params).last()
}

// answer answers a question.
func (o *oldClient) answer(question wire.Value, result string) {
	o.t.Helper()
	if in := o.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, question.Get("id"), result)); in.status != http.StatusAccepted {
		o.t.Fatalf("answer: %d", in.status)
	}
}

// task makes a task and returns its handle.
func (o *oldClient) task(tool, arguments string) string {
	o.t.Helper()
	got := o.do("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"task":{}}`, tool, arguments))
	id := text(got, "result", "task", "taskId")
	if len(id) < 100 || len(id) > 512 {
		o.t.Fatalf("%s made no task with a handle: %s", tool, got)
	}
	return id
}

// recentClient is a client of 2026-07-28.
type recentClient struct {
	*eraCell

	auth string
	id   int
}

const recentMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":`

// Capabilities of clients of 2026-07-28.
const (
	canAsk   = `{"elicitation":{"form":{}},"sampling":{}}`
	canTasks = `{"elicitation":{"form":{}},"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// open sends a request. Members are those of params beside _meta, with a comma in
// front.
func (r *recentClient) open(method, name, capabilities, members string, header ...string) *incoming {
	r.t.Helper()
	r.id++
	h := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
	if name != "" {
		h["Mcp-Name"] = name
	}
	if r.auth != "" {
		h["Authorization"] = r.auth
	}
	for i := 0; i+1 < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":%q,"params":{"_meta":{%s%s,"progressToken":"p%d"}%s}}`, r.id, method, recentMeta, capabilities, r.id, members)
	return r.send("modern", http.MethodPost, body, h)
}

func (r *recentClient) do(method, name, capabilities, members string) wire.Value {
	r.t.Helper()
	return r.open(method, name, capabilities, members).last()
}

// call calls a tool of a client that can follow tasks.
func (r *recentClient) call(tool, arguments string) wire.Value {
	r.t.Helper()
	return r.do("tools/call", tool, canTasks, fmt.Sprintf(`,"name":%q,"arguments":%s`, tool, arguments))
}

func (r *recentClient) about(method, handle, members string) wire.Value {
	r.t.Helper()
	return r.do(method, handle, canTasks, fmt.Sprintf(`,"taskId":%q%s`, handle, members))
}

func newOldDemo() http.Handler    { return demo.NewLegacy(demo.Options{}) }
func newRecentDemo() http.Handler { return demo.NewModern(demo.Options{}) }
