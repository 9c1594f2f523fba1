package embedded

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// No statement may read a table from end to end: the store must not become slow
// as it fills.
func TestStatementsUseIndexes(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s.Close)
	texts := map[string]string{"get": getText, "list": listText}
	for id, known := range statementTexts {
		// There are few leases, and most are gone with their release.
		if statement(id) != stmtSweepLeases {
			texts[known.name] = known.text
		}
	}
	indexes := map[string]string{
		"get": "sqlite_autoindex_record_1", "put": "", "put at revision": "sqlite_autoindex_record_1",
		"list": "record_owner", "sweep records": "record_expires", "acquire lease": "",
	}
	for name, text := range texts {
		plan := explain(t, s, text)
		if strings.Contains(plan, "SCAN record") || strings.Contains(plan, "SCAN lease") {
			t.Errorf("%s scans:\n%s", name, plan)
		}
		if !strings.Contains(plan, indexes[name]) {
			t.Errorf("%s does not use %s:\n%s", name, indexes[name], plan)
		}
	}
}

func explain(t *testing.T, s *Store, text string) string {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = 1
	}
	rows, err := s.readDB.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, rows.Close)
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// The promises of the package documentation, as SQLite reports them.
func TestFileIsDurable(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, s.Close)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		var got string
		if err := s.writeDB.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	if _, err := s.readDB.ExecContext(t.Context(), "DELETE FROM record"); err == nil {
		t.Error("a connection for reading can write")
	}
}

// A store on disk may be used in fake time as well, and leaves no goroutine.
func TestFileStoreInABubble(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	synctest.Test(t, func(t *testing.T) {
		for range 2 {
			s, err := Open(t.Context(), Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			mustPut(t, s, state.Record{Key: "k", Expires: time.Now().Add(time.Minute)})
			if _, err := s.Get(t.Context(), "k"); err != nil {
				t.Errorf("get: %v", err)
			}
			time.Sleep(time.Minute + sweepEvery)
			wantRows(t, s, "record", 0)
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
}
