package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

func TestSweepRemovesExpiredRows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		const expired = 2*sweepBatch + 1
		soon, late := time.Now().Add(time.Second), time.Now().Add(time.Hour)
		for i := range expired {
			mustPut(t, s, state.Record{Key: fmt.Sprint(i), Owner: "o", Expires: soon})
		}
		mustPut(t, s, state.Record{Key: "late", Owner: "o", Expires: late})
		mustPut(t, s, state.Record{Key: "forever", Owner: "o"})
		if _, err := s.Acquire(t.Context(), "l", "me", time.Second); err != nil {
			t.Fatal(err)
		}

		before := s.writer.commits.Load()
		time.Sleep(sweepEvery + time.Second)
		wantRows(t, s, "record", 2)
		wantRows(t, s, "lease", 0)
		// Two full batches, and one that finds the rest.
		if commits := s.writer.commits.Load() - before; commits != 3 {
			t.Errorf("%d transactions for the sweep, want 3", commits)
		}

		time.Sleep(time.Hour)
		wantRows(t, s, "record", 1)
		// Nothing expires any more, so the timer rests.
		before = s.writer.commits.Load()
		time.Sleep(24 * time.Hour)
		if commits := s.writer.commits.Load() - before; commits != 0 {
			t.Errorf("%d sweeps of nothing", commits)
		}
		// And wakes up for the next record that does.
		mustPut(t, s, state.Record{Key: "k", Expires: time.Now().Add(time.Second)})
		time.Sleep(sweepEvery + time.Second)
		wantRows(t, s, "record", 1)
	})
}

func TestSweepFindsWhatAnEarlierProcessLeft(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/state.db"
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, state.Record{Key: "k", Expires: time.Now()})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	if !s.writer.expiring {
		t.Error("no sweep is due")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSweepRemovesExpiredLeases(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		if _, err := s.Acquire(t.Context(), "l", "me", time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sweepEvery + time.Second)
		wantRows(t, s, "lease", 0)
	})
}

func TestCloseStopsTheTimer(t *testing.T) {
	t.Parallel()
	timers := &timerEnv{Env: env.System()}
	s, err := Open(t.Context(), Options{Memory: true, Env: timers})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, state.Record{Key: "k", Expires: time.Now().Add(time.Hour)})
	mustPut(t, s, state.Record{Key: "k", Expires: time.Now().Add(time.Hour)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if timers.started != 1 || timers.stopped != 1 {
		t.Errorf("%d timers started and %d stopped, want 1 and 1", timers.started, timers.stopped)
	}
}

// timerEnv counts timers. The counts may be read after Close.
type timerEnv struct {
	env.Env
	started, stopped int
}

func (e *timerEnv) NewTimer(time.Duration) env.Timer {
	e.started++
	return env.Timer{C: make(chan time.Time), Stop: func() bool { e.stopped++; return true }}
}

func TestAReadThatIsOvertakenByCloseSaysSo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		err := s.read(t.Context(), func(context.Context) error {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			return sql.ErrConnDone
		})
		if !errors.Is(err, state.ErrClosed) {
			t.Errorf("got error %v, want %v", err, state.ErrClosed)
		}
	})
}

func mustPut(t *testing.T, s *Store, rec state.Record) {
	t.Helper()
	if _, err := s.Put(t.Context(), rec, state.Always); err != nil {
		t.Fatal(err)
	}
}

// wantRows counts the rows of a table, expired ones included.
func wantRows(t *testing.T, s *Store, table string, want int) {
	t.Helper()
	var rows int
	if err := s.readDB.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != want {
		t.Errorf("%d rows in %s, want %d", rows, table, want)
	}
}
