package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
)

// crashPath is set in the environment of the child process that gets killed.
const crashPath = "TASKBRIDGE_TEST_CRASH_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPath); path != "" {
		fmt.Fprintln(os.Stderr, writeForever(context.Background(), path))
		return
	}
	m.Run()
}

// writeForever writes records from many goroutines, and prints each one's key
// once it has been acknowledged. It returns only on an error.
func writeForever(ctx context.Context, path string) error {
	store, err := embedded.Open(ctx, embedded.Options{Path: path})
	if err != nil {
		return err
	}
	lease, err := store.Acquire(ctx, "l", "child", time.Hour)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(os.Stdout, "token %d\n", lease.Token()); err != nil {
		return err
	}
	failed := make(chan error)
	for writer := range 16 {
		go func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d-%d", os.Getpid(), writer, i)
				rec := state.Record{Key: key, Value: []byte("value of " + key), Owner: "o", Order: key}
				rev, err := store.Put(ctx, rec, state.IfAbsent)
				if err == nil {
					// One write to a pipe, so it arrives whole or not at all.
					_, err = fmt.Fprintf(os.Stdout, "ack %s %d\n", key, rev)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// DESIGN.md §4.2: what was acknowledged survives kill -9, and the lock does not.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	acked := make(map[string]int64) // in all rounds
	var lastToken, lastRev int64
	for round := range 3 {
		token, acks := runAndKill(t, path, 300)
		if token <= lastToken {
			t.Errorf("round %d: token %d follows %d", round, token, lastToken)
		}
		for key, rev := range acks {
			acked[key] = rev
			lastRev = max(lastRev, rev)
		}

		// The child is dead, so the file can be had at once.
		store := open(t, embedded.Options{Path: path})
		for key := range acked {
			want(t, store, key, "value of "+key)
		}
		wantListed(t, store, acked)
		if rev := put(t, store, "k", ""); int64(rev) <= lastRev {
			t.Errorf("round %d: revision %d after one of %d was acknowledged", round, rev, lastRev)
		}
		lease, err := store.Acquire(t.Context(), "l", "parent", time.Hour)
		if err != nil {
			t.Fatalf("round %d: the dead child's lease: %v", round, err)
		}
		if lease.Token() <= token {
			t.Errorf("round %d: token %d after the child's %d", round, lease.Token(), token)
		}
		lastToken = lease.Token()
		closeStore(t, store)
	}
}

// wantListed expects the acknowledged records in the index with their
// revisions. Others, whose acknowledgement the kill cut off, may be there too.
func wantListed(t *testing.T, store state.Store, acked map[string]int64) {
	t.Helper()
	listed, err := store.List(t.Context(), "o", state.Pos{}, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, rec := range listed {
		if rev, ok := acked[rec.Key]; ok {
			found++
			if int64(rec.Rev) != rev {
				t.Errorf("%s: revision %d, acknowledged was %d", rec.Key, rec.Rev, rev)
			}
		}
	}
	if found != len(acked) {
		t.Errorf("%d of %d acknowledged records are listed", found, len(acked))
	}
}

// runAndKill starts the child, kills it after so many acknowledgements, and
// returns its lease's token and all that it managed to acknowledge.
func runAndKill(t *testing.T, path string, after int) (token int64, acks map[string]int64) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashPath+"="+path)
	var stderr strings.Builder
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var kill sync.Once
	acks = make(map[string]int64)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var key string
		var rev int64
		switch n, _ := fmt.Sscanf(lines.Text(), "ack %s %d", &key, &rev); n {
		case 2:
			acks[key] = rev
		default:
			if _, err := fmt.Sscanf(lines.Text(), "token %d", &token); err != nil {
				t.Errorf("unexpected line %q", lines.Text())
			}
			if _, err := embedded.Open(t.Context(), embedded.Options{Path: path}); !errors.Is(err, embedded.ErrLocked) {
				t.Errorf("open while the child runs: got error %v, want %v", err, embedded.ErrLocked)
			}
		}
		if len(acks) >= after {
			kill.Do(func() {
				if err := child.Process.Kill(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	var killed *exec.ExitError
	if err := child.Wait(); !errors.As(err, &killed) || killed.Exited() {
		t.Fatalf("the child was not killed: %v\n%s", err, stderr.String())
	}
	if len(acks) < after {
		t.Fatalf("%d acknowledgements, want %d\n%s", len(acks), after, stderr.String())
	}
	return token, acks
}
