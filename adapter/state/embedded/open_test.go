package embedded_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
)

func TestOpenMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := filepath.Join(t.TempDir(), "new", "dir with ? # % ü", "state.db")
	store := open(t, embedded.Options{Path: path})
	put(t, store, "k", "v")
	wantMode(t, filepath.Dir(path), os.ModeDir|0o700)
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		wantMode(t, path+suffix, 0o600)
	}
	closeStore(t, store)

	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	store = open(t, embedded.Options{Path: path})
	wantMode(t, path, 0o600)
	want(t, store, "k", "v")
	closeStore(t, store)
}

func TestOpenTakesAPathOrMemory(t *testing.T) {
	t.Parallel()
	for _, opts := range []embedded.Options{{}, {Memory: true, Path: filepath.Join(t.TempDir(), "x")}} {
		if _, err := embedded.Open(t.Context(), opts); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%+v: got error %v, want %v", opts, err, state.ErrInvalid)
		}
	}
}

func TestOpenRefusesALockedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	store := open(t, embedded.Options{Path: path})
	put(t, store, "k", "v")
	if _, err := embedded.Open(t.Context(), embedded.Options{Path: path}); !errors.Is(err, embedded.ErrLocked) {
		t.Fatalf("second open: got error %v, want %v", err, embedded.ErrLocked)
	}
	want(t, store, "k", "v")
	closeStore(t, store)
	store = open(t, embedded.Options{Path: path})
	want(t, store, "k", "v")
	closeStore(t, store)
}

func TestMemoryStoresAreApart(t *testing.T) {
	t.Parallel()
	one, two := open(t, embedded.Options{Memory: true}), open(t, embedded.Options{Memory: true})
	put(t, one, "k", "v")
	if _, err := two.Get(t.Context(), "k"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("get: got error %v, want %v", err, state.ErrNotFound)
	}
	closeStore(t, one)
	closeStore(t, two)
}

func TestOpenLeavesForeignFilesAlone(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T, path string){
		"a newer schema": func(t *testing.T, path string) {
			closeStore(t, open(t, embedded.Options{Path: path}))
			execute(t, path, "PRAGMA journal_mode = delete", "PRAGMA user_version = 2")
		},
		"another program's database": func(t *testing.T, path string) {
			execute(t, path, "CREATE TABLE bookmarks (url TEXT)")
		},
		"another program's database with versions": func(t *testing.T, path string) {
			execute(t, path, "PRAGMA user_version = -7")
		},
		"no database": func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("not a database\n"), 100), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			make(t, path)
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := embedded.Open(t.Context(), embedded.Options{Path: path}); !errors.Is(err, embedded.ErrSchema) {
				t.Fatalf("got error %v, want %v", err, embedded.ErrSchema)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, after) {
				t.Error("the file has changed")
			}
			if runtime.GOOS != "windows" {
				wantMode(t, path, 0o640)
			}
			// Nor does the attempt keep the lock.
			if _, err := embedded.Open(t.Context(), embedded.Options{Path: path}); !errors.Is(err, embedded.ErrSchema) {
				t.Fatalf("second attempt: got error %v, want %v", err, embedded.ErrSchema)
			}
		})
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	var lastRev state.Rev
	var lastToken int64
	for life := range 4 {
		store := open(t, embedded.Options{Path: path})
		if life > 0 {
			want(t, store, "k", fmt.Sprint(life-1))
		}
		rev := put(t, store, "k", fmt.Sprint(life))
		if rev <= lastRev {
			t.Errorf("life %d: revision %d follows %d", life, rev, lastRev)
		}
		// The lease is never released: it ends with its process.
		lease, err := store.Acquire(t.Context(), "l", "me", time.Hour)
		if err != nil {
			t.Fatalf("life %d: acquire: %v", life, err)
		}
		if lease.Token() <= lastToken {
			t.Errorf("life %d: token %d follows %d", life, lease.Token(), lastToken)
		}
		lastRev, lastToken = rev, lease.Token()
		closeStore(t, store)
	}
}

// execute runs statements on a database file from outside.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, store state.Store, key, value string) state.Rev {
	t.Helper()
	rev, err := store.Put(t.Context(), state.Record{Key: key, Value: []byte(value)}, state.Always)
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return rev
}

func want(t *testing.T, store state.Store, key, value string) {
	t.Helper()
	rec, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	if string(rec.Value) != value {
		t.Errorf("get %q: got %q, want %q", key, rec.Value, value)
	}
}

func wantMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != mode {
		t.Errorf("%s: got mode %v, want %v", filepath.Base(path), info.Mode(), mode)
	}
}

func closeStore(t *testing.T, store state.Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}
