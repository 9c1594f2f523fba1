//go:build interop

package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// rig is a store in a cluster of which a test sees the inside.
type rig struct {
	*testing.T
	*Store
	nodes []*redistest.Server
}

func newRig(t *testing.T, url string, e env.Env, nodes ...*redistest.Server) *rig {
	t.Helper()
	address, err := redisurl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), Options{Address: address, Env: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{T: t, Store: store, nodes: nodes}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// entries returns what is in one of the sets of an owner's index.
func (r *rig) entries(kind int, owner string) []string {
	r.Helper()
	found, err := r.client.ZRange(r.Context(), r.keys.index(owner)[kind], 0, -1).Result()
	r.must(err)
	return found
}

// listed returns the keys of an owner's list.
func (r *rig) listed(owner string) []string {
	r.Helper()
	page, err := r.List(r.Context(), owner, state.Pos{}, 100)
	r.must(err)
	var keys []string
	for _, rec := range page {
		keys = append(keys, rec.Key)
	}
	return keys
}

func (r *rig) equal(what string, got, want []string) {
	r.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		r.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// expireClaims makes the claims of an owner as old as if their grace were over.
func (r *rig) expireClaims(owner string) {
	r.Helper()
	claims := r.keys.index(owner)[1]
	for _, member := range r.entries(1, owner) {
		r.must(r.client.ZIncrBy(r.Context(), claims, -float64(grace.Milliseconds()), member).Err())
	}
}

func TestIndexOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, redistest.Options{})
	next := 0
	start := func(t *testing.T) *rig {
		next++
		return newRig(t, fmt.Sprint(cluster.URL(), "?prefix=index", next), nil, cluster.Nodes...)
	}
	rec := state.Record{Key: "k", Owner: "o", Order: "1"}
	place := []string{member(rec.Pos())}
	t.Run("a crash before the record leaves a place that goes", func(t *testing.T) {
		r := start(t)
		r.must(r.claim(r.Context(), rec))
		r.equal("listed", r.listed("o"), nil)
		r.equal("places of a writer that may live", r.entries(0, "o"), place)
		r.expireClaims("o")
		r.equal("listed", r.listed("o"), nil)
		r.equal("places", r.entries(0, "o"), nil)
	})
	t.Run("a reader between place and record does not hide the record", func(t *testing.T) {
		r := start(t)
		r.must(r.claim(r.Context(), rec))
		r.equal("listed", r.listed("o"), nil)
		_, _, err := r.put(r.Context(), rec, state.IfAbsent)
		r.must(err)
		r.equal("listed", r.listed("o"), []string{"k"})
	})
	t.Run("a refused write keeps what is there", func(t *testing.T) {
		r := start(t)
		_, err := r.Put(r.Context(), rec, state.IfAbsent)
		r.must(err)
		soon := rec
		soon.Expires = time.Now().Add(time.Millisecond)
		if _, err := r.Put(r.Context(), soon, state.IfAbsent); !errors.Is(err, state.ErrConflict) {
			t.Fatalf("got error %v", err)
		}
		r.expireClaims("o")
		r.equal("listed", r.listed("o"), []string{"k"})
	})
	t.Run("a place that was left goes, at the latest with the next list", func(t *testing.T) {
		r := start(t)
		_, err := r.Put(r.Context(), rec, state.Always)
		r.must(err)
		r.expireClaims("o")
		moved := rec
		moved.Order = "2"
		_, err = r.Put(r.Context(), moved, state.Always)
		r.must(err)
		r.equal("places after the move", r.entries(0, "o"), []string{member(moved.Pos())})
		r.must(r.Delete(r.Context(), "k", state.Always))
		r.equal("places of a fresh record", r.entries(0, "o"), []string{member(moved.Pos())})
		r.expireClaims("o")
		r.equal("listed", r.listed("o"), nil)
		r.equal("places", r.entries(0, "o"), nil)
	})
	t.Run("a place that comes into use again is not dropped for what was seen before", func(t *testing.T) {
		r := start(t)
		_, err := r.Put(r.Context(), rec, state.Always)
		r.must(err)
		// A reader that looked at the records when there was none, long ago.
		r.expireClaims("o")
		ago := time.Now().Add(-2 * lookLimit).UnixMilli()
		r.drop(r.Context(), "o", fmt.Sprint(ago), []state.Pos{rec.Pos()})
		r.equal("listed", r.listed("o"), []string{"k"})
	})
	t.Run("an index ends a while after its last record", func(t *testing.T) { indexEnds(start(t)) })
}

