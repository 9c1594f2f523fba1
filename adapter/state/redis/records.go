package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
)

const (
	// maxExpiry is an instant that Redis takes and a script computes with
	// exactly, far enough to be never.
	maxExpiry = int64(1) << 52
	// keep is how long an index outlives the last of its records, so that
	// records that follow each other do not each move its end.
	keep = time.Hour
	// grace is how long a claim protects the place of a record that is being
	// written. A write that took longer than half of it claims again.
	grace = time.Minute
	// lookLimit is how old a look at the records may be when places are dropped
	// because of it. It must be no more than a third of grace.
	lookLimit = grace / 3
)

// Get implements [state.Store].
func (s *Store) Get(ctx context.Context, key string) (state.Record, error) {
	if err := s.begin(ctx); err != nil {
		return state.Record{}, err
	}
	defer s.calls.Done()
	if err := state.CheckName("key", key); err != nil {
		return state.Record{}, err
	}
	text, err := again(ctx, func() (string, error) {
		cmd := redis.NewStringCmd(ctx, "get", s.keys.record(key))
		err := s.client.Process(ctx, onceString{cmd})
		return cmd.Val(), err
	}, s)
	if errors.Is(err, redis.Nil) {
		return state.Record{}, state.ErrNotFound
	}
	if err != nil {
		return state.Record{}, s.fail(ctx, "get", false, err)
	}
	rec, err := decode(key, text)
	if err != nil {
		return state.Record{}, fmt.Errorf("state/redis: get: %w", err)
	}
	return rec, nil
}

// preamble returns what stands between the revision and the value of a record:
// expiry in milliseconds or nothing, length of the place, place. Scripts read it
// too.
func preamble(expires, at string) string {
	return " " + expires + " " + strconv.Itoa(len(at)) + " " + at
}

// decode undoes what put has made.
func decode(key, text string) (state.Record, error) {
	digits, rest, _ := strings.Cut(text, " ")
	expires, rest, _ := strings.Cut(rest, " ")
	size, rest, ok := strings.Cut(rest, " ")
	length, err := strconv.Atoi(size)
	rev, badRev := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || badRev != nil || length < 0 || length > len(rest) {
		return state.Record{}, errBroken
	}
	rec := state.Record{Key: key, Rev: state.Rev(rev), Value: []byte(rest[length:])}
	if expires != "" {
		ms, err := strconv.ParseInt(expires, 10, 64)
		if err != nil {
			return state.Record{}, errBroken
		}
		rec.Expires = time.UnixMilli(ms).UTC()
	}
	if rec.Owner, rec.Order, ok = splitPlace(rest[:length]); !ok {
		return state.Record{}, errBroken
	}
	return rec, nil
}

// errBroken says that a key of ours holds what this package never writes.
var errBroken = errors.New("a record is not one: another program uses this prefix")

// Put implements [state.Store].
//
// In a cluster the place in the owner's index comes first, with a claim, and
// then the record. Readers skip places without their record and remove them
// once nobody claims them.
func (s *Store) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.Done()
	if err := rec.Check(); err != nil {
		return 0, err
	}
	began := s.env.Now()
	if s.cluster && rec.Owner != "" {
		if err := s.claim(ctx, rec); err != nil {
			// Nothing but a place without a record can have been written.
			return 0, s.fail(ctx, "put", false, err)
		}
	}
	rev, before, err := s.put(ctx, rec, cond)
	switch {
	case err != nil:
		return 0, s.fail(ctx, "put", true, err)
	case rev == 0:
		return 0, state.ErrConflict
	case rec.Owner != "" && s.writes.Add(1)%sweepEvery == 0:
		s.sweep(rec.Owner)
	}
	if !s.cluster {
		return rev, nil
	}
	if rec.Owner != "" && s.env.Now().Sub(began) > grace/2 {
		if err := s.claim(ctx, rec); err != nil {
			return 0, s.fail(ctx, "put", true, err)
		}
	}
	if before != "" && before != place(rec.Owner, rec.Order) {
		s.tidy(ctx, rec.Key, before)
	}
	return rev, nil
}

