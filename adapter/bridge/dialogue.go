package bridge

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// dialogue is a client's request with the repetitions that its server asks for.
// To the client it is one request, and its progress never goes back (G-12).
type dialogue struct {
	modern *Modern
	b      *Backend
	x      *port.Exchange
	// tasks declares the tasks extension. Unless insists is nil a server that wants
	// it may have it, and insists is told (A-T15).
	tasks   bool
	insists func()
	relay   relay
}

func (m *Modern) begin(b *Backend, x *port.Exchange, tasks bool) *dialogue {
	d := &dialogue{modern: m, b: b, x: x, tasks: tasks, relay: relay{x: x, modern: m}}
	if token := x.Message.Params.Get("_meta").Get(wire.MetaProgressToken); token.Present() && token != wire.Null {
		d.relay.clientToken, d.relay.token = token, jsonrpc.IntID(m.tokens.Add(1))
	}
	return d
}

// send sends the request, or its repetition, and relays what precedes the answer.
func (d *dialogue) send(ctx context.Context, retry ext2026.Retry) (wire.Value, error) {
	method := d.x.Message.Method
	asks := d.x.Stream == nil || d.x.Stream.Asks() || !ext2026.Asks(method)
	env, err := d.modern.envelope(d.x.Caller, d.tasks, asks)
	if err != nil {
		return "", err
	}
	env.ProgressToken, env.Retry = d.relay.token, retry
	params, _, err := mapping.AppendUpParams(nil, method, d.x.Message.Params, env)
	if err != nil {
		return "", err
	}
	call := port.Call{Method: method, Params: wire.Value(params), OnMessage: d.relay.message}
	if method != ext2026.MethodToolsCall {
		return d.modern.send(ctx, d.b, d.x.Caller, call)
	}
	return d.modern.callTool(ctx, d.b, d.x.Caller, call)
}

const (
	// firstPause and longestPause bound the wait before a request is repeated
	// for a server that asks nothing but to be asked again (A-M3).
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
)

var errCallTotal = &port.CauseError{Text: "the call took longer than times.call_total", Public: port.TimedOut}

// answer is the server's answer to a request: raw as it came, and read. With
// questions it is none yet.
type answer struct {
	raw       wire.Value
	result    ext2026.Result
	questions []port.Question
}

// patient sends a request until the server does more than ask to be asked again
// (A-M3, A-M11).
func (d *dialogue) patient(ctx context.Context, e env.Env, retry ext2026.Retry) (answer, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		raw, err := d.send(ctx, retry)
		if d.insists != nil && !d.tasks && insists(err) {
			d.insists()
			d.tasks = true
			raw, err = d.send(ctx, retry)
		}
		if err != nil {
			return answer{}, err
		}
		result, err := mapping.ReadDownResult(d.x.Message.Method, raw)
		if err != nil {
			return answer{}, err
		}
		if result.Type != ext2026.ResultInputRequired {
			return answer{raw: raw, result: result}, nil
		}
		if result.InputRequests.Present() {
			inputs, err := wire.ParseObject(result.InputRequests, "result.inputRequests")
			if err != nil {
				return answer{}, badAnswer(d.x.Message.Method, err)
			}
			if inputs.Len() > 0 {
				return answer{raw, result, questions(inputs.Raw())}, nil
			}
		}
		retry = ext2026.Retry{RequestState: result.RequestState}
		if err := env.Sleep(ctx, e, pause); err != nil {
			return answer{}, err
		}
	}
}

// complete sends a request and answers the server's questions, by asking the
// client, until it has an answer (§4.4). The error is an *[ask.RefusalError] when a
// question stays without one.
func (u *Upgrade) complete(ctx context.Context, d *dialogue) (answer, error) {
	ctx, cancel := env.WithTimeout(ctx, u.env, u.times.CallTotal, errCallTotal)
	defer cancel()
	call := u.desk.Call(modernQuestions{}, d.x.Caller, d.x.Stream)
	var retry ext2026.Retry
	for {
		a, err := d.patient(ctx, u.env, retry)
		if err != nil || len(a.questions) == 0 {
			return a, err
		}
		answers, err := call.Ask(ctx, a.questions, u.times.Answer)
		if err != nil {
			return answer{}, err
		}
		retry = repetition(a.result.RequestState, answers)
	}
}

// repetition is what a request carries that answers questions (A-M2).
func repetition(state wire.Value, answers []port.Answer) ext2026.Retry {
	return ext2026.Retry{
		InputResponses: wire.Value(mapping.AppendInputResponses(nil, inputAnswers(answers))), RequestState: state,
	}
}

func inputAnswers(answers []port.Answer) []mapping.InputAnswer {
	out := make([]mapping.InputAnswer, len(answers))
	for i, a := range answers {
		out[i] = mapping.InputAnswer{Key: a.Key, Answer: a.Value}
	}
	return out
}

// unanswered is the end of a request whose questions were not answered (A-M6): a
// tool error, where there is such a thing.
func unanswered(x *port.Exchange, refusal *ask.RefusalError) port.Outcome {
	if x.Message.Method == ext2026.MethodToolsCall {
		return port.Outcome{Result: wire.Value(mapping.AppendDownFailedResult(nil, refusal.Message, ""))}
	}
	return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "%s", refusal.Message))
}
