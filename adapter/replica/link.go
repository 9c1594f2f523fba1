package replica

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// pieceSize is the size of the largest frame, in bytes of what it carries, and
	// window how many of them may be on their way: a store cuts off a subscriber
	// for whom too much is waiting.
	pieceSize = 64 << 10
	window    = 512 << 10
	// resendFirst and resendMax bound the time without an acknowledgement before
	// everything that has none is sent again; after silence the exchange is over.
	resendFirst = 500 * time.Millisecond
	resendMax   = 2 * time.Second
	silence     = time.Minute
	// ackDelay is how long an acknowledgement waits for others.
	ackDelay = 20 * time.Millisecond
)

// link is one end of an exchange. Each end numbers what it sends.
type link struct {
	r        *Replica
	id, peer string
	over     chan struct{} // closed once err is set

	// sending is held while a frame is numbered and published, so that frames leave
	// in their order.
	sending sync.Mutex

	mu  sync.Mutex
	err error // why it is over; nil while it is not

	// What was sent.
	unacked  []frame
	seq      int64 // of the newest frame
	sent     int64 // bytes
	credited int64 // of them, used by the peer
	waiting  int   // senders that wait for the peer
	moved    chan struct{}
	progress time.Time // when the peer last acknowledged something, or had nothing to
	pause    time.Duration
	stop     func() bool // the next resend; nil while nothing waits

	// What has arrived.
	got     int64
	in      []frame
	used    int64
	arrived chan struct{} // capacity 1
	acking  func() bool   // the next acknowledgement; nil while none is due
}

func newLink(r *Replica, id, peer string) *link {
	return &link{
		r: r, id: id, peer: peer, over: make(chan struct{}), moved: make(chan struct{}),
		arrived: make(chan struct{}, 1), pause: resendFirst,
	}
}

// send sends a numbered frame as soon as the peer has room for what it carries.
func (l *link) send(ctx context.Context, k kind, data string) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	l.mu.Lock()
	for len(data) > 0 && l.err == nil && l.sent-l.credited >= window {
		moved := l.moved
		l.waiting++
		l.arm()
		l.mu.Unlock()
		var err error
		select {
		case <-moved:
		case <-l.over:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		l.mu.Lock()
		if l.waiting--; err != nil {
			l.mu.Unlock()
			return err
		}
	}
	if l.err != nil {
		err := l.err
		l.mu.Unlock()
		return err
	}
	if len(l.unacked) == 0 {
		l.progress = l.r.Env.Now()
	}
	l.seq++
	l.sent += int64(len(data))
	f := frame{kind: k, link: l.id, from: l.r.id, seq: l.seq, data: data}
	l.unacked = append(l.unacked, f)
	l.arm()
	l.mu.Unlock()
	l.r.publish(l.peer, &f)
	return nil
}

// sendAll sends data in pieces.
func (l *link) sendAll(ctx context.Context, k kind, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), pieceSize)
		if err := l.send(ctx, k, string(data[:n])); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// arm sets the time of the next resend. The lock is held.
func (l *link) arm() {
	if l.stop == nil && l.err == nil {
		l.stop = l.r.Env.AfterFunc(l.pause, l.resend)
	}
}

// resend sends again what has no acknowledgement, and asks for one where room is
// waited for.
func (l *link) resend() {
	l.mu.Lock()
	l.stop = nil
	if l.err != nil || len(l.unacked) == 0 && l.waiting == 0 {
		l.mu.Unlock()
		return
	}
	silent := len(l.unacked) > 0 && l.r.Env.Now().Sub(l.progress) >= silence
	again := slices.Clone(l.unacked)
	l.pause = min(2*l.pause, resendMax)
	l.arm()
	l.mu.Unlock()
	if silent {
		l.fail(ErrGone)
		return
	}
	if len(again) == 0 {
		l.r.publish(l.peer, &frame{kind: kindProbe, link: l.id, from: l.r.id})
	}
	for i := range again {
		l.r.publish(l.peer, &again[i])
	}
}

