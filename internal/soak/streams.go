package soak

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The nets that clients come from.
const (
	netGood byte = 10 + iota
	netStreams
	netFlood
	netHostile
)

// hold opens so many idle streams at the bridge and holds them until ctx ends: most on
// sessions of the legacy face, some subscriptions of the modern one. It returns when
// all are open.
func hold(ctx context.Context, t *tally, to string, streams int, work *sync.WaitGroup) {
	const openers = 8
	groups := make(chan int)
	var opening sync.WaitGroup
	for range openers {
		opening.Go(func() {
			for n := range groups {
				holdGroup(ctx, t, to, n, work)
			}
		})
	}
	for n := range (streams + streamsPerSession - 1) / streamsPerSession {
		select {
		case groups <- n:
		case <-ctx.Done():
		}
	}
	close(groups)
	opening.Wait()
}

// holdGroup opens the streams that one session, or one caller, may have.
func holdGroup(ctx context.Context, t *tally, to string, n int, work *sync.WaitGroup) {
	from := address(netStreams, n/20)
	request := subscription(to, n)
	if n%10 > 0 {
		g := legacyClient(t, from, to)
		_, err := g.request(ctx, "initialize", "", initialize)
		g.http.CloseIdleConnections()
		if err != nil {
			g.lost(ctx, "session of idle streams", err)
			return
		}
		request = fmt.Sprintf("GET /legacy/modern HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n",
			to, g.header.Get("Mcp-Session-Id"))
	}
	for range streamsPerSession {
		holdOne(ctx, t, from, to, request, work)
	}
}

// subscription is a request of the modern face, of a caller of its own.
func subscription(to string, n int) string {
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":` + modernMeta + `,"notifications":{"toolsListChanged":true}}}`
	return fmt.Sprintf("POST /modern/legacy HTTP/1.1\r\nHost: %s\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer idle-%d\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s",
		to, n, len(body), body)
}

// holdOne opens a stream and reads it until ctx ends.
func holdOne(ctx context.Context, t *tally, from net.IP, to, request string, work *sync.WaitGroup) {
	conn, err := dialRaw(ctx, from, to)
	if err != nil {
		if ctx.Err() == nil {
			t.fault("idle stream: %v", err)
		}
		return
	}
	_, err = io.WriteString(conn, request)
	var resp *http.Response
	if err == nil {
		resp, err = conn.head(patience) //nolint:bodyclose // it is the connection that is read and closed
	}
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if ctx.Err() == nil {
			t.fault("idle stream not opened: %v", describe(resp, err))
		}
		_ = conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	t.stream(1)
	work.Go(func() {
		defer func() { _ = conn.Close() }()
		_, err := io.Copy(io.Discard, conn.in)
		if ctx.Err() == nil {
			t.stream(-1)
			t.fault("idle stream cut: %v", err)
		}
	})
}

func describe(resp *http.Response, err error) any {
	if err != nil {
		return err
	}
	return fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Content-Type"))
}
