package legacy

import (
	"context"
	"net/http"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// responding stands in errors for the method that a response has not.
const responding = "response"

// Notify implements [port.Session]. Any status that is 2xx accepts it.
func (s *session) Notify(ctx context.Context, method string, params wire.Value) error {
	failed := s.send(ctx, method, method, jsonrpc.AppendNotification(nil, method, params))
	if failed == nil {
		return nil
	}
	return failed.Err
}

// Respond implements [port.Session]. Servers that are not waiting for the
// response any more may say so with HTTP 400 and no JSON-RPC, which is no error.
func (s *session) Respond(ctx context.Context, response []byte) error {
	failed := s.send(ctx, responding, "", response)
	if failed == nil || failed.Status == http.StatusBadRequest && failed.Answer.Kind == 0 {
		return nil
	}
	return failed.Err
}

// send posts a message that has no response. It is sent again once if nothing of
// it has reached the server.
func (s *session) send(ctx context.Context, op, method string, msg []byte) *transport.Failure {
	server := &s.c.server
	ctx, leave := s.join(ctx)
	defer leave()
	for tries := 1; ; tries++ {
		if s.gone() {
			return &transport.Failure{Err: port.ErrSessionLost}
		}
		x := s.exchange(ctx, op, s.c.times.Accept)
		failed := x.post("", method, msg)
		if failed == nil {
			s.drain(x)
			return nil
		}
		x.Close()
		failed = s.judge(method, "", failed)
		wait, again := server.Again(false, tries, failed)
		if !again {
			return failed
		}
		if err := env.Sleep(ctx, server.Env, wait); err != nil {
			return &transport.Failure{Err: &port.UpstreamError{Op: op, Err: err}}
		}
	}
}

// pong answers a ping of the server (B-U7), without holding up the stream it came
// on. It returns false when too many are being answered.
func (s *session) pong(id jsonrpc.ID) bool {
	select {
	case s.pongs <- struct{}{}:
	default:
		return false
	}
	if !s.spawn(func() {
		_ = s.Respond(s.ctx, jsonrpc.AppendResult(nil, id, []byte("{}")))
		<-s.pongs
	}) {
		<-s.pongs
	}
	return true
}
