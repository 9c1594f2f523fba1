package topics_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/topics"
)

func subscribe(t *testing.T, b *topics.Broker, topic string) state.Subscription {
	t.Helper()
	sub, err := b.Subscribe(topic)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestLagIsAnnouncedInItsPlace(t *testing.T) {
	t.Parallel()
	var b topics.Broker
	sub := subscribe(t, &b, "t")
	other := subscribe(t, &b, "other")
	for _, err := range []error{b.Publish("t", []byte("1")), b.Lag("t"), b.Publish("t", []byte("2"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.Close()
	var got []state.Event
	for event := range sub.Events() {
		got = append(got, event)
	}
	want := []state.Event{{Payload: []byte("1")}, {Lagged: true}, {Payload: []byte("2")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if event, open := <-other.Events(); open {
		t.Errorf("another topic got %v", event)
	}
	if err := b.Lag("t"); !errors.Is(err, state.ErrClosed) {
		t.Errorf("lag after closing: %v", err)
	}
}

func TestLagOfAFullBufferIsOneAnnouncement(t *testing.T) {
	t.Parallel()
	var b topics.Broker
	sub := subscribe(t, &b, "t")
	for range 10 * state.MinBuffer {
		if err := errors.Join(b.Publish("t", nil), b.Lag("t")); err != nil {
			t.Fatal(err)
		}
	}
	b.Close()
	var last state.Event
	n := 0
	for last = range sub.Events() {
		n++
	}
	if !last.Lagged || n < state.MinBuffer {
		t.Errorf("%d events, the last %v", n, last)
	}
}
