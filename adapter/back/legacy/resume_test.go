package legacy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// rest answers the GET that asks for what follows an event, and every other GET
// as a server without a standing stream.
func rest(answer func(x *call, after string)) func(x *call) {
	return func(x *call) {
		if after := x.header.Get("Last-Event-Id"); after != "" {
			answer(x, after)
			return
		}
		usual(x)
	}
}

// callID is the id that the first request after the handshake has.
const callID = "2"

// resumptions are the GETs with a Last-Event-ID.
func (f *fake) resumptions() []seen {
	var all []seen
	for _, s := range f.got("GET") {
		if s.header.Get("Last-Event-Id") != "" {
			all = append(all, s)
		}
	}
	return all
}

func TestResumption(t *testing.T) {
	end := event(response(callID, `{"ok":2}`))
	for name, c := range map[string]struct {
		first  func(x *call)
		then   func(x *call, after string)
		after  []string
		least  time.Duration
		result string
		heard  []string
	}{
		"B-U3 not before the server said": {
			first: func(x *call) { x.stream("id: e1\nretry: 500\ndata:\n\n") },
			then:  func(x *call, _ string) { x.stream(end) },
			after: []string{"e1"}, least: 500 * time.Millisecond, result: `{"ok":2}`,
		},
		"B-U3 an event that is cut is asked for again": {
			first: func(x *call) { x.stream(named("e1", note("a")), "id: e2\ndata: "+note("b")); x.cut() },
			then:  func(x *call, _ string) { x.stream(named("e2", note("b")), end) },
			after: []string{"e1"}, least: 50 * time.Millisecond, result: `{"ok":2}`, heard: []string{"a", "b"},
		},
		"B-U3 as often as the server likes to close": {
			first: func(x *call) { x.stream("id: e\nretry: 2000\ndata:\n\n") },
			then: func(x *call, after string) {
				if len(after) == 9 {
					x.stream(end)
					return
				}
				x.stream(named(after+"e", note("a")))
			},
			after: []string{"e", "ee", "eee", "eeee", "eeeee", "eeeeee", "eeeeeee", "eeeeeeee", "eeeeeeeee"}, least: 18 * time.Second,
			result: `{"ok":2}`, heard: []string{"a", "a", "a", "a", "a", "a", "a", "a"},
		},
		"B-U3 a server that is away for a moment": {
			first: func(x *call) { x.stream(named("e1", note("a"))) },
			then: func(x *call, _ string) {
				switch x.n {
				case 2: // after that of the standing stream
					x.cut()
				case 3:
					x.w.Header().Set("Retry-After", "5")
					x.w.WriteHeader(503)
				case 4:
					x.w.WriteHeader(502)
				default:
					x.stream(end)
				}
			},
			after: []string{"e1", "e1", "e1", "e1"}, least: 5 * time.Second, result: `{"ok":2}`, heard: []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, script{"tools/call": c.first, "GET": rest(c.then)}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				ask, heard := tool(), []string(nil)
				ask.OnMessage = func(msg jsonrpc.Message) { heard = append(heard, msg.Method) }
				begun := time.Now()
				if got := do(t, s, ask); string(got) != c.result {
					t.Errorf("result %s", got)
				}
				if took := time.Since(begun); took < c.least || took > c.least+10*time.Second {
					t.Errorf("took %v, want %v", took, c.least)
				}
				var after []string
				for _, r := range f.resumptions() {
					after = append(after, r.header.Get("Last-Event-Id"))
					if r.header.Get("Mcp-Session-Id") != "session-1" || r.header.Get("Accept") != "text/event-stream" {
						t.Errorf("headers %v", r.header)
					}
				}
				wantMethods(t, after, c.after...)
				wantMethods(t, heard, c.heard...)
				f.want("tools/call", 1)
			})
		})
	}
}

