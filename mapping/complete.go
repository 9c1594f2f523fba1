package mapping

import (
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendUpComplete appends the result of completion/complete as a complete
// modern one, with at most [legacy2025.MaxCompletionValues] values. If values
// are cut, hasMore says so.
//
// Rules §3.3, §6.2. Loss: the values beyond the limit, with a note.
func AppendUpComplete(dst []byte, result wire.Value, opts UpResultOptions) ([]byte, Notes, error) {
	u, err := newUpResult(dst, legacy2025.MethodCompletionComplete, result)
	if err != nil {
		return dst, 0, err
	}
	for _, m := range u.obj.Members() {
		if u.handled(m) {
			continue
		}
		short, cut := firstElements(m.Value.Get("values"), legacy2025.MaxCompletionValues)
		if m.Name != "completion" || !cut {
			u.w.Copy(m)
			continue
		}
		writeCut(&u.w, m, short)
		u.notes = u.notes.With(NoteValuesCut)
	}
	return u.end(opts)
}

func writeCut(w *wire.Writer, completion wire.Member, values wire.Value) {
	w.Name(completion.Name)
	inner := wire.Begin(w.Buf())
	for m := range completion.Value.Members() {
		switch m.Name {
		case "values":
			inner.Value(m.Name, values)
		case "hasMore":
		default:
			inner.Copy(m)
		}
	}
	inner.Value("hasMore", "true")
	w.SetBuf(inner.End())
}

// firstElements returns the array v cut to limit elements, and whether that is
// shorter.
func firstElements(v wire.Value, limit int) (wire.Value, bool) {
	var out []byte
	for i, element := range v.Elements() {
		if i == limit {
			return wire.Value(append(out, ']')), true
		}
		if i == 0 {
			out = append(out, '[')
		} else {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	return v, false
}
