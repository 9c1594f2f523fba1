package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer appends one JSON object to a buffer, member by member. Start it with
// [Begin] and finish with [Writer.End]; the buffer belongs to it in between.
type Writer struct {
	buf   []byte
	start int
}

// Begin opens an object at the end of dst.
func Begin(dst []byte) Writer {
	return Writer{buf: append(dst, '{'), start: len(dst) + 1}
}

// Name starts a member; the caller appends exactly one value through
// [Writer.Buf] and [Writer.SetBuf], or with a method below.
func (w *Writer) Name(name string) {
	w.comma()
	w.buf = append(AppendString(w.buf, name), ':')
}

// Spell starts a member with the name of m, spelled as received; see
// [Writer.Name].
func (w *Writer) Spell(m Member) {
	w.comma()
	w.buf = append(append(w.buf, m.rawName...), ':')
}

// Copy appends a member as it was received, the spelling of its name included.
func (w *Writer) Copy(m Member) {
	w.comma()
	w.buf = append(append(append(w.buf, m.rawName...), ':'), m.Value...)
}

// Value appends a member. An absent value appends nothing.
func (w *Writer) Value(name string, v Value) {
	if v.Present() {
		w.Name(name)
		w.buf = append(w.buf, v...)
	}
}

// Raw appends a member whose value is JSON text built by the bridge.
func (w *Writer) Raw(name string, v []byte) {
	w.Name(name)
	w.buf = append(w.buf, v...)
}

// Text appends a member with a string value.
func (w *Writer) Text(name, s string) {
	w.Name(name)
	w.buf = AppendString(w.buf, s)
}

// Int appends a member with an integer value.
func (w *Writer) Int(name string, n int64) {
	w.Name(name)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// Buf returns the buffer after [Writer.Name], for functions that append a value.
func (w *Writer) Buf() []byte { return w.buf }

// SetBuf hands back the buffer that a value has been appended to.
func (w *Writer) SetBuf(buf []byte) { w.buf = buf }

// Empty reports whether no member has been written yet.
func (w *Writer) Empty() bool { return len(w.buf) == w.start }

// End closes the object and returns the buffer.
func (w *Writer) End() []byte { return append(w.buf, '}') }

func (w *Writer) comma() {
	if len(w.buf) != w.start {
		w.buf = append(w.buf, ',')
	}
}

// AppendString appends s as a JSON string. Only what JSON requires is escaped;
// invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if simple(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	// The only error is invalid UTF-8, after it has been replaced.
	out, _ := jsontext.AppendQuote(dst, s)
	return out
}

// simple reports whether s is ASCII that needs no escape, as nearly every name is.
func simple(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// String returns s as a JSON string value.
func String(s string) Value { return Value(AppendString(nil, s)) }
