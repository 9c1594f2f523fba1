package park_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// rounds makes the rounds of a process: two that share a store are two processes.
func rounds(t *testing.T, store state.Store) *park.Rounds {
	t.Helper()
	keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
	if err != nil {
		t.Fatal(err)
	}
	r, err := park.NewRounds(store, env.System(), keys, "process", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func storeOf(t *testing.T) state.Store {
	t.Helper()
	store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func opened(t *testing.T, r *park.Rounds, n int64, payload string) park.Round {
	t.Helper()
	token, err := r.Seal(alice, n, payload)
	if err != nil {
		t.Fatal(err)
	}
	round, err := r.Open(token, alice)
	if err != nil || round.N != n || round.Payload != payload {
		t.Fatalf("opened %+v, %v", round, err)
	}
	return round
}

// TestRoundState: a state is good for its caller, its request and a while only.
func TestRoundState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rounds(t, storeOf(t))
		token, err := r.Seal(alice, 3, "EL-7")
		if err != nil || strings.Contains(token, "EL-7") {
			t.Fatalf("state %q, %v", token, err)
		}
		for name, b := range map[string]park.Binding{
			"another caller":  {Backend: "quarry", Owner: "bob", Digest: "d1"},
			"another request": {Backend: "quarry", Owner: "alice", Digest: "d2"},
			"another backend": {Backend: "mine", Owner: "alice", Digest: "d1"},
		} {
			if _, err := r.Open(token, b); !errors.Is(err, park.ErrState) {
				t.Errorf("B-U10 %s: error %v", name, err)
			}
		}
		for _, forged := range []string{"", "x", token + "A", token[:len(token)-1]} {
			if _, err := r.Open(forged, alice); !errors.Is(err, park.ErrState) {
				t.Errorf("B-U10 forged: error %v", err)
			}
		}
		time.Sleep(time.Hour)
		if _, err := r.Open(token, alice); err != nil {
			t.Errorf("B-U10 in time: %v", err)
		}
		time.Sleep(time.Millisecond)
		if _, err := r.Open(token, alice); !errors.Is(err, park.ErrState) {
			t.Errorf("B-U10 expired: error %v", err)
		}
	})
}

// TestRoundOnce: a request is made again once for each state, whoever presents it
// how often, and whatever process it comes to (B-U11).
func TestRoundOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := storeOf(t)
		r := rounds(t, store)
		round := opened(t, r, 1, "")
		runs := 0
		act := func(ctx context.Context) port.Outcome {
			runs++
			if err := env.Sleep(ctx, env.System(), time.Second); err != nil {
				return port.Fail(err)
			}
			return port.Outcome{Result: `{"n":1}`}
		}
		impatient, leave := context.WithTimeout(t.Context(), time.Second/2)
		defer leave()
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if i == 0 {
					r.Do(impatient, round, act)
					return
				}
				out := r.Do(t.Context(), round, act) //nolint:contextcheck // they come from different clients
				if out.Result != `{"n":1}` {
					t.Errorf("B-U11 outcome %+v", out)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Minute - time.Millisecond)
		if out := r.Do(t.Context(), round, act); out.Result != wire.Value(`{"n":1}`) || runs != 1 {
			t.Errorf("B-U11 soon after: outcome %+v after %d runs", out, runs)
		}
		time.Sleep(time.Millisecond)
		for name, late := range map[string]*park.Rounds{"later": r, "in another process": rounds(t, store)} {
			if out := late.Do(t.Context(), round, act); !errors.Is(out.Err, park.ErrState) || runs != 1 {
				t.Errorf("B-U11 %s: outcome %+v after %d runs", name, out, runs)
			}
		}
	})
}

// TestRoundNotSpent: what cannot be recorded is not done.
func TestRoundNotSpent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := storeOf(t)
		r := rounds(t, store)
		round := opened(t, r, 1, "")
		_ = store.Close()
		out := r.Do(t.Context(), round, func(context.Context) port.Outcome {
			t.Error("B-U11 the request was made")
			return port.Outcome{}
		})
		if out.Err == nil || errors.Is(out.Err, park.ErrState) {
			t.Errorf("B-U11 outcome %+v", out)
		}
	})
}

// TestFormerOwner: a state is its caller's under every secret that is accepted, and
// nobody's who has no name (B-P2, B-U10).
func TestFormerOwner(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		turn := w.wantAsked(c, `elicit-1 "a"`)
		r := rounds(w.T, storeOf(w.T))
		token, err := r.Seal(alice, 1, "")
		if err != nil {
			w.Fatal(err)
		}
		for name, tt := range map[string]struct {
			b    park.Binding
			fine bool
		}{
			"after a rotation":             {park.Binding{Backend: "quarry", Owner: "alice under b", Former: []string{"alice"}, Digest: "d1"}, true},
			"another, after a rotation":    {park.Binding{Backend: "quarry", Owner: "bob under b", Former: []string{"bob"}, Digest: "d1"}, false},
			"nobody":                       {park.Binding{Backend: "quarry", Digest: "d1"}, false},
			"another request":              {park.Binding{Backend: "quarry", Owner: "x", Former: []string{"alice"}, Digest: "d2"}, false},
			"another route":                {park.Binding{Backend: "basalt", Owner: "x", Former: []string{"alice"}, Digest: "d1"}, false},
			"when the old secret is gone":  {park.Binding{Backend: "quarry", Owner: "alice under b", Digest: "d1"}, false},
			"before the new one is in use": {park.Binding{Backend: "quarry", Owner: "alice", Former: []string{"alice under b"}, Digest: "d1"}, true},
		} {
			if _, _, err := w.lot.Resume(turn.State, tt.b); (err == nil) != tt.fine {
				w.Errorf("B-P2 %s: %v", name, err)
			}
			if _, err := r.Open(token, tt.b); (err == nil) != tt.fine {
				w.Errorf("B-U10 %s: %v", name, err)
			}
		}
		w.want()
	})
}
