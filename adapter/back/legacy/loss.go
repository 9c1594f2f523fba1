package legacy

import (
	"fmt"
	"net/http"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// The codes that servers may define themselves; with HTTP 400 they are what some
// say for "no such session" (B-U4).
const (
	firstOwnCode = -32019
	lastOwnCode  = -32000
)

// judge turns the failure of a request of this method and id into the loss of
// the session where it is one.
func (s *session) judge(method string, id jsonrpc.ID, failed *transport.Failure) *transport.Failure {
	if !s.forgotten(method, id, failed) {
		return failed
	}
	s.lose()
	return lossOf(failed)
}

// forgotten reports whether an answer says that the server does not know the
// session any more and has run nothing (B-U4).
//
// An error with the request's own id may have been made by what was asked: it
// counts only where running that again does no harm. A method that does not exist
// is no session that does not exist, whatever the status.
func (s *session) forgotten(method string, id jsonrpc.ID, failed *transport.Failure) bool {
	if s.ticket.ID == "" {
		return false
	}
	answer := &failed.Answer
	own := id != "" && answer.ID == id
	switch failed.Status {
	case http.StatusNotFound:
		return !own || answer.Error.Code != jsonrpc.CodeMethodNotFound
	case http.StatusBadRequest:
		return answer.Kind == jsonrpc.KindError && answer.Error.Code >= firstOwnCode && answer.Error.Code <= lastOwnCode &&
			(answer.ID == "" || Repeatable(method))
	default:
		return false
	}
}

// lossOf is the failure of a request because its session is lost. What the server
// said is kept, for the case that it will say so in every session.
func lossOf(failed *transport.Failure) *transport.Failure {
	return &transport.Failure{Err: fmt.Errorf("%w: %w", port.ErrSessionLost, failed.Err)}
}
