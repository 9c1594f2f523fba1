package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// IsPayloadMember reports whether a task member carries the outcome or the
// questions of the task instead of its state: result, error and inputRequests,
// and requestState, which belongs in no task at all.
func IsPayloadMember(name string) bool {
	return name == "result" || name == "error" || name == "inputRequests" || name == "requestState"
}

// IsTask reports whether an object is a task rather than any other result: it
// has a string taskId and a string status (Q14).
func IsTask(v wire.Value) bool {
	_, hasID := v.Get("taskId").Text()
	_, hasStatus := v.Get("status").Text()
	return hasID && hasStatus
}
