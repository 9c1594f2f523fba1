package legacy_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

func data(msg string) string { return "data: " + strings.ReplaceAll(msg, "\n", "\ndata: ") }

const result1 = `{"jsonrpc":"2.0","id":1,"result":{}}`

// after answers when d has passed.
func after(d time.Duration) func(context.Context, *port.Exchange) port.Outcome {
	return func(context.Context, *port.Exchange) port.Outcome {
		time.Sleep(d)
		return port.Outcome{Result: "{}"}
	}
}

func TestWhenAnAnswerIsAStream(t *testing.T) {
	for _, tt := range []struct {
		name, method, accept string
		script               func(context.Context, *port.Exchange) port.Outcome
		stream               bool
	}{
		{"A-L15 at once", "tools/call", "", after(0), false},
		{"A-L15 soon", "tools/call", "", after(400 * time.Millisecond), false},
		{"A-L15 not soon", "tools/call", "", after(600 * time.Millisecond), true},
		{"A-L15 after a message", "tools/call", "", func(_ context.Context, x *port.Exchange) port.Outcome {
			return port.Outcome{Result: "{}", Err: x.Stream.Send(note("0"))}
		}, true},
		{"A-L14 a client that takes no stream", "tools/call", "application/json", func(_ context.Context, x *port.Exchange) port.Outcome {
			time.Sleep(time.Minute)
			return port.Outcome{Result: "{}", Err: x.Stream.Send(note("0"))}
		}, false},
		{"A-L14 a client that takes nothing but streams", "tools/call", "text/event-stream", after(0), true},
		{"A-L14 and of local answers", "ping", "text/event-stream", nil, true},
		{"A-T17 tasks/get stays plain", "tasks/get", "", after(time.Minute), false},
		{"A-T17 tasks/list stays plain", "tasks/list", "", after(time.Minute), false},
		{"A-T17 tasks/cancel stays plain", "tasks/cancel", "", after(time.Minute), false},
		{"A-T17 whatever precedes its answer", "tasks/get", "", func(_ context.Context, x *port.Exchange) port.Outcome {
			return port.Outcome{Result: "{}", Err: x.Stream.Send(note("0"))}
		}, false},
		{"A-R3 tasks/result", "tasks/result", "", after(time.Second), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on(tt.method, tt.script)
				var header []string
				if tt.accept != "" {
					header = append(header, "Accept: "+tt.accept)
				}
				a := r.post(id, call("1", tt.method), header...)
				kind, want := "application/json", result1
				if tt.stream {
					kind, want = "text/event-stream", data(result1)+"\n\n"
				}
				if got := a.header.Get("Content-Type"); got != kind || !strings.HasSuffix(a.body, want) || a.status != 200 {
					t.Errorf("answer %d %s\n%s\nwant %s\n%s", a.status, got, a.body, kind, want)
				}
			})
		})
	}
}

func TestEventStream(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			_ = x.Stream.Send(note("1"))
			_ = x.Stream.Send([]byte("{\"a\":\n\r\n [1,\r2]\n\n}"))
			time.Sleep(40 * time.Second)
			_ = x.Stream.Send(note("2"))
			return port.Outcome{Result: "{\n\"x\":1}"}
		})
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		begin := time.Now()
		s.want(
			data(string(note("1"))),
			data("{\"a\":\n\n [1,\n2]\n\n}"), // JSON stays JSON however it is spaced
			keepAlive, keepAlive,
			data(string(note("2"))),
			data("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n\"x\":1}}"),
			"EOF",
		)
		if got := time.Since(begin); got != 40*time.Second {
			t.Errorf("ended after %v", got)
		}
		for name, want := range map[string]string{"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", "Mcp-Session-Id": ""} {
			if got := s.resp.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	})
}

// TestHeartbeat: no stream is silent for longer than 15 s (A-R3).
func TestHeartbeat(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tasks/result", after(46*time.Second))
		for _, s := range []*stream{
			r.stream(http.MethodGet, id, ""),
			r.stream(http.MethodPost, id, call("1", "tasks/result")),
		} {
			last := time.Now()
			for range 2 {
				s.want(keepAlive)
				if got := time.Since(last); got > 15*time.Second {
					t.Errorf("silent for %v", got)
				}
				last = time.Now()
			}
			s.hangUp()
		}
	})
}

