package redis

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/topics"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// beatEvery is how often the store sends itself a message, and beatLimit
	// how long it may not come back before the connection is given up: it leads
	// to a server that stands still, or to one that is no master any more.
	beatEvery = time.Second
	beatLimit = 4 * time.Second
	// retryEvery is how often a connection is tried.
	retryEvery = 200 * time.Millisecond
	// batch bounds the channels in one command.
	batch = 512
)

// hub keeps one connection for all subscriptions of the store.
//
// What is wanted is in channels; a writer tells the server about it, and the
// server's confirmations say what is so. A channel that is confirmed again, on
// another connection, has missed something: its subscribers are told.
type hub struct {
	store  *Store
	broker topics.Broker
	beat   string // the channel of the store's own messages
	kick   chan struct{}
	doubt  chan struct{}

	mu       sync.Mutex
	started  bool
	ended    bool
	up       bool      // whether the present connection works
	down     error     // why there is none; nil while there is, and while the first is being made
	since    time.Time // when it began to work
	channels map[string]*channel
	beaten   time.Time // when the last own message came
}

// channel is one channel as it should be and as it is. The hub's lock guards
// it.
type channel struct {
	topic   string
	users   int          // subscriptions, and calls waiting to become one
	sent    bool         // whether the last command on this connection was to subscribe
	subs    int          // confirmations of subscribing that are outstanding
	unsubs  int          // and of unsubscribing
	heard   bool         // whether it was ever confirmed for the present users
	waiters []chan error // calls that wait for the confirmation
}

func newHub(s *Store) *hub {
	h := &hub{store: s, kick: make(chan struct{}, 1), doubt: make(chan struct{}, 1), channels: make(map[string]*channel)}
	return h
}

// Publish implements [state.Store].
func (s *Store) Publish(ctx context.Context, topic string, payload []byte) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.calls.Done()
	if err := state.CheckName("topic", topic); err != nil {
		return err
	}
	return s.fail(ctx, "publish", true, s.publish(ctx, s.keys.channel(topic), payload))
}

func (s *Store) publish(ctx context.Context, channel string, payload []byte) error {
	if payload == nil {
		payload = []byte{}
	}
	cmd := redis.NewCmd(ctx, "spublish", channel, payload)
	cmd.SetFirstKeyPos(1)
	return s.client.Process(ctx, once{cmd})
}

// Subscribe implements [state.Store].
func (s *Store) Subscribe(ctx context.Context, topic string) (state.Subscription, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.Done()
	if err := state.CheckName("topic", topic); err != nil {
		return nil, err
	}
	sub, err := s.hub.subscribe(ctx, topic)
	return sub, s.fail(ctx, "subscribe", false, err)
}

// subscription holds its channel until it is closed.
type subscription struct {
	state.Subscription
	hub    *hub
	topic  string
	closed sync.Once
}

// Close implements [state.Subscription].
func (s *subscription) Close() {
	s.closed.Do(func() {
		s.Subscription.Close()
		s.hub.release(s.topic)
	})
}

func (h *hub) subscribe(ctx context.Context, topic string) (state.Subscription, error) {
	// The buffer is there before the server's confirmation is.
	buffer, err := h.broker.Subscribe(topic)
	if err != nil {
		return nil, err
	}
	ready, err := h.hold(topic)
	if err != nil {
		buffer.Close()
		return nil, err
	}
	sub := &subscription{Subscription: buffer, hub: h, topic: topic}
	waiting, stop := env.WithTimeout(ctx, h.store.env, h.store.patience, context.DeadlineExceeded)
	defer stop()
	select {
	case err = <-ready:
	case <-waiting.Done():
		if err = ctx.Err(); err == nil {
			err = fmt.Errorf("%w: no confirmation", ErrUnavailable)
		}
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// hold adds a user to a topic's channel. The channel that it returns says when
// the server has confirmed it, or that it will not.
func (h *hub) hold(topic string) (<-chan error, error) {
	name := h.store.keys.channel(topic)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, state.ErrClosed
	}
	if !h.started {
		if !h.store.background(h.run) {
			return nil, state.ErrClosed
		}
		h.started = true
	}
	if h.down != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, h.down)
	}
	c := h.channels[name]
	if c == nil {
		c = &channel{topic: topic}
		h.channels[name] = c
	}
	c.users++
	ready := make(chan error, 1)
	if c.live() {
		c.heard = true // also where the server was not yet told to forget it
		ready <- nil
		return ready, nil
	}
	c.waiters = append(c.waiters, ready)
	h.wake()
	return ready, nil
}

// release takes one user away.
func (h *hub) release(topic string) {
	name := h.store.keys.channel(topic)
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.channels[name]
	if c == nil {
		return
	}
	c.users--
	if c.users == 0 {
		c.heard = false
		h.forget(name, c)
		h.wake()
	}
}

// forget drops a channel that nobody wants and the server is done with.
func (h *hub) forget(name string, c *channel) {
	if c.users == 0 && !c.sent && c.subs == 0 && c.unsubs == 0 {
		delete(h.channels, name)
	}
}

// live reports whether the server has confirmed the channel and nothing else
// was asked of it since.
func (c *channel) live() bool { return c.sent && c.subs == 0 }

// wake makes the writer look at the channels.
func (h *hub) wake() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// close ends all subscriptions. The store's context ends the connection.
func (h *hub) close() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.broker.Close()
}
