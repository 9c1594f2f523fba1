package mapping

import (
	"regexp"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/legacy2025"
)

var saysNotFound = regexp.MustCompile(`(?i)not\s+found`)

// DownReadError translates the error of resources/read for uri. The modern era
// tells an unknown resource with -32602, the legacy era with -32002: the error
// is taken for that when its data names the URI or its message says so (Q17).
// Every other error comes back as it is. Rule §3.3.
func DownReadError(e *jsonrpc.Error, uri string) *jsonrpc.Error {
	if e.Code != jsonrpc.CodeInvalidParams {
		return e
	}
	named, ok := e.Data.Get("uri").Text()
	if (!ok || named != uri) && !saysNotFound.MatchString(e.Message) {
		return e
	}
	return &jsonrpc.Error{Code: legacy2025.CodeResourceNotFound, Message: e.Message, Data: e.Data}
}

// UpReadError is the inverse of [DownReadError]: -32002 becomes -32602, whatever
// the method, because the modern era must not say it. Rules §1.6, §3.3.
func UpReadError(e *jsonrpc.Error) *jsonrpc.Error {
	if e.Code != legacy2025.CodeResourceNotFound {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Message, Data: e.Data}
}
