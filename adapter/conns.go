package adapter

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

const (
	// maxHeaders bounds the headers of a request with its first line, in bytes; net/http
	// answers 431 beyond. It adds 4 KiB of its own.
	maxHeaders = 60 << 10
	// maxURL is the length of a request target in bytes; none of ours comes near.
	maxURL = 8 << 10
	// turnedAway is how many connections beyond the limit are told so at a time. Any
	// more are closed without a word: to be told costs a connection, too.
	turnedAway = 64
	// h2Streams and h2Buffer bound the requests of one HTTP/2 connection, and what it may
	// send ahead of who reads it, in bytes.
	h2Streams = 250
	h2Buffer  = 256 << 10
	// filesShare is the part of the files that the process may open which connections
	// of clients get, in percent: connections to backends need some, too.
	filesShare = 75
)

// doors count the connections of several listeners (limits.connections).
type doors struct {
	proxies edge.Proxies
	guests  edge.Crowd
	turned  edge.Crowd
}

// adminConnections are kept for the admin listener: whoever looks after the bridge gets in
// whatever clients do.
const adminConnections = 64

// adminDoors returns the doors of the admin listener.
func (b *Bridge) adminDoors() *doors {
	return &doors{
		guests: edge.Crowd{All: adminConnections, Each: adminConnections},
		turned: edge.Crowd{All: turnedAway, Each: turnedAway},
	}
}

// clientDoors returns the doors of the listeners for clients.
func (b *Bridge) clientDoors() *doors {
	most := b.cfg.Limits.Connections
	if files := maxFiles(); files > 0 && most > files*filesShare/100 {
		most = max(1, files*filesShare/100)
		b.logger.Info("fewer connections than limits.connections: the process may not open as many files", "connections", most, "files", files)
	}
	return &doors{
		proxies: b.cfg.TrustedProxies,
		guests:  edge.Crowd{All: most, Each: b.cfg.Limits.ConnectionsPerAddress},
		turned:  edge.Crowd{All: turnedAway, Each: turnedAway},
	}
}

// door is a listener that counts its connections.
type door struct {
	net.Listener
	d *doors
}

// Accept implements [net.Listener]. It never fails for a connection too many: that
// would keep the server from those that may come.
func (l door) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who := l.d.proxies.Peer(conn.RemoteAddr().String())
		switch {
		case l.d.guests.Enter(who):
			return &guest{Conn: conn, leave: sync.OnceFunc(func() { l.d.guests.Leave(who) })}, nil
		case l.d.turned.Enter(""):
			return &guest{Conn: conn, turned: true, leave: sync.OnceFunc(func() { l.d.turned.Leave("") })}, nil
		default:
			_ = conn.Close()
		}
	}
}

// guest is a connection that counts until it is closed.
type guest struct {
	net.Conn
	turned bool
	leave  func()
}

// Close implements [net.Conn].
func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}

// CloseWrite lets net/http end a refused upload so that the client can still read why.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type turnedKey struct{}

// meet notes in the context of a connection's requests that it is one too many.
func meet(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if g, ok := conn.(*guest); ok && g.turned {
		return context.WithValue(ctx, turnedKey{}, true)
	}
	return ctx
}

// outermost is what every request meets first, whatever it is for. Refusals, too, have
// to be read in time, and what a client still sends has an end.
func (b *Bridge) outermost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest := edge.Follow(r)
		defer func() { edge.Conclude(w, b.env, rest) }()
		switch {
		case r.Context().Value(turnedKey{}) != nil:
			edge.TurnAway(w, http.StatusServiceUnavailable, "too many connections; try again later")
		case r.Context().Err() != nil:
			// Whoever is there still must not take silence for an answer.
			edge.TurnAway(w, http.StatusServiceUnavailable, "the connection is not well; try again on another")
		case len(r.RequestURI) > maxURL:
			edge.TurnAway(w, http.StatusRequestURITooLong, "URL: want less")
		default:
			next.ServeHTTP(w, r)
		}
	})
}
