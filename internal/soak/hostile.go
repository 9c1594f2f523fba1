package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// attack is one way to do harm.
type attack struct {
	name string
	// workers do it over and over, and rest between.
	workers int
	rest    time.Duration
	// once does it once. What it returns is what the bridge answered.
	once func(ctx context.Context, h *hostile) (*answer, error)
	// wants are the statuses that it may be answered with, besides 503 and 429 with
	// Retry-After; 0 stands for a connection that is closed without an answer.
	wants []int
}

// hostile is a client that means harm.
type hostile struct {
	t    *tally
	to   string
	from net.IP
	http *http.Client
	n    int // counts what it has done
}

func (h *hostile) url() string {
	return "http://" + h.to + []string{"/legacy/modern", "/modern/legacy", "/legacy/legacy", "/modern/modern"}[h.n%4]
}

// errClosed stands for a connection that the bridge has closed without an answer.
var errClosed = errors.New("closed")

// run attacks until ctx ends, and judges what it is answered.
func (h *hostile) run(ctx context.Context, a *attack) {
	for ; ctx.Err() == nil; h.n++ {
		got, err := a.once(ctx, h)
		if ctx.Err() != nil {
			return
		}
		h.judge(a, got, err)
		select {
		case <-time.After(a.rest):
		case <-ctx.Done():
		}
	}
}

func (h *hostile) judge(a *attack, got *answer, err error) {
	switch {
	case errors.Is(err, errClosed):
		h.t.got(a.name, "closed")
		if !slices.Contains(a.wants, 0) {
			h.t.fault("%s: closed without an answer", a.name)
		}
	case err != nil:
		h.t.got(a.name, "failed")
		h.t.fault("%s: %v", a.name, err)
	case got == nil: // nothing was waited for
		h.t.got(a.name, "done")
	default:
		h.t.got(a.name, got.kind())
		_, shed := got.shed()
		if !shed && !slices.Contains(a.wants, got.status) {
			h.t.fault("%s: answered %s: %.200s", a.name, got.kind(), got.raw)
		}
	}
}

// send posts something that is refused before it is read to its end, perhaps: then the
// connection may break while it is sent, and the answer is lost to the client.
func (h *hostile) send(ctx context.Context, head string, body io.Reader) (*answer, error) {
	conn, err := dialRaw(ctx, h.from, h.to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	go func() {
		if _, err := io.WriteString(conn, head); err == nil && body != nil {
			_, _ = io.Copy(conn, body)
		}
	}()
	got, err := conn.answered(patience)
	if err != nil {
		return nil, closedOr(err)
	}
	return got, nil
}

// closedOr is errClosed for an error of a connection that the other side has closed.
func closedOr(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("neither answered nor closed: %w", err)
	}
	return errClosed
}

func (h *hostile) path() string { return strings.TrimPrefix(h.url(), "http://"+h.to) }

// head is that of a POST with more headers.
func (h *hostile) head(more string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%s\r\n", h.path(), h.to, more)
}

// garbage are messages that are none.
var garbage = []string{
	"", "\x00\x01\x02\xff", "{", "[", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`, `"text"`, "[1,2,3]", "NaN",
	`{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"` + "\xed\xa0\x80" + `"}`,
}

// zeros is a body of anything, as long as anybody reads.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// attacks are those that are over once they are answered.
func attacks() []attack {
	return []attack{
		{name: "garbage", workers: 4, rest: 20 * time.Millisecond, wants: []int{400}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return post(ctx, h.http, h.url(), nil, strings.NewReader(garbage[h.n%len(garbage)]))
		}},
		{name: "deep JSON", workers: 1, rest: 100 * time.Millisecond, wants: []int{400}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			deep := strings.Repeat(`[`, 400_000)
			return post(ctx, h.http, h.url(), nil, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":`+deep+strings.Repeat(`]`, 400_000)+`}}`))
		}},
		{name: "wrong type", workers: 1, rest: 100 * time.Millisecond, wants: []int{415}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return post(ctx, h.http, h.url(), http.Header{"Content-Type": {"text/xml"}}, strings.NewReader("<x/>"))
		}},
		{name: "huge body announced", workers: 2, rest: 100 * time.Millisecond, wants: []int{413}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return h.send(ctx, h.head("Content-Length: 1073741824\r\n"), nil)
		}},
		{name: "huge body", workers: 2, rest: 300 * time.Millisecond, wants: []int{413, 0}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return h.send(ctx, h.head("Transfer-Encoding: chunked\r\n")+fmt.Sprintf("%x\r\n", 100*maxBody), io.LimitReader(zeros{}, 100*maxBody))
		}},
		{name: "flood of headers", workers: 2, rest: 200 * time.Millisecond, wants: []int{431, 0}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return h.send(ctx, strings.TrimSuffix(h.head(""), "\r\n"), io.LimitReader(headers{}, 8<<20))
		}},
		{name: "long URL", workers: 1, rest: 200 * time.Millisecond, wants: []int{414}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return post(ctx, h.http, h.url()+"?"+strings.Repeat("x", 20<<10), nil, strings.NewReader("{}"))
		}},
		{name: "flood of initialize", workers: 8, rest: 5 * time.Millisecond, wants: []int{200}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			flood := h.flooder()
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + initialize + `}}`
			return post(ctx, flood, "http://"+h.to+"/legacy/modern", nil, strings.NewReader(body))
		}},
		{name: "unknown session", workers: 2, rest: 20 * time.Millisecond, wants: []int{404}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			header := http.Header{"Mcp-Session-Id": {fmt.Sprint("made-up-", h.n)}}
			return post(ctx, h.http, "http://"+h.to+"/legacy/modern", header, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		}},
	}
}

// headers is an endless flood of them.
type headers struct{}

func (headers) Read(p []byte) (int, error) {
	return copy(p, "X-Flood: 0123456789abcdef0123456789\r\n"), nil
}

// flooders are how many addresses a flood comes from.
const flooders = 40

func (h *hostile) flooder() *http.Client {
	c := client(address(netFlood, h.n%flooders))
	if t, ok := c.Transport.(*http.Transport); ok {
		t.DisableKeepAlives = true
	}
	return c
}
