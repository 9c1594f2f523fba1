package jsonrpc

import (
	"strconv"

	"github.com/taskbridge/taskbridge/internal/wire"
)

const head = `{"jsonrpc":"2.0"`

// AppendRequest appends a request. Absent params are left out.
func AppendRequest(dst []byte, id ID, method string, params wire.Value) []byte {
	dst = appendID(append(dst, head...), id)
	return appendCall(dst, method, params)
}

// AppendNotification appends a notification. Absent params are left out.
func AppendNotification(dst []byte, method string, params wire.Value) []byte {
	return appendCall(append(dst, head...), method, params)
}

// AppendResult appends a response with the given result object.
func AppendResult(dst []byte, id ID, result []byte) []byte {
	dst = appendID(append(dst, head...), id)
	dst = append(append(dst, `,"result":`...), result...)
	return append(dst, '}')
}

// AppendError appends an error response. An absent id is left out: the schemas
// of both eras forbid null there.
func AppendError(dst []byte, id ID, e *Error) []byte {
	dst = appendID(append(dst, head...), id)
	dst = AppendErrorObject(append(dst, `,"error":`...), e)
	return append(dst, '}')
}

// AppendErrorObject appends the error object itself.
func AppendErrorObject(dst []byte, e *Error) []byte {
	w := wire.Begin(dst)
	w.Int("code", e.Code)
	w.Text("message", e.Message)
	w.Value("data", e.Data)
	return w.End()
}

// IntID returns the id written as the integer n.
func IntID(n int64) ID { return ID(strconv.FormatInt(n, 10)) }

func appendID(dst []byte, id ID) []byte {
	if id == "" {
		return dst
	}
	return append(append(dst, `,"id":`...), id...)
}

func appendCall(dst []byte, method string, params wire.Value) []byte {
	dst = wire.AppendString(append(dst, `,"method":`...), method)
	if params.Present() {
		dst = append(append(dst, `,"params":`...), params...)
	}
	return append(dst, '}')
}
