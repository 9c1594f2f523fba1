package redis

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/internal/env"
)

// probeEvery is how often a server that is down is tried. Calls meanwhile fail
// without a try of their own.
const probeEvery = 200 * time.Millisecond

// gate lets calls through to one server, or to the master of sentinels, while
// it answers. The first call that gets no answer shuts it, and pings open it.
type gate struct {
	store *Store
	name  string // for the log
	ping  func(ctx context.Context) error

	mu   sync.Mutex
	down error // nil while open
}

var _ redis.Hook = (*gate)(nil)

// probing marks the context of pings, which pass a gate that is shut.
type probing struct{}

// guard puts a gate before a client.
func (s *Store) guard(client *redis.Client, name string) *redis.Client {
	g := &gate{store: s, name: name}
	g.ping = func(ctx context.Context) error {
		return client.Ping(context.WithValue(ctx, probing{}, true)).Err()
	}
	client.AddHook(g)
	return client
}

// DialHook implements redis.Hook.
func (g *gate) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements redis.Hook.
func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := g.check(ctx); err != nil {
			cmd.SetErr(err)
			return err
		}
		err := next(ctx, cmd)
		g.report(ctx, err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := g.check(ctx); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		err := next(ctx, cmds)
		g.report(ctx, err)
		return err
	}
}

// check returns an error while the gate is shut.
func (g *gate) check(ctx context.Context) error {
	if ctx.Value(probing{}) != nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, g.down)
	}
	return nil
}

// report looks at the outcome of a call and shuts the gate if it must.
func (g *gate) report(ctx context.Context, err error) {
	if ctx.Value(probing{}) != nil || g.store.over(ctx) != nil || !unreachable(err) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down != nil || !g.store.background(g.probe) {
		return
	}
	g.down = err
	g.store.hub.test()
	g.store.logger.LogAttrs(ctx, slog.LevelWarn, "redis does not answer", slog.String("server", g.name), slog.Any("error", err))
}

// probe pings until there is an answer, and opens the gate.
func (g *gate) probe(ctx context.Context) {
	for {
		g.store.reload(ctx)
		err := g.ping(ctx)
		if ctx.Err() != nil {
			return
		}
		g.mu.Lock()
		g.down = err
		g.mu.Unlock()
		if err == nil || isClosedClient(err) {
			g.store.logger.LogAttrs(ctx, slog.LevelInfo, "redis answers again", slog.String("server", g.name))
			return
		}
		if env.Sleep(ctx, g.store.env, probeEvery) != nil {
			return
		}
	}
}
