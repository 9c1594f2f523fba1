package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// JSON-RPC error codes both eras use.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
)

// object is a JSON object to be written.
type object = map[string]any

// members are the members of an object that was read, each as it came. Names
// are matched exactly, which decoding into a struct would not do.
type members = map[string]json.RawMessage

var (
	errNoObject  = errors.New("want an object")
	errNoStrings = errors.New("want a list of strings")
)

// readObject splits an object into its members and refuses duplicate names:
// of two values, another reader of the message might take the other one.
func readObject(raw json.RawMessage) (members, error) {
	if firstByte(raw) != '{' {
		return nil, errNoObject
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	out := members{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("not an object: %w", err)
		}
		key := fmt.Sprint(name) // in an object More only stops before a name
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("%s: twice", key)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out[key] = value
	}
	return out, nil
}

// readString returns the string that raw is, and whether it is one.
func readString(raw json.RawMessage) (string, bool) {
	var s string
	if firstByte(raw) != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// firstByte tells the type of a value; it is 0 if there is none.
func firstByte(raw json.RawMessage) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// isDocument says whether body is one JSON value in UTF-8. The decoder alone
// would mend broken UTF-8.
func isDocument(body []byte) bool { return utf8.Valid(body) && json.Valid(body) }

// encode renders a message on one line, as an event stream needs it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
