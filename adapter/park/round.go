package park

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/sized"
)

// Round is a request that has ended at the backend and can be made again, once its
// client has done what was asked of it. Nothing is held open for it: all that is
// known of it travels in its state (B-U10).
type Round struct {
	// N counts the rounds of a request, from 1.
	N int64
	// Payload is the caller's.
	Payload string

	id      string
	expires time.Time
}

const (
	purposeRound = "request to repeat"
	roundVersion = 1
	// roundTime is how long a client may take.
	roundTime = time.Hour
	// outcomes is how many ends of rounds are kept at a time, outcomeBytes how much of
	// them.
	outcomes     = 1024
	outcomeBytes = 64 << 20
)

// Rounds makes requests again, each round once. It is safe for concurrent use.
type Rounds struct {
	store   state.Store
	env     env.Env
	keys    *seal.Keys
	process string
	keep    time.Duration

	running flight.Group[string, port.Outcome]
	mu      sync.Mutex
	ended   *sized.Cache[string, ended]
}

type ended struct {
	out   port.Outcome
	until time.Time
}

// NewRounds returns the rounds of a process whose spent states are kept in store. Keep
// is how long an outcome is, for a client that repeats itself.
func NewRounds(store state.Store, e env.Env, keys *seal.Keys, process string, keep time.Duration) (*Rounds, error) {
	cache, err := sized.New[string](outcomes, outcomeBytes, func(e ended) int { return len(e.out.Result) })
	if err != nil {
		return nil, err
	}
	return &Rounds{store: store, env: e, keys: keys, process: process, keep: keep, ended: cache}, nil
}

// Seal returns the state of a new round, the n-th.
func (r *Rounds) Seal(b Binding, n int64, payload string) (string, error) {
	id, err := env.NewID(r.env)
	if err != nil {
		return "", err
	}
	return r.Again(b, Round{N: n, Payload: payload, id: id, expires: r.env.Now().Add(roundTime)})
}

// Again returns another state of a round, for a client that has left something out:
// whichever of its states comes first spends them all.
func (r *Rounds) Again(b Binding, round Round) (string, error) {
	var f seal.Fields
	f.Int(roundVersion)
	f.String(round.id)
	f.String(b.Backend)
	f.String(b.Owner)
	f.String(b.Digest)
	f.Int(round.N)
	f.Int(round.expires.UnixMilli())
	f.String(round.Payload)
	return r.keys.Seal(purposeRound, f.Bytes())
}

// Open reads a state. The error is [ErrState], whatever is wrong with it.
func (r *Rounds) Open(token string, b Binding) (Round, error) {
	plain, err := r.keys.Open(purposeRound, token)
	if err != nil {
		return Round{}, ErrState
	}
	f := seal.ReadFields(plain)
	version := f.Int()
	round := Round{id: f.String()}
	backend, owner, digest := f.String(), f.String(), f.String()
	round.N = f.Int()
	round.expires = time.UnixMilli(f.Int())
	round.Payload = f.String()
	if f.Done() != nil || version != roundVersion || !b.admits(backend, owner, digest) || r.env.Now().After(round.expires) {
		return Round{}, ErrState
	}
	return round, nil
}

var errNotSpent = jsonrpc.NewError(jsonrpc.CodeInternal, "the request could not be recorded")

// Do makes the request again, unless that was done before: the state is spent, for
// good and before act runs (B-U11). Who presents it meanwhile, or soon after, gets
// the same outcome, which another process may have (a *[port.ElsewhereError]); later
// it is [ErrState].
func (r *Rounds) Do(ctx context.Context, round Round, act func(ctx context.Context) port.Outcome) port.Outcome {
	out, err := r.running.Do(ctx, round.id, func(ctx context.Context) (port.Outcome, error) {
		if out, ok := r.outcome(round.id); ok {
			return out, nil
		}
		switch err := r.spend(ctx, round); {
		case errors.Is(err, state.ErrConflict):
			return port.Fail(r.spent(ctx, round)), nil
		case err != nil:
			return port.Fail(fmt.Errorf("%w: %w", errNotSpent, err)), nil
		}
		out := act(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended.Add(round.id, ended{out, r.env.Now().Add(r.keep)})
		return out, nil
	})
	if err != nil {
		return port.Fail(err)
	}
	return out
}

func (r *Rounds) outcome(id string) (port.Outcome, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.ended.Get(id)
	return e.out, ok && r.env.Now().Before(e.until)
}

func (r *Rounds) spend(ctx context.Context, round Round) error {
	_, err := r.store.Put(ctx, state.Record{Key: roundKey(round), Value: []byte(r.process), Expires: round.expires}, state.IfAbsent)
	return err
}

func roundKey(round Round) string { return "round/" + round.id }

// spent is the answer for a state that was spent: the process that did so may have the
// outcome.
func (r *Rounds) spent(ctx context.Context, round Round) error {
	rec, err := r.store.Get(ctx, roundKey(round))
	if err != nil || string(rec.Value) == r.process || len(rec.Value) == 0 {
		return ErrState
	}
	return &port.ElsewhereError{Process: string(rec.Value), Err: ErrState}
}