func indexEnds(r *rig) {
	last := time.Now().Add(time.Hour)
	for i, expires := range []time.Time{time.Now().Add(time.Minute), last, time.Now().Add(2 * time.Minute)} {
		_, err := r.Put(r.Context(), state.Record{Key: fmt.Sprint(i), Owner: "o", Expires: expires}, state.Always)
		r.must(err)
	}
	for _, key := range r.keys.index("o")[:1] {
		end, err := r.client.PExpireTime(r.Context(), key).Result()
		r.must(err)
		if at := time.UnixMilli(end.Milliseconds()); at.Before(last) || at.After(last.Add(2*keep)) {
			r.Errorf("%q ends at %v, its last record at %v", key, at, last)
		}
	}
	_, err := r.Put(r.Context(), state.Record{Key: "forever", Owner: "o"}, state.Always)
	r.must(err)
	_, err = r.Put(r.Context(), state.Record{Key: "later", Owner: "o", Expires: last}, state.Always)
	r.must(err)
	for _, key := range r.keys.index("o")[:1] {
		end, err := r.client.PExpireTime(r.Context(), key).Result()
		r.must(err)
		if end >= 0 {
			r.Errorf("%q ends at %v with a record that never does", key, end)
		}
	}
}

// jumpyEnv is the system's clock, which a test can put forward.
type jumpyEnv struct {
	env.Env
	offset atomic.Int64
}

func (e *jumpyEnv) Now() time.Time { return e.Env.Now().Add(time.Duration(e.offset.Load())) }

// onPut calls f before the first record is sent.
type onPut struct {
	f    func()
	once sync.Once
}

func (h *onPut) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *onPut) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) > 1 && args[1] == putScript.sum {
			h.once.Do(h.f)
		}
		return next(ctx, cmd)
	}
}

func (h *onPut) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestASlowWriterIsListed stops a writer between place and record for so long
// that a reader has dropped the place.
func TestASlowWriterIsListed(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, redistest.Options{})
	clock := &jumpyEnv{Env: env.System()}
	r := newRig(t, cluster.URL(), clock)
	rec := state.Record{Key: "k", Owner: "o", Order: "1", Value: []byte("v")}
	r.client.AddHook(&onPut{f: func() {
		clock.offset.Store(int64(grace))
		r.expireClaims("o")
		r.equal("listed", r.listed("o"), nil)
		r.equal("places", r.entries(0, "o"), nil)
	}})
	_, err := r.Put(r.Context(), rec, state.IfAbsent)
	r.must(err)
	r.equal("listed", r.listed("o"), []string{"k"})
}

func TestIndexOfOneServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	next := 0
	start := func(t *testing.T) *rig {
		next++
		return newRig(t, fmt.Sprint(server.URL(), "?prefix=index", next), nil, server)
	}
	t.Run("nothing is left of what is deleted", func(t *testing.T) {
		r := start(t)
		for _, owner := range []string{"o", "p"} {
			_, err := r.Put(r.Context(), state.Record{Key: "k", Owner: owner}, state.Always)
			r.must(err)
		}
		r.must(r.Delete(r.Context(), "k", state.Always))
		left, err := r.client.Keys(r.Context(), r.keys.base+"*").Result()
		r.must(err)
		r.equal("keys", left, []string{r.keys.counter("k")})
	})
	t.Run("expired places go when others come, without a list", func(t *testing.T) {
		r := start(t)
		const dead, most = 500, 10_000
		write := func(key string, expires time.Time) {
			_, err := r.Put(r.Context(), state.Record{Key: key, Owner: "o", Order: key, Expires: expires}, state.Always)
			r.must(err)
		}
		for i := range dead {
			write(fmt.Sprint("dead", i), time.Now().Add(time.Millisecond))
		}
		for live := 1; ; live++ {
			write(fmt.Sprint("live", live), time.Now().Add(time.Hour))
			places, err := r.client.ZCard(r.Context(), r.keys.index("o")[0]).Result()
			r.must(err)
			if stale := int(places) - live; stale < dead/2 {
				return
			}
			if live == most {
				t.Fatalf("%d places after %d writes", places, live)
			}
		}
	})
	t.Run("the place of a record that others have removed goes with a list", func(t *testing.T) {
		r := start(t)
		_, err := r.Put(r.Context(), state.Record{Key: "k", Owner: "o"}, state.Always)
		r.must(err)
		r.must(r.client.Del(r.Context(), r.keys.record("k")).Err())
		r.equal("listed", r.listed("o"), nil)
		r.equal("places", r.entries(0, "o"), nil)
	})
	t.Run("an index ends a while after its last record, as in a cluster", func(t *testing.T) { indexEnds(start(t)) })
	t.Run("scripts that the server has forgotten are sent again", func(t *testing.T) {
		r := start(t)
		for range 3 {
			_, err := r.Put(r.Context(), state.Record{Key: "k", Owner: "o"}, state.Always)
			r.must(err)
			r.equal("listed", r.listed("o"), []string{"k"})
			r.must(r.client.ScriptFlush(r.Context()).Err())
		}
	})
}

func TestRevisionsAndTimeOfTheServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	next := 0
	start := func(t *testing.T) *rig {
		next++
		return newRig(t, fmt.Sprint(server.URL(), "?prefix=revisions", next), nil, server)
	}
	t.Run("a lost counter does not repeat revisions", func(t *testing.T) {
		r := start(t)
		first, err := r.Put(r.Context(), state.Record{Key: "k"}, state.Always)
		r.must(err)
		// What a crash may take that appendfsync everysec allows.
		r.must(r.client.Del(r.Context(), r.keys.counter("k"), r.keys.record("k")).Err())
		second, err := r.Put(r.Context(), state.Record{Key: "k"}, state.Always)
		r.must(err)
		if second <= first {
			t.Errorf("revision %d follows %d", second, first)
		}
	})
	t.Run("a clock that goes back does not repeat revisions", func(t *testing.T) {
		r := start(t)
		future := time.Now().Add(time.Hour).UnixMicro()
		r.must(r.client.Set(r.Context(), r.keys.counter("k"), future, 0).Err())
		for i := range int64(3) {
			rev, err := r.Put(r.Context(), state.Record{Key: "k"}, state.Always)
			r.must(err)
			if int64(rev) != future+1+i {
				t.Errorf("got revision %d, want %d", rev, future+1+i)
			}
		}
	})
	t.Run("the server removes what has expired", func(t *testing.T) {
		r := start(t)
		_, err := r.Put(r.Context(), state.Record{Key: "k", Expires: time.Now().Add(80 * time.Millisecond)}, state.Always)
		r.must(err)
		deadline := time.Now().Add(10 * time.Second)
		for {
			_, err := r.Get(r.Context(), "k")
			if errors.Is(err, state.ErrNotFound) {
				break
			}
			r.must(err)
			if time.Now().After(deadline) {
				t.Fatal("the record does not expire")
			}
			time.Sleep(5 * time.Millisecond)
		}
		r.equal("keys", r.client.Keys(r.Context(), r.keys.record("k")).Val(), []string{})
	})
}