// TestFilteredEvents: a message of which the filter leaves nothing makes no
// event, and opens no stream.
func TestFilteredEvents(t *testing.T) {
	tune := func(o *legacy.Options) {
		o.Filter = func(_ string, msg []byte) []byte {
			if strings.Contains(string(msg), "secret") {
				return nil
			}
			return msg
		}
	}
	bubble(t, tune, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			return port.Outcome{Result: "{}", Err: x.Stream.Send(note(`"secret"`))}
		})
		wantError(t, r.post(id, call("1", "tools/call")), 200, result1)
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			return port.Outcome{Result: "{}", Err: errors.Join(x.Stream.Send(note("1")), x.Stream.Send(note(`"secret"`)), x.Stream.Send(note("2")))}
		})
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		s.want(data(string(note("1"))), data(string(note("2"))), data(result1), "EOF")
		s = r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		push("a", note(`"secret"`))
		push("b", note("3"))
		s.want(data(string(note("3"))))
	})
}

// TestSendAfterTheEnd: an exchange's stream takes nothing once it is over.
func TestSendAfterTheEnd(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.post(id, call("1", "tools/call"))
		synctest.Wait()
		if err := r.crossing.last().Stream.Send(note("1")); err == nil {
			t.Error("a message was taken after the answer")
		}
	})
}

func TestUpstreamRefusesTheCredential(t *testing.T) {
	refuse := func(status int, wait time.Duration) func(context.Context, *port.Exchange) port.Outcome {
		return func(context.Context, *port.Exchange) port.Outcome {
			time.Sleep(wait)
			return port.Fail(&port.UpstreamError{Op: "tools/call", Status: status, Err: errors.New("Bearer realm=inner")})
		}
	}
	for _, tt := range []struct {
		name           string
		status         int
		wait           time.Duration
		want           int
		challenge, msg string
	}{
		{"A-L17 401", 401, 0, 401, "Bearer", "backend answered HTTP 401"},
		{"A-L17 403", 403, 0, 403, `Bearer error="insufficient_scope"`, "backend answered HTTP 403"},
		{"A-L17 401 once a stream has begun", 401, time.Second, 200, "", "backend answered HTTP 401"},
		{"A-L17 no other status", 404, 0, 200, "", "backend answered HTTP 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on("tools/call", refuse(tt.status, tt.wait))
				a := r.post(id, call("1", "tools/call"))
				body := refusal("1", "-32603", tt.msg)
				if tt.wait > 0 {
					_, a.body, _ = strings.Cut(a.body, ":1\n") // the id of its only event
					body = data(body) + "\n\n"
				}
				wantError(t, a, tt.want, body)
				if got := a.header.Get("WWW-Authenticate"); got != tt.challenge {
					t.Errorf("WWW-Authenticate: %q, want %q", got, tt.challenge)
				}
				if tt.status == 401 && tt.wait == 0 {
					r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
						return port.Fail(&port.UpstreamError{Op: "tools/call", Status: 401, Scope: "files:read", Err: errors.New("x")})
					})
					const full = `Bearer error="invalid_token", scope="files:read", resource_metadata="https://bridge.example/meta"`
					a := r.post(r.open("Authorization: Bearer a", "X-Verified: s"), call("1", "tools/call"), "Authorization: Bearer a", "X-Verified: s")
					if got := a.header.Get("WWW-Authenticate"); got != full {
						t.Errorf("WWW-Authenticate: %q, want %q", got, full)
					}
				}
				if tt.wait == 0 {
					r.crossing.on("initialize", refuse(tt.status, 0))
					if a := r.post("", initialize); a.status != tt.want || a.header.Get("Mcp-Session-Id") != "" {
						t.Errorf("A-L4 initialize: %d", a.status)
					}
				}
			})
		})
	}
}

func TestGetRefuses(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		wantError(t, r.do(http.MethodGet, id, "", "Accept: application/json"), 406, refusal("", "-32600", "Invalid request: Accept: want text/event-stream"))
		// A-L16: not 404, which would end the session.
		wantError(t, r.do(http.MethodGet, id, "", "Last-Event-ID: 1:1"), 400, refusal("", "-32600", "Invalid request: Last-Event-ID: unknown event"))
		a, b := r.stream(http.MethodGet, id, "", "Accept: text/*"), r.stream(http.MethodGet, id, "", "Accept:")
		full := r.do(http.MethodGet, id, "")
		wantError(t, full, 503, refusal("", "-32603", "too many sessions or streams; try again later"))
		a.hangUp()
		r.stream(http.MethodGet, id, "")
		b.hangUp()
		if attached, detached, _ := r.crossing.counts(); attached != 1 || detached != 0 {
			t.Errorf("attached %d times, detached %d times", attached, detached)
		}
	})
}
