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
	"github.com/taskbridge/taskbridge/adapter/proof"
	"github.com/taskbridge/taskbridge/ext2026"
)

// backend is a configured backend. Which of its clients is used depends on its era,
// which may have to be found out first.
type backend struct {
	cfg           *config.Backend
	target        *url.URL
	http          *http.Client
	era           *probe.Cache
	proofs        *proof.Book
	authorization func(port.Caller) string
}

// backends finds out how to reach all configured backends.
func (b *Bridge) backends() ([]*backend, error) {
	out := make([]*backend, 0, len(b.cfg.Backends))
	for i := range b.cfg.Backends {
		c := &b.cfg.Backends[i]
		backend, err := b.backend(c)
		if err != nil {
			return nil, fmt.Errorf("backend %s: %w", c.Name, err)
		}
		out = append(out, backend)
	}
	return out, nil
}

func (b *Bridge) backend(c *config.Backend) (*backend, error) {
	target, client, err := b.reach(c)
	if err != nil {
		return nil, err
	}
	proofs, err := proof.New(b.env)
	if err != nil {
		return nil, err
	}
	if c.Credentials == config.CredentialsForward {
		client.Transport = proofs.Transport(client.Transport)
	}
	era, err := probe.NewCache(probe.CacheOptions{
		Era: probe.Era(c.Era), URL: target, HTTP: client, Env: b.env, Timeout: b.cfg.Times.Probe, Reprobe: b.cfg.Times.Reprobe,
	})
	if err != nil {
		return nil, err
	}
	return &backend{cfg: c, target: target, http: client, era: era, proofs: proofs, authorization: authorization(c)}, nil
}

// modernBackend returns a backend as one of 2026-07-28, behind a filter.
func (b *Bridge) modernBackend(be *backend, filter *leak.Filter) (*bridge.Backend, error) {
	back := modern.New(modern.Options{
		URL: be.target, HTTP: be.http, Env: b.env, Logger: b.logger, Filter: filter.Apply,
		Limits: modern.Limits{Result: b.cfg.Limits.Result, Memory: b.budget},
		Times:  modern.Times{Idle: b.cfg.Times.CallIdle, Total: b.cfg.Times.CallTotal, Probe: b.cfg.Times.Probe},
	})
	b.stops = append(b.stops, back.CloseIdle)
	about, err := probe.NewDiscovery(b.env)
	if err != nil {
		return nil, err
	}
	c := be.cfg
	return &bridge.Backend{
		Name: c.Name, Back: back, FallbackName: c.Name,
		Authorization: be.authorization,
		Discover: func(ctx context.Context, caller port.Caller, fetch bridge.Fetch) (ext2026.DiscoverResult, error) {
			if err := be.era.Require(ctx, probe.Modern, be.authorization(caller)); err != nil {
				return ext2026.DiscoverResult{}, err
			}
			return about.Get(ctx, be.authorization(caller), fetch)
		},
		Contradict: func() {
			be.era.Contradict()
			about.Clear()
		},
		SyncGrace: c.SyncGrace, HostedTTL: c.HostedTTL, PageSize: c.PageSize,
		DrivePlain: c.PlainCalls == config.PlainDrive, ToolErrorsCompleted: c.ToolErrors == config.ToolErrorsCompleted,
	}, nil
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
