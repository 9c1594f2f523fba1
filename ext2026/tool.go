package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// Tool is a view of a tool. A member that occurs twice counts as a JSON reader
// takes it: the last.
type Tool struct {
	// Raw is the tool as received.
	Raw wire.Value
	// Name is required.
	Name string
	// InputSchema is the object as received; required.
	InputSchema wire.Value
	// OutputSchema is the schema as received, or absent. The revision says an
	// object; a boolean, which JSON Schema has too, is let through.
	OutputSchema wire.Value
}

// ParseTool reads a tool. The error is a *[wire.DecodeError] below path.
func ParseTool(v wire.Value, path string) (Tool, error) {
	if !v.IsObject() {
		return Tool{}, wire.Wrong(path, "an object")
	}
	tool := Tool{Raw: v}
	var name wire.Value
	for m := range v.Members() {
		switch m.Name {
		case "name":
			name = m.Value
		case "inputSchema":
			tool.InputSchema = m.Value
		case "outputSchema":
			tool.OutputSchema = m.Value
		}
	}
	var ok bool
	if tool.Name, ok = name.Text(); !ok {
		return Tool{}, wire.Wrong(wire.Join(path, "name"), "a string")
	}
	if !tool.InputSchema.IsObject() {
		return Tool{}, wire.Wrong(wire.Join(path, "inputSchema"), "an object")
	}
	switch tool.OutputSchema.Kind() {
	case wire.KindAbsent, wire.KindObject, wire.KindBool:
		return tool, nil
	default:
		return Tool{}, wire.Wrong(wire.Join(path, "outputSchema"), "a schema")
	}
}
