package config

import (
	"regexp"
	"slices"
	"strings"
)

// A source is where a value was written, for messages.
type source struct {
	label        string // the file name, or the flag or variable with its value
	path         string // the key path that a flag or variable sets
	dir          string // where relative file names start; "" is the working directory
	line, column int    // in a file, from 1
	rank         int    // 0 is the file; the others follow in the order they apply
}

// form is the outer form of a value.
type form int

const (
	formNull form = iota
	formScalar
	formList
	formMapping
)

// String names the form as messages do.
func (f form) String() string {
	switch f {
	case formScalar:
		return "a single value"
	case formList:
		return "a list"
	case formMapping:
		return "a mapping"
	case formNull:
	}
	return "nothing"
}

// A node is a value on its way from the file, a flag or a variable to its
// field: the part of YAML that a configuration needs.
type node struct {
	form    form
	src     source
	text    string // of a scalar, expanded
	raw     string // of a scalar, as written: the form that messages may quote
	fromEnv bool   // some of text came from the environment
	broken  bool   // a problem has been reported and reading it is pointless
	items   []*node
	entries []entry
}

// An entry is one member of a mapping.
type entry struct {
	key string
	src source
	val *node
}

// get returns the member named key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, e := range n.entries {
		if e.key == key {
			return e.val
		}
	}
	return nil
}

// names lists the members.
func (n *node) names() []string {
	out := make([]string, len(n.entries))
	for i, e := range n.entries {
		out[i] = e.key
	}
	return out
}

// find returns the node at the path below n, or nil.
func (n *node) find(path string) *node {
	for key := range strings.SplitSeq(path, ".") {
		n = n.get(key)
	}
	return n
}

// put sets the node at the path below n, making the mappings on the way. It
// reports false if something that is no mapping stands in the way.
func (n *node) put(path string, val *node) bool {
	if n.form != formMapping {
		return false
	}
	key, rest, deeper := strings.Cut(path, ".")
	for i := range n.entries {
		if e := &n.entries[i]; e.key == key {
			if deeper {
				return e.val.put(rest, val)
			}
			e.src, e.val = val.src, val
			return true
		}
	}
	if deeper {
		child := &node{form: formMapping, src: val.src}
		child.put(rest, val)
		val = child
	}
	n.entries = append(n.entries, entry{key: key, src: val.src, val: val})
	return true
}

// userinfo is the part of a URL that may hold a password.
var userinfo = regexp.MustCompile(`//[^/?#\s]*@`)

// quotable returns text for a message, without the password of a URL.
func quotable(text string) string {
	return userinfo.ReplaceAllString(text, "//***@")
}

// without returns words but for one.
func without(words []string, one string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == one })
}
