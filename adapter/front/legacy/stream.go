package legacy

import (
	"slices"
	"strconv"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/legacy2025"
)

const (
	// maxResumable bounds the streams that a session keeps for clients that may
	// come back, maxSession the bytes of all that its streams keep.
	maxResumable = 32
	maxSession   = 8 << 20
	// minSession is what a session keeps in bytes when all together keep [Limits.Kept].
	minSession = 64 << 10
	// aheadEvents and aheadSize are how far an exchange may run ahead of a client
	// that reads slowly, in messages and in bytes.
	aheadEvents = 16
	aheadSize   = 256 << 10
)

// stream is an event stream of a session: that of requests, or one of the session
// itself. It outlives the connections it is written to (A-L16). The session's lock
// guards it.
type stream struct {
	buffer
	l      *live
	primes bool // it begins with an event without a message (A-L15)
	own    bool // it is the session's, and belongs to no request

	requests   []*exchange // whose answers end it
	memory     *edge.Room  // that their messages take; nil if it is nothing to speak of
	unanswered int
	begun      bool // the answers are events

	id      string  // empty until the client is told
	reader  *reader // the connection it is written to, or nil
	pos     int64   // the newest event that the reader has been given
	counted int     // of its bytes, in those of the session
	room    sync.Cond
	losses  int // counts the readers it has had
	stop    func() bool
	retired bool          // nothing can be sent or resumed any more
	gone    chan struct{} // closed then, if it is the session's own
}

// reader is a connection that a stream is written to.
type reader struct {
	wake   chan struct{} // capacity 1: there may be something new
	kicked chan struct{} // closed when the stream is not its any more
	get    bool          // it counts as a stream of the session
}

func newReader(get bool) *reader {
	return &reader{wake: make(chan struct{}, 1), kicked: make(chan struct{}), get: get}
}

func newStream(l *live, version string, own bool) *stream {
	st := &stream{l: l, primes: legacy2025.TaskCapable(version), own: own, begun: own}
	st.room.L = &l.mu
	if own {
		st.gone = make(chan struct{})
	}
	return st
}

// hold keeps the memory of the stream's requests from others, for one that goes on
// without its client.
func (st *stream) hold() (release func()) {
	if st.memory == nil {
		return func() {}
	}
	return st.memory.Lend()
}

// name returns an id for a stream that is unique in the session, whichever
// process serves it. The lock is held.
func (l *live) name() string {
	l.named++
	return l.nonce + nonceMark + strconv.FormatInt(l.named, 10)
}

// tell fixes the id of a stream. The lock is held.
func (st *stream) tell(id string) {
	st.id = id
	if st.l.streams == nil {
		st.l.streams = make(map[string]*stream)
	}
	st.l.streams[id] = st
}

// known reports whether the client has an event id to come back with. The lock is
// held.
func (st *stream) known() bool { return st.id != "" && (st.primes || st.told > 0) }

// append adds an event. The lock is held.
func (st *stream) append(e event) {
	st.add(e)
	st.wake()
	st.fit()
}

func (st *stream) wake() {
	if st.reader == nil {
		return
	}
	select {
	case st.reader.wake <- struct{}{}:
	default:
	}
}

// fit keeps what the stream and its session hold within bounds. The oldest
// streams that have ended go before anything of one that has not.
func (st *stream) fit() {
	written, read := st.told, st.reader != nil
	if read {
		written = min(written, st.pos)
	}
	st.trim(written, read)
	st.count()
	for st.l.crowded() {
		if i := slices.IndexFunc(st.l.lost, (*stream).ended); i >= 0 {
			st.l.lost[i].retire(false)
			continue
		}
		if len(st.events) == 0 || read && st.events[0].seq > written {
			return
		}
		st.drop()
		st.count()
	}
}

// crowded reports whether the session's streams keep too much, by itself or because
// all sessions together do. The lock is held.
func (l *live) crowded() bool {
	return l.kept > maxSession || l.kept > minSession && l.f.kept.Load() > l.f.Limits.Kept
}

// count brings the bytes of the session, and of all, up to date.
func (st *stream) count() {
	st.l.kept += st.size - st.counted
	st.l.f.kept.Add(int64(st.size - st.counted))
	st.counted = st.size
}

