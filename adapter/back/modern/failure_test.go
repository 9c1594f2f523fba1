package modern_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// settle lets what the client does behind a finished request come to its end.
func settle() { synctest.Wait() }

// failing is a way in which a server does not answer.
type failing struct {
	script script
	// is is the cause, if it is a named one.
	is error
	// status is the one of the *port.UpstreamError.
	status int
	// lists is how often a request that may be repeated reaches the server;
	// one that may not reaches it once.
	lists int
	// public is what a client is told.
	public string
}

func cut(write func(c net.Conn, id string)) script {
	return func(c net.Conn, _ int, id string) bool {
		write(c, id)
		return false
	}
}

const lostOutcome = "upstream connection lost; outcome unknown"

var failures = map[string]failing{
	"A-U6 cut before the head": {
		cut(func(net.Conn, string) {}), nil, 0, 4, lostOutcome,
	},
	"A-U6 cut within the head": {
		cut(func(c net.Conn, _ string) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-") }), nil, 0, 4, lostOutcome,
	},
	"A-U6 cut within a document": {
		cut(func(c net.Conn, id string) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"+result(id, `{"payload":1}`))
		}), nil, 0, 4, lostOutcome,
	},
	"A-U6 cut within an event": {
		cut(func(c net.Conn, id string) {
			begin(c)
			chunk(c, strings.TrimSuffix(event(result(id, `{"payload":1}`)), "\n"))
		}),
		nil, 0, 4, lostOutcome,
	},
	"A-U6 cut between events": {
		cut(func(c net.Conn, _ string) { begin(c); chunk(c, event(progress(1))) }), nil, 0, 4, lostOutcome,
	},
	"A-U6 a stream that ends without a response": {
		func(c net.Conn, _ int, _ string) bool { return stream(c, event(progress(1))) }, modern.ErrNoResponse, 0, 4, lostOutcome,
	},
	"an event that is cut by the end of the stream": {
		func(c net.Conn, _ int, id string) bool { return stream(c, "data: "+result(id, `{"payload":1}`)+"\n") },
		modern.ErrNoResponse, 0, 4, lostOutcome,
	},
	"not HTTP": {
		cut(func(c net.Conn, _ string) { _, _ = io.WriteString(c, "SSH-2.0-payload\r\n") }), nil, 0, 4, lostOutcome,
	},
	"a document that is larger than it may be": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 200, result(id, big)) }, modern.ErrTooLarge, 200, 1,
		"answer of the backend is too large",
	},
	"a document without a length that is larger than it may be": {
		cut(func(c net.Conn, id string) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+result(id, big)) }),
		modern.ErrTooLarge, 200, 1, "answer of the backend is too large",
	},
	"an event that is larger than it may be": {
		func(c net.Conn, _ int, id string) bool { return stream(c, event(progress(1)), event(result(id, big))) },
		modern.ErrTooLarge, 200, 1, "answer of the backend is too large",
	},
	"an event without end": {
		func(c net.Conn, _ int, _ string) bool {
			begin(c)
			for chunk(c, "data: "+strings.Repeat("x", 1000)+"\n") {
			}
			return false
		}, modern.ErrTooLarge, 200, 1, "answer of the backend is too large",
	},
	"a document that is no JSON": {
		func(c net.Conn, _ int, _ string) bool { return rpc(c, 200, `{"payload"`) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"a web page": {
		func(c net.Conn, _ int, _ string) bool { return document(c, 200, "text/html", "<p>payload</p>") },
		modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"an empty answer": {
		func(c net.Conn, _ int, _ string) bool { return document(c, 202, "", "") }, modern.ErrInvalid, 202, 1, invalidAnswer,
	},
	"a batch": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 200, "["+result(id, "{}")+"]") }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"a result that is no object": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 200, result(id, "7")) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"a response in a stream that cannot be read": {
		func(c net.Conn, _ int, id string) bool { return stream(c, event(result(id, "7"))) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"an envelope with a name twice": {
		func(c net.Conn, _ int, id string) bool {
			return rpc(c, 200, `{"jsonrpc":"2.0","id":`+id+`,"id":`+id+`,"result":{}}`)
		},
		modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"a notification in place of the response": {
		func(c net.Conn, _ int, _ string) bool { return rpc(c, 200, progress(1)) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"another id": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 200, result(id+"0", "{}")) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"the id as a string": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 200, result(`"`+id+`"`, "{}")) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"another id in a stream": {
		func(c net.Conn, _ int, id string) bool {
			return stream(c, event(result(id+"0", "{}")), event(result(id, "{}")))
		},
		modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"an error for another id": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 200, rpcError(id+"0", -32602)) }, modern.ErrInvalid, 200, 1, invalidAnswer,
	},
	"an HTTP failure without a body": {
		func(c net.Conn, _ int, _ string) bool { return document(c, 404, "", "") }, modern.ErrRefused, 404, 1, "backend answered HTTP 404",
	},
	"A-L17 a refusal of the credential": {
		func(c net.Conn, _ int, _ string) bool { return document(c, 401, "text/plain", "payload") }, modern.ErrRefused, 401, 1, "backend answered HTTP 401",
	},
	"a proxy that has no server": {
		func(c net.Conn, _ int, _ string) bool { return document(c, 502, "text/html", "<p>payload</p>") }, modern.ErrRefused, 502, 1, "backend answered HTTP 502",
	},
	"a failure that is a stream": {
		func(c net.Conn, _ int, id string) bool {
			return document(c, 500, "text/event-stream", event(rpcError(id, 1)))
		},
		modern.ErrRefused, 500, 1, "backend answered HTTP 500",
	},
	"a failure with a result": {
		func(c net.Conn, _ int, id string) bool { return rpc(c, 500, result(id, "{}")) }, modern.ErrRefused, 500, 1, "backend answered HTTP 500",
	},
	"a failure with a body that is too large": {
		func(c net.Conn, _ int, _ string) bool {
			return document(c, 500, "", strings.Repeat("payload", 200_000))
		},
		modern.ErrRefused, 500, 1, "backend answered HTTP 500",
	},
	"a failure that is cut": {
		cut(func(c net.Conn, _ string) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 x\r\nContent-Length: 500\r\n\r\npayload")
		}), modern.ErrRefused, 500, 1, "backend answered HTTP 500",
	},
	"a redirect": {
		func(c net.Conn, _ int, _ string) bool {
			return document(c, 307, "", "", "Location: http://elsewhere.test/payload")
		},
		modern.ErrRefused, 307, 1, "backend answered HTTP 307",
	},
}

