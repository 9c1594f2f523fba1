package mapping

import (
	"strconv"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// appendDownElicit appends the params of a legacy elicitation/create.
func appendDownElicit(dst []byte, params wire.Value, o QuestionOptions) ([]byte, Notes, error) {
	mode, ok := ext2026.ElicitMode(params)
	old := o.old()
	isURL := mode == ext2026.ElicitURL
	if !ok || old && isURL || isURL && o.ElicitationID == "" {
		return dst, 0, noQuestion(Down, ext2026.MethodElicitationCreate, "params.mode")
	}
	var notes Notes
	w := wire.Begin(dst)
	for m := range params.Members() {
		switch {
		case m.Name == "_meta":
			notes |= questionMeta(m.Value)
		case m.Name == "task":
			notes = notes.With(NoteTaskMember)
		case m.Name == "elicitationId" && isURL:
			notes = notes.With(NoteElicitationID)
		case m.Name == "mode" && old:
			notes = notes.With(NoteQuestionForm)
		case m.Name == "requestedSchema" && old:
			more, err := writeOldSchema(&w, m.Value)
			if err != nil {
				return dst, 0, err
			}
			notes |= more
		default:
			w.Copy(m)
		}
	}
	if isURL {
		w.Text("elicitationId", o.ElicitationID)
	}
	writeMeta(&w, Down, &wire.Object{}, metaPlan{relatedTask: o.TaskID})
	return w.End(), notes, nil
}

// writeOldSchema writes a requestedSchema for a 2025-06-18 client, which knows
// plain fields and single-select enums with enumNames (§3.9).
func writeOldSchema(w *wire.Writer, schema wire.Value) (Notes, error) {
	var notes Notes
	if !schema.IsObject() {
		w.Value("requestedSchema", schema)
		return 0, nil
	}
	w.Name("requestedSchema")
	out := wire.Begin(w.Buf())
	for m := range schema.Members() {
		if m.Name != "properties" || !m.Value.IsObject() {
			out.Copy(m)
			continue
		}
		out.Name("properties")
		fields := wire.Begin(out.Buf())
		for field := range m.Value.Members() {
			more, err := writeOldField(&fields, field)
			if err != nil {
				return 0, err
			}
			notes |= more
		}
		out.SetBuf(fields.End())
	}
	w.SetBuf(out.End())
	return notes, nil
}

func writeOldField(w *wire.Writer, field wire.Member) (Notes, error) {
	kind, _ := field.Value.Get("type").Text()
	choices := field.Value.Get("oneOf")
	if kind == "array" || field.Value.Get("anyOf").Present() || !areChoices(choices) {
		// A multiple choice has no equivalent.
		return 0, noQuestion(Down, ext2026.MethodElicitationCreate, "params.requestedSchema.properties")
	}
	var notes Notes
	if !field.Value.IsObject() {
		w.Copy(field)
		return 0, nil
	}
	w.Name(field.Name)
	out := wire.Begin(w.Buf())
	for m := range field.Value.Members() {
		switch {
		case m.Name == "oneOf":
			writeEnum(&out, choices)
			notes = notes.With(NoteQuestionForm)
		case choices.Present() && (m.Name == "enum" || m.Name == "enumNames"), m.Name == "default" && kind != "boolean":
			notes = notes.With(NoteQuestionForm)
		default:
			out.Copy(m)
		}
	}
	w.SetBuf(out.End())
	return notes, nil
}

// areChoices reports whether oneOf, if there is one, lists titled constants.
func areChoices(oneOf wire.Value) bool {
	if oneOf.Present() && oneOf.Kind() != wire.KindArray {
		return false
	}
	for _, choice := range oneOf.Elements() {
		if !choice.Get("const").Present() {
			return false
		}
	}
	return true
}

// writeEnum writes titled choices as the parallel lists enum and enumNames. A
// choice without a title is shown by its value.
func writeEnum(w *wire.Writer, choices wire.Value) {
	for _, list := range [...]string{"enum", "enumNames"} {
		w.Name(list)
		buf := append(w.Buf(), '[')
		for i, choice := range choices.Elements() {
			if i > 0 {
				buf = append(buf, ',')
			}
			v := choice.Get("const")
			if title := choice.Get("title"); list == "enumNames" && title.Present() {
				v = title
			}
			buf = append(buf, v...)
		}
		w.SetBuf(append(buf, ']'))
	}
}

// AppendUpURLElicitations appends the inputRequests for the URLs that a legacy
// server's -32042 asks the user to visit first, under the keys url-1, url-2 and so
// on. The ids stay with the bridge.
//
// Rule B-U10.
func AppendUpURLElicitations(dst []byte, list []legacy2025.URLElicitation) []byte {
	w := wire.Begin(dst)
	for i, elicitation := range list {
		w.Name("url-" + strconv.Itoa(i+1))
		entry := wire.Begin(w.Buf())
		entry.Text("method", ext2026.MethodElicitationCreate)
		writeUpQuestion(&entry, &elicitation.Object)
		w.SetBuf(entry.End())
	}
	return w.End()
}
