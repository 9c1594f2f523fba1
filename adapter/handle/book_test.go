package handle_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
)

const retention = time.Hour

var (
	alice = port.Caller{Principal: "alice"}
	bob   = port.Caller{Principal: "bob"}
)

// shelf is where books are kept.
type shelf struct {
	t     *testing.T
	keys  *seal.Keys
	store *faulty
}

// faulty is a store that can fail.
type faulty struct {
	state.Store

	mu   sync.Mutex
	fail error
	gets int
	puts int
}

func (f *faulty) Get(ctx context.Context, key string) (state.Record, error) {
	f.mu.Lock()
	f.gets++
	err := f.fail
	f.mu.Unlock()
	if err != nil {
		return state.Record{}, err
	}
	return f.Store.Get(ctx, key)
}

func (f *faulty) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	f.mu.Lock()
	f.puts++
	err := f.fail
	f.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return f.Store.Put(ctx, rec, cond)
}

func bubble(t *testing.T, test func(t *testing.T, s *shelf)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.New([][]byte{bytes.Repeat([]byte("s"), seal.SecretSize)}, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(t, &shelf{t: t, keys: keys, store: &faulty{Store: store}})
	})
}

// book is a new book, as another process has it.
func (s *shelf) book(face string) *handle.Book {
	s.t.Helper()
	b, err := handle.New(handle.Options{Keys: s.keys, Store: s.store, Env: env.System(), Face: face, Retention: retention})
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *shelf) must(handle string, err error) string {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return handle
}

func (s *shelf) wantOpen(b *handle.Book, caller port.Caller, named, want string) {
	s.t.Helper()
	if got, err := b.Open(s.t.Context(), "quarry", caller, named); err != nil || got != want {
		s.t.Errorf("Open(%q): %q, %v; want %q", named, got, err, want)
	}
}

func (s *shelf) wantUnknown(b *handle.Book, backend string, caller port.Caller, named string) {
	s.t.Helper()
	if got, err := b.Open(s.t.Context(), backend, caller, named); !errors.Is(err, handle.ErrUnknown) || got != "" {
		s.t.Errorf("Open(%q): %q, %v; want an unknown task", named, got, err)
	}
}

// TestHandles: a handle holds for its owner, backend and face, and for nobody else,
// and nothing is kept for it (S-2, A-H1, A-H2).
func TestHandles(t *testing.T) {
	bubble(t, func(t *testing.T, s *shelf) {
		b := s.book("modern")
		named := s.must(b.Seal(t.Context(), "quarry", alice, "task-1"))
		if strings.Contains(named, "task-1") || len(named) > 512 || strings.Trim(named, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("handle %q", named)
		}
		s.wantOpen(b, alice, named, "task-1")
		s.wantOpen(s.book("modern"), alice, named, "task-1")
		s.wantUnknown(b, "quarry", bob, named)
		s.wantUnknown(b, "quarry", port.Caller{}, named)
		s.wantUnknown(b, "basalt", alice, named)
		s.wantUnknown(s.book("legacy"), "quarry", alice, named)
		for _, forged := range []string{"", "task-1", named[1:], named + "A", named[:20] + "AA" + named[22:]} {
			s.wantUnknown(b, "quarry", alice, forged)
		}
		if s.store.puts != 0 {
			t.Errorf("%d records", s.store.puts)
		}
		// A handle of nobody is everybody's who has it.
		s.wantOpen(b, port.Caller{}, s.must(b.Seal(t.Context(), "quarry", port.Caller{}, "")), "")
	})
}

// TestLongIDs: an id that no handle has room for is kept (A-H1).
func TestLongIDs(t *testing.T) {
	bubble(t, func(t *testing.T, s *shelf) {
		b, long := s.book("legacy"), strings.Repeat("ü", 500)
		named := s.must(b.Seal(t.Context(), "quarry", alice, long))
		if len(named) > 512 {
			t.Errorf("a handle of %d characters", len(named))
		}
		s.wantOpen(s.book("legacy"), alice, named, long)
		s.wantUnknown(b, "quarry", bob, named)
		time.Sleep(retention)
		s.wantUnknown(b, "quarry", alice, named)
	})
}

// TestOwners: whose a task is outlives the process, and its handle stays the same
// while it is used (S-2).
func TestOwners(t *testing.T) {
	bubble(t, func(t *testing.T, s *shelf) {
		b := s.book("legacy")
		find := func(b *handle.Book, caller port.Caller) string {
			t.Helper()
			named, found, err := b.Find(t.Context(), "quarry", caller, "1")
			if err != nil || found != (named != "") {
				t.Errorf("Find: %q, %v, %v", named, found, err)
			}
			return named
		}
		if named := find(b, alice); named != "" {
			t.Errorf("found %q before anything was owned", named)
		}
		named := s.must(b.Own(t.Context(), "quarry", alice, "1"))
		// Two sessions of a backend may have tasks of the same id.
		if other := s.must(b.Own(t.Context(), "quarry", bob, "1")); other == named {
			t.Error("two owners have one handle")
		}
		again := s.book("legacy")
		for i := range 6 {
			if got := find(again, alice); got != named {
				t.Errorf("after %d half hours: %q", i, got)
			}
			if got := s.must(again.Own(t.Context(), "quarry", alice, "1")); got != named {
				t.Errorf("owned again as %q", got)
			}
			time.Sleep(retention / 2)
		}
		time.Sleep(retention)
		if got := find(b, alice) + find(again, alice) + find(again, bob); got != "" {
			t.Errorf("still found: %s", got)
		}
		// The handle itself still opens, and is remembered again.
		s.wantOpen(again, alice, named, "1")
		if err := again.Keep(t.Context(), "quarry", alice, "1", named); err != nil || find(b, alice) != named {
			t.Errorf("kept as %q, error %v", find(b, alice), err)
		}
	})
}

