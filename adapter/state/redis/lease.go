package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// Acquire implements [state.Store]. If it fails with [ErrUncertain] the lease
// may be held for ttl by nobody.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (state.Lease, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.Done()
	if err := state.CheckName("lease", name); err != nil {
		return nil, err
	}
	if err := state.CheckName("holder", holder); err != nil {
		return nil, err
	}
	if err := checkTTL(ttl); err != nil {
		return nil, err
	}
	answer, err := s.run(ctx, acquireScript, []string{s.keys.lease(name), s.keys.counter(name)}, holder, milliseconds(ttl))
	if err != nil {
		return nil, s.fail(ctx, "acquire", true, err)
	}
	taken, text, err := pair(answer)
	switch {
	case err != nil:
		return nil, s.fail(ctx, "acquire", true, err)
	case taken == 0:
		return nil, &state.HeldError{Name: name, Holder: text}
	}
	token, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, s.fail(ctx, "acquire", true, errAnswer)
	}
	return &lease{store: s, key: s.keys.lease(name), token: token}, nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < time.Millisecond {
		return fmt.Errorf("%w: ttl: %v", state.ErrInvalid, ttl)
	}
	return nil
}

func milliseconds(ttl time.Duration) string {
	return strconv.FormatInt(min(ttl.Milliseconds(), maxExpiry/2), 10)
}

// lease is a held lease, or one that was.
type lease struct {
	store *Store
	key   string
	token int64
}

// Token implements [state.Lease].
func (l *lease) Token() int64 { return l.token }

// Renew implements [state.Lease].
func (l *lease) Renew(ctx context.Context, ttl time.Duration) error {
	if err := l.store.begin(ctx); err != nil {
		return err
	}
	defer l.store.calls.Done()
	if err := checkTTL(ttl); err != nil {
		return err
	}
	held, err := l.renew(ctx, milliseconds(ttl))
	if err != nil {
		return l.store.fail(ctx, "renew", true, err)
	}
	if !held {
		return state.ErrLost
	}
	return nil
}

// Release implements [state.Lease].
func (l *lease) Release(ctx context.Context) error {
	if err := l.store.begin(ctx); err != nil {
		return err
	}
	defer l.store.calls.Done()
	_, err := l.renew(ctx, "0")
	return l.store.fail(ctx, "release", true, err)
}

func (l *lease) renew(ctx context.Context, ttl string) (held bool, err error) {
	answer, err := l.store.run(ctx, renewScript, []string{l.key}, strconv.FormatInt(l.token, 10), ttl)
	return answer == int64(1), err
}
