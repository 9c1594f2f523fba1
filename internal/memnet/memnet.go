package memnet

import (
	"context"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// loopback is the address that both ends of every connection claim, so that
// code which reads a peer's address finds one it can parse.
var loopback = net.IPv4(127, 0, 0, 1)

// Ports that are shown as addresses; they name nothing outside this package.
const (
	serverPort  = 1
	firstClient = 1024
	lastClient  = 65535
)

// Listener accepts the connections that [Listener.Dial] makes. The zero value is
// not usable; call [Listen].
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	port int
}

// Listen returns a listener of its own little network.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{}), port: firstClient}
}

// Accept waits for the next connection. After Close it returns an error that
// wraps [net.ErrClosed].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, l.failed("accept", net.ErrClosed)
	default:
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, l.failed("accept", net.ErrClosed)
	}
}

// Close stops the listener. Connections that were accepted stay open; later
// dials are refused. Closing twice is no error.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns the address that the server end of every connection shows.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: loopback, Port: serverPort} }

// Dial connects to the listener, whatever address is asked for, so that it can
// stand in for the dialer of an [http.Transport]. It waits until the connection
// is accepted or ctx is done, and is refused once the listener is closed.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, l.failed("dial", syscall.ECONNREFUSED)
	default:
	}
	client, server := net.Pipe()
	local := &net.TCPAddr{IP: loopback, Port: l.nextPort()}
	select {
	case l.conns <- &conn{Conn: server, local: l.Addr(), remote: local}:
		return &conn{Conn: client, local: local, remote: l.Addr()}, nil
	case <-l.closed:
		return nil, l.failed("dial", syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, l.failed("dial", context.Cause(ctx))
	}
}

// Attach makes client send its requests to this listener. The client's
// transport must be an *[http.Transport]; it is changed in place.
func (l *Listener) Attach(client *http.Client) bool {
	transport, ok := client.Transport.(*http.Transport)
	if !ok {
		return false
	}
	transport.Proxy = nil
	transport.DialContext = l.Dial
	return true
}

func (l *Listener) nextPort() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	port := l.port
	if l.port++; l.port > lastClient {
		l.port = firstClient
	}
	return port
}

func (l *Listener) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "mem", Addr: l.Addr(), Err: err}
}

// conn is one end of a pipe with addresses that can be parsed.
type conn struct {
	net.Conn
	local, remote net.Addr
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }
