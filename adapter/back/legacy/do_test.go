package legacy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestAnswers(t *testing.T) {
	const want = `{"big":9007199254740993.10,"uni":"\u00e9"}`
	for name, c := range map[string]struct {
		answer func(x *call)
		heard  []string
	}{
		"a document": {func(x *call) { x.result(want) }, nil},
		"a stream":   {func(x *call) { x.stream(event(response(string(x.msg.ID), want))) }, nil},
		"notifications and requests before the response, in order": {
			func(x *call) {
				x.stream(event(note("a")), event(request("1", "b")), event(note("c")), event(response(string(x.msg.ID), want)), event(note("d")))
			}, []string{"a", "b", "c"},
		},
		"a priming event": {func(x *call) { x.stream("id: 1\ndata:\n\n", event(response(string(x.msg.ID), want))) }, nil},
		"G-9 responses to other requests": {
			func(x *call) {
				x.stream(event(response("0", `{}`)), event(response(`"`+string(x.msg.ID)+`"`, `{}`)), event(rpcError("99", 1)), event(response(string(x.msg.ID), want)))
			}, nil,
		},
		"what cannot be read": {
			func(x *call) {
				x.stream(event("payload"), event(`{"jsonrpc":"1.0"}`), event(`{"jsonrpc":"2.0","id":`+string(x.msg.ID)+`,"method":7}`), event(response(string(x.msg.ID), want)))
			}, nil,
		},
		"§3.9 a batch": {
			func(x *call) {
				x.rpc(200, "["+note("a")+","+response("0", "{}")+","+response(string(x.msg.ID), want)+","+request("3", "b")+","+response(string(x.msg.ID), "{}")+"]")
			}, []string{"a", "b"},
		},
		"§3.9 a batch in a stream": {
			func(x *call) { x.stream(event("["+note("a")+",7]"), event("["+response(string(x.msg.ID), want)+"]")) }, []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, script{"tools/call": c.answer}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				ask := tool()
				var got []jsonrpc.Message
				var ids []jsonrpc.ID
				ask.OnMessage = func(msg jsonrpc.Message) { got = append(got, msg) }
				ask.OnID = func(id jsonrpc.ID) {
					f.want("tools/call", len(ids))
					ids = append(ids, id)
				}
				for range 2 {
					if result := do(t, s, ask); result != want {
						t.Errorf("result %s", result)
					}
				}
				wantMethods(t, methods(got), append(c.heard, c.heard...)...)
				sent := f.got("tools/call")
				if diff := cmp.Diff(ids, []jsonrpc.ID{sent[0].msg.ID, sent[1].msg.ID}); diff != "" || ids[0] == ids[1] {
					t.Errorf("ids (-told +sent):\n%s", diff)
				}
				ask.OnMessage = nil
				do(t, s, ask)
				wantMethods(t, f.heard(), c.heard...)
			})
		})
	}
}

func TestConnectionsAreReused(t *testing.T) {
	for name, answer := range map[string]func(x *call){
		"a document": usual,
		"a stream":   func(x *call) { x.stream(event(response(string(x.msg.ID), "{}"))) },
		"a stream that ends late": func(x *call) {
			x.stream(event(response(string(x.msg.ID), "{}")))
			time.Sleep(time.Second / 2)
		},
		"an error":        func(x *call) { x.rpc(400, rpcError(string(x.msg.ID), -32602)) },
		"an HTTP failure": func(x *call) { x.document(500, "text/html", "<p>payload</p>") },
	} {
		t.Run("after "+name, func(t *testing.T) {
			bubble(t, script{"tools/call": answer}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				peers := map[string]bool{}
				for range 5 {
					_, _ = s.Do(t.Context(), tool())
					time.Sleep(time.Second)
					_ = s.Notify(t.Context(), "notifications/x", "")
					time.Sleep(time.Second)
				}
				for _, r := range append(f.got("tools/call"), f.got("notifications/x")...) {
					peers[r.peer] = true
				}
				if len(peers) != 1 {
					t.Errorf("ten requests in a row took %d connections", len(peers))
				}
			})
		})
	}
}

func TestPing(t *testing.T) {
	ping := func(x *call) {
		x.stream(event(request(`"p"`, "ping")), event(request("0", "ping")))
		time.Sleep(time.Second)
		x.stream(event(response(string(x.msg.ID), "{}")))
	}
	t.Run("B-U7 is answered, whoever listens", func(t *testing.T) {
		bubble(t, script{"tools/call": ping}, nil, func(t *testing.T, f *fake) {
			ask := tool()
			ask.OnMessage = func(jsonrpc.Message) { t.Error("it was handed on") }
			do(t, f.open(), ask)
			bodies := map[string]bool{}
			for _, r := range f.got("response") {
				bodies[r.body] = true
				if r.header.Get("Mcp-Session-Id") != "session-1" {
					t.Errorf("headers %v", r.header)
				}
			}
			if !bodies[`{"jsonrpc":"2.0","id":"p","result":{}}`] || !bodies[`{"jsonrpc":"2.0","id":0,"result":{}}`] {
				t.Errorf("answers %v", bodies)
			}
			wantMethods(t, f.heard())
		})
	})
	t.Run("a flood is not answered without end", func(t *testing.T) {
		s := script{
			"tools/call": func(x *call) {
				x.stream(strings.Repeat(event(request("1", "ping")), 1000))
				time.Sleep(time.Second)
				x.stream(event(response(string(x.msg.ID), "{}")))
			},
			"response": (*call).hold,
		}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			do(t, f.open(), tool())
			f.want("response", 4)
		})
	})
}