// acknowledged takes note of what the peer has got.
func (l *link) acknowledged(rc receipt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < len(l.unacked) && l.unacked[n].seq <= rc.got {
		n++
	}
	if n > 0 {
		l.unacked = slices.Delete(l.unacked, 0, n)
		l.progress, l.pause = l.r.Env.Now(), resendFirst
	}
	if rc.used > l.credited && rc.used <= l.sent {
		l.credited = rc.used
	} else if n == 0 {
		return
	}
	close(l.moved)
	l.moved = make(chan struct{})
}

// flushed returns when everything that was sent has arrived, the exchange is over
// or ctx is done.
func (l *link) flushed(ctx context.Context) {
	for {
		l.mu.Lock()
		moved, all := l.moved, len(l.unacked) == 0
		l.mu.Unlock()
		if all {
			return
		}
		select {
		case <-moved:
		case <-l.over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// heard reports whether the peer has got everything, and so knows of the exchange.
func (l *link) heard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unacked) == 0
}

// take keeps a frame that has arrived, if it is the next one, and sees to it that the
// peer is told. It never waits. A peer that does not wait for room loses frames, and
// sends them again.
func (l *link) take(f frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if f.seq == l.got+1 && len(l.in) <= 2*window/pieceSize+maxFew {
		l.got = f.seq
		l.in = append(l.in, f)
		select {
		case l.arrived <- struct{}{}:
		default:
		}
	}
	l.ackSoon()
}

// maxFew is how many small frames may wait beside those that fill the window.
const maxFew = 1 << 10

// ackSoon has the peer told what has arrived. The lock is held.
func (l *link) ackSoon() {
	if l.acking == nil && l.err == nil {
		l.acking = l.r.Env.AfterFunc(ackDelay, l.ack)
	}
}

// probed sees to it that a peer that asks is told.
func (l *link) probed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ackSoon()
}

// ack tells the peer what has arrived.
func (l *link) ack() {
	l.mu.Lock()
	if l.acking != nil {
		l.acking()
		l.acking = nil
	}
	rc := receipt{l.got, l.used}
	l.mu.Unlock()
	l.r.publish(l.peer, &frame{kind: kindAck, link: l.id, from: l.r.id, data: rc.encode()})
}

// credit tells the peer that so many bytes were used.
func (l *link) credit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used += int64(n)
	l.ackSoon()
}

// next returns the next frame that has arrived, as used.
func (l *link) next(ctx context.Context) (frame, error) {
	f, err := l.pull(ctx)
	if err == nil {
		l.credit(len(f.data))
	}
	return f, err
}

// pull returns the next frame that has arrived. What it carries is still to be used.
func (l *link) pull(ctx context.Context) (frame, error) {
	for {
		l.mu.Lock()
		if len(l.in) > 0 {
			f := l.in[0]
			l.in = l.in[1:]
			l.mu.Unlock()
			return f, nil
		}
		err := l.err
		l.mu.Unlock()
		if err != nil {
			return frame{}, err
		}
		select {
		case <-l.arrived:
		case <-l.over:
		case <-ctx.Done():
			return frame{}, context.Cause(ctx)
		}
	}
}

// fail ends the exchange. What has arrived can still be read.
func (l *link) fail(err error) {
	l.r.mu.Lock()
	if l.r.links[l.id] == l {
		delete(l.r.links, l.id)
	}
	l.r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	close(l.over)
	for _, stop := range []func() bool{l.stop, l.acking} {
		if stop != nil {
			stop()
		}
	}
	l.unacked = nil
}

// conclude ends an exchange of which this end has sent everything, once the peer has
// got it, or has been silent for too long.
func (l *link) conclude(ctx context.Context) {
	l.flushed(ctx)
	l.fail(errOver)
}