// TestRacers: all who note the same task at once get the same handle.
func TestRacers(t *testing.T) {
	bubble(t, func(t *testing.T, s *shelf) {
		var work sync.WaitGroup
		got := make([]string, 16)
		for i := range got {
			b := s.book("legacy")
			work.Go(func() {
				var err error
				if got[i], err = b.Own(t.Context(), "quarry", alice, "1"); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		for _, named := range got {
			if named != got[0] || named == "" {
				t.Errorf("handles %q and %q", named, got[0])
			}
		}
	})
}

// TestStoreFails: what cannot be noted is an error, and no unknown task.
func TestStoreFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *shelf) {
		b, failure := s.book("legacy"), errors.New("disk full")
		long := s.must(b.Seal(t.Context(), "quarry", alice, strings.Repeat("x", 500)))
		s.store.fail = failure
		b = s.book("legacy")
		if named, err := b.Own(t.Context(), "quarry", alice, "1"); !errors.Is(err, failure) || named != "" {
			t.Errorf("Own: %q, %v", named, err)
		}
		if _, _, err := b.Find(t.Context(), "quarry", alice, "1"); !errors.Is(err, failure) {
			t.Errorf("Find: %v", err)
		}
		if _, err := b.Open(t.Context(), "quarry", alice, long); !errors.Is(err, failure) || errors.Is(err, handle.ErrUnknown) {
			t.Errorf("Open: %v", err)
		}
		s.store.fail = nil
		rec := state.Record{Key: s.key(alice, "2"), Value: []byte("garbage")}
		if _, err := s.store.Put(t.Context(), rec, state.Always); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Own(t.Context(), "quarry", alice, "2"); err == nil {
			t.Error("a record that cannot be read was taken for one")
		}
	})
}

// key is the name of the record that says that a task is the caller's: the format is
// kept across releases.
func (s *shelf) key(caller port.Caller, taskID string) string {
	return handle.Key(s.book("legacy"), "quarry", caller, taskID)
}

// TestRotation: whose a task is stays written down while secrets are rotated. Once the
// one is gone under which its handle was sealed, the task gets another.
func TestRotation(t *testing.T) {
	bubble(t, func(t *testing.T, s *shelf) {
		rotate := func(secrets ...string) *handle.Book {
			t.Helper()
			raw := make([][]byte, len(secrets))
			for i, secret := range secrets {
				raw[i] = bytes.Repeat([]byte(secret), seal.SecretSize)
			}
			var err error
			if s.keys, err = seal.New(raw, rand.Reader); err != nil {
				t.Fatal(err)
			}
			return s.book("legacy")
		}
		long := strings.Repeat("x", 500)
		b := rotate("a")
		first, stored := s.must(b.Own(t.Context(), "quarry", alice, "1")), s.must(b.Own(t.Context(), "quarry", alice, long))
		for _, secrets := range [][]string{{"a", "b"}, {"b", "a"}} {
			b = rotate(secrets...)
			if named, found, err := b.Find(t.Context(), "quarry", alice, "1"); named != first || !found || err != nil {
				t.Errorf("%q: found %q, %t, %v; want %q", secrets, named, found, err, first)
			}
			if named := s.must(b.Own(t.Context(), "quarry", alice, "1")); named != first {
				t.Errorf("%q: owned as %q, want %q", secrets, named, first)
			}
			s.wantOpen(b, alice, first, "1")
			s.wantOpen(b, alice, stored, long)
			s.wantUnknown(b, "quarry", bob, first)
			if _, found, err := b.Find(t.Context(), "quarry", bob, "1"); found || err != nil {
				t.Errorf("%q: another has it as well, %v", secrets, err)
			}
		}
		// One that is told anew is under the new secret, with the handle that the client
		// has.
		time.Sleep(retention)
		if err := b.Keep(t.Context(), "quarry", alice, "1", first); err != nil {
			t.Fatal(err)
		}
		b = rotate("b")
		s.wantUnknown(b, "quarry", alice, first)
		if named, found, err := b.Find(t.Context(), "quarry", alice, "1"); found || err != nil {
			t.Errorf("found %q, %v, which opens nothing", named, err)
		}
		again := s.must(b.Own(t.Context(), "quarry", alice, "1"))
		s.wantOpen(b, alice, again, "1")
		if named := s.must(b.Own(t.Context(), "quarry", alice, "1")); named != again {
			t.Errorf("owned as %q, want %q", named, again)
		}
	})
}
