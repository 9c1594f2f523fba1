package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// errExpired ends a driven call whose task the backend has forgotten (A-T13).
var errExpired = jsonrpc.NewError(jsonrpc.CodeInternal, "the task behind this call has expired")

// taskHandle reads the handle of a tasks/* request, for a caller that was
// offered tasks (§1.3).
func taskHandle(x *port.Exchange) (string, error) {
	if !x.Caller.Tasks {
		return "", errMethod
	}
	return legacy2025.ParseTaskID(x.Message.Params)
}

func (u *Upgrade) getTask(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	handle, err := taskHandle(x)
	if err != nil {
		return port.Fail(err)
	}
	task, err := u.tasks.Get(ctx, b.Name, x.Caller, handle, x.Own)
	return u.task(x, task, err)
}

func (u *Upgrade) cancelTask(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	handle, err := taskHandle(x)
	if err != nil {
		return port.Fail(err)
	}
	task, err := u.tasks.Cancel(ctx, b.Name, x.Caller, handle)
	return u.task(x, task, err)
}

func (u *Upgrade) task(x *port.Exchange, task wire.Value, err error) port.Outcome {
	if err != nil {
		return u.fail(x, err)
	}
	return port.Outcome{Result: task}
}

func (u *Upgrade) taskResult(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	handle, err := taskHandle(x)
	if err != nil {
		return port.Fail(err)
	}
	return u.tasks.Result(ctx, b.Name, x.Caller, handle, x.Stream)
}

func (u *Upgrade) listTasks(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	if !x.Caller.Tasks {
		return port.Fail(errMethod)
	}
	cursor, given, err := legacy2025.ParseTasksCursor(x.Message.Params)
	if err != nil {
		return port.Fail(err)
	}
	page, err := u.tasks.List(ctx, b.Name, x.Caller, cursor, given, b.PageSize)
	if err != nil {
		return u.fail(x, err)
	}
	return port.Outcome{Result: wire.Value(mapping.AppendDownTaskList(nil, page.Tasks, page.Next))}
}
