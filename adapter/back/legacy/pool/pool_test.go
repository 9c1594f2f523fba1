package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestGet(t *testing.T) {
	t.Run("B-U1 a session is for one principal and one set of capabilities", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			keys := []pool.Key{alice, bob, {Principal: "alice", Capabilities: `{"roots":{}}`}}
			for range 2 {
				for i, key := range keys {
					if l := r.get(key, pool.Shared); id(l) != string(rune('1'+i)) || l.Member().Key() != key {
						t.Errorf("%v got session %s of %v", key, id(l), l.Member().Key())
					}
				}
			}
			r.want(3)
		})
	})
	t.Run("one opening serves all who wait for it", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			begun := time.Now()
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { r.get(alice, pool.Shared) })
			}
			wg.Go(func() { r.get(alice, pool.Exclusive) })
			wg.Wait()
			r.want(1)
			if took := time.Since(begun); took != time.Second {
				t.Errorf("took %v", took)
			}
		})
	})
	t.Run("so does its failure, and the next try is another", func(t *testing.T) {
		bubble(t, func(_ *pool.Options, b *back) { b.fails = errRefused }, func(t *testing.T, r *rig) {
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					if _, err := r.Get(t.Context(), alice, port.Hello{}, pool.Shared); !errors.Is(err, errRefused) {
						t.Errorf("error %v", err)
					}
				})
			}
			wg.Wait()
			r.want(1)
			r.back.fails = nil
			r.get(alice, pool.Shared)
			r.want(2)
		})
	})
	t.Run("one that gives up does not end the opening for others", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			failed := make(chan error)
			go func() { _, err := r.Get(ctx, alice, port.Hello{}, pool.Exclusive); failed <- err }()
			synctest.Wait()
			l := r.get(alice, pool.Shared)
			if err := <-failed; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if l.Member().Holder() != nil {
				t.Error("the session is held by a call that has given up")
			}
			r.get(alice, pool.Exclusive)
			r.want(1)
		})
	})
}

func TestExclusive(t *testing.T) {
	t.Run("B-U6 a call that may be asked has a session that no other such call has", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			one, two := r.get(alice, pool.Exclusive), r.get(alice, pool.Exclusive)
			if id(one) == id(two) || one.Member().Holder() != one || two.Member().Holder() != two {
				t.Errorf("sessions %s and %s", id(one), id(two))
			}
			if shared := r.get(alice, pool.Shared); id(shared) != "1" {
				t.Errorf("a call that is never asked got session %s", id(shared))
			}
			two.Release()
			two.Release()
			if again := r.get(alice, pool.Exclusive); id(again) != id(two) {
				t.Errorf("session %s, want the one that was given back", id(again))
			}
			r.want(2)
		})
	})
	t.Run("B-U6 with their number bounded, the next one waits", func(t *testing.T) {
		bubble(t, func(o *pool.Options, _ *back) { o.PerKey = 2 }, func(t *testing.T, r *rig) {
			first := r.get(alice, pool.Exclusive)
			r.get(alice, pool.Exclusive)
			got := make(chan *pool.Lease)
			go func() { got <- r.get(alice, pool.Exclusive) }()
			time.Sleep(10 * time.Second)
			first.Release()
			if l := <-got; id(l) != "1" {
				t.Errorf("got session %s", id(l))
			}
			begun := time.Now()
			_, err := r.Get(t.Context(), alice, port.Hello{}, pool.Exclusive)
			if took := time.Since(begun); !errors.Is(err, pool.ErrBusy) || took != 30*time.Second {
				t.Errorf("G-8 error %v after %v", err, took)
			}
			r.get(bob, pool.Exclusive)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := r.Get(ctx, alice, port.Hello{}, pool.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			r.want(3)
		})
	})
}

func TestExclusiveBesideTasks(t *testing.T) {
	bubble(t, func(o *pool.Options, _ *back) { o.PerKey = 2 }, func(t *testing.T, r *rig) {
		one := r.get(alice, pool.Exclusive)
		unpin := one.Pin()
		one.Release()
		if shared := r.get(alice, pool.Shared); id(shared) != "1" {
			t.Errorf("a call that is never asked got session %s", id(shared))
		}
		two := r.get(alice, pool.Exclusive)
		if id(two) != "2" {
			t.Error("B-U6 a question could be the task's or the call's")
		}
		if three := r.get(alice, pool.Exclusive); id(three) != "1" {
			t.Errorf("with their number bounded: session %s", id(three))
		} else {
			three.Release()
		}
		unpin()
		two.Pin()
		two.Release()
		if four := r.get(alice, pool.Exclusive); id(four) != "1" {
			t.Errorf("B-U6 session %s, want the one in which nothing lives any more", id(four))
		}
		r.want(2)
	})
}

func TestManyTasks(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		for range 20 {
			l := r.get(alice, pool.Exclusive)
			l.Pin()
			l.Release()
		}
		r.want(8) // a session for each task would be too many
	})
}

