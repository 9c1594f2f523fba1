package adapter_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// mortal is the store as one process has it. A process that is dead neither writes nor
// reads, says nothing and hears nothing.
type mortal struct {
	state.Store
	dead atomic.Bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) lives() error {
	if m.dead.Load() {
		return errDead
	}
	return nil
}

// Get implements [state.Store].
func (m *mortal) Get(ctx context.Context, key string) (state.Record, error) {
	if err := m.lives(); err != nil {
		return state.Record{}, err
	}
	return m.Store.Get(ctx, key)
}

// Put implements [state.Store].
func (m *mortal) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	if err := m.lives(); err != nil {
		return 0, err
	}
	return m.Store.Put(ctx, rec, cond)
}

// Delete implements [state.Store].
func (m *mortal) Delete(ctx context.Context, key string, cond state.Cond) error {
	if err := m.lives(); err != nil {
		return err
	}
	return m.Store.Delete(ctx, key, cond)
}

// List implements [state.Store].
func (m *mortal) List(ctx context.Context, owner string, after state.Pos, limit int) ([]state.Record, error) {
	if err := m.lives(); err != nil {
		return nil, err
	}
	return m.Store.List(ctx, owner, after, limit)
}

// Acquire implements [state.Store].
func (m *mortal) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (state.Lease, error) {
	if err := m.lives(); err != nil {
		return nil, err
	}
	lease, err := m.Store.Acquire(ctx, name, holder, ttl)
	if err != nil {
		return nil, err
	}
	return &mortalLease{lease, m}, nil
}

// mortalLease is a lease that a dead process does not renew.
type mortalLease struct {
	state.Lease
	m *mortal
}

// Renew implements [state.Lease].
func (l *mortalLease) Renew(ctx context.Context, ttl time.Duration) error {
	if err := l.m.lives(); err != nil {
		return err
	}
	return l.Lease.Renew(ctx, ttl)
}

// Release implements [state.Lease].
func (l *mortalLease) Release(ctx context.Context) error {
	if err := l.m.lives(); err != nil {
		return err
	}
	return l.Lease.Release(ctx)
}

// Publish implements [state.Store].
func (m *mortal) Publish(ctx context.Context, topic string, payload []byte) error {
	if err := m.lives(); err != nil {
		return err
	}
	return m.Store.Publish(ctx, topic, payload)
}

// Subscribe implements [state.Store].
func (m *mortal) Subscribe(ctx context.Context, topic string) (state.Subscription, error) {
	sub, err := m.Store.Subscribe(ctx, topic)
	if err != nil {
		return nil, err
	}
	s := &mortalSub{Subscription: sub, events: make(chan state.Event), closed: make(chan struct{})}
	go func() {
		defer close(s.events)
		for e := range sub.Events() {
			if m.dead.Load() {
				continue
			}
			select {
			case s.events <- e:
			case <-s.closed:
			}
		}
	}()
	return s, nil
}

// mortalSub is a subscription that brings a dead process nothing.
type mortalSub struct {
	state.Subscription
	events chan state.Event
	closed chan struct{}
	once   atomic.Bool
}

// Events implements [state.Subscription].
func (s *mortalSub) Events() <-chan state.Event { return s.events }

// Close implements [state.Subscription].
func (s *mortalSub) Close() {
	if !s.once.Swap(true) {
		close(s.closed)
	}
	s.Subscription.Close()
}
