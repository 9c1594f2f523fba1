package legacy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/internal/env"
)

// streamGrace is how long Open waits for the head of the standing stream. Some
// servers send it with the first event only.
const streamGrace = 500 * time.Millisecond

// listening names the standing stream in logs.
const listening = "GET"

// begin starts the standing stream.
func (s *session) begin() { s.spawn(s.stand) }

// stand keeps the standing stream open until the session ends or it turns out
// that the server offers none (B-U3).
func (s *session) stand() {
	var (
		at     position
		opened bool // there was a stream
	)
	answered := sync.OnceFunc(func() {
		s.standing.answered()
		x := s.exchange(s.ctx, listening, s.c.times.Accept)
		defer x.Close()
		for _, msg := range s.early {
			x.hand(msg)
		}
		s.early = nil
	})
	for {
		failed, streamed := s.listen(&at, answered)
		opened = opened || streamed
		if s.streaming.Err() != nil {
			return
		}
		if !s.reopens(&at, failed, streamed, opened) {
			s.standing.never()
			return
		}
		wait := at.wait(&s.c.server)
		if failed != nil {
			wait = max(wait, failed.After)
		}
		if env.Sleep(s.streaming, s.c.server.Env, wait) != nil {
			return
		}
	}
}

// listen opens the standing stream and reads it to its end. Answered is called
// when the head of the answer is there, or will never be.
func (s *session) listen(at *position, answered func()) (failed *transport.Failure, streamed bool) {
	x := s.exchange(s.streaming, listening, s.c.times.Idle)
	defer x.Close()
	resumes := at.id != ""
	failed = x.get("", at.id)
	streamed = failed == nil && x.Streams()
	if streamed {
		s.standing.opened(resumes)
		defer s.standing.broke()
	}
	answered()
	if !streamed {
		return failed, false
	}
	stop := context.AfterFunc(s.streaming, x.Close)
	defer stop()
	x.Watch().Release()
	_, failed = x.consume(at)
	if errors.Is(failed.Err, transport.ErrTooLarge) {
		at.id = "" // or the server would send it again
	}
	return failed, true
}

// reopens judges the end of the standing stream, or the failure to open it.
func (s *session) reopens(at *position, failed *transport.Failure, streamed, opened bool) bool {
	switch {
	case streamed:
		return true
	case failed == nil:
		return false // an answer that is no event stream
	case failed.Status == 0:
		return true
	}
	// Without a stream before, 404 is what servers say that have none.
	if opened && s.forgotten("", "", failed) {
		s.lose()
		return false
	}
	switch failed.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true // the next request may bring a fresh credential
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true // a server may think that the last connection is still open
	case http.StatusNotImplemented:
		return false
	}
	if failed.Status >= http.StatusInternalServerError {
		return true
	}
	// The server may have forgotten the event where the stream stood.
	again := at.id != ""
	at.id = ""
	return again
}
