package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// message is a JSON-RPC request, or a notification if id is nil.
type message struct {
	id     json.RawMessage
	method string
	params members
}

// request is a message whose envelope is complete.
type request struct {
	message
	caps     clientCaps
	level    int             // index into logLevels of the least level to send; -1 sends none
	progress json.RawMessage // the client's token; nil if it wants no progress
}

// clientCaps are the capabilities this server acts on, as one request declares
// them. They hold for that request alone.
type clientCaps struct {
	forms, sampling, tasks bool
}

// logLevels in rising order.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// wholeNumber is an integer as a JSON-RPC id or a progress token may be: never
// through a float, which would bend large ones.
var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func isID(raw json.RawMessage) bool {
	_, isString := readString(raw)
	return isString || wholeNumber.Match(raw)
}

// readMessage reads a body as one request or notification. The id is set as
// soon as it is known, also beside an error.
func readMessage(body []byte) (message, error) {
	if !isDocument(body) {
		return message{}, badRequest(codeParse, "the body is not JSON")
	}
	if firstByte(body) == '[' {
		return message{}, badRequest(codeRequest, "batches are not part of this revision")
	}
	m, err := readObject(body)
	if err != nil {
		return message{}, badRequest(codeRequest, "the message: "+err.Error())
	}
	var msg message
	id, hasID := m["id"]
	if hasID && !isID(id) {
		return msg, badRequest(codeRequest, "id: want a string or an integer")
	}
	msg.id = id
	if version, _ := readString(m["jsonrpc"]); version != "2.0" {
		return msg, badRequest(codeRequest, `jsonrpc: want "2.0"`)
	}
	_, isResult := m["result"]
	_, isError := m["error"]
	if isResult || isError {
		return msg, badRequest(codeRequest, "responses are not accepted in this revision")
	}
	var ok bool
	if msg.method, ok = readString(m["method"]); !ok || msg.method == "" {
		return msg, badRequest(codeRequest, "method: want a string")
	}
	if params, given := m["params"]; given {
		if msg.params, err = readObject(params); err != nil {
			return msg, badRequest(codeParams, "params: "+err.Error())
		}
	}
	return msg, nil
}

// badRequest is an error that revision 2026-07-28 sends with HTTP 400.
func badRequest(code int, text string) error {
	return &rpcError{code: code, message: text, status: http.StatusBadRequest}
}

// invalid is an error in the params of one method, told in band.
func invalid(format string, a ...any) error {
	return &rpcError{code: codeParams, message: fmt.Sprintf(format, a...)}
}

// readEnvelope reads the protocol fields of _meta. Spec: 2026-07-28
// basic/index, "Per-request protocol fields".
func readEnvelope(msg message) (*request, string, error) {
	meta, err := readObject(msg.params["_meta"])
	if err != nil {
		return nil, "", badRequest(codeParams, "params._meta: "+err.Error())
	}
	version, ok := readString(meta[metaVersion])
	if !ok {
		return nil, "", badRequest(codeParams, "params._meta."+metaVersion+": want a string")
	}
	req := &request{message: msg, level: -1}
	if req.caps, err = readCaps(meta[metaCapabilities]); err != nil {
		return nil, "", badRequest(codeParams, "params._meta."+metaCapabilities+": "+err.Error())
	}
	if raw, given := meta[metaClient]; given {
		info, err := readObject(raw)
		_, hasName := readString(info["name"])
		_, hasVersion := readString(info["version"])
		if err != nil || !hasName || !hasVersion {
			return nil, "", badRequest(codeParams, "params._meta."+metaClient+": want a name and a version")
		}
	}
	if raw, given := meta[metaLevel]; given {
		level, _ := readString(raw)
		if req.level = slices.Index(logLevels, level); req.level < 0 {
			return nil, "", badRequest(codeParams, "params._meta."+metaLevel+": want a log level")
		}
	}
	if raw, given := meta[metaProgress]; given {
		if !isID(raw) {
			return nil, "", badRequest(codeParams, "params._meta.progressToken: want a string or an integer")
		}
		req.progress = raw
	}
	return req, version, nil
}

// readCaps reads the client's capabilities. A member of the wrong type counts
// as not declared.
func readCaps(raw json.RawMessage) (clientCaps, error) {
	declared, err := readObject(raw)
	if err != nil {
		return clientCaps{}, err
	}
	var caps clientCaps
	if forms, err := readObject(declared["elicitation"]); err == nil {
		_, hasForm := forms["form"]
		_, hasURL := forms["url"]
		caps.forms = hasForm || !hasURL // an empty object declares forms
	}
	caps.sampling = firstByte(declared["sampling"]) == '{'
	if extensions, err := readObject(declared["extensions"]); err == nil {
		caps.tasks = firstByte(extensions[tasksExtension]) == '{'
	}
	return caps, nil
}
