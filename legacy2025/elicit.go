package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodElicitationCreate asks the client's user for input.
const MethodElicitationCreate = "elicitation/create"

// NotificationElicitationComplete tells that the user is done with a URL.
const NotificationElicitationComplete = "notifications/elicitation/complete"

// The modes of an elicitation. A request without mode is a form.
const (
	ElicitForm = "form"
	ElicitURL  = "url"
)

// The actions of an ElicitResult.
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
