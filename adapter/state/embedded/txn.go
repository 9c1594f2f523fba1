package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// revsBlock is how many revisions are reserved in the database at a time. A
// restart skips the rest of a block. It must exceed maxGroup.
const revsBlock = 1 << 20

// revisions hands out the numbers of revisions and fencing tokens. A number is
// given out only under a reservation that is committed before or with it, so
// none is ever used twice.
type revisions struct {
	last     int64 // given out
	reserved int64 // committed
}

// txn is the transaction of one group.
type txn struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts *statements
	bound [numStatements]*sql.Stmt // the statements used so far
	now   int64                    // one instant for the whole group
	revs  *revisions
	// expiring is set by writes that leave something to sweep.
	expiring bool
}

// transact runs f in a transaction and commits it.
func (w *writer) transact(ctx context.Context, f func(*txn) error) error {
	w.commits.Add(1)
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := &txn{ctx: ctx, tx: tx, stmts: &w.stmts, now: w.nowMs(), revs: &w.revs}
	reserved, err := t.reserve()
	if err == nil {
		err = f(t)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	w.revs.reserved = reserved
	w.expiring = w.expiring || t.expiring
	return nil
}

// reserve makes sure that there are revisions for a whole group, and returns
// what will be reserved once the transaction is committed.
func (t *txn) reserve() (reserved int64, err error) {
	if t.revs.last+maxGroup <= t.revs.reserved {
		return t.revs.reserved, nil
	}
	reserved = t.revs.last + revsBlock
	_, err = t.exec(stmtReserve, reserved)
	return reserved, err
}

// nextRev returns a revision that has never been used.
func (t *txn) nextRev() int64 {
	t.revs.last++
	return t.revs.last
}

// exec runs a statement and returns the number of rows it changed.
func (t *txn) exec(id statement, args ...any) (int64, error) {
	result, err := t.stmt(id).ExecContext(t.ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	return changed, nil
}

// queryRow runs a statement for one row and reports whether there was one.
func (t *txn) queryRow(id statement, arg, into any) (found bool, err error) {
	err = t.stmt(id).QueryRowContext(t.ctx, arg, t.now).Scan(into)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", id, err)
	}
	return true, nil
}

func (t *txn) stmt(id statement) *sql.Stmt {
	if t.bound[id] == nil {
		t.bound[id] = t.tx.StmtContext(t.ctx, t.stmts[id])
	}
	return t.bound[id]
}
