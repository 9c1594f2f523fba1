package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodElicitationCreate is the method of a question to the client's user.
const MethodElicitationCreate = "elicitation/create"

// The modes of an elicitation. A question without mode is a form.
const (
	ElicitForm = "form"
	ElicitURL  = "url"
)

// The actions of an answer to an elicitation.
const (
	ActionAccept  = "accept"
	ActionDecline = "decline"
	ActionCancel  = "cancel"
)

// ElicitMode returns the mode of elicitation/create params: [ElicitForm] when
// there is none, and false when the member is neither mode.
func ElicitMode(params wire.Value) (mode string, ok bool) {
	v := params.Get("mode")
	if !v.Present() {
		return ElicitForm, true
	}
	mode, _ = v.Text()
	return mode, mode == ElicitForm || mode == ElicitURL
}
