package modern_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// seen is a request as the fake server got it.
type seen struct {
	header http.Header
	body   string
	msg    jsonrpc.Message
	at     time.Time
}

// fake is a scripted server and the client under test.
type fake struct {
	t      *testing.T
	net    *memnet.Listener
	client *modern.Client

	conns sync.WaitGroup

	mu     sync.Mutex
	script script
	seen   []seen
}

// script answers the n-th request, counted from 1, on the raw connection and
// reports whether the connection may be used again.
type script func(c net.Conn, n int, id string) bool

// bubble runs test in fake time against a server that follows s.
func bubble(t *testing.T, s script, tune func(*modern.Options), test func(t *testing.T, f *fake)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, net: memnet.Listen(), script: s}
		o := modern.Options{
			URL: &url.URL{Scheme: "http", Host: "backend.test", Path: "/mcp"},
			Env: env.System(), HTTP: modern.NewHTTPClient(nil),
		}
		if !f.net.Attach(o.HTTP) {
			t.Fatal("the transport was not attached")
		}
		if tune != nil {
			tune(&o)
		}
		f.client = modern.New(o)
		go f.serve()
		t.Cleanup(func() {
			f.client.CloseIdle()
			_ = f.net.Close()
			f.conns.Wait()
		})
		test(t, f)
	})
}

// follow changes the script. Scripts that use channels must make them in the
// bubble.
func (f *fake) follow(s script) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = s
}

func (f *fake) serve() {
	for {
		c, err := f.net.Accept()
		if err != nil {
			return
		}
		f.conns.Go(func() {
			defer func() { _ = c.Close() }()
			r := bufio.NewReader(c)
			for {
				n, id, s, err := f.receive(r)
				if err != nil || !s(c, n, id) {
					return
				}
			}
		})
	}
}

func (f *fake) receive(r *bufio.Reader) (int, string, script, error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return 0, "", nil, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return 0, "", nil, err
	}
	msg, err := jsonrpc.Read(body)
	if err != nil {
		f.t.Errorf("request body %q: %v", body, err)
	}
	header := req.Header.Clone()
	header.Set("Content-Length", fmt.Sprint(req.ContentLength))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, seen{header, string(body), msg, time.Now()})
	return len(f.seen), string(msg.ID), f.script, nil
}

func (f *fake) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

func (f *fake) wantRequests(n int) {
	f.t.Helper()
	if got := len(f.requests()); got != n {
		f.t.Errorf("the server got %d requests, want %d", got, n)
	}
}

// document writes a whole answer with a length.
func document(c net.Conn, status int, contentType, body string, extra ...string) bool {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d x\r\nContent-Type: %s\r\nContent-Length: %d\r\n", status, contentType, len(body))
	for _, line := range extra {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n" + body)
	_, err := c.Write(b.Bytes())
	return err == nil
}

func rpc(c net.Conn, status int, body string) bool {
	return document(c, status, "application/json", body)
}

// begin starts a chunked event stream.
func begin(c net.Conn) {
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
}

func chunk(c net.Conn, s string) bool {
	_, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(s), s)
	return err == nil
}

func finish(c net.Conn) bool {
	_, err := io.WriteString(c, "0\r\n\r\n")
	return err == nil
}

// stream writes a whole event stream.
func stream(c net.Conn, parts ...string) bool {
	begin(c)
	for _, part := range parts {
		if !chunk(c, part) {
			return false
		}
	}
	return finish(c)
}

func event(data string) string { return "event: message\ndata: " + data + "\n\n" }

func result(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func rpcError(id string, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"because","data":{"k":1}}}`, id, code)
}

func progress(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, n)
}

func answer(c net.Conn, _ int, id string) bool { return rpc(c, 200, result(id, `{"ok":1}`)) }

// list and tool are a request that changes nothing and one that may.
func list() port.Call {
	return port.Call{Method: "tools/list", Params: `{"_meta":{}}`}
}

func tool() port.Call {
	return port.Call{Method: "tools/call", Params: `{"name":"dig","arguments":{"secret":"s3cret"},"_meta":{}}`}
}

func (f *fake) mustDo(call port.Call) wire.Value {
	f.t.Helper()
	got, err := f.client.Do(f.t.Context(), call)
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

// quiet fails the test when an error says what must stay secret.
func quiet(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, secret := range []string{"s3cret", "Bearer", "payload"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error %q tells %q", err, secret)
		}
	}
}
