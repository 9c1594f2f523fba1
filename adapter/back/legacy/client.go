package legacy

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// Client is the client of one server. It implements [port.SessionBack], is safe
// for concurrent use and holds nothing but connections.
type Client struct {
	server transport.Server
	filter port.Filter
	times  Times
}

var _ port.SessionBack = (*Client)(nil)

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

// Open implements [port.SessionBack]. It returns once the standing stream is
// there, if the server offers one and does not take long: what it says in answer
// to the first request must find somebody listening. Hello.OnMessage may not
// close the session.
func (c *Client) Open(ctx context.Context, hello port.Hello) (port.Session, error) {
	s := c.newSession(hello)
	if err := s.handshake(ctx); err != nil {
		s.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	s.begin()
	s.standing.wait(ctx, c.server.Env)
	return s, nil
}

// Resume implements [port.SessionBack]. The ids of its requests begin at random,
// so that they differ from those of the process that had the session before.
func (c *Client) Resume(_ context.Context, ticket port.Ticket, hello port.Hello) port.Session {
	s := c.newSession(hello)
	s.ticket = ticket
	var b [8]byte
	if _, err := io.ReadFull(c.server.Env.Random(), b[:]); err == nil {
		const spare = 12 // bits, so that no peer rounds an id or its successors
		s.lastID.Store(int64(binary.BigEndian.Uint64(b[:]) >> spare & (1<<51 - 1)))
	}
	s.begin()
	return s
}

// End implements [port.SessionBack].
func (c *Client) End(ctx context.Context, ticket port.Ticket, hello port.Hello) {
	s := c.newSession(hello)
	s.ticket = ticket
	s.Close(ctx)
}