// put writes the record and returns its revision, 0 for a conflict, and the
// place of the record before, empty if there was none.
func (s *Store) put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, string, error) {
	at := place(rec.Owner, rec.Order)
	keys := append(make([]string, 0, 4), s.keys.record(rec.Key), s.keys.counter(rec.Key))
	shown, expires, last := instants(rec.Expires)
	args := []any{
		strconv.FormatInt(int64(cond), 10), expires, last, preamble(shown, at), rec.Value, at, rec.Key, "", "", "",
	}
	if !s.cluster {
		args[7] = s.keys.base
		if rec.Owner != "" {
			keys = append(keys, s.keys.index(rec.Owner)[0])
			args[8], args[9] = member(rec.Pos()), keep.Milliseconds()
		}
	}
	answer, err := s.run(ctx, putScript, keys, args...)
	if err != nil {
		return 0, "", err
	}
	rev, before, err := pair(answer)
	return state.Rev(rev), before, err
}

// instants returns an expiry as it is shown to readers, as scripts compare it,
// and as Redis takes it: it keeps a key until and with the given millisecond.
// All are empty for never.
func instants(t time.Time) (shown, expires, last string) {
	if t.IsZero() {
		return "", "", ""
	}
	ms := min(t.UnixMilli(), maxExpiry)
	return strconv.FormatInt(t.UnixMilli(), 10), strconv.FormatInt(ms, 10), strconv.FormatInt(ms-1, 10)
}

// claim enters the record's place in the index of its owner, in a cluster.
func (s *Store) claim(ctx context.Context, rec state.Record) error {
	_, expires, _ := instants(rec.Expires)
	_, err := s.run(ctx, claimScript, s.keys.index(rec.Owner),
		member(rec.Pos()), expires, keep.Milliseconds(), grace.Milliseconds())
	return err
}

// Delete implements [state.Store].
func (s *Store) Delete(ctx context.Context, key string, cond state.Cond) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.calls.Done()
	if err := state.CheckName("key", key); err != nil {
		return err
	}
	base := s.keys.base
	if s.cluster {
		base = ""
	}
	answer, err := s.run(ctx, deleteScript, []string{s.keys.record(key)}, strconv.FormatInt(int64(cond), 10), key, base)
	if err != nil {
		return s.fail(ctx, "delete", true, err)
	}
	done, before, err := pair(answer)
	switch {
	case err != nil:
		return s.fail(ctx, "delete", true, err)
	case done == 0:
		return state.ErrConflict
	case s.cluster && before != "":
		s.tidy(ctx, key, before)
	}
	return nil
}

// tidy removes the place that a record has left, in a cluster. What it cannot
// remove now, readers of the list and the place's own end will.
func (s *Store) tidy(ctx context.Context, key, before string) {
	owner, order, ok := splitPlace(before)
	if !ok || owner == "" {
		return
	}
	only := "[" + member(state.Pos{Order: order, Key: key})
	_, err := s.look(ctx, owner, only, only, 1)
	if err != nil {
		s.logger.DebugContext(ctx, "a place of a deleted record stays for a while", "error", err)
	}
}

// pair reads the answer of a script: a number, possibly as digits, and a text.
func pair(answer any) (n int64, text string, err error) {
	parts, ok := answer.([]any)
	if !ok || len(parts) != 2 {
		return 0, "", errAnswer
	}
	switch first := parts[0].(type) {
	case int64:
		n = first
	case string:
		if n, err = strconv.ParseInt(first, 10, 64); err != nil {
			return 0, "", errAnswer
		}
	default:
		return 0, "", errAnswer
	}
	if text, ok = parts[1].(string); !ok {
		return 0, "", errAnswer
	}
	return n, text, nil
}

// errAnswer says that a script has answered what it never does.
var errAnswer = errors.New("unexpected answer of a script")

// onceString is [once] for a command with a text for an answer.
type onceString struct{ *redis.StringCmd }

// NoRetry tells the client, whose own way to try again waits too long.
func (onceString) NoRetry() bool { return true }

// again reads, and once more if a connection broke under the first attempt,
// which is how a restart of Redis shows itself.
func again[T any](ctx context.Context, read func() (T, error), s *Store) (T, error) {
	got, err := read()
	if err != nil && (cut(err) || replies(err, "READONLY ")) && ctx.Err() == nil {
		s.reload(ctx)
		got, err = read()
	}
	return got, err
}
