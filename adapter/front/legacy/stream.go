package legacy

import (
	"context"
	"errors"
	"slices"
)

// stream is an open GET stream of a session.
type stream struct {
	cancel context.CancelCauseFunc
	wake   chan struct{} // capacity 1: there is something in the queue
	queue  []pending     // guarded by the session's lock
}

// pending is a message on its way to a stream. Of those that wait for one to be
// opened, only the newest of each key is kept.
type pending struct {
	key string
	msg []byte
}

const (
	// maxQueue is how many messages a client may be behind on a stream.
	maxQueue = 256
	// maxPending bounds the messages kept for a session without a stream.
	maxPending = 256
)

var errSlow = errors.New("the client does not read its stream")

func newStream(cancel context.CancelCauseFunc) *stream {
	return &stream{cancel: cancel, wake: make(chan struct{}, 1)}
}

// open adds a stream and gives it what waited for one.
func (f *Face) open(l *live, st *stream) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended != nil:
		return l.ended
	case f.draining.Load():
		return errClosing
	case len(l.streams) >= f.Limits.StreamsPerSession:
		return errFull
	}
	l.streams = append(l.streams, st)
	waiting := l.pending
	l.pending = nil
	l.route(waiting)
	return nil
}

// close removes a stream. What it has not written goes to another one, or waits.
func (f *Face) close(l *live, st *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = f.Env.Now()
	l.streams = slices.DeleteFunc(l.streams, func(other *stream) bool { return other == st })
	rest := st.queue
	st.queue = nil
	if l.ended == nil {
		l.route(rest)
	}
}

// push delivers a message on the newest open stream, or keeps the newest of its
// key until there is one (§3.5 A4).
func (l *live) push(key string, msg []byte) {
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
		if len(l.streams) == 0 {
			for _, p := range messages {
				l.keep(p)
			}
			return
		}
		st := l.streams[len(l.streams)-1]
		if len(st.queue) == maxQueue {
			st.cancel(errSlow)
			l.streams = slices.Delete(l.streams, len(l.streams)-1, len(l.streams))
			messages = newest(append(st.queue, messages...))
			st.queue = nil
			continue
		}
		st.queue = append(st.queue, messages[0])
		messages = messages[1:]
		select {
		case st.wake <- struct{}{}:
		default:
		}
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
		if last[p.key] == i {
			out = append(out, p)
		}
	}
	return out
}

// keep holds a message until a stream is opened. The lock is held.
func (l *live) keep(p pending) {
	l.pending = slices.DeleteFunc(l.pending, func(old pending) bool { return old.key == p.key })
	if len(l.pending) == maxPending {
		l.pending = slices.Delete(l.pending, 0, 1)
	}
	l.pending = append(l.pending, p)
}

// next takes the oldest message from the stream's queue.
func (l *live) next(st *stream) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(st.queue) == 0 {
		st.queue = nil
		return nil, false
	}
	p := st.queue[0]
	st.queue[0] = pending{}
	st.queue = st.queue[1:]
	return p.msg, true
}
