package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// abandonedAfter begins a request, hangs up after a while and returns how long the
// crossing went on, and why it stopped.
func abandonedAfter(t *testing.T, r *rig, id, method string, patience time.Duration, header ...string) (time.Duration, error) {
	t.Helper()
	ended := r.crossing.hang(method)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/legacy/"+backend, strings.NewReader(call("1", method)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Mcp-Session-Id", id)
	for _, h := range header {
		req.Header.Set("Accept", h)
	}
	if resp, err := r.client.Do(req); err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the answer ended: %v", err)
		}
	}
	left := time.Now()
	err = <-ended
	return time.Since(left), err
}

func TestDisconnect(t *testing.T) {
	const json, soon, late = "application/json", 400 * time.Millisecond, 2 * time.Second
	for _, tt := range []struct {
		method  string
		version string
		left    time.Duration
		header  []string
		want    time.Duration
	}{
		// Without a stream to come back to only a call goes on.
		{"tools/call", "2025-11-25", soon, nil, window},
		{"tools/call", "2025-11-25", late, []string{json}, window},
		{"tools/call", "2025-06-18", late, nil, window},
		{"tasks/cancel", "2025-11-25", late, nil, window},
		{"tasks/result", "2025-11-25", soon, nil, 0},
		{"tasks/result", "2025-11-25", late, []string{json}, 0},
		{"tasks/get", "2025-11-25", late, nil, 0},
		{"tools/list", "2025-11-25", soon, nil, 0},
		{"tools/list", "2025-06-18", late, nil, 0},
		{"prompts/get", "2025-03-26", late, nil, 0},
		// With one, everything does.
		{"tools/call", "2025-11-25", late, nil, window},
		{"tasks/result", "2025-11-25", late, nil, window},
		{"tools/list", "2025-11-25", late, nil, window},
		{"com.acme/dig", "2025-11-25", late, nil, window},
	} {
		t.Run(fmt.Sprintf("A-L18 %s %s after %v %v", tt.method, tt.version, tt.left, tt.header), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				took, err := abandonedAfter(t, r, r.openVersion(tt.version), tt.method, tt.left, tt.header...)
				if took != tt.want || err.Error() != "the client did not come back" {
					t.Errorf("went on for %v and ended with %v, want %v", took, err, tt.want)
				}
			})
		})
	}
}

// TestDisconnectedCallEnds: a call without a stream that ends within the window is
// not cancelled, can send no more, and its id is free again.
func TestDisconnectedCallEnds(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		sent := make(chan error, 1)
		r.crossing.on("tools/call", func(ctx context.Context, x *port.Exchange) port.Outcome {
			time.Sleep(time.Minute)
			sent <- errors.Join(x.Stream.Send(note("1")), ctx.Err())
			return port.Outcome{Result: "{}"}
		})
		rawRequest(t, r, http.MethodPost, id, call("1", "tools/call")).hangUp()
		wantError(t, r.post(id, call("1", "tools/call")), 200, refusal("1", "-32600", "Invalid request: id: a request with this id is in flight"))
		if err := <-sent; err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("a message to a lost client: %v", err)
		}
		synctest.Wait()
		r.crossing.on("tools/call", nil)
		wantError(t, r.post(id, call("1", "tools/call")), 200, `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call"}}`)
	})
}

// rawConn is a connection on which nobody reads.
type rawConn struct{ io.ReadWriteCloser }

// hangUp closes the connection.
func (c rawConn) hangUp() {
	synctest.Wait()
	_ = c.Close()
	synctest.Wait()
}

// rawRequest writes a request on a connection of its own, whose answer nobody
// reads.
func rawRequest(t *testing.T, r *rig, method, session, body string) rawConn {
	t.Helper()
	conn, err := r.net.Dial(context.Background(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	head := fmt.Sprintf("%s /legacy/%s HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", method, backend, session, len(body))
	if _, err := io.WriteString(conn, head+body); err != nil {
		t.Fatal(err)
	}
	return rawConn{conn}
}

// TestClientThatDoesNotRead: it loses its connection after a while, whatever it
// has asked for (G-8).
func TestClientThatDoesNotRead(t *testing.T) {
	for _, tt := range []struct {
		name, method, request string
		want                  time.Duration
	}{
		{"a plain answer", "POST", "tools/list", 30 * time.Second},
		{"a large plain answer", "POST", "prompts/list", 30 * time.Second},
		{"a stream of a call", "POST", "tasks/result", 30*time.Second + 500*time.Millisecond},
		{"a stream of the session", "GET", "", 30 * time.Second},
		{"a refusal", "POST", "", 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on("prompts/list", func(context.Context, *port.Exchange) port.Outcome {
					return port.Outcome{Result: large(1 << 20)}
				})
				r.crossing.hang("tasks/result")
				body := ""
				if tt.request != "" {
					body = call("1", tt.request)
				}
				conn := rawRequest(t, r, tt.method, id, body)
				begin := time.Now()
				synctest.Wait()
				// The connection is closed by the server: writing to it fails then.
				for {
					if _, err := conn.Write([]byte("G")); err != nil {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				if got := time.Since(begin); got < tt.want || got > tt.want+time.Second {
					t.Errorf("cut after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// TestSlowClient: one that keeps reading gets even a large answer, however long
// it takes.
func TestSlowClient(t *testing.T) {
	for _, accept := range []string{"application/json", "text/event-stream"} {
		t.Run(accept, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
					return port.Outcome{Result: large(1 << 20)}
				})
				resp := r.request(context.Background(), http.MethodPost, id, call("1", "tools/call"), "Accept: "+accept)
				begin, n, buf := time.Now(), 0, make([]byte, 32<<10)
				for {
					m, err := io.ReadFull(resp.Body, buf)
					n += m
					if err != nil {
						break
					}
					time.Sleep(10 * time.Second)
				}
				if n < 1<<20 || time.Since(begin) < 5*time.Minute {
					t.Errorf("%d bytes in %v", n, time.Since(begin))
				}
				_ = resp.Body.Close()
			})
		})
	}
}

// TestSlowBody: a client has a minute to send its message.
func TestSlowBody(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		pipe, w := io.Pipe()
		defer func() { _ = w.Close() }()
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost/legacy/"+backend, pipe)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Mcp-Session-Id", id)
		begin := time.Now()
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		wantError(t, read(t, resp), http.StatusRequestTimeout, refusal("", "-32600", "Invalid request: message: want it within 1m0s"))
		if got := time.Since(begin); got != time.Minute {
			t.Errorf("answered after %v", got)
		}
	})
}

// TestReadDeadlineEnds: the time for the body says nothing about the time for
// the answer.
func TestReadDeadlineEnds(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Times.SessionIdle = 24 * time.Hour }, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", after(time.Hour))
		wantError(t, r.post(id, call("1", "tools/call"), "Accept: application/json"), 200, result1)
	})
}
