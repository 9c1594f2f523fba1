package bridge

import (
	"context"
	"errors"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// way is how a call is made at a backend (§4.19).
type way uint8

const (
	// wayPlain: without a task; where the tool could have one, wayUnasked.
	wayPlain way = iota
	wayUnasked
	// wayTask: the backend is asked for a task, which becomes the client's.
	wayTask
	// wayDriven: the backend is asked for a task that its client never hears of.
	wayDriven
)

// making is what becomes of a call beside its end: a task, at the backend or in the
// bridge. The lock of the call guards it.
type making struct {
	// task is the client's, once there is one, and hosting is closed when it is
	// known whether the call becomes one of the bridge.
	task    *pump.Task
	hosting chan struct{}
	over    bool // the backend has answered
	gone    bool // nobody waits for the answer
	// driven is the backend's answer that made a task that the client never hears of.
	driven wire.Value
}

// choose decides how the call is made (§4.19).
func (p *parkable) choose(ctx context.Context) error {
	if p.x.Message.Method != ext2026.MethodToolsCall {
		return nil
	}
	if !makesTasks(p.lease) {
		return nil
	}
	tool, err := p.d.tool(ctx, p.b, p.x)
	if err != nil {
		return err
	}
	required := tool.TaskSupport == legacy2025.TaskRequired
	switch {
	case p.x.Caller.Tasks && (required || tool.TaskSupport == legacy2025.TaskOptional):
		p.way = wayTask
	case required && p.b.DriveRequired:
		p.way = wayDriven
	case required:
		return errTasks
	default:
		p.way = wayUnasked
		return nil
	}
	p.hearer.augment = wire.Value(mapping.AppendDownTaskMetadata(nil, p.b.HostedTTL.Milliseconds()))
	return nil
}

// makesTasks reports whether a session's backend can be asked for tasks. One that says
// nothing readable has none.
func makesTasks(session port.Session) bool {
	about, err := legacy2025.ParseServerCapabilities(session.About().Get("capabilities"), "result.capabilities")
	return err == nil && about.TaskCalls() && legacy2025.TaskCapable(session.Ticket().Version)
}

// end draws the conclusions from the backend's answer.
func (p *parkable) end(ctx context.Context, raw wire.Value, err error) {
	p.mu.Lock()
	p.over = true
	hosting := p.hosting
	p.mu.Unlock()
	if hosting != nil {
		<-hosting
	}
	p.mu.Lock()
	hosted := p.task
	p.mu.Unlock()
	switch {
	case hosted != nil:
		hosted.Finish(raw, err) //nolint:contextcheck // the end is kept even if the call was cut
	case err == nil && p.x.Message.Method == ext2026.MethodToolsCall && legacy2025.IsCreateTaskResult(raw):
		p.created(ctx, raw)
	default:
		if p.way == wayUnasked && (port.IsCode(err, jsonrpc.CodeMethodNotFound) || port.IsCode(err, jsonrpc.CodeInvalidRequest)) {
			p.d.catalogue.changed(p.b.Name) // what was known of the tool may be wrong (B-T7)
		}
		p.call.End(p.outcome(raw, err))
	}
}

// created hands out the task that the backend has made of the call, or drives it to
// its end for a client that cannot have it. What was asked before is the task's now,
// unless the client has been shown some of it already.
func (p *parkable) created(ctx context.Context, raw wire.Value) {
	p.mu.Lock()
	gone := p.gone
	p.mu.Unlock()
	switch {
	case gone:
		p.d.tasks.Abandon(ctx, p.made(), raw) // B-T6
		p.call.End(port.Fail(errGone))
		return
	case !p.x.Caller.Tasks:
		p.call.End(p.outcome(p.drive(ctx, raw)))
		return
	}
	task, answer, err := p.d.tasks.Adopt(ctx, p.made(), raw)
	if err != nil {
		p.d.tasks.Abandon(ctx, p.made(), raw)
		p.call.End(p.d.fail(p.x, err))
		return
	}
	p.become(task) //nolint:contextcheck // what waits for another call outlives this one
	p.call.Settle(port.Outcome{Result: answer})
}

// errGone ends a call that nobody waits for.
var errGone = jsonrpc.NewError(jsonrpc.CodeInternal, "the client has gone")

// made is the call as package pump knows it.
func (p *parkable) made() pump.Call {
	return pump.Call{Backend: p.x.Backend, Caller: p.x.Caller, Lease: p.lease}
}

// become makes the task what the backend's requests belong to from now on.
func (p *parkable) become(task *pump.Task) {
	p.mu.Lock()
	p.task = task
	var moved []asking
	for _, key := range p.call.Transfer() {
		moved = append(moved, p.asking[key])
	}
	p.mu.Unlock()
	for _, q := range moved {
		p.handTo(task, q)
	}
}

// handTo gives a request of the backend to the task that the call has become. Servers
// ask for roots at start-up, on the standing stream: that is no question of a task at
// the backend, and waits for another call (B-U9).
func (p *parkable) handTo(task *pump.Task, q asking) {
	session := p.lease.Session()
	p.mu.Lock()
	unprompted := q.aside && p.hosting == nil && q.msg.Method == legacy2025.MethodRootsList && (LegacyTasks{}).Said(q.msg).Task == ""
	p.handed = p.handed || !unprompted
	p.mu.Unlock()
	if unprompted {
		p.d.hold(Heard{Backend: p.x.Backend, Session: session, Message: q.msg})
		return
	}
	task.Ask(session, q.msg)
}

// handOn gives a request of the backend to the task that the call has become.
func (p *parkable) handOn(q asking) bool {
	p.mu.Lock()
	task := p.task
	p.mu.Unlock()
	if task == nil {
		return false
	}
	p.handTo(task, q)
	return true
}

// abandon ends a call that nobody is going to come back to (§1.7). A task that may be
// on its way is waited for, for a while, so that it can be cancelled.
func (p *parkable) abandon(ctx context.Context) {
	ctx, cancel := p.d.parting(ctx)
	defer cancel()
	p.mu.Lock()
	p.gone = true
	task, driven, over := p.task, p.driven, p.over
	p.mu.Unlock()
	switch {
	case task != nil:
		task.Abandon(ctx, p.x.Caller)
	case driven.Present():
		p.d.tasks.Abandon(ctx, p.made(), driven)
		p.stop()
	case over:
	case p.way == wayTask, p.way == wayDriven:
		p.d.env.AfterFunc(partingTime, p.stop)
	default:
		p.hearer.cancel(ctx, "the client has gone")
		p.stop()
	}
}

// untold ends a task whose client has left before it was told of it.
func (p *parkable) untold(ctx context.Context) {
	p.mu.Lock()
	task := p.task
	p.mu.Unlock()
	if task == nil {
		return
	}
	ctx, cancel := p.d.parting(ctx)
	defer cancel()
	task.Abandon(ctx, p.x.Caller)
}

// next waits for what comes next of a call. One that takes long becomes a task of the
// bridge where that is wanted (host_tasks).
func (d *Downgrade) next(ctx context.Context, call *park.Call, p *parkable) (park.Turn, error) {
	if p == nil || !p.hostable() {
		return call.Next(ctx)
	}
	turn, err := call.NextWithin(ctx, p.b.HostGrace)
	if !errors.Is(err, park.ErrSlow) {
		return turn, err
	}
	if err := p.host(ctx); err != nil {
		d.logger.WarnContext(ctx, "slow call not made a task", "backend", p.x.Backend, "error", port.Reason(err))
	}
	return call.Next(ctx)
}

// hostable reports whether the call may become a task of the bridge.
func (p *parkable) hostable() bool {
	switch {
	case !p.x.Caller.Tasks, p.x.Message.Method != ext2026.MethodToolsCall, p.way != wayPlain && p.way != wayUnasked:
		return false
	case p.b.HostSlow:
		return true
	default: // where there are tasks anyway, unless progress is wanted, which tasks have not (§4.26)
		return p.b.HostAuto && p.way == wayUnasked && !p.x.Message.Params.Get("_meta").Get(wire.MetaProgressToken).Present()
	}
}

// host makes the call a task of the bridge, unless it has ended by now.
func (p *parkable) host(ctx context.Context) error {
	p.mu.Lock()
	if p.over || p.hosting != nil {
		p.mu.Unlock()
		return nil
	}
	p.hosting = make(chan struct{})
	p.mu.Unlock()
	defer close(p.hosting)
	p.hearer.mu.Lock()
	id := p.hearer.id
	p.hearer.mu.Unlock()
	task, answer, err := p.d.tasks.Host(ctx, pump.Hosting{Call: p.made(), ID: id, TTL: p.b.HostedTTL, Stop: func() {
		p.d.lot.Go(func() {
			ctx, cancel := p.d.parting(ctx)
			defer cancel()
			p.hearer.cancel(ctx, "the task was cancelled")
			p.stop()
		})
	}})
	if err != nil {
		return err
	}
	p.become(task) //nolint:contextcheck // what waits for another call outlives this one
	p.call.End(port.Outcome{Result: answer})
	return nil
}

// underWay remembers a call that may become a task of the bridge, over forgets it.
func (d *Downgrade) underWay(p *parkable) {
	if p.hostable() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.parked[p.call] = p
	}
}

func (d *Downgrade) over(p *parkable) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.parked, p.call)
}

// parkedAs returns a call that may become a task of the bridge, or nil.
func (d *Downgrade) parkedAs(call *park.Call) *parkable {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.parked[call]
}
