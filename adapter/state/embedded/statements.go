package embedded

import (
	"context"
	"database/sql"
	"fmt"
)

// statement names a prepared statement of the writer.
type statement int

const (
	stmtUpsert statement = iota
	stmtReplace
	stmtDelete
	stmtDeleteRev
	stmtLiveRev
	stmtAcquire
	stmtHolder
	stmtRenew
	stmtRelease
	stmtReserve
	stmtSweepRecords
	stmtSweepLeases
	numStatements
)

// statements are prepared on the writer's pool.
type statements [numStatements]*sql.Stmt

// String names the statement in errors.
func (s statement) String() string { return statementTexts[s].name }

// A record is live if it never expires or expires after the group's instant.
// Conditions are part of the statements, so that most writes take one.
var statementTexts = [numStatements]struct{ name, text string }{
	// Parameters: the columns; whether to replace a live record too; now.
	stmtUpsert: {"put", `
		INSERT INTO record (key, rev, expires, owner, ord, value) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET rev = excluded.rev, expires = excluded.expires,
			owner = excluded.owner, ord = excluded.ord, value = excluded.value
		WHERE ? OR record.expires BETWEEN 1 AND ?`},
	// Parameters: the columns but key; key; required revision; now.
	stmtReplace: {"put at revision", `
		UPDATE record SET rev = ?, expires = ?, owner = ?, ord = ?, value = ?
		WHERE key = ? AND rev = ? AND (expires = 0 OR expires > ?)`},
	stmtDelete: {"delete", `DELETE FROM record WHERE key = ?`},
	stmtDeleteRev: {"delete at revision", `
		DELETE FROM record WHERE key = ? AND rev = ? AND (expires = 0 OR expires > ?)`},
	stmtLiveRev: {"look up", `SELECT rev FROM record WHERE key = ? AND (expires = 0 OR expires > ?)`},

	// Parameters: the columns; now.
	stmtAcquire: {"acquire lease", `
		INSERT INTO lease (name, holder, token, expires) VALUES (?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = excluded.token, expires = excluded.expires
		WHERE lease.expires <= ?`},
	stmtHolder:  {"look up lease", `SELECT holder FROM lease WHERE name = ? AND expires > ?`},
	stmtRenew:   {"renew lease", `UPDATE lease SET expires = ? WHERE name = ? AND token = ? AND expires > ?`},
	stmtRelease: {"release lease", `DELETE FROM lease WHERE name = ? AND token = ?`},

	stmtReserve: {"reserve revisions", `UPDATE counter SET revs = ?`},
	// Parameters: now; at most so many.
	stmtSweepRecords: {"sweep records", `
		DELETE FROM record WHERE id IN (SELECT id FROM record WHERE expires > 0 AND expires <= ? ORDER BY expires LIMIT ?)`},
	stmtSweepLeases: {"sweep leases", `DELETE FROM lease WHERE expires <= ?`},
}

func prepareStatements(ctx context.Context, db *sql.DB) (prepared statements, err error) {
	for id := range prepared {
		if prepared[id], err = db.PrepareContext(ctx, statementTexts[id].text); err != nil {
			return prepared, fmt.Errorf("prepare %s: %w", statement(id), err)
		}
	}
	return prepared, nil
}

// anyExpiring reports whether there is anything that a sweep will find one day.
func anyExpiring(ctx context.Context, db querier) (found bool, err error) {
	err = db.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM record WHERE expires > 0) OR EXISTS (SELECT 1 FROM lease)").Scan(&found)
	if err != nil {
		return false, fmt.Errorf("look for expiring rows: %w", err)
	}
	return found, nil
}
