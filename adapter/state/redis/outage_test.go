//go:build interop

package redis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/redis"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// The bounds of DESIGN.md §4, generous for a busy machine: what counts is that
// nothing waits for the outage to end.
const (
	atOnce   = time.Second      // an answer that involves no network
	oneTry   = 5 * time.Second  // one that waits for one timeout
	recovery = 15 * time.Second // after Redis is back
)

// closing closes a store at the end of the test.
func closing(t testing.TB, store *redis.Store) *redis.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within runs f and fails the test if it takes longer than limit.
func within(t testing.TB, limit time.Duration, what string, f func() error) error {
	t.Helper()
	start := time.Now()
	err := f()
	if took := time.Since(start); took > limit {
		t.Fatalf("%s: took %v, more than %v (error %v)", what, took, limit, err)
	}
	return err
}

// eventually calls f until it returns nil.
func eventually(t testing.TB, limit time.Duration, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, limit, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// everyCall returns what each method of the store says, by name.
func everyCall(ctx context.Context, store state.Store) map[string]func() error {
	return map[string]func() error{
		"get": func() error {
			_, err := store.Get(ctx, "k")
			if errors.Is(err, state.ErrNotFound) {
				return nil
			}
			return err
		},
		"put":     func() error { _, err := store.Put(ctx, state.Record{Key: "k", Owner: "o"}, state.Always); return err },
		"delete":  func() error { return store.Delete(ctx, "other", state.Always) },
		"list":    func() error { _, err := store.List(ctx, "o", state.Pos{}, 5); return err },
		"publish": func() error { return store.Publish(ctx, "t", nil) },
		"acquire": func() error {
			lease, err := store.Acquire(ctx, "l", "me", time.Minute)
			if err != nil {
				return err
			}
			return lease.Release(ctx)
		},
		"subscribe": func() error {
			sub, err := store.Subscribe(ctx, "t")
			if err == nil {
				sub.Close()
			}
			return err
		},
	}
}

// failFast expects every call to fail at once, and none to be uncertain.
func failFast(t *testing.T, store state.Store) {
	t.Helper()
	for name, call := range everyCall(t.Context(), store) {
		err := within(t, atOnce, name, call)
		if !errors.Is(err, redis.ErrUnavailable) || errors.Is(err, redis.ErrUncertain) {
			t.Errorf("%s: got error %v, want %v", name, err, redis.ErrUnavailable)
		}
	}
}

// recovered expects every call to work soon.
func recovered(t *testing.T, store state.Store) {
	t.Helper()
	for name, call := range everyCall(t.Context(), store) {
		eventually(t, recovery, name, call)
	}
}

// lagged waits for the announcement of a loss.
func lagged(t *testing.T, sub state.Subscription) {
	t.Helper()
	timeout := time.After(recovery)
	for {
		select {
		case event, open := <-sub.Events():
			if !open {
				t.Fatal("the subscription has ended")
			}
			if event.Lagged {
				return
			}
		case <-timeout:
			t.Fatal("no loss was announced")
		}
	}
}

// delivers publishes until the subscription delivers.
func delivers(t *testing.T, store state.Store, sub state.Subscription, topic, payload string) {
	t.Helper()
	must(t, store.Publish(t.Context(), topic, []byte(payload)))
	timeout := time.After(recovery)
	for {
		select {
		case event, open := <-sub.Events():
			if !open {
				t.Fatal("the subscription has ended")
			}
			if string(event.Payload) == payload {
				return
			}
		case <-timeout:
			t.Fatalf("%q was published and not delivered", payload)
		}
	}
}

func subscribe(t *testing.T, store state.Store, topic string) state.Subscription {
	t.Helper()
	sub, err := store.Subscribe(t.Context(), topic)
	must(t, err)
	t.Cleanup(sub.Close)
	return sub
}

func put(t *testing.T, store state.Store, rec state.Record) state.Rev {
	t.Helper()
	rev, err := store.Put(t.Context(), rec, state.Always)
	must(t, err)
	return rev
}

func TestKilledAndRestarted(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{Fsync: "always"})
	store := closing(t, open(t, server.URL()))
	sub := subscribe(t, store, "wake")
	delivers(t, store, sub, "wake", "before")
	rev := put(t, store, state.Record{Key: "kept", Value: []byte("v"), Owner: "o", Order: "1", Expires: time.Now().Add(time.Hour)})
	lease, err := store.Acquire(t.Context(), "held", "me", time.Hour)
	must(t, err)

	server.Kill()
	// The first call may find a connection that has just broken.
	_ = within(t, oneTry, "first put", everyCall(t.Context(), store)["put"])
	eventually(t, oneTry, "fast failure", func() error {
		if err := everyCall(t.Context(), store)["get"](); !errors.Is(err, redis.ErrUnavailable) {
			return fmt.Errorf("get: %w", err)
		}
		return nil
	})
	failFast(t, store)
	must(t, server.Restart())
	recovered(t, store)

	rec, err := store.Get(t.Context(), "kept")
	must(t, err)
	if rec.Rev != rev || string(rec.Value) != "v" {
		t.Errorf("after the restart: %+v", rec)
	}
	page, err := store.List(t.Context(), "o", state.Pos{}, 5)
	must(t, err)
	if len(page) != 2 { // and the one that everyCall has put
		t.Errorf("after the restart %d records are listed", len(page))
	}
	must(t, lease.Renew(t.Context(), time.Hour))
	must(t, lease.Release(t.Context()))
	again, err := store.Acquire(t.Context(), "held", "you", time.Hour)
	must(t, err)
	if again.Token() <= lease.Token() {
		t.Errorf("token %d follows %d", again.Token(), lease.Token())
	}
	if next := put(t, store, state.Record{Key: "kept"}); next <= rev {
		t.Errorf("revision %d follows %d", next, rev)
	}
	lagged(t, sub)
	delivers(t, store, sub, "wake", "after")
}

