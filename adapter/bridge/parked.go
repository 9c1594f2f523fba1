package bridge

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// partingTime bounds what is still said to a backend for somebody who is gone.
const partingTime = 10 * time.Second

func (d *Downgrade) parting(ctx context.Context) (context.Context, context.CancelFunc) {
	return env.WithTimeout(context.WithoutCancel(ctx), d.env, partingTime, errCallTotal)
}

// call serves a request during which the backend may ask its client something. The
// backend's request stays in flight while the client answers (§4.18).
func (d *Downgrade) call(ctx context.Context, b *LegacyBackend, x *port.Exchange) port.Outcome {
	answers, err := readRetry(x)
	if err != nil {
		return port.Fail(err)
	}
	state, isRetry := x.Message.Params.Get("requestState").Text()
	if !isRetry {
		return d.first(ctx, b, x, 1)
	}
	binding := d.binding(x)
	if round, err := d.rounds.Open(state, binding); err == nil {
		return d.visited(ctx, b, x, round, answers)
	}
	call, round, err := d.lot.Resume(state, binding)
	if err != nil {
		return port.Fail(err)
	}
	if err := call.Answer(ctx, round, answers); err != nil {
		if errors.Is(err, port.ErrSessionLost) {
			call.GiveUp(ctx) // it does not outlive its session (B-U4)
			err = park.ErrState
		}
		return d.fail(x, err)
	}
	return d.turn(ctx, call, d.parkedAs(call))
}

// first makes a call that nothing is known of yet, for the n-th time (B-U11).
func (d *Downgrade) first(ctx context.Context, b *LegacyBackend, x *port.Exchange, n int64) port.Outcome {
	p, err := d.begin(ctx, b, x, n)
	if err != nil {
		return d.fail(x, err)
	}
	out := d.turn(ctx, p.call, p)
	if ctx.Err() != nil {
		p.untold(ctx)
	}
	return out
}

// readRetry reads what a client answers (B-P3).
func readRetry(x *port.Exchange) ([]port.Answer, error) {
	params := x.Message.Params
	if state := params.Get("requestState"); state.Present() && state.Kind() != wire.KindString {
		return nil, wire.Wrong("params.requestState", "a string")
	}
	responses, err := wire.OptionalObject(params.Get("inputResponses"), "params.inputResponses")
	if err != nil {
		return nil, err
	}
	var out []port.Answer
	for _, m := range responses.Members() {
		out = append(out, port.Answer{Key: m.Name, Value: m.Value})
	}
	return out, nil
}

// turn tells the client what comes next of its call. P is the call while it is under
// way, or nil.
func (d *Downgrade) turn(ctx context.Context, call *park.Call, p *parkable) port.Outcome {
	turn, err := d.next(ctx, call, p)
	if err != nil {
		return port.Fail(err)
	}
	if turn.State == "" {
		return turn.Outcome
	}
	entries := make([]mapping.InputEntry, len(turn.Entries))
	for i, e := range turn.Entries {
		entries[i] = mapping.InputEntry{Key: e.Key, Request: e.Request}
	}
	return port.Outcome{Result: wire.Value(mapping.AppendUpInputRequired(nil, entries, turn.State, call.Info))}
}

// parkable is a call at a backend that may have to wait for its client.
type parkable struct {
	d     *Downgrade
	x     *port.Exchange
	call  *park.Call
	lease Lease
	round int64 // of visits to URLs, from 1
	way   way
	stop  func() // drops the backend's answer
	*hearer

	mu      sync.Mutex
	keys    map[jsonrpc.ID]string // of open questions, by the backend's id
	asking  map[string]asking     // the requests of open questions, by key
	handed  bool                  // the task was given some of them
	refused *jsonrpc.Error        // what the client lacks, if the backend asked for it
	making
}

// asking is a request of the backend, and whether it was said aside: on the standing
// stream of the session that the call has.
type asking struct {
	msg   jsonrpc.Message
	aside bool
}

