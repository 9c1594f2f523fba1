package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodTasksGet asks for the state of a task. The result is a task object, see
// [ParseTask].
const MethodTasksGet = "tasks/get"

// ParseTaskID reads params.taskId of tasks/get, tasks/result and tasks/cancel;
// required, a string (G-19). Other members of params are ignored, params.task
// and related-task among them (A-T4). The error is a *[wire.DecodeError].
func ParseTaskID(params wire.Value) (string, error) {
	obj, err := wire.ParseObject(params, "params")
	if err != nil {
		return "", err
	}
	id, ok := obj.Get("taskId").Text()
	if !ok {
		return "", wire.Wrong("params.taskId", "a string")
	}
	return id, nil
}
