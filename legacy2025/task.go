package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// Status is the status of a task. The set is closed.
type Status string

// The statuses of a task.
const (
	StatusWorking       Status = "working"
	StatusInputRequired Status = "input_required"
	StatusCompleted     Status = "completed"
	StatusFailed        Status = "failed"
	StatusCancelled     Status = "cancelled"
)

// Known reports whether s is one of the five statuses.
func (s Status) Known() bool { return s == StatusWorking || s == StatusInputRequired || s.Terminal() }

// Terminal reports whether the status is final.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusCancelled
}

// Task is a view of a task object: inside a CreateTaskResult, as the result of
// tasks/get and tasks/cancel, in a page of tasks/list and as the params of
// notifications/tasks/status. The zero Task has no status.
type Task struct {
	obj    wire.Object
	meta   wire.Object
	id     string
	status Status
}

// ParseTask reads a task object. taskId has to be a string (G-19) and status one
// of the five; everything else is read leniently by the accessors. Duplicate
// names are refused, in _meta too. The error is a *[wire.DecodeError] below path.
func ParseTask(v wire.Value, path string) (Task, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return Task{}, err
	}
	id, ok := obj.Get("taskId").Text()
	if !ok {
		return Task{}, wire.Wrong(wire.Join(path, "taskId"), "a string")
	}
	text, _ := obj.Get("status").Text()
	status := Status(text)
	if !status.Known() {
		return Task{}, wire.Wrong(wire.Join(path, "status"), "a task status")
	}
	meta, err := taskMeta(&obj, path)
	if err != nil {
		return Task{}, err
	}
	return Task{obj: obj, meta: meta, id: id, status: status}, nil
}

// taskMeta reads _meta of an object. Peers that write every field say null for
// none.
func taskMeta(obj *wire.Object, path string) (wire.Object, error) {
	v := obj.Get("_meta")
	if v == wire.Null {
		return wire.Object{}, nil
	}
	return wire.OptionalObject(v, wire.Join(path, "_meta"))
}

// Raw returns the whole object as received.
func (t *Task) Raw() wire.Value { return t.obj.Raw() }

// Members returns the members in the order received. The slice is shared.
func (t *Task) Members() []wire.Member { return t.obj.Members() }

// Has reports whether there is a member called name.
func (t *Task) Has(name string) bool { return t.obj.Has(name) }

// ID returns taskId; required.
func (t *Task) ID() string { return t.id }

// Status returns status; required.
func (t *Task) Status() Status { return t.status }

// StatusMessage returns statusMessage and whether there is one; optional. A value
// that is no string counts as absent.
func (t *Task) StatusMessage() (string, bool) { return t.obj.Get("statusMessage").Text() }

// CreatedAt returns createdAt as received; required, but peers leave it out.
func (t *Task) CreatedAt() wire.Value { return t.obj.Get("createdAt") }

// LastUpdatedAt returns lastUpdatedAt as received; required, but peers leave it
// out.
func (t *Task) LastUpdatedAt() wire.Value { return t.obj.Get("lastUpdatedAt") }

// TTL returns ttl, the retention in milliseconds counted from createdAt, as an
// integer literal rounded down, or null when it is unlimited, missing, negative
// or no number (G-16, B-G3); required and nullable. exact is false when that is
// not what the member said.
func (t *Task) TTL() (ms wire.Value, exact bool) {
	v := t.obj.Get("ttl")
	if v == wire.Null {
		return v, true
	}
	floor, ok := v.Floor()
	if !ok || floor[0] == '-' {
		return wire.Null, false
	}
	ceil, _ := v.Ceil()
	return floor, ceil == floor
}

// PollInterval returns pollInterval, the pace the server asks for in
// milliseconds, as an integer literal rounded up; absent when it is missing, not
// positive or no number (G-16, B-G3). Optional. exact is false when that is not
// what the member said.
func (t *Task) PollInterval() (ms wire.Value, exact bool) {
	v := t.obj.Get("pollInterval")
	if !v.Present() || v == wire.Null {
		return "", true
	}
	ceil, ok := v.Ceil()
	if !ok || ceil == "0" || ceil[0] == '-' {
		return "", false
	}
	floor, _ := v.Floor()
	return ceil, ceil == floor
}

// Meta returns the members of _meta; optional. null counts as absent.
func (t *Task) Meta() *wire.Object { return &t.meta }
