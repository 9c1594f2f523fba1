//go:build interop

package ledger_test

import (
	"testing"
	"time"
)

// between is the time between two restarts of a rolling one.
const between = time.Second / 2

// roll restarts every replica, one after another, as an orchestrator does, with these
// secrets.
func (b *books) roll(secrets ...string) {
	b.Helper()
	b.mu.Lock()
	b.secrets = secrets
	b.mu.Unlock()
	for i := range b.replicas {
		b.stop(i)
		b.start(i)
		time.Sleep(between)
	}
}

// smooth checks that no client has noticed anything: every call made its task, every
// task came to its own end, and no session was lost.
func (b *books) smooth() {
	b.Helper()
	for _, e := range b.entries {
		switch {
		case e.cut != "" || e.refused != "":
			e.problem("cut or refused: %s%s", e.cut, e.refused)
		case e.plain:
			e.problem("answered without a task")
		case e.interrupted():
			e.problem("interrupted, and nobody was killed")
		}
	}
	b.tally.mu.Lock()
	defer b.tally.mu.Unlock()
	if n := b.tally.count[sessionLost]; n != 0 {
		b.Errorf("%d sessions were lost", n)
	}
}

// TestRolling: the replicas are told to stop, one after another, and replaced, twice,
// while tasks run. A client that resumes streams, repeats what does no harm, and comes
// back after a 503 sees no error: no call is lost or refused, no session ends, no hosted
// call is interrupted (DESIGN.md §4, promises 5 and 6).
func TestRolling(t *testing.T) {
	b := newBooks(t)
	began := time.Now()
	wait := b.load(t.Context(), *tasks*3/4, *duration*3/4)
	for rolls := 0; rolls < 2 || time.Since(began) < *duration*3/4; rolls++ {
		b.roll(firstSecret)
	}
	wait()
	b.smooth()
	b.audit()
	b.inspect()
	b.publish("Replicas told to stop and replaced, one after another", time.Since(began))
}

// TestRotation: a secret is replaced under load, in the steps of docs/operations.md: the
// new one is made known, then used, then the old one is dropped. No client notices the
// first two; after the third what was made since the second is all there.
func TestRotation(t *testing.T) {
	const secondSecret = "the-second-secret-of-the-fleet"
	b := newBooks(t)
	began := time.Now()
	wait := b.load(t.Context(), *tasks*3/4, *duration*3/4)
	b.roll(firstSecret, secondSecret)
	b.roll(secondSecret, firstSecret)
	wait()
	old := len(b.entries)
	b.load(t.Context(), *tasks/4, *duration/4)()
	b.smooth()
	b.audit()
	if t.Failed() {
		return
	}
	b.roll(secondSecret)
	since := b.entries[old:]
	b.look(since)
	b.complain(since)
	b.inspect()
	b.publish("A secret replaced, in three rolling restarts", time.Since(began))
}
