package demo

import (
	"bytes"
	"encoding/json"
	"errors"
)

// incoming is one message of a client: a request or notification, or else a
// response, which has a result or a failure.
type incoming struct {
	message
	result  json.RawMessage
	failure *rpcError
}

func (m incoming) isRequest() bool  { return m.method != "" && m.id != nil }
func (m incoming) isResponse() bool { return m.method == "" }

// readIncoming reads a body as one message or a batch of them. The first
// message is set as far as it could be read, also beside an error.
func readIncoming(body []byte) (all []incoming, batch bool, err error) {
	if !isDocument(body) {
		return nil, false, badRequest(codeParse, "the body is not JSON")
	}
	if firstByte(body) != '[' {
		m, err := readOne(body)
		return []incoming{m}, false, err
	}
	var parts []json.RawMessage
	if json.Unmarshal(body, &parts) != nil || len(parts) == 0 {
		return nil, true, badRequest(codeRequest, "the batch is empty")
	}
	for _, part := range parts {
		m, err := readOne(part)
		if err != nil {
			return nil, true, err
		}
		all = append(all, m)
	}
	return all, true, nil
}

func readOne(raw json.RawMessage) (incoming, error) {
	m, err := readObject(raw)
	if err != nil {
		return incoming{}, badRequest(codeRequest, "the message: "+err.Error())
	}
	var in incoming
	id, hasID := m["id"]
	if hasID && !isID(id) {
		return in, badRequest(codeRequest, "id: want a string or an integer")
	}
	in.id = id
	if version, _ := readString(m["jsonrpc"]); version != "2.0" {
		return in, badRequest(codeRequest, `jsonrpc: want "2.0"`)
	}
	if m["method"] == nil {
		return readResponse(in, m)
	}
	if m["result"] != nil || m["error"] != nil {
		return in, badRequest(codeRequest, "a message is either a request or a response")
	}
	var ok bool
	if in.method, ok = readString(m["method"]); !ok || in.method == "" {
		return in, badRequest(codeRequest, "method: want a string")
	}
	if params, given := m["params"]; given {
		if in.params, err = readObject(params); err != nil {
			return in, badRequest(codeParams, "params: "+err.Error())
		}
	}
	return in, nil
}

// readResponse reads the answer to a request of this server.
func readResponse(in incoming, m members) (incoming, error) {
	id := in.id
	in.id = nil // it is not the client's: an error must not be told under it
	result, failure := m["result"], m["error"]
	switch {
	case id == nil:
		return in, badRequest(codeRequest, "id: missing")
	case (result == nil) == (failure == nil):
		return in, badRequest(codeRequest, "want a method, a result or an error")
	case result != nil && firstByte(result) != '{':
		return in, badRequest(codeRequest, "result: want an object")
	}
	if failure != nil {
		var err error
		if in.failure, err = readFailure(failure); err != nil {
			return in, badRequest(codeRequest, "error: "+err.Error())
		}
	}
	in.id, in.result = id, result
	return in, nil
}

var errNoFailure = errors.New("want a code and a message")

func readFailure(raw json.RawMessage) (*rpcError, error) {
	m, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	text, ok := readString(m["message"])
	var code int
	if !ok || !wholeNumber.Match(m["code"]) || json.Unmarshal(m["code"], &code) != nil {
		return nil, errNoFailure
	}
	return &rpcError{code: code, message: text}, nil
}

// idKey tells ids apart: a number is never a string, and a string is the same
// however it is escaped.
func idKey(raw json.RawMessage) string {
	if s, ok := readString(raw); ok {
		return "s" + s
	}
	return "n" + string(bytes.TrimSpace(raw))
}

// progressToken returns the token of a request, nil if it wants no progress.
func progressToken(params members) (json.RawMessage, error) {
	raw, given := params["_meta"]
	if !given {
		return nil, nil
	}
	meta, err := readObject(raw)
	if err != nil {
		return nil, invalid("params._meta: %v", err)
	}
	token, given := meta[metaProgress]
	if given && !isID(token) {
		return nil, invalid("params._meta.progressToken: want a string or an integer")
	}
	return token, nil
}
