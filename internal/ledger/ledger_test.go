//go:build interop

package ledger_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// crowd is how many clients each route has.
const crowd = 12

// newBooks opens the books of a fleet, with clients at every route.
func newBooks(t *testing.T) *books {
	t.Helper()
	return &books{fleet: newFleet(t), tally: newTally()}
}

// route is the clients of a face in front of a backend.
type route struct{ face, era string }

// client makes a client of a route, with a credential of its own.
func (b *books) client(r route) client {
	url := fmt.Sprintf("%s/%s/%s", b.front, r.face, r.era)
	credential := fmt.Sprintf("credential-%d", len(b.clients))
	var c client
	if r.face == "legacy" {
		c = &legacyClient{tally: b.tally, url: url, credential: credential}
	} else {
		c = &modernClient{tally: b.tally, url: url, credential: credential}
	}
	b.clients = append(b.clients, c)
	return c
}

// load has the clients of every route make n tasks in all, evenly over a time, and sees
// them to their ends. It returns at once; wait returns when all have ended.
func (b *books) load(ctx context.Context, n int, over time.Duration) (wait func()) {
	queues, first := make(map[route]chan *entry), len(b.entries)
	for i := range n {
		k := kinds[i%len(kinds)]
		r := route{k.face, k.era}
		if queues[r] == nil {
			queues[r] = make(chan *entry, n)
		}
		b.entries = append(b.entries, &entry{kind: k, number: first + i})
	}
	entries := b.entries[first:]
	var group sync.WaitGroup
	for r, queue := range queues {
		for range crowd {
			c := b.client(r)
			group.Go(func() {
				for e := range queue {
					e.client = c
					e.run(ctx)
				}
			})
		}
	}
	group.Go(func() {
		pace := time.NewTicker(over / time.Duration(n))
		defer pace.Stop()
		for _, e := range entries {
			<-pace.C
			queues[route{e.face, e.era}] <- e
		}
		for _, queue := range queues {
			close(queue)
		}
	})
	return group.Wait
}

// TestLedger: tasks of every kind on every route, while one replica after another is
// killed with -9 and started again, and Redis is killed once. In the end the books
// agree: each task has one outcome, that of its backend, or "interrupted" if and only
// if the process that ran its call was killed meanwhile; no call was made twice, no
// question answered twice, nothing changed once it had ended, and every task that a
// client was told of is there and listed (DESIGN.md §4, promises 2, 3 and 5).
func TestLedger(t *testing.T) {
	b := newBooks(t)
	began := time.Now()
	wait := b.load(t.Context(), *tasks, *duration)
	redisAt := began.Add(*duration * 9 / 20)
	for next := 1; time.Duration(next)**killing < *duration; next++ {
		time.Sleep(time.Until(began.Add(time.Duration(next) * *killing)))
		i := next % len(b.replicas)
		b.kill(i)
		time.Sleep(time.Second) // as long as a supervisor takes
		b.start(i)
		if len(b.absent) == 0 && time.Now().After(redisAt) {
			b.without(b.redis.Restart, func() error { b.redis.Kill(); return nil }, func() {})
		}
	}
	wait()
	b.audit()
	b.inspect()
	if len(b.absent) != 1 || b.kills == 0 {
		t.Errorf("%d kills of a replica, %d of Redis", b.kills, len(b.absent))
	}
	b.publish("Replicas killed with -9, Redis killed once", time.Since(began))
}
