package embedded

import (
	"bytes"
	"context"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// bufferSize is how many messages wait for a subscriber before it lags.
const bufferSize = 4 * state.MinBuffer

// broker hands messages around inside the process that owns the store. It has
// no goroutine: publishers put messages into the buffers of the subscribers.
type broker struct {
	mu     sync.Mutex
	topics map[string]map[*subscription]struct{}
	closed bool
}

// subscription is one buffer. The broker's lock guards lagging and the sending
// and closing of events; receiving needs no lock.
type subscription struct {
	broker  *broker
	topic   string
	events  chan state.Event
	lagging bool
}

// Publish implements [state.Store].
func (s *Store) Publish(ctx context.Context, topic string, payload []byte) error {
	if err := s.ready(ctx, "topic", topic); err != nil {
		return err
	}
	return s.topics.publish(topic, bytes.Clone(payload))
}

// Subscribe implements [state.Store].
func (s *Store) Subscribe(ctx context.Context, topic string) (state.Subscription, error) {
	if err := s.ready(ctx, "topic", topic); err != nil {
		return nil, err
	}
	return s.topics.subscribe(topic)
}

func (b *broker) publish(topic string, payload []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return state.ErrClosed
	}
	for sub := range b.topics[topic] {
		sub.send(state.Event{Payload: payload})
	}
	return nil
}

func (b *broker) subscribe(topic string) (state.Subscription, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, state.ErrClosed
	}
	// The slot beyond the buffer is for the announcement that it was full.
	sub := &subscription{broker: b, topic: topic, events: make(chan state.Event, bufferSize+1)}
	if b.topics == nil {
		b.topics = make(map[string]map[*subscription]struct{})
	}
	if b.topics[topic] == nil {
		b.topics[topic] = make(map[*subscription]struct{})
	}
	b.topics[topic][sub] = struct{}{}
	return sub, nil
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, subs := range b.topics {
		for sub := range subs {
			close(sub.events)
		}
	}
	b.topics = nil
}

// send never blocks: only the holder of the broker's lock sends, so the buffer
// can only have become emptier since it was looked at. What is dropped while
// the announcement is still unread is covered by it; once it has been read the
// buffer is empty and nothing is dropped.
func (s *subscription) send(event state.Event) {
	switch {
	case len(s.events) < bufferSize:
		s.lagging = false
		s.events <- event
	case !s.lagging:
		s.lagging = true
		s.events <- state.Event{Lagged: true}
	}
}

// Events implements [state.Subscription].
func (s *subscription) Events() <-chan state.Event { return s.events }

// Close implements [state.Subscription].
func (s *subscription) Close() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	subs := s.broker.topics[s.topic]
	if _, open := subs[s]; !open {
		return
	}
	delete(subs, s)
	if len(subs) == 0 {
		delete(s.broker.topics, s.topic)
	}
	close(s.events)
}
