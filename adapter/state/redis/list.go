package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
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
	slack := time.Duration(0)
	if s.cluster {
		slack = grace // other nodes have clocks of their own
	}
	index := s.keys.index(owner)
	answer, err := again(ctx, func() (any, error) {
		return s.run(ctx, placesScript, index[:2], from, to, limit, slack.Milliseconds())
	}, s)
	if err != nil {
		return found{}, err
	}
	texts, ok := answer.([]any)
	if !ok || len(texts) == 0 {
		return found{}, errAnswer
	}
	var places []state.Pos
	for _, text := range texts[1:] {
		raw, _ := text.(string)
		pos, ok := splitMember(raw)
		if !ok {
			return found{}, errAnswer
		}
		places = append(places, pos)
	}
	if len(places) == 0 {
		return found{}, nil
	}
	records, stale, err := s.fetch(ctx, owner, places)
	if err != nil {
		return found{}, err
	}
	if len(stale) > 0 {
		s.drop(ctx, owner, texts[0], stale)
	}
	return found{records, len(places), places[len(places)-1]}, nil
}

// fetch reads the records of places, and returns apart those places whose
// record is gone or elsewhere.
func (s *Store) fetch(ctx context.Context, owner string, places []state.Pos) (records []state.Record, stale []state.Pos, err error) {
	cmds, err := again(ctx, func() ([]*redis.SliceCmd, error) {
		pipe := s.client.Pipeline()
		cmds := make([]*redis.SliceCmd, len(places))
		for i, pos := range places {
			cmds[i] = pipe.HMGet(ctx, s.keys.record(pos.Key), "r", "e", "p", "v")
		}
		_, err := pipe.Exec(ctx)
		return cmds, err
	}, s)
	if err != nil {
		return nil, nil, err
	}
	for i, cmd := range cmds {
		rec, err := decode(places[i].Key, cmd.Val())
		switch {
		case err == nil && rec.Owner == owner && rec.Order == places[i].Order:
			records = append(records, rec)
		case err != nil && !isNotFound(err):
			return nil, nil, err
		default:
			stale = append(stale, places[i])
		}
	}
	return records, stale, nil
}

// drop removes places that were found stale after the given time of the
// server's, unless they are in use by now. What stays is found again.
func (s *Store) drop(ctx context.Context, owner string, since any, stale []state.Pos) {
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
