package bridge

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// call serves tools/call. A task is made only for a caller that was offered
// tasks; for all others params.task means nothing (A-T1).
func (u *Upgrade) call(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	if x.Message.Params.Get("task").Present() && x.Caller.Tasks {
		asked, err := legacy2025.ParseTaskMetadata(x.Message.Params)
		if err != nil {
			return port.Fail(err)
		}
		return u.callTask(ctx, b, x, asked)
	}
	return u.callPlain(ctx, b, x)
}

// callTask makes a task of a call in any case: the backend's, or a hosted one
// (§4.2).
func (u *Upgrade) callTask(ctx context.Context, b *Backend, x *port.Exchange, asked legacy2025.TaskMetadata) port.Outcome {
	if _, err := legacy2025.ParseCallToolParams(x.Message.Params); err != nil {
		return port.Fail(err)
	}
	ttl := b.HostedTTL
	if asked.HasTTL {
		ttl = time.Duration(min(asked.TTLMs, longest.Milliseconds())) * time.Millisecond
	}
	created, err := u.tasks.Create(ctx, task.Request{
		Backend: b.Name, Caller: x.Caller, TTL: ttl, Grace: b.SyncGrace,
		Wrapped: func() bool { return u.options(b, x).Wrapped },
		Call: func(ctx context.Context) task.Ending {
			return u.ending(ctx, u.modern.begin(b, x, true), savedCall{Params: string(x.Message.Params)}, ext2026.Retry{})
		},
	})
	if err != nil {
		return u.fail(x, err)
	}
	return port.Outcome{Result: created}
}

// ending performs a call with the tasks extension declared, up to its end or to
// questions, for which the call is saved.
func (u *Upgrade) ending(ctx context.Context, d *dialogue, saved savedCall, retry ext2026.Retry) task.Ending {
	a, err := d.patient(ctx, u.env, retry)
	switch {
	case err != nil:
		return task.Ending{Err: err}
	case a.result.Type == ext2026.ResultTask:
		return task.Ending{Seed: a.raw}
	case len(a.questions) == 0:
		return task.Ending{Result: a.raw}
	case saved.Round == ask.MaxRounds:
		return task.Ending{Result: wire.Value(mapping.AppendDownFailedResult(nil, ask.ErrRounds.Message, ""))}
	}
	next, err := saved.next(d.x.Caller, a.result.RequestState)
	if err != nil {
		return task.Ending{Err: err}
	}
	return task.Ending{Round: &task.Round{Questions: a.questions, Saved: next}}
}

// callPlain performs a call whose client wants the result itself. The tasks
// extension is declared only where the configuration says so or the tool has
// insisted on it; a task is then driven behind the client's back (§4.3).
func (u *Upgrade) callPlain(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	name, _ := x.Message.Params.Get("name").Text()
	key := toolKey{b.Name, name}
	d := u.modern.begin(b, x, b.DrivePlain || u.insisting.Contains(key))
	d.insists = func() { u.insisting.Add(key, struct{}{}) }
	a, err := u.complete(ctx, d)
	if err != nil {
		return u.fail(x, err)
	}
	if a.result.Type == ext2026.ResultTask {
		return u.drive(ctx, d, a.raw)
	}
	out, _, err := mapping.AppendDownCallResult(nil, a.result, u.options(b, x))
	return done(out, err)
}

// insists reports whether a call failed for want of the tasks extension alone.
func insists(err error) bool {
	if !port.IsCode(err, ext2026.CodeMissingCapability) {
		return false
	}
	missing := ext2026.MissingCapabilities(errorData(err))
	return missing.OnlyTasks
}

// drive follows a task that the client did not ask for (A-T12, A-T13).
func (u *Upgrade) drive(ctx context.Context, d *dialogue, seed wire.Value) port.Outcome {
	call := u.desk.Call(modernQuestions{}, d.x.Caller, d.x.Stream)
	defer call.Close()
	alive := u.keepAlive(ctx, d)
	defer alive.stop()
	doc, err := u.tasks.Drive(ctx, task.Driven{
		Backend: d.b.Name, Caller: d.x.Caller, Seed: seed, Questions: call, OnState: alive.state,
	})
	if port.IsCode(err, jsonrpc.CodeInvalidParams) {
		return port.Fail(errExpired)
	}
	if err != nil {
		return u.fail(d.x, err)
	}
	return payload(doc, "", u.options(d.b, d.x))
}

// options say how the result of a call is rendered.
func (u *Upgrade) options(b *Backend, x *port.Exchange) mapping.ResultOptions {
	name, _ := x.Message.Params.Get("name").Text()
	return mapping.ResultOptions{
		Version: x.Caller.Version, Wrapped: u.modern.catalogue.facts(keyOf(b, x.Caller), name).Wrapped,
	}
}
