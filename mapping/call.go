package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendDownCallResult appends the complete result of tools/call as a legacy
// one.
//
// Structured content that is no object, or belongs to a tool whose output
// schema was wrapped, is wrapped the same way; it is then also told as text if
// there is no text yet, and so is what an older client cannot see. The bytes of
// content blocks are not touched.
//
// Spec: 2026-07-28 "Structured Content"; 2025-11-25 "Structured Content". Rules
// §3.3, §3.7, §3.9, §6.1, §6.2.
// Loss: a task member that a legacy client could mistake for its task, and
// members of a retry, with a note.
func AppendDownCallResult(dst []byte, in ext2026.Result, opts ResultOptions) ([]byte, Notes, error) {
	d, err := newDownResult(dst, ext2026.MethodToolsCall, in)
	if err != nil {
		return dst, 0, err
	}
	structured, blocks := in.Get("structuredContent"), in.Get("content")
	wrap := structured.Present() && (opts.Wrapped || !structured.IsObject())
	content := contentPlan{version: opts.version(), blocks: blocks}
	tell := wrap || !legacy2025.HasStructuredContent(content.version)
	if tell && !hasText(blocks) {
		content.text = structured
	}
	if !blocks.Present() {
		d.notes |= content.write(&d.w)
	}
	for _, m := range in.Members() {
		switch {
		case d.handled(m):
		case m.Name == "content":
			d.notes |= content.write(&d.w)
		case m.Name == "structuredContent":
			d.notes |= writeStructured(&d.w, m, wrap, opts.version())
		case m.Name == "task" && m.Value.Get("taskId").Present():
			d.notes = d.notes.With(NoteForeignTask)
		default:
			d.w.Copy(m)
		}
	}
	return d.end(metaPlan{relatedTask: opts.RelatedTask})
}

func writeStructured(w *wire.Writer, m wire.Member, wrap bool, version string) Notes {
	var notes Notes
	switch {
	case !legacy2025.HasStructuredContent(version):
		return notes.With(NoteOlderRevision)
	case wrap:
		w.Name(m.Name)
		inner := wire.Begin(w.Buf())
		inner.Value("result", m.Value)
		w.SetBuf(inner.End())
		return notes.With(NoteStructuredWrapped)
	default:
		w.Copy(m)
		return notes
	}
}

// contentPlan writes the content of a result.
type contentPlan struct {
	version string
	// blocks is the array as received; absent counts as empty.
	blocks wire.Value
	// text is a value to append as a text block, or absent.
	text wire.Value
}

func (c *contentPlan) write(w *wire.Writer) Notes {
	w.Name("content")
	blocks := c.blocks
	if !blocks.Present() {
		blocks = "[]"
	}
	buf, notes := appendBlocks(w.Buf(), blocks, c.version)
	if c.text.Present() && blocks.Kind() == wire.KindArray { // what is no list has no room for a block
		buf = buf[:len(buf)-1] // reopen the array
		if buf[len(buf)-1] != '[' {
			buf = append(buf, ',')
		}
		buf = append(appendTextBlock(buf, string(c.text)), ']')
		notes = notes.With(NoteTextAdded)
	}
	w.SetBuf(buf)
	return notes
}

// AppendUpCallResult appends the result of tools/call as a complete modern one.
// It is for results that carry no task; see §4.19.
//
// Rules §3.3, §6.2. Loss: as for [AppendUpResult].
func AppendUpCallResult(dst []byte, result wire.Value, opts UpResultOptions) ([]byte, Notes, error) {
	u, err := newUpResult(dst, legacy2025.MethodToolsCall, result)
	if err != nil {
		return dst, 0, err
	}
	if !u.obj.Has("content") {
		u.w.Value("content", "[]")
	}
	for _, m := range u.obj.Members() {
		if !u.handled(m) {
			u.w.Copy(m)
		}
	}
	return u.end(opts)
}
