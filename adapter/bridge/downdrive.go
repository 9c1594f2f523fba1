package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

const (
	// driveAttempts is how many requests about a driven task may fail in a row, each
	// already repeated by the backend's client.
	driveAttempts = 5
	// drivePause is how long a driven task is left alone whose backend lets nobody
	// wait for its end and names no interval.
	drivePause = time.Second
)

// drive follows a task to its end that the client never hears of (Q7). Its questions
// are the call's.
func (p *parkable) drive(ctx context.Context, raw wire.Value) (wire.Value, error) {
	var dialect LegacyTasks
	doc, err := dialect.ReadCreated(raw)
	if err != nil {
		return "", err
	}
	st, err := dialect.Read(doc)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	p.driven, p.over = raw, false
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.driven, p.over = "", true
	}()
	for failures := 0; ; {
		result, err := p.about(ctx, port.TaskResult, st.ID)
		if err == nil {
			return result, nil
		}
		over, next, err := p.undriven(ctx, st, err)
		switch {
		case over:
			return "", err
		case err == nil:
			st, failures = next, 0
		default:
			if failures++; failures >= driveAttempts {
				return "", err
			}
		}
		pause := drivePause
		if st.PollInterval > 0 {
			pause = min(st.PollInterval, time.Minute)
		}
		if err := env.Sleep(ctx, p.d.env, pause); err != nil {
			return "", err
		}
	}
}

// about makes a request about a task for the call.
func (p *parkable) about(ctx context.Context, what port.TaskCall, taskID string) (wire.Value, error) {
	call := LegacyTasks{}.Call(what, taskID)
	call.Authorization = p.b.Authorization(p.x.Caller)
	call.OnMessage = func(msg jsonrpc.Message) { p.hearer.message(ctx, msg) }
	if what != port.TaskResult {
		return p.lease.Do(ctx, call)
	}
	var id jsonrpc.ID
	call.Waited = p.d.env.Now // that nothing is said means that nothing is wanted
	call.OnID = func(next jsonrpc.ID) { id = next }
	session := p.lease.Session()
	result, err := p.lease.Do(ctx, call)
	var upstream *port.UpstreamError
	if errors.As(err, &upstream) && upstream.Sent && upstream.Status == 0 && session == p.lease.Session() {
		p.unheard(ctx, session, id)
	}
	return result, err
}

// unheard tells the backend that nobody hears the answer to a request any more: it would
// ask its next question there, and only there.
func (p *parkable) unheard(ctx context.Context, session port.Session, id jsonrpc.ID) {
	ctx, cancel := p.d.parting(ctx)
	defer cancel()
	method, params := (LegacyTasks{}).Withdrawal(id)
	if err := session.Notify(ctx, method, params); err != nil {
		p.d.logger.InfoContext(ctx, "backend not told of a request that is given up", "backend", p.x.Backend, "error", port.Reason(err))
	}
}

// undriven finds out what it means that a backend has not told the end of a driven task.
func (p *parkable) undriven(ctx context.Context, st port.TaskState, cause error) (over bool, next port.TaskState, err error) {
	var rpc *jsonrpc.Error
	if ctx.Err() != nil {
		return true, st, cause
	}
	if !errors.As(cause, &rpc) {
		return false, st, cause
	}
	doc, err := p.about(ctx, port.TaskGet, st.ID)
	if err != nil {
		// One that does not know the task never will.
		return errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeInvalidParams, st, err
	}
	if next, err = (LegacyTasks{}).Read(doc); err != nil {
		return true, st, err
	}
	switch {
	case !next.Status.Terminal():
		return false, next, nil // nobody can wait there
	case next.Status == port.TaskCancelled:
		return true, next, mapping.Cancelled()
	case st.Status.Terminal():
		return true, next, cause // it was over when it was asked for its end
	default:
		return false, next, nil
	}
}
