package wire

import (
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// Value is one JSON value exactly as it was received, without white space
// around it. The empty Value stands for an absent member.
type Value string

// Null is the JSON null.
const Null Value = "null"

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of value. Absent is the kind of the empty Value.
const (
	KindAbsent Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// Kind returns the type of v by its first byte.
func (v Value) Kind() Kind {
	if v == "" {
		return KindAbsent
	}
	switch v[0] {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBool
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	default:
		return KindNumber
	}
}

// Present reports whether the member exists; null is present.
func (v Value) Present() bool { return v != "" }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v.Kind() == KindObject }

// Text returns the decoded string and true, or false when v is not a string.
// An escaped lone surrogate decodes to U+FFFD.
func (v Value) Text() (string, bool) {
	if v.Kind() != KindString {
		return "", false
	}
	return unquote(v), true
}

// Bool returns the boolean and true, or false when v is not a boolean.
func (v Value) Bool() (value, ok bool) {
	return v == "true", v.Kind() == KindBool
}

// Get returns the first member called name of the object v, or an absent Value
// when there is none or v is no object. It does not look for duplicates: use
// [ParseObject] where those are refused.
func (v Value) Get(name string) Value {
	for m := range v.Members() {
		if m.Name == name {
			return m.Value
		}
	}
	return ""
}

// At returns the value at a constant gjson path, or an absent Value. The path
// must never contain text of a peer; members whose names hold dots are escaped
// once, in names.go.
func (v Value) At(path string) Value {
	return Value(gjson.Get(string(v), path).Raw)
}

// Elements iterates over the elements of the array v; other kinds have none.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != KindArray {
			return
		}
		s, i := string(v), skipSpace(string(v), 1)
		for n := 0; i < len(s) && s[i] != ']'; n++ {
			end := skipValue(s, i)
			if !yield(n, Value(s[i:end])) {
				return
			}
			if i = skipSpace(s, end); i < len(s) && s[i] == ',' {
				i = skipSpace(s, i+1)
			}
		}
	}
}

// Members iterates over the members of the object v in order, duplicates
// included; other kinds have none.
func (v Value) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if v.Kind() != KindObject {
			return
		}
		s, i := string(v), skipSpace(string(v), 1)
		for i < len(s) && s[i] == '"' {
			nameEnd := skipString(s, i)
			raw := Value(s[i:nameEnd])
			i = skipSpace(s, skipSpace(s, nameEnd)+1) // over the colon
			end := skipValue(s, i)
			if !yield(Member{Name: unquote(raw), rawName: raw, Value: Value(s[i:end])}) {
				return
			}
			if i = skipSpace(s, end); i < len(s) && s[i] == ',' {
				i = skipSpace(s, i+1)
			}
		}
	}
}

func unquote(v Value) string {
	if inner := string(v[1 : len(v)-1]); strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	// The text passed Check, so the only error left is a lone surrogate, which
	// AppendUnquote has already replaced.
	out, _ := jsontext.AppendUnquote(nil, []byte(v))
	return string(out)
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at s[i].
func skipString(s string, i int) int {
	for i++; i < len(s); i++ {
		next := strings.IndexByte(s[i:], '"')
		if next < 0 {
			return len(s)
		}
		i += next
		slashes := 0
		for s[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(s)
}

// skipValue returns the index after the value that starts at s[i].
func skipValue(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	switch s[i] {
	case '"':
		return skipString(s, i)
	case '{', '[':
		depth := 0
		for i < len(s) {
			switch s[i] {
			case '"':
				i = skipString(s, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(s)
	default:
		for i < len(s) && strings.IndexByte(",]} \n\r\t", s[i]) < 0 {
			i++
		}
		return i
	}
}
