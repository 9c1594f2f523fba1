package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// CacheOptions configure a [Cache].
type CacheOptions struct {
	// Era settles the verdict without a probe; Auto, or empty, probes.
	Era Era
	// URL, HTTP, Env, Timeout and Headers are those of [Options].
	URL     *url.URL
	HTTP    *http.Client
	Env     env.Env
	Timeout time.Duration
	Headers []port.Header
	// Reprobe is how long a legacy verdict holds; 0 stands for 24 hours. Stale,
	// it would go unnoticed: such a server answers, only without its news.
	Reprobe time.Duration
}

const (
	defaultReprobe = 24 * time.Hour
	// unknownFor is how long a server that speaks neither era is left alone.
	unknownFor = time.Minute
	// confirmedFor is how long a modern verdict that a second probe has
	// confirmed stands against contradiction, so that a server at odds with
	// itself is not probed with every request.
	confirmedFor = time.Minute
)

// Cache keeps the verdict on one backend: a modern one until it is
// contradicted, a legacy one for a while (G-13). It is safe for concurrent use.
type Cache struct {
	o      CacheOptions
	flight flight.Group[string, Verdict]

	mu      sync.Mutex
	verdict Verdict
	at      time.Time
	known   bool
	// doubted is set from a contradiction to the verdict after it, confirmed
	// while that verdict holds.
	doubted, confirmed bool
}

// NewCache returns a cache that knows nothing yet. Nothing is sent.
func NewCache(o CacheOptions) (*Cache, error) {
	if o.Era == "" {
		o.Era = Auto
	}
	if o.Era != Auto && o.Era != Modern && o.Era != Legacy {
		return nil, fmt.Errorf("era: want auto, modern or legacy, not %q", o.Era)
	}
	if o.URL == nil || o.Env == nil {
		return nil, errors.New("probe: want a URL and an environment")
	}
	if o.Reprobe <= 0 {
		o.Reprobe = defaultReprobe
	}
	return &Cache{o: o}, nil
}

// Verdict returns the verdict on the backend, probing it with the credential if
// none holds. Callers with the same credential share a probe; a refused one is
// nobody else's failure. The error is that of [HTTP] and is not kept.
func (c *Cache) Verdict(ctx context.Context, authorization string) (Verdict, error) {
	if c.o.Era != Auto {
		return Verdict{Era: c.o.Era, Reason: "configured"}, nil
	}
	if v, ok := c.held(); ok {
		return v, nil
	}
	return c.flight.Do(ctx, authorization, func(ctx context.Context) (Verdict, error) {
		if v, ok := c.held(); ok { // another credential was faster
			return v, nil
		}
		v, err := HTTP(ctx, Options{
			URL: c.o.URL, HTTP: c.o.HTTP, Env: c.o.Env, Timeout: c.o.Timeout, Headers: c.o.Headers, Authorization: authorization,
		})
		if err == nil {
			c.keep(v)
		}
		return v, err
	})
}

// Require returns nil when the backend is of this era, an *[EraError] when it is
// not, and the error of [Cache.Verdict] when that is not known.
func (c *Cache) Require(ctx context.Context, era Era, authorization string) error {
	v, err := c.Verdict(ctx, authorization)
	if err == nil && v.Era != era {
		err = &EraError{Verdict: v, Want: era}
	}
	return err
}

// Contradict says that the backend gave an answer that its verdict excludes: the
// next use probes it again, once. A verdict that such a probe has just
// confirmed stays.
func (c *Cache) Contradict() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || c.confirmed && c.o.Env.Now().Sub(c.at) < confirmedFor {
		return
	}
	c.known, c.doubted = false, true
}

func (c *Cache) held() (Verdict, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := c.o.Env.Now().Sub(c.at)
	switch {
	case !c.known,
		c.verdict.Era == Legacy && age >= c.o.Reprobe,
		c.verdict.Era == Unknown && age >= unknownFor:
		return Verdict{}, false
	default:
		return c.verdict, true
	}
}

func (c *Cache) keep(v Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verdict, c.at, c.known = v, c.o.Env.Now(), true
	c.confirmed, c.doubted = c.doubted, false
}

// EraError says that a backend does not speak what it has to.
type EraError struct {
	Verdict Verdict
	Want    Era
}

func (e *EraError) Error() string {
	return fmt.Sprintf("backend is %s, want %s: %s", e.Verdict.Era, e.Want, e.Verdict.Reason)
}

// RPC is the error a client gets (A-L5); see [port.RPCError].
func (e *EraError) RPC() *jsonrpc.Error {
	version := ext2026.Version
	if e.Want == Legacy {
		version = legacy2025.Latest
	}
	return jsonrpc.NewError(jsonrpc.CodeInternal, "backend does not speak MCP %s", version)
}
