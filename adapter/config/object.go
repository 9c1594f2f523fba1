package config

import "fmt"

// An object is a shape with named members, each of which fills in some part of
// a T. Members are read in the order of the table.
type object[T any] []field[T]

// A field is one row of the table: one key.
type field[T any] struct {
	key   string
	doc   string
	def   string // the default, as one would write it; "" for none
	yet   string // a sentence on what this version cannot do of it; "" for nothing
	shape shape
	// read fills in dst from n; preset puts the default there.
	read   func(d *decoder, n *node, path string, dst *T)
	preset func(d *decoder, dst *T)
}

// key makes the field that fills in at(dst) as r reads it. Its default def is
// written as in the file.
func key[T, V any](name string, at func(*T) *V, r reader[V], def, doc string) field[T] {
	return field[T]{
		key: name, doc: doc, def: def, shape: r,
		read: func(d *decoder, n *node, path string, dst *T) { r.Read(d, n, path, at(dst)) },
		preset: func(d *decoder, dst *T) {
			r.Preset(d, at(dst))
			if def != "" {
				if n := d.textNode(r, def, source{label: "default", path: name, rank: 1}); n != nil {
					r.Read(d, n, name, at(dst))
				}
			}
		},
	}
}

// later makes a field that belongs to the file format but asks for something
// that this version cannot do, so that its presence is a problem.
func later[T any](name string, s shape, doc string) field[T] {
	return field[T]{
		key: name, doc: doc, shape: s, yet: "Not supported yet.",
		read: func(d *decoder, n *node, path string, _ *T) {
			d.add(n.src, path, "not supported yet")
		},
		preset: func(*decoder, *T) {},
	}
}

// within turns fields of a T into fields of the U that holds it. They have no
// defaults there: what holds a T fills it in first.
func within[T, U any](fields object[T], at func(*U) *T) object[U] {
	out := make(object[U], len(fields))
	for i, f := range fields {
		out[i] = field[U]{
			key: f.key, doc: f.doc, yet: f.yet, shape: f.shape,
			read:   func(d *decoder, n *node, path string, dst *U) { f.read(d, n, path, at(dst)) },
			preset: func(*decoder, *U) {},
		}
	}
	return out
}

func (o object[T]) outer() form { return formMapping }

func (o object[T]) secret() bool {
	for _, f := range o {
		if f.shape.secret() {
			return true
		}
	}
	return false
}

func (o object[T]) child(key string) shape {
	for _, f := range o {
		if f.key == key {
			return f.shape
		}
	}
	return nil
}

func (o object[T]) keys() []string {
	out := make([]string, len(o))
	for i, f := range o {
		out[i] = f.key
	}
	return out
}

func (o object[T]) schema() jsonSchema {
	props := jsonSchema{}
	for _, f := range o {
		s := f.shape.schema()
		s["description"] = f.doc
		if f.yet != "" {
			s["description"] = f.doc + " " + f.yet
		}
		if f.def != "" {
			s["default"] = schemaDefault(f.shape, f.def)
		}
		props[f.key] = s
	}
	return jsonSchema{"type": "object", "properties": props, "additionalProperties": false}
}

// Preset fills in the defaults of the members that have one.
func (o object[T]) Preset(d *decoder, dst *T) {
	for _, f := range o {
		f.preset(d, dst)
	}
}

// Read reports the members that are not in the table and reads the others.
func (o object[T]) Read(d *decoder, n *node, path string, dst *T) {
	if !d.fits(n, path, formMapping, fmt.Sprintf("a mapping of %s", listing(o.keys()))) {
		return
	}
	for _, e := range n.entries {
		if o.child(e.key) == nil {
			d.add(e.src, join(path, e.key), "unknown key%s", o.hint(path, e.key))
		}
	}
	for _, f := range o {
		if val := n.get(f.key); val != nil {
			f.read(d, val, join(path, f.key), dst)
		}
	}
}

// hint says what an unknown key was perhaps meant to be. A setting at the top
// of the file, where --set takes it, belongs under defaults.
func (o object[T]) hint(path, key string) string {
	if path == "" && settingsShape.child(key) != nil {
		return ", did you mean defaults." + key
	}
	return didYouMean(key, o.keys())
}

// A pointer is an optional object: nil where the key is absent.
type pointer[T any] struct{ object[T] }

// Preset leaves the pointer nil.
func (p pointer[T]) Preset(*decoder, **T) {}

// Read makes the object and reads it.
func (p pointer[T]) Read(d *decoder, n *node, path string, dst **T) {
	v := new(T)
	p.object.Preset(d, v)
	p.object.Read(d, n, path, v)
	*dst = v
}

// words is the shape of a mapping whose names are free and whose values are
// text. Only keys for later use it so far.
type words struct{}

func (words) outer() form        { return formMapping }
func (words) secret() bool       { return true }
func (words) child(string) shape { return text }
func (words) keys() []string     { return nil }
func (words) schema() jsonSchema {
	return jsonSchema{"type": "object", "additionalProperties": jsonSchema{"type": []string{"string", "number", "boolean"}}}
}
