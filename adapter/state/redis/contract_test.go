//go:build interop

package redis_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/redis"
	"github.com/taskbridge/taskbridge/adapter/state/statetest"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	t.Run("one server", func(t *testing.T) {
		server := redistest.Start(t, redistest.Options{Fsync: "everysec"})
		contract(t, server.URL(), server)
	})
	t.Run("tls and password", func(t *testing.T) {
		server := redistest.Start(t, redistest.Options{Fsync: "everysec", Password: "p@ss", TLS: redistest.NewCertificates(t)})
		contract(t, strings.Replace(server.URL(), "p@ss", "p%40ss", 1), server)
	})
	t.Run("cluster", func(t *testing.T) {
		cluster := redistest.StartCluster(t, 3, redistest.Options{Fsync: "everysec"})
		contract(t, cluster.URL(), cluster.Nodes...)
	})
	t.Run("sentinel", func(t *testing.T) {
		s := redistest.StartSentinels(t, redistest.Options{Fsync: "everysec", Password: "secret"})
		contract(t, s.URL(), s.Master)
	})
}

// prefixes makes a fresh prefix for each store, which is then an empty one.
var prefixes atomic.Int64

// contract runs the contract at a URL; servers are the masters behind it.
func contract(t *testing.T, url string, servers ...*redistest.Server) {
	t.Helper()
	statetest.Contract(t, func(t *testing.T) (state.Store, statetest.Clock) {
		t.Helper()
		prefix := fmt.Sprintf("test%d", prefixes.Add(1))
		return open(t, with(url, "prefix="+prefix)), &ageing{t: t, prefix: prefix, servers: servers}
	})
}

// with adds a query parameter to a URL.
func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// open opens a store that the caller closes.
func open(t testing.TB, url string) *redis.Store {
	t.Helper()
	store, err := redis.Open(t.Context(), redis.Options{Address: parse(t, url)})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return store
}

// ageing is a clock for a server whose time cannot be changed: it makes what a
// prefix holds older.
type ageing struct {
	t       *testing.T
	prefix  string
	servers []*redistest.Server
}

func (a *ageing) Now() time.Time       { return time.Now() }
func (a *ageing) Slack() time.Duration { return statetest.Life / 2 }

func (a *ageing) Advance(d time.Duration) {
	a.t.Helper()
	for _, server := range a.servers {
		scan := server.Client().Scan(a.t.Context(), 0, a.prefix+":*", 1000).Iterator()
		for scan.Next(a.t.Context()) {
			if err := age(a.t.Context(), server.Client(), scan.Val(), d); err != nil {
				a.t.Fatalf("age %q: %v", scan.Val(), err)
			}
		}
		if err := scan.Err(); err != nil {
			a.t.Fatal(err)
		}
	}
}

// age makes one key older: its own end, and those of claims.
func age(ctx context.Context, client *goredis.Client, key string, d time.Duration) error {
	end, err := client.PExpireTime(ctx, key).Result()
	if err != nil {
		return err
	}
	if end > 0 {
		if err := client.PExpireAt(ctx, key, time.UnixMilli(end.Milliseconds()).Add(-d)).Err(); err != nil {
			return err
		}
	}
	if !strings.Contains(key, "}:c:") {
		return nil
	}
	members, err := client.ZRange(ctx, key, 0, -1).Result()
	if err != nil {
		return err
	}
	for _, member := range members {
		if err := client.ZIncrBy(ctx, key, -float64(d.Milliseconds()), member).Err(); err != nil {
			return err
		}
	}
	return nil
}
