package bridge_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// leveled is a crossing whose backend has log levels, and whose requests end when
// they are told to.
type leveled struct {
	*down
	end map[string]chan struct{}
	// setLevel answers logging/setLevel; nil takes it.
	setLevel func(ctx context.Context) error
}

func levels(t *testing.T, test func(l *leveled)) {
	t.Helper()
	downgrade(t, func(d *down) {
		l := &leveled{down: d, end: make(map[string]chan struct{})}
		d.session.about = listening
		d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
			if call.Method == "logging/setLevel" {
				if l.setLevel == nil {
					return `{}`, nil
				}
				return `{}`, l.setLevel(ctx)
			}
			cursor, _ := call.Params.Get("cursor").Text()
			select {
			case <-l.end[cursor]:
				return `{"prompts":[]}`, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		test(l)
	})
}

// begin makes a request that asks for messages of this level, and returns what ends
// it.
func (l *leveled) begin(name, level string) (s *subscriber, end func()) {
	ctx, cancel := context.WithCancelCause(l.t.Context())
	s = &subscriber{cancel: cancel, ended: make(chan port.Outcome, 1)}
	done := make(chan struct{})
	l.end[name] = done
	go func() {
		s.ended <- l.cross.Request(ctx, &port.Exchange{
			Backend: "basalt", Stream: s,
			Caller:  port.Caller{Principal: "p", Version: "2026-07-28", Capabilities: `{}`, LogLevel: level, Authorization: "Bearer n"},
			Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "prompts/list", Params: wire.Value(`{"cursor":"` + name + `",` + novaMeta + `}}`)},
		})
	}()
	synctest.Wait()
	return s, func() { close(done); <-s.ended }
}

// asked returns and forgets what the backend was asked: levels, and other requests
// by their cursor.
func (l *leveled) asked() []string {
	synctest.Wait()
	l.session.mu.Lock()
	defer l.session.mu.Unlock()
	var out []string
	for _, call := range l.session.calls {
		level, _ := call.Params.Get("level").Text()
		cursor, _ := call.Params.Get("cursor").Text()
		out = append(out, level+cursor)
		if level != "" && call.Authorization != "Bearer n" {
			l.t.Errorf("asked with %q", call.Authorization)
		}
	}
	l.session.calls = nil
	return out
}

func (l *leveled) want(want ...string) {
	l.t.Helper()
	if got := l.asked(); !slices.Equal(got, want) {
		l.t.Errorf("the backend was asked %q, want %q", got, want)
	}
}

// TestLogLevel: a session has the most verbose level of its requests (§3.4, B53).
func TestLogLevel(t *testing.T) {
	levels(t, func(l *leveled) {
		_, endA := l.begin("A", "error")
		l.want("error", "A")
		_, endB := l.begin("B", "debug")
		l.want("debug", "B")
		_, endC := l.begin("C", "warning")
		_, endD := l.begin("D", "")
		l.want("C", "D")
		endB()
		l.want() // lazily
		_, endE := l.begin("E", "error")
		l.want("warning", "E")
		endC()
		_, endF := l.begin("F", "")
		l.want("F")
		for _, end := range []func(){endA, endD, endE, endF} {
			end()
		}
		for range 2 {
			_, end := l.begin("G", "alert")
			end()
		}
		l.want("alert", "G", "G")
	})
}

// TestLogLevelUnsupported: a backend without levels is told none (§3.4).
func TestLogLevelUnsupported(t *testing.T) {
	levels(t, func(l *leveled) {
		l.session.about = `{"protocolVersion":"2025-11-25","capabilities":{"logging":null,"prompts":{}}}`
		_, end := l.begin("A", "error")
		l.want("A")
		end()
	})
}

