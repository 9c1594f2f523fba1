package port

import (
	"errors"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Question is one thing that a backend wants to know of a client.
type Question struct {
	// Key is the backend's name for it, unique in its task or round.
	Key string
	// Request is the question in the backend's era, as it came.
	Request wire.Value
}

// Answer is the answer to a [Question], in the backend's era.
type Answer struct {
	Key   string
	Value wire.Value
}

// ErrUnaskable says that a client cannot be asked a question: it has not declared
// that it can, or its revision has no words for it (A-C1, §4.11).
var ErrUnaskable = errors.New("the client cannot be asked this")

// QuestionDialect reads and writes questions: what a backend wants to know, and
// the requests in which a face asks its clients. All methods are pure.
type QuestionDialect interface {
	// Check returns nil if the caller can be asked q, and an error that wraps
	// [ErrUnaskable] otherwise.
	Check(q Question, caller Caller) error
	// AppendQuestion appends the request that puts q to the caller, with this
	// id, tied to the task of the handle unless that is empty. elicitationID is
	// for questions that need one. It fails where Check does.
	AppendQuestion(dst []byte, q Question, caller Caller, ask Ask) ([]byte, error)
	// Answer returns what a response to q means to the backend. An error says
	// that it is no answer to it (§4.11).
	Answer(q Question, response jsonrpc.Message) (wire.Value, error)
	// Dismissal returns the answer that stands for none, where q has one.
	Dismissal(q Question) (wire.Value, bool)
	// Repeats reports whether a question with this answer may come again, although
	// nobody has anything to add: a server asks again until the user is done with
	// the URL that it was told would be visited (A-I11).
	Repeats(q Question, answer wire.Value) bool
	// AppendWithdrawal appends the notification that takes a request back.
	AppendWithdrawal(dst []byte, id jsonrpc.ID) []byte
}

// Ask is how a question is put to a client.
type Ask struct {
	// ID is the request's.
	ID jsonrpc.ID
	// Handle ties the request to a task (A-I2); empty for a plain call.
	Handle string
	// ElicitationID identifies a question that leads the user to a URL (A-I11).
	ElicitationID string
}