func TestStandingStill(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{Fsync: "always"})
	store := closing(t, open(t, with(server.URL(), "read_timeout=500ms&write_timeout=500ms")))
	sub := subscribe(t, store, "wake")
	rev := put(t, store, state.Record{Key: "k", Value: []byte("0")})
	must(t, server.Pause())
	// Many writers are waiting when the server stops to answer: none may believe
	// that its write has failed, and all are done after one timeout.
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			_, err := store.Put(t.Context(), state.Record{Key: "k", Value: []byte("1")}, state.IfRev(rev))
			if !errors.Is(err, redis.ErrUncertain) && !errors.Is(err, redis.ErrUnavailable) {
				t.Errorf("put: got error %v", err)
			}
		})
	}
	must(t, within(t, oneTry, "waiting writers", func() error { wg.Wait(); return nil }))
	failFast(t, store)
	must(t, server.Resume())
	recovered(t, store)
	lagged(t, sub)
	delivers(t, store, sub, "wake", "after")
}

func TestContextEndsACall(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	store := closing(t, open(t, server.URL()))
	put(t, store, state.Record{Key: "k"})
	must(t, server.Pause())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := store.Put(ctx, state.Record{Key: "k"}, state.Always)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put: got error %v, want the context's", err)
	}
	must(t, server.Resume())
	// An impatient caller says nothing about the server.
	if err := everyCall(t.Context(), store)["get"](); err != nil {
		t.Errorf("get: %v", err)
	}
}

// TestStartsDuringAnOutage is about a bridge that is restarted while Redis is
// away: it starts, says so, and works later.
func TestStartsDuringAnOutage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{Fsync: "always", Password: "secret"})
	server.Kill()
	var log safeBuffer
	var store *redis.Store
	must(t, within(t, 10*time.Second, "open", func() (err error) {
		store, err = redis.Open(t.Context(), redis.Options{Address: parse(t, server.URL()), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		return err
	}))
	closing(t, store)
	failFast(t, store)
	if text := log.String(); !strings.Contains(text, "redis cannot be reached") || strings.Contains(text, "secret") {
		t.Errorf("log: %s", text)
	}
	must(t, server.Restart())
	recovered(t, store)
}

// safeBuffer is a buffer for a log.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestFailover(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.Options{Fsync: "always", Password: "secret"})
	store := closing(t, open(t, with(s.URL(), "read_timeout=500ms")))
	sub := subscribe(t, store, "wake")
	rev := put(t, store, state.Record{Key: "k", Value: []byte("v"), Owner: "o", Order: "1"})
	must(t, s.Master.Client().Wait(t.Context(), 1, recovery).Err()) // the replica has it
	must(t, s.Master.Pause())
	must(t, s.AwaitMaster(s.Replica))
	recovered(t, store)
	rec, err := store.Get(t.Context(), "k")
	must(t, err)
	if next := put(t, store, rec); next <= rev {
		t.Errorf("revision %d follows %d", next, rev)
	}
	lagged(t, sub)
	delivers(t, store, sub, "wake", "after")
	// The old master comes back as a replica. Nobody writes to it.
	must(t, s.Master.Resume())
	for i := range 50 {
		put(t, store, state.Record{Key: fmt.Sprint("later", i)})
		time.Sleep(20 * time.Millisecond)
	}
	for i := range 50 {
		if _, err := store.Get(t.Context(), fmt.Sprint("later", i)); err != nil {
			t.Fatalf("later%d: %v", i, err)
		}
	}
}

func TestClusterNodeIsAway(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, redistest.Options{Fsync: "always", Args: []string{"--cluster-require-full-coverage", "no"}})
	store := closing(t, open(t, with(cluster.URL(), "read_timeout=500ms")))
	for i := range 300 {
		put(t, store, state.Record{Key: fmt.Sprint("k", i), Value: []byte("v")})
	}
	cluster.Nodes[1].Kill()
	count := func() (reached int) {
		for i := range 300 {
			_, err := store.Get(t.Context(), fmt.Sprint("k", i))
			switch {
			case err == nil:
				reached++
			case !errors.Is(err, redis.ErrUnavailable):
				t.Fatalf("k%d: %v", i, err)
			}
		}
		return reached
	}
	count() // the first call to the node that is away shuts it out
	var reached int
	must(t, within(t, oneTry, "300 reads", func() error { reached = count(); return nil }))
	if reached < 100 || reached > 290 {
		t.Errorf("%d of 300 records can be read without one of three nodes", reached)
	}
	must(t, cluster.Nodes[1].Restart())
	must(t, cluster.Await())
	eventually(t, recovery, "all records", func() error {
		if n := count(); n != 300 {
			return fmt.Errorf("%d of 300", n)
		}
		return nil
	})
	recovered(t, store)
}
