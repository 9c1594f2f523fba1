package wire

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Check reads text once, strictly: exactly one JSON value in valid UTF-8, nested
// no deeper than the decoder's limit of 10,000. It returns the value without
// the white space around it. The error is a *[DecodeError] with Syntax set.
//
// Duplicate names are left to the views, which know where they are forbidden,
// and an escaped lone surrogate to the user it belongs to.
//
// Every other function of this package expects text that passed Check.
func Check(text []byte) (Value, error) {
	if !utf8.Valid(text) {
		return "", &DecodeError{Want: "UTF-8 text", Syntax: true}
	}
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return "", &DecodeError{Want: "one valid JSON value", Syntax: true}
	}
	return Value(bytes.Trim(text, " \t\r\n")), nil
}
