package pool

import (
	"slices"
	"time"
)

// singleRest is how long a [Single] session is kept that nobody uses: what was said in
// it, such as the answer to the last question, may be under way still.
const singleRest = 2 * time.Second

// wake lets all who wait for a session look again.
func (p *Pool) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// settle looks after a session that something has let go of, or that has just
// been opened.
func (p *Pool) settle(m *Member) {
	p.wake()
	switch {
	case m.gone, m.lost():
		p.drop(m)
	case m.idle():
		m.use()
		uses, rest := m.uses, p.o.Idle
		if m.single {
			rest = min(rest, singleRest)
		}
		m.since = p.o.Env.Now()
		m.stop = p.o.Env.AfterFunc(rest, func() { p.expire(m, uses) })
	}
}

// expire closes a session that has been idle since its timer was set.
func (p *Pool) expire(m *Member, uses int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.uses == uses && m.idle() {
		p.drop(m)
	}
}

// sweep drops the sessions of a key that the server has forgotten.
func (p *Pool) sweep(key Key) {
	for _, m := range slices.Clone(p.members[key]) {
		if m.lost() {
			p.drop(m)
		}
	}
}

// room reports whether there may be one more session with this key, resumed or not,
// for which the one that has been idle for the longest may have to go.
func (p *Pool) room(key Key, resumed bool) bool {
	alike := 0
	for _, m := range p.members[key] {
		if m.resumed == resumed {
			alike++
		}
	}
	if alike >= p.o.PerKey {
		return false
	}
	if p.total < p.o.Total {
		return true
	}
	oldest := p.oldest(func(*Member) bool { return true })
	if p.total >= p.o.Total && oldest != nil {
		p.drop(oldest)
	}
	return p.total < p.o.Total
}

// oldest returns the session of this kind that has been idle for the longest, or nil.
// Those that are lost are dropped.
func (p *Pool) oldest(kind func(*Member) bool) (oldest *Member) {
	for key := range p.members {
		p.sweep(key)
		for _, m := range p.members[key] {
			if m.idle() && kind(m) && (oldest == nil || m.since.Before(oldest.since)) {
				oldest = m
			}
		}
	}
	return oldest
}

// drop lends a session to nobody any more, and ends it unless it is lent still:
// what is under way may find its end.
func (p *Pool) drop(m *Member) {
	m.use()
	if !m.gone {
		m.gone = true
		p.total--
		if m.alone {
			p.singles--
		}
		rest := slices.DeleteFunc(p.members[m.key], func(other *Member) bool { return other == m })
		if p.members[m.key] = rest; len(rest) == 0 {
			delete(p.members, m.key)
		}
		p.wake()
	}
	if !m.leased() {
		p.end(m)
	}
}

// end closes a session that is open. One in which something lives, or may live, is only
// let go: it may be asked for by another process (B-U5).
func (p *Pool) end(m *Member) {
	if m.closed || !m.opened() {
		return
	}
	m.closed = true
	if m.pins > 0 || m.resumed || m.left {
		p.work.Go(func() { m.session.Close(p.over) })
		return
	}
	p.work.Go(func() { m.session.Close(p.ending) })
}
