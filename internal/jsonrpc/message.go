package jsonrpc

import "github.com/taskbridge/taskbridge/internal/wire"

// Kind tells the four shapes of a message apart.
type Kind uint8

// The kinds of message.
const (
	KindRequest Kind = iota + 1
	KindNotification
	KindResult
	KindError
)

// ID is a request id as received: the raw token of a string or an integer. The
// empty ID stands for none. Ids are compared as bytes.
type ID = wire.Value

// Message is one JSON-RPC message. Its values point into the received text.
type Message struct {
	// Raw is the whole message.
	Raw wire.Value
	// Kind is zero when the message could not be read.
	Kind Kind
	// ID is set on requests and responses. An error response to an unreadable
	// request may have none.
	ID ID
	// Method is set on requests and notifications.
	Method string
	// Params is an object, or absent.
	Params wire.Value
	// Result is set when Kind is KindResult.
	Result wire.Value
	// Error is set when Kind is KindError.
	Error *Error
}

// Read checks text strictly and parses it as one message; see [Parse].
func Read(text []byte) (Message, error) {
	v, err := wire.Check(text)
	if err != nil {
		return Message{}, err
	}
	return Parse(v)
}

// Parse reads the envelope of a checked value. The error is a
// *[wire.DecodeError]; the returned message then still carries the ID if one
// could be read, so that the refusal can echo it.
//
// A method with an id of null is a notification (PROTOCOL.md "Settled": a
// client in the field sends notifications/initialized so); callers that may not
// accept that look at [Message.NullID].
func Parse(v wire.Value) (Message, error) {
	msg := Message{Raw: v}
	obj, err := wire.ParseObject(v, "")
	if err != nil {
		return msg, err
	}
	id := obj.Get("id")
	if validID(id) {
		msg.ID = id
	}
	if version, _ := obj.Get("jsonrpc").Text(); version != "2.0" {
		return msg, wire.Wrong("jsonrpc", `"2.0"`)
	}
	if obj.Has("method") {
		return parseCall(msg, &obj, id)
	}
	return parseResponse(msg, &obj, id)
}

func parseCall(msg Message, obj *wire.Object, id wire.Value) (Message, error) {
	method, ok := obj.Get("method").Text()
	if !ok || method == "" {
		return msg, wire.Wrong("method", "a non-empty string")
	}
	if obj.Has("result") || obj.Has("error") {
		return msg, wire.Wrong("method", "no result or error beside it")
	}
	params := obj.Get("params")
	if params.Present() && !params.IsObject() {
		return msg, wire.Wrong("params", "an object")
	}
	switch {
	case !id.Present() || id == wire.Null:
		msg.Kind = KindNotification
	case msg.ID == "":
		return msg, wire.Wrong("id", "a string or an integer")
	default:
		msg.Kind = KindRequest
	}
	msg.Method, msg.Params = method, params
	return msg, nil
}

func parseResponse(msg Message, obj *wire.Object, id wire.Value) (Message, error) {
	result, failure := obj.Get("result"), obj.Get("error")
	switch {
	case result.Present() == failure.Present():
		return msg, wire.Wrong("", "a method, a result or an error")
	case result.Present():
		if msg.ID == "" {
			return msg, wire.Wrong("id", "a string or an integer")
		}
		if !result.IsObject() {
			return msg, wire.Wrong("result", "an object")
		}
		msg.Kind, msg.Result = KindResult, result
	default:
		if id.Present() && id != wire.Null && msg.ID == "" {
			return msg, wire.Wrong("id", "a string or an integer")
		}
		parsed, err := ParseError(failure, "error")
		if err != nil {
			return msg, err
		}
		msg.Kind, msg.Error = KindError, parsed
	}
	return msg, nil
}

// NullID reports whether the message carries an id of null.
func (m *Message) NullID() bool { return m.ID == "" && m.Raw.Get("id") == wire.Null }

// validID follows G-2: a string or an integer, written as one.
func validID(id wire.Value) bool {
	return id.Kind() == wire.KindString || id.IsInteger()
}
