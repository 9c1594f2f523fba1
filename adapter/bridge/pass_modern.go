package bridge

import (
	"context"
	"net/http"

	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// PassModern serves clients of the modern face in front of modern backends (§4.27).
// Nothing is translated and nothing is kept: a request goes on as it came, but for
// its id, its progress token, the headers that mirror it, the ids of tasks and the
// states of calls that ask. It is
// safe for concurrent use.
type PassModern struct {
	modern  *Modern
	handles *handle.Book
}

var (
	_ port.Crossing     = (*PassModern)(nil)
	_ port.ParamChecker = (*PassModern)(nil)
)

// NewPassModern returns the crossing to the backends of modern, whose clients must
// filter as between peers of one era.
func NewPassModern(modern *Modern, handles *handle.Book) *PassModern {
	return &PassModern{modern: modern, handles: handles}
}

// Notification implements [port.Crossing]. A modern client has none to send over
// HTTP.
func (p *PassModern) Notification(context.Context, *port.Exchange) {}

// Answer implements [port.Crossing]. A modern client is sent no requests.
func (p *PassModern) Answer(context.Context, *port.Exchange) error { return nil }

// Attach implements [port.Crossing]. A modern client has no session.
func (p *PassModern) Attach(port.Subscriber) func() { return func() {} }

// EndSession implements [port.Crossing].
func (p *PassModern) EndSession(context.Context, string, port.Caller) {}

// CheckParams implements [port.ParamChecker]: the bridge is the server that the
// client's headers are for, and writes those that the backend gets itself.
func (p *PassModern) CheckParams(ctx context.Context, x *port.Exchange, header func(name string) []string) error {
	x.OwnEra = true
	b, err := p.modern.backend(x.Backend)
	if err != nil {
		return err
	}
	name, _ := x.Message.Params.Get("name").Text()
	p.modern.prepare(ctx, b, x.Caller, name)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return matchHeaders(p.modern.catalogue.facts(keyOf(b, x.Caller), name).Headers, x.Message.Params, header)
}

// passing is a request of a modern client on its way.
type passing struct {
	p *PassModern
	b *Backend
	x *port.Exchange
	// params are those that the backend gets.
	params wire.Value
	// token is the bridge's progress token, clientToken the client's (G-10).
	token, clientToken wire.Value
}

// Request implements [port.Crossing].
func (p *PassModern) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	x.OwnEra = true
	b, err := p.modern.backend(x.Backend)
	if err != nil {
		return port.Fail(err)
	}
	r := p.passing(b, x)
	if err := r.openTask(ctx); err != nil {
		return port.Fail(err)
	}
	if err := r.openState(); err != nil {
		return port.Fail(err)
	}
	if x.Message.Method == ext2026.MethodSubscriptionsListen {
		return r.listen(ctx)
	}
	call := port.Call{Method: x.Message.Method, Params: r.params, OnMessage: r.message}
	send := p.modern.send
	if x.Message.Method == ext2026.MethodToolsCall {
		send = p.modern.callTool
	}
	raw, err := send(ctx, b, x.Caller, call)
	if err != nil {
		return r.fail(err)
	}
	return r.result(ctx, raw)
}

// passing gives a request a progress token of its own, if it asks for progress.
func (p *PassModern) passing(b *Backend, x *port.Exchange) *passing {
	r := &passing{p: p, b: b, x: x, params: x.Message.Params}
	token := x.Message.Params.Get("_meta").Get(wire.MetaProgressToken)
	if token.Present() && token != wire.Null {
		r.clientToken, r.token = token, jsonrpc.IntID(p.modern.tokens.Add(1))
		r.params = replaced(r.params, to(r.token), "_meta", wire.MetaProgressToken)
	}
	return r
}

// aboutTask reports whether requests of a method name a task.
func aboutTask(method string) bool {
	return method == ext2026.MethodTasksGet || method == ext2026.MethodTasksUpdate || method == ext2026.MethodTasksCancel
}

// openTask puts the backend's id in place of the handle of a request about a task.
func (r *passing) openTask(ctx context.Context) error {
	if !aboutTask(r.x.Message.Method) {
		return nil
	}
	named, err := ext2026.ParseTaskID(r.params)
	if err != nil {
		return err
	}
	taskID, err := r.p.handles.Open(ctx, r.b.Name, r.x.Caller, named)
	if err != nil {
		return err
	}
	r.params = replaced(r.params, to(wire.String(taskID)), "taskId")
	return nil
}

