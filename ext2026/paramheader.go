package ext2026

import (
	"github.com/taskbridge/taskbridge/internal/wire"
)

// ParamHeader is one argument of a tool that calls mirror into a header.
type ParamHeader struct {
	// Name is the annotation: the header is [HeaderParamPrefix] and this.
	Name string
	// Path leads from the arguments to the value, through properties only.
	Path []string
	// Integer is true when the schema says integer.
	Integer bool
}

// Header is one header field.
type Header struct{ Name, Value string }

// maxSafe is the largest integer that a mirrored argument may have, either way.
const maxSafe = 1<<53 - 1

// ParamHeaders returns the headers that mirror the arguments of a call, in the
// order of params (§3.8). What is absent or null, or below something that is no
// object, has none; neither has an object or array where the schema says
// otherwise, which the server will complain about. The error is a
// *[wire.DecodeError] below params.arguments: a name on the path occurs twice, a
// string has a lone surrogate, or an integer is not safe for every peer.
func ParamHeaders(params []ParamHeader, arguments wire.Value) ([]Header, error) {
	var out []Header
	for i := range params {
		v, path, err := params[i].find(arguments)
		if err != nil {
			return nil, err
		}
		text, ok, err := params[i].text(v, path)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, Header{Name: HeaderParamPrefix + params[i].Name, Value: EncodeHeader(text)})
		}
	}
	return out, nil
}

// find returns the argument, and its path for errors.
func (p *ParamHeader) find(arguments wire.Value) (v wire.Value, path string, err error) {
	v, path = arguments, "params.arguments"
	for _, name := range p.Path {
		path = wire.Join(path, name)
		var ok bool
		if v, ok = v.Only(name); !ok {
			return "", path, wire.Wrong(path, "each name only once")
		}
	}
	return v, path, nil
}

// text returns the string form of an argument, and false when it has no header.
func (p *ParamHeader) text(v wire.Value, path string) (text string, ok bool, err error) {
	switch v.Kind() {
	case wire.KindString:
		if text, ok = v.ExactText(); !ok {
			return "", false, wire.Wrong(path, "a string of Unicode characters")
		}
		return text, true, nil
	case wire.KindBool:
		return string(v), true, nil
	case wire.KindNumber:
		return p.number(v, path)
	default:
		return "", false, nil
	}
}

// number spells integers in plain digits; other numbers stay as they came.
func (p *ParamHeader) number(v wire.Value, path string) (text string, ok bool, err error) {
	whole, ok := v.Floor()
	if up, _ := v.Ceil(); ok && up != whole {
		return string(v), true, nil // a fraction
	}
	if n, small := v.Int(); p.Integer && (!small || n > maxSafe || n < -maxSafe) {
		return "", false, wire.Wrong(path, "an integer between -(2^53-1) and 2^53-1")
	}
	if !ok {
		return string(v), true, nil
	}
	return string(whole), true, nil
}

// HeaderError says that a header does not say what the body says; it becomes
// [CodeHeaderMismatch].
type HeaderError struct {
	// Header is the field's name.
	Header string
	// Want says what is wrong, as a phrase that follows the name.
	Want string
}

func (e *HeaderError) Error() string { return e.Header + ": " + e.Want }

// MatchParamHeaders checks the headers of a call against its arguments, as a
// server has to (§3.8): get returns a field by its name, and false when it is
// missing. Integers compare by value. Headers that no annotation asks for are
// not looked at. The error is a *[HeaderError], or a *[wire.DecodeError] for a
// name that occurs twice on the way to an argument.
func MatchParamHeaders(params []ParamHeader, arguments wire.Value, get func(name string) (string, bool)) error {
	for i := range params {
		v, _, err := params[i].find(arguments)
		if err != nil {
			return err
		}
		name := HeaderParamPrefix + params[i].Name
		value, sent := get(name)
		switch expected := v.Kind(); {
		case expected == wire.KindString, expected == wire.KindNumber, expected == wire.KindBool:
			if !sent {
				return &HeaderError{Header: name, Want: "missing"}
			}
		case sent:
			return &HeaderError{Header: name, Want: "the arguments have no such value"}
		default:
			continue
		}
		text, ok := DecodeHeader(value)
		if !ok {
			return &HeaderError{Header: name, Want: "malformed value"}
		}
		if !same(v, text) {
			return &HeaderError{Header: name, Want: "differs from the argument"}
		}
	}
	return nil
}

// same reports whether a decoded header says what the argument v says.
func same(v wire.Value, text string) bool {
	switch v.Kind() {
	case wire.KindString:
		want, ok := v.ExactText()
		return ok && text == want
	case wire.KindNumber:
		number, err := wire.Check([]byte(text))
		if err != nil {
			return false
		}
		order, ok := wire.Compare(v, number)
		return ok && order == 0 || string(v) == text
	default:
		return text == string(v)
	}
}
