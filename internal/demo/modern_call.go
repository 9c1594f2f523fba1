package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// callTool serves tools/call: at once, with a task, or with questions first.
// Spec: 2026-07-28 server/tools; ext-tasks "Task Creation".
func (m *Modern) callTool(ctx context.Context, req *request, rep *reply) (object, error) {
	name, _ := readString(req.params["name"])
	t := m.tools.byName[name]
	if t == nil {
		return nil, invalid("unknown tool: %s", name)
	}
	var given members
	if raw, ok := req.params["arguments"]; ok {
		var err error
		if given, err = readObject(raw); err != nil {
			return nil, invalid("params.arguments: %v", err)
		}
	}
	if err := m.able(t, req.caps); err != nil {
		return nil, err
	}
	p, err := t.prepare(given)
	if err != nil { // for the model to correct, so a result
		return callResult(output{text: err.Error(), isError: true}), nil
	}
	known, err := m.roundAnswers(t, req)
	if err != nil {
		return nil, err
	}
	if t.use != taskNever && req.caps.tasks {
		return m.createTask(t, p, req, known) //nolint:contextcheck // a task outlives its call
	}
	return m.runHere(ctx, t, p, req, rep, known)
}

// able checks that the client declared on this request what the tool needs.
func (m *Modern) able(t *tool, caps clientCaps) error {
	missing := object{}
	if t.use == taskAlways && !caps.tasks {
		missing["extensions"] = object{tasksExtension: object{}}
	}
	if t.needs == capElicitation && !caps.forms {
		missing["elicitation"] = object{"form": object{}}
	}
	if t.needs == capSampling && !caps.sampling {
		missing["sampling"] = object{}
	}
	if len(missing) > 0 {
		return needs(missing)
	}
	return nil
}

// createTask answers with a task, once the questions that come before it are
// settled.
func (m *Modern) createTask(t *tool, p plan, req *request, known answers) (object, error) {
	if open := known.missing(t.asks); t.asksFirst && len(open) > 0 {
		return m.askRound(t, req, known, open)
	}
	seed, err := m.jobs.start(p, order{given: known})
	if err != nil {
		return nil, err
	}
	m.tools.tally.add(t.name)
	result := m.taskFields(seed)
	result["resultType"] = "task"
	return result, nil
}

// runHere runs the tool on the call itself. A question ends the call; the
// client's retry runs the tool again from the top, with the answer at hand.
func (m *Modern) runHere(ctx context.Context, t *tool, p plan, req *request, rep *reply, known answers) (object, error) {
	if !t.uncounted && len(known.missing(t.asks)) == 0 {
		m.tools.tally.add(t.name)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, err := p.run(ctx, &callHost{req: req, rep: rep, known: known, cancel: cancel})
	var unanswered *unansweredError
	if errors.As(err, &unanswered) {
		return m.askRound(t, req, known, unanswered.questions)
	}
	if err != nil {
		return nil, err
	}
	return callResult(out), nil
}

// callResult is the CallToolResult of an output.
func callResult(out output) object {
	result := object{"resultType": "complete", "content": []object{{"type": "text", "text": out.text}}}
	if out.structured != nil {
		result["structuredContent"] = out.structured
	}
	if out.isError {
		result["isError"] = true
	}
	return result
}

// callHost is the host of a tool that runs on its call.
type callHost struct {
	req    *request
	rep    *reply
	known  answers
	cancel context.CancelCauseFunc
}

func (h *callHost) say(string) {}

func (h *callHost) progress(done, total int, message string) {
	if h.req.progress != nil {
		h.notify("notifications/progress", object{
			"progressToken": h.req.progress, "progress": done, "total": total, "message": message,
		})
	}
}

func (h *callHost) log(level, message string) {
	if h.req.level >= 0 && slices.Index(logLevels, level) >= h.req.level {
		h.notify("notifications/message", object{"level": level, "logger": "demo", "data": message})
	}
}

// notify sends on the stream of the call, if the client takes one. A client
// that cannot be written to has left, which cancels the call.
func (h *callHost) notify(method string, params object) {
	if !h.rep.events {
		return
	}
	if err := h.rep.notify(method, params); err != nil {
		h.cancel(fmt.Errorf("%w: %w", errGone, err))
	}
}

func (h *callHost) ask(_ context.Context, questions ...question) (answers, error) {
	if open := h.known.missing(questions); len(open) > 0 {
		return nil, &unansweredError{questions: open}
	}
	return h.known, nil
}