func TestSingle(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.get(alice, pool.Shared)
		one, two := r.get(alice, pool.Single), r.get(alice, pool.Single)
		if id(one) != "2" || id(two) != "3" || one.Member().Holder() != one {
			t.Errorf("sessions %s and %s", id(one), id(two))
		}
		if got := id(r.get(alice, pool.Exclusive)) + id(r.get(alice, pool.Shared)); got != "11" {
			t.Errorf("sessions %s, want none that is for one lease alone", got)
		}
		r.wantEnded("")
		one.Release()
		r.wantEnded("") // an answer may be under way still (B-P3)
		time.Sleep(2 * time.Second)
		r.wantEnded("2")
		unpin := two.Pin()
		two.Release()
		time.Sleep(2 * time.Second)
		r.wantEnded("2")
		again, err := r.Resume(t.Context(), alice, two.Session().Ticket(), port.Hello{})
		if err != nil || again.Member() != two.Member() {
			t.Errorf("session %s, error %v", id(again), err)
		}
		unpin()
		r.wantEnded("2")
		again.Release()
		time.Sleep(2 * time.Second)
		r.wantEnded("23")
		late := r.get(alice, pool.Single)
		late.Linger()
		late.Release()
		time.Sleep(4 * time.Minute)
		r.wantEnded("23")
		time.Sleep(time.Minute)
		r.wantEnded("234")
		lost := r.get(alice, pool.Single)
		r.opened()[4].lose()
		if got, err := lost.Do(t.Context(), port.SessionCall{}); got != `"6"` || err != nil {
			t.Errorf("B-U4 result %s, error %v", got, err)
		}
		lost.Release()
		time.Sleep(2 * time.Second)
		r.wantEnded("23456")
	})
}

func TestIdle(t *testing.T) {
	t.Run("B-U5 a session that nobody uses is closed in the end", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			l := r.get(alice, pool.Shared)
			time.Sleep(time.Hour)
			l.Release()
			time.Sleep(4 * time.Minute)
			r.get(alice, pool.Exclusive).Release()
			time.Sleep(4 * time.Minute)
			r.wantEnded("")
			time.Sleep(time.Minute)
			r.wantEnded("1")
			r.get(alice, pool.Shared)
			r.want(2)
		})
	})
	t.Run("B-U5 not while something lives in it", func(t *testing.T) {
		bubble(t, func(o *pool.Options, _ *back) { o.Total = 1; o.Wait = time.Second }, func(t *testing.T, r *rig) {
			l := r.get(alice, pool.Shared)
			task, call := l.Pin(), l.Pin()
			l.Release()
			time.Sleep(time.Hour)
			task()
			task()
			time.Sleep(time.Hour)
			if _, err := r.Get(t.Context(), bob, port.Hello{}, pool.Shared); !errors.Is(err, pool.ErrBusy) {
				t.Errorf("error %v", err)
			}
			r.wantEnded("")
			call()
			time.Sleep(5 * time.Minute)
			r.wantEnded("1")
		})
	})
	t.Run("a session that nobody waited for", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, _ = r.Get(ctx, alice, port.Hello{}, pool.Shared)
			time.Sleep(10 * time.Minute)
			r.wantEnded("1")
		})
	})
}

func TestCeiling(t *testing.T) {
	tune := func(o *pool.Options, b *back) { o.Total = 3; o.Wait = time.Minute; b.takes = 0 }
	key := func(name string) pool.Key { return pool.Key{Principal: name} }
	t.Run("the session that has been idle for the longest makes room", func(t *testing.T) {
		bubble(t, tune, func(t *testing.T, r *rig) {
			one, two := r.get(key("a"), pool.Shared), r.get(key("b"), pool.Shared)
			r.get(key("c"), pool.Shared)
			two.Release()
			time.Sleep(time.Second)
			one.Release()
			time.Sleep(time.Second)
			r.get(key("d"), pool.Shared)
			r.wantEnded("2")
			r.get(key("e"), pool.Shared)
			r.wantEnded("12")
		})
	})
	t.Run("when none can, the next one waits", func(t *testing.T) {
		bubble(t, tune, func(t *testing.T, r *rig) {
			last := r.get(key("a"), pool.Shared)
			r.get(key("b"), pool.Shared)
			r.get(key("c"), pool.Shared)
			time.AfterFunc(time.Second, last.Release)
			begun := time.Now()
			r.get(key("d"), pool.Shared)
			if took := time.Since(begun); took != time.Second {
				t.Errorf("took %v", took)
			}
			if _, err := r.Get(t.Context(), key("e"), port.Hello{}, pool.Shared); !errors.Is(err, pool.ErrBusy) {
				t.Errorf("error %v", err)
			}
			r.want(4)
		})
	})
	t.Run("sessions that are lost do not count", func(t *testing.T) {
		bubble(t, tune, func(t *testing.T, r *rig) {
			for _, name := range []string{"a", "b", "c"} {
				l := r.get(key(name), pool.Shared)
				l.Pin()
				l.Release()
			}
			r.opened()[1].lose()
			r.get(key("d"), pool.Shared)
			r.want(4)
		})
	})
}

