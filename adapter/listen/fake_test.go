package listen_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/listen"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// dialect writes everything in words.
type dialect struct{}

func (dialect) Offered(about wire.Value) (port.ChangeFilter, bool) {
	has := func(name string) bool { return strings.Contains(string(about), name) }
	return port.ChangeFilter{Tools: has("tools"), Prompts: has("prompts"), Resources: has("list")}, has("subscribe")
}

func (dialect) Subscribe(uri string) port.SessionCall {
	return port.SessionCall{Method: "subscribe", Params: wire.Value(uri)}
}

func (dialect) Unsubscribe(uri string) port.SessionCall {
	return port.SessionCall{Method: "unsubscribe", Params: wire.Value(uri)}
}

func (dialect) Notice(msg jsonrpc.Message) (port.Notice, bool) {
	n := port.Notice{Key: msg.Method + " " + string(msg.Params), Message: msg}
	switch msg.Method {
	case "tools":
		n.List, n.Key = port.ToolsList, msg.Method
	case "prompts":
		n.List, n.Key = port.PromptsList, msg.Method
	case "updated":
		uri, _, _ := strings.Cut(string(msg.Params), "#")
		n.URI, n.Key = uri, "updated "+uri
	default:
		return n, false
	}
	return n, true
}

func (d dialect) Synthesize(filter port.ChangeFilter) []port.Notice {
	var out []port.Notice
	if filter.Tools {
		n, _ := d.Notice(jsonrpc.Message{Method: "tools", Params: "made up"})
		out = append(out, n)
	}
	for _, uri := range filter.URIs {
		n, _ := d.Notice(jsonrpc.Message{Method: "updated", Params: wire.Value(uri + "#made up")})
		out = append(out, n)
	}
	return out
}

func (dialect) AppendAcknowledged(dst []byte, f port.ChangeFilter, id jsonrpc.ID) []byte {
	return fmt.Appendf(dst, "%s ack %t %t %t %v %v", id, f.Tools, f.Prompts, f.Resources, f.URIs, f.TaskIDs)
}

func (dialect) AppendNotice(dst []byte, n port.Notice, id jsonrpc.ID) ([]byte, error) {
	if n.Message.Params == "malformed" {
		return nil, errors.New("malformed")
	}
	return fmt.Appendf(dst, "%s %s %s", id, n.Message.Method, n.Message.Params), nil
}

func (dialect) Ended(about wire.Value, id jsonrpc.ID) port.Outcome {
	return port.Outcome{Result: wire.Value(fmt.Sprintf("%s ended by %s", id, about))}
}

// unused are the methods of a session that nothing here needs.
type unused interface{ port.Session }

// session is a scripted session. It is its own lease, too.
type session struct {
	unused

	name  string
	about wire.Value
	w     *world
	lost  chan struct{}

	mu       sync.Mutex
	do       func(ctx context.Context, call port.SessionCall) error // nil agrees
	calls    []string
	credits  map[string]string // credentials by what was asked
	atOnce   int
	most     int // requests at once
	released int
}

func (s *session) Session() port.Session { return s }
func (s *session) About() wire.Value     { return s.about }
func (s *session) Lost() <-chan struct{} { return s.lost }

func (s *session) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released++
}

func (s *session) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	what := call.Method + " " + string(call.Params)
	s.mu.Lock()
	s.calls = append(s.calls, what)
	s.credits[what] = call.Authorization
	s.atOnce++
	s.most = max(s.most, s.atOnce)
	do := s.do
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.atOnce--
	}()
	select {
	case <-s.lost:
		return "", port.ErrSessionLost
	default:
	}
	if do == nil {
		return "{}", nil
	}
	return "{}", do(ctx, call)
}

// asked returns and forgets what the backend was asked.
func (s *session) asked() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// say has the backend say something on the session.
func (s *session) say(method, params string) {
	s.w.hub.Heard(s, jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: method, Params: wire.Value(params)})
}

// standing is a session that knows of its standing stream.
type standing struct {
	*session
	none   bool
	missed chan struct{}
}

func (s *standing) Session() port.Session { return s }

func (s *standing) Standing(context.Context) (bool, <-chan struct{}) {
	return !s.none, s.missed
}

func (s *standing) say(method, params string) {
	s.w.hub.Heard(s, jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: method, Params: wire.Value(params)})
}

