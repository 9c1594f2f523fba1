package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// presenceTTL is how long a process is believed alive after its last sign, and
	// presenceBeat the time between two of them.
	presenceTTL  = 9 * time.Second
	presenceBeat = presenceTTL / 3
	// presenceRetry is how soon a sign of life that could not be given is given again.
	presenceRetry = 500 * time.Millisecond
	// stoppedFor is how long a process is on record as one that has stopped.
	stoppedFor = 24 * time.Hour
	// livesFor is how long it is believed of a process that it lives, or does not.
	livesFor = time.Second
	// arrival is how long a message is on its way to a process that has stopped.
	arrival = 500 * time.Millisecond
	// partingTime bounds what is still said while the process stops.
	partingTime = 5 * time.Second
	// lastTime bounds the wait for what was cancelled.
	lastTime = time.Second
)

// Options are what a [Replica] works with.
type Options struct {
	Store  state.Store
	Keys   *seal.Keys
	Env    env.Env
	Logger *slog.Logger
	// Shared is set for a store that other processes use at the same time. Without
	// it this process is the only one that lives.
	Shared bool
}

// Replica is one process among those of a store. It is safe for concurrent use.
type Replica struct {
	Options

	id     string
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	beats sync.WaitGroup          // those that show that the process lives
	still context.CancelCauseFunc // ends them

	mu      sync.Mutex
	leaving bool // nothing new is served
	closed  bool
	steady  time.Time // since when every sign of life has been recorded; zero: not
	handler http.Handler
	links   map[string]*link     // open exchanges, by id
	served  map[string]time.Time // requests that were served, and until when that is known
	seen    map[string]sight     // what is known of other processes
	answers map[string]func(ctx context.Context, question []byte) []byte
}

// sight is what was seen of a process last.
type sight struct {
	at    time.Time
	lives bool
}

var errStopped = errors.New("the bridge is shutting down")

// New announces the process to the others. A store that cannot be reached is no reason
// not to start: it is tried again until it can. Close must be called.
func New(ctx context.Context, o Options) (*Replica, error) { //nolint:contextcheck // what is begun here outlives the call
	id, err := env.NewID(o.Env)
	if err != nil {
		return nil, err
	}
	r := &Replica{
		Options: o, id: id, links: make(map[string]*link), served: make(map[string]time.Time),
		seen: make(map[string]sight), answers: make(map[string]func(context.Context, []byte) []byte),
		handler: http.NotFoundHandler(),
	}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if !o.Shared {
		return r, nil
	}
	err = r.appear(ctx)
	if errors.Is(err, state.ErrClosed) || errors.Is(err, state.ErrInvalid) {
		return nil, fmt.Errorf("announce the process: %w", err)
	}
	beating, still := context.WithCancelCause(r.ctx)
	r.still = still
	r.work.Go(r.listen)
	r.work.Go(r.look)
	r.beats.Go(func() { r.stay(beating, err) })
	return r, nil
}

// ID implements [port.Process].
func (r *Replica) ID() string { return r.id }

// Shared implements [port.Process].
func (r *Replica) Shared() bool { return r.Options.Shared }

func presenceKey(id string) string { return "process/" + id }

// stopped is what is on record of a process that has stopped in order.
const stopped = "stopped"

func (r *Replica) appear(ctx context.Context) error {
	_, err := r.Store.Put(ctx, state.Record{Key: presenceKey(r.id), Expires: r.Env.Now().Add(presenceTTL)}, state.Always)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.steady = time.Time{}
	case r.steady.IsZero():
		r.steady = r.Env.Now()
	}
	return err
}

func (r *Replica) vanish(ctx context.Context) error {
	_, err := r.Store.Put(ctx, state.Record{
		Key: presenceKey(r.id), Value: []byte(stopped), Expires: r.Env.Now().Add(stoppedFor),
	}, state.Always)
	return err
}

// errUnsure says that it is too early to call a process dead: while the store was
// away, it could not show that it lives.
var errUnsure = errors.New("it is not known yet whether the process lives")

// stay keeps the process on record, and does nothing else: what takes its time must not
// make it look dead. Err is how the first announcement went.
func (r *Replica) stay(ctx context.Context, err error) {
	for failing := false; ; {
		if err != nil && !failing {
			r.Logger.ErrorContext(ctx, "process not announced", "error", err)
		}
		pause := presenceBeat
		if failing = err != nil; failing {
			pause = presenceRetry
		}
		if env.Sleep(ctx, r.Env, pause) != nil {
			return
		}
		if err = r.appear(ctx); ctx.Err() != nil {
			return
		}
	}
}

