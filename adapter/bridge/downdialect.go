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

// LegacyTasks shows the tasks of legacy backends to modern clients.
type LegacyTasks struct{}

var _ port.SessionTaskDialect = LegacyTasks{}

// taskCalls are the methods of requests about tasks.
var taskCalls = map[port.TaskCall]string{
	port.TaskGet:    legacy2025.MethodTasksGet,
	port.TaskResult: legacy2025.MethodTasksResult,
	port.TaskCancel: legacy2025.MethodTasksCancel,
}

// Call implements [port.SessionTaskDialect]. Related-task is never said in a request:
// servers obey it (PROTOCOL §9).
func (LegacyTasks) Call(call port.TaskCall, taskID string) port.SessionCall {
	params, _, err := mapping.AppendDownTaskParams(nil, "", taskID)
	if err != nil {
		params = nil // absent params are never malformed
	}
	return port.SessionCall{Method: taskCalls[call], Params: wire.Value(params)}
}

// Read implements [port.SessionTaskDialect].
func (LegacyTasks) Read(doc wire.Value) (port.TaskState, error) {
	task, err := mapping.ReadUpTask(legacy2025.MethodTasksGet, doc)
	if err != nil {
		return port.TaskState{}, err
	}
	st := port.TaskState{
		ID: task.ID(), Status: port.TaskStatus(task.Status()), TTL: -1, Change: mapping.UpTaskChange(task),
	}
	if sec, nsec, ok := mapping.ParseTime(task.CreatedAt()); ok {
		st.CreatedAt = time.Unix(sec, nsec)
	}
	if ttl, _ := task.TTL(); ttl.Kind() == wire.KindNumber {
		st.TTL = milliseconds(ttl)
	}
	if poll, _ := task.PollInterval(); poll.Present() {
		st.PollInterval = milliseconds(poll)
	}
	return st, nil
}

// ReadCreated implements [port.SessionTaskDialect].
func (LegacyTasks) ReadCreated(result wire.Value) (wire.Value, error) {
	created, err := mapping.ReadUpCreateTask(result)
	if err != nil {
		return "", err
	}
	return created.Task.Raw(), nil
}

// Cancels implements [port.SessionTaskDialect].
func (LegacyTasks) Cancels(about wire.Value) bool {
	if !about.Present() {
		return true
	}
	capabilities, err := legacy2025.ParseServerCapabilities(about.Get("capabilities"), "result.capabilities")
	return err != nil || capabilities.TaskCancel()
}

// Said implements [port.SessionTaskDialect].
func (LegacyTasks) Said(msg jsonrpc.Message) port.TaskSaid {
	var said port.TaskSaid
	said.Task, _ = msg.Params.Get("_meta").Get(wire.MetaRelatedTask).Get("taskId").Text()
	if msg.Kind != jsonrpc.KindNotification {
		said.Unprompted = msg.Method == legacy2025.MethodRootsList // at start-up (B-U9)
		return said
	}
	switch msg.Method {
	case legacy2025.NotificationTasksStatus:
		said.Doc = msg.Params
		if !said.Doc.Present() {
			said.Doc = wire.Null
		}
		said.Whole = said.Doc.Get("ttl").Present() && said.Doc.Get("createdAt").Present() && said.Doc.Get("lastUpdatedAt").Present()
	case legacy2025.NotificationCancelled:
		if params, err := legacy2025.ParseCancelledParams(msg.Params); err == nil {
			said.Withdrawn = params.RequestID
		}
	case legacy2025.NotificationProgress:
		said.Progress = true
	}
	return said
}

// Kind implements [port.SessionTaskDialect].
func (LegacyTasks) Kind(method string) string { return kinds[method] }

// MayAsk implements [port.SessionTaskDialect].
func (LegacyTasks) MayAsk(capabilities wire.Value, method string, params wire.Value) (may, kind bool) {
	return mapping.MayAskUp(capabilities, method, params)
}

// AppendQuestion implements [port.SessionTaskDialect].
func (LegacyTasks) AppendQuestion(dst []byte, method string, params wire.Value) ([]byte, error) {
	out, _, err := mapping.AppendUpInputRequest(dst, method, params)
	return out, err
}

// AppendAnswer implements [port.SessionTaskDialect].
func (LegacyTasks) AppendAnswer(dst []byte, method string, params, answer wire.Value, taskID, path string) ([]byte, error) {
	out, _, err := mapping.AppendDownInputResponse(dst, method, params, answer, taskID, path)
	return out, err
}

