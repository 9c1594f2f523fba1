package park

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Times bound what is parked.
type Times struct {
	// Window is how long the first question of a round waits for others (B-P1).
	Window time.Duration
	// Park is how long a client may stay away (B-P5).
	Park time.Duration
	// Keep is how long an outcome is kept for a client that repeats itself (B-P4).
	Keep time.Duration
}

// Lot is where calls are parked. It is safe for concurrent use.
type Lot struct {
	env     env.Env
	keys    *seal.Keys
	process string
	times   Times

	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	calls map[string]*Call
}

// maxCalls bounds the calls that are parked at a time.
const maxCalls = 10000

var (
	errStopped = jsonrpc.NewError(jsonrpc.CodeInternal, "the bridge is shutting down")
	errFull    = jsonrpc.NewError(jsonrpc.CodeInternal, "too many calls wait for answers; try again later")
	errGivenUp = jsonrpc.NewError(jsonrpc.CodeInternal, "the call was given up")
)

// ErrState is the answer to a state that is malformed, forged, expired, another
// caller's, of another request, or of a call that is gone (B-P2).
var ErrState = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Invalid params: params.requestState: not a state of this request, or expired")

// NewLot returns the empty lot of a process. Close must be called.
func NewLot(e env.Env, keys *seal.Keys, process string, times Times) *Lot {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Lot{env: e, keys: keys, process: process, times: times, ctx: ctx, cancel: cancel, calls: make(map[string]*Call)}
}

// Binding ties a call to who made it and to what was asked.
type Binding struct {
	// Backend and Owner are the route's backend and the keyed hash of the caller's
	// principal; empty for one without.
	Backend, Owner string
	// Former are other hashes of the same principal, under secrets that are not the
	// newest any more: a state that is bound to one of them is the caller's as well.
	Former []string
	// Digest is of the request without what changes between its repetitions.
	Digest string
}

// admits reports whether a state that is bound to something is this caller's, for
// this request.
func (b *Binding) admits(backend, owner, digest string) bool {
	return backend == b.Backend && digest == b.Digest && (owner == b.Owner || slices.Contains(b.Former, owner))
}

// Begin returns a call that a client waits for. It is parked only once it has a
// question. Abandon ends the backend's request when nobody is going to come back;
// the questions that are open are refused before.
func (l *Lot) Begin(b Binding, abandon func(ctx context.Context)) (*Call, error) {
	id, err := env.NewID(l.env)
	if err != nil {
		return nil, err
	}
	return &Call{
		lot: l, id: id, binding: b, abandon: abandon,
		counts: make(map[string]int), changed: make(chan struct{}),
	}, nil
}

// Resume returns the call of a state and the round that the state is of. That of
// another process is a *[port.ElsewhereError] (B-P11).
func (l *Lot) Resume(state string, b Binding) (*Call, int64, error) {
	process, id, round, ok := l.open(state, b)
	switch {
	case !ok:
		return nil, 0, ErrState
	case process != l.process:
		return nil, 0, &port.ElsewhereError{Process: process, Err: ErrState}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[id]
	if c == nil {
		return nil, 0, ErrState
	}
	return c, round, nil
}

const (
	purposeState = "parked call"
	stateVersion = 2
)

func (l *Lot) seal(c *Call, round int64) (string, error) {
	var f seal.Fields
	f.Int(stateVersion)
	f.String(l.process)
	f.String(c.id)
	f.String(c.binding.Backend)
	f.String(c.binding.Owner)
	f.String(c.binding.Digest)
	f.Int(round)
	f.Int(l.env.Now().Add(l.times.Park).UnixMilli())
	return l.keys.Seal(purposeState, f.Bytes())
}

func (l *Lot) open(state string, b Binding) (process, id string, round int64, ok bool) {
	plain, err := l.keys.Open(purposeState, state)
	if err != nil {
		return "", "", 0, false
	}
	f := seal.ReadFields(plain)
	version := f.Int()
	process, id = f.String(), f.String()
	backend, owner, digest := f.String(), f.String(), f.String()
	round = f.Int()
	expires := f.Int()
	return process, id, round, f.Done() == nil && version == stateVersion && b.admits(backend, owner, digest) && l.env.Now().UnixMilli() <= expires
}

// park makes a call findable, or reports that the lot is full.
func (l *Lot) park(c *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil || len(l.calls) >= maxCalls && l.calls[c.id] == nil {
		return false
	}
	l.calls[c.id] = c
	return true
}

func (l *Lot) remove(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, c.id)
}

// Close gives every call up and returns when none is left or ctx is done. A backend
// that takes no last word holds up none of the others.
func (l *Lot) Close(ctx context.Context) error {
	l.mu.Lock()
	l.cancel(errStopped)
	for _, c := range l.calls {
		l.work.Go(func() { c.GiveUp(ctx) })
	}
	l.mu.Unlock()
	return env.Join(ctx, &l.work)
}

// Go runs what belongs to a call, on a goroutine that Close waits for.
func (l *Lot) Go(run func()) { l.work.Go(run) }

// spawn is Go for what Close does itself from then on.
func (l *Lot) spawn(run func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.work.Go(run)
	}
}
