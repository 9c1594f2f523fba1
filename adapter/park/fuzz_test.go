package park_test

import (
	"context"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
)

// What the two kinds of states are sealed for. That they are spelled as here is seen
// from a genuine state, which opens.
const (
	purposeState = "parked call"
	purposeRound = "request to repeat"
)

// FuzzState: whatever a client presents as a state, sealed or not, and whatever is in
// it: it is that of a call which is parked, or a round of the request that it is
// presented with, or [park.ErrState] and nothing else (B-P2, B-U10).
func FuzzState(f *testing.F) {
	keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
	if err != nil {
		f.Fatal(err)
	}
	lot := park.NewLot(env.System(), keys, "process", times)
	f.Cleanup(func() {
		if err := lot.Close(context.Background()); err != nil {
			f.Error(err)
		}
	})
	rounds, err := park.NewRounds(nil, env.System(), keys, "process", times.Keep) // only [park.Rounds.Do] stores
	if err != nil {
		f.Fatal(err)
	}
	call, err := lot.Begin(alice, func(context.Context) {})
	if err != nil {
		f.Fatal(err)
	}
	call.Ask(park.Question{Kind: "roots", Request: "{}", Refuse: func(context.Context) {}})
	turn, err := call.Next(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	inside := genuine(f, keys, purposeState, turn.State)
	again, err := rounds.Seal(alice, 3, "payload")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(turn.State, inside, "quarry", "alice", "d1")
	f.Add(again, genuine(f, keys, purposeRound, again), "quarry", "alice", "d1")
	f.Add("", []byte(nil), "", "", "")
	f.Add(turn.State[1:], inside[1:], "quarry", "", "d1")
	f.Add(strings.Repeat("A", 64), []byte{2, 1, 'x'}, "quarry", "bob", "d1")
	f.Fuzz(func(t *testing.T, token string, plain []byte, backend, owner, digest string) {
		b := park.Binding{Backend: backend, Owner: owner, Digest: digest}
		sealed, err := keys.Seal(purposeState, plain)
		if err != nil {
			t.Skip(err)
		}
		for _, state := range []string{token, sealed} {
			got, round, err := lot.Resume(state, b)
			switch {
			case err == nil && (got != call || backend != alice.Backend || owner != alice.Owner || digest != alice.Digest):
				t.Errorf("%q of %+v is round %d of a call", state, b, round)
			case err != nil && err != park.ErrState: //nolint:errorlint // the client must not tell why
				t.Errorf("error %v", err)
			}
		}
		if sealed, err = keys.Seal(purposeRound, plain); err != nil {
			t.Skip(err)
		}
		for _, state := range []string{token, sealed, turn.State} {
			round, err := rounds.Open(state, b)
			switch {
			case err == nil && state == turn.State:
				t.Errorf("the state of a parked call is round %+v", round)
			case err != nil && err != park.ErrState: //nolint:errorlint // as above
				t.Errorf("error %v", err)
			}
			other := b
			other.Digest += "'"
			if _, also := rounds.Open(state, other); err == nil && also == nil {
				t.Errorf("%q is a round of %+v and of another request", state, b)
			}
		}
		if _, _, err := lot.Resume(again, b); err == nil {
			t.Error("a round is a parked call")
		}
	})
}

// genuine is what is in a state.
func genuine(f *testing.F, keys *seal.Keys, purpose, token string) []byte {
	f.Helper()
	plain, err := keys.Open(purpose, token)
	if err != nil {
		f.Fatal(err)
	}
	return plain
}
