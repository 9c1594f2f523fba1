package wire

import "fmt"

// DecodeError says that a message, or a part of it, is not what its place
// requires. It becomes -32700 when Syntax is set and -32600 or -32602, by its
// Path, otherwise.
type DecodeError struct {
	// Path names the offending member from the message's root, such as
	// "params.task.ttl". It is empty when the whole message is meant.
	Path string
	// Want says what was expected there, as a phrase that follows "want".
	Want string
	// Syntax is true when the text is not JSON at all.
	Syntax bool
}

func (e *DecodeError) Error() string {
	if e.Path == "" {
		return "message: want " + e.Want
	}
	return e.Path + ": want " + e.Want
}

// Wrong returns a *DecodeError for the member at path.
func Wrong(path, want string) *DecodeError { return &DecodeError{Path: path, Want: want} }

// Join appends a member name to a path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Index appends an array position to a path.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
