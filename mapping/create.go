package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendDownCreateTask appends the CreateTaskResult for a modern seed, the flat
// task that answered tools/call, under the client's handle. Its status is working
// whatever the seed says; the true one shows on the next tasks/get. Vendor members
// of the seed stay with the task, vendor keys of its _meta go to the result.
//
// Spec: 2025-11-25 "Task Status Lifecycle" and "Creating Tasks"; ext-tasks "Task
// Creation". Rules A-T6, A-T8, Q22.
// Loss: an early status, and result, error or inputRequests of a seed, which may
// not have them; they show on the next tasks/get. Each sets a note.
func AppendDownCreateTask(dst []byte, seed ext2026.Task, handle string, o TaskOptions) ([]byte, Notes, error) {
	if !seed.Status().Known() {
		return dst, 0, &Error{Dir: Down, Method: ext2026.MethodToolsCall, Path: "result.status", Err: ErrUnknownStatus}
	}
	var notes Notes
	if seed.Status() != ext2026.StatusWorking {
		notes = notes.With(NoteStatus)
	}
	w := wire.Begin(dst)
	w.Name("task")
	task := wire.Begin(w.Buf())
	shown := shownState{status: string(legacy2025.StatusWorking)}
	notes |= writeDownTask(&task, &seed, handle, shown, o.FirstSeen)
	w.SetBuf(task.End())
	notes |= writeMeta(&w, Down, seed.Meta(), metaPlan{relatedTask: handle})
	return w.End(), notes, nil
}

// AppendUpCreateTask appends the flat seed for a legacy CreateTaskResult, under
// the client's handle and with serverInfo, unless it is absent, in _meta. A task
// that needs input is working until a question is in hand (Q32); a terminal seed
// stays as it is and carries no payload. Without a statusMessage the text of
// model-immediate-response takes its place (B-T3).
//
// Spec: 2025-11-25 "Creating Tasks"; ext-tasks "Task Creation". Rules B-T2, B-T3.
// Loss: tool content beside the task, for the task wins, and an immediate response
// beside a statusMessage. Each sets a note.
func AppendUpCreateTask(dst []byte, in legacy2025.CreateTaskResult, handle string, o UpTaskOptions) ([]byte, Notes, error) {
	task := &in.Task
	if !task.Status().Known() {
		return dst, 0, &Error{Dir: Up, Method: legacy2025.MethodToolsCall, Path: "result.task.status", Err: ErrUnknownStatus}
	}
	var notes Notes
	shown := shownState{status: string(task.Status())}
	if task.Status() == legacy2025.StatusInputRequired {
		shown.status = string(ext2026.StatusWorking)
		notes = notes.With(NoteStatus)
	}
	if in.Meta().Has(wire.MetaImmediateResponse) {
		notes = notes.With(NoteImmediateResponse)
	}
	if message, _ := task.StatusMessage(); message == "" {
		shown.message, _ = in.ImmediateResponse()
	}
	w := wire.Begin(dst)
	w.Text("resultType", string(ext2026.ResultTask))
	notes |= writeUpTask(&w, task, handle, shown, o.FirstSeen)
	notes |= writeBesideTask(&w, &in)
	meta := in.Meta()
	if meta.Len() == 0 {
		meta = task.Meta()
	} else if task.Meta().Len() > 0 {
		notes = notes.With(NoteStrayMember)
	}
	notes |= writeMeta(&w, Up, meta, metaPlan{serverInfo: o.ServerInfo})
	return w.End(), notes, nil
}

// writeBesideTask copies the vendor members that stand beside the task, unless
// the flat task has a member of that name already.
func writeBesideTask(w *wire.Writer, in *legacy2025.CreateTaskResult) Notes {
	var notes Notes
	for _, m := range in.Members() {
		switch m.Name {
		case "task", "_meta":
			continue
		case "content", "structuredContent", "isError":
			notes = notes.With(NoteTaskContent)
			continue
		case "statusMessage", "createdAt", "lastUpdatedAt", "ttl", "pollInterval":
			// The bridge may have written the task's own, even if it lacks them.
			notes = notes.With(NoteStrayMember)
			continue
		}
		if in.Task.Has(m.Name) {
			notes = notes.With(NoteStrayMember)
			continue
		}
		notes |= writeUpOther(w, m)
	}
	return notes
}

// AppendDownTaskMetadata appends the params.task that a backend is asked for a
// task with: its retention in milliseconds (§4.19).
func AppendDownTaskMetadata(dst []byte, ttlMs int64) []byte {
	w := wire.Begin(dst)
	w.Int("ttl", ttlMs)
	return w.End()
}
