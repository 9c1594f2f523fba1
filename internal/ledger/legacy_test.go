//go:build interop

package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// legacyClient is a client of 2025-11-25 with a credential of its own.
type legacyClient struct {
	tally      *tally
	url        string
	credential string

	mu      sync.Mutex
	session string
	id      int
}

var _ client = (*legacyClient)(nil)

// object is a JSON object.
type object = map[string]any

// sessionLost is what the tally calls a session that a client has lost.
const sessionLost = "session lost, begun anew"

var initializeParams = object{
	"protocolVersion": "2025-11-25", "clientInfo": object{"name": "ledger", "version": "1"},
	"capabilities": object{"elicitation": object{}},
}

// header is that of a request in a session, which is empty before there is one.
func (c *legacyClient) header(session string) http.Header {
	h := http.Header{"Authorization": {"Bearer " + c.credential}}
	if session != "" {
		h.Set("Mcp-Session-Id", session)
		h.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return h
}

// next returns a request id that was not used before.
func (c *legacyClient) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	return c.id
}

// open returns the session. It begins one if there is none, or if it is the one that
// was lost.
func (c *legacyClient) open(ctx context.Context, lost string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != lost {
		return c.session, nil
	}
	if lost != "" {
		c.tally.add(sessionLost)
	}
	for {
		c.id++
		out := send(ctx, http.MethodPost, c.url, c.header(""), object{
			"jsonrpc": "2.0", "id": c.id, "method": "initialize", "params": initializeParams,
		}, nil)
		if c.tally.repeats(ctx, &out, true) {
			continue
		}
		session := out.header.Get("Mcp-Session-Id")
		if out.silence != nil || out.Error != nil || session == "" {
			return "", fmt.Errorf("initialize: %s", &out)
		}
		c.session = session
		break
	}
	for {
		out := send(ctx, http.MethodPost, c.url, c.header(c.session), object{"jsonrpc": "2.0", "method": "notifications/initialized"}, nil)
		if out.status == http.StatusAccepted {
			return c.session, nil
		}
		if !c.tally.repeats(ctx, &out, true) {
			return "", fmt.Errorf("notifications/initialized: %s", &out)
		}
	}
}

// request makes a request, again if it may.
func (c *legacyClient) request(ctx context.Context, method string, params object, harmless bool, take func(message)) reply {
	lost := ""
	for {
		session, err := c.open(ctx, lost)
		if err != nil {
			return reply{silence: err}
		}
		out := send(ctx, http.MethodPost, c.url, c.header(session), object{
			"jsonrpc": "2.0", "id": c.next(), "method": method, "params": params,
		}, take)
		if out.status == http.StatusNotFound {
			lost = session
			continue
		}
		if !c.tally.repeats(ctx, &out, harmless) {
			return out
		}
	}
}

type legacyTask struct{ TaskID, Status, StatusMessage string }

func (c *legacyClient) create(ctx context.Context, e *entry) {
	params := e.params()
	params["task"] = object{"ttl": keep.Milliseconds()}
	out := c.request(ctx, "tools/call", params, false, nil)
	var created struct{ Task legacyTask }
	switch {
	case out.silence != nil, out.Error != nil && strings.HasPrefix(out.Error.Message, "interrupted:"):
		e.cut = out.String()
	case out.Error != nil:
		e.refused = out.String()
	case json.Unmarshal(out.Result, &created) != nil || created.Task.TaskID == "" || created.Task.Status != "working":
		e.problem("created as %s", &out)
	}
	e.handle = created.Task.TaskID
}

// get asks for the state of a task, until it is told.
func (c *legacyClient) get(ctx context.Context, e *entry) (task legacyTask) {
	out := c.request(ctx, "tasks/get", object{"taskId": e.handle}, true, nil)
	if out.Error != nil || out.silence != nil || json.Unmarshal(out.Result, &task) != nil || task.TaskID != e.handle {
		e.problem("tasks/get: %s", &out)
	}
	return task
}

