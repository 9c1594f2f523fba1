package legacy

import (
	"context"
	"net/http"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

const (
	// maxResumes is how often in a row it may fail to resume a stream.
	maxResumes = 5
	// maxBackOff is the longest wait between attempts that bring nothing, unless
	// the server asks for more.
	maxBackOff = 30 * time.Second
)

// position is where a stream stands, across its connections.
type position struct {
	// id is that of the last event, or empty when the stream cannot be resumed.
	id string
	// retry is how long the server asked to wait before coming back.
	retry time.Duration
	// idle counts the connections in a row that brought no event.
	idle int
	// seen is how many events the current connection has brought.
	seen int
}

// note takes over what the events so far have said.
func (p *position) note(events *transport.EventReader) {
	if n := events.Events(); n != p.seen {
		p.seen, p.idle = n, 0
		if id, given := events.LastID(); given {
			p.id = id
		}
	}
	if retry := events.Retry(); retry > 0 {
		p.retry = retry
	}
}

// wait is how long to wait before the next connection: never less than the
// server asked for (B-U3), and longer after each that brought nothing.
func (p *position) wait(server *transport.Server) time.Duration {
	p.seen = 0
	p.idle++
	return max(p.retry, min(server.Delay(p.idle), maxBackOff))
}

// follow reads the event stream of a request up to the response. When it breaks
// and has ids, it is resumed.
func (s *session) follow(ctx context.Context, deadline time.Time, x *exchange, call *port.SessionCall) (jsonrpc.Message, *transport.Failure) {
	at := &position{}
	for {
		msg, failed := x.consume(at)
		if failed == nil {
			s.drain(x)
			return msg, nil
		}
		x.Close()
		if failed.Kind != transport.Broken || at.id == "" {
			return msg, failed
		}
		next, failed := s.resume(ctx, deadline, call, at, failed)
		if failed != nil {
			return msg, failed
		}
		next.id = x.id
		x = next
	}
}

// resume opens the rest of a broken stream. Failing that it returns broke, the
// way in which the stream ended, or what has ended the request since.
func (s *session) resume(ctx context.Context, deadline time.Time, call *port.SessionCall, at *position, broke *transport.Failure) (*exchange, *transport.Failure) {
	server := &s.c.server
	after := time.Duration(0)
	for range maxResumes {
		wait := max(at.wait(server), after)
		if server.Env.Now().Add(wait).After(deadline) {
			return nil, broke
		}
		if err := env.Sleep(ctx, server.Env, wait); err != nil {
			return nil, ended(call.Method, err)
		}
		x := s.within(ctx, call.Method, s.c.times.Idle, deadline)
		x.Continue()
		x.onMessage = call.OnMessage
		x.Watch().Excuse(call.Waited)
		failed := x.get(call.Authorization, at.id)
		if failed == nil && x.Streams() {
			return x, nil
		}
		cause := x.Watch().Cause()
		x.Close()
		switch {
		case failed == nil:
			return nil, broke
		case cause != nil:
			return nil, ended(call.Method, cause)
		case s.forgotten("", "", failed):
			s.lose()
			if Repeatable(call.Method) {
				return nil, lossOf(failed)
			}
			return nil, broke
		case failed.Kind == transport.Final && failed.Status < http.StatusInternalServerError:
			return nil, broke
		}
		after = failed.After
	}
	return nil, broke
}

// ended is the failure of a request that was sent and then given up.
func ended(method string, cause error) *transport.Failure {
	return &transport.Failure{Err: &port.UpstreamError{Op: method, Sent: true, Err: cause}, Sent: true}
}
