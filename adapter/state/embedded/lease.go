package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// Acquire implements [state.Store].
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (state.Lease, error) {
	if err := state.CheckName("lease", name); err != nil {
		return nil, err
	}
	if err := state.CheckName("holder", holder); err != nil {
		return nil, err
	}
	if err := checkTTL(ttl); err != nil {
		return nil, err
	}
	o := &acquireOp{name: name, holder: holder, ttl: ttl.Milliseconds()}
	if err := s.writer.do(ctx, o); err != nil {
		return nil, err
	}
	return &lease{store: s, name: name, token: o.token}, nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < time.Millisecond {
		return fmt.Errorf("%w: ttl: %v", state.ErrInvalid, ttl)
	}
	return nil
}

// acquireOp takes a lease if nobody holds it.
type acquireOp struct {
	name, holder string
	ttl          int64 // milliseconds
	token        int64 // the result
}

func (o *acquireOp) size() int { return 0 }

func (o *acquireOp) apply(tx *txn) (refusal, failure error) {
	token := tx.nextRev()
	changed, err := tx.exec(stmtAcquire, o.name, o.holder, token, tx.now+o.ttl, tx.now)
	if err != nil {
		return nil, err
	}
	if changed == 0 {
		held := &state.HeldError{Name: o.name}
		_, err := tx.queryRow(stmtHolder, o.name, &held.Holder)
		return held, err
	}
	o.token = token
	tx.expiring = true
	return nil, nil
}

// lease is a held lease, or one that was.
type lease struct {
	store *Store
	name  string
	token int64
}

// Token implements [state.Lease].
func (l *lease) Token() int64 { return l.token }

// Renew implements [state.Lease].
func (l *lease) Renew(ctx context.Context, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	return l.store.writer.do(ctx, &renewOp{lease: l, ttl: ttl.Milliseconds()})
}

// Release implements [state.Lease].
func (l *lease) Release(ctx context.Context) error {
	return l.store.writer.do(ctx, &releaseOp{lease: l})
}

type renewOp struct {
	*lease
	ttl int64 // milliseconds
}

func (o *renewOp) size() int { return 0 }

func (o *renewOp) apply(tx *txn) (refusal, failure error) {
	changed, err := tx.exec(stmtRenew, tx.now+o.ttl, o.name, o.token, tx.now)
	if err == nil && changed == 0 {
		return state.ErrLost, nil
	}
	return nil, err
}

type releaseOp struct{ *lease }

func (o *releaseOp) size() int { return 0 }

func (o *releaseOp) apply(tx *txn) (refusal, failure error) {
	_, err := tx.exec(stmtRelease, o.name, o.token)
	return nil, err
}
