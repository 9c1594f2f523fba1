package pool

import (
	"context"
	"slices"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Pool holds the sessions at one server. It is safe for concurrent use.
type Pool struct {
	o Options
	// opening ends with Close, ending when Close has no more time, and over has
	// ended.
	opening, ending, over context.Context
	stop, giveUp          context.CancelCauseFunc
	work                  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	members map[Key][]*Member
	total   int
	// singles counts those opened for one lease alone, openings those being opened.
	singles, openings int
	// waiters counts the calls for which there is no session yet.
	waiters int
	// changed is closed, and replaced, when a session may have become free.
	changed chan struct{}
}

// New returns an empty pool.
func New(o Options) *Pool {
	p := &Pool{o: o.orDefault(), members: map[Key][]*Member{}, changed: make(chan struct{})}
	p.opening, p.stop = context.WithCancelCause(context.Background())
	p.ending, p.giveUp = context.WithCancelCause(context.Background())
	over, cancel := context.WithCancel(context.Background())
	cancel()
	p.over = over
	return p
}

// Get lends a session with this key. There is one if one is open or being opened,
// and hello is used otherwise, with the OnMessage of the pool's options in place of
// its own. When there may be no more sessions, the one that has been idle for the
// longest makes room; failing that Get waits, and returns [ErrBusy] in the end.
//
// The error of an opening goes to all who wait for it. Ending ctx ends the wait,
// not the opening.
func (p *Pool) Get(ctx context.Context, key Key, hello port.Hello, mode Mode) (*Lease, error) {
	l := p.lease(key, hello, mode)
	return p.lend(ctx, l, func() *Member {
		m := p.pick(key, mode)
		beside := m != nil && m.pins > 0 && mode == Exclusive && len(p.members[key]) < maxApart
		if (m == nil || beside) && p.opens(mode) && p.room(key, false) {
			m = p.open(key, hello, mode == Single)
		}
		return m
	})
}

// opens reports whether a session for this mode may be opened now, as far as that depends
// on what else is: a crowd of strangers may neither take all sessions nor have the server
// shake hands with all of them at once.
func (p *Pool) opens(mode Mode) bool {
	if p.openings >= p.o.Openings {
		return false
	}
	most := max(1, p.o.Total/singleShare)
	if mode != Single || p.singles < most {
		return true
	}
	oldest := p.oldest(func(m *Member) bool { return m.alone })
	if p.singles >= most && oldest != nil {
		p.drop(oldest)
	}
	return p.singles < most
}

// singleShare is the part of all sessions that [Single] ones may be.
const singleShare = 4

// maxApart is how many sessions with one key there may be just so that calls are kept
// apart from what lives in them.
const maxApart = 8

// Resume lends the session that a ticket names, as [Shared]. It must have been
// opened with this key. One that this process has not opened is lent to those only
// who name it: others may use it at the same time, or live in it.
func (p *Pool) Resume(ctx context.Context, key Key, ticket port.Ticket, hello port.Hello) (*Lease, error) {
	l := p.lease(key, hello, Shared)
	return p.lend(ctx, l, func() *Member {
		for _, m := range p.members[key] {
			if m.opened() && m.session.Ticket() == ticket {
				return m
			}
		}
		if !p.room(key, true) {
			return nil
		}
		m := p.add(key)
		m.resumed = true
		m.session = p.o.Back.Resume(ctx, ticket, p.hello(m, hello))
		close(m.ready)
		return m
	})
}

func (p *Pool) lease(key Key, hello port.Hello, mode Mode) *Lease {
	return &Lease{p: p, mode: mode, key: key, hello: hello, renewing: make(chan struct{}, 1)}
}

// lend waits until find finds a session, or makes one.
func (p *Pool) lend(ctx context.Context, l *Lease, find func() *Member) (*Lease, error) {
	timer := p.o.Env.NewTimer(p.o.Wait)
	defer timer.Stop()
	waits := false
	defer func() {
		if waits {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.waiters--
		}
	}()
	for {
		changed, err := p.try(l, find, &waits)
		switch {
		case err != nil:
			return nil, err
		case changed == nil:
			return p.await(ctx, l)
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// maxWaiters is how many calls may wait for a session at a time: each looks at all of
// them whenever something changes.
const maxWaiters = 256

// try lends what can be lent now, or returns what to wait for. Waits is set once the call
// counts among those that wait.
func (p *Pool) try(l *Lease, find func() *Member, waits *bool) (<-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	p.sweep(l.key)
	m := find()
	switch {
	case m != nil:
	case !*waits && p.waiters >= maxWaiters:
		return nil, ErrBusy
	default:
		if !*waits {
			*waits = true
			p.waiters++
		}
		return p.changed, nil
	}
	m.take(l)
	return nil, nil
}

// await waits until the session that was lent is open.
func (p *Pool) await(ctx context.Context, l *Lease) (*Lease, error) {
	m := l.m
	select {
	case <-m.ready:
	case <-ctx.Done():
		l.Release()
		return nil, context.Cause(ctx)
	}
	if m.err != nil {
		l.Release()
		return nil, m.err
	}
	return l, nil
}

// pick returns a session that can be lent in this mode: an open one first, but for a
// call that may be asked something rather one in which nothing lives.
func (p *Pool) pick(key Key, mode Mode) *Member {
	var found *Member
	rank := 0
	for _, m := range p.members[key] {
		if !m.free(mode) {
			continue
		}
		r := 1
		if m.opened() {
			r++
		}
		if mode == Shared || m.pins == 0 {
			r += 2
		}
		if r > rank {
			found, rank = m, r
		}
	}
	return found
}

// open begins to open a session. The opening belongs to no single call, unless the
// session is for one alone.
func (p *Pool) open(key Key, hello port.Hello, single bool) *Member {
	m := p.add(key)
	p.openings++
	if m.single, m.alone = single, single; single {
		p.singles++
	}
	hello = p.hello(m, hello)
	p.work.Go(func() {
		session, err := p.o.Back.Open(p.opening, hello)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil && p.closed {
			err = ErrClosed
			p.work.Go(func() { session.Close(p.ending) })
		}
		m.session, m.err = session, err
		p.openings--
		close(m.ready)
		if err != nil {
			p.drop(m)
			return
		}
		p.settle(m)
	})
	return m
}

func (p *Pool) add(key Key) *Member {
	m := &Member{p: p, key: key, ready: make(chan struct{})}
	p.members[key] = append(p.members[key], m)
	p.total++
	return m
}

// hello has the messages of the session's standing stream told with the session.
func (p *Pool) hello(m *Member, hello port.Hello) port.Hello {
	hello.OnMessage = nil
	if p.o.OnMessage != nil {
		hello.OnMessage = func(msg jsonrpc.Message) {
			<-m.ready
			if m.err == nil {
				p.o.OnMessage(m, msg)
			}
		}
	}
	return hello
}

// Close closes all sessions, those that are lent included, and returns when
// nothing of the pool is left running. Those that are pinned live on at the
// server. Ending ctx makes it hurry.
func (p *Pool) Close(ctx context.Context) {
	if ctx.Err() != nil {
		p.giveUp(context.Cause(ctx))
	}
	calm := context.AfterFunc(ctx, func() { p.giveUp(context.Cause(ctx)) })
	defer calm()
	p.mu.Lock()
	p.closed = true
	for _, members := range p.members {
		for _, m := range slices.Clone(members) {
			p.drop(m)
			p.end(m)
		}
	}
	p.wake()
	p.mu.Unlock()
	p.stop(ErrClosed)
	p.work.Wait()
}