// probeSweeps is how many sweeps are between two looks whether the peer of an exchange
// still knows of it.
const probeSweeps = 5

// look looks after the exchanges until the process stops.
func (r *Replica) look() {
	for n := 1; env.Sleep(r.ctx, r.Env, presenceBeat) == nil; n++ {
		r.sweep(n%probeSweeps == 0)
	}
}

// Lives implements [port.Process]. One that has stopped shows as dead at once, one
// that was killed some seconds later, counted from when the store was last away.
func (r *Replica) Lives(ctx context.Context, id string) (bool, error) {
	if id == r.id || !r.Options.Shared {
		return id == r.id, nil
	}
	now := r.Env.Now()
	r.mu.Lock()
	s, known := r.seen[id]
	r.mu.Unlock()
	if known && now.Sub(s.at) < livesFor {
		return s.lives, nil
	}
	if state.CheckName("process", id) != nil {
		return false, nil
	}
	rec, err := r.Store.Get(ctx, presenceKey(id))
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, state.ErrNotFound):
		if r.steady.IsZero() || now.Sub(r.steady) < presenceTTL {
			return false, errUnsure
		}
	case err != nil:
		r.steady = time.Time{}
		return false, fmt.Errorf("look for a process: %w", err)
	}
	if len(r.seen) >= maxSeen {
		clear(r.seen)
	}
	lives := err == nil && string(rec.Value) != stopped
	r.seen[id] = sight{now, lives}
	return lives, nil
}

// maxSeen bounds the processes of which something is known.
const maxSeen = 1024

// Serve sets what serves the requests of other processes, first before anybody can know
// of something that this process has.
func (r *Replica) Serve(h http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handler = h
}

// sweep ends the exchanges with processes that live no more, forgets requests that
// cannot arrive again, and may ask after exchanges: a peer that has given one up says
// so.
func (r *Replica) sweep(probe bool) {
	now := r.Env.Now()
	peers := make(map[string][]*link)
	r.mu.Lock()
	for id, until := range r.served {
		if until.Before(now) {
			delete(r.served, id)
		}
	}
	for _, l := range r.links {
		peers[l.peer] = append(peers[l.peer], l)
	}
	r.mu.Unlock()
	for peer, links := range peers {
		lives, err := r.Lives(r.ctx, peer)
		gone := err == nil && !lives // a store that is away says nothing of the peer
		for _, l := range links {
			switch {
			case gone:
				l.fail(ErrGone)
			case probe && l.heard():
				r.publish(peer, &frame{kind: kindProbe, link: l.id, from: r.id})
			}
		}
	}
}

// Close takes the process off the record, and ends every exchange. Who believes for a
// moment that it lives is refused meanwhile, and so knows that nothing was served. It
// returns when nothing of it runs any more, or soon after ctx is done.
func (r *Replica) Close(ctx context.Context) error {
	r.mu.Lock()
	first := !r.leaving
	r.leaving = true
	r.mu.Unlock()
	if !first {
		return env.Join(ctx, &r.work)
	}
	left := r.leave(ctx)
	r.mu.Lock()
	r.closed = true
	links := make([]*link, 0, len(r.links))
	for _, l := range r.links {
		links = append(links, l)
	}
	r.mu.Unlock()
	for _, l := range links {
		l.fail(errStopped)
	}
	r.cancel(errStopped)
	// What is cancelled ends at once, also where leaving has taken all the time.
	last, cancel := env.WithTimeout(context.WithoutCancel(ctx), r.Env, lastTime, errStopped)
	defer cancel()
	return errors.Join(left, env.Join(last, &r.work))
}

// leave takes the process off the record, and returns when nobody believes any more
// that it lives, or ctx is done.
func (r *Replica) leave(ctx context.Context) error {
	if !r.Options.Shared {
		return nil
	}
	r.still(errStopped)
	parting, cancel := env.WithTimeout(context.WithoutCancel(ctx), r.Env, partingTime, errStopped)
	defer cancel()
	err := errors.Join(env.Join(parting, &r.beats), r.vanish(parting))
	_ = env.Sleep(ctx, r.Env, livesFor+arrival) // or there is no time left
	return err
}
