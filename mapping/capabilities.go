package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// legacyTasks is the tasks capability that the legacy face offers (§2.1).
const legacyTasks wire.Value = `{"requests":{"tools":{"call":{}}},"cancel":{},"list":{}}`

// AppendDownServerCapabilities appends a modern server's capabilities as the
// legacy face offers them.
//
// Rules §2.1, §3.9. Loss: listChanged and subscribe without a way to deliver
// changes; the tasks extension where tasks are not offered; both with a note.
func AppendDownServerCapabilities(dst []byte, in ext2026.ServerCapabilities, opts InitializeOptions) ([]byte, Notes, error) {
	offer := opts.Tasks && in.Tasks() && in.Declares("tools") && legacy2025.TaskCapable(opts.Version)
	var notes Notes
	w := wire.Begin(dst)
	for _, m := range in.Members() {
		switch {
		case m.Name == "tasks":
			notes = notes.With(NoteTasksCapability)
		case m.Name == "extensions":
			if writeWithout(&w, m, tasksKey, "") && !offer {
				notes = notes.With(NoteTasksCapability)
			}
		default:
			notes |= writeServerCapability(&w, m, opts.CanListen)
		}
	}
	if offer {
		w.Value("tasks", legacyTasks)
	}
	return w.End(), notes, nil
}

// AppendUpServerCapabilities appends the capabilities of a legacy server that
// speaks version as the modern face offers them.
//
// Rules §2.3. Loss: listChanged and subscribe without a way to deliver changes,
// and a tasks capability that tools cannot use; both with a note.
func AppendUpServerCapabilities(dst []byte, in legacy2025.ServerCapabilities, version string, opts DiscoverOptions) ([]byte, Notes, error) {
	offer := opts.HostTasks && in.Declares("tools") || in.TaskCalls() && legacy2025.TaskCapable(version)
	var notes Notes
	w := wire.Begin(dst)
	extended := false
	for _, m := range in.Members() {
		switch {
		case m.Name == "tasks":
			if !offer {
				notes = notes.With(NoteTasksCapability)
			}
		case m.Name == "extensions":
			writeWithout(&w, m, tasksKey, extension(offer))
			extended = true
		default:
			notes |= writeServerCapability(&w, m, opts.CanListen)
		}
	}
	if offer && !extended {
		w.Value("extensions", `{"`+wire.TasksExtension+`":{}}`)
	}
	return w.End(), notes, nil
}

func extension(offer bool) wire.Value {
	if offer {
		return "{}"
	}
	return ""
}

func tasksKey(name string) bool      { return name == wire.TasksExtension }
func tasksAnywhere(name string) bool { return name == "tasks" || name == wire.TasksExtension }
func changesKey(name string) bool    { return name == "listChanged" || name == "subscribe" }

// writeServerCapability writes a capability that both eras have, or an unknown
// one. Null declares nothing and is left out.
func writeServerCapability(w *wire.Writer, m wire.Member, canListen bool) Notes {
	var notes Notes
	switch m.Name {
	case "tools", "prompts", "resources":
		switch {
		case m.Value == wire.Null:
		case canListen:
			w.Copy(m)
		case writeObjectWithout(w, m, changesKey):
			notes = notes.With(NoteNoChanges)
		}
	case "completions", "logging":
		if m.Value != wire.Null {
			w.Copy(m)
		}
	case "experimental":
		if writeWithout(w, m, tasksAnywhere, "") {
			notes = notes.With(NoteTasksCapability)
		}
	default:
		w.Copy(m)
	}
	return notes
}

// writeWithout writes the open map m without the members that drop selects, and
// with the tasks extension at its end if tasks is present. A map that ends up
// empty, but did not start so, is left out. It reports whether a member was
// dropped.
func writeWithout(w *wire.Writer, m wire.Member, drop func(string) bool, tasks wire.Value) bool {
	before := len(w.Buf())
	dropped := writeObjectWithout(w, m, drop)
	if tasks.Present() {
		buf := w.Buf()
		inner := buf[:len(buf)-1]
		if inner[len(inner)-1] != '{' {
			inner = append(inner, ',')
		}
		inner = append(wire.AppendString(inner, wire.TasksExtension), ':')
		w.SetBuf(append(append(inner, tasks...), '}'))
		return dropped
	}
	if buf := w.Buf(); m.Value == wire.Null || dropped && buf[len(buf)-2] == '{' {
		w.SetBuf(buf[:before])
	}
	return dropped
}

// writeObjectWithout writes the object m without the members that drop selects
// and reports whether there were any.
func writeObjectWithout(w *wire.Writer, m wire.Member, drop func(string) bool) bool {
	dropped := false
	w.Name(m.Name)
	inner := wire.Begin(w.Buf())
	for member := range m.Value.Members() {
		if drop(member.Name) {
			dropped = true
			continue
		}
		inner.Copy(member)
	}
	w.SetBuf(inner.End())
	return dropped
}
