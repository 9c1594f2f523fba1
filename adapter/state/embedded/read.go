package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// reader holds the prepared statements for reading. Each slot stands for a
// connection: waiting for one ends with the caller's context. A read that has
// begun is short and is not interrupted, because that would cost a goroutine
// per read.
type reader struct {
	slots chan struct{}
	get   *sql.Stmt
	list  *sql.Stmt
}

const (
	// Parameters: key; now.
	getText = `
		SELECT key, rev, expires, owner, ord, value FROM record
		WHERE key = ? AND (expires = 0 OR expires > ?)`
	// Parameters: owner; order; order, key; now; limit. The first condition on
	// the order finds the place in the index, the second is exact.
	listText = `
		SELECT key, rev, expires, owner, ord, value FROM record
		WHERE owner = ? AND owner <> '' AND ord >= ? AND (ord, key) > (?, ?) AND (expires = 0 OR expires > ?)
		ORDER BY ord, key LIMIT ?`
)

func newReader(ctx context.Context, db *sql.DB) (*reader, error) {
	r := &reader{slots: make(chan struct{}, readers)}
	var err error
	if r.get, err = db.PrepareContext(ctx, getText); err != nil {
		return nil, fmt.Errorf("prepare get: %w", err)
	}
	if r.list, err = db.PrepareContext(ctx, listText); err != nil {
		return nil, fmt.Errorf("prepare list: %w", err)
	}
	return r, nil
}

// Get implements [state.Store].
func (s *Store) Get(ctx context.Context, key string) (rec state.Record, err error) {
	if err := s.ready(ctx, "key", key); err != nil {
		return state.Record{}, err
	}
	err = s.read(ctx, func(ctx context.Context) error {
		return scan(s.reader.get.QueryRowContext(ctx, key, s.now()), &rec)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = state.ErrNotFound
	}
	return rec, err
}

// List implements [state.Store].
func (s *Store) List(ctx context.Context, owner string, after state.Pos, limit int) (page []state.Record, err error) {
	if err := s.ready(ctx, "owner", owner); err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, fmt.Errorf("%w: limit: %d", state.ErrInvalid, limit)
	}
	err = s.read(ctx, func(ctx context.Context) error {
		rows, err := s.reader.list.QueryContext(ctx, owner, after.Order, after.Order, after.Key, s.now(), limit)
		if err != nil {
			return err
		}
		for rows.Next() {
			var rec state.Record
			if err := scan(rows, &rec); err != nil {
				return errors.Join(err, rows.Close())
			}
			page = append(page, rec)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// ready is the check that precedes every call: the store is open, the context
// too, and the name is one.
func (s *Store) ready(ctx context.Context, what, name string) error {
	if s.isClosed() {
		return state.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return state.CheckName(what, name)
}

// read runs f once there is a connection for it.
func (s *Store) read(ctx context.Context, f func(context.Context) error) error {
	select {
	case s.reader.slots <- struct{}{}:
		defer func() { <-s.reader.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := f(context.WithoutCancel(ctx))
	switch {
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return err
	case s.isClosed():
		return state.ErrClosed // the pool was closed under the read
	default:
		return fmt.Errorf("state/embedded: read: %w", err)
	}
}

// scan reads one row of the columns that both queries select.
func scan(row interface{ Scan(dest ...any) error }, rec *state.Record) error {
	var expires int64
	if err := row.Scan(&rec.Key, &rec.Rev, &expires, &rec.Owner, &rec.Order, &rec.Value); err != nil {
		return err
	}
	if expires > 0 {
		rec.Expires = time.UnixMilli(expires).UTC()
	}
	return nil
}
