package mapping

import (
	"errors"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// TaskOptions say how a modern task is shown to a legacy client. The zero value
// is the default.
type TaskOptions struct {
	// FirstSeen is the RFC 3339 instant that stands in for an unreadable
	// timestamp (G-17); see [FormatTime].
	FirstSeen string
	// Answered says that every question the task lists has been answered through
	// the bridge and accepted: the task is then shown as working (§4.6, A-I6).
	Answered bool
	// ToolErrorsCompleted leaves a task with a tool error completed, for clients
	// that never fetch the result of a failed one (Q3, tool_errors: completed).
	ToolErrorsCompleted bool
}

// AppendDownTask appends the legacy rendering of a modern task, as tasks/get
// answers it, under the client's handle.
//
// Spec: ext-tasks "Task Status"; 2025-11-25 "Task Execution Errors". Rules §4.6,
// §4.8, §4.15, A-T17.
// Loss: result, error and inputRequests leave the object; a legacy client reaches
// them through tasks/result. Each sets a note, and so does every value that had
// to be changed.
func AppendDownTask(dst []byte, in ext2026.Task, handle string, o TaskOptions) ([]byte, Notes, error) {
	return appendDownTask(dst, &in, handle, o, ext2026.MethodTasksGet)
}

func appendDownTask(dst []byte, in *ext2026.Task, handle string, o TaskOptions, method string) ([]byte, Notes, error) {
	shown, notes, err := downState(in, o, method)
	if err != nil {
		return dst, 0, err
	}
	w := wire.Begin(dst)
	notes |= writeDownTask(&w, in, handle, shown, o.FirstSeen)
	notes |= writeMeta(&w, Down, in.Meta(), metaPlan{})
	return w.End(), notes, nil
}

// shownState is the part of a task that the other era sees differently.
type shownState struct {
	status string
	// message replaces statusMessage unless it is empty.
	message string
}

// downState decides status and statusMessage (§4.6, §4.8).
func downState(in *ext2026.Task, o TaskOptions, method string) (shownState, Notes, error) {
	message, _ := in.StatusMessage()
	switch in.Status() {
	case ext2026.StatusWorking:
		return shownState{status: string(legacy2025.StatusWorking)}, 0, nil
	case ext2026.StatusInputRequired:
		if o.Answered || in.InputRequests().Len() == 0 {
			return shownState{status: string(legacy2025.StatusWorking)}, Notes(0).With(NoteStatus), nil
		}
		return shownState{status: string(legacy2025.StatusInputRequired)}, 0, nil
	case ext2026.StatusCompleted:
		if !in.ResultIsError() || o.ToolErrorsCompleted {
			return shownState{status: string(legacy2025.StatusCompleted)}, 0, nil
		}
		// 2025-11-25 files a tool error under failed, ext-tasks under completed.
		shown, notes := shownState{status: string(legacy2025.StatusFailed)}, Notes(0).With(NoteToolError)
		if message == "" {
			if shown.message = in.FirstErrorText(); shown.message == "" {
				shown.message = "Tool returned an error"
			}
			notes = notes.With(NoteStatusMessage)
		}
		return shown, notes, nil
	case ext2026.StatusFailed:
		shown, notes := shownState{status: string(legacy2025.StatusFailed)}, Notes(0)
		if message == "" {
			if shown.message = in.ErrorMessage(); shown.message != "" {
				notes = notes.With(NoteStatusMessage)
			}
		}
		return shown, notes, nil
	case ext2026.StatusCancelled:
		return shownState{status: string(legacy2025.StatusCancelled)}, 0, nil
	default:
		return shownState{}, 0, &Error{Dir: Down, Method: method, Path: "result.status", Err: ErrUnknownStatus}
	}
}

// writeDownTask writes the members of a legacy task, all but _meta.
func writeDownTask(w *wire.Writer, in *ext2026.Task, handle string, shown shownState, firstSeen string) Notes {
	var notes Notes
	hasTTL := false
	for _, m := range in.Members() {
		switch m.Name {
		case "taskId":
			w.Text("taskId", handle)
		case "status":
			w.Text("status", shown.status)
		case "statusMessage":
			notes |= writeMessage(w, m, shown)
		case "createdAt", "lastUpdatedAt":
			notes |= writeTime(w, m.Name, m.Value, firstSeen)
		case "ttlMs":
			hasTTL = true
			ms, exact := in.TTLMs()
			notes |= writeMs(w, "ttl", ms, exact, NoteTTL)
		case "pollIntervalMs":
			ms, exact := in.PollIntervalMs()
			notes |= writeMs(w, "pollInterval", ms, exact, NotePollInterval)
		case "_meta", "resultType":
			// resultType is said by the place of the task, and _meta by the caller.
		default:
			notes |= writeDownOther(w, m)
		}
	}
	if !hasTTL {
		notes |= writeMs(w, "ttl", wire.Null, false, NoteTTL)
	}
	return notes | writeRequired(w, in.CreatedAt(), in.LastUpdatedAt(), shown, firstSeen)
}

// writeDownOther writes a member of a modern task that legacy has no name for,
// unless §6.1 or §6.2 keeps it away.
func writeDownOther(w *wire.Writer, m wire.Member) Notes {
	switch m.Name {
	case "result":
		return Notes(0).With(NoteResult)
	case "error":
		return Notes(0).With(NoteError)
	case "inputRequests":
		return Notes(0).With(NoteInputRequests)
	case "requestState":
		return Notes(0).With(NoteStrayMember)
	case "ttl", "pollInterval":
		return Notes(0).With(NoteStrayMember)
	case "task":
		if isTaskWrapper(m.Value) {
			return Notes(0).With(NoteForeignTask)
		}
	}
	w.Copy(m)
	return 0
}

// UpTaskOptions say how a legacy task is shown to a modern client.
type UpTaskOptions struct {
	// FirstSeen is the RFC 3339 instant that stands in for an unreadable
	// timestamp (G-17).
	FirstSeen string
	// ServerInfo is set in _meta; absent sets none.
	ServerInfo wire.Value
	// Payload is the backend's answer to tasks/result. A completed or failed task
	// needs one (§4.20).
	Payload Payload
	// Requests are the outstanding questions the caller may see. Without any, a
	// task that needs input is shown as working (B-I6); with some, a working one
	// needs input, whatever a server says that asks without changing the status.
	Requests []InputEntry
	// Message replaces statusMessage unless it is empty (B-I10).
	Message string
}

// Payload is the end of a legacy task: what tasks/result answered. Exactly one
// member is set.
type Payload struct {
	Result wire.Value
	Error  *jsonrpc.Error
}

// ErrNoPayload: a legacy task is over, and its end has not been fetched.
var ErrNoPayload = errors.New("the end of the task is missing")

// AppendUpTask appends the DetailedTask of a legacy task, as tasks/get answers it
// to a modern client, under the client's handle. A terminal task carries its end,
// one that needs input its questions.
//
// Spec: 2025-11-25 "Task Execution Errors"; ext-tasks "Task Status". Rules §4.20,
// B-G2, B-G3, B-G4.
// Loss: a failed tool becomes completed, an error code of the other era is
// replaced, and an error is made for a task that failed without content.
func AppendUpTask(dst []byte, in legacy2025.Task, handle string, o UpTaskOptions) ([]byte, Notes, error) {
	return appendUpTask(dst, &in, handle, o, metaPlan{serverInfo: o.ServerInfo}, true)
}

func appendUpTask(dst []byte, in *legacy2025.Task, handle string, o UpTaskOptions, plan metaPlan, isResult bool) ([]byte, Notes, error) {
	status, notes, err := upStatus(in, o)
	if err != nil {
		return dst, 0, err
	}
	w := wire.Begin(dst)
	if isResult {
		w.Text("resultType", string(ext2026.ResultComplete))
	}
	notes |= writeUpTask(&w, in, handle, shownState{status: string(status), message: o.Message}, o.FirstSeen)
	switch status {
	case ext2026.StatusInputRequired:
		writeInputRequests(&w, o.Requests)
	case ext2026.StatusCompleted:
		w.Name("result")
		// resultType belongs inside too (Q1), serverInfo only outside (B-G2).
		buf, more, err := AppendUpCallResult(w.Buf(), o.Payload.Result, UpResultOptions{})
		if err != nil {
			return dst, 0, err
		}
		w.SetBuf(buf)
		notes |= more
	case ext2026.StatusFailed:
		failure, more := upTaskFailure(in, o.Payload)
		w.Name("error")
		w.SetBuf(jsonrpc.AppendErrorObject(w.Buf(), failure))
		notes |= more
	default: // the others carry nothing
	}
	if in.Meta().Has(wire.MetaImmediateResponse) {
		notes = notes.With(NoteImmediateResponse) // it belongs to the creation alone
	}
	notes |= writeMeta(&w, Up, in.Meta(), plan)
	return w.End(), notes, nil
}

// upStatus decides the status of a legacy task by its own and its end (§4.20).
func upStatus(in *legacy2025.Task, o UpTaskOptions) (ext2026.Status, Notes, error) {
	switch in.Status() {
	case legacy2025.StatusWorking:
		if len(o.Requests) > 0 {
			return ext2026.StatusInputRequired, Notes(0).With(NoteStatus), nil
		}
		return ext2026.StatusWorking, 0, nil
	case legacy2025.StatusInputRequired:
		if len(o.Requests) == 0 {
			return ext2026.StatusWorking, Notes(0).With(NoteStatus), nil
		}
		return ext2026.StatusInputRequired, 0, nil
	case legacy2025.StatusCompleted, legacy2025.StatusFailed:
		return upEnd(in.Status() == legacy2025.StatusFailed, o.Payload)
	case legacy2025.StatusCancelled:
		return ext2026.StatusCancelled, 0, nil
	default:
		return "", 0, &Error{Dir: Up, Method: legacy2025.MethodTasksGet, Path: "result.status", Err: ErrUnknownStatus}
	}
}

func upEnd(failed bool, end Payload) (ext2026.Status, Notes, error) {
	switch {
	case end.Error != nil && failed:
		return ext2026.StatusFailed, 0, nil
	case end.Error != nil:
		return ext2026.StatusFailed, Notes(0).With(NoteStatus), nil
	case !end.Result.IsObject():
		return "", 0, &Error{Dir: Up, Method: legacy2025.MethodTasksResult, Path: "result", Err: ErrNoPayload}
	case !failed:
		return ext2026.StatusCompleted, 0, nil
	case legacy2025.HasContent(end.Result):
		return ext2026.StatusCompleted, Notes(0).With(NoteToolError), nil
	default:
		return ext2026.StatusFailed, 0, nil
	}
}

// upTaskFailure returns the error of a failed task. Servers on the TypeScript SDK 1.x
// that keep none answer tasks/result with one about the keeping, which names their id.
func upTaskFailure(in *legacy2025.Task, end Payload) (*jsonrpc.Error, Notes) {
	if end.Error != nil && end.Error.Message != "Task "+in.ID()+" has no result stored" {
		failure := UpError(legacy2025.MethodTasksResult, end.Error)
		if failure.Code != end.Error.Code {
			return failure, Notes(0).With(NoteErrorCode)
		}
		return failure, 0
	}
	message, _ := in.StatusMessage()
	if message == "" {
		message = "Task failed"
	}
	return jsonrpc.NewError(jsonrpc.CodeInternal, "%s", message), Notes(0).With(NoteMadeError)
}

// writeUpTask writes the members of a modern task, all but _meta, resultType and
// the payload.
func writeUpTask(w *wire.Writer, in *legacy2025.Task, handle string, shown shownState, firstSeen string) Notes {
	var notes Notes
	hasTTL := false
	for _, m := range in.Members() {
		switch m.Name {
		case "taskId":
			w.Text("taskId", handle)
		case "status":
			w.Text("status", shown.status)
		case "statusMessage":
			notes |= writeMessage(w, m, shown)
		case "createdAt", "lastUpdatedAt":
			notes |= writeTime(w, m.Name, m.Value, firstSeen)
		case "ttl":
			hasTTL = true
			ms, exact := in.TTL()
			notes |= writeMs(w, "ttlMs", ms, exact, NoteTTL)
		case "pollInterval":
			ms, exact := in.PollInterval()
			notes |= writeMs(w, "pollIntervalMs", ms, exact, NotePollInterval)
		case "_meta":
			// written by the caller
		default:
			notes |= writeUpOther(w, m)
		}
	}
	if !hasTTL {
		notes |= writeMs(w, "ttlMs", wire.Null, false, NoteTTL)
	}
	return notes | writeRequired(w, in.CreatedAt(), in.LastUpdatedAt(), shown, firstSeen)
}

// writeUpOther writes a member of a legacy task that modern has no name for,
// unless §6.1 or §6.2 keeps it away.
func writeUpOther(w *wire.Writer, m wire.Member) Notes {
	switch {
	case ext2026.IsPayloadMember(m.Name), m.Name == "ttlMs", m.Name == "pollIntervalMs", m.Name == "resultType":
		return Notes(0).With(NoteStrayMember)
	case m.Name == "task" && isTaskWrapper(m.Value):
		return Notes(0).With(NoteForeignTask)
	}
	w.Copy(m)
	return 0
}
