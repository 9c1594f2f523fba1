package statetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// fixture is a store under test with helpers that end the test when they fail.
type fixture struct {
	*testing.T
	store state.Store
	clock Clock
}

// in returns the instant d from now.
func (f *fixture) in(d time.Duration) time.Time { return f.clock.Now().Add(d) }

// put writes a record unconditionally.
func (f *fixture) put(rec state.Record) state.Rev {
	f.Helper()
	return f.putIf(rec, state.Always)
}

func (f *fixture) putIf(rec state.Record, cond state.Cond) state.Rev {
	f.Helper()
	rev, err := f.store.Put(f.Context(), rec, cond)
	if err != nil {
		f.Fatalf("put %q: %v", rec.Key, err)
	}
	if rev <= 0 {
		f.Fatalf("put %q: revision %d, want a positive one", rec.Key, rev)
	}
	return rev
}

// refusePut expects Put to fail with want.
func (f *fixture) refusePut(rec state.Record, cond state.Cond, want error) {
	f.Helper()
	if _, err := f.store.Put(f.Context(), rec, cond); !errors.Is(err, want) {
		f.Fatalf("put %q: got error %v, want %v", rec.Key, err, want)
	}
}

func (f *fixture) get(key string) state.Record {
	f.Helper()
	rec, err := f.store.Get(f.Context(), key)
	if err != nil {
		f.Fatalf("get %q: %v", key, err)
	}
	return rec
}

// absent expects that the key has no record.
func (f *fixture) absent(key string) {
	f.Helper()
	if rec, err := f.store.Get(f.Context(), key); !errors.Is(err, state.ErrNotFound) {
		f.Fatalf("get %q: got %v and error %v, want %v", key, rec, err, state.ErrNotFound)
	}
}

func (f *fixture) delete(key string, cond state.Cond) {
	f.Helper()
	if err := f.store.Delete(f.Context(), key, cond); err != nil {
		f.Fatalf("delete %q: %v", key, err)
	}
}

// list reads one page and returns it.
func (f *fixture) list(owner string, after state.Pos, limit int) []state.Record {
	f.Helper()
	page, err := f.store.List(f.Context(), owner, after, limit)
	if err != nil {
		f.Fatalf("list %q: %v", owner, err)
	}
	return page
}

// keys reads all pages of the given size and returns the keys in order.
func (f *fixture) keys(owner string, limit int) []string {
	f.Helper()
	var keys []string
	var after state.Pos
	for {
		page := f.list(owner, after, limit)
		for _, rec := range page {
			keys = append(keys, rec.Key)
			after = rec.Pos()
		}
		if len(page) < limit {
			return keys
		}
	}
}

func (f *fixture) acquire(name, holder string, ttl time.Duration) state.Lease {
	f.Helper()
	lease, err := f.store.Acquire(f.Context(), name, holder, ttl)
	if err != nil {
		f.Fatalf("acquire %q: %v", name, err)
	}
	return lease
}

func (f *fixture) subscribe(topic string) state.Subscription {
	f.Helper()
	sub, err := f.store.Subscribe(f.Context(), topic)
	if err != nil {
		f.Fatalf("subscribe to %q: %v", topic, err)
	}
	f.Cleanup(sub.Close)
	return sub
}

func (f *fixture) publish(topic, payload string) {
	f.Helper()
	if err := f.store.Publish(f.Context(), topic, []byte(payload)); err != nil {
		f.Fatalf("publish to %q: %v", topic, err)
	}
}

// receive waits for the next event, which must exist.
func (f *fixture) receive(sub state.Subscription) state.Event {
	f.Helper()
	event, open := <-sub.Events()
	if !open {
		f.Fatal("the subscription is closed")
	}
	return event
}

// equal compares and reports a difference as a failure of the test.
func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
