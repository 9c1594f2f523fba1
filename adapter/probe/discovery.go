package probe

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
	"github.com/taskbridge/taskbridge/internal/sized"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

const (
	// discoveries is how many credentials' answers are kept, discoveryBytes how much of
	// them.
	discoveries    = 1024
	discoveryBytes = 16 << 20
	// maxKept bounds what a server may ask for.
	maxKept = 24 * time.Hour
)

// Discovery keeps what one backend says of itself, for as long as it allows
// (A-L1): a private answer for the credential it was given to, a public one for
// everybody. It is safe for concurrent use.
type Discovery struct {
	env    env.Env
	flight flight.Group[discoveryKey, ext2026.DiscoverResult]

	mu      sync.Mutex
	answers *sized.Cache[credential, discovery]
	public  discovery
	// cleared counts the calls of Clear: what was asked before one is not kept
	// after it.
	cleared uint64
}

// credential stands for an Authorization header, which is not kept.
type credential [sha256.Size]byte

type discoveryKey struct {
	credential credential
	cleared    uint64
}

// discovery is an answer and when it ends.
type discovery struct {
	result ext2026.DiscoverResult
	until  time.Time
}

// NewDiscovery returns a cache for one backend.
func NewDiscovery(e env.Env) (*Discovery, error) {
	answers, err := sized.New[credential](discoveries, discoveryBytes, func(d discovery) int { return len(d.result.Raw()) })
	if err != nil {
		return nil, err
	}
	return &Discovery{env: e, answers: answers}, nil
}

// Get returns what the backend says of itself to a caller with this
// Authorization header, from fetch if nothing fresh is known. Concurrent calls
// with one credential share one fetch, which is cancelled when none of them
// waits any more. The error is that of fetch or, for a malformed result, a
// *[mapping.Error].
func (d *Discovery) Get(
	ctx context.Context, authorization string, fetch func(context.Context) (wire.Value, error),
) (ext2026.DiscoverResult, error) {
	who := credential(sha256.Sum256([]byte(authorization)))
	d.mu.Lock()
	key := discoveryKey{who, d.cleared}
	result, ok := d.fresh(who)
	d.mu.Unlock()
	if ok {
		return result, nil
	}
	return d.flight.Do(ctx, key, func(ctx context.Context) (ext2026.DiscoverResult, error) {
		raw, err := fetch(ctx)
		if err != nil {
			return ext2026.DiscoverResult{}, err
		}
		result, err := ext2026.ParseDiscoverResult(raw)
		if err != nil {
			return ext2026.DiscoverResult{}, malformed(err)
		}
		d.keep(key, result)
		return result, nil
	})
}

// fresh needs the lock.
func (d *Discovery) fresh(who credential) (ext2026.DiscoverResult, bool) {
	now := d.env.Now()
	if answer, ok := d.answers.Get(who); ok && now.Before(answer.until) {
		return answer.result, true
	}
	return d.public.result, now.Before(d.public.until)
}

func (d *Discovery) keep(key discoveryKey, result ext2026.DiscoverResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key.cleared != d.cleared || result.TTLMs <= 0 {
		return
	}
	kept := maxKept
	if result.TTLMs < int64(maxKept/time.Millisecond) {
		kept = time.Duration(result.TTLMs) * time.Millisecond
	}
	answer := discovery{result, d.env.Now().Add(kept)}
	if result.Public {
		d.public = answer
		return
	}
	d.answers.Add(key.credential, answer)
}

// Clear forgets everything: the backend has contradicted what it said.
func (d *Discovery) Clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers.Purge()
	d.public = discovery{}
	d.cleared++
}

func malformed(err error) error {
	path := ""
	if decode := (*wire.DecodeError)(nil); errors.As(err, &decode) {
		path = decode.Path
	}
	return &mapping.Error{Dir: mapping.Down, Method: ext2026.MethodServerDiscover, Path: path, Err: err}
}
