package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// CancelledParams is a view of the params of notifications/cancelled.
type CancelledParams struct {
	wire.Object
	// RequestID is the id as received. This revision lets it be absent, which
	// cancels nothing (§1.7).
	RequestID wire.Value
	// Reason is the text for people, or empty.
	Reason string
}

// ParseCancelledParams reads the params of notifications/cancelled. The error
// is a *[wire.DecodeError].
func ParseCancelledParams(v wire.Value) (CancelledParams, error) {
	obj, err := wire.OptionalObject(v, "params")
	if err != nil {
		return CancelledParams{}, err
	}
	id := obj.Get("requestId")
	if id.Present() && id.Kind() != wire.KindString && !id.IsInteger() {
		return CancelledParams{}, wire.Wrong("params.requestId", "a string or an integer")
	}
	reason, _ := obj.Get("reason").Text()
	return CancelledParams{Object: obj, RequestID: id, Reason: reason}, nil
}
