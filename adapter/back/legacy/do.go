package legacy

import (
	"context"
	"io"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Do implements [port.Session]. Requests of [Repeatable] methods are sent up to
// four times in all, with a new id each; others once, or twice when the first
// attempt did not reach the server. A stream that breaks is resumed first, if the
// server has given it event ids. Everything together ends at Times.Total.
//
// An error that came with 401, 403 or a status from 500 is both the server's own
// *[jsonrpc.Error] and a *[port.UpstreamError] that keeps the status.
func (s *session) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	return s.do(ctx, &call)
}

func (s *session) do(ctx context.Context, call *port.SessionCall) (wire.Value, error) {
	server := &s.c.server
	ctx, leave := s.join(ctx)
	defer leave()
	deadline := server.Env.Now().Add(s.c.times.Total)
	for tries := 1; ; tries++ {
		if s.gone() {
			return "", port.ErrSessionLost
		}
		result, failed := s.attempt(ctx, deadline, call)
		if failed == nil {
			return result, nil
		}
		wait, again := server.Again(Repeatable(call.Method), tries, failed)
		if !again || server.Env.Now().Add(wait).After(deadline) {
			return "", failed.Err
		}
		if err := env.Sleep(ctx, server.Env, wait); err != nil {
			return "", &port.UpstreamError{Op: call.Method, Sent: failed.Sent, Err: err}
		}
	}
}

// attempt sends the request once, under a fresh id, and waits for the response.
func (s *session) attempt(ctx context.Context, deadline time.Time, call *port.SessionCall) (wire.Value, *transport.Failure) {
	x := s.within(ctx, call.Method, s.c.times.Idle, deadline)
	x.id, x.onMessage = jsonrpc.IntID(s.lastID.Add(1)), call.OnMessage
	x.Watch().Excuse(call.Waited)
	if call.OnID != nil {
		call.OnID(x.id)
	}
	const envelope = 64 // what surrounds id, method and params, about
	msg := make([]byte, 0, len(call.Params)+len(call.Method)+envelope)
	msg = jsonrpc.AppendRequest(msg, x.id, call.Method, call.Params)
	if failed := x.post(call.Authorization, call.Method, msg); failed != nil {
		x.Close()
		return "", s.judge(call.Method, x.id, failed)
	}
	if call.Authorization != "" {
		s.auth.Store(&call.Authorization)
	}
	if s.opening {
		if err := x.admitted(); err != nil {
			x.Close()
			return "", &transport.Failure{Err: err, Sent: true}
		}
	}
	if x.Streams() {
		return outcome(s.follow(ctx, deadline, x, call))
	}
	defer x.Close()
	return outcome(x.document())
}

// document reads an answer that is one JSON document.
func (x *exchange) document() (jsonrpc.Message, *transport.Failure) {
	var response jsonrpc.Message
	failed := x.Document(func(text []byte) *transport.Failure {
		v, err := wire.Check(text)
		if err != nil {
			return x.Invalid(err)
		}
		msg, done, failed := x.takeAll(v)
		if failed == nil && !done {
			failed = x.Invalid(nil)
		}
		response = msg
		return failed
	})
	return response, failed
}

// consume reads an event stream up to the response. It keeps at up to date; a
// failure of kind Broken leaves the stream to be resumed there.
func (x *exchange) consume(at *position) (jsonrpc.Message, *transport.Failure) {
	events := x.Events()
	defer events.Release()
	for {
		text, err := events.Next()
		at.note(events)
		switch {
		case err == io.EOF: //nolint:errorlint // never wrapped: wrapped it would be the transport's
			return jsonrpc.Message{}, x.Lost(transport.ErrNoResponse)
		case err == transport.ErrTooLarge, err == port.ErrNoRoom: //nolint:errorlint // as above
			return jsonrpc.Message{}, x.Fail(transport.Final, x.Status(), err)
		case err != nil:
			return jsonrpc.Message{}, x.Lost(err)
		}
		v, err := wire.Check(text)
		if err != nil {
			x.Ignored("unreadable message")
			continue
		}
		if msg, done, failed := x.takeAll(v); done || failed != nil {
			return msg, failed
		}
	}
}

// drain lets go of an exchange whose response has been read.
func (s *session) drain(x *exchange) {
	if x.Empty() {
		x.Close()
		return
	}
	x.Finish(func(drain func()) {
		if !s.spawn(func() {
			stop := context.AfterFunc(s.ctx, x.Close)
			defer stop()
			drain()
		}) {
			x.Close()
		}
	})
}
