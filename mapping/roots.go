package mapping

import "github.com/taskbridge/taskbridge/internal/wire"

// appendDownRoots appends the params of a legacy roots/list, which has some only
// to name a task (§3.3, A-I2). Nothing is appended without them.
func appendDownRoots(dst []byte, params wire.Value, o QuestionOptions) ([]byte, Notes) {
	var notes Notes
	w := wire.Begin(dst)
	for m := range params.Members() {
		switch m.Name {
		case "_meta":
			notes |= questionMeta(m.Value)
		case "task":
			notes = notes.With(NoteTaskMember)
		default:
			w.Copy(m)
		}
	}
	writeMeta(&w, Down, &wire.Object{}, metaPlan{relatedTask: o.TaskID})
	if w.Empty() {
		return dst, notes
	}
	return w.End(), notes
}

// writeUpRoots writes the params of a modern roots/list, which go unless a vendor
// put something there besides _meta and task (§3.3, G-3).
func writeUpRoots(w *wire.Writer, params *wire.Object) Notes {
	var notes Notes
	keep := false
	for _, m := range params.Members() {
		switch m.Name {
		case "_meta":
			notes |= questionMeta(m.Value)
		case "task":
			notes = notes.With(NoteTaskMember)
		default:
			keep = true
		}
	}
	if !keep {
		return notes
	}
	w.Name("params")
	out := wire.Begin(w.Buf())
	for _, m := range params.Members() {
		if m.Name != "_meta" && m.Name != "task" {
			out.Copy(m)
		}
	}
	w.SetBuf(out.End())
	return notes
}
