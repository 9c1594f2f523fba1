package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// TaskSupport says whether a tool can run as a task.
type TaskSupport string

// The values of execution.taskSupport. A tool that says nothing is forbidden.
const (
	TaskForbidden TaskSupport = "forbidden"
	TaskOptional  TaskSupport = "optional"
	TaskRequired  TaskSupport = "required"
)

// Tool is a view of a tool. A member that occurs twice counts as a JSON reader
// takes it: the last.
type Tool struct {
	// Raw is the tool as received.
	Raw wire.Value
	// Name is required.
	Name string
	// InputSchema is the object as received; required.
	InputSchema wire.Value
	// OutputSchema is the object as received, or absent.
	OutputSchema wire.Value
	// Execution is the member as received, or absent.
	Execution wire.Value
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
		case "execution":
			tool.Execution = m.Value
		}
	}
	var ok bool
	if tool.Name, ok = name.Text(); !ok {
		return Tool{}, wire.Wrong(wire.Join(path, "name"), "a string")
	}
	if !tool.InputSchema.IsObject() {
		return Tool{}, wire.Wrong(wire.Join(path, "inputSchema"), "an object")
	}
	if tool.OutputSchema.Present() && !tool.OutputSchema.IsObject() {
		return Tool{}, wire.Wrong(wire.Join(path, "outputSchema"), "an object")
	}
	return tool, nil
}

// TaskSupport returns execution.taskSupport; absent and unknown values are
// [TaskForbidden] (§4.19).
func (t *Tool) TaskSupport() TaskSupport {
	text, _ := t.Execution.Get("taskSupport").Text()
	switch support := TaskSupport(text); support {
	case TaskOptional, TaskRequired:
		return support
	default:
		return TaskForbidden
	}
}
