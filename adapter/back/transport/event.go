package transport

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode"
)

// EventReader reads an event stream, event by event.
//
// It is the bridge's own because of what a result may weigh: the library used
// elsewhere scans an unfinished event anew after every read, which takes time
// quadratic in its size, and copies it several times. Its parser is the oracle
// of the fuzz test beside this file.
//
// Spec: https://html.spec.whatwg.org/multipage/server-sent-events.html
type EventReader struct {
	src   io.Reader
	limit int
	// unread is what was read into buf and not used yet.
	buf, unread []byte
	// data is that of the event so far, with an LF after every line.
	data []byte
	// other is set when the event so far is of another type than the default.
	other bool
	line  lineState
	// lastID and retry are what the stream said last; pendingID becomes lastID
	// at the end of its event.
	lastID, pendingID string
	// named is set when the event so far has an id, given when any had.
	named, given bool
	retry        time.Duration
	events       int
	// held is what the data may take of the memory of all; nil does not count it.
	held *memory
	// skipLF is set after a CR, which ends a line with or without an LF.
	skipLF bool
	// begun is set after the first line, before which a byte order mark may stand.
	begun bool
}

// lineState is what is known of a line of which not everything may have come.
type lineState struct {
	field field
	// head is the line up to its colon, as far as it can matter.
	head []byte
	// value is set once a byte of the value has come.
	value bool
	// kind is the value of a field other than data, as far as it can matter.
	kind []byte
}

type field uint8

const (
	fieldUnknown field = iota // the colon has not come yet
	fieldData
	fieldEvent
	fieldID
	fieldRetry
	fieldIgnored
)

const (
	eventBuffer = 8 << 10
	// keptBuffer is what a stream holds on to while it waits for an event.
	keptBuffer = 64 << 10
	// maxEmptyReads is how often a reader may return neither bytes nor an error.
	maxEmptyReads = 100
	// maxWord is longer than every name, type and number that matters, with a mark.
	maxWord = 16
	// maxID bounds the ids of events, in bytes. A longer one is none.
	maxID = 1 << 10

	byteOrderMark = "\xef\xbb\xbf"
)

// NewEventReader reads from src events of at most limit bytes of data.
func NewEventReader(src io.Reader, limit int64) *EventReader {
	buf, ok := eventBuffers.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, eventBuffer)
		buf = &fresh
	}
	return &EventReader{src: src, limit: int(limit), buf: *buf}
}

var eventBuffers sync.Pool

// Release gives all buffers to other readers. The reader, and what it returned
// last, must not be used any more.
func (r *EventReader) Release() {
	r.recycle()
	buf := r.buf
	*r = EventReader{}
	eventBuffers.Put(&buf)
}

// LastID is the id of the newest event that has ended with one, whatever its
// type and even without data. Given is false when there was none yet; the id is
// empty when the stream took it back, or when no header can carry it.
func (r *EventReader) LastID() (id string, given bool) { return r.lastID, r.given }

// Retry is how long the stream asked to wait before coming back, or zero.
func (r *EventReader) Retry() time.Duration { return r.retry }

// Events counts the events that have ended, those that were skipped included.
func (r *EventReader) Events() int { return r.events }

// Next returns the data of the next event of the default type. Other types,
// comments, ids, retry times and events without data are skipped. The data is
// valid until the next call. The error is that of the underlying reader, io.EOF
// at the end of the stream, whose unfinished last event is dropped, [ErrTooLarge] or
// [port.ErrNoRoom].
func (r *EventReader) Next() ([]byte, error) {
	r.data = r.data[:0]
	for {
		if len(r.unread) == 0 {
			if err := r.fill(); err != nil {
				return nil, err
			}
		}
		if r.skipLF {
			r.skipLF = false
			if r.unread = bytes.TrimPrefix(r.unread, []byte{'\n'}); len(r.unread) == 0 {
				continue
			}
		}
		end := lineEnd(r.unread)
		if end < 0 {
			if err := r.take(r.unread); err != nil {
				return nil, err
			}
			r.unread = nil
			continue
		}
		if err := r.take(r.unread[:end]); err != nil {
			return nil, err
		}
		r.skipLF = r.unread[end] == '\r'
		r.unread = r.unread[end+1:]
		if r.endLine() {
			return r.data[:len(r.data)-1], nil
		}
	}
}

