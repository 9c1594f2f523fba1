package embedded

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// gate is a write that holds the writer inside a transaction until it is opened,
// so that tests decide what a group consists of.
type gate struct {
	open chan struct{}
	err  error // the failure to end with
}

func (g *gate) size() int { return 0 }

func (g *gate) apply(*txn) (refusal, failure error) {
	<-g.open
	return nil, g.err
}

// hold starts a gate and waits until the writer stands in it. The channel gets
// the gate's outcome.
func hold(t *testing.T, s *Store, failure error) (*gate, <-chan error) {
	t.Helper()
	g := &gate{open: make(chan struct{}), err: failure}
	outcome := make(chan error, 1)
	go func() { outcome <- s.writer.do(t.Context(), g) }()
	synctest.Wait()
	return g, outcome
}

// startPuts starts a conditional write of each key and waits until all are
// queued. The channels get the outcomes.
func startPuts(t *testing.T, s *Store, ctx context.Context, cond state.Cond, keys ...string) []chan error {
	t.Helper()
	outcomes := make([]chan error, len(keys))
	for i, key := range keys {
		outcomes[i] = make(chan error, 1)
		go func() {
			_, err := s.Put(ctx, state.Record{Key: key}, cond)
			outcomes[i] <- err
		}()
	}
	synctest.Wait()
	return outcomes
}

func manyKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", i)
	}
	return keys
}

// inBubble runs the test on a store in memory, inside a bubble that ends only if
// the store leaves no goroutine behind.
func inBubble(t *testing.T, f func(t *testing.T, s *Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), Options{Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		f(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func TestWaitingWritesShareACommit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		before := s.writer.commits.Load()
		g, gated := hold(t, s, nil)
		outcomes := startPuts(t, s, t.Context(), state.IfAbsent, manyKeys(64)...)
		for i, outcome := range outcomes {
			if len(outcome) != 0 {
				t.Fatalf("write %d was acknowledged before the commit", i)
			}
		}
		close(g.open)
		for i, outcome := range append(outcomes, asChan(gated)) {
			if err := <-outcome; err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		}
		if commits := s.writer.commits.Load() - before; commits != 1 {
			t.Errorf("%d commits for 64 writes that came during one transaction, want 1", commits)
		}
	})
}

// asChan forwards an outcome so that it can be looked at among others.
func asChan(in <-chan error) chan error {
	out := make(chan error, 1)
	out <- <-in
	return out
}

func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		g, _ := hold(t, s, nil)
		outcomes := startPuts(t, s, t.Context(), state.IfAbsent, manyKeys(maxGroup)...)
		before := s.writer.commits.Load()
		close(g.open)
		for i, outcome := range outcomes {
			if err := <-outcome; err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		}
		// The gate's own transaction takes all but one.
		if commits := s.writer.commits.Load() - before; commits != 1 {
			t.Errorf("%d more commits, want 1", commits)
		}
	})
}

func TestLargeValuesEndAGroup(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		g, _ := hold(t, s, nil)
		large := make([]byte, maxGroupBytes/2)
		outcomes := make(chan error, 4)
		for i := range cap(outcomes) {
			go func() {
				_, err := s.Put(t.Context(), state.Record{Key: fmt.Sprint(i), Value: large}, state.IfAbsent)
				outcomes <- err
			}()
		}
		synctest.Wait()
		before := s.writer.commits.Load()
		close(g.open)
		for range cap(outcomes) {
			if err := <-outcomes; err != nil {
				t.Error(err)
			}
		}
		if commits := s.writer.commits.Load() - before; commits != 1 {
			t.Errorf("%d more commits for two groups' worth of bytes, want 1", commits)
		}
	})
}

func TestARefusedWriteDoesNotDisturbItsGroup(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		if _, err := s.Put(t.Context(), state.Record{Key: "taken"}, state.Always); err != nil {
			t.Fatal(err)
		}
		g, _ := hold(t, s, nil)
		before := s.writer.commits.Load()
		first := startPuts(t, s, t.Context(), state.IfAbsent, "a")[0]
		refused := startPuts(t, s, t.Context(), state.IfAbsent, "taken")[0]
		again := startPuts(t, s, t.Context(), state.IfAbsent, "a")[0]
		last := startPuts(t, s, t.Context(), state.IfAbsent, "b")[0]
		close(g.open)
		for _, test := range []struct {
			name    string
			outcome chan error
			want    error
		}{
			{"first", first, nil},
			{"refused", refused, state.ErrConflict},
			{"same key again", again, state.ErrConflict},
			{"last", last, nil},
		} {
			if err := <-test.outcome; !errors.Is(err, test.want) {
				t.Errorf("%s: got error %v, want %v", test.name, err, test.want)
			}
		}
		for _, key := range []string{"a", "b"} {
			if _, err := s.Get(t.Context(), key); err != nil {
				t.Errorf("get %q: %v", key, err)
			}
		}
		if commits := s.writer.commits.Load() - before; commits != 0 {
			t.Errorf("%d commits beyond the one that was held, want 0", commits)
		}
	})
}

