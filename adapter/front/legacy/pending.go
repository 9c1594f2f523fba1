package legacy

import "slices"

const (
	// maxQueue and maxQueueSize are how far a client may be behind on a stream of
	// its session, in messages and in bytes.
	maxQueue     = 256
	maxQueueSize = 1 << 20
	// maxPending and maxPendingSize bound the messages kept for a session without a
	// stream, in number and in bytes.
	maxPending     = 256
	maxPendingSize = 1 << 20
)

// pending is a message on its way to a stream of the session. Of those that wait
// for one to be opened, only the newest of each key is kept; those without a key
// are all different.
type pending struct {
	key string
	msg []byte
}

// push delivers a message on the newest open stream, or keeps the newest of its
// key until there is one (§3.5 A4).
func (l *live) push(key string, msg []byte) {
	if msg = l.filter("", msg); len(msg) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.route([]pending{{key, msg}})
	}
}

// route hands messages to the newest stream. One that is too far behind loses
// the client rather than a message: what it has not written goes elsewhere. The
// lock is held.
func (l *live) route(messages []pending) {
	for len(messages) > 0 {
		if len(l.own) == 0 {
			for _, p := range messages {
				l.keep(p)
			}
			return
		}
		st := l.own[len(l.own)-1]
		if st.full() {
			messages = newest(append(st.part(), messages...))
			continue
		}
		st.append(event{key: messages[0].key, msg: messages[0].msg})
		messages = messages[1:]
	}
}

// newest leaves the last message of each key.
func newest(messages []pending) []pending {
	last := make(map[string]int, len(messages))
	for i, p := range messages {
		last[p.key] = i
	}
	out := messages[:0]
	for i, p := range messages {
		if p.key == "" || last[p.key] == i {
			out = append(out, p)
		}
	}
	return out
}

// keep holds a message until a stream is opened. The oldest ones go when there are
// too many; the newest always stays. The lock is held.
func (l *live) keep(p pending) {
	if p.key != "" {
		l.pending = slices.DeleteFunc(l.pending, func(old pending) bool { return old.key == p.key })
	}
	l.pending = append(l.pending, p)
	size := 0
	for _, kept := range l.pending {
		size += len(kept.msg)
	}
	for len(l.pending) > maxPending || size > maxPendingSize && len(l.pending) > 1 {
		size -= len(l.pending[0].msg)
		l.pending = slices.Delete(l.pending, 0, 1)
	}
}
