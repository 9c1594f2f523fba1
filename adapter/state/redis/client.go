package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
)

// Defaults of what a URL may say otherwise. A call on a Redis that has just
// stopped answering waits for so long; those after it do not wait at all.
const (
	dialTimeout = time.Second
	ioTimeout   = 2 * time.Second
	poolSize    = 32
	// reloadEvery bounds how long a cluster's changes go unnoticed by a client
	// that gets no errors.
	reloadEvery = 10 * time.Second
	// redirects is how often a call follows a cluster's slots to another node,
	// which has not carried it out.
	redirects = 5
)

// noLogger drops what the client library would print: all of it comes back as
// errors, too.
type noLogger struct{}

func (noLogger) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(noLogger{}) }

// newClient makes the client for an address. Nothing is connected yet. No
// client tries a command again by itself: see [once].
func (s *Store) newClient(a *redisurl.Address) (redis.UniversalClient, error) {
	secure, err := tlsConfig(a)
	if err != nil {
		return nil, err
	}
	d := &dialer{env: s.env, timeout: orDefault(a.DialTimeout, dialTimeout), tls: secure}
	read, write := orDefault(a.ReadTimeout, ioTimeout), orDefault(a.WriteTimeout, ioTimeout)
	size := orDefault(a.PoolSize, poolSize)
	off := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	// The dialer has its own timeout; the client's is a second bound on it.
	dialTimeout := 2 * d.timeout
	switch a.Kind {
	case redisurl.Cluster:
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: a.Hosts, Username: a.User, Password: a.Password, Dialer: d.dial, Protocol: 2,
			MaxRedirects: redirects, DialTimeout: dialTimeout, DialerRetries: 1, ReadTimeout: read, WriteTimeout: write,
			ContextTimeoutEnabled: true, PoolSize: size, PoolTimeout: read, PipelinePoolSize: -1,
			DisableRoutingPolicies: true, ClusterStateReloadInterval: reloadEvery, MaintNotificationsConfig: off,
			NewClient: func(o *redis.Options) *redis.Client { return s.guard(redis.NewClient(o), o.Addr) },
		}), nil
	case redisurl.Sentinel:
		return s.guard(redis.NewFailoverClient(&redis.FailoverOptions{
			SentinelAddrs: a.Hosts, MasterName: a.Master, SentinelUsername: a.SentinelUser, SentinelPassword: a.SentinelPassword,
			Username: a.User, Password: a.Password, DB: a.DB, Dialer: d.dial, Protocol: 2,
			MaxRetries: -1, DialTimeout: dialTimeout, DialerRetries: 1, ReadTimeout: read, WriteTimeout: write,
			ContextTimeoutEnabled: true, PoolSize: size, PoolTimeout: read, PipelinePoolSize: -1,
		}), a.String()), nil
	default:
		return s.guard(redis.NewClient(&redis.Options{
			Addr: a.Hosts[0], Username: a.User, Password: a.Password, DB: a.DB, Dialer: d.dial, Protocol: 2,
			MaxRetries: -1, DialTimeout: dialTimeout, DialerRetries: 1, ReadTimeout: read, WriteTimeout: write,
			ContextTimeoutEnabled: true, PoolSize: size, PoolTimeout: read, PipelinePoolSize: -1, MaintNotificationsConfig: off,
		}), a.Hosts[0]), nil
	}
}

func orDefault[T comparable](value, preset T) T {
	var zero T
	if value == zero {
		return preset
	}
	return value
}

// reload makes a cluster's client look at the cluster again.
func (s *Store) reload(ctx context.Context) {
	if c, ok := s.client.(*redis.ClusterClient); ok {
		c.ReloadState(ctx)
	}
}

func isClosedClient(err error) bool { return errors.Is(err, redis.ErrClosed) }