// begin sends the call. It goes on when the client has left with a question.
func (d *Downgrade) begin(ctx context.Context, b *LegacyBackend, x *port.Exchange, round int64) (*parkable, error) {
	lease, err := d.lease(ctx, b, x.Caller, asks(x.Caller.Capabilities) || logsAlone(x.Caller))
	if err != nil {
		return nil, err
	}
	if lacks(lease.About(), x.Message.Method) {
		lease.Release()
		return nil, errUnserved
	}
	p := &parkable{d: d, x: x, lease: lease, round: round, hearer: d.hearer(b, x, lease), keys: make(map[jsonrpc.ID]string), asking: make(map[string]asking)}
	p.hearer.withdraw = p.taken
	if err := p.choose(ctx); err != nil {
		lease.Release()
		return nil, err
	}
	runCtx, stop := env.WithTimeout(context.WithoutCancel(ctx), d.env, d.times.CallTotal, errCallTotal)
	p.stop = stop
	p.call, err = d.lot.Begin(d.binding(x), p.abandon)
	if err != nil {
		stop()
		lease.Release()
		return nil, err
	}
	p.call.Info = serverInfo(lease)
	p.waited = p.silentSince
	p.hearer.ask = func(msg jsonrpc.Message) { p.asked(runCtx, asking{msg: msg}) }
	aside := func(msg jsonrpc.Message) { p.aside(runCtx, msg) }
	lease.Hear(aside)
	d.release(lease.Session(), aside)
	d.underWay(p)
	d.lot.Go(func() {
		defer lease.Release()
		defer stop()
		defer d.over(p)
		defer p.caught(runCtx)
		raw, err := p.hearer.send(runCtx)
		p.end(runCtx, raw, err)
	})
	return p, nil
}

// errFault is what a client is told of a fault of the bridge.
var errFault = jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error")

// caught ends a call in which the bridge has failed, and no other: it is deferred on
// the call's own goroutine, where nothing else would catch that.
func (p *parkable) caught(ctx context.Context) {
	fault := recover()
	if fault == nil {
		return
	}
	port.LogFault(ctx, p.d.logger, fault)
	p.mu.Lock()
	p.over = true
	task := p.task
	p.mu.Unlock()
	if task != nil {
		task.Finish("", errFault) //nolint:contextcheck // the end is kept even if the call was cut
	}
	p.call.End(port.Fail(errFault))
}

// outcome is the end of the call for its client. An error that may be for want of
// what the client has not declared says so (B-P7).
func (p *parkable) outcome(raw wire.Value, err error) port.Outcome {
	if err == nil {
		return p.d.result(p.b, p.x, p.lease, raw)
	}
	if data, ok := needsURLs(err); ok {
		p.lease.Linger() // it may tell when the user has been there
		return p.d.urls(p.x, data, serverInfo(p.lease), p.round)
	}
	p.mu.Lock()
	refused := p.refused
	p.mu.Unlock()
	var rpc *jsonrpc.Error
	if refused != nil && errors.As(err, &rpc) {
		return port.Fail(&port.StatusError{Status: http.StatusBadRequest, Err: refused})
	}
	return p.d.fail(p.x, err)
}

// kinds are the first parts of the keys of questions, by method.
var kinds = map[string]string{
	legacy2025.MethodElicitationCreate:     "elicitation",
	legacy2025.MethodSamplingCreateMessage: "sampling",
	legacy2025.MethodRootsList:             "roots",
}

// aside takes what the backend says on the standing stream of the call's session.
func (p *parkable) aside(ctx context.Context, msg jsonrpc.Message) {
	if msg.Kind == jsonrpc.KindRequest {
		p.asked(ctx, asking{msg: msg, aside: true})
		return
	}
	p.hearer.message(ctx, msg)
}

