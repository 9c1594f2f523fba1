package adapter_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// wireClient is a connection on which anything can be written.
type wireClient struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func (c *eraCell) wire() *wireClient {
	c.t.Helper()
	conn, err := c.front.Dial(context.Background(), "", "")
	if err != nil {
		c.t.Fatal(err)
	}
	return &wireClient{conn, c.t, bufio.NewReader(conn)}
}

// say writes text, and returns at once.
func (w *wireClient) say(text string) {
	go func() { _, _ = io.WriteString(w, text) }()
	synctest.Wait()
}

// wireAnswer is an answer; the status is zero for a connection that was closed.
type wireAnswer struct {
	status int
	header http.Header
	last   bool // the connection is to be closed
}

// heard reads an answer, and returns its body beside it.
func (w *wireClient) heard() (resp wireAnswer, body string) {
	w.t.Helper()
	r, err := http.ReadResponse(w.in, nil)
	if err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.ErrClosedPipe) {
			w.t.Errorf("the connection broke: %v", err)
		}
		return wireAnswer{}, ""
	}
	text, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	return wireAnswer{r.StatusCode, r.Header, r.Close}, string(text)
}

// headOf is the head of a POST to a face.
func headOf(face, more string) string {
	return "POST /" + face + "/quarry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" + more + "\r\n"
}

// closed is the status of a connection that is closed without an answer.
const closed = 0

// excess is something past a limit of what a request may be.
type excess struct {
	name   string
	say    string
	repeat string        // said over and over, every second
	within time.Duration // it takes no longer
	status int
	answer string // in the body
	served bool   // the face itself has to look: elsewhere it is 404
}

// excesses are those at a face, which is "nowhere" for a path that none serves.
func excesses(face string) []excess {
	return []excess{
		{
			name: "limits.body, announced", say: headOf(face, "Content-Length: 4194305\r\n"), within: 0,
			status: 413, answer: "message: want at most 4194304 bytes", served: true,
		},
		{
			name: "limits.body, sent", say: headOf(face, "Transfer-Encoding: chunked\r\n") + "400001\r\n" + strings.Repeat(" ", 4<<20+1), within: time.Second,
			status: 413, answer: "message: want at most 4194304 bytes", served: true,
		},
		{
			name: "limits.header_timeout", say: "POST /" + face + "/quarry HTTP/1.1\r\nHost: ", repeat: "x", within: 11 * time.Second,
			status: closed,
		},
		{
			name: "limits.header_timeout, silent", within: 11 * time.Second, status: closed,
		},
		{
			name: "the time for a message", say: headOf(face, "Content-Length: 100000\r\n"), repeat: " ", within: 62 * time.Second,
			status: 408, answer: "message: want it within 1m0s", served: true,
		},
		{
			name: "the size of headers", say: headOf(face, "X: "+strings.Repeat("x", 70<<10)+"\r\n"), within: time.Second, status: 431,
		},
		{
			name: "the number of headers", say: headOf(face, strings.Repeat("X: 1\r\n", 20<<10)), within: time.Second, status: 431,
		},
		{
			name: "the length of the URL", say: strings.Replace(headOf(face, "Content-Length: 2\r\n"), "quarry", "quarry?"+strings.Repeat("x", 8<<10), 1) + "{}",
			within: time.Second, status: 414, answer: "URL: want less",
		},
		{
			name: "the depth of JSON", say: headOf(face, "Content-Length: 40000\r\n") + strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
			within: time.Second, status: 400, answer: "-32", served: true,
		},
		{
			name: "a connection that asks nothing more", say: headOf(face, "Content-Length: 2\r\n") + "{}", within: time.Second, status: 400, served: true,
		},
	}
}

// TestEdgeLimits goes past every limit of what a request may be, on both faces and on
// a path that neither serves. Each is refused in its own way and within its time, and
// the bridge serves the next client.
func TestEdgeLimits(t *testing.T) {
	for _, face := range []string{"legacy", "modern", "nowhere"} {
		for _, tt := range excesses(face) {
			t.Run(tt.name+" at /"+face, func(t *testing.T) {
				cellOf(t, newOldDemo(), func(c *eraCell) {
					w := c.wire()
					defer func() { _ = w.Close() }()
					if tt.say != "" {
						w.say(tt.say)
					}
					var work sync.WaitGroup
					defer work.Wait()
					ctx, stop := context.WithCancel(context.Background())
					defer stop()
					if tt.repeat != "" {
						work.Go(func() { repeatedly(ctx, w, tt.repeat) })
					}
					begun := time.Now()
					resp, body := w.heard()
					took := time.Since(begun)
					stop()
					want := tt.status
					if face == "nowhere" && tt.served {
						want, tt.answer = 404, ""
					}
					if resp.status != want || !strings.Contains(body, tt.answer) || took > tt.within {
						t.Errorf("%d %.200q after %v, want %d %q within %v", resp.status, body, took, want, tt.answer, tt.within)
					}
					if _, err := io.Copy(io.Discard, w.in); err != nil && !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("the connection is not closed: %v", err)
					}
					if took := time.Since(begun); took > 3*time.Minute {
						t.Errorf("the connection is open for %v", took)
					}
					if got := c.old("").do("ping", `{}`); got.Get("result") != "{}" {
						t.Errorf("the next client is told %s", got)
					}
				})
			})
		}
	}
}

