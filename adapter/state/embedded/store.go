package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/topics"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Options say where and how to keep the state.
type Options struct {
	// Path is the database file. It and its directory are made if missing
	// (modes 0600 and 0700). SQLite keeps PATH-wal and PATH-shm beside it while
	// the store is open, and PATH.lock tells other processes that it is.
	Path string
	// Memory keeps everything in memory instead, until Close. Path must be empty.
	Memory bool
	// Env is the clock. Default: the system's.
	Env env.Env
	// Logger hears of failed transactions, never of contents. Default: none.
	Logger *slog.Logger
}

// Store is a [state.Store] in one SQLite database.
type Store struct {
	env    env.Env
	writer *writer
	reader *reader
	topics topics.Broker

	// The parts in order of opening; Close undoes them in reverse.
	lock    *os.File
	writeDB *sql.DB
	readDB  *sql.DB // the same as writeDB in memory

	closing sync.Once
	closed  chan struct{}
	err     error
}

var _ state.Store = (*Store)(nil)

// Open opens the store and makes it if there is none. It returns [ErrLocked] at
// once if another process (or another Store of this one) has the file open,
// and [ErrSchema] for a file that a newer release or another program made.
//
// Leases end when their process does: Open drops those it finds.
func Open(ctx context.Context, opts Options) (*Store, error) {
	if (opts.Path == "") != opts.Memory {
		return nil, fmt.Errorf("%w: a store needs either a path or memory", state.ErrInvalid)
	}
	if opts.Env == nil {
		opts.Env = env.System()
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{env: opts.Env, closed: make(chan struct{})}
	if err := s.open(ctx, opts); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, opts Options) error {
	if err := s.connect(ctx, opts); err != nil {
		return err
	}
	revs, err := prepareSchema(ctx, s.writeDB)
	if err != nil {
		return err
	}
	if s.reader, err = newReader(ctx, s.readDB); err != nil {
		return err
	}
	s.writer, err = startWriter(ctx, s.writeDB, opts.Env, opts.Logger, revs)
	return err
}

// Close implements [state.Store]: writes that were accepted before are
// committed and acknowledged.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		s.err = s.release()
	})
	return s.err
}

// release closes whatever of the store is open, readers before the writer, so
// that SQLite can fold its log into the file, and the lock last.
func (s *Store) release() error {
	var errs []error
	if s.writer != nil {
		s.writer.stop()
	}
	s.topics.Close()
	if s.readDB != nil && s.readDB != s.writeDB {
		errs = append(errs, s.readDB.Close())
	}
	if s.writeDB != nil {
		errs = append(errs, s.writeDB.Close())
	}
	if s.lock != nil {
		errs = append(errs, unlockFile(s.lock))
	}
	return errors.Join(errs...)
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// now is the clock in the unit of the database, in which 0 means never.
func (s *Store) now() int64 { return s.env.Now().UnixMilli() }