// asked takes a request of the backend. What is no question is refused, and so is
// what the client has not declared; then the call goes on (B-P7, B-U7).
func (p *parkable) asked(ctx context.Context, q asking) {
	if p.handOn(q) { //nolint:contextcheck // what waits for another call outlives this one
		return
	}
	msg := q.msg
	kind := kinds[msg.Method]
	if kind == "" {
		p.d.refuse(ctx, p.lease, msg, jsonrpc.CodeMethodNotFound, "Method not found")
		return
	}
	if may, declared := mapping.MayAskUp(p.x.Caller.Capabilities, msg.Method, msg.Params); !may {
		p.mu.Lock()
		p.refused = mapping.Undeclared(msg.Method, msg.Params)
		p.mu.Unlock()
		if answer, ok := p.x.Stream.(port.Withheld); ok {
			answer.HoldBack()
		}
		code := int64(jsonrpc.CodeMethodNotFound)
		if declared {
			code = jsonrpc.CodeInvalidParams
		}
		p.d.refuse(ctx, p.lease, msg, code, "the client has not declared this")
		return
	}
	entry, _, err := mapping.AppendUpInputRequest(nil, msg.Method, msg.Params)
	if err != nil {
		p.d.refuse(ctx, p.lease, msg, jsonrpc.CodeInvalidParams, port.RPCError(err).Message)
		return
	}
	p.mu.Lock()
	task, key, ok := p.task, "", false
	if task == nil && p.repeats(msg) {
		p.mu.Unlock()
		return
	}
	if task == nil {
		key, ok = p.call.Ask(p.question(kind, msg, wire.Value(entry)))
	}
	if ok {
		p.keys[msg.ID], p.asking[key] = key, q
	}
	p.mu.Unlock()
	switch {
	case task != nil: // it has been made in between
		p.handTo(task, q) //nolint:contextcheck // what waits for another call outlives this one
	case !ok:
		p.d.refuse(ctx, p.lease, msg, jsonrpc.CodeInternal, "the client cannot be asked now")
	}
}

// silentSince returns since when the backend's silence counts. The call of a task with a
// question may wait for its answer as long as the task lives: whether that has come is not
// known here.
func (p *parkable) silentSince() time.Time {
	p.mu.Lock()
	handed := p.task != nil && (p.handed || len(p.asking) > 0)
	p.mu.Unlock()
	if handed {
		return p.d.env.Now()
	}
	return p.call.Waited()
}

// question is a request of the backend as its client answers it.
func (p *parkable) question(kind string, msg jsonrpc.Message, entry wire.Value) park.Question {
	return park.Question{
		Kind: kind, Request: entry,
		Answer: func(ctx context.Context, key string, answer wire.Value) error {
			result, _, err := mapping.AppendDownInputResponse(nil, msg.Method, msg.Params, answer, "", wire.Join("params.inputResponses", key))
			if err != nil {
				return err
			}
			if err := p.lease.Respond(ctx, jsonrpc.AppendResult(nil, msg.ID, result)); err != nil {
				return err
			}
			p.answered(msg.ID, key)
			return nil
		},
		Refuse: func(ctx context.Context) {
			if msg.Method == ext2026.MethodElicitationCreate {
				p.d.respond(ctx, p.lease, jsonrpc.AppendResult(nil, msg.ID, []byte(mapping.DismissedAnswer)))
				return
			}
			p.d.refuse(ctx, p.lease, msg, jsonrpc.CodeInternal, "the client did not answer")
		},
	}
}

// repeats reports whether the backend says once more what it has asked already: on
// another stream, or because the first has broken. An id that it uses again for
// something else takes the first question back. The lock is held.
func (p *parkable) repeats(msg jsonrpc.Message) bool {
	key, open := p.keys[msg.ID]
	if !open {
		return false
	}
	if first := p.asking[key]; first.msg.Method == msg.Method && first.msg.Params == msg.Params {
		return true
	}
	delete(p.asking, key)
	p.call.Withdraw(key)
	return false
}

// answered forgets a question: its id may be used again.
func (p *parkable) answered(id jsonrpc.ID, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.asking, key)
	if p.keys[id] == key {
		delete(p.keys, id)
	}
}

// taken removes a question that the backend has taken back (§1.7).
func (p *parkable) taken(id jsonrpc.ID) {
	p.mu.Lock()
	key, known := p.keys[id]
	task := p.task
	delete(p.keys, id)
	delete(p.asking, key)
	p.mu.Unlock()
	if task != nil {
		task.Withdraw(p.lease.Session(), id)
	}
	if known {
		p.call.Withdraw(key)
	}
}
