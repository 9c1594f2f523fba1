package statetest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var recordCases = []testCase{
	{"get of an absent key is not found", func(f *fixture) {
		f.absent("k")
	}},
	{"get returns what was put, to the millisecond", func(f *fixture) {
		expires := f.clock.Now().Add(time.Hour + 1500*time.Microsecond)
		rec := state.Record{
			Key: "k", Value: []byte("\x00\xffv"), Rev: 77, Expires: expires, Owner: "o\xfe", Order: "ord",
		}
		rec.Rev = f.put(rec)
		rec.Expires = time.UnixMilli(expires.UnixMilli()).UTC()
		f.equal("record", f.get("k"), rec)
	}},
	{"a record without expiry has the zero time", func(f *fixture) {
		rev := f.put(state.Record{Key: "k", Value: []byte("v")})
		f.equal("record", f.get("k"), state.Record{Key: "k", Value: []byte("v"), Rev: rev})
	}},
	{"nil and empty values are the same", func(f *fixture) {
		f.put(state.Record{Key: "nil"})
		f.put(state.Record{Key: "empty", Value: []byte{}})
		f.equal("length of nil", len(f.get("nil").Value), 0)
		f.equal("length of empty", len(f.get("empty").Value), 0)
	}},
	{"a value of a mebibyte survives", func(f *fixture) {
		value := bytes.Repeat([]byte{0, 1, 2, 0xff}, 256<<10)
		f.put(state.Record{Key: "k", Value: bytes.Clone(value)})
		if !bytes.Equal(f.get("k").Value, value) {
			f.Fatal("the value has changed")
		}
	}},
	{"the caller owns what get returned", func(f *fixture) {
		f.put(state.Record{Key: "k", Value: []byte("value")})
		clear(f.get("k").Value)
		f.equal("value", string(f.get("k").Value), "value")
	}},
	{"put replaces the whole record", func(f *fixture) {
		f.put(state.Record{Key: "k", Value: []byte("1"), Expires: f.in(time.Hour), Owner: "o", Order: "x"})
		rev := f.put(state.Record{Key: "k", Value: []byte("2")})
		f.equal("record", f.get("k"), state.Record{Key: "k", Value: []byte("2"), Rev: rev})
		f.equal("index", f.keys("o", 10), []string(nil))
	}},
	{"keys are compared bytewise", func(f *fixture) {
		for _, key := range []string{"a", "A", "a ", "ä", "a\xff", "1", "01", strings.Repeat("k", state.MaxName)} {
			f.putIf(state.Record{Key: key, Value: []byte(key)}, state.IfAbsent)
		}
		f.equal("value", string(f.get("a ").Value), "a ")
		f.equal("value", string(f.get("01").Value), "01")
	}},
	{"delete removes", func(f *fixture) {
		f.put(state.Record{Key: "k", Owner: "o", Order: "x"})
		f.delete("k", state.Always)
		f.absent("k")
		f.equal("index", f.keys("o", 10), []string(nil))
	}},
	{"deleting what is absent is no error", func(f *fixture) {
		f.delete("nothing", state.Always)
		f.delete("nothing", state.IfAbsent)
	}},
	{"bad records are invalid and change nothing", func(f *fixture) {
		f.put(state.Record{Key: "k", Value: []byte("old")})
		long := strings.Repeat("x", state.MaxName+1)
		for _, rec := range []state.Record{
			{Key: ""},
			{Key: "a\x00b"},
			{Key: long},
			{Key: "k", Owner: "a\x00b"},
			{Key: "k", Owner: long},
			{Key: "k", Owner: "o", Order: "a\x00b"},
			{Key: "k", Owner: "o", Order: long},
			{Key: "k", Value: make([]byte, state.MaxValue+1)},
		} {
			f.refusePut(rec, state.Always, state.ErrInvalid)
		}
		f.equal("value", string(f.get("k").Value), "old")
		if _, err := f.store.Get(f.Context(), ""); !errors.Is(err, state.ErrInvalid) {
			f.Errorf("get of the empty key: %v", err)
		}
		if err := f.store.Delete(f.Context(), "", state.Always); !errors.Is(err, state.ErrInvalid) {
			f.Errorf("delete of the empty key: %v", err)
		}
	}},
}

