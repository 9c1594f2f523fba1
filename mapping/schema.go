package mapping

import (
	"slices"
	"strings"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// wrapMember is the property under which a schema or a value that is no object
// is told to the legacy era, and wrapRef where references to the root then lead.
const (
	wrapMember = "result"
	wrapRef    = "#/properties/" + wrapMember
)

// AppendDownInputSchema appends a tool's input schema as a legacy client may see
// it: without x-mcp-header, with boolean subschemas spelled as objects, and with
// a root type. Everything else is copied.
//
// Rules §3.7, §3.8. Loss: the annotations, which [ToolFacts] remember.
func AppendDownInputSchema(dst []byte, schema wire.Value) ([]byte, Notes) {
	edit := schemaEdit{booleans: true, strip: true}
	if schema.Get("type").Present() {
		return edit.appendRoot(dst, schema)
	}
	w := wire.Begin(dst)
	w.Text("type", "object")
	edit.writeMembers(&w, schema, spot{})
	return w.End(), edit.notes.With(NoteRootType)
}

// AppendUpInputSchema appends a tool's input schema as a modern client may see
// it: only the legal annotations, which headers are, stay (§3.8, Q15).
func AppendUpInputSchema(dst []byte, schema wire.Value, headers []ext2026.ParamHeader) ([]byte, Notes) {
	edit := schemaEdit{strip: true, keep: headers}
	return edit.appendRoot(dst, schema)
}

// AppendDownOutputSchema appends a tool's output schema as a legacy client may
// see it. A schema whose root is not of type object is wrapped in one that is,
// and results have to be wrapped likewise. It returns false, and appends
// nothing, when references in the schema cannot be moved: then the schema is
// omitted, and results are still wrapped.
//
// Rules §3.7. Loss: a schema that is omitted, with a note.
func AppendDownOutputSchema(dst []byte, schema wire.Value) (out []byte, wrapped, ok bool, notes Notes) {
	if schema.Get("type") == `"object"` {
		edit := schemaEdit{booleans: true}
		out, notes = edit.appendRoot(dst, schema)
		return out, false, true, notes
	}
	edit := schemaEdit{booleans: true, move: true}
	w := wire.Begin(dst)
	w.Value("$schema", schema.Get("$schema"))
	w.Text("type", "object")
	w.Name("properties")
	properties := wire.Begin(w.Buf())
	properties.Name(wrapMember)
	properties.SetBuf(edit.append(properties.Buf(), schema, spot{root: true}))
	w.SetBuf(properties.End())
	w.Value("required", `["`+wrapMember+`"]`)
	if edit.stuck || edit.based && edit.refers {
		return dst, true, false, notes.With(NoteOutputOmitted)
	}
	return w.End(), true, true, edit.notes.With(NoteOutputWrapped)
}

// schemaEdit rewrites the schemas inside a schema.
type schemaEdit struct {
	// booleans spells boolean subschemas as objects, but for the keywords that
	// have always had them.
	booleans bool
	// strip removes annotations, all but those of keep.
	strip bool
	keep  []ext2026.ParamHeader
	// move makes references to the root fit the schema's place in a wrapper.
	move bool

	// trail are the properties that lead to the schema at hand, while reachable.
	trail []string

	notes Notes
	// stuck: something cannot be moved. based: there is an $id, so that
	// references lead elsewhere. refers: there is a reference within the schema.
	stuck, based, refers bool
}

// spot is where a schema stands.
type spot struct {
	root      bool
	reachable bool // from the root through properties alone
	depth     int
}

// appendRoot appends the schema, as it came if there was nothing to rewrite.
func (e *schemaEdit) appendRoot(dst []byte, schema wire.Value) ([]byte, Notes) {
	out := e.append(dst, schema, spot{reachable: true})
	if e.notes == 0 {
		out = append(out[:len(dst)], schema...)
	}
	return out, e.notes
}

func (e *schemaEdit) append(dst []byte, schema wire.Value, at spot) []byte {
	if value, ok := schema.Bool(); ok && e.booleans {
		e.notes = e.notes.With(NoteBooleanSchema)
		if value {
			return append(dst, "{}"...)
		}
		return append(dst, `{"not":{}}`...)
	}
	if at.depth > ext2026.MaxSchemaDepth {
		e.stuck = true
		return append(dst, schema...)
	}
	if !schema.IsObject() {
		return append(dst, schema...)
	}
	w := wire.Begin(dst)
	e.writeMembers(&w, schema, at)
	return w.End()
}

func (e *schemaEdit) writeMembers(w *wire.Writer, schema wire.Value, at spot) {
	for m := range schema.Members() {
		if e.reference(w, m, at) || e.annotation(m, at) {
			continue
		}
		form := ext2026.SchemaKeyword(m.Name)
		if form == ext2026.SchemaNone || alwaysBoolean(m) {
			w.Copy(m)
			continue
		}
		w.Name(m.Name)
		under := spot{depth: at.depth + 1}
		switch {
		case form == ext2026.SchemaMap && m.Value.IsObject():
			e.writeMap(w, m, at)
		case form != ext2026.SchemaOne && form != ext2026.SchemaMap && m.Value.Kind() == wire.KindArray:
			e.writeArray(w, m.Value, under)
		case form == ext2026.SchemaOne, form == ext2026.SchemaEither:
			w.SetBuf(e.append(w.Buf(), m.Value, under))
		default:
			w.SetBuf(append(w.Buf(), m.Value...))
		}
	}
}

// alwaysBoolean reports whether a boolean stands under a keyword that has taken
// one in every dialect, or that no old reader looks into: clients expect
// additionalProperties to be false, not its equal.
func alwaysBoolean(m wire.Member) bool {
	switch m.Name {
	case "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems":
		return m.Value.Kind() == wire.KindBool
	default:
		return false
	}
}

func (e *schemaEdit) writeMap(w *wire.Writer, m wire.Member, at spot) {
	under := spot{depth: at.depth + 1, reachable: m.Name == "properties" && at.reachable}
	inner := wire.Begin(w.Buf())
	for child := range m.Value.Members() {
		inner.Spell(child)
		e.trail = append(e.trail, child.Name)
		inner.SetBuf(e.append(inner.Buf(), child.Value, under))
		e.trail = e.trail[:len(e.trail)-1]
	}
	w.SetBuf(inner.End())
}

func (e *schemaEdit) writeArray(w *wire.Writer, v wire.Value, under spot) {
	buf := append(w.Buf(), '[')
	for i, element := range v.Elements() {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = e.append(buf, element, under)
	}
	w.SetBuf(append(buf, ']'))
}

// annotation reports whether m is an annotation to leave out.
func (e *schemaEdit) annotation(m wire.Member, at spot) bool {
	if !e.strip || m.Name != ext2026.HeaderKeyword {
		return false
	}
	for i := range e.keep {
		if at.reachable && slices.Equal(e.keep[i].Path, e.trail) {
			return false
		}
	}
	e.notes = e.notes.With(NoteHeaderAnnotation)
	return true
}

// reference handles the keywords that tie a schema to its place, and reports
// whether it has written m or left it out.
func (e *schemaEdit) reference(w *wire.Writer, m wire.Member, at spot) bool {
	if !e.move {
		return false
	}
	switch m.Name {
	case "$schema":
		return at.root // it moves to the new root
	case "$id":
		e.based = e.based || m.Value.Kind() == wire.KindString
	case "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef":
		e.stuck = true
	case "$ref":
		return e.ref(w, m)
	}
	return false
}

func (e *schemaEdit) ref(w *wire.Writer, m wire.Member) bool {
	text, ok := m.Value.Text()
	switch {
	case !ok || absolute(text):
		return false
	case text == "#" || strings.HasPrefix(text, "#/"):
		e.refers = true
		w.Spell(m)
		w.SetBuf(wire.AppendString(w.Buf(), wrapRef+text[1:]))
		return true
	default:
		e.stuck = true // an anchor, or relative to an address we do not know
		return false
	}
}

// absolute reports whether a reference names its own scheme.
func absolute(ref string) bool {
	scheme, _, found := strings.Cut(ref, ":")
	return found && scheme != "" && !strings.ContainsAny(scheme, "/?#")
}