// Dismissal implements [port.SessionTaskDialect].
func (LegacyTasks) Dismissal(method string) wire.Value {
	if method == legacy2025.MethodElicitationCreate {
		return mapping.DismissedAnswer
	}
	return ""
}

// Withdrawal implements [port.SessionTaskDialect].
func (LegacyTasks) Withdrawal(id jsonrpc.ID) (method string, params wire.Value) {
	return legacy2025.NotificationCancelled, withdrawal(id, "nobody waits for the answer")
}

// withdrawal are the params that take a request back.
func withdrawal(id jsonrpc.ID, reason string) wire.Value {
	w := wire.Begin(nil)
	w.Value("requestId", id)
	w.Text("reason", reason)
	return wire.Value(w.End())
}

// AppendHosted implements [port.SessionTaskDialect].
func (LegacyTasks) AppendHosted(dst []byte, t port.HostedTask) []byte {
	h := mapping.HostedTask{
		ID: t.ID, Status: ext2026.Status(t.Status), StatusMessage: t.StatusMessage,
		CreatedAt: stamp(t.CreatedAt), LastUpdatedAt: stamp(t.LastUpdatedAt),
		TTLMs: -1, PollIntervalMs: t.PollInterval.Milliseconds(),
	}
	if t.TTL >= 0 {
		h.TTLMs = t.TTL.Milliseconds()
	}
	return mapping.AppendUpHostedTask(dst, h)
}

// AppendCreated implements [port.SessionTaskDialect].
func (d LegacyTasks) AppendCreated(dst []byte, result wire.Value, view port.SessionTaskView) ([]byte, error) {
	created, err := mapping.ReadUpCreateTask(result)
	if err != nil {
		return nil, err
	}
	out, _, err := mapping.AppendUpCreateTask(dst, created, view.Handle, d.options(view))
	return out, err
}

// AppendHostedCreated implements [port.SessionTaskDialect].
func (d LegacyTasks) AppendHostedCreated(dst []byte, doc wire.Value, view port.SessionTaskView) ([]byte, error) {
	w := wire.Begin(nil)
	w.Value("task", doc)
	return d.AppendCreated(dst, wire.Value(w.End()), view)
}

// AppendTask implements [port.SessionTaskDialect].
func (d LegacyTasks) AppendTask(dst []byte, doc wire.Value, view port.SessionTaskView) ([]byte, error) {
	task, err := mapping.ReadUpTask(legacy2025.MethodTasksGet, doc)
	if err != nil {
		return nil, err
	}
	out, _, err := mapping.AppendUpTask(dst, task, view.Handle, d.options(view))
	return out, err
}

// AppendStatus implements [port.SessionTaskDialect].
func (d LegacyTasks) AppendStatus(dst []byte, doc wire.Value, subscription jsonrpc.ID, view port.SessionTaskView) (notification []byte, shown string, err error) {
	task, err := mapping.ReadUpTask(legacy2025.MethodTasksGet, doc)
	if err != nil {
		return nil, "", err
	}
	out, _, err := mapping.AppendUpTaskNotification(nil, task, view.Handle, subscription, d.options(view))
	if err != nil {
		return nil, "", err
	}
	params := wire.Value(out)
	shown = string(params.Get("status") + "\n" + params.Get("statusMessage") + "\n" + params.Get("ttlMs") + "\n" + params.Get("inputRequests"))
	return jsonrpc.AppendNotification(dst, ext2026.NotificationTasks, params), shown, nil
}

// AppendAck implements [port.SessionTaskDialect].
func (LegacyTasks) AppendAck(dst []byte, info wire.Value) []byte {
	return mapping.AppendUpAck(dst, info)
}

// ServerInfo implements [port.SessionTaskDialect].
func (LegacyTasks) ServerInfo(about wire.Value) wire.Value { return about.Get("serverInfo") }

// Error implements [port.SessionTaskDialect].
func (LegacyTasks) Error(call port.TaskCall, e *jsonrpc.Error) *jsonrpc.Error {
	return mapping.UpError(taskCalls[call], e)
}

func (LegacyTasks) options(view port.SessionTaskView) mapping.UpTaskOptions {
	o := mapping.UpTaskOptions{
		FirstSeen: stamp(view.FirstSeen), ServerInfo: view.ServerInfo, Message: view.Message,
		Payload: mapping.Payload{Result: view.End.Result, Error: view.End.Error},
	}
	for _, q := range view.Questions {
		o.Requests = append(o.Requests, mapping.InputEntry{Key: q.Key, Request: q.Request})
	}
	return o
}
