package bridge_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// sessionBack is a scripted [port.SessionBack].
type sessionBack struct {
	mu       sync.Mutex
	about    wire.Value
	version  string
	refuse   error // of Open
	early    []jsonrpc.Message
	sessions []*pair
	ended    []port.Ticket
	calls    []port.SessionCall
	do       func(ctx context.Context, s *pair, call port.SessionCall) (wire.Value, error)
}

// pair is a session of sessionBack.
type pair struct {
	b       *sessionBack
	hello   port.Hello
	ticket  port.Ticket
	about   wire.Value
	resumed bool
	lost    chan struct{}
	once    sync.Once

	mu      sync.Mutex
	said    []string // by the bridge, besides requests
	deleted bool
	closed  bool
	fail    error // of what is said
}

func (b *sessionBack) Open(_ context.Context, hello port.Hello) (port.Session, error) {
	if b.refuse != nil {
		return nil, b.refuse
	}
	s := b.add(hello, port.Ticket{Version: b.version}, false)
	s.about = b.about
	for _, msg := range b.early {
		go hello.OnMessage(msg)
	}
	return s, nil
}

func (b *sessionBack) Resume(_ context.Context, ticket port.Ticket, hello port.Hello) port.Session {
	return b.add(hello, ticket, true)
}

func (b *sessionBack) End(_ context.Context, ticket port.Ticket, _ port.Hello) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, ticket)
}

func (b *sessionBack) add(hello port.Hello, ticket port.Ticket, resumed bool) *pair {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !resumed {
		ticket.ID = fmt.Sprintf("secret-%d", len(b.sessions)+1)
	}
	s := &pair{b: b, hello: hello, ticket: ticket, resumed: resumed, lost: make(chan struct{})}
	b.sessions = append(b.sessions, s)
	return s
}

func (s *pair) Ticket() port.Ticket   { return s.ticket }
func (s *pair) About() wire.Value     { return s.about }
func (s *pair) Lost() <-chan struct{} { return s.lost }
func (s *pair) lose()                 { s.once.Do(func() { close(s.lost) }) }

func (s *pair) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.deleted = s.deleted || ctx.Err() == nil
	s.mu.Unlock()
	s.lose()
}

func (s *pair) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	s.b.mu.Lock()
	s.b.calls = append(s.b.calls, call)
	n := len(s.b.calls)
	s.b.mu.Unlock()
	if call.OnID != nil {
		call.OnID(jsonrpc.IntID(int64(100 + n)))
	}
	if s.b.do == nil {
		return "{}", nil
	}
	return s.b.do(ctx, s, call)
}

func (s *pair) say(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.said = append(s.said, what)
	}
	return s.fail
}

func (s *pair) Notify(_ context.Context, method string, params wire.Value) error {
	return s.say(method + " " + string(params))
}

func (s *pair) Respond(_ context.Context, response []byte) error { return s.say(string(response)) }

// heard returns and forgets what the bridge has said.
func (s *pair) heard() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.said
	s.said = nil
	return said
}