// ended reports whether nothing will be added to the stream.
func (st *stream) ended() bool { return !st.own && st.unanswered == 0 }

// full reports whether the client is too far behind on a stream of the session.
func (st *stream) full() bool {
	count, size := st.behind(st.told)
	return count >= maxQueue || size >= maxQueueSize
}

// attach gives the stream to a connection that has got everything up to an event.
// Any other connection loses it. The lock is held.
func (st *stream) attach(rd *reader, after int64) {
	st.kick()
	st.halt()
	st.reader, st.pos = rd, after
	st.l.lost = without(st.l.lost, st)
	if st.own {
		st.l.own = append(without(st.l.own, st), st)
		waiting := st.l.pending
		st.l.pending = nil
		st.l.route(waiting)
	}
	st.wake()
}

func (st *stream) kick() {
	if st.reader != nil {
		close(st.reader.kicked)
		st.reader = nil
	}
}

// halt stops the time that a client has to come back.
func (st *stream) halt() {
	st.losses++
	if st.stop != nil {
		st.stop()
		st.stop = nil
	}
}

// leave ends the connection of a stream, unless it has lost the stream before.
// What it has not written of the session's messages goes elsewhere.
func (st *stream) leave(rd *reader) {
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	if st.reader == rd {
		st.l.route(st.part())
	}
}

// part takes the stream from its connection and returns what has to go elsewhere.
// The client can come back, if it knows how to. The lock is held.
func (st *stream) part() (rest []pending) {
	l := st.l
	st.kick()
	st.spare()
	l.used = l.f.Env.Now()
	if st.own {
		l.own = without(l.own, st)
		rest = st.buffer.leave()
		st.count()
	}
	if l.ended != nil || !st.known() {
		st.retire(false)
		if l.ended != nil {
			rest = nil
		}
		return rest
	}
	st.room.Broadcast()
	st.halt()
	l.lost = append(l.lost, st)
	loss := st.losses
	st.stop = l.f.Env.AfterFunc(l.f.Times.ReplayWindow, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if st.losses == loss {
			st.retire(true)
		}
	})
	st.fit()
	for len(l.lost) > maxResumable {
		l.evict()
	}
	return rest
}

// evict gives up the oldest stream that may be resumed: one that has ended, else
// one of the session, else any. The lock is held.
func (l *live) evict() {
	i := slices.IndexFunc(l.lost, (*stream).ended)
	if i < 0 {
		i = slices.IndexFunc(l.lost, func(st *stream) bool { return st.own })
	}
	l.lost[max(i, 0)].retire(false)
}

// retire ends a stream that no client reads, for good. What it was answering goes
// on as without a stream, unless the client has been waited for already. The lock
// is held.
func (st *stream) retire(waited bool) {
	if st.retired {
		return
	}
	st.retired = true
	st.kick()
	st.halt()
	st.buffer = buffer{}
	st.count()
	st.room.Broadcast()
	st.l.lost, st.l.own = without(st.l.lost, st), without(st.l.own, st)
	if st.id != "" {
		delete(st.l.streams, st.id)
	}
	if st.own {
		close(st.gone)
	}
	for _, x := range st.requests {
		if !x.over {
			x.close()
			x.abandon(waited)
		}
	}
}

// spare lets go of the messages that have been answered: they may be large, and the
// stream may wait long for its client. Until the stream has its id, or has lost its
// connection, they are still looked at. The lock is held.
func (st *stream) spare() {
	if st.id == "" && st.reader != nil {
		return
	}
	for _, x := range st.requests {
		if x.ended {
			x.msg = jsonrpc.Message{}
		}
	}
}

func without(streams []*stream, st *stream) []*stream {
	return slices.DeleteFunc(streams, func(other *stream) bool { return other == st })
}

// finding is what a connection finds of its stream.
type finding int

const (
	idle finding = iota // nothing to write yet
	some                // an event
	over                // nothing will come
)

// next gives a connection its next event.
func (st *stream) next(rd *reader) (event, finding) {
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	if st.reader != rd {
		return event{}, over
	}
	e, ok := st.after(st.pos)
	switch {
	case ok:
		st.pos = e.seq
		st.told = max(st.told, e.seq)
		st.room.Broadcast()
		return e, some
	case st.ended():
		return event{}, over
	default:
		return event{}, idle
	}
}