const invalidAnswer = "invalid response of the backend"

// big is above the limit that the tests set.
var big = `{"payload":"` + strings.Repeat("x", 5000) + `"}`

func TestFailures(t *testing.T) {
	tune := func(o *modern.Options) { o.Limits.Result = 4000 }
	for name, c := range failures {
		for _, call := range []port.Call{tool(), list()} {
			t.Run(name+", "+call.Method, func(t *testing.T) {
				bubble(t, c.script, tune, func(t *testing.T, f *fake) {
					call.Authorization = "Bearer s3cret"
					_, err := f.client.Do(t.Context(), call)
					quiet(t, err)
					var upstream *port.UpstreamError
					if !errors.As(err, &upstream) {
						t.Fatalf("error %v, want an UpstreamError", err)
					}
					if upstream.Op != call.Method || upstream.Status != c.status || !upstream.Sent {
						t.Errorf("op %q, status %d, sent %v: %v", upstream.Op, upstream.Status, upstream.Sent, err)
					}
					if c.is != nil && !errors.Is(err, c.is) {
						t.Errorf("error %v, want %v", err, c.is)
					}
					if got := port.RPCError(err); got.Code != -32603 || got.Message != c.public {
						t.Errorf("a client is told %v, want %q", got, c.public)
					}
					want := c.lists
					if call.Method == "tools/call" {
						want = 1
					}
					f.wantRequests(want)
				})
			})
		}
	}
}

func TestNothingSent(t *testing.T) {
	for method, dials := range map[string]int{"tools/call": 2, "tools/list": 4, "vendor/do": 2} {
		t.Run("G-6 connections refused, "+method, func(t *testing.T) {
			n := 0
			tune := func(o *modern.Options) {
				onDial(o, func(context.Context) (net.Conn, error) {
					n++
					return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
				})
			}
			bubble(t, answer, tune, func(t *testing.T, f *fake) {
				_, err := f.client.Do(t.Context(), port.Call{Method: method, Params: `{"name":"dig"}`})
				var upstream *port.UpstreamError
				if !errors.As(err, &upstream) || upstream.Sent || !errors.Is(err, syscall.ECONNREFUSED) {
					t.Fatalf("error %#v, want a refusal, nothing sent", err)
				}
				if got := port.RPCError(err).Message; got != "backend unreachable" {
					t.Errorf("a client is told %q", got)
				}
				if n != dials {
					t.Errorf("dialled %d times, want %d", n, dials)
				}
			})
		})
	}
	t.Run("G-6 a call that did not reach the server is sent once more", func(t *testing.T) {
		n := 0
		tune := func(o *modern.Options) {
			dial := dialer(o)
			onDial(o, func(ctx context.Context) (net.Conn, error) {
				if n++; n == 1 {
					return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
				}
				return dial(ctx, "", "")
			})
		}
		bubble(t, answer, tune, func(_ *testing.T, f *fake) {
			f.mustDo(tool())
			f.wantRequests(1)
		})
	})
}

