package adapter_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/demo"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// crowdSize is how many sessions a crowd has; each has four streams open.
const crowdSize = 25

// crowd are the clients of a bridge that is about to stop, and the server behind it.
type crowd struct {
	t       *testing.T
	client  *client
	events  chan struct{}
	url     string // of the route
	wait    func() // returns when nothing more happens by itself
	members []*member
}

// member is a session with four streams open: its own, a wait for a task of the server
// that asks, one for a task that is hosted until it is answered, and a plain call that
// asks. Its client has hung up on another such call, which goes on without it.
type member struct {
	session                   string
	get, proxied, plain, host *clientExchange
	handles                   [2]string // of the tasks
}

func (m *member) streams() []*clientExchange {
	return []*clientExchange{m.get, m.proxied, m.host, m.plain}
}

// served is the modern demo server on a listener.
type served struct {
	stop func()
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func serveDemo(l net.Listener) *served {
	s := &served{open: make(map[net.Conn]struct{})}
	server := demo.NewModern(demo.Options{})
	hs := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute, ConnState: s.note}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = hs.Serve(l)
	}()
	s.stop = func() {
		server.Close()
		_ = hs.Close()
		<-done
	}
	return s
}

func (s *served) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateClosed {
		delete(s.open, c)
	} else {
		s.open[c] = struct{}{}
	}
}

// connections counts those that are open.
func (s *served) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// crowded is the configuration of a bridge in front of a demo server, with its store in
// a file.
func crowded(t *testing.T, dir, backend string, settings ...string) *config.Config {
	t.Helper()
	store, admin, listen := "embedded:"+dir+"/taskbridge.db", "off", "127.0.0.1:0"
	cfg, err := config.Load(config.Inputs{
		Flags: config.Flags{
			Backends: []string{"quarry=http://" + backend + "/mcp"}, Store: &store, Admin: &admin, Listen: &listen,
			Set: append([]string{"era=modern"}, settings...),
		},
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// begin sends a message of a session, or opens its stream.
func (c *crowd) begin(session, body string) *clientExchange {
	c.t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(context.Background(), method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	return c.client.begin(method, r)
}

// await waits until something holds.
func (c *crowd) await(what string, holds func() bool) {
	c.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.wait()
		if holds() {
			return
		}
		select {
		case <-c.events:
		case <-late.C:
			c.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// heard returns the next message of an exchange.
func (c *crowd) heard(x *clientExchange) wire.Value {
	c.t.Helper()
	c.await("a message", x.answered)
	got, _ := x.next()
	v, err := wire.Check([]byte(got.text))
	if err != nil {
		c.t.Fatalf("%v in %q", err, got.text)
	}
	return v
}

// asked returns the question that comes next on a stream.
func (c *crowd) asked(x *clientExchange) wire.Value {
	c.t.Helper()
	for {
		v := c.heard(x)
		switch v.Get("method") {
		case `"elicitation/create"`:
			return v
		case `"notifications/cancelled"`:
		default:
			c.t.Fatalf("no question, but %s", v)
		}
	}
}

func (c *crowd) call(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func (c *crowd) result(id int, handle string) string {
	return c.call(id, "tasks/result", `{"taskId":"`+handle+`"}`)
}

// fill lets all sessions come, and returns when every stream is open and every question
// is put.
func (c *crowd) fill() {
	c.t.Helper()
	const hello = `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"orbit","version":"3.1.0"}}`
	for range crowdSize {
		x := c.begin("", c.call(0, "initialize", hello))
		c.heard(x)
		c.members = append(c.members, &member{session: x.answer().header.Get("Mcp-Session-Id")})
	}
	var lost []*clientExchange
	for _, m := range c.members {
		m.get = c.begin(m.session, "")
		m.plain = c.begin(m.session, c.call(1, "tools/call", `{"name":"ask"}`))
		lost = append(lost, c.begin(m.session, c.call(2, "tools/call", `{"name":"ask"}`)))
		for i, tool := range []string{"ask", "ask_first"} {
			v := c.heard(c.begin(m.session, c.call(3+i, "tools/call", `{"name":"`+tool+`","task":{}}`)))
			m.handles[i], _ = v.Get("result").Get("task").Get("taskId").Text()
		}
		m.proxied = c.begin(m.session, c.result(5, m.handles[0]))
		m.host = c.begin(m.session, c.result(6, m.handles[1]))
	}
	for i, m := range c.members {
		for _, x := range []*clientExchange{lost[i], m.plain, m.proxied, m.host} {
			c.asked(x)
		}
		lost[i].hangUp()
		c.await("a stream", func() bool { return m.get.answer() != nil })
	}
}

// ended waits for the end of every stream. Those that a client comes back to just end;
// who waits for a call is told why.
func (c *crowd) ended() {
	c.t.Helper()
	for i, m := range c.members {
		for j, x := range m.streams() {
			c.await("the end of a stream", func() bool {
				x.mu.Lock()
				defer x.mu.Unlock()
				return !x.ended.IsZero()
			})
			var last string
			for got, ok := x.next(); ok; got, ok = x.next() {
				last = got.text
			}
			if _, broken := x.end(); broken != nil {
				c.t.Errorf("session %d, stream %d: it broke: %v", i, j, broken)
			}
			if told := strings.Contains(last, "the bridge is shutting down"); told != (x == m.plain) {
				c.t.Errorf("session %d, stream %d: the last message is %s", i, j, last)
			}
		}
	}
}

// again goes on with every session on another bridge, to the end of its tasks.
func (c *crowd) again() {
	c.t.Helper()
	waits := make([][2]*clientExchange, len(c.members))
	for i, m := range c.members {
		for j, handle := range m.handles {
			waits[i][j] = c.begin(m.session, c.result(10+j, handle))
		}
	}
	var accepted []*clientExchange
	for i, m := range c.members {
		for _, x := range waits[i] {
			id := string(c.asked(x).Get("id"))
			answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"name":"Ada"}}}`
			accepted = append(accepted, c.begin(m.session, answer))
		}
	}
	for _, x := range accepted {
		c.await("the acceptance of an answer", x.answered)
	}
	for i := range c.members {
		for j, x := range waits[i] {
			if v := c.heard(x); !v.Get("result").Get("content").Present() || !strings.Contains(string(v), "Ada") {
				c.t.Errorf("session %d, task %d: it ended with %s", i, j, v)
			}
		}
	}
}
