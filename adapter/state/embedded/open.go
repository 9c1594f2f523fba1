package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"modernc.org/sqlite"
)

// ErrLocked says that the database file is open elsewhere.
var ErrLocked = errors.New("state/embedded: the file is locked by another process")

const (
	// readers is the number of connections for reading, and so of reads that
	// run at the same time.
	readers = 4
	// busyMs is how long SQLite itself waits for a lock. With one process and
	// one writer it waits only where a reader recovers the log after a crash.
	busyMs = 5000
	// checkpointPages is the size of the log (16 MiB) at which a commit also
	// writes it back to the file. Larger spreads that cost over more commits.
	checkpointPages = 4096
	// logLimit is the size in bytes to which an oversized log is cut.
	logLimit = 64 << 20
	// writerCacheKiB is the page cache of the writer.
	writerCacheKiB = 16 << 10

	dirMode  = 0o700
	fileMode = 0o600
)

// connect takes the lock, makes the file and opens the connections.
func (s *Store) connect(ctx context.Context, opts Options) (err error) {
	if opts.Memory {
		// One connection, shared by reads and writes: it is the database.
		s.writeDB, err = openPool(dataSource("", writerParams()), 1)
		s.readDB = s.writeDB
		return err
	}
	path, err := filepath.Abs(opts.Path)
	if err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if s.lock, err = lockFile(path + ".lock"); err != nil {
		return err
	}
	if err := makeFile(path); err != nil {
		return err
	}
	// fdatasync is as durable as fsync and spares the file's timestamps a trip
	// through the file system's journal. Where there is none, fsync it is.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return fmt.Errorf("fdatasync: %w", err)
	}
	if s.writeDB, err = openPool(dataSource(path, writerParams()), 1); err != nil {
		return err
	}
	// Nothing is changed in a file before it is known to be ours.
	if err := checkSchema(ctx, s.writeDB); err != nil {
		return err
	}
	if err := os.Chmod(path, fileMode); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	if err := makeDurable(ctx, s.writeDB); err != nil {
		return err
	}
	s.readDB, err = openPool(dataSource(path, readerParams()), readers)
	return err
}

// makeFile creates an empty database file that only the owner can read, which
// SQLite would give the mode 0644, and makes its name durable. SQLite gives
// the files beside it the same mode.
func makeFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode) //nolint:gosec // the path is the operator's
	if err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable, where the system has that.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path) //nolint:gosec // the path is the operator's
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// openPool opens up to n connections, which are kept for good: in memory,
// closing the last one would lose the data.
func openPool(dsn string, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// makeDurable switches the file to the write-ahead log and makes sure that this
// worked: on a file system that cannot do it SQLite silently stays in another
// mode.
func makeDurable(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode); err != nil {
		return fmt.Errorf("journal mode: %w", err)
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not support a write-ahead log (journal mode %q)", mode)
	}
	return nil
}

func writerParams() url.Values {
	return url.Values{
		"_txlock": {"immediate"},
		"_dqs":    {"0"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyMs),
			"synchronous(full)",
			"fullfsync(1)", // macOS: through the drive's cache as well
			"checkpoint_fullfsync(1)",
			fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
			fmt.Sprintf("journal_size_limit(%d)", logLimit),
			fmt.Sprintf("cache_size(-%d)", writerCacheKiB),
			"temp_store(memory)",
			"trusted_schema(off)",
		},
	}
}

func readerParams() url.Values {
	return url.Values{
		"mode": {"ro"},
		"_dqs": {"0"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyMs),
			"temp_store(memory)",
			"trusted_schema(off)",
		},
	}
}

// dataSource builds the driver's URI. An empty path is a database in memory.
func dataSource(path string, params url.Values) string {
	if path == "" {
		return "file::memory:?" + params.Encode()
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: params.Encode()}).String()
}
