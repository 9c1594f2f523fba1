package ext2026

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// Headers that mirror a request (§3.8).
const (
	HeaderProtocolVersion = "MCP-Protocol-Version"
	HeaderMethod          = "Mcp-Method"
	HeaderName            = "Mcp-Name"
	HeaderParamPrefix     = "Mcp-Param-"
)

// A value that no header can carry as it is stands between these, in base64.
// They are case-sensitive.
const (
	sentinelPrefix = "=?base64?"
	sentinelSuffix = "?="
)

// NameParam returns the member of params that the Mcp-Name header of method
// mirrors, or "" when it has none.
func NameParam(method string) string {
	switch method {
	case MethodToolsCall, MethodPromptsGet:
		return "name"
	case MethodResourcesRead:
		return "uri"
	case MethodTasksGet, MethodTasksUpdate, MethodTasksCancel:
		return "taskId"
	default:
		return ""
	}
}

// NameHeader returns the encoded value of the Mcp-Name header of a request, and
// false when its method has none. The error is a *[wire.DecodeError]: the
// member is missing, no string, or has a lone surrogate.
func NameHeader(method string, params wire.Value) (value string, ok bool, err error) {
	name := NameParam(method)
	if name == "" {
		return "", false, nil
	}
	text, ok := params.Get(name).ExactText()
	if !ok {
		return "", false, wire.Wrong(wire.Join("params", name), "a string of Unicode characters")
	}
	return EncodeHeader(text), true, nil
}

// EncodeHeader returns the header value that carries s: s itself where that is
// safe, its base64 between sentinels otherwise (§3.8). The empty string is
// encoded too, because many stacks drop empty fields (Q9).
func EncodeHeader(s string) string {
	if s != "" && plain(s) {
		return s
	}
	return sentinelPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelSuffix
}

// plain reports whether a header can carry s as it is: printable ASCII without
// surrounding spaces that does not look encoded.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return s[0] != ' ' && s[len(s)-1] != ' ' &&
		(!strings.HasPrefix(s, sentinelPrefix) || !strings.HasSuffix(s, sentinelSuffix))
}

// DecodeHeader returns the string that a header value carries, and false when it
// is malformed: outside printable ASCII, or between sentinels but no canonical
// base64 of valid UTF-8 (§3.8).
func DecodeHeader(value string) (string, bool) {
	value = strings.Trim(value, " \t")
	for i := range len(value) {
		if (value[i] < 0x20 || value[i] > 0x7e) && value[i] != '\t' {
			return "", false
		}
	}
	inner, ok := strings.CutPrefix(value, sentinelPrefix)
	if !ok {
		return value, true
	}
	inner, ok = strings.CutSuffix(inner, sentinelSuffix)
	if !ok {
		return value, true
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || !utf8.Valid(decoded) {
		return "", false
	}
	return string(decoded), true
}
