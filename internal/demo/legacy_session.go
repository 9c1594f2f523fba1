package demo

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// maxStanding is how many GET streams of a session are open at a time.
	maxStanding = 16
	// maxStreams is how many streams of a session are kept for resumption.
	maxStreams = 256
)

// session is one client from initialize to DELETE.
type session struct {
	id, version string
	caps        legacyCaps
	server      *Legacy
	ctx         context.Context // ends with the session
	stop        context.CancelCauseFunc
	ready       chan struct{} // closed once the client says that it is initialized

	mu       sync.Mutex
	isReady  bool
	level    int // index into logLevels of the least level to send
	busy     int // requests being served, and calls that outlive theirs
	idle     *time.Timer
	calls    map[string]context.CancelCauseFunc // requests that can be cancelled, by id
	streams  map[string]*stream
	kept     []string  // ids of streams, the oldest first
	standing []*stream // GET streams, the newest last
	lastID   int       // of a stream
	desk     desk
	told     map[string]time.Time // when the client heard that a task has questions
	clock    context.CancelFunc   // stops the updates of the clock; nil without a subscriber

	signingIn string // the elicitation that leads to it; empty if nobody has tried
	signedIn  bool
}

func newSession(l *Legacy, id, version string, caps legacyCaps) *session {
	s := &session{
		id: id, version: version, caps: caps, server: l, ready: make(chan struct{}), level: defaultLevel,
		calls: map[string]context.CancelCauseFunc{}, streams: map[string]*stream{}, desk: newDesk(),
		told: map[string]time.Time{},
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.idle = time.AfterFunc(max(sessionIdle, l.opts.TaskTTL), s.expire)
	return s
}

// enter marks the session as in use until the function it returns is called.
func (s *session) enter() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	s.idle.Stop()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
		if s.busy == 0 && s.ctx.Err() == nil {
			s.idle.Reset(max(sessionIdle, s.server.opts.TaskTTL))
		}
	}
}

// expire ends a session that nobody has used for long.
func (s *session) expire() {
	s.mu.Lock()
	busy := s.busy
	s.mu.Unlock()
	if busy == 0 {
		s.server.end(s, errEnded)
	}
}

// end stops what runs for the session. Calls still send their answer.
func (s *session) end(cause error) {
	s.stop(cause)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle.Stop()
	for _, st := range s.streams {
		st.forget()
	}
	for _, st := range s.standing {
		st.finish()
	}
	if s.clock != nil {
		s.clock()
		s.clock = nil
	}
}

// initialized lets this server send requests and list changes from now on.
func (s *session) initialized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isReady {
		s.isReady = true
		close(s.ready)
	}
}

// open makes a stream. dropped is called once nobody has read it for long.
func (s *session) open(dropped func()) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openLocked(dropped)
}

func (s *session) openLocked(dropped func()) *stream {
	s.lastID++
	id := strconv.Itoa(s.lastID)
	st := newStream(id, func() { s.drop(id); dropped() }, s.moved)
	if s.ctx.Err() != nil {
		st.forget() // nobody can come back to a session that has ended
	}
	s.streams[id] = st
	s.kept = append(s.kept, id)
	if len(s.kept) > maxStreams {
		s.shed()
	}
	if s.version == legacyNewest {
		st.push("") // older clients take an empty event for a broken message
	}
	return st
}

// shed gives up the oldest stream that has ended. The caller holds mu.
func (s *session) shed() {
	for i, id := range s.kept {
		if st := s.streams[id]; st.ended() {
			st.forget()
			delete(s.streams, id)
			s.kept = append(s.kept[:i], s.kept[i+1:]...)
			return
		}
	}
}

// drop forgets a stream whose client did not come back.
func (s *session) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[id]
	if st == nil {
		return
	}
	st.finish()
	delete(s.streams, id)
	s.kept = without(s.kept, id)
	s.standing = without(s.standing, st)
}

func without[T comparable](list []T, gone T) []T {
	out := make([]T, 0, len(list))
	for _, one := range list {
		if one != gone {
			out = append(out, one)
		}
	}
	return out
}

// stream returns one that can be resumed, or nil.
func (s *session) stream(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

// stand opens a GET stream.
func (s *session) stand() (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, refuse(http.StatusNotFound, "there is no such session")
	}
	if len(s.standing) >= maxStanding {
		return nil, refuse(http.StatusServiceUnavailable, "the session has too many streams")
	}
	st := s.openLocked(func() {})
	s.standing = append(s.standing, st)
	return st, nil
}

// outlet is the GET stream that the next message goes to: the newest one with a
// reader, or else the newest, whose client may come back; nil if there is none.
func (s *session) outlet() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.standing) - 1; i >= 0; i-- {
		if s.standing[i].read() {
			return s.standing[i]
		}
	}
	if len(s.standing) == 0 {
		return nil
	}
	return s.standing[len(s.standing)-1]
}

// notify sends a notification that belongs to no request.
func (s *session) notify(method string, params object) {
	s.mu.Lock()
	ready := s.isReady
	s.mu.Unlock()
	if st := s.outlet(); st != nil && ready {
		st.notify(method, params)
	}
}
