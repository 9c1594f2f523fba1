package modern

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Client is the client of one server. It implements [port.Back], is safe for
// concurrent use and holds nothing but connections.
type Client struct {
	url    *url.URL
	http   *http.Client
	env    env.Env
	log    *slog.Logger
	filter port.Filter
	limits Limits
	times  Times
	lastID atomic.Int64
}

var _ port.Back = (*Client)(nil)

// New returns a client of the server at o.URL. Nothing is sent yet.
func New(o Options) *Client {
	c := &Client{
		url: o.URL, http: harden(o.HTTP), env: o.Env, log: o.Logger, filter: o.Filter,
		limits: o.Limits.orDefault(), times: o.Times.orDefault(),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

// CloseIdle closes the connections that no exchange is using.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Do implements [port.Back]. Requests of [Repeatable] methods are sent up to
// four times in all, with a new id each; others once, or twice when the first
// attempt did not reach the server. All attempts together end at Times.Total.
//
// The error is the server's own *[jsonrpc.Error], whatever the HTTP status it
// came with, or a *[port.UpstreamError]. An error that came with 401, 403 or a
// status from 500 is both: the *[port.UpstreamError] wraps it and keeps the
// status.
func (c *Client) Do(ctx context.Context, call port.Call) (wire.Value, error) {
	deadline := c.env.Now().Add(c.times.Total)
	for tries := 1; ; tries++ {
		result, failed := c.attempt(watch(ctx, c.env, c.times.Idle, deadline), &call)
		if failed == nil {
			return result, nil
		}
		wait, again := c.again(call.Method, tries, failed)
		if !again || c.env.Now().Add(wait).After(deadline) {
			return "", failed.err
		}
		if err := env.Sleep(ctx, c.env, wait); err != nil {
			return "", &port.UpstreamError{Op: call.Method, Sent: failed.sent, Err: err}
		}
	}
}

// attempt sends the request once and waits for the response.
func (c *Client) attempt(w *watchdog, call *port.Call) (wire.Value, *failure) {
	x, failed := c.open(w, call)
	if failed != nil {
		return "", failed
	}
	if !x.streams() {
		defer x.close()
		return outcome(x.document())
	}
	events := x.events()
	defer events.release()
	for {
		msg, failed := x.next(events)
		if failed != nil {
			x.close()
			return "", failed
		}
		if msg.Kind != jsonrpc.KindNotification {
			x.finish()
			return outcome(msg, nil)
		}
		if call.OnMessage != nil {
			call.OnMessage(msg)
		}
	}
}
