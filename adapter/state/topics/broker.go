package topics

import (
	"sync"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// bufferSize is how many messages wait for a subscriber before it lags.
const bufferSize = 4 * state.MinBuffer

// Broker keeps the subscriptions of one store. The zero Broker is ready.
type Broker struct {
	mu     sync.Mutex
	topics map[string]map[*subscription]struct{}
	closed bool
}

// subscription is one buffer. The broker's lock guards lagging and the sending
// and closing of events; receiving needs no lock.
type subscription struct {
	broker  *Broker
	topic   string
	events  chan state.Event
	lagging bool
}

// Publish puts one message into the buffers of the topic's subscribers, which
// share payload. It returns [state.ErrClosed] after Close.
func (b *Broker) Publish(topic string, payload []byte) error {
	return b.send(topic, state.Event{Payload: payload})
}

// Lag tells the topic's subscribers that messages were lost at this place.
func (b *Broker) Lag(topic string) error {
	return b.send(topic, state.Event{Lagged: true})
}

func (b *Broker) send(topic string, event state.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return state.ErrClosed
	}
	for sub := range b.topics[topic] {
		sub.send(event)
	}
	return nil
}

// Subscribe adds a subscriber, or returns [state.ErrClosed] after Close.
func (b *Broker) Subscribe(topic string) (state.Subscription, error) {
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

// Close ends every subscription. What is buffered can still be read.
func (b *Broker) Close() {
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
