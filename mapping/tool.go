package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// ToolFacts is what the bridge remembers of a modern tool beyond what a legacy
// client is told.
type ToolFacts struct {
	// Name is the tool's name.
	Name string
	// Headers are the arguments that a call mirrors into headers.
	Headers []ext2026.ParamHeader
	// Wrapped is true when the output schema was wrapped or omitted, so that
	// results have to be wrapped too (§3.7).
	Wrapped bool
}

// AppendDownToolsList appends a page of tools as a legacy client may see it, and
// returns the facts of the tools it tells of, in order.
//
// Spec: 2026-07-28 "Tool Definitions", "x-mcp-header"; 2025-11-25 "Tool". Rules
// §3.3, §3.7, §3.8, §3.9, §6.
// Loss: a tool with an illegal annotation, x-mcp-header, an output schema that
// cannot be wrapped, and what [AppendDownResult] loses; each sets a note.
func AppendDownToolsList(dst []byte, in ext2026.Result, opts ResultOptions) ([]byte, []ToolFacts, Notes, error) {
	d, err := newDownResult(dst, ext2026.MethodToolsList, in)
	if err != nil {
		return dst, nil, 0, err
	}
	var facts []ToolFacts
	for _, m := range in.Members() {
		if d.handled(m) {
			continue
		}
		if m.Name != "tools" {
			d.w.Copy(m)
			continue
		}
		d.w.Name(m.Name)
		buf, err := appendDownTools(d.w.Buf(), m.Value, opts, &facts, &d.notes)
		if err != nil {
			return dst, nil, 0, err
		}
		d.w.SetBuf(buf)
	}
	out, notes, err := d.end(metaPlan{})
	return out, facts, notes, err
}

func appendDownTools(dst []byte, items wire.Value, opts ResultOptions, facts *[]ToolFacts, notes *Notes) ([]byte, error) {
	dst = append(dst, '[')
	for i, item := range items.Elements() {
		tool, err := ext2026.ParseTool(item, "")
		if err != nil { // only now is its path worth building
			_, err = ext2026.ParseTool(item, wire.Index("result.tools", i))
			return nil, malformed(Down, ext2026.MethodToolsList, err)
		}
		headers, illegal := ext2026.FindParamHeaders(tool.InputSchema)
		if illegal != nil {
			*notes = notes.With(NoteToolDropped)
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		var wrapped bool
		var lost Notes
		dst, wrapped, lost = appendDownTool(dst, tool, opts)
		*notes |= lost
		*facts = append(*facts, ToolFacts{Name: tool.Name, Headers: headers, Wrapped: wrapped})
	}
	return append(dst, ']'), nil
}

func appendDownTool(dst []byte, tool ext2026.Tool, opts ResultOptions) (out []byte, wrapped bool, notes Notes) {
	version := opts.version()
	w := wire.Begin(dst)
	for m := range tool.Raw.Members() {
		switch {
		case m.Name == "execution":
			notes = notes.With(NoteExecution)
		case m.Name == "inputSchema":
			w.Spell(m)
			buf, lost := AppendDownInputSchema(w.Buf(), m.Value)
			w.SetBuf(buf)
			notes |= lost
		case !knowsItem(m.Name, version):
			notes = notes.With(NoteOlderRevision)
		case m.Name == "outputSchema":
			notes |= writeOutputSchema(&w, m, &wrapped)
		default:
			w.Copy(m)
		}
	}
	if opts.Tasks && legacy2025.TaskCapable(version) {
		w.Value("execution", `{"taskSupport":"`+wire.Value(legacy2025.TaskOptional)+`"}`)
	}
	return w.End(), wrapped, notes
}

// writeOutputSchema writes the member, or nothing where the schema cannot be
// told.
func writeOutputSchema(w *wire.Writer, m wire.Member, wrapped *bool) Notes {
	before := len(w.Buf())
	w.Spell(m)
	buf, wrap, ok, notes := AppendDownOutputSchema(w.Buf(), m.Value)
	if !ok {
		buf = buf[:before]
	}
	w.SetBuf(buf)
	*wrapped = wrap
	return notes
}

// ReadTools returns the facts of a page of tools without rendering it. Tools
// with an illegal annotation are left out, with a note.
func ReadTools(in ext2026.Result) ([]ToolFacts, Notes, error) {
	_, facts, notes, err := AppendDownToolsList(nil, in, ResultOptions{})
	return facts, notes, err
}

// LegacyToolFacts is what the bridge remembers of a legacy tool beyond what a
// modern client is told.
type LegacyToolFacts struct {
	// Name is the tool's name.
	Name string
	// TaskSupport says whether calls are augmented with a task (§4.19).
	TaskSupport legacy2025.TaskSupport
	// Headers are the arguments that the modern face checks against headers (Q15).
	Headers []ext2026.ParamHeader
}

// AppendUpToolsList appends a page of tools as a modern client may see it, and
// returns the facts of the tools, in order. A legal x-mcp-header stays in the
// schema, an illegal one is removed and the tool stays (§3.8).
//
// Spec: 2025-11-25 "Tool"; 2026-07-28 "x-mcp-header". Rules §3.3, §3.8, §6.2.
// Loss: execution and illegal annotations, with a note.
func AppendUpToolsList(dst []byte, result wire.Value, opts UpResultOptions) ([]byte, []LegacyToolFacts, Notes, error) {
	u, err := newUpResult(dst, legacy2025.MethodToolsList, result)
	if err != nil {
		return dst, nil, 0, err
	}
	var facts []LegacyToolFacts
	for _, m := range u.obj.Members() {
		if u.handled(m) {
			continue
		}
		if m.Name != "tools" {
			u.w.Copy(m)
			continue
		}
		u.w.Name(m.Name)
		buf, err := appendUpTools(u.w.Buf(), m.Value, &facts, &u.notes)
		if err != nil {
			return dst, nil, 0, err
		}
		u.w.SetBuf(buf)
	}
	out, notes, err := u.end(opts)
	return out, facts, notes, err
}

func appendUpTools(dst []byte, items wire.Value, facts *[]LegacyToolFacts, notes *Notes) ([]byte, error) {
	dst = append(dst, '[')
	for i, item := range items.Elements() {
		tool, err := legacy2025.ParseTool(item, "")
		if err != nil { // only now is its path worth building
			_, err = legacy2025.ParseTool(item, wire.Index("result.tools", i))
			return nil, malformed(Up, legacy2025.MethodToolsList, err)
		}
		// Annotations that are not legal are removed below; the tool stays.
		headers, _ := ext2026.FindParamHeaders(tool.InputSchema)
		if i > 0 {
			dst = append(dst, ',')
		}
		w := wire.Begin(dst)
		for m := range item.Members() {
			switch m.Name {
			case "execution":
				*notes = notes.With(NoteExecution)
			case "inputSchema":
				w.Spell(m)
				buf, lost := AppendUpInputSchema(w.Buf(), m.Value, headers)
				w.SetBuf(buf)
				*notes |= lost
			default:
				w.Copy(m)
			}
		}
		dst = w.End()
		*facts = append(*facts, LegacyToolFacts{Name: tool.Name, TaskSupport: tool.TaskSupport(), Headers: headers})
	}
	return append(dst, ']'), nil
}
