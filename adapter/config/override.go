package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/shlex"
)

// hiddenValue stands for a secret in the label of a flag.
const hiddenValue = "***"

// An override is one --set, --backend, --listen, --admin or --store, or the
// variable that stands for it.
type override struct {
	// name is the flag or variable, and glue what stands between it and its
	// value in messages: "--listen" " ", "TASKBRIDGE_LISTEN" "=".
	name, glue string
	rank       int
}

// source returns where text was written, for messages.
func (o override) source(text string) source {
	return source{label: o.name + o.glue + quotable(text), rank: o.rank}
}

// set applies KEY=VALUE to root.
func (d *decoder) set(root *node, o override, assignment string) {
	name, val, ok := strings.Cut(assignment, "=")
	if !ok {
		d.add(o.source(assignment), "", "want KEY=VALUE")
		return
	}
	path, s, hint := resolve(name)
	src := o.source(assignment)
	if (s != nil && s.secret()) || (hint.shape != nil && hint.shape.secret()) {
		src = o.source(name + "=" + hiddenValue)
	}
	if s == nil {
		d.add(src, "", "unknown key%s", hint)
		return
	}
	src.path = path
	if n := d.textNode(s, val, src); n != nil {
		root.put(path, n)
	}
}

// resolve finds what the KEY of --set means: a path and its shape. For an
// unknown key the shape is nil and there may be a suggestion.
func resolve(name string) (path string, s shape, hint suggestion) {
	if !strings.Contains(name, ".") {
		if s := table.child(name); s != nil {
			return name, s, suggestion{}
		}
		if s := settingsShape.child(name); s != nil {
			return "defaults." + name, s, suggestion{}
		}
		best := closest(name, slices.Concat(table.keys(), settingsShape.keys()))
		if best == "" {
			return "", nil, suggestion{}
		}
		_, s, _ := resolve(best)
		return "", nil, suggestion{best, s}
	}
	s = table
	keys := strings.Split(name, ".")
	for i, key := range keys {
		next := s.child(key)
		if next == nil {
			if best := closest(key, s.keys()); best != "" {
				hint.key = join(path, best)
				if i == len(keys)-1 {
					hint.shape = s.child(best)
				}
			}
			return "", nil, hint
		}
		path, s = join(path, key), next
	}
	return path, s, suggestion{}
}

// textNode turns the text of one value into a node: a single value as it is, a
// list in brackets or separated by commas, a mapping in braces. It returns nil
// after a problem.
func (d *decoder) textNode(s shape, text string, src source) *node {
	r := yamlReader{src: src, env: d.env, out: &d.problems}
	switch {
	case s.outer() == formScalar:
		n := &node{src: src}
		r.scalar(n, text, src.path)
		return n
	case s.outer() == formList && !strings.HasPrefix(text, "["):
		n := &node{src: src, form: formList}
		for item := range strings.SplitSeq(text, ",") {
			val := &node{src: src}
			r.scalar(val, strings.TrimSpace(item), src.path)
			n.items = append(n.items, val)
		}
		return n
	default:
		return r.document([]byte(text))
	}
}

// literal sets path to text, in which ${ has no meaning.
func (d *decoder) literal(root *node, o override, path, text string) {
	src := o.source(text)
	src.path = path
	root.put(path, &node{form: formScalar, src: src, text: text, raw: text})
}

// backend adds the backend of one [NAME=]URL or NAME=stdio:COMMAND.
func (d *decoder) backend(root *node, o override, text string) {
	d.offered = true
	src := o.source(text)
	name, target, ok := strings.Cut(text, "=")
	if !ok || !backendName.MatchString(name) {
		if ok && isTarget(target) && !strings.ContainsAny(name, ":/") {
			d.add(src, "", "%q is no name for a backend: want lower-case letters, digits and dashes", name)
			return
		}
		name, target = "default", text
	}
	if old := root.find("backends." + name); old != nil {
		d.add(src, "", "there is a backend named %s already (%s)", name, place(old.src))
		return
	}
	command, stdio := strings.CutPrefix(target, "stdio:")
	if !stdio {
		src.path = "backends." + name + ".url"
		root.put(src.path, &node{form: formScalar, src: src, text: target, raw: target})
		return
	}
	if name == "default" && !strings.HasPrefix(text, "default=") {
		d.add(src, "", "a stdio backend needs a name: NAME=stdio:COMMAND")
		return
	}
	words, err := shlex.Split(command)
	if err != nil || len(words) == 0 {
		d.add(src, "", "want a command after stdio:, in words as a shell would split them")
		return
	}
	src.path = "backends." + name + ".command"
	list := &node{form: formList, src: src}
	for _, w := range words {
		list.items = append(list.items, &node{form: formScalar, src: src, text: w, raw: w})
	}
	root.put(src.path, list)
}

// isTarget reports whether text looks like the part of --backend after NAME=.
func isTarget(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "stdio:")
}

// place renders a source for the inside of a message.
func place(src source) string {
	if src.line > 0 {
		return fmt.Sprintf("%s:%d", src.label, src.line)
	}
	return src.label
}
