package state

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

// listenRetry is how soon a subscription that could not be had is tried again.
const listenRetry = 500 * time.Millisecond

// Listen hands the events of a topic to hear until ctx ends or the store is closed. A
// store that cannot be reached is tried again until it can; what was missed meanwhile
// shows as an [Event] that says so. Trouble is told once of each time without a
// subscription, and may be nil.
func Listen(ctx context.Context, store Store, e env.Env, topic string, hear func(Event), trouble func(error)) {
	for failing := false; ; {
		sub, err := store.Subscribe(ctx, topic)
		if err == nil {
			if failing {
				hear(Event{Lagged: true})
			}
			failing = false
			if !listen(ctx, sub, hear) {
				return
			}
			continue
		}
		if !failing && trouble != nil && ctx.Err() == nil {
			trouble(err)
		}
		failing = true
		if env.Sleep(ctx, e, listenRetry) != nil {
			return
		}
	}
}

// listen hands on the events of a subscription, and reports whether another one may
// follow.
func listen(ctx context.Context, sub Subscription, hear func(Event)) (more bool) {
	defer sub.Close()
	for {
		select {
		case e, open := <-sub.Events():
			if !open {
				return false // the store is closed
			}
			hear(e)
		case <-ctx.Done():
			return false
		}
	}
}
