package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// callTool serves tools/call: a wrong call at once, a task at once unless it
// asks first, and any other call on a stream. Spec: 2025-11-25 server/tools and
// basic/utilities/tasks, "Tool-Level Negotiation".
func (s *session) callTool(msg message) (object, later, error) {
	name, _ := readString(msg.params["name"])
	t := s.server.tools.byName[name]
	if t == nil {
		return nil, nil, invalid("unknown tool: %s", name)
	}
	var given members
	var err error
	if raw, ok := msg.params["arguments"]; ok {
		if given, err = readObject(raw); err != nil {
			return nil, nil, invalid("params.arguments: %v", err)
		}
	}
	token, err := progressToken(msg.params)
	if err != nil {
		return nil, nil, err
	}
	o, asTask, err := s.readTask(msg.params)
	if err != nil {
		return nil, nil, err
	}
	if asTask && t.use == taskNever || !asTask && t.use == taskAlways {
		return nil, nil, &rpcError{
			code: codeMethod, message: fmt.Sprintf("running %s as a task is %s", name, taskSupport[t.use]),
		}
	}
	p := s.prepare(t, given)
	if !asTask {
		return nil, func(ctx context.Context, st *stream) (object, error) {
			s.count(t)
			out, err := p.run(ctx, &streamHost{s: s, st: st, token: token})
			if err != nil {
				return nil, err
			}
			return s.result(out), nil
		}, nil
	}
	if t.asksFirst {
		return nil, s.askFirst(t, p, o), nil
	}
	result, err := s.createTask(t, p, o)
	return result, nil, err
}

// readTask reads the member that asks for a task; older revisions have none
// and ignore it.
func (s *session) readTask(params members) (order, bool, error) {
	o := order{owner: s.id}
	raw, given := params["task"]
	if !given || s.version < legacyNewest {
		return o, false, nil
	}
	m, err := readObject(raw)
	if err != nil {
		return o, false, invalid("params.task: %v", err)
	}
	ttl, given := m["ttl"]
	if !given {
		return o, true, nil
	}
	var ms float64
	if firstByte(ttl) == 'n' || json.Unmarshal(ttl, &ms) != nil || ms < 0 {
		return o, false, invalid("params.task.ttl: want a number of milliseconds")
	}
	o.ttl = s.server.opts.TaskTTL
	if limit := float64(o.ttl.Milliseconds()); ms < limit {
		o.ttl = max(minTTL, time.Duration(math.Floor(ms))*time.Millisecond)
	}
	return o, true, nil
}

// prepare is the plan of a call. Arguments that are wrong, and questions that
// are not answered, are for the model to hear of: they are a result.
func (s *session) prepare(t *tool, given members) plan {
	p, err := t.prepare(given)
	if err != nil {
		return answering(err.Error())
	}
	return plan{run: func(ctx context.Context, h host) (output, error) {
		out, err := p.run(ctx, &legacyHost{host: h, s: s})
		var no *refusal
		if errors.As(err, &no) {
			return output{text: no.why, isError: true}, nil
		}
		return out, err
	}}
}

// answering is the plan of a call that goes wrong in the way text says.
func answering(text string) plan {
	return plan{run: func(context.Context, host) (output, error) { return output{text: text, isError: true}, nil }}
}

func (s *session) count(t *tool) {
	if !t.uncounted {
		s.server.tools.tally.add(t.name)
	}
}

// result is the CallToolResult of an output in the session's revision.
func (s *session) result(out output) object {
	result := object{"content": []object{{"type": "text", "text": out.text}}}
	if out.structured != nil && s.version >= legacyMiddle {
		result["structuredContent"] = out.structured
	}
	if out.isError {
		result["isError"] = true
	}
	return result
}

// legacyHost lets a tool ask only what the client can be asked.
type legacyHost struct {
	host
	s *session
}

func (h *legacyHost) ask(ctx context.Context, questions ...question) (answers, error) {
	for _, q := range questions {
		if !h.s.caps.can(q) {
			return nil, &refusal{why: "the client does not support " + q.method}
		}
	}
	return h.host.ask(ctx, questions...)
}

// streamHost is the host of a tool that runs on the stream of its call.
type streamHost struct {
	s     *session
	st    *stream
	token json.RawMessage // the client's progress token; nil if it wants no progress
}

func (h *streamHost) say(string) {}

func (h *streamHost) progress(done, total int, message string) {
	if h.token != nil {
		h.st.notify("notifications/progress", object{
			"progressToken": h.token, "progress": done, "total": total, "message": message,
		})
	}
}

func (h *streamHost) log(level, message string) {
	h.s.mu.Lock()
	least := h.s.level
	h.s.mu.Unlock()
	if slices.Index(logLevels, level) >= least {
		h.st.notify("notifications/message", object{"level": level, "logger": "demo", "data": message})
	}
}

func (h *streamHost) ask(ctx context.Context, questions ...question) (answers, error) {
	return h.s.askOn(ctx, h.st, questions)
}
