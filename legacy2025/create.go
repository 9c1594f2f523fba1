package legacy2025

import (
	"strconv"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// TaskMetadata is params.task of a task-augmented request.
type TaskMetadata struct {
	// Asked is true when the request carries the member.
	Asked bool
	// HasTTL is true when the client asked for a retention.
	HasTTL bool
	// TTLMs is that retention in milliseconds, rounded down, at least 0.
	TTLMs int64
}

// ParseTaskMetadata reads params.task of a request. It has to be an object whose
// ttl is absent or a finite number that is not negative (A-T2); other members
// are ignored. Without the member, Asked is false. The error is a
// *[wire.DecodeError] for params.task or params.task.ttl.
func ParseTaskMetadata(params wire.Value) (TaskMetadata, error) {
	v := params.Get("task")
	if !v.Present() {
		return TaskMetadata{}, nil
	}
	obj, err := wire.ParseObject(v, "params.task")
	if err != nil {
		return TaskMetadata{}, err
	}
	ttl := obj.Get("ttl")
	if !ttl.Present() {
		return TaskMetadata{Asked: true}, nil
	}
	floor, ok := ttl.Floor()
	if !ok || floor[0] == '-' {
		return TaskMetadata{}, wire.Wrong("params.task.ttl", "a number of milliseconds, 0 or more")
	}
	// A number beyond int64 is a wish for "very long": ParseInt then returns the
	// largest int64, which the configured maximum cuts anyway.
	ms, _ := strconv.ParseInt(string(floor), 10, 64)
	return TaskMetadata{Asked: true, HasTTL: true, TTLMs: ms}, nil
}

// CreateTaskResult is a view of the answer to a task-augmented request.
type CreateTaskResult struct {
	// Task is the task member; required.
	Task Task

	obj, meta wire.Object
}

// IsCreateTaskResult reports whether a result is a CreateTaskResult: it has an
// object called task with a string taskId (B-T2). A tool result beside it does
// not matter.
func IsCreateTaskResult(result wire.Value) bool {
	_, ok := result.Get("task").Get("taskId").Text()
	return ok
}

// ParseCreateTaskResult reads a CreateTaskResult. The error is a
// *[wire.DecodeError] below path.
func ParseCreateTaskResult(v wire.Value, path string) (CreateTaskResult, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return CreateTaskResult{}, err
	}
	task, err := ParseTask(obj.Get("task"), wire.Join(path, "task"))
	if err != nil {
		return CreateTaskResult{}, err
	}
	meta, err := taskMeta(&obj, path)
	if err != nil {
		return CreateTaskResult{}, err
	}
	return CreateTaskResult{Task: task, obj: obj, meta: meta}, nil
}

// Members returns the members of the result in the order received. The slice is
// shared.
func (r *CreateTaskResult) Members() []wire.Member { return r.obj.Members() }

// Meta returns the members of _meta; optional. null counts as absent.
func (r *CreateTaskResult) Meta() *wire.Object { return &r.meta }

// ImmediateResponse returns the text under model-immediate-response in _meta and
// whether there is one (B-T3); optional and provisional.
func (r *CreateTaskResult) ImmediateResponse() (string, bool) {
	return r.Meta().Get(wire.MetaImmediateResponse).Text()
}
