package statetest

import (
	"errors"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var leaseCases = []testCase{
	{"a held lease tells its holder", func(f *fixture) {
		f.acquire("l", "me", time.Minute)
		for _, holder := range []string{"you", "me"} {
			_, err := f.store.Acquire(f.Context(), "l", holder, time.Minute)
			var held *state.HeldError
			if !errors.Is(err, state.ErrHeld) || !errors.As(err, &held) {
				f.Fatalf("acquire for %q: got error %v, want a held lease", holder, err)
			}
			f.equal("held", *held, state.HeldError{Name: "l", Holder: "me"})
		}
	}},
	{"leases of other names are free", func(f *fixture) {
		f.acquire("l", "me", time.Minute)
		f.acquire("L", "me", time.Minute)
	}},
	{"a lease and a record may share a name", func(f *fixture) {
		f.acquire("k", "me", time.Minute)
		f.absent("k")
		f.put(state.Record{Key: "k"})
		f.get("k")
	}},
	{"tokens of a name only grow, across release and expiry", func(f *fixture) {
		var last int64
		for range 3 {
			lease := f.acquire("l", "me", Life)
			if lease.Token() <= last {
				f.Fatalf("token %d follows %d", lease.Token(), last)
			}
			last = lease.Token()
			if err := lease.Release(f.Context()); err != nil {
				f.Fatal(err)
			}
			expired := f.acquire("l", "me", Life)
			if expired.Token() <= last {
				f.Fatalf("token %d follows %d", expired.Token(), last)
			}
			last = expired.Token()
			f.clock.Advance(Life)
		}
	}},
	{"an expired lease is free and cannot be renewed", func(f *fixture) {
		old := f.acquire("l", "me", Life)
		f.clock.Advance(Life)
		if err := old.Renew(f.Context(), time.Minute); !errors.Is(err, state.ErrLost) {
			f.Fatalf("renew: got error %v, want %v", err, state.ErrLost)
		}
		f.acquire("l", "you", Life)
	}},
	{"renewing prolongs from now on, with the same token", func(f *fixture) {
		lease := f.acquire("l", "me", Life)
		token := lease.Token()
		for range 3 {
			f.clock.Advance(Life - f.clock.Slack())
			if err := lease.Renew(f.Context(), Life); err != nil {
				f.Fatal(err)
			}
		}
		f.equal("token", lease.Token(), token)
		f.clock.Advance(Life)
		f.acquire("l", "you", Life)
	}},
	{"a lost lease does not touch its successor", func(f *fixture) {
		old := f.acquire("l", "me", Life)
		f.clock.Advance(Life)
		lease := f.acquire("l", "me", time.Minute)
		if err := old.Renew(f.Context(), time.Hour); !errors.Is(err, state.ErrLost) {
			f.Fatalf("renew: got error %v, want %v", err, state.ErrLost)
		}
		if err := old.Release(f.Context()); err != nil {
			f.Fatalf("release: %v", err)
		}
		if _, err := f.store.Acquire(f.Context(), "l", "you", Life); !errors.Is(err, state.ErrHeld) {
			f.Fatalf("acquire: got error %v, want %v", err, state.ErrHeld)
		}
		if err := lease.Renew(f.Context(), time.Minute); err != nil {
			f.Fatalf("renew: %v", err)
		}
	}},
	{"releasing twice is no error, renewing after it is", func(f *fixture) {
		lease := f.acquire("l", "me", time.Minute)
		for range 2 {
			if err := lease.Release(f.Context()); err != nil {
				f.Fatal(err)
			}
		}
		if err := lease.Renew(f.Context(), time.Minute); !errors.Is(err, state.ErrLost) {
			f.Fatalf("renew: got error %v, want %v", err, state.ErrLost)
		}
	}},
	{"of many that want it one gets it", func(f *fixture) {
		var mu sync.Mutex
		var winners int
		var wg sync.WaitGroup
		for range racers {
			wg.Go(func() {
				_, err := f.store.Acquire(f.Context(), "l", "me", time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					winners++
				} else if !errors.Is(err, state.ErrHeld) {
					f.Errorf("acquire: %v", err)
				}
			})
		}
		wg.Wait()
		f.equal("winners", winners, 1)
	}},
	{"bad arguments are invalid", func(f *fixture) {
		for _, test := range []struct {
			name, holder string
			ttl          time.Duration
		}{{"", "me", time.Second}, {"l", "", time.Second}, {"l", "me", 0}, {"l", "me", -time.Second}, {"a\x00", "me", time.Second}} {
			if _, err := f.store.Acquire(f.Context(), test.name, test.holder, test.ttl); !errors.Is(err, state.ErrInvalid) {
				f.Errorf("%v: got error %v", test, err)
			}
		}
		lease := f.acquire("l", "me", time.Minute)
		if err := lease.Renew(f.Context(), 0); !errors.Is(err, state.ErrInvalid) {
			f.Errorf("renew for 0: got error %v", err)
		}
	}},
}
