package pool_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestLost(t *testing.T) {
	for name, mode := range map[string]pool.Mode{"shared": pool.Shared, "exclusive": pool.Exclusive} {
		t.Run("B-U4 a request is performed once more in a new session, "+name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				l := r.get(alice, mode)
				r.opened()[0].lose()
				got, err := l.Do(t.Context(), port.SessionCall{})
				if err != nil || got != `"2"` || id(l) != "2" {
					t.Errorf("result %s of session %s, error %v", got, id(l), err)
				}
				if held := l.Member().Holder() == l; held != (mode == pool.Exclusive) {
					t.Errorf("held %v", held)
				}
				l.Release()
				if r.get(alice, pool.Exclusive).Member() != l.Member() {
					t.Error("the new session was not given back")
				}
				r.want(2)
			})
		})
	}
	t.Run("B-U4 once", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			l := r.get(alice, pool.Shared)
			r.opened()[0].lose()
			time.AfterFunc(time.Second/2, func() { r.back.nth(1).lose() })
			if _, err := l.Do(t.Context(), port.SessionCall{}); !errors.Is(err, port.ErrSessionLost) {
				t.Errorf("error %v", err)
			}
		})
	})
	t.Run("B-U4 many requests of one session need one new one", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			one := r.get(alice, pool.Shared)
			leases := []*pool.Lease{one, one, r.get(alice, pool.Shared), r.get(alice, pool.Exclusive)}
			r.opened()[0].lose()
			var wg sync.WaitGroup
			for _, l := range leases {
				for range 3 {
					wg.Go(func() {
						if got, err := l.Do(t.Context(), port.SessionCall{}); err != nil || got != `"2"` {
							t.Errorf("result %s, error %v", got, err)
						}
					})
				}
			}
			wg.Wait()
			r.want(2)
			for _, l := range leases {
				l.Release()
			}
			time.Sleep(5 * time.Minute)
			if r.ended() != "12" { // what a lost session does on Close is its own affair
				t.Errorf("ended %q: some lease was not given back", r.ended())
			}
		})
	})
}

func TestLostForGood(t *testing.T) {
	t.Run("a new session that cannot be had", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			l := r.get(alice, pool.Exclusive)
			r.opened()[0].lose()
			r.back.fails = errRefused
			if _, err := l.Do(t.Context(), port.SessionCall{}); !errors.Is(err, errRefused) {
				t.Errorf("error %v", err)
			}
			l.Release()
			l.Release()
		})
	})
	t.Run("a lease that is given back meanwhile", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			l := r.get(alice, pool.Exclusive)
			r.opened()[0].lose()
			time.AfterFunc(time.Second/2, l.Release)
			if _, err := l.Do(t.Context(), port.SessionCall{}); !errors.Is(err, port.ErrSessionLost) {
				t.Errorf("error %v", err)
			}
			if _, err := l.Do(t.Context(), port.SessionCall{}); !errors.Is(err, port.ErrSessionLost) {
				t.Errorf("error %v", err)
			}
			if r.get(alice, pool.Exclusive).Member() == l.Member() {
				t.Error("a lost session was lent")
			}
			r.want(2)
		})
	})
	t.Run("what is under way in a lost session may find its end", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			one, two := r.get(alice, pool.Shared), r.get(alice, pool.Shared)
			r.opened()[0].lose()
			if _, err := one.Do(t.Context(), port.SessionCall{}); err != nil {
				t.Error(err)
			}
			r.wantEnded("")
			two.Release()
			r.wantEnded("1")
		})
	})
	t.Run("a lost session is lent to nobody, pinned or not", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			l := r.get(alice, pool.Shared)
			unpin := l.Pin()
			l.Release()
			r.opened()[0].lose()
			if got := id(r.get(alice, pool.Shared)); got != "2" {
				t.Errorf("got session %s", got)
			}
			unpin()
		})
	})
}

func TestResume(t *testing.T) {
	ticket := port.Ticket{ID: "elsewhere", Version: "2025-11-25"}
	bubble(t, nil, func(t *testing.T, r *rig) {
		resume := func(key pool.Key, ticket port.Ticket) *pool.Lease {
			l, err := r.Resume(t.Context(), key, ticket, port.Hello{})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		own := r.get(alice, pool.Shared)
		if l := resume(alice, own.Session().Ticket()); l.Member() != own.Member() {
			t.Error("a session that is there was resumed")
		}
		l := resume(alice, ticket)
		if id(l) != "elsewhere" || resume(alice, ticket).Member() != l.Member() || len(r.back.resumed) != 1 {
			t.Errorf("session %s, resumed %v", id(l), r.back.resumed)
		}
		if other := resume(bob, own.Session().Ticket()); other.Member() == own.Member() {
			t.Error("B-U1 a session was lent to another principal")
		}
		r.opened()[1].lose()
		if got, err := l.Do(t.Context(), port.SessionCall{}); err != nil || got != `"1"` {
			t.Errorf("B-U4 result %s, error %v", got, err)
		}
	})
}

// TestResumedElsewhere: a session that another process has opened may be in use there,
// and tasks may live in it of which nothing is known here.
func TestResumedElsewhere(t *testing.T) {
	bubble(t, func(o *pool.Options, _ *back) { o.PerKey = 1 }, func(t *testing.T, r *rig) {
		l, err := r.Resume(t.Context(), alice, port.Ticket{ID: "elsewhere"}, port.Hello{})
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []pool.Mode{pool.Shared, pool.Exclusive} {
			if other := r.get(alice, mode); id(other) != "2" {
				t.Errorf("B-U6 session %s was lent to a call of another process", id(other))
			}
		}
		l.Release()
		time.Sleep(10 * time.Minute)
		r.wantEnded("")
		if !r.opened()[0].left {
			t.Error("the session is kept for ever")
		}
		if _, err = r.Resume(t.Context(), alice, port.Ticket{ID: "elsewhere"}, port.Hello{}); err != nil {
			t.Fatal(err)
		}
		r.Close(t.Context())
		r.wantEnded("2") // B-U5
	})
}
