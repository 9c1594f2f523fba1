package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// UpCapabilities says what the bridge can do for a legacy client.
type UpCapabilities struct {
	// Tasks declares the tasks extension: the bridge drives tasks (§2.2).
	Tasks bool
	// Questions is true when the bridge can relay elicitation, sampling and
	// roots to this client; otherwise all three are dropped (A-C1).
	Questions bool
}

// AppendUpClientCapabilities appends the capabilities that a modern request
// declares for a legacy client of this version; absent capabilities count as
// none.
//
// Rules A-C1, §2.2, §3.9. Loss: roots.listChanged, the client's tasks, and what
// cannot be relayed, each with a note.
func AppendUpClientCapabilities(dst []byte, capabilities wire.Value, version string, opts UpCapabilities) ([]byte, Notes, error) {
	if !capabilities.Present() {
		capabilities = "{}"
	}
	in, err := legacy2025.ParseClientCapabilities(capabilities, "params.capabilities")
	if err != nil {
		return dst, 0, malformed(Up, legacy2025.MethodInitialize, err)
	}
	var notes Notes
	w := wire.Begin(dst)
	extended := false
	for _, m := range in.Members() {
		switch m.Name {
		case "elicitation", "sampling", "roots":
			if !opts.Questions && m.Value != wire.Null {
				notes = notes.With(NoteUnrelayed)
			} else {
				notes |= writeQuestion(&w, Up, m, version)
			}
		case "tasks":
			notes = notes.With(NoteTasksCapability)
		case "extensions":
			writeWithout(&w, m, tasksKey, extension(opts.Tasks))
			extended = true
		default:
			w.Copy(m)
		}
	}
	if opts.Tasks && !extended {
		w.Value("extensions", `{"`+wire.TasksExtension+`":{}}`)
	}
	return w.End(), notes, nil
}

// AppendDownClientCapabilities appends the capabilities that initialize declares
// to a legacy server of this version for a modern request that declares
// capabilities.
//
// Rules §2.4, §4.25. Loss: what an older revision does not have, with a note;
// the tasks extension, which the bridge serves itself.
func AppendDownClientCapabilities(dst []byte, capabilities wire.Value, version string) ([]byte, Notes, error) {
	in, err := ext2026.ParseClientCapabilities(capabilities, wire.Join("params._meta", wire.MetaClientCapabilities))
	if err != nil {
		return dst, 0, malformed(Down, legacy2025.MethodInitialize, err)
	}
	var notes Notes
	w := wire.Begin(dst)
	for _, m := range in.Members() {
		switch m.Name {
		case "elicitation", "sampling", "roots":
			notes |= writeQuestion(&w, Down, m, version)
		case "tasks":
			notes = notes.With(NoteTasksCapability)
		case "extensions":
			writeWithout(&w, m, tasksKey, "")
		default:
			w.Copy(m)
		}
	}
	return w.End(), notes, nil
}

// writeQuestion writes a capability to be asked, as far as version has it. Both
// directions agree: listChanged of roots crosses neither way.
func writeQuestion(w *wire.Writer, dir Dir, m wire.Member, version string) Notes {
	var notes Notes
	if m.Value == wire.Null {
		return notes
	}
	switch m.Name {
	case "roots":
		if writeObjectWithout(w, m, changesKey) {
			notes = notes.With(NoteRootsListChanged)
		}
	case "elicitation":
		return writeElicitation(w, dir, m, version)
	default: // sampling
		if legacy2025.HasElicitationModes(version) {
			w.Copy(m)
			return notes
		}
		w.Value(m.Name, "{}")
		if m.Value != "{}" {
			notes = notes.With(NoteOlderRevision)
		}
	}
	return notes
}

func writeElicitation(w *wire.Writer, dir Dir, m wire.Member, version string) Notes {
	var notes Notes
	urlOnly := m.Value.Get("url").IsObject() && !m.Value.Get("form").IsObject()
	switch {
	case legacy2025.HasElicitationModes(version):
		w.Copy(m)
		return notes
	case !legacy2025.HasElicitation(version):
		return notes.With(NoteOlderRevision)
	case urlOnly && dir == Down:
		// A server of that revision asks forms, which this client cannot show. A
		// client of that revision always means forms.
		return notes.With(NoteOlderRevision)
	default:
		w.Value(m.Name, "{}")
		if m.Value != "{}" {
			notes = notes.With(NoteOlderRevision)
		}
		return notes
	}
}