// repeatedly writes something every second until ctx ends, or nobody takes it.
func repeatedly(ctx context.Context, w io.Writer, text string) {
	for ctx.Err() == nil {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// TestConnections: beyond limits.connections a client is told to come back, and beyond
// those that are told its connection is closed at once. One that leaves makes room.
func TestConnections(t *testing.T) {
	for key, all := range map[string]int{"connections": 100, "connections_per_address": 10} {
		t.Run("limits."+key, func(t *testing.T) {
			cellOf(t, newOldDemo(), func(c *eraCell) {
				c.set = []string{fmt.Sprintf("limits.%s=%d", key, all)}
				c.restart()
				open := make([]*wireClient, all)
				for i := range open {
					open[i] = c.wire()
				}
				synctest.Wait()
				turned := c.wire()
				turned.say(headOf("modern", "Content-Length: 2\r\n") + "{}")
				resp, body := turned.heard()
				if resp.status != http.StatusServiceUnavailable || resp.header.Get("Retry-After") != "5" || !resp.last ||
					body != `{"jsonrpc":"2.0","error":{"code":-32603,"message":"too many connections; try again later"}}` {
					t.Errorf("one too many: %d %v %s", resp.status, resp.header, body)
				}
				_ = turned.Close()
				synctest.Wait()
				idle := make([]*wireClient, 64)
				for i := range idle {
					idle[i] = c.wire()
				}
				synctest.Wait()
				mute := c.wire()
				if resp, _ := mute.heard(); resp.status != 0 {
					t.Errorf("one beyond those is told %d", resp.status)
				}
				for _, w := range idle {
					_ = w.Close()
				}
				_ = open[0].Close()
				synctest.Wait()
				open[0] = c.wire()
				open[0].say(headOf("modern", "Content-Length: 2\r\n") + "{}")
				if resp, _ := open[0].heard(); resp.status != http.StatusBadRequest {
					t.Errorf("in the place of one that left: %d", resp.status)
				}
				for _, w := range open {
					_ = w.Close()
				}
			})
		})
	}
}

// TestUnreadAnswers: a client that asks and does not read is let go, wherever it asks.
func TestUnreadAnswers(t *testing.T) {
	for _, path := range []string{"/legacy/quarry", "/modern/quarry", "/nowhere"} {
		t.Run(path, func(t *testing.T) {
			cellOf(t, newOldDemo(), func(c *eraCell) {
				w := c.wire()
				begun := time.Now()
				_ = w.SetWriteDeadline(begun.Add(time.Hour))
				request := strings.Replace(headOf("x", "Content-Length: 2\r\n"), "/x/quarry", path, 1) + "{}"
				for {
					if _, err := io.WriteString(w, request); err != nil {
						break
					}
				}
				if took := time.Since(begun); took > time.Minute {
					t.Errorf("held for %v", took)
				}
				_ = w.Close()
			})
		})
	}
}

// TestSlowReaderIsServedOn: a client that takes a while to read an answer is served on
// the same connection afterwards.
func TestSlowReaderIsServedOn(t *testing.T) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{%s{}}}}`, recentMeta)
	list := headOf("modern", fmt.Sprintf("Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n", len(body))) + body
	for name, first := range map[string]string{
		"an answer":         list,
		"a refusal":         headOf("modern", "Content-Length: 2\r\n") + "{}",
		"what has no body":  "GET /modern/quarry HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"what is nowhere":   headOf("nowhere", "Content-Length: 2\r\n") + "{}",
		"an empty message":  headOf("modern", "Content-Length: 0\r\n"),
		"a chunked message": headOf("modern", "Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			cellOf(t, newOldDemo(), func(c *eraCell) {
				w := c.wire()
				defer func() { _ = w.Close() }()
				w.say(first)
				time.Sleep(20 * time.Second)
				if got, _ := w.heard(); got.status == 0 {
					t.Error("no answer")
				}
				for range 3 {
					w.say(list)
					if got, text := w.heard(); got.status != http.StatusOK || !strings.Contains(text, `"result"`) {
						t.Errorf("then %d %.100q", got.status, text)
					}
				}
			})
		})
	}
}

// TestAdminIsReachedInACrowd: clients that take every connection leave the admin listener
// alone.
func TestAdminIsReachedInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, listen, admin := "memory:", "127.0.0.1:1", "127.0.0.1:2"
		cfg, err := config.Load(config.Inputs{
			Flags: config.Flags{
				Backends: []string{"quarry=http://127.0.0.1/mcp"}, Store: &store, Admin: &admin, Listen: &listen,
				Set: []string{"limits.connections=1"},
			},
			LookupEnv: func(string) (string, bool) { return "", false },
		})
		if err != nil {
			t.Fatal(err)
		}
		nets := map[string]*memnet.Listener{listen: memnet.Listen(), admin: memnet.Listen()}
		ready := make(chan struct{})
		bridge, err := adapter.New(t.Context(), cfg, adapter.Options{
			Listen: func(_ context.Context, _, address string) (net.Listener, error) { return nets[address], nil },
			Ready:  func(adapter.Ready) { close(ready) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- bridge.Run(ctx) }()
		<-ready
		for range 1 + 64 {
			conn, err := nets[listen].Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
		}
		synctest.Wait()
		client := &http.Client{Transport: &http.Transport{}}
		nets[admin].Attach(client)
		resp, err := client.Get("http://127.0.0.1/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("health: %d", resp.StatusCode)
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
