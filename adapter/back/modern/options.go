package modern

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

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
type Limits struct {
	// Result is the largest message accepted, in bytes; 0 stands for 32 MiB.
	Result int64
}

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

// The defaults for what [Options] leaves open.
const (
	defaultResult = 32 << 20
	defaultIdle   = 5 * time.Minute
	defaultTotal  = time.Hour
	defaultProbe  = 5 * time.Second
)

func (l Limits) orDefault() Limits {
	l.Result = orDefault(l.Result, defaultResult)
	return l
}

func (t Times) orDefault() Times {
	t.Idle = orDefault(t.Idle, defaultIdle)
	t.Total = orDefault(t.Total, defaultTotal)
	t.Probe = orDefault(t.Probe, defaultProbe)
	return t
}

func orDefault[T int64 | time.Duration](value, standard T) T {
	if value > 0 {
		return value
	}
	return standard
}