// TestLogLevelRefused: a refusal is ignored, and one that lets it pass is asked once
// (§3.4, G-8).
func TestLogLevelRefused(t *testing.T) {
	levels(t, func(l *leveled) {
		l.setLevel = func(context.Context) error { return jsonrpc.NewError(-32601, "no") }
		_, end := l.begin("A", "error")
		l.want("error", "A")
		end()
		_, end = l.begin("B", "error")
		l.want("B")
		end()
	})
	t.Run("silence", func(t *testing.T) {
		levels(t, func(l *leveled) {
			l.setLevel = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
			begun := time.Now()
			_, endA := l.begin("A", "error")
			_, endB := l.begin("B", "debug")
			l.want("error")
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if got := l.asked(); !slices.Contains(got, "A") || !slices.Contains(got, "B") || len(got) != 2 {
				t.Errorf("the backend was asked %q after %v", got, time.Since(begun))
			}
			endA()
			endB()
		})
	})
	t.Run("a client that leaves has not told the level for others", func(t *testing.T) {
		levels(t, func(l *leveled) {
			l.setLevel = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
			s, _ := l.begin("A", "error")
			s.cancel(context.Canceled)
			<-s.ended
			l.want("error", "A")
			l.setLevel = nil
			_, end := l.begin("B", "error")
			l.want("error", "B")
			end()
		})
	})
}

// TestLogLevelOfLostSession: a session that is replaced while it is told the level
// leaves it to the next, and is forgotten.
func TestLogLevelOfLostSession(t *testing.T) {
	levels(t, func(l *leveled) {
		lost := make(chan struct{})
		l.session.lost = lost
		next := &session{}
		l.setLevel = func(context.Context) error {
			l.session.now = next
			close(lost)
			l.setLevel = nil
			return nil
		}
		a, end := l.begin("A", "error")
		l.want("error", "error", "A")
		for _, s := range []*session{l.session, next} {
			l.cross.Hear(bridge.Heard{Backend: "basalt", Session: s, Message: jsonrpc.Message{
				Kind: jsonrpc.KindNotification, Method: "notifications/message", Params: `{"level":"error","data":1}`,
			}})
		}
		if got := a.got(); len(got) != 1 {
			t.Errorf("told %q", got)
		}
		end()
		_, end = l.begin("B", "error")
		l.want("B")
		end()
		l.session.now = nil // as good as a new one: it was forgotten
		_, end = l.begin("C", "error")
		l.want("error", "C")
		end()
	})
}

// TestLogAttribution: what is said on the session's standing stream is for the only
// request under way, if it asked for it (§3.4).
func TestLogAttribution(t *testing.T) {
	levels(t, func(l *leveled) {
		log := func(level string) { l.announces("notifications/message", `{"level":"`+level+`","data":"`+level+`"}`) }
		told := func(s *subscriber) string {
			var out []string
			for _, msg := range s.got() {
				level, _ := wire.Value(msg).Get("params").Get("level").Text()
				out = append(out, level)
			}
			return strings.Join(out, " ")
		}
		log("error")
		listener := l.listen("77", `{"toolsListChanged":true}`, false)
		listener.got()
		a, endA := l.begin("A", "warning")
		log("info")
		log("warning")
		log("emergency")
		l.announces("notifications/message", `{"level":"error","data":1,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`)
		l.announces("notifications/message", `{"level":"loud","data":1}`)
		l.announces("notifications/message", `{"level":"error"}`)
		if got := told(a); got != "warning emergency" {
			t.Errorf("told %q", got)
		}
		b, endB := l.begin("B", "")
		log("error")
		if got := told(a) + told(b); got != "" {
			t.Errorf("with two requests under way one is told %q", got)
		}
		endA()
		log("error")
		if got := told(a) + told(b); got != "" {
			t.Errorf("one that did not ask is told %q", got)
		}
		endB()
		log("error")
		if got := told(listener); got != "" {
			t.Errorf("the subscription is told %q", got)
		}
		listener.cancel(context.Canceled)
		<-listener.ended
	})
}

