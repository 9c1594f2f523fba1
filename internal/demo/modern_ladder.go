package demo

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"
)

// The error codes revision 2026-07-28 defines, all sent with HTTP 400.
const (
	codeHeader     = -32020
	codeCapability = -32021
	codeVersion    = -32022
)

// judge checks a request against its headers, step by step; the first failure
// is the answer. Spec: 2026-07-28 basic/transports/streamable-http, "Request
// Metadata".
func (m *Modern) judge(r *http.Request, msg message) (*request, error) {
	if msg.method == "initialize" && !claimsVersion(msg) {
		// an older client shows this text to its user, who has nothing else to go by
		return nil, &rpcError{
			code: codeMethod, status: http.StatusNotFound,
			message: "there is no initialize here: this server speaks only MCP " + modernVersion,
		}
	}
	req, version, err := readEnvelope(msg)
	if err != nil {
		return nil, err
	}
	if err := sameHeader(r.Header, "MCP-Protocol-Version", version); err != nil {
		return nil, err
	}
	if len(r.Header.Values("Mcp-Method")) > 0 {
		if err := sameHeader(r.Header, "Mcp-Method", msg.method); err != nil {
			return nil, err
		}
	}
	if version != modernVersion {
		return nil, &rpcError{
			code: codeVersion, message: "unsupported protocol version", status: http.StatusBadRequest,
			data: object{"supported": []string{modernVersion}, "requested": version},
		}
	}
	if err := sameHeader(r.Header, "Mcp-Method", msg.method); err != nil {
		return nil, err
	}
	how, known := m.methods[msg.method]
	if !known {
		return nil, &rpcError{code: codeMethod, message: "method not found: " + msg.method, status: http.StatusNotFound}
	}
	return req, m.judgeMethod(r.Header, req, how)
}

// claimsVersion says whether a message names a revision the way this era does.
func claimsVersion(msg message) bool {
	meta, err := readObject(msg.params["_meta"])
	return err == nil && meta[metaVersion] != nil
}

// judgeMethod checks what depends on the method: its name header, its params
// and the capabilities it needs.
func (m *Modern) judgeMethod(h http.Header, req *request, how method) error {
	if how.named != "" {
		name, ok := readString(req.params[how.named])
		optional := how.tasks && !m.opts.StrictTaskNames
		if ok && (!optional || len(h.Values("Mcp-Name")) > 0) {
			if err := sameValue(h, "Mcp-Name", name); err != nil {
				return err
			}
		}
		if !ok {
			return invalid("params.%s: want a string", how.named)
		}
	}
	if how.tasks && !req.caps.tasks {
		return needs(object{"extensions": object{tasksExtension: object{}}})
	}
	if req.method == "tools/call" {
		return m.judgeParams(h, req)
	}
	return nil
}

// judgeParams checks the headers that mirror annotated arguments. Spec:
// "Server Behavior for Custom Headers".
func (m *Modern) judgeParams(h http.Header, req *request) error {
	name, _ := readString(req.params["name"])
	t := m.tools.byName[name]
	if t == nil {
		return nil // not a header's fault
	}
	given, _ := readObject(req.params["arguments"])
	for argument, label := range t.headers {
		header := "Mcp-Param-" + label
		raw := args(given).given(argument)
		value, isString := readString(raw)
		switch {
		case raw == nil && len(h.Values(header)) > 0:
			return badRequest(codeHeader, "header mismatch: "+header+" is set, but the body has no value for it")
		case raw == nil:
			continue
		case !isString:
			value = string(raw)
		}
		if err := sameValue(h, header, value); err != nil {
			return err
		}
	}
	return nil
}

// needs is the error for a request that lacks capabilities.
func needs(capabilities object) error {
	return &rpcError{
		code: codeCapability, message: "missing required client capability", status: http.StatusBadRequest,
		data: object{"requiredCapabilities": capabilities},
	}
}

// sameHeader checks that a header is there, once, and says what the body says.
func sameHeader(h http.Header, name, want string) error {
	return sameDecoded(h, name, want, func(value string) (string, bool) { return value, true })
}

// sameValue does so for the headers whose value may be encoded.
func sameValue(h http.Header, name, want string) error {
	return sameDecoded(h, name, want, decodeHeader)
}

func sameDecoded(h http.Header, name, want string, decode func(string) (string, bool)) error {
	values := h.Values(name)
	if len(values) != 1 {
		return badRequest(codeHeader, "header mismatch: "+name+" is required, once")
	}
	got, ok := decode(strings.Trim(values[0], " \t"))
	if !ok {
		return badRequest(codeHeader, "header mismatch: "+name+" is malformed")
	}
	if got != want {
		return badRequest(codeHeader, "header mismatch: "+name+" differs from the body")
	}
	return nil
}

// decodeHeader undoes the Base64 form of values that a header cannot carry
// plainly. Spec: "Value Encoding".
func decodeHeader(value string) (string, bool) {
	for _, b := range []byte(value) {
		if (b < ' ' || b > '~') && b != '\t' {
			return "", false
		}
	}
	inner, opens := strings.CutPrefix(value, "=?base64?")
	inner, closes := strings.CutSuffix(inner, "?=")
	if !opens || !closes {
		return value, true
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(inner)
	return string(plain), err == nil && utf8.Valid(plain)
}