// message is what a peer says.
func message(t testing.TB, text string) jsonrpc.Message {
	t.Helper()
	msg, err := jsonrpc.Read([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return msg
}

// passage is a crossing within the legacy era, and its store.
type passage struct {
	t       *testing.T
	back    *sessionBack
	keys    *seal.Keys
	store   state.Store
	cross   *bridge.PassLegacy
	handles *handle.Book

	contradicted int
}

func passLegacy(t *testing.T, test func(t *testing.T, p *passage)) {
	t.Helper()
	t.Parallel()
	passLegacyAlone(t, test)
}

// passLegacyAlone is passLegacy for a test that runs beside no other.
func passLegacyAlone(t *testing.T, test func(t *testing.T, p *passage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.New([][]byte{bytes.Repeat([]byte("s"), seal.SecretSize)}, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		p := &passage{t: t, keys: keys, store: store, back: &sessionBack{
			version: "2025-11-25", about: `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}},"com.acme/x":1.0},"serverInfo":{"name":"basalt","version":"1"},"resultType":"own"}`,
		}}
		defer func() {
			p.close()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		p.begin()
		test(t, p)
	})
}

func (p *passage) begin() {
	p.t.Helper()
	var err error
	p.handles, err = handle.New(handle.Options{Keys: p.keys, Store: p.store, Env: env.System(), Face: "legacy", Retention: time.Hour})
	if err != nil {
		p.t.Fatal(err)
	}
	p.cross = bridge.NewPassLegacy(bridge.PassLegacyOptions{
		Handles: p.handles, Keys: p.keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler),
		Backends: []*bridge.SessionBackend{{
			Name: "basalt", Back: p.back, Authorization: func(caller port.Caller) string { return caller.Authorization },
			Contradict: func() { p.contradicted++ },
		}},
	})
}

func (p *passage) close() {
	p.t.Helper()
	if err := p.cross.Close(context.WithoutCancel(p.t.Context())); err != nil {
		p.t.Errorf("Close: %v", err)
	}
}

// restart ends the crossing and begins another, as another process would.
func (p *passage) restart() {
	p.t.Helper()
	p.close()
	p.begin()
}

// old is a client's session.
type old struct {
	p      *passage
	caller port.Caller
	over   chan struct{}

	mu     sync.Mutex
	pushed []string
	lost   int
}

func (p *passage) client(session, principal string) *old {
	return &old{p: p, over: make(chan struct{}), caller: port.Caller{
		Session: session, Principal: principal, Version: "2025-11-25", Tasks: true, Authorization: "Bearer " + principal,
		ClientInfo: `{"name":"orbit","version":"1"}`, Capabilities: `{"elicitation":{},"tasks":{}}`,
	}}
}

func (o *old) tie(keep func(string)) *port.Tie {
	return &port.Tie{Over: o.over, Keep: keep, Lose: func() { o.mu.Lock(); defer o.mu.Unlock(); o.lost++ }}
}

func (o *old) push(key string, msg []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pushed = append(o.pushed, key+": "+string(msg))
}

// told returns and forgets what was pushed.
func (o *old) told() []string {
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	told := o.pushed
	o.pushed = nil
	return told
}

// exchange is a message of the client, and what is sent on its stream.
func (o *old) exchange(text string) (*port.Exchange, *client) {
	o.p.t.Helper()
	s := &client{asks: true}
	return &port.Exchange{
		Backend: "basalt", Caller: o.caller, Message: message(o.p.t, text), Stream: s, Push: o.push, Tie: o.tie(nil),
	}, s
}

// client is a stream that keeps what is sent.
type client struct {
	stream

	asks bool
	mu   sync.Mutex
	got  []string
	gone error
}

func (c *client) Asks() bool { return c.asks }

func (c *client) Send(msg []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.got = append(c.got, string(msg))
	}
	return c.gone
}

// told returns and forgets what was sent.
func (c *client) told() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"tasks":{}},"clientInfo":{"name":"orbit","version":"1"},"com.acme/v": [1.0]}}`

// open begins the session and returns the backend's.
func (o *old) open() *pair {
	o.p.t.Helper()
	if out := o.initialize(hello); out.Err != nil {
		o.p.t.Fatal(out.Err)
	}
	o.p.back.mu.Lock()
	defer o.p.back.mu.Unlock()
	return o.p.back.sessions[len(o.p.back.sessions)-1]
}

func (o *old) initialize(text string) port.Outcome {
	o.p.t.Helper()
	x, _ := o.exchange(text)
	x.Stream, x.Tie = nil, o.tie(func(data string) { o.caller.Kept = data })
	return o.p.cross.Request(o.p.t.Context(), x)
}

// do performs a request and returns its result or error.
func (o *old) do(method, params string) string {
	o.p.t.Helper()
	x, _ := o.exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	out := o.p.cross.Request(o.p.t.Context(), x)
	if out.Err != nil {
		return out.Err.Error()
	}
	return string(out.Result)
}

// task makes the backend answer a call with a task, and returns its handle.
func (o *old) task(id string) string {
	o.p.t.Helper()
	do := o.p.back.do
	defer func() { o.p.back.do = do }()
	o.p.back.do = func(context.Context, *pair, port.SessionCall) (wire.Value, error) {
		return wire.Value(`{"task":{"taskId":"` + id + `","status":"working","ttl":60000}}`), nil
	}
	got := wire.Value(o.do("tools/call", `{"name":"dig","task":{}}`))
	named, _ := got.Get("task").Get("taskId").Text()
	if named == "" || named == id || got != wire.Value(`{"task":{"taskId":"`+named+`","status":"working","ttl":60000}}`) {
		o.p.t.Fatalf("got %s", got)
	}
	return named
}

func (o *old) answer(ctx context.Context, text string) error {
	o.p.t.Helper()
	x, _ := o.exchange(text)
	return o.p.cross.Answer(ctx, x)
}

func (o *old) notify(text string) {
	o.p.t.Helper()
	x, _ := o.exchange(text)
	o.p.cross.Notification(o.p.t.Context(), x)
}

// want compares what was said with what should have been.
func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