func TestResumptionFails(t *testing.T) {
	for name, c := range map[string]struct {
		then func(x *call, after string)
		// gets is how often the stream is asked for, for one request.
		gets int
		is   error
		lost bool
	}{
		"no such thing":             {func(x *call, _ string) { x.w.WriteHeader(405) }, 1, transport.ErrNoResponse, false},
		"no stream":                 {func(x *call, _ string) { x.result("{}") }, 1, transport.ErrNoResponse, false},
		"an event it does not know": {func(x *call, _ string) { x.document(400, "text/plain", "payload") }, 1, transport.ErrNoResponse, false},
		"a server that stays away":  {func(x *call, _ string) { x.w.WriteHeader(502) }, 5, transport.ErrNoResponse, false},
		"B-U4 a lost session":       {func(x *call, _ string) { x.rpc(404, rpcError("null", -32001)) }, 1, transport.ErrNoResponse, true},
		"a stream that breaks again, with no id any more": {
			func(x *call, _ string) { x.stream("id:\ndata:\n\n") }, 1, transport.ErrNoResponse, false,
		},
		"a wait beyond all patience": {
			func(x *call, _ string) { x.w.Header().Set("Retry-After", "4000"); x.w.WriteHeader(503) }, 1, transport.ErrNoResponse, false,
		},
	} {
		t.Run("G-6 a call is not sent again: "+name, func(t *testing.T) {
			first := func(x *call) { x.stream(named("e1", note("a"))) }
			bubble(t, script{"tools/call": first, "GET": rest(c.then)}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				_, err := s.Do(t.Context(), tool())
				if got := upstream(t, err); !got.Sent || !errors.Is(err, c.is) || errors.Is(err, port.ErrSessionLost) {
					t.Errorf("error %#v", got)
				}
				f.want("tools/call", 1)
				if got := len(f.resumptions()); got != c.gets || isLost(s) != c.lost {
					t.Errorf("resumed %d times, want %d; lost %v", got, c.gets, isLost(s))
				}
			})
		})
	}
	t.Run("B-U3 a request that changes nothing is sent again instead", func(t *testing.T) {
		s := script{"GET": rest(func(x *call, _ string) { x.w.WriteHeader(405) }), "tasks/result": func(x *call) {
			if x.n == 1 {
				x.stream(named("e1", note("a")))
				return
			}
			usual(x)
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			do(t, f.open(), port.SessionCall{Method: "tasks/result", Params: `{"taskId":"t"}`})
			f.want("tasks/result", 2)
		})
	})
	t.Run("B-U4 or tells of the lost session", func(t *testing.T) {
		s := script{
			"GET":        rest(func(x *call, _ string) { x.w.WriteHeader(404) }),
			"tools/list": func(x *call) { x.stream(named("e1", note("a"))) },
		}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			s := f.open()
			if _, err := s.Do(t.Context(), list()); !errors.Is(err, port.ErrSessionLost) || !isLost(s) {
				t.Errorf("error %v", err)
			}
			f.want("tools/list", 1)
		})
	})
	t.Run("G-8 connections that bring nothing come ever more rarely", func(t *testing.T) {
		first := func(x *call) { x.stream(named("e1", note("a"))) }
		s := script{"tools/call": first, "GET": rest(func(x *call, _ string) { x.stream(":\n\n") })}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			if _, err := f.open().Do(t.Context(), tool()); err == nil {
				t.Error("succeeded")
			}
			if got := len(f.resumptions()); got < 100 || got > 250 {
				t.Errorf("resumed %d times in an hour", got)
			}
		})
	})
}

func TestResumedCallsAreNotSentAgain(t *testing.T) {
	// The connection of the resumption has sent no body: its failures must not
	// look like those of a request that never left.
	for name, then := range map[string]func(x *call, after string){
		"cut":       func(x *call, _ string) { x.stream("id:\ndata:\n\n"); x.cut() },
		"ended":     func(x *call, _ string) { x.stream("id:\ndata:\n\n") },
		"cancelled": func(x *call, _ string) { x.stream(); x.hold() },
	} {
		t.Run("G-6 "+name, func(t *testing.T) {
			first := func(x *call) { x.stream(named("e1", note("a"))) }
			bubble(t, script{"tools/call": first, "GET": rest(then)}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := s.Do(ctx, tool()); !upstream(t, err).Sent {
					t.Errorf("error %v says that nothing was sent", err)
				}
				f.want("tools/call", 1)
			})
		})
	}
}
