package legacy

import (
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
	// HTTP sends the requests; nil stands for [transport.NewHTTPClient] without
	// roots of its own. Redirects, cookies and the client's timeout are switched
	// off in a copy of it.
	HTTP *http.Client
	// Env is the clock and the randomness. It is required.
	Env env.Env
	// Logger gets what the client ignored; nil drops it.
	Logger *slog.Logger
	// Filter is the last look at every outgoing message; nil leaves them alone.
	// Responses are shown to it without a method.
	Filter port.Filter
	// Limits bound sizes.
	Limits transport.Limits
	// Times bound waits.
	Times Times
}

// Times bound the waits for a server.
type Times struct {
	// Idle ends an exchange in which the server has sent no byte for so long; 0
	// stands for five minutes. The standing stream may be silent for ever.
	Idle time.Duration
	// Total ends a request, everything sent again and every resumption of its
	// stream included; 0 stands for an hour.
	Total time.Duration
	// Open ends a handshake; 0 stands for 30 seconds.
	Open time.Duration
	// Accept ends a notification, a response or the end of a session that the
	// server does not accept; 0 stands for ten seconds.
	Accept time.Duration
}

// The defaults for what [Times] leaves open.
const (
	defaultOpen   = 30 * time.Second
	defaultAccept = 10 * time.Second
)

func (t Times) orDefault() Times {
	t.Idle = transport.OrDefault(t.Idle, transport.DefaultIdle)
	t.Total = transport.OrDefault(t.Total, transport.DefaultTotal)
	t.Open = transport.OrDefault(t.Open, defaultOpen)
	t.Accept = transport.OrDefault(t.Accept, defaultAccept)
	return t
}
