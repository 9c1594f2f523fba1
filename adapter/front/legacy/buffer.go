package legacy

import "slices"

const (
	// maxEvents and maxBuffer bound what a stream keeps for its resumption, in
	// events and in bytes: what a client may be behind, and as much that it was
	// written before.
	maxEvents = 2 * maxQueue
	maxBuffer = 2 * maxQueueSize
)

// event is a message with its place in a stream.
type event struct {
	seq int64
	key string // see pending
	msg []byte
	// stays is set for what belongs to this very stream, whether the client has
	// been written it or not.
	stays bool
}

// buffer holds the events of a stream that are not written yet, or may have to be
// written again.
type buffer struct {
	events []event // oldest first
	size   int     // of their messages, in bytes
	seq    int64   // of the newest event
	told   int64   // of the newest that was given to a connection
	// floor is the newest event that is gone after it was told. The stream cannot
	// be resumed before it.
	floor int64
}

func (b *buffer) add(e event) {
	b.seq++
	e.seq = b.seq
	b.events = append(b.events, e)
	b.size += len(e.msg)
}

// after returns the oldest event behind a place in the stream.
func (b *buffer) after(seq int64) (event, bool) {
	i := b.index(seq)
	if i == len(b.events) {
		return event{}, false
	}
	return b.events[i], true
}

// behind returns how many events are behind a place in the stream, and their size.
func (b *buffer) behind(seq int64) (count, size int) {
	rest := b.events[b.index(seq):]
	for i := range rest {
		size += len(rest[i].msg)
	}
	return len(rest), size
}

func (b *buffer) index(seq int64) int {
	i, _ := slices.BinarySearchFunc(b.events, seq, func(e event, seq int64) int {
		if e.seq <= seq {
			return -1
		}
		return 1
	})
	return i
}

// resumes reports whether a client that has got this event, and none behind it,
// can go on.
func (b *buffer) resumes(seq int64) bool { return b.floor <= seq && seq <= b.seq }

// drop forgets the oldest event.
func (b *buffer) drop() {
	e := b.events[0]
	if e.seq <= b.told {
		b.floor = e.seq
	}
	b.size -= len(e.msg)
	b.events[0] = event{}
	b.events = b.events[1:]
}

// trim brings the buffer within its bounds: the oldest events go, but never the
// newest. While the stream is read only what was written goes.
func (b *buffer) trim(written int64, read bool) {
	for len(b.events) > 1 && (len(b.events) > maxEvents || b.size > maxBuffer) {
		if read && b.events[0].seq > written {
			return
		}
		b.drop()
	}
}

// leave takes out what was never written and belongs to no stream in particular.
func (b *buffer) leave() (rest []pending) {
	b.events = slices.DeleteFunc(b.events, func(e event) bool {
		if e.seq <= b.told || e.stays {
			return false
		}
		rest = append(rest, pending{e.key, e.msg})
		b.size -= len(e.msg)
		return true
	})
	return rest
}
