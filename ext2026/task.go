package ext2026

import (
	"unicode/utf8"

	"github.com/taskbridge/taskbridge/internal/wire"
)

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

// Task is a view of a task object in any of its places: the flat answer that
// creates a task, the DetailedTask of tasks/get and the params of
// notifications/tasks. The zero Task has no status.
type Task struct {
	obj    wire.Object
	meta   wire.Object
	id     string
	status Status
	inputs wire.Object
}

// ParseTask reads a task object. taskId has to be a string (G-19) and status one
// of the five; everything else is read leniently by the accessors. Duplicate
// names are refused, in _meta and inputRequests too. The error is a *[wire.DecodeError]
// below path.
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
	task := Task{obj: obj, meta: meta, id: id, status: status}
	if status == StatusInputRequired {
		// Elsewhere the member is a stray that nobody reads.
		if task.inputs, err = wire.OptionalObject(obj.Get("inputRequests"), wire.Join(path, "inputRequests")); err != nil {
			return Task{}, err
		}
	}
	return task, nil
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
// out. Some servers say "now" on every poll.
func (t *Task) LastUpdatedAt() wire.Value { return t.obj.Get("lastUpdatedAt") }

// TTLMs returns ttlMs, the retention in milliseconds counted from createdAt, as
// an integer literal rounded down, or null when it is unlimited, missing,
// negative or no number (§4.6, G-16); required and nullable. exact is false when
// that is not what the member said; 900000.0 is exact.
func (t *Task) TTLMs() (ms wire.Value, exact bool) {
	v := t.obj.Get("ttlMs")
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

// PollIntervalMs returns pollIntervalMs, the pace the server asks for in
// milliseconds, as an integer literal rounded up; absent when it is missing, not
// positive or no number (§4.6, G-16). Optional. exact is false when that is not
// what the member said.
func (t *Task) PollIntervalMs() (ms wire.Value, exact bool) {
	v := t.obj.Get("pollIntervalMs")
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

// Result returns the result of a completed task as received; required there,
// absent in a seed.
func (t *Task) Result() wire.Value { return t.obj.Get("result") }

// Error returns the error object of a failed task as received; required there,
// absent in a seed.
func (t *Task) Error() wire.Value { return t.obj.Get("error") }

// InputRequests returns the outstanding questions of a task that needs input, by
// key; required there, empty otherwise.
func (t *Task) InputRequests() *wire.Object { return &t.inputs }

// ResultIsError reports whether the result says isError: true, which is how this
// era reports a failed tool.
func (t *Task) ResultIsError() bool { return t.Result().Get("isError") == "true" }

// ErrorMessage returns error.message, cut at 1 KiB on a rune boundary; empty when
// there is none.
func (t *Task) ErrorMessage() string {
	text, _ := t.Error().Get("message").Text()
	return cut(text)
}

// maxErrorText bounds a status message made from a result (Q36).
const maxErrorText = 1 << 10

// FirstErrorText returns the text of the first text block of the result, cut at
// 1 KiB on a rune boundary; empty when there is none.
func (t *Task) FirstErrorText() string {
	for _, block := range t.Result().Get("content").Elements() {
		if kind, _ := block.Get("type").Text(); kind != "text" {
			continue
		}
		text, _ := block.Get("text").Text()
		return cut(text)
	}
	return ""
}

func cut(text string) string {
	if len(text) <= maxErrorText {
		return text
	}
	end := maxErrorText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
