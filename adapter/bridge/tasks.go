package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// errExpired ends a driven call whose task the backend has forgotten (A-T13).
var errExpired = jsonrpc.NewError(jsonrpc.CodeInternal, "the task behind this call has expired")

// taskHandle reads the handle of a tasks/* request, for a caller that was
// offered tasks (§1.3).
func (u *Upgrade) taskHandle(ctx context.Context, b *Backend, x *port.Exchange) (string, error) {
	if !u.offersTasks(ctx, b, x.Caller) {
		return "", errMethod
	}
	return legacy2025.ParseTaskID(x.Message.Params)
}

func (u *Upgrade) getTask(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	handle, err := u.taskHandle(ctx, b, x)
	if err != nil {
		return port.Fail(err)
	}
	task, err := u.tasks.Get(ctx, b.Name, x.Caller, handle)
	return u.task(x, task, err)
}

func (u *Upgrade) cancelTask(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	handle, err := u.taskHandle(ctx, b, x)
	if err != nil {
		return port.Fail(err)
	}
	task, err := u.tasks.Cancel(ctx, b.Name, x.Caller, handle)
	return u.task(x, task, err)
}

func (u *Upgrade) task(x *port.Exchange, task wire.Value, err error) port.Outcome {
	if err != nil {
		return u.failTask(x, err)
	}
	return port.Outcome{Result: task}
}

func (u *Upgrade) taskResult(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	handle, err := u.taskHandle(ctx, b, x)
	if err != nil {
		return port.Fail(err)
	}
	return u.tasks.Result(ctx, b.Name, x.Caller, handle)
}

func (u *Upgrade) listTasks(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	if !u.offersTasks(ctx, b, x.Caller) {
		return port.Fail(errMethod)
	}
	cursor, given, err := legacy2025.ParseTasksCursor(x.Message.Params)
	if err != nil {
		return port.Fail(err)
	}
	page, err := u.tasks.List(ctx, b.Name, x.Caller, cursor, given, b.PageSize)
	if err != nil {
		return u.failTask(x, err)
	}
	return port.Outcome{Result: wire.Value(mapping.AppendDownTaskList(nil, page.Tasks, page.Next))}
}

// failTask ends a task request. A backend that has no tasks after all, or wants
// more than the extension, says nothing about the task (A-E5).
func (u *Upgrade) failTask(x *port.Exchange, err error) port.Outcome {
	if port.IsCode(err, jsonrpc.CodeMethodNotFound) || port.IsCode(err, ext2026.CodeMissingCapability) {
		if b, unknown := u.modern.backend(x.Backend); unknown == nil {
			b.Contradict()
		}
		return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "the backend does not serve tasks any more"))
	}
	return u.fail(x, err)
}
