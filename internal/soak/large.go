package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// largeAnswer is the size of every answer of the server of large answers, in bytes.
const largeAnswer = 6 << 20

// large is a server of 2026-07-28 whose tool answers with a great deal.
type large struct {
	server *http.Server
	url    string
}

// serveLarge starts it in this process.
func serveLarge(ctx context.Context) (*large, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &large{url: "http://" + l.Addr().String() + "/mcp"}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: startTime}
	go func() { _ = s.server.Serve(l) }() // it ends with stop
	return s, nil
}

func (s *large) stop() error { return s.server.Close() }

var largeText = strings.Repeat("x", largeAnswer)

// ServeHTTP implements [http.Handler].
func (s *large) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var msg struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxAnswer)).Decode(&msg); err != nil || msg.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := ""
	switch msg.Method {
	case "server/discover":
		result = `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public"`
	case "tools/list":
		result = `"tools":[{"name":"large","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"public"`
	default:
		result = `"content":[{"type":"text","text":"` + largeText + `"}]`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"large","version":"1"}}}}`, msg.ID, result)
}

// callLarge is a request for a large answer.
func callLarge(to string) string {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":` + modernMeta + `,"name":"large","arguments":{}}}`
	return fmt.Sprintf("POST /modern/large HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: large\r\nContent-Length: %d\r\n\r\n%s", to, len(body), body)
}

// readLarge asks for a large answer and reads it.
func readLarge(ctx context.Context, h *hostile) (*answer, error) {
	conn, err := dialRaw(ctx, h.from, h.to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, callLarge(h.to)); err != nil {
		return nil, closedOr(err)
	}
	got, err := conn.answered(patience)
	if err != nil {
		return nil, closedOr(err)
	}
	if got.status == http.StatusOK && got.msg.Error == nil && len(got.raw) < largeAnswer {
		return nil, fmt.Errorf("an answer of %d bytes, of %d", len(got.raw), largeAnswer)
	}
	return got, nil
}

// leaveLarge asks for a large answer and does not read it. The bridge gives up on it.
func leaveLarge(ctx context.Context, h *hostile) (*answer, error) {
	conn, err := dialRaw(ctx, h.from, h.to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if inner, ok := conn.Conn.(closing); ok {
		if tcp, isTCP := inner.Conn.(*net.TCPConn); isTCP {
			_ = tcp.SetReadBuffer(4 << 10)
		}
	}
	if _, err := io.WriteString(conn, callLarge(h.to)); err != nil {
		return nil, closedOr(err)
	}
	select {
	case <-time.After(readTime + slowness/2):
	case <-ctx.Done():
		return nil, errClosed
	}
	_ = conn.SetReadDeadline(time.Now().Add(slowness))
	// What the kernel has is there still, and then the end; a refusal was short enough to
	// be there whole, on a connection that stays open.
	read, err := io.Copy(io.Discard, conn)
	if err != nil && read > largeAnswer/2 {
		return nil, closedOr(err)
	}
	return nil, errClosed
}
