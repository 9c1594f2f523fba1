package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// pageSize is how many places are looked at together. Their values are read in
// one go.
const pageSize = 128

// List implements [state.Store].
func (s *Store) List(ctx context.Context, owner string, after state.Pos, limit int) ([]state.Record, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.Done()
	if err := state.CheckName("owner", owner); err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, fmt.Errorf("%w: limit: %d", state.ErrInvalid, limit)
	}
	var page []state.Record
	for {
		want := min(limit-len(page), pageSize)
		found, err := s.look(ctx, owner, "("+member(after), "+", want)
		if err != nil {
			return nil, s.fail(ctx, "list", false, err)
		}
		page = append(page, found.records...)
		if len(page) == limit || found.places < want {
			return page, nil
		}
		after = found.last
	}
}

// found is a piece of an index.
type found struct {
	records []state.Record
	places  int       // how many there were, with or without a record
	last    state.Pos // the last of them
}

// look reads up to limit places of an owner between two bounds, and their
// records. Places without one are dropped.
func (s *Store) look(ctx context.Context, owner, from, to string, limit int) (found, error) {
	places, now, err := s.places(ctx, owner, from, to, limit)
	if err != nil || len(places) == 0 {
		return found{}, err
	}
	texts, err := s.fetch(ctx, places, -1)
	if err != nil {
		return found{}, err
	}
	var records []state.Record
	var stale []state.Pos
	for i, text := range texts {
		pos := places[i]
		if text == "" {
			stale = append(stale, pos)
			continue
		}
		rec, err := decode(pos.Key, text)
		switch {
		case err != nil:
			return found{}, err
		case rec.Owner == owner && rec.Order == pos.Order:
			records = append(records, rec)
		default:
			stale = append(stale, pos)
		}
	}
	s.drop(ctx, owner, now, stale)
	return found{records, len(places), places[len(places)-1]}, nil
}

// places reads places of an owner, and the time of their server before.
func (s *Store) places(ctx context.Context, owner, from, to string, limit int) (places []state.Pos, now string, err error) {
	answer, err := again(ctx, func() (any, error) {
		return s.run(ctx, placesScript, s.keys.index(owner)[:1], from, to, limit)
	}, s)
	if err != nil {
		return nil, "", err
	}
	texts, ok := answer.([]any)
	if !ok || len(texts) == 0 {
		return nil, "", errAnswer
	}
	now, _ = texts[0].(string)
	for _, text := range texts[1:] {
		raw, _ := text.(string)
		pos, ok := splitMember(raw)
		if !ok {
			return nil, "", errAnswer
		}
		places = append(places, pos)
	}
	return places, now, nil
}

// fetch reads the records of places, up to the given byte or to the end for -1.
// A record that is not there is empty.
func (s *Store) fetch(ctx context.Context, places []state.Pos, last int64) ([]string, error) {
	return again(ctx, func() ([]string, error) {
		pipe := s.client.Pipeline()
		cmds := make([]*redis.StringCmd, len(places))
		for i, pos := range places {
			cmds[i] = pipe.GetRange(ctx, s.keys.record(pos.Key), 0, last)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		texts := make([]string, len(cmds))
		for i, cmd := range cmds {
			texts[i] = cmd.Val()
		}
		return texts, nil
	}, s)
}

// drop removes places that were found stale after the given time of the
// server's, unless they are in use by now. What stays is found again.
func (s *Store) drop(ctx context.Context, owner, since string, stale []state.Pos) {
	if len(stale) == 0 {
		return
	}
	keys := s.keys.index(owner)
	args := []any{since, lookLimit.Milliseconds()}
	for _, pos := range stale {
		if !s.cluster {
			keys = append(keys, s.keys.record(pos.Key))
		}
		args = append(args, member(pos), place(owner, pos.Order))
	}
	if _, err := s.run(ctx, dropScript, keys, args...); err != nil {
		s.logger.DebugContext(ctx, "stale places of an index stay for a while", "error", err)
	}
}

const (
	// sweepEvery is the number of writes after which an index is swept, and
	// sweepSize how many of its places are looked at then: two for each write.
	// When half of an index is stale, writes thus remove as much as they add,
	// also where nobody ever lists.
	sweepEvery = 64
	sweepSize  = 2 * sweepEvery
	// sweepFor bounds a sweep.
	sweepFor = 10 * time.Second
)

// sweep drops stale places of an owner in the background, beginning anywhere.
// It is left out if another one runs.
func (s *Store) sweep(owner string) {
	if !s.sweeping.CompareAndSwap(false, true) {
		return
	}
	running := s.background(func(ctx context.Context) {
		defer s.sweeping.Store(false)
		ctx, cancel := env.WithTimeout(ctx, s.env, sweepFor, context.DeadlineExceeded)
		defer cancel()
		if err := s.sweepSome(ctx, owner); err != nil {
			s.logger.DebugContext(ctx, "an index was not swept", "error", err)
		}
	})
	if !running {
		s.sweeping.Store(false)
	}
}

func (s *Store) sweepSome(ctx context.Context, owner string) error {
	places, now, err := s.places(ctx, owner, "", "+", sweepSize)
	if err != nil || len(places) == 0 {
		return err
	}
	// The beginning of a record tells that it is there and, unless names are
	// very long, where.
	texts, err := s.fetch(ctx, places, 255)
	if err != nil {
		return err
	}
	var stale []state.Pos
	for i, text := range texts {
		rec, err := decode(places[i].Key, text)
		if text == "" || (err == nil && (rec.Owner != owner || rec.Order != places[i].Order)) {
			stale = append(stale, places[i])
		}
	}
	s.drop(ctx, owner, now, stale)
	return nil
}
