package statetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var topicCases = []testCase{
	{"publishing to nobody is no error", func(f *fixture) {
		f.publish("t", "x")
	}},
	{"each subscriber gets each message in order", func(f *fixture) {
		subs := []state.Subscription{f.subscribe("t"), f.subscribe("t")}
		for i := range state.MinBuffer {
			f.publish("t", fmt.Sprint(i))
		}
		for _, sub := range subs {
			for i := range state.MinBuffer {
				f.equal("event", f.receive(sub), state.Event{Payload: []byte(fmt.Sprint(i))})
			}
		}
	}},
	{"topics are apart, and what came before is not delivered", func(f *fixture) {
		f.publish("t", "before")
		sub := f.subscribe("t")
		f.publish("T", "other")
		f.publish("t", "mine")
		f.equal("event", f.receive(sub), state.Event{Payload: []byte("mine")})
	}},
	{"an empty message is a message", func(f *fixture) {
		sub := f.subscribe("empty")
		f.publish("empty", "")
		event := f.receive(sub)
		f.equal("length", len(event.Payload), 0)
		f.equal("lagged", event.Lagged, false)
	}},
	{"the publisher may reuse its buffer", func(f *fixture) {
		sub := f.subscribe("t")
		payload := []byte("first")
		if err := f.store.Publish(f.Context(), "t", payload); err != nil {
			f.Fatal(err)
		}
		copy(payload, "other")
		f.equal("event", f.receive(sub), state.Event{Payload: []byte("first")})
	}},
	{"a slow subscriber does not stop the publisher and learns of the gap", slowSubscriber},
	{"a subscriber sees the write that precedes the message", func(f *fixture) {
		sub := f.subscribe("t")
		f.put(state.Record{Key: "k", Value: []byte("v")})
		f.publish("t", "k")
		f.equal("value", string(f.get(string(f.receive(sub).Payload)).Value), "v")
	}},
	{"a closed subscription ends", func(f *fixture) {
		sub := f.subscribe("t")
		other := f.subscribe("t")
		sub.Close()
		sub.Close()
		f.publish("t", "x")
		if event, open := <-sub.Events(); open {
			f.Fatalf("event %v after closing", event)
		}
		f.equal("event", f.receive(other), state.Event{Payload: []byte("x")})
	}},
	{"bad topics are invalid", func(f *fixture) {
		if err := f.store.Publish(f.Context(), "", nil); !errors.Is(err, state.ErrInvalid) {
			f.Errorf("publish: got error %v", err)
		}
		if _, err := f.store.Subscribe(f.Context(), ""); !errors.Is(err, state.ErrInvalid) {
			f.Errorf("subscribe: got error %v", err)
		}
	}},
}

// slowSubscriber floods a subscription that nobody reads, twice, and expects the
// beginning without a gap, the announcement, and then the present again.
func slowSubscriber(f *fixture) {
	sub := f.subscribe("t")
	for range 2 {
		const flood = 20_000
		for i := range flood {
			f.publish("t", fmt.Sprint(i))
		}
		kept := 0
		for event := f.receive(sub); !event.Lagged; event = f.receive(sub) {
			f.equal("event", string(event.Payload), fmt.Sprint(kept))
			kept++
		}
		if kept < state.MinBuffer || kept >= flood {
			f.Fatalf("%d messages were kept, want at least %d and less than all", kept, state.MinBuffer)
		}
		// Whatever else of the flood comes is followed by the present, which may
		// fall victim to the rest of it.
		f.publish("t", "now")
		for event := f.receive(sub); string(event.Payload) != "now"; event = f.receive(sub) {
			if event.Lagged {
				f.publish("t", "now")
			} else if kept++; kept > flood {
				f.Fatal("more messages came than were published")
			}
		}
	}
}

var lifecycleCases = []testCase{
	{"an ended context ends the call and writes nothing", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.Context())
		cancel()
		_, put := f.store.Put(ctx, state.Record{Key: "k"}, state.Always)
		_, get := f.store.Get(ctx, "k")
		_, list := f.store.List(ctx, "o", state.Pos{}, 1)
		_, acquire := f.store.Acquire(ctx, "l", "me", time.Second)
		_, subscribe := f.store.Subscribe(ctx, "t")
		for name, err := range map[string]error{
			"put": put, "get": get, "list": list, "acquire": acquire, "subscribe": subscribe,
			"delete":  f.store.Delete(ctx, "k", state.Always),
			"publish": f.store.Publish(ctx, "t", nil),
		} {
			if !errors.Is(err, context.Canceled) {
				f.Errorf("%s: got error %v, want %v", name, err, context.Canceled)
			}
		}
		f.absent("k")
		f.acquire("l", "you", time.Second)
	}},
	{"after closing everything is refused and subscriptions end", func(f *fixture) {
		lease := f.acquire("l", "me", time.Minute)
		sub := f.subscribe("t")
		f.publish("t", "last")
		f.equal("event", f.receive(sub), state.Event{Payload: []byte("last")})
		for range 2 {
			if err := f.store.Close(); err != nil {
				f.Fatalf("close: %v", err)
			}
		}
		ctx := f.Context()
		_, put := f.store.Put(ctx, state.Record{Key: "k"}, state.Always)
		_, get := f.store.Get(ctx, "k")
		_, list := f.store.List(ctx, "o", state.Pos{}, 1)
		_, acquire := f.store.Acquire(ctx, "l", "me", time.Second)
		_, subscribe := f.store.Subscribe(ctx, "t")
		for name, err := range map[string]error{
			"put": put, "get": get, "list": list, "acquire": acquire, "subscribe": subscribe,
			"delete":  f.store.Delete(ctx, "k", state.Always),
			"publish": f.store.Publish(ctx, "t", nil),
			"renew":   lease.Renew(ctx, time.Second),
			"release": lease.Release(ctx),
		} {
			if !errors.Is(err, state.ErrClosed) {
				f.Errorf("%s: got error %v, want %v", name, err, state.ErrClosed)
			}
		}
		if event, open := <-sub.Events(); open {
			f.Errorf("event %v after closing", event)
		}
		sub.Close()
	}},
}
