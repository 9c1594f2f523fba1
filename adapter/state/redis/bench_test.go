//go:build interop

package redis_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// benchWriters is the concurrency of DESIGN.md §7, "durable task creations".
const benchWriters = 64

// benchValue has the size of a small task object.
var benchValue = bytes.Repeat([]byte("task"), 128)

// BenchmarkPut64Writers creates records as the bridge creates tasks: absent
// before, listed under an owner, expiring. The server flushes every write.
func BenchmarkPut64Writers(b *testing.B) {
	server := redistest.Start(b, redistest.Options{Fsync: "always"})
	store := closing(b, open(b, with(server.URL(), "pool_size=64")))
	expires := time.Now().Add(time.Hour)
	benchmark(b, func(ctx context.Context, i int64) error {
		key := benchKey(i)
		_, err := store.Put(ctx, state.Record{
			Key: key, Value: benchValue, Owner: fmt.Sprint("owner", i%benchWriters), Order: key[5:], Expires: expires,
		}, state.IfAbsent)
		return err
	})
}

// BenchmarkBareSet64Writers is the reference: the same writers, values and
// durability, and one SET each.
func BenchmarkBareSet64Writers(b *testing.B) {
	server := redistest.Start(b, redistest.Options{Fsync: "always"})
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr(), Protocol: 2, PoolSize: benchWriters})
	defer func() {
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	}()
	benchmark(b, func(ctx context.Context, i int64) error {
		return client.Set(ctx, benchKey(i), benchValue, time.Hour).Err()
	})
}

func benchKey(i int64) string {
	return fmt.Sprintf("task/%012x-%016x", i, uint64(i)*0x9e3779b97f4a7c15)
}

// benchmark spreads b.N writes over the writers.
func benchmark(b *testing.B, write func(ctx context.Context, i int64) error) {
	b.ReportAllocs()
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range benchWriters {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := write(b.Context(), i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}
