package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// CancelledParams is a view of the params of notifications/cancelled.
type CancelledParams struct {
	wire.Object
	// RequestID is the id as received; required.
	RequestID wire.Value
	// Reason is the text for people, or empty.
	Reason string
}

// ParseCancelledParams reads the params of notifications/cancelled. The error
// is a *[wire.DecodeError].
func ParseCancelledParams(v wire.Value) (CancelledParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return CancelledParams{}, err
	}
	id := obj.Get("requestId")
	if id.Kind() != wire.KindString && !id.IsInteger() {
		return CancelledParams{}, wire.Wrong("params.requestId", "a string or an integer")
	}
	reason, _ := obj.Get("reason").Text()
	return CancelledParams{Object: obj, RequestID: id, Reason: reason}, nil
}
