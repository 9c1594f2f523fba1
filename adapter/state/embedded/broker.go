package embedded

import (
	"bytes"
	"context"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// Publish implements [state.Store]. One process owns the store, so messages
// never leave it.
func (s *Store) Publish(ctx context.Context, topic string, payload []byte) error {
	if err := s.ready(ctx, "topic", topic); err != nil {
		return err
	}
	return s.topics.Publish(topic, bytes.Clone(payload))
}

// Subscribe implements [state.Store].
func (s *Store) Subscribe(ctx context.Context, topic string) (state.Subscription, error) {
	if err := s.ready(ctx, "topic", topic); err != nil {
		return nil, err
	}
	return s.topics.Subscribe(topic)
}
