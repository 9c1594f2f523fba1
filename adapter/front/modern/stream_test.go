package modern_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestWhenAnAnswerIsAStream(t *testing.T) {
	send := func(_ context.Context, x *port.Exchange) port.Outcome {
		return port.Outcome{Result: "{}", Err: x.Stream.Send(note("0"))}
	}
	late := func(ctx context.Context, x *port.Exchange) port.Outcome {
		time.Sleep(time.Minute)
		return send(ctx, x)
	}
	first := event("0") + "\n\n"
	for _, tt := range []struct {
		name, accept string
		script       script
		stream       bool
		before       string
	}{
		{"at once", "", after(0), false, ""},
		{"later", "", after(14 * time.Second), false, ""},
		{"after a long silence", "", after(16 * time.Second), true, keepAlive + "\n\n"},
		{"after a message", "", send, true, first},
		{"to a client that takes no stream", "application/json", late, false, ""},
		{"to a client that takes nothing but streams", "text/event-stream", after(0), true, ""},
	} {
		t.Run("B-L1 "+tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.crossing.on("tools/call", tt.script)
				p := call("1")
				if tt.accept != "" {
					p = p.with("Accept: " + tt.accept)
				}
				a := r.do(p)
				kind, want := "application/json", result("1", "{}")
				if tt.stream {
					kind, want = "text/event-stream", tt.before+data(want)+"\n\n"
				}
				if got := a.header.Get("Content-Type"); got != kind {
					t.Errorf("type %s, want %s", got, kind)
				}
				wantAnswer(t, a, 200, want)
			})
		})
	}
}

// TestEventStream: no ids, no retry, no priming; proxies are told not to buffer, and
// a message is one event whatever it is made of (B-L1).
func TestEventStream(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			_ = x.Stream.Send(note("1"))
			_ = x.Stream.Send([]byte("{\"a\":\n\r\n [1,\r2]\n\n}"))
			return port.Outcome{Result: "{\"b\":\n2}"}
		})
		a := r.do(call("1"))
		want := event("1") + "\n\n" + "data: {\"a\":\ndata: \ndata:  [1,\ndata: 2]\ndata: \ndata: }\n\n" +
			"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"b\":\ndata: 2}}\n\n"
		wantAnswer(t, a, 200, want)
		if got := a.header.Get("X-Accel-Buffering"); got != "no" {
			t.Errorf("X-Accel-Buffering %q", got)
		}
		if got := a.header.Get("Cache-Control"); got != "no-cache, no-transform" {
			t.Errorf("Cache-Control %q", got)
		}
	})
}

// TestKeepAlive: an open stream is never silent for longer than fifteen seconds, and
// what is sent counts (B-L1).
func TestKeepAlive(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		say := r.crossing.talk("subscriptions/listen")
		go func() { say <- "1" }()
		s := r.stream(listen("1"))
		s.want(event("1"))
		began := time.Now()
		at := func(want time.Duration) {
			t.Helper()
			if got := time.Since(began); got != want {
				t.Errorf("after %v, want %v", got, want)
			}
		}
		s.want(keepAlive)
		at(15 * time.Second)
		s.want(keepAlive)
		at(30 * time.Second)
		time.Sleep(10 * time.Second)
		say <- "2"
		s.want(event("2"), keepAlive)
		at(55 * time.Second)
		close(say)
		s.want(data(result("1", "{}")), "EOF")
	})
}

// TestDisconnect: the client that closes its connection has cancelled the exchange,
// at once, whatever has been sent by then (§1.7).
func TestDisconnect(t *testing.T) {
	for _, method := range []string{"tools/call", "subscriptions/listen", "tasks/get", "com.acme/dig"} {
		for _, sent := range []int{0, 1} {
			t.Run(fmt.Sprintf("§1.7 %s after %d messages", method, sent), func(t *testing.T) {
				bubble(t, nil, func(t *testing.T, r *rig) {
					took := make(chan time.Duration, 1)
					started := time.Now()
					r.crossing.on(method, func(ctx context.Context, x *port.Exchange) port.Outcome {
						for range sent {
							_ = x.Stream.Send(note("1"))
						}
						if !x.Stream.Connected() || x.Stream.Asks() {
							t.Error("not connected, or to be asked")
						}
						<-ctx.Done()
						<-x.Stream.Gone()
						if x.Stream.Connected() || errors.Is(context.Cause(ctx), port.ErrDraining) {
							t.Errorf("connected %v, cause %v", x.Stream.Connected(), context.Cause(ctx))
						}
						if err := x.Stream.Send(note("2")); err == nil {
							t.Error("a message to a client that is gone")
						}
						took <- time.Since(started)
						return port.Outcome{Result: "{}"}
					})
					ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
					defer cancel()
					p := asking("1", method, `"name":"sieve","taskId":"sieve","notifications":{}`, metaTasks)
					if resp, err := r.send(ctx, p.with("Mcp-Name: sieve")); err == nil {
						_, _ = io.ReadAll(resp.Body)
						_ = resp.Body.Close()
					}
					if got := <-took; got != 3*time.Second {
						t.Errorf("ended after %v", got)
					}
				})
			})
		}
	}
}