func TestServerErrors(t *testing.T) {
	for name, answer := range map[string]func(x *call){
		"in a document":     func(x *call) { x.rpc(200, rpcError(string(x.msg.ID), -32602)) },
		"in a stream":       func(x *call) { x.stream(event(rpcError(string(x.msg.ID), -32602))) },
		"without an id":     func(x *call) { x.rpc(200, rpcError("null", -32602)) },
		"with HTTP 400":     func(x *call) { x.rpc(400, rpcError(string(x.msg.ID), -32602)) },
		"with a made-up id": func(x *call) { x.rpc(400, rpcError(`"server-error"`, -32602)) },
	} {
		t.Run("§1.6 "+name, func(t *testing.T) {
			bubble(t, script{"tools/call": answer}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				_, err := s.Do(t.Context(), tool())
				if !port.IsCode(err, -32602) || errors.As(err, new(*port.UpstreamError)) || isLost(s) {
					t.Errorf("error %v, lost %v", err, isLost(s))
				}
			})
		})
	}
	t.Run("A-L17 a refusal keeps its status", func(t *testing.T) {
		bubble(t, script{"tools/call": func(x *call) { x.rpc(401, rpcError("null", -32000)) }}, nil, func(t *testing.T, f *fake) {
			_, err := f.open().Do(t.Context(), tool())
			if got := upstream(t, err); got.Status != 401 || !port.IsCode(err, -32000) {
				t.Errorf("error %v", err)
			}
		})
	})
}

// big is above the limit that the tests set.
var big = `{"payload":"` + strings.Repeat("x", 5000) + `"}`

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(x *call)
		is     error
		status int
		lists  int
	}{
		"cut before the head":          {(*call).cut, nil, 0, 4},
		"cut within a stream":          {func(x *call) { x.stream(event(note("a"))); x.cut() }, nil, 0, 4},
		"a stream without a response":  {func(x *call) { x.stream(event(note("a"))) }, transport.ErrNoResponse, 0, 4},
		"a document that is too large": {func(x *call) { x.result(big) }, transport.ErrTooLarge, 200, 1},
		"an event that is too large": {
			func(x *call) { x.stream(named("1", response(string(x.msg.ID), big))) }, transport.ErrTooLarge, 200, 1,
		},
		"no JSON":                {func(x *call) { x.rpc(200, `{"payload"`) }, transport.ErrInvalid, 200, 1},
		"accepted, not answered": {func(x *call) { x.w.WriteHeader(202) }, transport.ErrInvalid, 202, 1},
		"no response in a document": {
			func(x *call) { x.rpc(200, response("0", "{}")) }, transport.ErrInvalid, 200, 1,
		},
		"an empty batch":          {func(x *call) { x.rpc(200, "[]") }, transport.ErrInvalid, 200, 1},
		"a malformed response":    {func(x *call) { x.stream(event(response(string(x.msg.ID), "7"))) }, transport.ErrInvalid, 200, 1},
		"a redirect":              {func(x *call) { x.w.Header().Set("Location", "/payload"); x.w.WriteHeader(307) }, transport.ErrRefused, 307, 1},
		"a server that is unwell": {func(x *call) { x.document(500, "", "payload") }, transport.ErrRefused, 500, 1},
		"one that will be back":   {func(x *call) { x.w.Header().Set("Retry-After", "1"); x.w.WriteHeader(503) }, transport.ErrRefused, 503, 4},
	} {
		for _, ask := range []port.SessionCall{tool(), list()} {
			t.Run("G-6 "+name+", "+ask.Method, func(t *testing.T) {
				tune := func(o *legacy.Options) { o.Limits.Result = 4000 }
				bubble(t, script{ask.Method: c.answer}, tune, func(t *testing.T, f *fake) {
					s := f.open()
					_, err := s.Do(t.Context(), ask)
					got := upstream(t, err)
					if got.Op != ask.Method || got.Status != c.status || !got.Sent || c.is != nil && !errors.Is(err, c.is) {
						t.Errorf("error %#v", got)
					}
					want := c.lists
					if ask.Method == "tools/call" {
						want = 1
					}
					f.want(ask.Method, want)
					if isLost(s) {
						t.Error("the session is lost")
					}
				})
			})
		}
	}
}

