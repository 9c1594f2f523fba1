package pool_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestClose(t *testing.T) {
	t.Run("ends all sessions but those in which something lives", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.get(alice, pool.Exclusive)
			r.get(bob, pool.Shared).Release()
			l := r.get(alice, pool.Exclusive)
			defer l.Pin()()
			l.Release()
			r.Close(t.Context())
			r.wantEnded("12")
			if !r.opened()[2].left {
				t.Error("B-U5 the pinned session was not let go")
			}
			if _, err := r.Get(t.Context(), alice, port.Hello{}, pool.Shared); !errors.Is(err, pool.ErrClosed) {
				t.Errorf("error %v", err)
			}
			if _, err := l.Do(t.Context(), port.SessionCall{}); err == nil {
				t.Error("a call was performed")
			}
		})
	})
	t.Run("those who wait are told", func(t *testing.T) {
		bubble(t, func(o *pool.Options, _ *back) { o.PerKey = 1 }, func(t *testing.T, r *rig) {
			r.get(alice, pool.Exclusive)
			failed := make(chan error, 2)
			for _, key := range []pool.Key{alice, bob} {
				go func() { _, err := r.Get(t.Context(), key, port.Hello{}, pool.Exclusive); failed <- err }()
			}
			time.Sleep(time.Second / 2)
			r.Close(t.Context())
			for range 2 {
				if err := <-failed; !errors.Is(err, pool.ErrClosed) {
					t.Errorf("error %v", err)
				}
			}
		})
	})
	t.Run("a session that is opened too late", func(t *testing.T) {
		bubble(t, func(_ *pool.Options, b *back) { b.deaf = true }, func(t *testing.T, r *rig) {
			failed := make(chan error)
			go func() { _, err := r.Get(t.Context(), alice, port.Hello{}, pool.Shared); failed <- err }()
			synctest.Wait()
			r.Close(t.Context())
			if err := <-failed; !errors.Is(err, pool.ErrClosed) {
				t.Errorf("error %v", err)
			}
			r.wantEnded("1")
		})
	})
	t.Run("in a hurry nothing is said to the server", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			r.get(alice, pool.Shared)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			r.Close(ctx)
			if s := r.opened()[0]; !s.left || s.deleted {
				t.Error("the session was not let go")
			}
		})
	})
}

func TestCloseInTheMiddle(t *testing.T) {
	tune := func(o *pool.Options, b *back) {
		o.Total, o.PerKey, o.Idle, b.takes = 4, 2, time.Millisecond, time.Microsecond
	}
	bubble(t, tune, func(t *testing.T, r *rig) {
		var wg sync.WaitGroup
		for i := range 40 {
			key, mode := []pool.Key{alice, bob, {}}[i%3], pool.Mode(i%2)
			wg.Go(func() {
				for range 20 {
					l, err := r.Get(t.Context(), key, port.Hello{}, mode)
					if err != nil {
						return
					}
					unpin := l.Pin()
					_, _ = l.Do(t.Context(), port.SessionCall{})
					if s, ok := l.Session().(*session); ok && i%5 == 0 {
						s.lose()
					}
					l.Release()
					unpin()
				}
			})
		}
		time.AfterFunc(time.Millisecond, func() { r.Close(context.Background()) })
		wg.Wait()
		r.Close(context.Background())
		for _, s := range r.opened() {
			select {
			case <-s.lost:
			default:
				t.Errorf("session %s was left open", s.ticket.ID)
			}
		}
	})
}
