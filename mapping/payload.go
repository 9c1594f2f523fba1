package mapping

import (
	"errors"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// ErrNotTerminal: a task has no outcome because it is not over.
var ErrNotTerminal = errors.New("the task is not over")

// Cancelled is the error with which the original call of a cancelled task ends on
// both faces (A-R1, A-T13).
func Cancelled() *jsonrpc.Error {
	return jsonrpc.NewError(jsonrpc.CodeInternal, "Task was cancelled")
}

// AppendDownTaskPayload appends the end of a terminal modern task as tasks/result
// gives it to a legacy client: the result of the call, tied to the task by the
// client's handle. An empty handle ties it to none, for a plain call that the
// bridge drove as a task (A-T13).
//
// o says for whom the result is rendered; its RelatedTask is not used.
//
// A task that failed or was cancelled has no result: the error is then a
// *[jsonrpc.Error] with exactly the code, message and data of the task's error,
// but for codes that the legacy era must not see. Any other error is an *[Error]:
// the task is not over, or its result is missing.
//
// Spec: 2025-11-25 "Result Retrieval", "Task Execution Errors". Rules A-R1, §1.6,
// §3.7.
// Loss: reserved keys of the result's _meta; a structuredContent that is no object
// is wrapped. Each sets a note.
func AppendDownTaskPayload(dst []byte, in ext2026.Task, handle string, o ResultOptions) ([]byte, Notes, error) {
	switch in.Status() {
	case ext2026.StatusCompleted:
		result, err := ext2026.ParseResult(ext2026.MethodToolsCall, in.Result())
		if err != nil {
			return dst, 0, malformed(Down, ext2026.MethodTasksGet, err)
		}
		o.RelatedTask = handle
		return AppendDownCallResult(dst, result, o)
	case ext2026.StatusFailed:
		failure, notes := downTaskFailure(&in)
		return dst, notes, failure
	case ext2026.StatusCancelled:
		return dst, 0, Cancelled()
	case ext2026.StatusWorking, ext2026.StatusInputRequired:
		return dst, 0, payloadError("result.status", ErrNotTerminal)
	default:
		return dst, 0, payloadError("result.status", ErrUnknownStatus)
	}
}

func payloadError(path string, err error) error {
	return &Error{Dir: Down, Method: ext2026.MethodTasksGet, Path: path, Err: err}
}

// downTaskFailure returns the error of a failed task for a legacy client.
func downTaskFailure(in *ext2026.Task) (*jsonrpc.Error, Notes) {
	failure, err := jsonrpc.ParseError(in.Error(), "error")
	if err != nil {
		message, _ := in.StatusMessage()
		if message == "" {
			if message = in.ErrorMessage(); message == "" {
				message = "Task failed"
			}
		}
		return jsonrpc.NewError(jsonrpc.CodeInternal, "%s", message), Notes(0).With(NoteMadeError)
	}
	return downTaskError(failure)
}

// AppendDownFailedResult appends the result of a tool call that cannot go on
// because a question of the server has no answer (§4.11, A-M6). An empty handle
// ties it to no task.
func AppendDownFailedResult(dst []byte, message, handle string) []byte {
	w := wire.Begin(dst)
	w.Name("content")
	w.SetBuf(append(appendTextBlock(append(w.Buf(), '['), message), ']'))
	w.Value("isError", "true")
	writeMeta(&w, Down, &wire.Object{}, metaPlan{relatedTask: handle})
	return w.End()
}

// hasText reports whether a content list has a text block.
func hasText(content wire.Value) bool {
	for _, block := range content.Elements() {
		if kind, _ := block.Get("type").Text(); kind == "text" {
			return true
		}
	}
	return false
}

// appendTextBlock appends a text content block.
func appendTextBlock(dst []byte, text string) []byte {
	w := wire.Begin(dst)
	w.Text("type", "text")
	w.Text("text", text)
	return w.End()
}
