package faultnet

import (
	"bytes"
	"fmt"
	"regexp"
	"time"
)

// Kind is what a fault does to a message.
type Kind string

// The kinds. A cut breaks the connection.
const (
	CutBefore Kind = "cut before"
	CutInside Kind = "cut inside"
	CutAfter  Kind = "cut after"
	// DelayShort and DelayLong hold a message, and what follows it on its connection,
	// for [Short] and [Long].
	DelayShort Kind = "delay 40s"
	DelayLong  Kind = "delay 15m"
	// Repeat sends a request once more, on a connection of its own whose answer
	// nobody hears, or an event twice.
	Repeat Kind = "repeat"
	// Reorder lets the next message of the same direction pass first: of the same
	// stream for an event, of another connection for anything else. It gives up
	// after [Patience].
	Reorder Kind = "reorder"
	// TruncateEnd sends half of the body and ends the connection: for a plain body
	// before its announced length, for a stream with a proper end.
	TruncateEnd Kind = "truncate, end"
	// TruncateFramed sends half of the body or event, properly framed, and goes on.
	TruncateFramed Kind = "truncate, go on"
)

// Kinds are all kinds of faults.
var Kinds = []Kind{CutBefore, CutInside, CutAfter, DelayShort, DelayLong, Repeat, Reorder, TruncateEnd, TruncateFramed}

// The times of the faults: Short is longer than a heartbeat, Long than the deadlines of
// one call.
const (
	Short    = 40 * time.Second
	Long     = 15 * time.Minute
	Patience = time.Minute
)

// Way is the direction of a message.
type Way string

// The ways.
const (
	ToServer Way = "to the server"
	ToClient Way = "to the client"
)

// Form is what of HTTP a message is.
type Form string

// The forms.
const (
	Request  Form = "request"
	Response Form = "response"
	// Head begins an event stream, Event is one event on it.
	Head  Form = "head"
	Event Form = "event"

	blank Form = "blank event"
	end   Form = "end"
)

// Message is one message that a proxy has seen.
type Message struct {
	Way  Way
	Form Form
	// Number counts the messages of a way from 1; 0 for what cannot be hit.
	Number int
	// Method is that of the request, or of the request that is answered.
	Method string
	// Status is that of a response or head; 0 otherwise.
	Status int
	// Body is the body of a request or response, or the lines of an event.
	Body []byte
	// Sender tells the connections apart on which messages came, from 1.
	Sender int
	// At is when it was read.
	At time.Time

	head []byte // of a request, response or stream, with the empty line
	torn bool   // its sender broke off within it
}

// Fault says what happens to which message.
type Fault struct {
	Kind   Kind
	Way    Way
	Number int
}

func (f Fault) String() string { return fmt.Sprintf("%s, message %d %s", f.Kind, f.Number, f.Way) }

// Applies reports whether the kind can happen to a message: only requests and events
// are repeated, and only what has a body is truncated.
func (k Kind) Applies(m *Message) bool {
	switch k {
	case Repeat:
		return m.Form == Request || m.Form == Event
	case TruncateEnd, TruncateFramed:
		return len(m.Body) > 1
	case Reorder:
		return m.Form != Head
	default:
		return true
	}
}

// raw is the message as it is sent.
func (m *Message) raw() []byte {
	if m.Form == Event || m.Form == blank {
		return chunk(m.Body)
	}
	return append(bytes.Clone(m.head), m.Body...)
}

func chunk(data []byte) []byte {
	return append(append(fmt.Appendf(nil, "%x\r\n", len(data)), data...), "\r\n"...)
}

// last ends a chunked body.
const last = "0\r\n\r\n"

var contentLength = regexp.MustCompile(`(?i)\r\ncontent-length: *\d+`)

// half is the message with half of its body. Framed, it announces that half.
func (m *Message) half(framed bool) []byte {
	if m.Form != Event {
		body := m.Body[:len(m.Body)/2]
		head := m.head
		if framed {
			head = contentLength.ReplaceAll(head, fmt.Appendf(nil, "\r\nContent-Length: %d", len(body)))
		}
		return append(bytes.Clone(head), body...)
	}
	from := max(0, bytes.Index(m.Body, []byte("data:")))
	body := bytes.Clone(m.Body[:(from+len(m.Body))/2])
	if framed {
		return chunk(append(body, "\n\n"...))
	}
	return append(chunk(body), last...)
}
