package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodTasksResult waits for the end of a task and gives what the original
// request would have given: its result with related-task in _meta, or its error.
// Params are those of tasks/get.
const MethodTasksResult = "tasks/result"

// HasContent reports whether a tasks/result answer bears the result of a tool:
// it has content or structuredContent (§4.20). Servers answer with an object
// that holds nothing but _meta when a task failed without a result.
func HasContent(result wire.Value) bool {
	for m := range result.Members() {
		if m.Name == "content" || m.Name == "structuredContent" {
			return true
		}
	}
	return false
}
