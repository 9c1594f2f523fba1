package bridge

import (
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// modernTasks shows the tasks of modern backends to legacy clients.
type modernTasks struct {
	modernQuestions
	// toolErrorsCompleted is the backend's setting tool_errors (Q3).
	toolErrorsCompleted bool
}

var _ port.TaskDialect = modernTasks{}

const methodTasksGet = ext2026.MethodTasksGet

// Read implements [port.TaskDialect].
func (modernTasks) Read(doc wire.Value) (port.TaskState, error) {
	task, err := mapping.ReadDownTask(methodTasksGet, doc)
	if err != nil {
		return port.TaskState{}, err
	}
	st := port.TaskState{
		ID: task.ID(), Status: port.TaskStatus(task.Status()), TTL: -1, Change: mapping.TaskChange(task),
	}
	if sec, nsec, ok := mapping.ParseTime(task.CreatedAt()); ok {
		st.CreatedAt = time.Unix(sec, nsec)
	}
	if ttl, _ := task.TTLMs(); ttl.Kind() == wire.KindNumber {
		st.TTL = milliseconds(ttl)
	}
	if poll, _ := task.PollIntervalMs(); poll.Present() {
		st.PollInterval = milliseconds(poll)
	}
	return st, nil
}

// Questions implements [port.TaskDialect].
func (modernTasks) Questions(doc wire.Value) []port.Question {
	task, err := mapping.ReadDownTask(methodTasksGet, doc)
	if err != nil {
		return nil
	}
	return questions(task.InputRequests().Raw())
}

// longest is the longest time that is told apart from an unlimited one.
const longest = 100 * 365 * 24 * time.Hour

// milliseconds reads a duration; one beyond any practical meaning is unlimited.
func milliseconds(v wire.Value) time.Duration {
	ms, ok := v.Int()
	if !ok || ms > longest.Milliseconds() {
		return -1
	}
	return time.Duration(ms) * time.Millisecond
}

// AppendHosted implements [port.TaskDialect].
func (modernTasks) AppendHosted(dst []byte, t port.HostedTask) []byte {
	h := mapping.HostedTask{
		ID: t.ID, Status: ext2026.Status(t.Status), StatusMessage: t.StatusMessage,
		CreatedAt: stamp(t.CreatedAt), LastUpdatedAt: stamp(t.LastUpdatedAt),
		TTLMs: -1, PollIntervalMs: t.PollInterval.Milliseconds(), Result: t.Result, Error: t.Error,
	}
	if t.TTL >= 0 {
		h.TTLMs = t.TTL.Milliseconds()
	}
	for _, q := range t.Questions {
		h.Requests = append(h.Requests, mapping.InputEntry{Key: q.Key, Request: q.Request})
	}
	return mapping.AppendHostedTask(dst, h)
}

// AppendOverlay implements [port.TaskDialect].
func (modernTasks) AppendOverlay(dst []byte, doc wire.Value, status port.TaskStatus, message string, at time.Time) []byte {
	return mapping.AppendTaskOverlay(dst, doc, ext2026.Status(status), message, stamp(at))
}

// AppendFailed implements [port.TaskDialect].
func (modernTasks) AppendFailed(dst []byte, doc wire.Value, message string, at time.Time) []byte {
	return mapping.AppendFailedOverlay(dst, doc, message, stamp(at))
}

// AppendRebased implements [port.TaskDialect].
func (modernTasks) AppendRebased(dst []byte, doc wire.Value, createdAt time.Time) []byte {
	return mapping.AppendTaskRebased(dst, doc, stamp(createdAt))
}

// AppendTask implements [port.TaskDialect].
func (d modernTasks) AppendTask(dst []byte, doc wire.Value, o port.TaskView) ([]byte, error) {
	task, err := mapping.ReadDownTask(methodTasksGet, doc)
	if err != nil {
		return nil, err
	}
	out, _, err := mapping.AppendDownTask(dst, task, o.Handle, d.options(o))
	return out, err
}

// AppendCreated implements [port.TaskDialect].
func (d modernTasks) AppendCreated(dst []byte, seed wire.Value, o port.TaskView) ([]byte, error) {
	task, err := mapping.ReadDownTask(ext2026.MethodToolsCall, seed)
	if err != nil {
		return nil, err
	}
	out, _, err := mapping.AppendDownCreateTask(dst, task, o.Handle, d.options(o))
	return out, err
}

// AppendStatus implements [port.TaskDialect].
func (d modernTasks) AppendStatus(dst []byte, doc wire.Value, o port.TaskView) (notification []byte, shown string, err error) {
	task, err := mapping.ReadDownTask(methodTasksGet, doc)
	if err != nil {
		return nil, "", err
	}
	out, _, err := mapping.AppendDownTaskStatus(nil, task, o.Handle, d.options(o))
	if err != nil {
		return nil, "", err
	}
	params := wire.Value(out)
	shown = string(params.Get("status") + "\n" + params.Get("statusMessage") + "\n" + params.Get("ttl"))
	return jsonrpc.AppendNotification(dst, legacy2025.NotificationTasksStatus, params), shown, nil
}

// Payload implements [port.TaskDialect].
func (modernTasks) Payload(doc wire.Value, handle string, wrapped bool) port.Outcome {
	return payload(doc, handle, mapping.ResultOptions{Version: legacy2025.Latest, Wrapped: wrapped})
}

// payload is the end of a task, rendered as the options say.
func payload(doc wire.Value, handle string, o mapping.ResultOptions) port.Outcome {
	task, err := mapping.ReadDownTask(methodTasksGet, doc)
	if err != nil {
		return port.Fail(err)
	}
	out, _, err := mapping.AppendDownTaskPayload(nil, task, handle, o)
	return done(out, err)
}

func (d modernTasks) options(o port.TaskView) mapping.TaskOptions {
	return mapping.TaskOptions{FirstSeen: stamp(o.FirstSeen), Answered: o.Answered, ToolErrorsCompleted: d.toolErrorsCompleted}
}

func stamp(t time.Time) string { return mapping.FormatTime(t.UnixMilli()) }
