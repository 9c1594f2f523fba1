package modern

import (
	"net/http"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// mismatch says that a header does not say what the body says.
func mismatch(header, want string) error {
	return &port.StatusError{Status: http.StatusBadRequest, Err: headerError(&ext2026.HeaderError{Header: header, Want: want})}
}

func headerError(err *ext2026.HeaderError) *jsonrpc.Error {
	return jsonrpc.NewError(ext2026.CodeHeaderMismatch, "Header mismatch: %s", err)
}

// match checks that a header is there, once, and says exactly what the body says.
func match(header http.Header, name, want string) error {
	values := header.Values(name)
	switch {
	case len(values) == 0:
		return mismatch(name, "missing")
	case len(values) > 1:
		return mismatch(name, "sent more than once")
	case strings.Trim(values[0], " \t") != want:
		return mismatch(name, "differs from the body")
	}
	return nil
}

// matchName checks the values of Mcp-Name, which may be encoded (§3.8), against the
// member of params at path.
func matchName(values []string, member wire.Value, path string) error {
	if len(values) > 1 {
		return mismatch(ext2026.HeaderName, "sent more than once")
	}
	got, ok := ext2026.DecodeHeader(values[0])
	if !ok {
		return mismatch(ext2026.HeaderName, "malformed value")
	}
	if want, ok := member.ExactText(); !ok || got != want {
		return mismatch(ext2026.HeaderName, "differs from "+path)
	}
	return nil
}
