package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// slowness is what the bridge may take beyond its own deadlines on a busy machine.
const slowness = 20 * time.Second

// bodyTime and readTime are the bridge's own deadlines for a message and for a piece of
// an answer.
const (
	bodyTime = time.Minute
	readTime = 30 * time.Second
)

// lasting are the attacks that take their time.
func lasting() []attack {
	return []attack{
		{name: "slow headers", workers: 40, wants: []int{0, 408}, once: slowHeaders},
		{name: "slow body", workers: 40, wants: []int{408}, once: slowBody},
		{name: "silent connection", workers: 40, wants: []int{0, 408}, once: func(ctx context.Context, h *hostile) (*answer, error) {
			return h.trickle(ctx, "", 0, headerTimeout+slowness)
		}},
		{name: "reader that stops", workers: 10, wants: []int{0}, once: unread},
		{name: "large answers", workers: 30, rest: 300 * time.Millisecond, wants: []int{200}, once: readLarge},
		{name: "large answers, not read", workers: 30, rest: 100 * time.Millisecond, wants: []int{0}, once: leaveLarge},
		{name: "half-closed", workers: 2, rest: 50 * time.Millisecond, once: halfClosed},
		{name: "hung up on a call", workers: 2, rest: 200 * time.Millisecond, once: hungUp},
		{name: "task that nobody polls", workers: 2, rest: 100 * time.Millisecond, wants: []int{200}, once: forgottenTask},
		{name: "question that nobody answers", workers: 2, rest: 200 * time.Millisecond, wants: []int{200}, once: unanswered},
	}
}

// trickle writes text and then a byte now and then, and returns how that ends.
func (h *hostile) trickle(ctx context.Context, text string, every, within time.Duration) (*answer, error) {
	conn, err := dialRaw(ctx, h.from, h.to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, closedOr(err)
	}
	over, stop := context.WithCancel(ctx)
	defer stop()
	if every > 0 {
		go func() {
			for {
				select {
				case <-time.After(every):
				case <-over.Done():
					return
				}
				if _, err := conn.Write([]byte("x")); err != nil {
					return
				}
			}
		}()
	}
	got, err := conn.answered(within)
	if err != nil {
		return nil, closedOr(err)
	}
	return got, nil
}

func slowHeaders(ctx context.Context, h *hostile) (*answer, error) {
	return h.trickle(ctx, "POST /legacy/modern HTTP/1.1\r\nHost: ", time.Second, headerTimeout+slowness)
}

func slowBody(ctx context.Context, h *hostile) (*answer, error) {
	return h.trickle(ctx, h.head("Content-Length: 100000\r\n")+"{", time.Second, bodyTime+slowness)
}

// unread asks for a great deal and reads nothing of it.
func unread(ctx context.Context, h *hostile) (*answer, error) {
	conn, err := dialRaw(ctx, h.from, h.to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + modernMeta + `}}`
	request := fmt.Sprintf("POST /modern/legacy HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n%s", h.to, len(body), body)
	// It is over when the bridge takes no more and has closed the connection. On a busy
	// machine it takes a while until the buffers on the way are full.
	for ctx.Err() == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(2*readTime + slowness))
		if _, err := io.WriteString(conn, strings.Repeat(request, 20)); err != nil {
			return nil, closedOr(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errClosed
}

// halfClosed sends a request, says that it sends no more, and leaves with the answer
// under way.
func halfClosed(ctx context.Context, h *hostile) (*answer, error) {
	conn, err := dialRaw(ctx, h.from, h.to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, h.head("Content-Length: 1000\r\n")+"{"); err != nil {
		return nil, closedOr(err)
	}
	inner, ok := conn.Conn.(closing)
	if tcp, isTCP := inner.Conn.(*net.TCPConn); ok && isTCP {
		_ = tcp.CloseWrite()
	}
	_, _ = conn.head(time.Second) //nolint:bodyclose // the connection is closed
	return nil, nil               //nolint:nilnil // there is no answer to judge
}

func (h *hostile) modern(ctx context.Context, method, name, capabilities, params string) (*answer, error) {
	meta := strings.Replace(modernMeta, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, capabilities, 1)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":%s,%s}}`, h.n, method, meta, params)
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Mcp-Name": {name}}
	if h.n%2 == 0 {
		header.Set("Authorization", fmt.Sprint("Bearer hostile-", h.n%50))
	}
	return post(ctx, h.http, "http://"+h.to+"/modern/legacy", header, strings.NewReader(body))
}

// hungUp leaves while a call is under way.
func hungUp(ctx context.Context, h *hostile) (*answer, error) {
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	got, err := h.modern(short, "tools/call", "grind", `{}`, `"name":"grind","arguments":{"ms":5000}`)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, nil //nolint:nilnil // there is no answer to judge
	}
	return got, err
}

// forgottenTask makes a task and never asks for it again.
func forgottenTask(ctx context.Context, h *hostile) (*answer, error) {
	return h.modern(ctx, "tools/call", "work", `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `"name":"work","arguments":{"ms":600000}`)
}

// unanswered makes a call that asks something, and does not answer.
func unanswered(ctx context.Context, h *hostile) (*answer, error) {
	return h.modern(ctx, "tools/call", "ask", `{"elicitation":{"form":{}}}`, `"name":"ask","arguments":{}`)
}
