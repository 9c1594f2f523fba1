package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodTasksUpdate answers questions of a task. The result is an empty
// acknowledgement.
const MethodTasksUpdate = "tasks/update"

// UpdateParams is a view of the params of tasks/update.
type UpdateParams struct {
	// TaskID is taskId; required.
	TaskID string
	// Responses is inputResponses, answers by key; required.
	Responses wire.Object
}

// ParseUpdateParams reads the params of tasks/update. taskId has to be a string
// and inputResponses an object without duplicate names (B-I5). The error is a
// *[wire.DecodeError].
func ParseUpdateParams(params wire.Value) (UpdateParams, error) {
	id, err := ParseTaskID(params)
	if err != nil {
		return UpdateParams{}, err
	}
	responses, err := wire.ParseObject(params.Get("inputResponses"), "params.inputResponses")
	if err != nil {
		return UpdateParams{}, err
	}
	return UpdateParams{TaskID: id, Responses: responses}, nil
}
