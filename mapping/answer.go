package mapping

import (
	"errors"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// appendAnswer appends the answer to a question, tied to a task unless its id is
// empty. The three answers have the same members in both eras; only _meta differs.
func appendAnswer(dst []byte, dir Dir, method string, params, answer wire.Value, taskID string) ([]byte, Notes, error) {
	obj, err := wire.ParseObject(answer, "")
	if err != nil {
		return dst, 0, err
	}
	keepContent, err := checkAnswer(&obj, method, params)
	if err != nil {
		return dst, 0, err
	}
	meta, err := wire.OptionalObject(obj.Get("_meta"), "_meta")
	if err != nil {
		return dst, 0, err
	}
	var notes Notes
	if method != ext2026.MethodSamplingCreateMessage {
		// Only a sampled message has _meta in both eras.
		notes |= questionMeta(meta.Raw())
		meta = wire.Object{}
	}
	w := wire.Begin(dst)
	for _, m := range obj.Members() {
		switch {
		case m.Name == "_meta":
			// written below
		case m.Name == "resultType":
			notes = notes.With(NoteStrayMember)
		case m.Name == "content" && !keepContent:
			notes = notes.With(NoteAnswerContent)
		default:
			w.Copy(m)
		}
	}
	notes |= writeMeta(&w, dir, &meta, metaPlan{relatedTask: taskID})
	return w.End(), notes, nil
}

// questionMeta returns the note for _meta of a question or an answer, which goes.
// The tie to a task is no loss: the bridge consumes it.
func questionMeta(meta wire.Value) Notes {
	for m := range meta.Members() {
		if m.Name != wire.MetaRelatedTask {
			return Notes(0).With(NoteQuestionMeta)
		}
	}
	return 0
}

// checkAnswer looks at the shape of an answer, loosely: its receiver validates it
// (A-I13). It also tells whether content may stay.
func checkAnswer(obj *wire.Object, method string, params wire.Value) (keepContent bool, err error) {
	if isTaskWrapper(obj.Get("task")) {
		return false, wire.Wrong("task", "an answer, not a task") // §4.25
	}
	switch method {
	case ext2026.MethodElicitationCreate:
		return checkElicitResult(obj, params)
	case ext2026.MethodSamplingCreateMessage:
		return true, checkSampled(obj)
	case ext2026.MethodRootsList:
		if obj.Get("roots").Kind() != wire.KindArray {
			return false, wire.Wrong("roots", "an array")
		}
		return true, nil
	default:
		return false, wire.Wrong("", "the answer to a known question")
	}
}

// checkElicitResult looks at the answer to an elicitation. Only a form that was
// accepted has content.
func checkElicitResult(obj *wire.Object, params wire.Value) (keepContent bool, err error) {
	action, _ := obj.Get("action").Text()
	switch action {
	case ext2026.ActionDecline, ext2026.ActionCancel:
		return false, nil
	case ext2026.ActionAccept:
	default:
		return false, wire.Wrong("action", "accept, decline or cancel")
	}
	if mode, _ := ext2026.ElicitMode(params); mode == ext2026.ElicitURL {
		return false, nil
	}
	if content := obj.Get("content"); content.Present() && !content.IsObject() {
		return false, wire.Wrong("content", "an object")
	}
	return true, nil
}

// checkSampled looks at a sampled message.
func checkSampled(obj *wire.Object) error {
	if obj.Get("role").Kind() != wire.KindString {
		return wire.Wrong("role", "a string")
	}
	if kind := obj.Get("content").Kind(); kind != wire.KindObject && kind != wire.KindArray {
		return wire.Wrong("content", "an object or an array")
	}
	return nil
}

// under puts the path of a *wire.DecodeError below another one.
func under(path string, err error) error {
	var decode *wire.DecodeError
	if !errors.As(err, &decode) || path == "" {
		return err
	}
	full := *decode
	full.Path = path
	if decode.Path != "" {
		full.Path = wire.Join(path, decode.Path)
	}
	return &full
}