func TestAFailedGroupFailsEveryWaiterAndNothingElse(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		failure := errors.New("disk on fire")
		before := startPuts(t, s, t.Context(), state.Always, "before")[0]
		if err := <-before; err != nil {
			t.Fatal(err)
		}
		g, gated := hold(t, s, nil)
		first := startPuts(t, s, t.Context(), state.Always, "a", "before")
		broken, brokenOutcome := &gate{open: g.open, err: failure}, make(chan error, 1)
		go func() { brokenOutcome <- s.writer.do(t.Context(), broken) }()
		synctest.Wait()
		last := startPuts(t, s, t.Context(), state.Always, "b")[0]
		close(g.open)
		for i, outcome := range []chan error{asChan(gated), first[0], first[1], brokenOutcome, last} {
			if err := <-outcome; !errors.Is(err, failure) {
				t.Errorf("write %d: got error %v, want %v", i, err, failure)
			}
		}
		for _, key := range []string{"a", "b"} {
			if _, err := s.Get(t.Context(), key); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("get %q: got error %v, want %v", key, err, state.ErrNotFound)
			}
		}
		old, err := s.Get(t.Context(), "before")
		if err != nil {
			t.Fatal(err)
		}
		rev, err := s.Put(t.Context(), state.Record{Key: "before"}, state.IfRev(old.Rev))
		if err != nil || rev <= old.Rev {
			t.Errorf("the next group: revision %d after %d, error %v", rev, old.Rev, err)
		}
	})
}

func TestRevisionsAreReservedAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		if _, err := s.Put(t.Context(), state.Record{Key: "k"}, state.Always); err != nil {
			t.Fatal(err)
		}
		// The next group must reserve; its failure must undo that.
		s.writer.revs.last = s.writer.revs.reserved
		g, gated := hold(t, s, errors.New("disk on fire"))
		close(g.open)
		if err := <-gated; err == nil {
			t.Fatal("the broken group succeeded")
		}
		rev, err := s.Put(t.Context(), state.Record{Key: "k"}, state.Always)
		if err != nil {
			t.Fatal(err)
		}
		var reserved int64
		if err := s.readDB.QueryRowContext(t.Context(), "SELECT revs FROM counter").Scan(&reserved); err != nil {
			t.Fatal(err)
		}
		if reserved < int64(rev) {
			t.Errorf("revision %d was given out, but only %d are reserved", rev, reserved)
		}
	})
}

func TestAWaiterMayLeave(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		g, _ := hold(t, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		left := startPuts(t, s, ctx, state.Always, "left")[0]
		stayed := startPuts(t, s, t.Context(), state.Always, "stayed")[0]
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("left: got error %v, want %v", err, context.Canceled)
		}
		close(g.open)
		if err := <-stayed; err != nil {
			t.Errorf("stayed: %v", err)
		}
		if _, err := s.Get(t.Context(), "left"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("a write that was still queued took place: error %v", err)
		}
	})
}

func TestAWriteThatHasBegunTakesPlaceWithoutItsWaiter(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		// The put is applied before the gate, in the same group.
		first, _ := hold(t, s, nil)
		left := startPuts(t, s, ctx, state.Always, "left")[0]
		second := &gate{open: make(chan struct{})}
		gated := make(chan error, 1)
		go func() { gated <- s.writer.do(t.Context(), second) }()
		synctest.Wait()
		close(first.open)
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("left: got error %v, want %v", err, context.Canceled)
		}
		close(second.open)
		if err := <-gated; err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), "left"); err != nil {
			t.Errorf("get: %v", err)
		}
	})
}

func TestCloseFlushesWaitingWrites(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *Store) {
		g, _ := hold(t, s, nil)
		outcomes := startPuts(t, s, t.Context(), state.Always, manyKeys(maxGroup+5)...)
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		if len(closed) != 0 {
			t.Fatal("closed while a write was under way")
		}
		if _, err := s.Put(t.Context(), state.Record{Key: "late"}, state.Always); !errors.Is(err, state.ErrClosed) {
			t.Errorf("put after close: got error %v, want %v", err, state.ErrClosed)
		}
		close(g.open)
		for i, outcome := range outcomes {
			if err := <-outcome; err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		}
		if err := <-closed; err != nil {
			t.Errorf("close: %v", err)
		}
	})
}
