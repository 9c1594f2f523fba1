package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodTasksGet asks for the state of a task, its outcome or questions
// included. The result is a DetailedTask, see [ParseTask].
const MethodTasksGet = "tasks/get"

// ParseTaskID reads params.taskId of tasks/get, tasks/update and tasks/cancel;
// required, a string (G-19). The error is a *[wire.DecodeError].
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
