package modern

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Client is the client of one server. It implements [port.Back], is safe for
// concurrent use and holds nothing but connections.
type Client struct {
	server transport.Server
	filter port.Filter
	times  Times
	lastID atomic.Int64
}

var _ port.Back = (*Client)(nil)

// New returns a client of the server at o.URL. Nothing is sent yet.
func New(o Options) *Client {
	c := &Client{
		server: transport.Server{
			URL: o.URL, HTTP: transport.Harden(o.HTTP), Env: o.Env, Log: o.Logger,
			Limit: transport.OrDefault(o.Limits.Result, transport.DefaultResult), Memory: o.Limits.Memory,
		},
		filter: o.Filter, times: o.Times.orDefault(),
	}
	if c.server.Log == nil {
		c.server.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// CloseIdle closes the connections that no exchange is using.
func (c *Client) CloseIdle() { c.server.HTTP.CloseIdleConnections() }

// Do implements [port.Back]. Requests of [Repeatable] methods are sent up to
// four times in all, with a new id each; others once, or twice when the first
// attempt did not reach the server. All attempts together end at Times.Total.
//
// The error is the server's own *[jsonrpc.Error], whatever the HTTP status it
// came with, or a *[port.UpstreamError]. An error that came with 401, 403 or a
// status from 500 is both: the *[port.UpstreamError] wraps it and keeps the
// status.
func (c *Client) Do(ctx context.Context, call port.Call) (wire.Value, error) {
	server := &c.server
	deadline := server.Env.Now().Add(c.times.Total)
	for tries := 1; ; tries++ {
		result, failed := c.attempt(transport.Watch(ctx, server.Env, c.times.Idle, deadline), &call)
		if failed == nil {
			return result, nil
		}
		wait, again := server.Again(Repeatable(call.Method), tries, failed)
		if !again || server.Env.Now().Add(wait).After(deadline) {
			return "", failed.Err
		}
		if err := env.Sleep(ctx, server.Env, wait); err != nil {
			return "", &port.UpstreamError{Op: call.Method, Sent: failed.Sent, Err: err}
		}
	}
}

// attempt sends the request once and waits for the response.
func (c *Client) attempt(w *transport.Watchdog, call *port.Call) (wire.Value, *transport.Failure) {
	x, failed := c.open(w, call)
	if failed != nil {
		return "", failed
	}
	if !x.Streams() {
		defer x.Close()
		return outcome(x.document())
	}
	events := x.Events()
	defer events.Release()
	for {
		msg, failed := x.next(events)
		if failed != nil {
			x.Close()
			return "", failed
		}
		if msg.Kind != jsonrpc.KindNotification {
			x.Finish(func(drain func()) { go drain() })
			return outcome(msg, nil)
		}
		if call.OnMessage != nil {
			call.OnMessage(msg)
		}
	}
}