func over(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

func (c *legacyClient) follow(ctx context.Context, e *entry) {
	if e.cancels {
		c.cancel(ctx, e)
	}
	if e.number%2 == 0 { // the others go and wait for the result at once
		for pause(ctx, pollInterval) {
			if task := c.get(ctx, e); task.Status != "working" {
				break
			}
		}
	}
	for ctx.Err() == nil {
		out := c.wait(ctx, e)
		task := c.get(ctx, e)
		switch {
		case ends(&out, &task):
			e.status, e.said = task.Status, outcome(&out)
			return
		case out.silence == nil && out.Error == nil:
			e.problem("%s after its result, %s", task.Status, &out)
			return
		}
		c.tally.add("result not ready, asked again")
		pause(ctx, again)
	}
}

// ends reports whether an answer to tasks/result is the end of the task; an error may
// also say that it could not be told.
func ends(out *reply, task *legacyTask) bool {
	switch {
	case out.silence != nil:
		return false
	case task.Status == "completed":
		return out.Error == nil
	case task.Status == "cancelled":
		return out.Error != nil && strings.Contains(out.Error.Message, "cancelled")
	case task.Status == "failed":
		return out.Error != nil && out.Error.Message == task.StatusMessage
	default:
		return false
	}
}

// outcome is what a task has ended with.
func outcome(out *reply) string {
	if out.Error != nil {
		return out.Error.Message
	}
	return text(out.Result)
}

// cancel cancels a task, some time after it was made.
func (c *legacyClient) cancel(ctx context.Context, e *entry) {
	pause(ctx, time.Duration(rand.IntN(600))*time.Millisecond)
	for ctx.Err() == nil {
		out := c.request(ctx, "tasks/cancel", object{"taskId": e.handle}, true, nil)
		var task legacyTask
		switch {
		case out.Error == nil && json.Unmarshal(out.Result, &task) == nil && task.Status == "cancelled":
			return
		case out.Error != nil && out.Error.Code == -32602 && over(c.get(ctx, e).Status):
			return // by an earlier attempt of which nothing was heard
		case out.Error != nil && out.Error.Code == -32602 && strings.Contains(out.Error.Message, "being cancelled"):
			pause(ctx, again) // by one that is still at it
		case ctx.Err() == nil:
			e.problem("tasks/cancel: %s", &out)
			return
		}
	}
}

// wait waits for the result of a task, over as many streams as it takes.
func (c *legacyClient) wait(ctx context.Context, e *entry) reply {
	q := &questions{client: c, entry: e, seen: make(map[string]bool)}
	defer q.answering.Wait()
	lost := ""
	for {
		session, err := c.open(ctx, lost)
		if err != nil {
			return reply{silence: err}
		}
		take := func(m message) { q.take(ctx, session, m) }
		out := send(ctx, http.MethodPost, c.url, c.header(session), object{
			"jsonrpc": "2.0", "id": c.next(), "method": "tasks/result", "params": object{"taskId": e.handle},
		}, take)
		for out.silence != nil && out.event != "" && ctx.Err() == nil {
			c.tally.add("stream broken, resumed")
			h, event := c.header(session), out.event
			h.Set("Last-Event-ID", event)
			if out = send(ctx, http.MethodGet, c.url, h, nil, take); out.silence == nil && out.status != http.StatusOK {
				out.silence = fmt.Errorf("not resumed: %s", &out)
				break
			}
			if out.silence != nil {
				c.tally.add(fmt.Sprintf("resumption ended with HTTP %d", out.status))
			}
			if out.event == "" && (out.status == 0 || out.status >= 500) {
				out.event = event // the stream may still be there
			}
			pause(ctx, again)
		}
		if out.status == http.StatusNotFound {
			lost = session
			continue
		}
		if out.silence == nil || ctx.Err() != nil {
			return out
		}
		c.tally.repeats(ctx, &out, true)
	}
}

// questions are those of one task.
type questions struct {
	client    *legacyClient
	entry     *entry
	answering sync.WaitGroup

	mu   sync.Mutex
	seen map[string]bool
}

// take answers a question that comes on a stream, each once however often it comes.
func (q *questions) take(ctx context.Context, session string, m message) {
	if m.Method != "elicitation/create" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.seen[session+string(m.ID)] {
		return
	}
	q.seen[session+string(m.ID)] = true
	answer := q.entry.asked()
	q.answering.Go(func() { q.client.answer(ctx, q.entry, session, m.ID, answer) })
}

// answer sends an answer until it is accepted.
func (c *legacyClient) answer(ctx context.Context, e *entry, session string, id json.RawMessage, name string) {
	body := object{"jsonrpc": "2.0", "id": id, "result": object{"action": "accept", "content": object{"name": name}}}
	for {
		out := send(ctx, http.MethodPost, c.url, c.header(session), body, nil)
		if out.status == http.StatusAccepted {
			e.accept()
			return
		}
		if out.status == http.StatusNotFound || ctx.Err() != nil {
			return // the question went with the session
		}
		c.tally.add("answer not accepted, sent again")
		if wait, unserved := out.later(); unserved {
			pause(ctx, wait)
		}
		pause(ctx, again)
	}
}

func (c *legacyClient) look(ctx context.Context, e *entry) (status, said string) {
	for {
		task := c.get(ctx, e)
		out := c.request(ctx, "tasks/result", object{"taskId": e.handle}, false, nil)
		if ends(&out, &task) || !pause(ctx, again) {
			return task.Status, outcome(&out)
		}
	}
}

func (c *legacyClient) list(ctx context.Context) (handles []string, ok bool) {
	params := object{}
	for {
		out := c.request(ctx, "tasks/list", params, true, nil)
		var page struct {
			Tasks      []legacyTask
			NextCursor string
		}
		if out.Error != nil || out.silence != nil || json.Unmarshal(out.Result, &page) != nil {
			return append(handles, out.String()), true
		}
		for _, task := range page.Tasks {
			handles = append(handles, task.TaskID)
		}
		if page.NextCursor == "" {
			return handles, true
		}
		params["cursor"] = page.NextCursor
	}
}
