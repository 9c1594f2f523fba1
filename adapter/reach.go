package adapter

import (
	"net/http"
	"net/url"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/demo"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// demoURL is where a built-in server is found on its in-memory network.
var demoURL = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/mcp"}

// reach returns where a backend is and a client that gets there.
func (b *Bridge) reach(c *config.Backend) (*url.URL, *http.Client, error) {
	switch c.Demo {
	case config.DemoModern:
		return demoURL, b.startDemo(demo.NewModern(demo.Options{})), nil
	case config.DemoLegacy:
		return demoURL, b.startDemo(demo.NewLegacy(demo.Options{})), nil
	}
	client, err := b.httpClient(c)
	return c.URL, client, err
}

// httpClient returns the client of a backend with its own trust and, for static
// credentials, its own header.
func (b *Bridge) httpClient(c *config.Backend) (*http.Client, error) {
	roots, err := c.RootCAs()
	if err != nil {
		return nil, err
	}
	client := modern.NewHTTPClient(roots)
	if transport, ok := client.Transport.(*http.Transport); ok && b.dial != nil {
		transport.DialContext, transport.Proxy = b.dial, nil
	}
	if c.Credentials == config.CredentialsStatic {
		client.Transport = &headerTransport{next: client.Transport, header: c.Header}
	}
	return client, nil
}

// headerTransport adds a backend's static credential to every request.
type headerTransport struct {
	next   http.RoundTripper
	header config.Header
}

// RoundTrip implements [http.RoundTripper].
func (t *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(t.header.Name, t.header.Value)
	return t.next.RoundTrip(r)
}

// CloseIdleConnections passes on what [http.Client.CloseIdleConnections] asks.
func (t *headerTransport) CloseIdleConnections() {
	if closer, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// demoServer is a built-in server.
type demoServer interface {
	http.Handler
	Close()
}

// startDemo runs a built-in server on a network of its own and returns a client
// that reaches it.
func (b *Bridge) startDemo(server demoServer) *http.Client {
	listener := memnet.Listen()
	client := modern.NewHTTPClient(nil)
	listener.Attach(client)
	httpServer := b.server(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It ends with Close below; there is nothing to report then.
		_ = httpServer.Serve(listener)
	}()
	b.stops = append(b.stops, func() {
		server.Close()
		_ = httpServer.Close()
		<-done
	})
	return client
}