func TestDeadlines(t *testing.T) {
	tune := func(o *modern.Options) { o.Times = modern.Times{Idle: time.Minute, Total: 10 * time.Minute} }
	silent := func(c net.Conn, _ int, _ string) bool { return !waitClosed(c) }
	drip := func(every time.Duration, part string) script {
		return func(c net.Conn, _ int, _ string) bool {
			begin(c)
			for chunk(c, part) {
				time.Sleep(every)
			}
			return false
		}
	}
	for name, c := range map[string]struct {
		script script
		is     error
		after  time.Duration
	}{
		"G-8 silence before the head": {silent, modern.ErrIdle, time.Minute},
		"G-8 silence within a document": {func(c net.Conn, _ int, _ string) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
			return !waitClosed(c)
		}, modern.ErrIdle, time.Minute},
		"G-8 silence within a stream":        {drip(2*time.Minute, event(progress(1))), modern.ErrIdle, time.Minute},
		"G-8 progress resets only idle":      {drip(50*time.Second, event(progress(1))), modern.ErrTotal, 10 * time.Minute},
		"G-8 so does a comment":              {drip(50*time.Second, ":\n\n"), modern.ErrTotal, 10 * time.Minute},
		"G-8 so does a byte of an event":     {drip(50*time.Second, "d"), modern.ErrTotal, 10 * time.Minute},
		"G-8 a slow drip that stops is idle": {dripThenStop(c30s), modern.ErrIdle, 90 * time.Second},
	} {
		for _, call := range []port.Call{tool(), list()} {
			t.Run(name+", "+call.Method, func(t *testing.T) {
				bubble(t, c.script, tune, func(t *testing.T, f *fake) {
					start := time.Now()
					_, err := f.client.Do(t.Context(), call)
					if !errors.Is(err, c.is) {
						t.Fatalf("error %v, want %v", err, c.is)
					}
					if got := time.Since(start); got != c.after {
						t.Errorf("gave up after %v, want %v", got, c.after)
					}
					if got := port.RPCError(err); got.Message != "backend did not answer in time" {
						t.Errorf("a client is told %v", got)
					}
					f.wantRequests(1)
				})
			})
		}
	}
}

const c30s = 30 * time.Second

func dripThenStop(every time.Duration) script {
	return func(c net.Conn, _ int, _ string) bool {
		begin(c)
		time.Sleep(every)
		chunk(c, event(progress(1)))
		return !waitClosed(c)
	}
}

// waitClosed waits until the client has closed the connection.
func waitClosed(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return err != nil
}

func TestCancel(t *testing.T) {
	for name, head := range map[string]func(c net.Conn){
		"before the head":  func(net.Conn) {},
		"within a stream":  func(c net.Conn) { begin(c); chunk(c, event(progress(1))) },
		"within an answer": func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{") },
	} {
		t.Run("§1.7 ending the context aborts the exchange "+name, func(t *testing.T) {
			bubble(t, nil, nil, func(t *testing.T, f *fake) {
				aborted := make(chan bool, 1)
				f.follow(func(c net.Conn, _ int, _ string) bool {
					head(c)
					aborted <- waitClosed(c)
					return false
				})
				cause := errors.New("the client gave up")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(cause) })
				_, err := f.client.Do(ctx, list())
				if !errors.Is(err, cause) {
					t.Errorf("error %v, want the cause", err)
				}
				if !<-aborted {
					t.Error("the server did not see the end")
				}
				f.wantRequests(1)
			})
		})
	}
	t.Run("G-8 the retries end with the context", func(t *testing.T) {
		bubble(t, cut(func(net.Conn, string) {}), nil, func(t *testing.T, f *fake) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := f.client.Do(ctx, list()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the deadline", err)
			}
			f.wantRequests(1)
		})
	})
	t.Run("a response that was read does not depend on the context any more", func(t *testing.T) {
		s := func(c net.Conn, n int, id string) bool {
			begin(c)
			chunk(c, event(result(id, "{}")))
			if n == 1 {
				time.Sleep(time.Second / 2)
			}
			return finish(c)
		}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := f.client.Do(ctx, list())
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			f.mustDo(list())
			f.wantRequests(2)
		})
	})
}
