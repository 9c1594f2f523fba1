package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// result names the tasks in a result as the client knows them.
func (c *passedCall) result(ctx context.Context, raw wire.Value) (result wire.Value, isTask bool, err error) {
	switch c.x.Message.Method {
	case legacy2025.MethodTasksGet, legacy2025.MethodTasksCancel:
		// Whatever the backend calls it, the client has named it already.
		raw = replaced(raw, to(c.x.Message.Params.Get("taskId")), "taskId")
	case legacy2025.MethodTasksList:
		raw, err = c.s.ownTasks(ctx, c.x.Caller, raw)
	default:
		if c.makes && raw.Get("task").Get("taskId").Kind() == wire.KindString {
			isTask = true
			raw, err = c.created(ctx, raw)
		}
	}
	if err == nil {
		raw, err = c.related(ctx, raw)
	}
	return raw, isTask, err
}

// created notes whose a new task is, before anybody is told of it.
func (c *passedCall) created(ctx context.Context, raw wire.Value) (wire.Value, error) {
	taskID, _ := raw.Get("task").Get("taskId").Text()
	// Not even a client that is gone may leave the task to nobody.
	named, err := c.s.own(context.WithoutCancel(ctx), c.x.Caller, taskID)
	if err != nil {
		return "", err
	}
	return replaced(raw, to(wire.String(named)), "task", "taskId"), nil
}

// related names the task that a result belongs to, which is the one that was asked
// about, or the caller's in any case.
func (c *passedCall) related(ctx context.Context, raw wire.Value) (wire.Value, error) {
	related := relatedTask(raw)
	taskID, ok := related.Text()
	switch {
	case !ok:
		return raw, nil
	case c.taskID.Present():
		return withRelatedTask(raw, c.x.Message.Params.Get("taskId")), nil
	}
	named, err := c.s.own(ctx, c.x.Caller, taskID)
	if err != nil {
		return "", err
	}
	return withRelatedTask(raw, wire.String(named)), nil
}

// ownTasks leaves those tasks in a page that are the caller's: a backend may list
// everybody's (S-2).
func (s *passed) ownTasks(ctx context.Context, caller port.Caller, raw wire.Value) (wire.Value, error) {
	if next := raw.Get("nextCursor"); next.Kind() == wire.KindString {
		bound, err := s.p.o.Handles.Bind(handle.Cursor, s.b.Name, caller, string(next))
		if err != nil {
			return "", err
		}
		raw = replaced(raw, to(wire.String(bound)), "nextCursor")
	}
	tasks := raw.Get("tasks")
	if tasks.Kind() != wire.KindArray {
		return raw, nil
	}
	out := []byte{'['}
	for _, task := range tasks.Elements() {
		taskID, _ := task.Get("taskId").Text()
		named, found, err := s.p.o.Handles.Find(ctx, s.b.Name, caller, taskID)
		if err != nil {
			return "", err
		}
		if !found {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, replaced(task, to(wire.String(named)), "taskId")...)
	}
	return replaced(raw, to(wire.Value(append(out, ']'))), "tasks"), nil
}

// own notes that a task is the caller's, and tells what has been said of it before.
func (s *passed) own(ctx context.Context, caller port.Caller, taskID string) (named string, err error) {
	if named, err = s.p.o.Handles.Own(ctx, s.b.Name, caller, taskID); err != nil {
		return "", err
	}
	s.mu.Lock()
	early, ok := s.unowned.status[taskID]
	delete(s.unowned.status, taskID)
	s.mu.Unlock()
	if ok {
		s.tellStatus(nil, named, early)
	}
	return named, nil
}

// tellStatus tells the client that its task has changed.
func (s *passed) tellStatus(stream port.Stream, named string, params wire.Value) {
	params = replaced(params, to(wire.String(named)), "taskId")
	s.deliver(stream, "task/"+named, jsonrpc.AppendNotification(nil, legacy2025.NotificationTasksStatus, params))
}

// openRelated puts the backend's id in place of the handle of the task that params or
// a result belong to. What is no handle may name a task that the client has itself.
func (s *passed) openRelated(ctx context.Context, caller port.Caller, v wire.Value) (wire.Value, error) {
	named, ok := relatedTask(v).Text()
	if !ok {
		return v, nil
	}
	taskID, err := s.p.o.Handles.Open(ctx, s.b.Name, caller, named)
	if port.IsCode(err, jsonrpc.CodeInvalidParams) {
		return v, nil
	}
	if err != nil {
		return "", err
	}
	return withRelatedTask(v, wire.String(taskID)), nil
}

// maxUnowned bounds the tasks whose status is kept until it is known whose they are, and
// maxStatus what is kept of each, in bytes.
const (
	maxUnowned = 64
	maxStatus  = 64 << 10
)

// unowned are the last notifications about tasks that nobody is known to own, while
// a request is under way whose answer may be one of them.
type unowned struct {
	calls  int
	status map[string]wire.Value
}

func newUnowned() unowned { return unowned{status: make(map[string]wire.Value)} }

func (u *unowned) end() {
	if u.calls--; u.calls == 0 {
		clear(u.status)
	}
}

func (u *unowned) keep(taskID string, params wire.Value) {
	_, known := u.status[taskID]
	if u.calls > 0 && (known || len(u.status) < maxUnowned) && len(taskID)+len(params) <= maxStatus {
		u.status[taskID] = params
	}
}
