package probe

import (
	"context"
	"sync"
)

// flights lets concurrent callers of one key share one piece of work. Unlike
// the usual single flight it does not belong to the first caller: it goes on
// while anybody waits, and ends when nobody does.
type flights[K comparable, V any] struct {
	mu      sync.Mutex
	current map[K]*flight[V]
}

type flight[V any] struct {
	done    chan struct{}
	value   V
	err     error
	waiters int
	cancel  context.CancelCauseFunc
}

// do returns what work returns, which runs once for all that wait for key, or
// the cause of ctx.
func (f *flights[K, V]) do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	current := f.join(ctx, key, work)
	select {
	case <-current.done:
		return current.value, current.err
	case <-ctx.Done():
		f.leave(key, current, context.Cause(ctx))
		var none V
		return none, context.Cause(ctx)
	}
}

func (f *flights[K, V]) join(ctx context.Context, key K, work func(context.Context) (V, error)) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	current := f.current[key]
	if current == nil {
		current = &flight[V]{done: make(chan struct{})}
		var shared context.Context
		shared, current.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		if f.current == nil {
			f.current = map[K]*flight[V]{}
		}
		f.current[key] = current
		go func() {
			current.value, current.err = work(shared)
			f.forget(key, current)
			close(current.done)
			current.cancel(context.Canceled)
		}()
	}
	current.waiters++
	return current
}

func (f *flights[K, V]) leave(key K, current *flight[V], cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if current.waiters--; current.waiters == 0 {
		current.cancel(cause)
		f.drop(key, current)
	}
}

func (f *flights[K, V]) forget(key K, current *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(key, current)
}

// drop needs the lock.
func (f *flights[K, V]) drop(key K, current *flight[V]) {
	if f.current[key] == current {
		delete(f.current, key)
	}
}