// TestStrangers: sessions for one call alone are a part of all only, and so many are
// opened at a time.
func TestStrangers(t *testing.T) {
	key := func(n int) pool.Key { return pool.Key{Principal: fmt.Sprint("anonymous ", n)} }
	t.Run("a crowd of strangers leaves room for others", func(t *testing.T) {
		bubble(t, func(o *pool.Options, _ *back) { o.Total = 8; o.Wait = time.Minute }, func(t *testing.T, r *rig) {
			first := r.get(key(1), pool.Single)
			r.get(key(2), pool.Single)
			if _, err := r.Get(t.Context(), key(3), port.Hello{}, pool.Single); !errors.Is(err, pool.ErrBusy) {
				t.Errorf("error %v", err)
			}
			for i := range 6 {
				r.get(pool.Key{Principal: fmt.Sprint(i)}, pool.Exclusive)
			}
			first.Linger() // it counts all the same
			first.Release()
			begun := time.Now()
			r.get(key(3), pool.Single)
			if took := time.Since(begun); took != time.Second {
				t.Errorf("the place of one that nobody uses was had after %v", took)
			}
		})
	})
	t.Run("so many handshakes at a time", func(t *testing.T) {
		bubble(t, func(o *pool.Options, _ *back) { o.Openings = 3 }, func(t *testing.T, r *rig) {
			got := make(chan error)
			for i := range 7 {
				go func() {
					_, err := r.Get(t.Context(), key(i), port.Hello{}, pool.Single)
					got <- err
				}()
			}
			r.want(3)
			time.Sleep(time.Second)
			r.want(6)
			time.Sleep(time.Second)
			r.want(7)
			r.back.set(errRefused)
			for range 7 {
				if err := <-got; err != nil {
					t.Error(err)
				}
			}
			for range 4 { // an opening that fails is one no more
				if _, err := r.Get(t.Context(), alice, port.Hello{}, pool.Single); !errors.Is(err, errRefused) {
					t.Errorf("error %v", err)
				}
			}
		})
	})
}

// TestManyWait: beyond so many calls that wait for a session the next is told at once.
func TestManyWait(t *testing.T) {
	bubble(t, func(o *pool.Options, _ *back) { o.Total = 1; o.Wait = time.Minute }, func(t *testing.T, r *rig) {
		held := r.get(alice, pool.Exclusive)
		errs := make(chan error, 300)
		for range 256 {
			go func() {
				l, err := r.Get(t.Context(), alice, port.Hello{}, pool.Exclusive)
				if err == nil {
					l.Release()
				}
				errs <- err
			}()
		}
		synctest.Wait()
		begun := time.Now()
		if _, err := r.Get(t.Context(), alice, port.Hello{}, pool.Exclusive); !errors.Is(err, pool.ErrBusy) || time.Since(begun) != 0 {
			t.Errorf("error %v after %v", err, time.Since(begun))
		}
		held.Release()
		for range 256 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		r.get(alice, pool.Exclusive).Release() // none of them waits any more
	})
}

// TestLeave: a session in which something lives on is let go in time, and not ended.
func TestLeave(t *testing.T) {
	bubble(t, func(o *pool.Options, _ *back) { o.Total = 1; o.Wait = time.Second }, func(t *testing.T, r *rig) {
		l := r.get(alice, pool.Shared)
		unpin := l.Pin()
		place := l.Session().Ticket()
		l.Leave()
		l.Release()
		if _, err := r.Get(t.Context(), bob, port.Hello{}, pool.Shared); !errors.Is(err, pool.ErrBusy) {
			t.Errorf("error %v", err)
		}
		unpin()
		r.get(bob, pool.Shared).Release() // in its place
		r.wantEnded("")
		if !r.opened()[0].left {
			t.Error("the session is not let go")
		}
		again, err := r.Resume(t.Context(), alice, place, port.Hello{})
		if err != nil || id(again) != "1" {
			t.Errorf("session %v, error %v", again, err)
		}
		r.wantEnded("2") // bob's
	})
}

func TestMessages(t *testing.T) {
	bubble(t, func(_ *pool.Options, b *back) { b.early = true }, func(t *testing.T, r *rig) {
		shared := r.get(alice, pool.Shared)
		r.opened()[0].say("a")
		shared.Release()
		l := r.get(alice, pool.Exclusive)
		r.opened()[0].say("b")
		l.Release()
		want := []string{"early by alice on 1", "a by alice on 1", "b by alice on 1 to its holder"}
		if !slices.Equal(r.said, want) {
			t.Errorf("messages %q, want %q", r.said, want)
		}
		r.back.fails = errRefused
		if _, err := r.Get(t.Context(), bob, port.Hello{}, pool.Shared); !errors.Is(err, errRefused) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		if len(r.said) != 3 {
			t.Errorf("a session that failed to open was heard: %q", r.said)
		}
	})
}
