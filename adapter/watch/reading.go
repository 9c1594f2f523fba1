package watch

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// reading is an open subscription and the goroutine that reads it.
type reading struct {
	stream port.ChangeStream
	since  time.Time
	ended  chan error // capacity 1
	// relieve stops the timer that closes the subscription this one takes over
	// from.
	relieve func() bool

	// old is the subscription this one takes over from, while both are read, and
	// repeated holds the keys that a successor has delivered; nil before there is
	// one. Both are guarded by the share's lock.
	old      *reading
	repeated map[string]struct{}
}

// listen opens a subscription and settles everyone who waits for it. The one it
// takes over from is read a little longer, since it may still hold changes from
// before; what it repeats is not delivered again.
func (k *keeper) listen(caller port.Caller, want port.ChangeFilter, old *reading) (*reading, error) {
	ctx, cancel := context.WithCancelCause(k.w.ctx)
	stop := k.w.Env.AfterFunc(ackTimeout, func() { cancel(errNotAcked) })
	stream, err := k.w.Source.Listen(ctx, k.key.backend, caller, want)
	if !stop() && err == nil {
		stream.Close()
		err = errNotAcked
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	r := &reading{stream: stream, since: k.w.Env.Now(), ended: make(chan error, 1), old: old}
	if old != nil {
		k.mu.Lock()
		old.repeated = make(map[string]struct{})
		k.mu.Unlock()
		r.relieve = k.w.Env.AfterFunc(overlap, func() { k.relieved(r) })
	}
	k.opened(want, stream.Honoured())
	k.w.work.Go(func() {
		defer cancel(nil)
		r.ended <- k.read(r)
	})
	return r, nil
}

// relieved ends the overlap of a subscription with the one before.
func (sh *share) relieved(r *reading) {
	sh.mu.Lock()
	old := r.old
	r.old = nil
	sh.mu.Unlock()
	sh.end(old)
}

// read delivers what a subscription reports until it ends.
func (sh *share) read(r *reading) error {
	for {
		c, err := r.stream.Next()
		if err != nil {
			return err
		}
		if sh.first(r, c.Key) {
			sh.deliver(c)
		}
	}
}

// first reports whether no successor has delivered a change of this key, and
// keeps the predecessors from delivering it again. What a successor has not
// delivered yet is never held back: it may be an older change of the same key.
func (sh *share) first(r *reading, key string) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for old := r.old; old != nil; old = old.old {
		old.repeated[key] = struct{}{}
	}
	return !has(r.repeated, key)
}

// dead reports whether the subscription has ended by itself.
func (r *reading) dead() bool { return len(r.ended) > 0 }

// end closes a subscription and those that it takes over from. Nil is none.
func (sh *share) end(r *reading) {
	var chain []*reading
	sh.mu.Lock()
	for ; r != nil; r = r.old {
		chain = append(chain, r)
	}
	sh.mu.Unlock()
	for _, r := range chain {
		if r.relieve != nil {
			r.relieve()
		}
		r.stream.Close()
	}
}
