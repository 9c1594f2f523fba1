package embedded

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// benchWriters is the concurrency of DESIGN.md §7, "durable task creations".
const benchWriters = 64

// benchValue has the size of a small task object.
var benchValue = bytes.Repeat([]byte("task"), 128)

// BenchmarkPut64Writers creates records as the bridge creates tasks: absent
// before, listed under an owner, expiring, keys in order of time.
func BenchmarkPut64Writers(b *testing.B) {
	s, err := Open(b.Context(), Options{Path: filepath.Join(b.TempDir(), "state.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer closing(b, s.Close)
	expires := time.Now().Add(time.Hour)
	benchmark(b, func(ctx context.Context, i int64) error {
		key := fmt.Sprintf("task/%012x-%016x", i, uint64(i)*0x9e3779b97f4a7c15)
		_, err := s.Put(ctx, state.Record{
			Key: key, Value: benchValue, Owner: fmt.Sprint("owner", i%benchWriters), Order: key[5:], Expires: expires,
		}, state.IfAbsent)
		return err
	})
	b.ReportMetric(float64(b.N)/float64(s.writer.commits.Load()), "writes/commit")
}

// BenchmarkBareSQLite64Writers is the reference: the same writers, values and
// durability, but a loop that knows nothing except one insert into one table
// without an index.
func BenchmarkBareSQLite64Writers(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bare.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	defer closing(b, db.Close)
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(b.Context(), "CREATE TABLE bare (id INTEGER PRIMARY KEY, value BLOB)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.PrepareContext(b.Context(), "INSERT INTO bare (id, value) VALUES (?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	benchmarkLoop(b, func(group []int64) error {
		tx, err := db.BeginTx(b.Context(), nil)
		if err != nil {
			return err
		}
		bound := tx.StmtContext(b.Context(), insert)
		for _, i := range group {
			if _, err := bound.ExecContext(b.Context(), i, benchValue); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// BenchmarkBareFile64Writers is the floor of the file system: values appended to
// a file with one flush per group, and no way to find them again.
func BenchmarkBareFile64Writers(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "bare.log"))
	if err != nil {
		b.Fatal(err)
	}
	defer closing(b, file.Close)
	var buffer []byte
	benchmarkLoop(b, func(group []int64) error {
		buffer = buffer[:0]
		for range group {
			buffer = append(buffer, benchValue...)
		}
		if _, err := file.Write(buffer); err != nil {
			return err
		}
		return file.Sync()
	})
}

// benchmarkLoop runs the writers against a bare group-commit loop.
func benchmarkLoop(b *testing.B, commit func(group []int64) error) {
	type request struct {
		id   int64
		done chan error
	}
	queue := make(chan request, benchWriters)
	var loop sync.WaitGroup
	loop.Go(func() {
		var ids []int64
		var waiting []request
		for first := range queue {
			ids, waiting = append(ids[:0], first.id), append(waiting[:0], first)
			for more := true; more && len(queue) > 0; {
				var r request
				if r, more = <-queue; more {
					ids, waiting = append(ids, r.id), append(waiting, r)
				}
			}
			err := commit(ids)
			for _, r := range waiting {
				r.done <- err
			}
		}
	})
	benchmark(b, func(_ context.Context, i int64) error {
		r := request{id: i, done: make(chan error, 1)}
		queue <- r
		return <-r.done
	})
	close(queue)
	loop.Wait()
}

// benchmark spreads b.N writes over the writers.
func benchmark(b *testing.B, write func(ctx context.Context, i int64) error) {
	b.ReportAllocs()
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range benchWriters {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := write(b.Context(), i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

func closing(b testing.TB, closer func() error) {
	if err := closer(); err != nil {
		b.Error(err)
	}
}
