package port

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Place is where a session is found again, also by another process.
type Place struct {
	Ticket

	// Owner and Capabilities are the names under which sessions are kept apart.
	Owner, Capabilities string
}

// LentSession is the use of a session until it is released.
type LentSession interface {
	Session
	// Session is the session that is lent now. It is another once the backend has
	// forgotten the one before.
	Session() Session
	// Place is where the session is found again.
	Place() Place
	// Pin keeps the session at the backend beyond its use here (B-U5). Unpin ends
	// that; it may be called again.
	Pin() (unpin func())
	// Leave says that something lives on in the session that is not looked after here
	// any more: the session may be let go, but not ended at the backend.
	Leave()
	// Release gives the session back.
	Release()
}

// SessionLender lends sessions that exist already.
type SessionLender interface {
	// Resume lends the session at a place; when the backend has forgotten it, one
	// with the same capabilities takes its place with the next request (B-U4).
	Resume(ctx context.Context, backend string, caller Caller, place Place) (LentSession, error)
	// Authorization is the Authorization header that a caller's requests carry.
	Authorization(backend string, caller Caller) string
}

// TaskCall names a request about a task at a backend with sessions.
type TaskCall uint8

// The requests about tasks.
const (
	// TaskGet asks for the state of a task.
	TaskGet TaskCall = iota + 1
	// TaskResult waits for the end of a task and gives what its call would have
	// given. Meanwhile the backend may ask something.
	TaskResult
	// TaskCancel asks for the end of a task.
	TaskCancel
)

// TaskSaid is what a message of a backend says of tasks. The zero value says
// nothing.
type TaskSaid struct {
	// Task is the backend's id of the task that the message belongs to, or empty.
	Task string
	// Doc is the task's document, if the message is about its status, and Whole says
	// that nothing is missing there.
	Doc   wire.Value
	Whole bool
	// Withdrawn is the id of a request that the backend has taken back.
	Withdrawn jsonrpc.ID
	// Progress says that the message is about the progress of something.
	Progress bool
	// Unprompted says that backends ask this by themselves too: of a task that it does
	// not name it is only if that is known to need input.
	Unprompted bool
}

// TaskEnd is how a task has ended: what the backend gave for its call.
type TaskEnd struct {
	Result wire.Value
	Error  *jsonrpc.Error
}

// SessionTaskView is how a task of a backend with sessions is shown.
type SessionTaskView struct {
	// Handle is the client's id of the task.
	Handle string
	// FirstSeen stands in for unreadable timestamps.
	FirstSeen time.Time
	// ServerInfo is who the backend says it is, or absent.
	ServerInfo wire.Value
	// End is that of a task that is over, and has a result or an error.
	End TaskEnd
	// Questions are those that the caller may see, in the face's era. A task that
	// has some needs input, and one without is at work, whatever its document says.
	Questions []Question
	// Message is shown in place of the task's own, unless it is empty.
	Message string
}

// SessionTaskDialect reads and writes the tasks of backends with sessions, for a
// face that has none. Package pump stores and passes documents on without looking
// inside. All methods are pure.
type SessionTaskDialect interface {
	// Call returns a request about a task, without credential.
	Call(call TaskCall, taskID string) SessionCall
	// Read returns the state of a document, or an error that says where it is
	// malformed; an unknown status is an error.
	Read(doc wire.Value) (TaskState, error)
	// ReadCreated returns the document in the answer to a call that made a task.
	ReadCreated(result wire.Value) (wire.Value, error)
	// Cancels reports whether a backend that says this of itself can be asked to
	// cancel tasks. One that has not said anything can.
	Cancels(about wire.Value) bool
	// Said reads what a message says of tasks.
	Said(msg jsonrpc.Message) TaskSaid

	// Kind begins the keys of questions that are asked with this method; empty for
	// what is no question.
	Kind(method string) string
	// MayAsk reports whether a client with these capabilities may be shown a
	// question, and whether it has declared at least the kind (B-I4).
	MayAsk(capabilities wire.Value, method string, params wire.Value) (may, kind bool)
	// AppendQuestion appends a backend's request as the client sees it.
	AppendQuestion(dst []byte, method string, params wire.Value) ([]byte, error)
	// AppendAnswer appends the result with which an answer goes to the backend, tied
	// to the task unless its id is empty. The error names path if it is none.
	AppendAnswer(dst []byte, method string, params, answer wire.Value, taskID, path string) ([]byte, error)
	// Dismissal returns the result that says that there will be no answer; absent
	// where the era has no words for it.
	Dismissal(method string) wire.Value
	// Withdrawal returns the notification that a request is not wanted any more.
	Withdrawal(id jsonrpc.ID) (method string, params wire.Value)

	// AppendHosted appends the document of a task of the bridge, in the backend's
	// era, so that it is rendered like any other.
	AppendHosted(dst []byte, task HostedTask) []byte
	// AppendCreated appends the face's answer to the call that made a task, by that
	// of the backend.
	AppendCreated(dst []byte, result wire.Value, view SessionTaskView) ([]byte, error)
	// AppendHostedCreated is AppendCreated for a task of the bridge, by its document.
	AppendHostedCreated(dst []byte, doc wire.Value, view SessionTaskView) ([]byte, error)
	// AppendTask appends the face's rendering of a task.
	AppendTask(dst []byte, doc wire.Value, view SessionTaskView) ([]byte, error)
	// AppendStatus appends the face's whole notification about a task, for a
	// subscription. Two that tell a client the same have equal shown.
	AppendStatus(dst []byte, doc wire.Value, subscription jsonrpc.ID, view SessionTaskView) (notification []byte, shown string, err error)
	// AppendAck appends the acknowledgement of an answer or a cancellation.
	AppendAck(dst []byte, info wire.Value) []byte
	// ServerInfo returns who a backend says it is.
	ServerInfo(about wire.Value) wire.Value
	// Error returns what the face tells of a backend's error.
	Error(call TaskCall, e *jsonrpc.Error) *jsonrpc.Error
}
