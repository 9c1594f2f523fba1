package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/internal/env"
)

var (
	errSilent = errors.New("own messages do not come back")
	errMoved  = errors.New("the slot of the messages has moved")
)

// run keeps the hub connected until the store closes.
func (h *hub) run(ctx context.Context) {
	id, err := env.NewID(h.store.env)
	if err != nil {
		id = fmt.Sprintf("%p", h) // only other stores' beats would count as own ones
	}
	h.beat = h.store.keys.channel("") + "\x00beat:" + id
	for ctx.Err() == nil {
		err := h.connection(ctx)
		worked := h.disconnected(err)
		if ctx.Err() != nil {
			return
		}
		h.store.logger.LogAttrs(ctx, slog.LevelDebug, "the connection for messages ended", slog.Any("error", err))
		h.store.reload(ctx)
		if !worked && env.Sleep(ctx, h.store.env, retryEvery) != nil {
			return
		}
	}
}

// disconnected tells those who wait, and forgets what the server knew. It
// reports whether the connection had worked for a while.
func (h *hub) disconnected(err error) (worked bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	worked = h.up && h.store.env.Now().Sub(h.since) > beatEvery
	h.up, h.down = false, err
	for name, c := range h.channels {
		c.sent, c.subs, c.unsubs = false, 0, 0
		for _, waiter := range c.waiters {
			waiter <- fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		c.waiters = nil
		h.forget(name, c)
	}
	return worked
}

// connection connects and listens until that fails.
func (h *hub) connection(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conn := h.store.client.SSubscribe(ctx)
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // unblocks reading
		_ = conn.Close() // nothing is lost with it
		close(closed)
	})
	defer func() {
		if stop() {
			_ = conn.Close() // as above
		} else {
			<-closed
		}
	}()
	if err := conn.SSubscribe(ctx, h.beat); err != nil {
		return err
	}
	h.mu.Lock()
	h.beaten = h.store.env.Now()
	h.mu.Unlock()
	h.wake()
	background := make(chan struct{}, 2)
	go func() { cancel(h.write(ctx, conn)); background <- struct{}{} }()
	go func() { cancel(h.watch(ctx)); background <- struct{}{} }()
	err := h.listen(ctx, conn)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	<-background
	<-background
	return err
}

// listen reads until the connection fails.
func (h *hub) listen(ctx context.Context, conn *redis.PubSub) error {
	for {
		message, err := conn.ReceiveTimeout(ctx, beatLimit)
		if err != nil {
			return err
		}
		switch m := message.(type) {
		case *redis.Message:
			h.message(m)
		case *redis.Subscription:
			if err := h.confirmed(m); err != nil {
				return err
			}
		}
	}
}

func (h *hub) message(m *redis.Message) {
	if m.Channel == h.beat {
		h.mu.Lock()
		h.beaten = h.store.env.Now()
		h.mu.Unlock()
		return
	}
	if topic, ok := h.store.keys.topic(m.Channel); ok {
		_ = h.broker.Publish(topic, []byte(m.Payload)) // fails once the store is closed
	}
}

// confirmed takes in what the server says about a channel.
func (h *hub) confirmed(m *redis.Subscription) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.channels[m.Channel]
	switch {
	case m.Channel == h.beat && m.Kind == "ssubscribe":
		h.up, h.down, h.since = true, nil, h.store.env.Now()
	case m.Channel == h.beat:
		return errMoved
	case c == nil:
	case m.Kind == "sunsubscribe" && c.unsubs == 0:
		return errMoved // nobody asked for that
	case m.Kind == "sunsubscribe":
		c.unsubs--
		h.forget(m.Channel, c)
	case m.Kind == "ssubscribe" && c.subs > 0:
		c.subs--
		if c.live() {
			h.alive(c)
		}
		h.forget(m.Channel, c)
	}
	return nil
}

// alive tells the users of a channel that it is confirmed: those who wait for
// it the first time, and those who were cut off.
func (h *hub) alive(c *channel) {
	if c.heard {
		_ = h.broker.Lag(c.topic) // fails once the store is closed
	}
	c.heard = c.users > 0
	for _, waiter := range c.waiters {
		waiter <- nil
	}
	c.waiters = nil
}

// write tells the server which channels are wanted.
func (h *hub) write(ctx context.Context, conn *redis.PubSub) error {
	for {
		select {
		case <-h.kick:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for more := true; more; {
			var add, remove []string
			add, remove, more = h.changes()
			if len(remove) > 0 {
				if err := conn.SUnsubscribe(ctx, remove...); err != nil {
					return err
				}
			}
			if len(add) > 0 {
				if err := conn.SSubscribe(ctx, add...); err != nil {
					return err
				}
			}
		}
	}
}

// changes takes up to a batch of channels of which the server must be told.
func (h *hub) changes() (add, remove []string, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, c := range h.channels {
		if len(add) == batch || len(remove) == batch {
			return add, remove, true
		}
		switch {
		case c.users > 0 && !c.sent:
			c.sent = true
			c.subs++
			add = append(add, name)
		case c.users == 0 && c.sent:
			c.sent = false
			c.unsubs++
			remove = append(remove, name)
		}
	}
	return add, remove, false
}

// watch sends the store messages of its own, which go the way of all others,
// and returns an error when that fails or they stop to come.
func (h *hub) watch(ctx context.Context) error {
	for {
		if err := h.store.publish(ctx, h.beat, nil); err != nil {
			return err
		}
		timer := h.store.env.NewTimer(beatEvery)
		select {
		case <-timer.C:
		case <-h.doubt:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		h.mu.Lock()
		silent := h.store.env.Now().Sub(h.beaten) > beatLimit
		h.mu.Unlock()
		if silent {
			return errSilent
		}
	}
}

// test makes the hub look at its connection now: another one has failed.
func (h *hub) test() {
	select {
	case h.doubt <- struct{}{}:
	default:
	}
}