// TestLogOfNobody: callers without a name share a session, on which a message beside all
// requests may be about another's. One who asks for messages has a session alone, for
// what can be slow (§3.4).
func TestLogOfNobody(t *testing.T) {
	levels(t, func(l *leveled) {
		for method, alone := range map[string]bool{"prompts/list": false, "prompts/get": true} {
			s := &subscriber{ended: make(chan port.Outcome, 1)}
			l.end[method] = make(chan struct{})
			l.leases = nil
			go func() {
				s.ended <- l.cross.Request(l.t.Context(), &port.Exchange{
					Backend: "basalt", Stream: s, Caller: port.Caller{LogLevel: "debug", Capabilities: `{}`},
					Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: method, Params: wire.Value(`{"name":"p","cursor":"` + method + `",` + novaMeta + `}}`)},
				})
			}()
			synctest.Wait()
			l.announces("notifications/message", `{"level":"error","data":1}`)
			if told := s.got(); len(l.leases) != 1 || l.leases[0].Exclusive != alone || (len(told) == 1) != alone {
				l.t.Errorf("%s: told %q, leased with %+v", method, told, l.leases)
			}
			close(l.end[method])
			<-s.ended
		}
	})
}

// TestLogBesideTask: while a task lives in the session, nobody can tell whose a message
// is that comes beside all requests (§3.4).
func TestLogBesideTask(t *testing.T) {
	levels(t, func(l *leveled) {
		t := l.t
		l.session.about = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"logging":{},"tasks":{"requests":{"tools":{"call":{}}}}}}`
		do := l.session.do
		l.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
			const task = `"taskId":"t1","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":60000`
			switch call.Method {
			case "tools/list":
				return `{"tools":[{"name":"dig","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`, nil
			case "tools/call":
				return `{"task":{` + task + `}}`, nil
			case "tasks/get":
				return `{` + task + `}`, nil
			default:
				return do(ctx, call)
			}
		}
		out := l.cross.Request(t.Context(), &port.Exchange{
			Backend: "basalt", Stream: &subscriber{},
			Caller:  port.Caller{Principal: "p", Version: "2026-07-28", Capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, Tasks: true},
			Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "tools/call", Params: `{"name":"dig",` + novaMeta + `}}`},
		})
		if !out.Result.Get("taskId").Present() {
			t.Fatalf("no task: %s %v", out.Result, out.Err)
		}
		a, end := l.begin("A", "debug")
		l.announces("notifications/message", `{"level":"error","data":1}`)
		if got := a.got(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
		end()
	})
}

// stuckStream is a client that does not read.
type stuckStream struct {
	stream

	mu   sync.Mutex
	told int
	free chan struct{}
}

func (s *stuckStream) Send([]byte) error {
	<-s.free
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told++
	return nil
}

// TestLogToSlowClient: a client that does not read holds up neither the session nor,
// beyond a bound, the bridge's memory; nothing is told after its answer.
func TestLogToSlowClient(t *testing.T) {
	levels(t, func(l *leveled) {
		s := &stuckStream{free: make(chan struct{})}
		l.end["A"] = make(chan struct{})
		ended := make(chan int, 1)
		go func() {
			out := l.cross.Request(l.t.Context(), &port.Exchange{
				Backend: "basalt", Stream: s, Caller: port.Caller{Principal: "p", LogLevel: "debug", Capabilities: `{}`, Authorization: "Bearer n"},
				Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "prompts/list", Params: `{"cursor":"A",` + novaMeta + `}}`},
			})
			if out.Err != nil {
				l.t.Error(out.Err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			ended <- s.told
		}()
		synctest.Wait()
		for range 1000 {
			l.announces("notifications/message", `{"level":"error","data":1}`)
		}
		close(l.end["A"])
		synctest.Wait()
		if len(ended) != 0 {
			t.Error("answered before everything was told")
		}
		close(s.free)
		if told := <-ended; told < 64 || told > 65 {
			t.Errorf("told %d times", told)
		}
		l.announces("notifications/message", `{"level":"error","data":1}`)
	})
}
