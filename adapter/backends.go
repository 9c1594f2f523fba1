package adapter

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/leak"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/demo"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// demoURL is where a built-in server is found on its in-memory network.
var demoURL = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/mcp"}

// backends builds the clients of all configured backends.
func (b *Bridge) backends() ([]*bridge.Backend, error) {
	out := make([]*bridge.Backend, 0, len(b.cfg.Backends))
	for i := range b.cfg.Backends {
		backend, err := b.backend(&b.cfg.Backends[i])
		if err != nil {
			return nil, fmt.Errorf("backend %s: %w", b.cfg.Backends[i].Name, err)
		}
		out = append(out, backend)
	}
	return out, nil
}

func (b *Bridge) backend(c *config.Backend) (*bridge.Backend, error) {
	target, client, err := b.reach(c)
	if err != nil {
		return nil, err
	}
	times := modern.Times{Idle: b.cfg.Times.CallIdle, Total: b.cfg.Times.CallTotal, Probe: b.cfg.Times.Probe}
	back := modern.New(modern.Options{
		URL: target, HTTP: client, Env: b.env, Logger: b.logger, Filter: leak.Modern(b.logger).Apply,
		Limits: modern.Limits{Result: b.cfg.Limits.Result}, Times: times,
	})
	b.stops = append(b.stops, back.CloseIdle)
	era, err := probe.NewCache(probe.CacheOptions{
		Era: probe.Era(c.Era), URL: target, HTTP: client, Env: b.env, Timeout: b.cfg.Times.Probe, Reprobe: b.cfg.Times.Reprobe,
	})
	if err != nil {
		return nil, err
	}
	about, err := probe.NewDiscovery(b.env)
	if err != nil {
		return nil, err
	}
	return &bridge.Backend{
		Name: c.Name, Back: back, FallbackName: c.Name,
		Authorization: authorization(c),
		Discover: func(ctx context.Context, caller port.Caller, fetch bridge.Fetch) (ext2026.DiscoverResult, error) {
			if err := era.RequireModern(ctx, authorization(c)(caller)); err != nil {
				return ext2026.DiscoverResult{}, err
			}
			return about.Get(ctx, authorization(c)(caller), fetch)
		},
		Contradict: func() {
			era.Contradict()
			about.Clear()
		},
		SyncGrace: c.SyncGrace, HostedTTL: c.HostedTTL, PageSize: c.PageSize,
		DrivePlain: c.PlainCalls == config.PlainDrive, ToolErrorsCompleted: c.ToolErrors == config.ToolErrorsCompleted,
	}, nil
}

// reach returns where a backend is and a client that gets there.
func (b *Bridge) reach(c *config.Backend) (*url.URL, *http.Client, error) {
	if c.Demo != "" {
		return demoURL, b.startDemo(), nil
	}
	client, err := b.httpClient(c)
	return c.URL, client, err
}

// authorization returns what a backend is shown of a caller's identity.
func authorization(c *config.Backend) func(port.Caller) string {
	switch c.Credentials {
	case config.CredentialsForward:
		return func(caller port.Caller) string { return caller.Authorization }
	default:
		return func(port.Caller) string { return "" }
	}
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

// startDemo runs the built-in modern server on a network of its own and returns
// a client that reaches it.
func (b *Bridge) startDemo() *http.Client {
	server := demo.NewModern(demo.Options{})
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