// take adds part to the current line. It returns [ErrTooLarge] when the event becomes
// larger than the limit, and [port.ErrNoRoom] when there is no room for it.
func (r *EventReader) take(part []byte) error {
	l := &r.line
	if l.field == fieldUnknown {
		name, value, found := bytes.Cut(part, []byte{':'})
		l.head = appendMost(l.head, name, maxWord)
		if !found {
			return nil
		}
		l.field, part = r.name(), value
	}
	if len(part) > 0 && !l.value {
		l.value = true
		part = bytes.TrimPrefix(part, []byte{' '})
	}
	switch {
	case l.field == fieldEvent, l.field == fieldRetry:
		l.kind = appendMost(l.kind, part, maxWord)
	case l.field == fieldID:
		l.kind = appendMost(l.kind, part, maxID+1)
	case l.field == fieldData && len(r.data)+len(part) > r.limit:
		return ErrTooLarge
	case l.field == fieldData:
		if r.held != nil {
			if err := r.held.grow(int64(len(r.data) + len(part))); err != nil {
				return err
			}
		}
		r.data = append(growData(r.data, len(part)+1), part...)
	}
	return nil
}

// endLine ends the current line and reports whether it completed an event.
func (r *EventReader) endLine() bool {
	l := &r.line
	blank := false
	if l.field == fieldUnknown {
		l.field = r.name()
		blank = len(l.head) == 0
	}
	r.begun = true
	if blank {
		r.endEvent()
	}
	switch {
	case blank && !r.other && len(r.data) > 1:
		l.reset()
		return true
	case blank:
		r.data, r.other = r.data[:0], false
	case l.field == fieldData:
		r.data = append(r.data, '\n')
	case l.field == fieldEvent:
		r.other = len(l.kind) > 0 && string(l.kind) != "message"
	case l.field == fieldID && bytes.IndexByte(l.kind, 0) < 0:
		r.pendingID, r.named = sendable(l.kind), true
	case l.field == fieldRetry:
		r.setRetry(l.kind)
	}
	l.reset()
	return false
}

// endEvent notes what a blank line makes valid.
func (r *EventReader) endEvent() {
	if r.named || r.other || len(r.data) > 0 {
		r.events++
	}
	if r.named {
		r.lastID, r.given, r.named = r.pendingID, true, false
	}
}

// sendable returns id if a header can carry it, or nothing.
func sendable(id []byte) string {
	if len(id) > maxID || bytes.ContainsFunc(id, unicode.IsControl) {
		return ""
	}
	return string(id)
}

// setRetry takes a retry time of digits only, in milliseconds, as the standard
// has it.
func (r *EventReader) setRetry(digits []byte) {
	if ms, err := strconv.ParseUint(string(digits), 10, 63); err == nil {
		r.retry = time.Duration(min(ms, uint64(maxRetryAfter/time.Millisecond))) * time.Millisecond
	}
}

func (l *lineState) reset() {
	*l = lineState{head: l.head[:0], kind: l.kind[:0]}
}

// name reads the field name at the head of the line.
func (r *EventReader) name() field {
	if !r.begun {
		r.line.head = bytes.TrimPrefix(r.line.head, []byte(byteOrderMark))
	}
	switch string(r.line.head) {
	case "data":
		return fieldData
	case "event":
		return fieldEvent
	case "id":
		return fieldID
	case "retry":
		return fieldRetry
	default:
		return fieldIgnored
	}
}

// appendMost appends as much of part as can make a difference.
func appendMost(word, part []byte, most int) []byte {
	return append(word, part[:min(len(part), most-len(word))]...)
}

// fill reads more.
func (r *EventReader) fill() error {
	if len(r.data) == 0 {
		r.recycle() // between events, maybe for long
		if r.held != nil {
			r.held.release()
		}
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf)
		if n > 0 {
			r.unread = r.buf[:n]
			return nil // an error comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// recycle gives a large buffer to whoever needs one next. What the reader
// returned last must not be used any more.
func (r *EventReader) recycle() {
	if cap(r.data) > keptBuffer {
		freeData(r.data)
		r.data = nil
	}
}

// largeData keeps the buffers of large events, which would otherwise cost fresh
// memory of several times their size.
var largeData sync.Pool

// growData makes room for n more bytes.
func growData(data []byte, n int) []byte {
	need := len(data) + n
	if need <= cap(data) {
		return data
	}
	if need > keptBuffer {
		if large, ok := largeData.Get().(*[]byte); ok && cap(*large) >= need {
			return append((*large)[:0], data...)
		}
	}
	return slices.Grow(data, max(n, cap(data))) // double
}

func freeData(data []byte) {
	if cap(data) <= pooledBuffer {
		largeData.Put(&data)
	}
}

// lineEnd returns the position of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:n], '\r'); cr >= 0 {
		return cr
	}
	return n
}
