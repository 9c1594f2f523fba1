package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendUpTaskParams appends the params of a tasks/get or tasks/cancel to a modern
// backend: the backend's task id for the handle, and the envelope. params are the
// legacy client's, or absent for a request of the bridge's own; the caller has
// read their taskId with [legacy2025.ParseTaskID].
//
// Rules A-T4, A-H1, A-U1, §3.6.
// Loss: params.task, which clients copy into these requests, and forged answers.
func AppendUpTaskParams(dst []byte, params wire.Value, taskID string, env Envelope) ([]byte, Notes, error) {
	obj, meta, err := readTaskParams(params)
	if err != nil {
		return dst, 0, malformed(Up, ext2026.MethodTasksGet, err)
	}
	w := wire.Begin(dst)
	notes := writeTaskParams(&w, &obj, taskID, NoteForgedRetry)
	notes |= writeEnvelope(&w, &meta, env)
	return w.End(), notes, nil
}

// AppendDownTaskParams appends the params of a tasks/get, tasks/result or
// tasks/cancel to a legacy backend: the backend's task id for the handle, and
// neither the envelope nor related-task, which servers obey where they should
// ignore it. params are the modern client's, or absent for a request of the
// bridge's own.
//
// Rules §4.20, §4.22, §4.23, §3.6.
// Loss: a stray task or answer, and related-task.
func AppendDownTaskParams(dst []byte, params wire.Value, taskID string) ([]byte, Notes, error) {
	obj, meta, err := readTaskParams(params)
	if err != nil {
		return dst, 0, malformed(Down, legacy2025.MethodTasksGet, err)
	}
	w := wire.Begin(dst)
	notes := writeTaskParams(&w, &obj, taskID, NoteStrayMember)
	notes |= writeMeta(&w, Down, &meta, metaPlan{request: true})
	return w.End(), notes, nil
}

func readTaskParams(params wire.Value) (obj, meta wire.Object, err error) {
	if obj, err = wire.OptionalObject(params, "params"); err != nil {
		return obj, meta, err
	}
	meta, err = wire.OptionalObject(obj.Get("_meta"), "params._meta")
	return obj, meta, err
}

// writeTaskParams writes everything but _meta. A member of a retry sets the note.
func writeTaskParams(w *wire.Writer, params *wire.Object, taskID string, retry Note) Notes {
	var notes Notes
	w.Text("taskId", taskID)
	for _, m := range params.Members() {
		switch m.Name {
		case "taskId", "_meta":
		case "task":
			notes = notes.With(NoteTaskMember)
		case "inputResponses", "requestState":
			notes = notes.With(retry)
		default:
			w.Copy(m)
		}
	}
	return notes
}
