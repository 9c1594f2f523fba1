package port

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TaskStatus is a task's status. Both eras spell the five the same.
type TaskStatus string

// The statuses of a task.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed"
	TaskFailed        TaskStatus = "failed"
	TaskCancelled     TaskStatus = "cancelled"
)

// Terminal reports whether the status is final.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// TaskState is what package task has to know of a task document.
type TaskState struct {
	// ID is the backend's task id.
	ID string
	// Status is the status as the backend says it.
	Status TaskStatus
	// CreatedAt is when the task was made, or zero when the document does not
	// say it in a readable way.
	CreatedAt time.Time
	// TTL is the retention counted from CreatedAt; negative means unlimited.
	TTL time.Duration
	// PollInterval is the pace the backend asks for, or zero.
	PollInterval time.Duration
	// Change is equal in two documents of a task when nothing of note changed
	// between them (PROTOCOL.md "A change of status"). lastUpdatedAt alone is
	// no change.
	Change string
}

// HostedTask is a task that lives in the bridge. Exactly one of Result and
// Error is set once it is completed or failed, and Questions while it needs input.
type HostedTask struct {
	ID                       string
	Status                   TaskStatus
	StatusMessage            string
	CreatedAt, LastUpdatedAt time.Time
	TTL                      time.Duration // negative: unlimited
	PollInterval             time.Duration
	// Result is the result object of the backend, as it came.
	Result wire.Value
	// Error is the error the call ended in.
	Error *jsonrpc.Error
	// Questions are those of a task that needs input.
	Questions []Question
}

// TaskDialect reads and writes task documents: the objects in which a backend
// reports a task. Package task stores and passes them on without looking
// inside. All methods are pure.
type TaskDialect interface {
	QuestionDialect
	// Questions returns the questions that a document lists, in its order.
	Questions(doc wire.Value) []Question
	// Read returns the state of a document, or an error that says where it is
	// malformed; an unknown status is an error.
	Read(doc wire.Value) (TaskState, error)
	// AppendHosted appends the document of a hosted task, in the backend's era,
	// so that it is rendered like any other.
	AppendHosted(dst []byte, task HostedTask) []byte
	// AppendOverlay appends doc with another status, message and update time,
	// and without payload.
	AppendOverlay(dst []byte, doc wire.Value, status TaskStatus, message string, at time.Time) []byte
	// AppendFailed appends doc as that of a task that the bridge has given up,
	// ended by a tool error with this message (§4.11).
	AppendFailed(dst []byte, doc wire.Value, message string, at time.Time) []byte
	// AppendRebased appends doc, a backend's document, with the creation time
	// that the client was told first; the ttl is adjusted so that the end stays
	// (Q38).
	AppendRebased(dst []byte, doc wire.Value, createdAt time.Time) []byte
	// AppendTask appends the face's rendering of doc as o says.
	AppendTask(dst []byte, doc wire.Value, o TaskView) ([]byte, error)
	// AppendCreated appends the face's answer to the call that made the task;
	// its status is working whatever the seed says (A-T6).
	AppendCreated(dst []byte, seed wire.Value, o TaskView) ([]byte, error)
	// AppendStatus appends the face's whole notification about the task. Two that
	// tell a client the same have equal shown (§4.16).
	AppendStatus(dst []byte, doc wire.Value, o TaskView) (notification []byte, shown string, err error)
	// Payload returns the end that the face gives the original call, for a
	// terminal document. wrapped says that the tool's output schema was told
	// wrapped, so that the result has to be wrapped, too (§3.7).
	Payload(doc wire.Value, handle string, wrapped bool) Outcome
}

// TaskView is how a task is shown to a client.
type TaskView struct {
	// Handle is the client's id of the task.
	Handle string
	// FirstSeen stands in for unreadable timestamps.
	FirstSeen time.Time
	// Answered is true when every question that the document lists has been
	// answered: the task is at work again, whatever the document says yet (§4.6).
	Answered bool
}

// TaskBackend performs task operations at a backend on behalf of a caller. The
// errors are those of [Back].
type TaskBackend interface {
	// GetTask fetches the current document of a task.
	GetTask(ctx context.Context, backend string, caller Caller, taskID string) (wire.Value, error)
	// CancelTask asks the backend to cancel a task.
	CancelTask(ctx context.Context, backend string, caller Caller, taskID string) error
	// UpdateTask hands answers to a task's questions over. It changes nothing for
	// answers that the backend has already.
	UpdateTask(ctx context.Context, backend string, caller Caller, taskID string, answers []Answer) error
}
