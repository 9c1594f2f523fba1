package modern

import (
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Options configure a [Client].
type Options struct {
	// URL is the server's endpoint. It is required.
	URL *url.URL
	// HTTP sends the requests; nil stands for [NewHTTPClient] without roots of
	// its own. Redirects, cookies and the client's timeout are switched off in a
	// copy of it.
	HTTP *http.Client
	// Env is the clock and the randomness. It is required.
	Env env.Env
	// Logger gets what the client ignored; nil drops it.
	Logger *slog.Logger
	// Filter is the last look at every outgoing request; nil leaves them alone.
	Filter port.Filter
	// Limits bound sizes.
	Limits Limits
	// Times bound waits.
	Times Times
}

// Limits bound what a server may send.
type Limits = transport.Limits

// Times bound the waits for a server.
type Times struct {
	// Idle ends an exchange in which the server has sent no byte for so long; 0
	// stands for five minutes.
	Idle time.Duration
	// Total ends a request, everything sent again included; 0 stands for an hour.
	Total time.Duration
	// Probe ends the wait for the acknowledgement of a subscription; 0 stands
	// for five seconds.
	Probe time.Duration
}

// defaultProbe is what [Times] says.
const defaultProbe = 5 * time.Second

func (t Times) orDefault() Times {
	t.Idle = transport.OrDefault(t.Idle, transport.DefaultIdle)
	t.Total = transport.OrDefault(t.Total, transport.DefaultTotal)
	t.Probe = transport.OrDefault(t.Probe, defaultProbe)
	return t
}

// NewHTTPClient returns a client that suits backends; see [transport.NewHTTPClient].
func NewHTTPClient(roots *x509.CertPool) *http.Client { return transport.NewHTTPClient(roots) }
