package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// passedCall is a client's request at the backend.
type passedCall struct {
	s *passed
	x *port.Exchange
	// params are those that the backend gets.
	params wire.Value
	// token is the bridge's progress token, or absent.
	token wire.Value
	// taskID is the backend's id of the task that the request names, or absent.
	taskID wire.Value
	// makes is set for a request that may be answered with a task.
	makes bool

	// The session's lock guards what follows.
	id        jsonrpc.ID // at the backend
	cancelled wire.Value // the params with which the client has cancelled it
}

// request passes a request on to its end.
func (s *passed) request(ctx context.Context, x *port.Exchange) port.Outcome {
	c := &passedCall{s: s, x: x}
	if err := c.prepare(ctx); err != nil {
		return port.Fail(err)
	}
	c.begin()
	defer c.end()
	raw, err := s.session.Do(ctx, port.SessionCall{
		Method: x.Message.Method, Params: c.params, Authorization: s.b.Authorization(x.Caller),
		OnID: c.setID, OnMessage: func(msg jsonrpc.Message) { s.heard(ctx, msg, x.Stream) },
	})
	if err != nil {
		s.forget(&s.down, c.token)
		if ctx.Err() != nil {
			c.cancel(ctx)
		}
		return port.Fail(err)
	}
	result, isTask, err := c.result(ctx, raw)
	if !isTask {
		s.forget(&s.down, c.token)
	}
	if err != nil {
		return port.Fail(err)
	}
	return port.Outcome{Result: result}
}

// prepare makes the params that the backend gets.
func (c *passedCall) prepare(ctx context.Context) error {
	method, params := c.x.Message.Method, c.x.Message.Params
	obj, err := wire.OptionalObject(params, "params")
	if err == nil {
		err = legacy2025.CheckParams(method, obj)
	}
	if err == nil {
		_, err = wire.OptionalObject(obj.Get("_meta"), "params._meta")
	}
	if err != nil {
		return err
	}
	if params, err = c.openTask(ctx, params); err != nil {
		return err
	}
	if params, err = c.openCursor(params); err != nil {
		return err
	}
	if params, err = c.s.openRelated(ctx, c.x.Caller, params); err != nil {
		return err
	}
	c.makes = method == legacy2025.MethodToolsCall || params.Get("task").IsObject()
	c.params, c.token, err = c.s.withToken(&c.s.down, params)
	return err
}

// openTask puts the backend's id in place of the handle of a request about a task.
func (c *passedCall) openTask(ctx context.Context, params wire.Value) (wire.Value, error) {
	method := c.x.Message.Method
	if !isLegacyTask(method) || method == legacy2025.MethodTasksList {
		return params, nil
	}
	named, err := legacy2025.ParseTaskID(params)
	if err != nil {
		return "", err
	}
	handles, backend := c.s.p.o.Handles, c.s.b.Name
	taskID, err := handles.Open(ctx, backend, c.x.Caller, named)
	if err != nil {
		return "", err
	}
	if err := handles.Keep(ctx, backend, c.x.Caller, taskID, named); err != nil {
		return "", err
	}
	c.taskID = wire.String(taskID)
	return replaced(params, to(c.taskID), "taskId"), nil
}

var errCursor = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Invalid params: params.cursor: not a cursor of this list, or expired")

// openCursor puts the backend's cursor in place of that of the client's own tasks
// (A-S2). Other lists are not the client's.
func (c *passedCall) openCursor(params wire.Value) (wire.Value, error) {
	cursor, given := params.Get("cursor").Text()
	if !given || c.x.Message.Method != legacy2025.MethodTasksList {
		return params, nil
	}
	own, ok := c.s.p.o.Handles.Bound(handle.Cursor, c.s.b.Name, c.x.Caller, cursor)
	if !ok {
		return "", errCursor
	}
	return replaced(params, to(wire.Value(own)), "cursor"), nil
}

func (c *passedCall) begin() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.calls[c.x.Message.ID] = c
	if c.makes {
		c.s.unowned.calls++
	}
}

func (c *passedCall) end() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.calls[c.x.Message.ID] == c {
		delete(c.s.calls, c.x.Message.ID)
	}
	if c.makes {
		c.s.unowned.end()
	}
}

func (c *passedCall) setID(id jsonrpc.ID) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.id = id
}

// cancelCall notes what a client says about a request that it cancels. The request
// itself ends by its context, and the backend is told then.
func (s *passed) cancelCall(params wire.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[params.Get("requestId")]; c != nil {
		c.cancelled = params
	}
}

// cancel tells the backend that nobody waits for the answer any more (§1.7).
func (c *passedCall) cancel(ctx context.Context) {
	c.s.mu.Lock()
	id, params := c.id, c.cancelled
	c.s.mu.Unlock()
	if !id.Present() {
		return
	}
	if !params.Present() {
		params = `{"requestId":0,"reason":"the client has gone"}`
	}
	params = replaced(params, to(id), "requestId")
	p := c.s.p
	ctx, cancel := env.WithTimeout(context.WithoutCancel(ctx), p.o.Env, partingTime, errCallTotal)
	defer cancel()
	if err := c.s.session.Notify(ctx, legacy2025.NotificationCancelled, params); err != nil {
		p.o.Logger.InfoContext(ctx, "backend not told of a cancelled request", "backend", c.s.b.Name, "error", port.Reason(err))
	}
}
