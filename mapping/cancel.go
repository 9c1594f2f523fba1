package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// AppendUpCancelAck appends the acknowledgement that a modern client gets for
// tasks/cancel. in is the answer of the legacy backend, a task, or absent.
//
// Spec: 2025-11-25 "Task Cancellation"; ext-tasks "Task Cancellation". Rule §4.22.
// Loss: the task in the answer; the next tasks/get tells it.
func AppendUpCancelAck(dst []byte, in, info wire.Value) ([]byte, Notes) {
	var notes Notes
	if in.Get("taskId").Present() {
		notes = notes.With(NoteTaskFields)
	}
	return AppendUpAck(dst, info), notes
}

// AppendUpAck appends an acknowledgement of the modern face, as tasks/update gives
// it too: nothing but resultType, and serverInfo, unless it is absent, in _meta. It
// never has fields of the task (B-I5).
func AppendUpAck(dst []byte, info wire.Value) []byte {
	w := wire.Begin(dst)
	w.Text("resultType", string(ext2026.ResultComplete))
	writeMeta(&w, Up, &wire.Object{}, metaPlan{serverInfo: info})
	return w.End()
}
