package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ExactText is [Value.Text] for places that cannot carry an escaped lone
// surrogate, such as headers: it returns false for a string that has one.
func (v Value) ExactText() (string, bool) {
	if v.Kind() != KindString {
		return "", false
	}
	if inner := string(v[1 : len(v)-1]); strings.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	out, err := jsontext.AppendUnquote(nil, []byte(v))
	return string(out), err == nil
}

// Only returns the member called name of the object v, like [Value.Get], and
// false when there are several of that name.
func (v Value) Only(name string) (Value, bool) {
	var found Value
	for m := range v.Members() {
		if m.Name != name {
			continue
		}
		if found.Present() {
			return "", false
		}
		found = m.Value
	}
	return found, true
}