// TestStreamIsOver: nothing can be sent after the answer, and no requests at any time
// (B-L2).
func TestStreamIsOver(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(ctx context.Context, x *port.Exchange) port.Outcome {
			if err := x.Stream.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"com.acme/ask"}`)); err == nil {
				t.Error("a request was sent")
			}
			if id, err := x.Stream.NewID(ctx); err == nil {
				t.Errorf("an id was minted: %s", id)
			}
			return port.Outcome{Result: "{}"}
		})
		wantAnswer(t, r.do(call("1")), 200, result("1", "{}"))
		x := r.crossing.last()
		select {
		case <-x.Stream.Gone():
		default:
			t.Error("not gone")
		}
		if x.Stream.Connected() || x.Stream.Send(note("1")) == nil {
			t.Error("a stream that has ended is connected")
		}
	})
}

// TestManySenders: whoever sends writes whole events, also while the answer is being
// written.
func TestManySenders(t *testing.T) {
	const senders, each = 8, 50
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			var group sync.WaitGroup
			for i := range senders {
				group.Go(func() {
					for range each {
						if err := x.Stream.Send(note(fmt.Sprint(i))); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			go func() { _ = x.Stream.Send(note("9")) }() // may be too late
			return port.Outcome{Result: "{}"}
		})
		s := r.stream(call("1"))
		counts := make(map[string]int)
		for {
			e := s.next()
			if e == "EOF" {
				break
			}
			counts[e]++
		}
		for i := range senders {
			if got := counts[event(fmt.Sprint(i))]; got != each {
				t.Errorf("%d messages of sender %d", got, i)
			}
		}
		if counts[data(result("1", "{}"))] != 1 {
			t.Error("no answer")
		}
	})
}

// TestSlowReader: a crossing is not ahead of a client that does not read, and is let
// go when that client is lost, or takes too long.
func TestSlowReader(t *testing.T) {
	for name, wait := range map[string]time.Duration{"§1.7 leaves": time.Second, "G-8 stays": 0} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				var sent atomic.Int32
				ended := make(chan error, 1)
				r.crossing.on("tools/call", func(ctx context.Context, x *port.Exchange) port.Outcome {
					for {
						if err := x.Stream.Send([]byte(`{"pad":"` + strings.Repeat("x", 10<<10) + `"}`)); err != nil {
							<-ctx.Done()
							ended <- err
							return port.Fail(err)
						}
						sent.Add(1)
					}
				})
				conn, err := r.net.Dial(context.Background(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				p := call("1")
				req, err := http.NewRequest(p.method, "http://localhost"+p.path, strings.NewReader(p.body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header = p.header
				if err := req.Write(conn); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := sent.Load(); got > 2 {
					t.Errorf("%d messages sent to a client that does not read", got)
				}
				began := time.Now()
				if wait > 0 {
					time.Sleep(wait)
					_ = conn.Close()
				}
				<-ended
				if got := time.Since(began); wait > 0 && got != wait || wait == 0 && got != 30*time.Second {
					t.Errorf("let go after %v", got)
				}
			})
		})
	}
}

// TestLargeAnswer: an answer of any size arrives whole, plain or as an event.
func TestLargeAnswer(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		big := large(3 << 20)
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome { return port.Outcome{Result: big} })
		if a := r.do(call("1")); a.body != result("1", string(big)) || a.header.Get("Content-Length") != fmt.Sprint(len(a.body)) {
			t.Errorf("%d bytes", len(a.body))
		}
		if a := r.do(call("1", "Accept: text/event-stream")); a.body != data(result("1", string(big)))+"\n\n" {
			t.Errorf("%d bytes in an event", len(a.body))
		}
	})
}