var conditionCases = []testCase{
	{"the zero condition is absent", func(f *fixture) {
		var cond state.Cond
		f.putIf(state.Record{Key: "k"}, cond)
		f.refusePut(state.Record{Key: "k"}, cond, state.ErrConflict)
		f.refusePut(state.Record{Key: "k"}, state.IfRev(0), state.ErrConflict)
	}},
	{"put at a revision", func(f *fixture) {
		first := f.putIf(state.Record{Key: "k", Value: []byte("1")}, state.IfAbsent)
		second := f.putIf(state.Record{Key: "k", Value: []byte("2")}, state.IfRev(first))
		f.refusePut(state.Record{Key: "k", Value: []byte("3")}, state.IfRev(first), state.ErrConflict)
		f.refusePut(state.Record{Key: "k", Value: []byte("3")}, state.IfRev(math.MaxInt64), state.ErrConflict)
		f.equal("record", f.get("k"), state.Record{Key: "k", Value: []byte("2"), Rev: second})
	}},
	{"put at a revision needs a record", func(f *fixture) {
		f.refusePut(state.Record{Key: "k"}, state.IfRev(1), state.ErrConflict)
		f.absent("k")
	}},
	{"delete at a revision", func(f *fixture) {
		first := f.put(state.Record{Key: "k"})
		second := f.put(state.Record{Key: "k"})
		for _, cond := range []state.Cond{state.IfRev(first), state.IfAbsent} {
			if err := f.store.Delete(f.Context(), "k", cond); !errors.Is(err, state.ErrConflict) {
				f.Fatalf("delete: got error %v, want %v", err, state.ErrConflict)
			}
		}
		f.delete("k", state.IfRev(second))
		f.absent("k")
		if err := f.store.Delete(f.Context(), "k", state.IfRev(second)); !errors.Is(err, state.ErrConflict) {
			f.Fatalf("second delete: got error %v, want %v", err, state.ErrConflict)
		}
	}},
	{"revisions of a key only grow, across deletion and expiry", func(f *fixture) {
		last := f.put(state.Record{Key: "k"})
		grown := func(rev state.Rev) {
			f.Helper()
			if rev <= last {
				f.Fatalf("revision %d follows %d", rev, last)
			}
			last = rev
		}
		grown(f.put(state.Record{Key: "k"}))
		f.delete("k", state.Always)
		grown(f.putIf(state.Record{Key: "k", Expires: f.in(Life)}, state.IfAbsent))
		f.clock.Advance(10 * Life)
		grown(f.putIf(state.Record{Key: "k"}, state.IfAbsent))
	}},
	{"of many creators one wins", func(f *fixture) {
		winners, conflicts := race(f, state.IfAbsent)
		f.equal("winners", winners, 1)
		f.equal("conflicts", conflicts, racers-1)
	}},
	{"of many updaters one wins", func(f *fixture) {
		rev := f.put(state.Record{Key: "k"})
		winners, conflicts := race(f, state.IfRev(rev))
		f.equal("winners", winners, 1)
		f.equal("conflicts", conflicts, racers-1)
	}},
	{"no update is lost among compare-and-set loops", func(f *fixture) {
		const each = 8
		f.put(state.Record{Key: "k"})
		var wg sync.WaitGroup
		for range racers {
			wg.Go(func() {
				for range each {
					if err := appendByte(f.Context(), f.store, "k"); err != nil {
						f.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		f.equal("updates", len(f.get("k").Value), racers*each)
	}},
}

const racers = 16

// race lets many writers put under one condition and counts the outcomes.
func race(f *fixture, cond state.Cond) (winners, conflicts int) {
	f.Helper()
	results := make(chan error, racers)
	var start, wg sync.WaitGroup
	start.Add(1)
	for range racers {
		wg.Go(func() {
			start.Wait()
			_, err := f.store.Put(f.Context(), state.Record{Key: "k"}, cond)
			results <- err
		})
	}
	start.Done()
	wg.Wait()
	close(results)
	for err := range results {
		switch {
		case err == nil:
			winners++
		case errors.Is(err, state.ErrConflict):
			conflicts++
		default:
			f.Errorf("put: %v", err)
		}
	}
	return winners, conflicts
}

// appendByte lengthens a value by one, by compare-and-set until it succeeds.
func appendByte(ctx context.Context, store state.Store, key string) error {
	for {
		rec, err := store.Get(ctx, key)
		if err != nil {
			return err
		}
		rec.Value = append(rec.Value, '.')
		_, err = store.Put(ctx, rec, state.IfRev(rec.Rev))
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
}
