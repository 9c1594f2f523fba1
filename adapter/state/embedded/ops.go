package embedded

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// Put implements [state.Store].
func (s *Store) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	if err := rec.Check(); err != nil {
		return 0, err
	}
	if rec.Value == nil {
		rec.Value = []byte{} // nil would be NULL
	}
	o := &putOp{rec: rec, cond: cond}
	if err := s.writer.do(ctx, o); err != nil {
		return 0, err
	}
	return state.Rev(o.rev), nil
}

type putOp struct {
	rec  state.Record
	cond state.Cond
	rev  int64 // the result
}

func (o *putOp) size() int { return len(o.rec.Value) }

func (o *putOp) apply(tx *txn) (refusal, failure error) {
	r, rev, expires := &o.rec, tx.nextRev(), millis(o.rec.Expires)
	var changed int64
	switch o.cond {
	case state.Always, state.IfAbsent:
		changed, failure = tx.exec(stmtUpsert, r.Key, rev, expires, r.Owner, r.Order, r.Value, o.cond == state.Always, tx.now)
	default:
		changed, failure = tx.exec(stmtReplace, rev, expires, r.Owner, r.Order, r.Value, r.Key, int64(o.cond), tx.now)
	}
	switch {
	case failure != nil:
		return nil, failure
	case changed == 0:
		return state.ErrConflict, nil
	}
	o.rev = rev
	tx.expiring = tx.expiring || expires > 0
	return nil, nil
}

// Delete implements [state.Store].
func (s *Store) Delete(ctx context.Context, key string, cond state.Cond) error {
	if err := state.CheckName("key", key); err != nil {
		return err
	}
	return s.writer.do(ctx, &deleteOp{key: key, cond: cond})
}

type deleteOp struct {
	key  string
	cond state.Cond
}

func (o *deleteOp) size() int { return 0 }

func (o *deleteOp) apply(tx *txn) (refusal, failure error) {
	switch o.cond {
	case state.Always:
		_, failure = tx.exec(stmtDelete, o.key)
		return nil, failure
	case state.IfAbsent:
		var rev int64
		found, err := tx.queryRow(stmtLiveRev, o.key, &rev)
		return conflict(err == nil && found), err
	default:
		changed, err := tx.exec(stmtDeleteRev, o.key, int64(o.cond), tx.now)
		return conflict(err == nil && changed == 0), err
	}
}

func conflict(is bool) error {
	if is {
		return state.ErrConflict
	}
	return nil
}
