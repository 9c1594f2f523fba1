package config

import "errors"

// A shape is what a value must look like. It drives everything but the reading
// itself: paths of --set, suggestions, the schema.
type shape interface {
	// outer is the form that a value has.
	outer() form
	// secret says that a value must not be shown.
	secret() bool
	// child returns the shape of the member named key; nil if there is none.
	child(key string) shape
	// keys lists the members that have fixed names.
	keys() []string
	// schema describes the shape as JSON Schema.
	schema() jsonSchema
}

// A reader is a shape that fills in a V.
type reader[V any] interface {
	shape
	// Read fills in dst from n, which stands at path, or adds problems.
	Read(d *decoder, n *node, path string, dst *V)
	// Preset fills in dst with defaults.
	Preset(d *decoder, dst *V)
}

var (
	_ reader[string]   = scalar[string]{}
	_ reader[[]string] = list[string]{}
	_ reader[TLS]      = object[TLS]{}
	_ reader[*TLS]     = pointer[TLS]{}
)

// A decoder carries what reading needs.
type decoder struct {
	problems
	env  lookup
	demo bool // the built-in backends are wanted
	// offered says that a backend was named outside the file, rightly or not.
	offered bool
	// partial says that the file could not be read, so that what is missing
	// proves nothing.
	partial bool
}

// fits reports whether n is worth reading as a value of the given form.
func (d *decoder) fits(n *node, path string, want form, what string) bool {
	if n.broken {
		return false
	}
	if n.form != want {
		d.add(n.src, path, "want %s, got %s", what, n.form)
		return false
	}
	return true
}

// errShape says that a scalar is not what its shape wants.
var errShape = errors.New("not of this shape")

// A scalar is a shape with one line of text.
type scalar[V any] struct {
	// want completes "want …" in messages.
	want string
	// parse reads the text; dir is where relative file names start. It returns
	// errShape, or an error that speaks for itself.
	parse func(text, dir string) (V, error)
	// desc is the schema of the value without ${NAME}.
	desc jsonSchema
	// hidden marks secrets.
	hidden bool
	// envOnly wants the value to come in through ${NAME}.
	envOnly bool
}

func (s scalar[V]) outer() form        { return formScalar }
func (s scalar[V]) secret() bool       { return s.hidden }
func (s scalar[V]) child(string) shape { return nil }
func (s scalar[V]) keys() []string     { return nil }
func (s scalar[V]) schema() jsonSchema { return s.desc.orVariable() }

// Preset does nothing: defaults stand in the table.
func (s scalar[V]) Preset(*decoder, *V) {}

// got quotes what was written, unless it is a secret.
func (s scalar[V]) got(n *node) (text string) {
	if s.hidden || n.raw == "" {
		return ""
	}
	return `, got "` + quotable(n.raw) + `"`
}

// Read parses the text.
func (s scalar[V]) Read(d *decoder, n *node, path string, dst *V) {
	if !d.fits(n, path, formScalar, s.want) {
		return
	}
	if s.envOnly && !n.fromEnv {
		d.add(n.src, path, "a secret must come from the environment: write ${NAME}")
		return
	}
	v, err := s.parse(n.text, n.src.dir)
	switch {
	case errors.Is(err, errShape):
		d.add(n.src, path, "want %s%s", s.want, s.got(n))
	case err != nil:
		d.add(n.src, path, "%v", err)
	default:
		*dst = v
	}
}

// A list is a shape with any number of equal items.
type list[V any] struct {
	item reader[V]
	// least is the number of items that there must be.
	least int
}

func (l list[V]) outer() form        { return formList }
func (l list[V]) secret() bool       { return l.item.secret() }
func (l list[V]) child(string) shape { return nil }
func (l list[V]) keys() []string     { return nil }

// Preset does nothing: defaults stand in the table.
func (l list[V]) Preset(*decoder, *[]V) {}

func (l list[V]) schema() jsonSchema {
	s := jsonSchema{"type": "array", "items": l.item.schema()}
	if l.least > 0 {
		s["minItems"] = l.least
	}
	return s
}

// Read reads the items, in place of any that were there.
func (l list[V]) Read(d *decoder, n *node, path string, dst *[]V) {
	if !d.fits(n, path, formList, "a list") {
		return
	}
	if len(n.items) < l.least {
		d.add(n.src, path, "the list is empty")
		return
	}
	out := make([]V, 0, len(n.items))
	for i, item := range n.items {
		var v V
		l.item.Read(d, item, index(path, i), &v)
		out = append(out, v)
	}
	*dst = out
}
