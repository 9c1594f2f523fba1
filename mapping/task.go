package mapping

import (
	"errors"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// ReadDownTask reads a modern backend's task for the given method. What is
// malformed is the backend's fault: the error is an *[Error], with
// [ErrUnknownStatus] for a status that is none of the five.
func ReadDownTask(method string, doc wire.Value) (ext2026.Task, error) {
	task, err := ext2026.ParseTask(doc, "result")
	if err != nil {
		return ext2026.Task{}, taskError(Down, method, err)
	}
	return task, nil
}

// ReadUpTask is [ReadDownTask] for a legacy backend.
func ReadUpTask(method string, doc wire.Value) (legacy2025.Task, error) {
	task, err := legacy2025.ParseTask(doc, "result")
	if err != nil {
		return legacy2025.Task{}, taskError(Up, method, err)
	}
	return task, nil
}

// ReadUpCreateTask reads a legacy backend's CreateTaskResult; see [ReadDownTask].
func ReadUpCreateTask(result wire.Value) (legacy2025.CreateTaskResult, error) {
	created, err := legacy2025.ParseCreateTaskResult(result, "result")
	if err != nil {
		return legacy2025.CreateTaskResult{}, taskError(Up, legacy2025.MethodToolsCall, err)
	}
	return created, nil
}

func taskError(dir Dir, method string, err error) error {
	failure := &Error{Dir: dir, Method: method, Err: err}
	var decode *wire.DecodeError
	if errors.As(err, &decode) {
		failure.Path = decode.Path
		if decode.Path == "result.status" || decode.Path == "result.task.status" {
			failure.Err = ErrUnknownStatus
		}
	}
	return failure
}

// writeMessage writes statusMessage in its place, unless another one is to be
// shown or it is no string.
func writeMessage(w *wire.Writer, m wire.Member, shown shownState) Notes {
	switch {
	case shown.message != "":
		return 0
	case m.Value.Kind() == wire.KindString:
		w.Copy(m)
		return 0
	case m.Value == wire.Null:
		return 0
	default:
		return Notes(0).With(NoteStrayMember)
	}
}

// writeMs writes a duration under its name in the other era.
func writeMs(w *wire.Writer, name string, ms wire.Value, exact bool, note Note) Notes {
	w.Value(name, ms)
	if exact {
		return 0
	}
	return Notes(0).With(note)
}

// writeRequired writes what both eras require and the peer left out, and the
// status message that the bridge makes.
func writeRequired(w *wire.Writer, createdAt, lastUpdatedAt wire.Value, shown shownState, firstSeen string) Notes {
	var notes Notes
	if !createdAt.Present() {
		notes |= writeTime(w, "createdAt", "", firstSeen)
	}
	if !lastUpdatedAt.Present() {
		notes |= writeTime(w, "lastUpdatedAt", "", firstSeen)
	}
	if shown.message != "" {
		w.Text("statusMessage", shown.message)
	}
	return notes
}

// isTaskWrapper reports whether a member called task is the wrapper of a legacy
// CreateTaskResult: a legacy client could mistake the object around it for one.
func isTaskWrapper(v wire.Value) bool {
	_, ok := v.Get("taskId").Text()
	return ok
}