// world is a hub with clients and one session that is lent to all of them.
type world struct {
	*testing.T
	hub *listen.Hub

	mu     sync.Mutex
	lend   func(ctx context.Context) (listen.Lease, error)
	leases int
	closed bool // the hub, by the test
}

const everything = "tools list subscribe"

func bubble(t *testing.T, tasks listen.Tasks, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t}
		w.hub = listen.New(listen.Options{Dialect: dialect{}, Env: env.System(), Logger: slog.New(slog.DiscardHandler), Tasks: tasks})
		test(w)
		time.Sleep(time.Minute) // what is given up takes its time
		if n := w.hub.Feeds(); n != 0 && !w.closed {
			t.Errorf("%d sessions are not forgotten", n)
		}
		if err := w.hub.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// session makes a session that is lent from now on.
func (w *world) session(name, about string) *session {
	s := &session{name: name, about: wire.Value(about), w: w, lost: make(chan struct{}), credits: make(map[string]string)}
	w.lends(s)
	return s
}

func (w *world) lends(l listen.Lease) {
	w.lendBy(func(context.Context) (listen.Lease, error) { return l, nil })
}

func (w *world) lendBy(lend func(context.Context) (listen.Lease, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lend = lend
}

// client is a client with a subscription.
type client struct {
	w      *world
	cancel context.CancelCauseFunc
	ended  chan port.Outcome

	mu   sync.Mutex
	sent []string
	// stuck holds up what is sent until it is closed; nil does not.
	stuck chan struct{}
	fails error
}

func (c *client) send(msg []byte) error {
	c.mu.Lock()
	stuck := c.stuck
	c.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, string(msg))
	return c.fails
}

// got returns and forgets what the client was sent.
func (c *client) got() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	return sent
}

func (c *client) want(want ...string) {
	c.w.Helper()
	if got := c.got(); !slices.Equal(got, want) {
		c.w.Errorf("sent %q, want %q", got, want)
	}
}

// leave disconnects the client, and returns when that is noticed.
func (c *client) leave() {
	c.w.Helper()
	c.cancel(errGone)
	if out := <-c.ended; !errors.Is(out.Err, errGone) {
		c.w.Errorf("told %v %v", out.Result, out.Err)
	}
}

// wantEnd waits for the end and checks its result.
func (c *client) wantEnd(want string) {
	c.w.Helper()
	if out := <-c.ended; string(out.Result) != want || out.Err != nil {
		c.w.Errorf("ended with %q %v, want %q", out.Result, out.Err, want)
	}
}

var errGone = errors.New("the client is gone")

// listen begins a subscription.
func (w *world) listen(id string, filter port.ChangeFilter) *client {
	return w.listenTo(id, filter, nil)
}

// listenTo is listen by a client to which nothing can be sent if fails is set.
func (w *world) listenTo(id string, filter port.ChangeFilter, fails error) *client {
	ctx, cancel := context.WithCancelCause(w.Context())
	c := &client{w: w, cancel: cancel, ended: make(chan port.Outcome, 1), fails: fails}
	go func() {
		c.ended <- w.hub.Listen(ctx, listen.Request{
			Backend: "basalt", ID: jsonrpc.ID(id), Filter: filter, Authorization: "Bearer " + id,
			Send: c.send,
			Lease: func(ctx context.Context) (listen.Lease, error) {
				w.mu.Lock()
				w.leases++
				lend := w.lend
				w.mu.Unlock()
				return lend(ctx)
			},
		})
	}()
	return c
}

func (w *world) wantAsked(s *session, want ...string) {
	w.Helper()
	if got := s.asked(); !slices.Equal(got, want) {
		w.Errorf("%s was asked %q, want %q", s.name, got, want)
	}
}

func (w *world) wantReleased(s *session, want int) {
	w.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released != want {
		w.Errorf("%s was given back %d times, want %d", s.name, s.released, want)
	}
}

func uris(names ...string) port.ChangeFilter { return port.ChangeFilter{URIs: names} }

// took runs f and checks how long that took.
func (w *world) took(want time.Duration, f func()) {
	w.Helper()
	begun := time.Now()
	f()
	if got := time.Since(begun); got != want {
		w.Errorf("took %v, want %v", got, want)
	}
}
