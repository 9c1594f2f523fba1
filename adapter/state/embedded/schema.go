package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrSchema says that the file is not one this release can use: made by a newer
// one, or by another program. It is left as it was.
var ErrSchema = errors.New("state/embedded: unusable database file")

// schemaVersion is what this release writes to user_version.
const schemaVersion = 1

// schema creates version 1. Instants are Unix milliseconds, 0 is never. The
// value comes last so that reading the other columns never follows it to its
// overflow pages. Text compares bytewise by default.
//
// The index by owner ends with Order and leaves the rare tie to a sort: with
// the key in it, each entry would be half as large again.
const schema = `
CREATE TABLE record (
	id      INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE,
	rev     INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	owner   TEXT    NOT NULL,
	ord     TEXT    NOT NULL,
	value   BLOB    NOT NULL
) STRICT;
CREATE INDEX record_owner ON record (owner, ord) WHERE owner <> '';
CREATE INDEX record_expires ON record (expires) WHERE expires > 0;

CREATE TABLE lease (
	name    TEXT    NOT NULL PRIMARY KEY,
	holder  TEXT    NOT NULL,
	token   INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	revs INTEGER NOT NULL -- revisions and tokens up to this one may have been used
) STRICT;
INSERT INTO counter VALUES (1, 0);

PRAGMA user_version = 1;
`

// checkSchema returns [ErrSchema] unless the file is empty or of a version that
// this release knows. It only reads.
func checkSchema(ctx context.Context, db *sql.DB) error {
	_, err := readVersion(ctx, db)
	return err
}

// prepareSchema creates the schema if there is none, drops the leases of the
// process before, and returns the last revision that may have been used.
func prepareSchema(ctx context.Context, db *sql.DB) (revs int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("schema: %w", err)
	}
	if revs, err = migrate(ctx, tx); err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("schema: %w", err)
	}
	return revs, nil
}

func migrate(ctx context.Context, tx *sql.Tx) (revs int64, err error) {
	version, err := readVersion(ctx, tx)
	if err != nil {
		return 0, err
	}
	if version == 0 {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return 0, fmt.Errorf("create schema: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM lease"); err != nil {
		return 0, fmt.Errorf("drop old leases: %w", err)
	}
	if err := tx.QueryRowContext(ctx, "SELECT revs FROM counter").Scan(&revs); err != nil {
		return 0, fmt.Errorf("revision counter: %w", err)
	}
	return revs, nil
}

// querier is a database or a transaction on it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readVersion returns the version of the schema, 0 for an empty file.
func readVersion(ctx context.Context, db querier) (version int, err error) {
	var tables int
	err = db.QueryRowContext(ctx,
		"SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&version, &tables)
	var failure *sqlite.Error
	switch {
	case errors.As(err, &failure) && failure.Code() == sqlite3.SQLITE_NOTADB:
		return 0, fmt.Errorf("%w: not a database", ErrSchema)
	case err != nil:
		return 0, fmt.Errorf("schema version: %w", err)
	case version > schemaVersion:
		return 0, fmt.Errorf("%w: schema version %d, this release knows %d", ErrSchema, version, schemaVersion)
	case version < 0, version == 0 && tables > 0:
		return 0, fmt.Errorf("%w: it belongs to another program", ErrSchema)
	}
	return version, nil
}
