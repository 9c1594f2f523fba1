package flight

import (
	"context"
	"sync"
)

// Group holds the work in progress, by key. The zero value is ready to use. It is
// safe for concurrent use.
type Group[K comparable, V any] struct {
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

// Do returns what work returns, which runs once for all that wait for key, or
// the cause of ctx.
func (g *Group[K, V]) Do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	current := g.join(ctx, key, work)
	select {
	case <-current.done:
		return current.value, current.err
	case <-ctx.Done():
		g.leave(key, current, context.Cause(ctx))
		var none V
		return none, context.Cause(ctx)
	}
}

func (g *Group[K, V]) join(ctx context.Context, key K, work func(context.Context) (V, error)) *flight[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	current := g.current[key]
	if current == nil {
		current = &flight[V]{done: make(chan struct{})}
		var shared context.Context
		shared, current.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		if g.current == nil {
			g.current = map[K]*flight[V]{}
		}
		g.current[key] = current
		go func() {
			current.value, current.err = work(shared)
			g.forget(key, current)
			close(current.done)
			current.cancel(context.Canceled)
		}()
	}
	current.waiters++
	return current
}

func (g *Group[K, V]) leave(key K, current *flight[V], cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if current.waiters--; current.waiters == 0 {
		current.cancel(cause)
		g.drop(key, current)
	}
}

func (g *Group[K, V]) forget(key K, current *flight[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(key, current)
}

// drop needs the lock.
func (g *Group[K, V]) drop(key K, current *flight[V]) {
	if g.current[key] == current {
		delete(g.current, key)
	}
}
