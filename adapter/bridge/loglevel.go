package bridge

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// levelTime is how long a request waits for a backend to take its log level. One
// that lets it pass is not told again.
const levelTime = 5 * time.Second

var errLevel error = errors.New("the backend did not answer logging/setLevel in time")

// levels keeps the log level of each session in line with the requests under way:
// the level is the session's, and modern requests differ (§3.4).
//
// The level of a session follows its requests down to the most verbose at once, and
// back up lazily: with the next request that has one.
type levels struct {
	env    env.Env
	logger *slog.Logger

	mu       sync.Mutex
	sessions map[port.Session]*sessionLevel
}

// sessionLevel is what is known of a session.
type sessionLevel struct {
	// turn is held by whoever tells the backend.
	turn chan struct{}

	// The lock of levels guards what follows.
	requests map[*hearer]struct{}
	told     legacy2025.LogLevel // empty when the backend may not know it
	mute     bool
}

func newLevels(e env.Env, logger *slog.Logger) *levels {
	return &levels{env: e, logger: logger, sessions: make(map[port.Session]*sessionLevel)}
}

// lent returns the session of a lease; another one is itself.
func lent(session port.Session) port.Session {
	if l, leased := session.(interface{ Session() port.Session }); leased {
		return l.Session()
	}
	return session
}

// enter notes that a request begins on its session, and has the backend know its
// level first. A session that was lost is replaced by that, at most once.
func (l *levels) enter(ctx context.Context, h *hearer) (leave func()) {
	session := lent(h.session)
	leave = l.join(session, h)
	if h.x.Caller.LogLevel == "" || !logs(h.session) {
		return leave
	}
	l.tell(ctx, session, h)
	if now := lent(h.session); now != session {
		leave()
		leave = l.join(now, h)
		l.tell(ctx, now, h)
	}
	return leave
}

// logs reports whether a session's server has log levels.
func logs(session port.Session) bool {
	return session.About().Get("capabilities").Get("logging").IsObject()
}

// join adds a request to those of a session, until leave is called.
func (l *levels) join(session port.Session, h *hearer) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil {
		l.sweep()
		s = &sessionLevel{turn: make(chan struct{}, 1), requests: make(map[*hearer]struct{})}
		l.sessions[session] = s
	}
	s.requests[h] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(s.requests, h)
	}
}

// sweep forgets the sessions that are over; the lock is held.
func (l *levels) sweep() {
	for session := range l.sessions {
		select {
		case <-session.Lost():
			delete(l.sessions, session)
		default:
		}
	}
}

// due returns the level that the backend has to be told; the lock is held.
func (s *sessionLevel) due() (legacy2025.LogLevel, bool) {
	var most legacy2025.LogLevel
	for h := range s.requests {
		level := legacy2025.LogLevel(h.x.Caller.LogLevel)
		if level.Known() && (most == "" || level.Rank() < most.Rank()) {
			most = level
		}
	}
	return most, most != "" && most != s.told && !s.mute
}

// tell tells the backend the level of a session if that has changed. Its refusal
// changes nothing: messages are filtered anyway.
func (l *levels) tell(ctx context.Context, session port.Session, h *hearer) {
	l.mu.Lock()
	s := l.sessions[session]
	l.mu.Unlock()
	if s == nil {
		return // it is over
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return
	}
	l.mu.Lock()
	level, isDue := s.due()
	l.mu.Unlock()
	if !isDue {
		return
	}
	err := l.setLevel(ctx, h, level)
	if err != nil {
		l.logger.InfoContext(ctx, "log level not set", "backend", h.x.Backend, "error", port.Reason(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.told, s.mute = level, errors.Is(err, errLevel)
	if ctx.Err() != nil {
		s.told = "" // it may have arrived, or not
	}
}

func (l *levels) setLevel(ctx context.Context, h *hearer, level legacy2025.LogLevel) error {
	ctx, cancel := env.WithTimeout(ctx, l.env, levelTime, errLevel)
	defer cancel()
	w := wire.Begin(nil)
	w.Text("level", string(level))
	_, err := h.session.Do(ctx, port.SessionCall{
		Method: legacy2025.MethodLoggingSetLevel, Params: wire.Value(w.End()), Authorization: h.b.Authorization(h.x.Caller),
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// sole returns the only request under way on a session, or nil: what is said beside
// all requests can be about that one only.
func (l *levels) sole(session port.Session) *hearer {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil || len(s.requests) != 1 {
		return nil
	}
	for h := range s.requests {
		return h
	}
	return nil
}