func TestRepeatable(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]bool{
		"tools/list": true, "prompts/get": true, "resources/subscribe": true, "logging/setLevel": true, "ping": true,
		"tasks/get": true, "tasks/list": true, "tasks/result": true, "tasks/cancel": true,
		"tools/call": false, "initialize": false, "vendor/do": false, "tasks/update": false, "": false,
	} {
		if got := legacy.Repeatable(method); got != want {
			t.Errorf("G-6 %q may be repeated: %v, want %v", method, got, want)
		}
	}
}

func TestDeadlines(t *testing.T) {
	tune := func(o *legacy.Options) { o.Times = legacy.Times{Idle: time.Minute, Total: 10 * time.Minute} }
	for name, c := range map[string]struct {
		answer func(x *call)
		is     error
		after  time.Duration
	}{
		"silence": {(*call).hold, transport.ErrIdle, time.Minute},
		"progress resets only idle": {func(x *call) {
			for x.r.Context().Err() == nil {
				x.stream(event(note("a")))
				time.Sleep(50 * time.Second)
			}
		}, transport.ErrTotal, 10 * time.Minute},
		"so do the streams that it is resumed in": {func(x *call) { x.stream("retry: 50000\nid: 1\ndata:\n\n") }, transport.ErrTotal, 10 * time.Minute},
	} {
		t.Run("G-8 "+name, func(t *testing.T) {
			bubble(t, script{"tools/call": c.answer}, tune, func(t *testing.T, f *fake) {
				s := f.open()
				f.follow("GET", func(x *call) { x.stream("id: 1\ndata:\n\n") })
				begun := time.Now()
				_, err := s.Do(t.Context(), tool())
				_ = upstream(t, err)
				if got := time.Since(begun); !errors.Is(err, c.is) || got != c.after {
					t.Errorf("error %v after %v, want %v after %v", err, got, c.is, c.after)
				}
				f.want("tools/call", 1)
			})
		})
	}
}

func TestCancel(t *testing.T) {
	for name, begin := range map[string]func(x *call){
		"before the head": func(*call) {},
		"within a stream": func(x *call) { x.stream(named("1", note("a"))) },
	} {
		t.Run("§1.7 ending the context closes the POST "+name, func(t *testing.T) {
			bubble(t, nil, nil, func(t *testing.T, f *fake) {
				aborted := make(chan bool, 1)
				f.follow("tools/list", func(x *call) { begin(x); x.hold(); aborted <- true })
				s := f.open()
				cause := errors.New("the client gave up")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(cause) })
				_, err := s.Do(ctx, list())
				if !errors.Is(err, cause) || !upstream(t, err).Sent || !<-aborted {
					t.Errorf("error %v, want the cause", err)
				}
				f.want("tools/list", 1)
				f.want("notifications/cancelled", 0)
				if isLost(s) {
					t.Error("the session is lost")
				}
			})
		})
	}
}

func TestCredentials(t *testing.T) {
	bubble(t, nil, nil, func(t *testing.T, f *fake) {
		s := f.open()
		ask := list()
		ask.Authorization = "Bearer fresh"
		do(t, s, ask)
		if err := s.Notify(t.Context(), "notifications/cancelled", ""); err != nil {
			t.Error(err)
		}
		ask.Authorization = "Bearer refused"
		f.follow("tools/list", func(x *call) { x.w.WriteHeader(401) })
		if _, err := s.Do(t.Context(), ask); upstream(t, err).Status != 401 {
			t.Error(err)
		}
		s.Close(t.Context())
		for name, want := range map[string]string{
			"tools/list": "Bearer fresh", "notifications/cancelled": "Bearer fresh", "DELETE": "Bearer fresh",
		} {
			if got := f.got(name)[0].header.Get("Authorization"); got != want {
				t.Errorf("%s went with %q, want %q", name, got, want)
			}
		}
	})
}

func TestFilter(t *testing.T) {
	filter := func(method string, msg []byte) []byte {
		switch method {
		case "tools/call":
			return []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`)
		case "tools/list", "notifications/x", "":
			return nil
		default:
			return msg
		}
	}
	bubble(t, nil, func(o *legacy.Options) { o.Filter = filter }, func(t *testing.T, f *fake) {
		s := f.open()
		if got := do(t, s, tool()); got != wire.Value(`{"ok":1}`) {
			t.Errorf("result %s", got)
		}
		_, err := s.Do(t.Context(), list())
		for _, err := range []error{err, s.Notify(t.Context(), "notifications/x", ""), s.Respond(t.Context(), []byte(response("1", "{}")))} {
			if !errors.Is(err, transport.ErrFiltered) {
				t.Errorf("error %v", err)
			}
		}
		f.want("tools/list", 0)
		f.want("response", 0)
		if got := f.got("tools/call")[0].body; strings.Contains(got, "params") {
			t.Errorf("sent %s", got)
		}
	})
}
