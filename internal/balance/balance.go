package balance

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
)

// Balancer sends requests to replicas. It is safe for concurrent use.
type Balancer struct {
	proxy *httputil.ReverseProxy
	next  http.RoundTripper

	mu       sync.Mutex
	replicas []*url.URL
}

// New returns a balancer over replicas, of which only scheme and host count.
func New(replicas ...*url.URL) *Balancer {
	b := &Balancer{replicas: replicas, next: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}
	b.proxy = &httputil.ReverseProxy{
		// The Host stays what the client has said: replicas check it.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "replica"
			r.Out.Host = r.In.Host
		},
		Transport:     roundTripper(b.send),
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return b
}

// Set replaces the replicas for requests to come.
func (b *Balancer) Set(replicas ...*url.URL) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replicas = replicas
}

// ServeHTTP implements [http.Handler].
func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.proxy.ServeHTTP(w, r) }

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var errNone = errors.New("no replica takes requests")

// shuffled are the replicas in an order of chance.
func (b *Balancer) shuffled() []*url.URL {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.replicas)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// send sends a request to the first replica of a random order that takes connections.
func (b *Balancer) send(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	last := errNone
	for _, replica := range b.shuffled() {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host = replica.Scheme, replica.Host
		if r.Body != nil {
			out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		resp, err := b.next.RoundTrip(out)
		var op *net.OpError
		if err == nil || !errors.As(err, &op) || op.Op != "dial" {
			return resp, err
		}
		last = err
	}
	return nil, last
}
