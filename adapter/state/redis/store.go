package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Options say where the state is.
type Options struct {
	// Address names the Redis. Required.
	Address *redisurl.Address
	// Env is the clock. Default: the system's. What expires, does so by the
	// clock of the server.
	Env env.Env
	// Logger hears of outages and of settings that put data at risk, never of
	// contents or passwords. Default: none.
	Logger *slog.Logger
}

// Store is a [state.Store] in Redis. A call whose context is cancelled while
// Redis is silent returns at once where there is no cluster, and otherwise after
// one timeout of the connection at most.
type Store struct {
	env     env.Env
	logger  *slog.Logger
	address *redisurl.Address
	keys    keyspace
	cluster bool
	client  redis.UniversalClient
	hub     *hub
	batcher *batcher
	// patience is how long one answer may take.
	patience time.Duration

	writes   atomic.Int64 // of records with an owner
	sweeping atomic.Bool

	// ctx ends with the store, and with it what runs in the background.
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	refusal error // why no call is let through yet; nil once Redis was looked at
	calls   sync.WaitGroup
	work    sync.WaitGroup
	closing sync.Once
	err     error
}

var _ state.Store = (*Store)(nil)

// openFor bounds how long Open tries to reach Redis.
const openFor = 3 * time.Second

// Open opens the store. An address that cannot be right, or a Redis that refuses the
// bridge or must not be used (before 7, not the master, a cluster behind a URL
// of a single server), is an error that wraps [ErrSetup].
//
// A Redis that cannot be reached is no error: the store is returned, says so in
// the log, fails every call with [ErrUnavailable] and begins to work when Redis
// is there. A bridge that is restarted during an outage would otherwise stop
// serving what needs no store.
func Open(ctx context.Context, opts Options) (*Store, error) {
	address := opts.Address
	if opts.Env == nil {
		opts.Env = env.System()
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		env: opts.Env, logger: opts.Logger, address: address, cluster: address.Kind == redisurl.Cluster,
		patience: orDefault(address.DialTimeout, dialTimeout) + orDefault(address.ReadTimeout, ioTimeout),
		keys:     keyspace{base: address.Prefix + ":" + layout + ":", db: address.DB},
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.hub = newHub(s)
	s.batcher = &batcher{store: s}
	var err error
	if s.client, err = s.newClient(address); err != nil {
		s.cancel()
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start looks at Redis, for a while here and then in the background.
func (s *Store) start(ctx context.Context) error {
	trying, stop := env.WithTimeout(ctx, s.env, openFor, context.DeadlineExceeded)
	defer stop()
	err := s.inspect(trying)
	for err != nil && !hopeless(err) && env.Sleep(trying, s.env, probeEvery) == nil {
		err = s.inspect(trying)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case hopeless(err):
		return fmt.Errorf("%s: %w", s.address, setup(err))
	}
	s.logger.LogAttrs(ctx, slog.LevelError, "redis cannot be reached; what needs it fails until it can",
		slog.String("store", s.address.String()), slog.Any("error", err))
	s.refuse(err)
	s.background(s.await)
	return nil
}

// await lets calls through once Redis was reached and found usable.
func (s *Store) await(ctx context.Context) {
	told := false
	for {
		err := s.inspect(ctx)
		s.refuse(err)
		switch {
		case err == nil:
			s.logger.LogAttrs(ctx, slog.LevelInfo, "redis is reached", slog.String("store", s.address.String()))
			return
		case hopeless(err) && !told:
			told = true
			s.logger.LogAttrs(ctx, slog.LevelError, "redis cannot be used",
				slog.String("store", s.address.String()), slog.Any("error", err))
		}
		if env.Sleep(ctx, s.env, probeEvery) != nil {
			return
		}
	}
}

func (s *Store) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = err
}

// begin is the check that precedes every call: the store is open, the context
// too, and Redis was looked at. A call that may go on must end with calls.Done.
func (s *Store) begin(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return state.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case s.refusal != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, s.refusal)
	}
	s.calls.Add(1)
	return nil
}

// background runs f until it returns or the store closes, and reports whether
// it does.
func (s *Store) background(f func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(func() { f(s.ctx) })
	return true
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close implements [state.Store]: calls that have begun may end, which takes no
// longer than the timeouts of the URL.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.calls.Wait()
		s.cancel()
		s.hub.close()
		s.err = s.client.Close()
		s.work.Wait()
	})
	return s.err
}
