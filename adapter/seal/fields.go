package seal

import "encoding/binary"

// Fields packs the payload of a token: integers as varints, strings with their
// length. The zero Fields is empty.
type Fields struct{ buf []byte }

// Int appends an integer.
func (f *Fields) Int(n int64) { f.buf = binary.AppendVarint(f.buf, n) }

// String appends a string.
func (f *Fields) String(s string) {
	f.buf = append(binary.AppendUvarint(f.buf, uint64(len(s))), s...)
}

// Bytes returns the payload.
func (f *Fields) Bytes() []byte { return f.buf }

// Reader unpacks a payload in the order in which it was packed. After the first
// failure every read returns a zero value; [Reader.Done] tells.
type Reader struct {
	rest   []byte
	failed bool
}

// ReadFields returns a reader of payload.
func ReadFields(payload []byte) *Reader { return &Reader{rest: payload} }

// Int reads an integer.
func (r *Reader) Int() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// String reads a string.
func (r *Reader) String() string {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(len(r.rest[size:])) {
		r.fail()
		return ""
	}
	text := r.rest[size:]
	r.rest = text[n:]
	return string(text[:n])
}

// Done returns [ErrInvalid] unless everything was read and nothing is left.
func (r *Reader) Done() error {
	if r.failed || len(r.rest) != 0 {
		return ErrInvalid
	}
	return nil
}

func (r *Reader) fail() { r.failed, r.rest = true, nil }
