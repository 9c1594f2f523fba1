package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// appendDownSampling appends the params of a legacy sampling/createMessage.
func appendDownSampling(dst []byte, params wire.Value, o QuestionOptions) ([]byte, Notes, error) {
	old := o.old()
	var notes Notes
	w := wire.Begin(dst)
	for m := range params.Members() {
		switch m.Name {
		case "_meta":
			notes |= questionMeta(m.Value)
		case "task":
			notes = notes.With(NoteTaskMember)
		case "messages":
			w.Name("messages")
			buf, more, err := appendDownMessages(w.Buf(), m.Value, old)
			if err != nil {
				return dst, 0, err
			}
			w.SetBuf(buf)
			notes |= more
		default:
			w.Copy(m)
		}
	}
	writeMeta(&w, Down, &wire.Object{}, metaPlan{relatedTask: o.TaskID})
	return w.End(), notes, nil
}

// usesTools reports whether a sampling request needs more than plain messages.
func usesTools(params wire.Value) bool {
	return params.Get("tools").Present() || params.Get("toolChoice").Present()
}

// appendDownMessages appends sampling messages. structuredContent of a tool result
// has to be an object in 2025-11-25 (§3.7), and before that a message has exactly
// one block (§3.9).
func appendDownMessages(dst []byte, messages wire.Value, old bool) ([]byte, Notes, error) {
	if messages.Kind() != wire.KindArray {
		return append(dst, messages...), 0, nil
	}
	var notes Notes
	out := append(dst, '[')
	for i, message := range messages.Elements() {
		if i > 0 {
			out = append(out, ',')
		}
		if !message.IsObject() {
			out = append(out, message...)
			continue
		}
		w := wire.Begin(out)
		for m := range message.Members() {
			if m.Name != "content" {
				w.Copy(m)
				continue
			}
			w.Name("content")
			buf, more, ok := appendDownBlocks(w.Buf(), m.Value, old)
			if !ok {
				return dst, 0, noQuestion(Down, ext2026.MethodSamplingCreateMessage, wire.Index("params.messages", i)+".content")
			}
			w.SetBuf(buf)
			notes |= more
		}
		out = w.End()
	}
	return append(out, ']'), notes, nil
}

// appendDownBlocks appends the content of a message, a block or a list of them.
func appendDownBlocks(dst []byte, content wire.Value, old bool) ([]byte, Notes, bool) {
	if content.Kind() != wire.KindArray {
		return appendDownBlock(dst, content, old)
	}
	if old {
		only, count := wire.Value(""), 0
		for _, block := range content.Elements() {
			only, count = block, count+1
		}
		if count != 1 {
			return dst, 0, false
		}
		buf, notes, ok := appendDownBlock(dst, only, old)
		return buf, notes.With(NoteQuestionForm), ok
	}
	var notes Notes
	out := append(dst, '[')
	for i, block := range content.Elements() {
		if i > 0 {
			out = append(out, ',')
		}
		var more Notes
		out, more, _ = appendDownBlock(out, block, old)
		notes |= more
	}
	return append(out, ']'), notes, true
}

// appendDownBlock appends one block. Blocks about tools do not exist before
// 2025-11-25.
func appendDownBlock(dst []byte, block wire.Value, old bool) ([]byte, Notes, bool) {
	kind, _ := block.Get("type").Text()
	switch {
	case old && (kind == "tool_use" || kind == "tool_result"):
		return dst, 0, false
	case kind == "tool_result":
		buf, notes := appendDownToolResult(dst, block)
		return buf, notes, true
	default:
		return append(dst, block...), 0, true
	}
}

// appendDownToolResult appends a tool_result block. It wraps structuredContent as a
// result of tools/call does (§3.7).
func appendDownToolResult(dst []byte, block wire.Value) ([]byte, Notes) {
	structured := block.Get("structuredContent")
	if !structured.Present() || structured.IsObject() {
		return append(dst, block...), 0
	}
	content := contentPlan{version: legacy2025.Latest, blocks: block.Get("content")}
	if !hasText(content.blocks) {
		content.text = structured
	}
	var notes Notes
	w := wire.Begin(dst)
	for m := range block.Members() {
		switch m.Name {
		case "content":
			notes |= content.write(&w)
		case "structuredContent":
			notes |= writeStructured(&w, m, true, legacy2025.Latest)
		default:
			w.Copy(m)
		}
	}
	if !content.blocks.Present() {
		notes |= content.write(&w)
	}
	return w.End(), notes
}
