package jsonrpc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// The error codes of JSON-RPC 2.0.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Error is a JSON-RPC error object, the peer's or our own.
type Error struct {
	// Code is the error code.
	Code int64
	// Message is free text for people (G-7).
	Message string
	// Data is the raw data member, or absent.
	Data wire.Value
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// NewError returns an error without data.
func NewError(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ParseError reads an error object. The code must be an integer; a message that
// is missing or no string reads as empty. The error is a *[wire.DecodeError].
func ParseError(v wire.Value, path string) (*Error, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return nil, err
	}
	code, ok := obj.Get("code").Int()
	if !ok {
		return nil, wire.Wrong(wire.Join(path, "code"), "an integer")
	}
	message, _ := obj.Get("message").Text()
	return &Error{Code: code, Message: message, Data: obj.Get("data")}, nil
}

// FromDecode turns a failure to read a message into the error its sender gets:
// -32700 for text that is not JSON, -32602 below params, -32600 otherwise. Any
// other error becomes a -32603 without details, which belong in the log.
func FromDecode(err error) *Error {
	var decode *wire.DecodeError
	switch {
	case !errors.As(err, &decode):
		return &Error{Code: CodeInternal, Message: "Internal error"}
	case decode.Syntax:
		return &Error{Code: CodeParse, Message: "Parse error: " + decode.Error()}
	case decode.Path == "params" || strings.HasPrefix(decode.Path, "params."):
		return &Error{Code: CodeInvalidParams, Message: "Invalid params: " + decode.Error()}
	default:
		return &Error{Code: CodeInvalidRequest, Message: "Invalid request: " + decode.Error()}
	}
}