// openState puts the backend's own request state in place of the one that the client was
// given: it is nobody else's, also where the backend does not look (DESIGN §4.4).
func (r *passing) openState() error {
	state, given := r.params.Get("requestState").Text()
	if !given || !ext2026.Asks(r.x.Message.Method) {
		return nil
	}
	own, ok := r.p.handles.Bound(handle.State, r.b.Name, r.x.Caller, state)
	if !ok {
		return park.ErrState
	}
	r.params = replaced(r.params, to(wire.Value(own)), "requestState")
	return nil
}

// asked gives the client a request state of its own.
func (r *passing) asked(raw wire.Value) (wire.Value, error) {
	state := raw.Get("requestState")
	if kind, _ := raw.Get("resultType").Text(); state.Kind() != wire.KindString || kind != string(ext2026.ResultInputRequired) {
		return raw, nil
	}
	bound, err := r.p.handles.Bind(handle.State, r.b.Name, r.x.Caller, string(state))
	return replaced(raw, to(wire.String(bound)), "requestState"), err
}

// message passes on what precedes an answer. Progress of another request is none of
// this client's (G-12), and a task is told of to those who listen.
func (r *passing) message(msg jsonrpc.Message) {
	params := msg.Params
	switch msg.Method {
	case ext2026.NotificationProgress:
		if !r.token.Present() || params.Get(wire.MetaProgressToken) != r.token {
			return
		}
		params = replaced(params, to(r.clientToken), wire.MetaProgressToken)
	case ext2026.NotificationTasks, ext2026.NotificationSubscriptionsAcknowledged:
		return
	}
	// A client that is gone loses it; that is for the exchange to notice.
	_ = r.x.Stream.Send(jsonrpc.AppendNotification(nil, msg.Method, params))
}

// result passes a result on.
func (r *passing) result(ctx context.Context, raw wire.Value) port.Outcome {
	switch method := r.x.Message.Method; {
	case method == ext2026.MethodServerDiscover:
		return r.discovered(raw)
	case method == ext2026.MethodToolsList:
		r.learn(raw)
	case aboutTask(method):
		// Whatever the backend calls it, the client has named it already.
		raw = replaced(raw, to(r.x.Message.Params.Get("taskId")), "taskId")
	case isTask(raw):
		taskID, _ := raw.Get("taskId").Text()
		sealed, err := r.p.handles.Seal(ctx, r.b.Name, r.x.Caller, taskID)
		if err != nil {
			return port.Fail(err)
		}
		raw = replaced(raw, to(wire.String(sealed)), "taskId")
	case ext2026.Asks(method):
		var err error
		if raw, err = r.asked(raw); err != nil {
			return port.Fail(err)
		}
	}
	return port.Outcome{Result: raw}
}

// isTask reports whether a result is a new task.
func isTask(raw wire.Value) bool {
	kind, _ := raw.Get("resultType").Text()
	return kind == string(ext2026.ResultTask) && raw.Get("taskId").Kind() == wire.KindString
}

// ownVersions are the versions that a modern route speaks.
const ownVersions = wire.Value(`["` + ext2026.Version + `"]`)

// discovered limits what a backend says of itself to what is spoken on this route.
func (r *passing) discovered(raw wire.Value) port.Outcome {
	spoken := false
	for _, version := range raw.Get("supportedVersions").Elements() {
		spoken = spoken || version == ownVersions[1:len(ownVersions)-1]
	}
	if !spoken {
		r.b.Contradict()
		return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "backend does not speak MCP %s", ext2026.Version))
	}
	return port.Outcome{Result: replaced(raw, to(ownVersions), "supportedVersions")}
}

// learn remembers a page of tools: their calls need headers. What cannot be read is
// for the client to judge.
func (r *passing) learn(raw wire.Value) {
	page, err := mapping.ReadDownResult(ext2026.MethodToolsList, raw)
	if err != nil {
		return
	}
	if facts, _, err := mapping.ReadTools(page); err == nil {
		r.p.modern.learn(r.b, r.x.Caller, r.x.Message.Params, page, facts)
	}
}

// fail passes an error on as it is. A method that the backend does not know is one
// that the route does not have (§1.6).
func (r *passing) fail(err error) port.Outcome {
	if port.IsRefusal(err) && port.IsCode(err, jsonrpc.CodeMethodNotFound) {
		if r.x.Message.Method == ext2026.MethodServerDiscover {
			r.b.Contradict()
		}
		return port.Fail(&port.StatusError{Status: http.StatusNotFound, Err: port.RPCError(err)})
	}
	return port.Fail(err)
}
