//go:build interop

package ledger_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// modernClient is a client of 2026-07-28 with a credential of its own.
type modernClient struct {
	tally      *tally
	url        string
	credential string
	id         atomic.Int64
}

var _ client = (*modernClient)(nil)

// envelope returns the header and the params of a request, with what each of them says
// of its client.
func (c *modernClient) envelope(method, name string, params object) (http.Header, object) {
	meta, _ := params["_meta"].(object)
	if meta == nil {
		meta = object{}
		params["_meta"] = meta
	}
	const prefix = "io.modelcontextprotocol/"
	meta[prefix+"protocolVersion"] = "2026-07-28"
	meta[prefix+"clientInfo"] = object{"name": "ledger", "version": "1"}
	meta[prefix+"clientCapabilities"] = object{
		"elicitation": object{"form": object{}}, "extensions": object{prefix + "tasks": object{}},
	}
	h := http.Header{
		"Authorization": {"Bearer " + c.credential}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method},
	}
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	return h, params
}

// request makes a request, again if it may.
func (c *modernClient) request(ctx context.Context, method, name string, params object, harmless bool, take func(message)) reply {
	header, params := c.envelope(method, name, params)
	for {
		out := send(ctx, http.MethodPost, c.url, header, object{
			"jsonrpc": "2.0", "id": c.id.Add(1), "method": method, "params": params,
		}, take)
		if !c.tally.repeats(ctx, &out, harmless) {
			return out
		}
	}
}

type modernTask struct {
	ResultType, TaskID, Status string
	InputRequests              map[string]json.RawMessage
	Result                     json.RawMessage
	Error                      *rpcError
}

// hangUp is how long a client waits for the answer to a call of a tool that it cancels:
// while the store is away, a slow call is not made a task.
const hangUp = 15 * time.Second

func (c *modernClient) create(ctx context.Context, e *entry) {
	if e.cancels {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, hangUp)
		defer cancel()
	}
	out := c.request(ctx, "tools/call", e.tool, e.params(), false, nil)
	var created modernTask
	switch {
	case out.silence != nil, out.Error != nil && strings.HasPrefix(out.Error.Message, "interrupted:"):
		e.cut = out.String()
	case out.Error != nil:
		e.refused = out.String()
	case json.Unmarshal(out.Result, &created) == nil && created.ResultType == "complete" && e.hosted:
		e.plain, e.status, e.said = true, "completed", text(out.Result)
	case created.ResultType != "task" || created.TaskID == "":
		e.problem("created as %s", &out)
	}
	e.handle = created.TaskID
}

// get asks for the state of a task, until it is told.
func (c *modernClient) get(ctx context.Context, e *entry) (task modernTask) {
	out := c.request(ctx, "tasks/get", e.handle, object{"taskId": e.handle}, true, nil)
	if out.Error != nil || out.silence != nil || json.Unmarshal(out.Result, &task) != nil || task.TaskID != e.handle {
		e.problem("tasks/get: %s", &out)
	}
	return task
}

func (c *modernClient) follow(ctx context.Context, e *entry) {
	news := make(chan string, 100)
	if e.number%4 == 0 { // the others only ask
		listening, stop := context.WithCancel(ctx)
		defer stop()
		go c.listen(listening, e, news)
	}
	if e.cancels {
		c.cancel(ctx, e)
	}
	told := ""
	for ctx.Err() == nil {
		task := c.get(ctx, e)
		switch {
		case over(task.Status):
			e.status, e.said = task.Status, task.said()
			if told != "" && told != task.Status {
				e.problem("told of %s, and then %s", told, task.Status)
			}
			return
		case told != "":
			e.problem("told of %s, and then %s", told, task.Status)
			return
		}
		for key := range task.InputRequests {
			c.answer(ctx, e, key)
		}
		select {
		case status := <-news:
			if over(status) {
				told = status
			}
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
}

// said is what a task has ended with.
func (t *modernTask) said() string {
	switch {
	case t.Error != nil:
		return t.Error.Message
	case t.Result != nil:
		return text(t.Result)
	}
	return ""
}

// answer answers a question of a task. One that is still asked afterwards is answered
// when it is seen again.
func (c *modernClient) answer(ctx context.Context, e *entry, key string) {
	answer := e.asked()
	out := c.request(ctx, "tasks/update", e.handle, object{
		"taskId": e.handle, "inputResponses": object{key: object{"action": "accept", "content": object{"name": answer}}},
	}, true, nil)
	switch {
	case out.Error == nil && out.silence == nil:
		e.accept()
	case ctx.Err() == nil:
		e.problem("tasks/update: %s", &out)
	}
}

func (c *modernClient) cancel(ctx context.Context, e *entry) {
	pause(ctx, time.Duration(rand.IntN(600))*time.Millisecond)
	out := c.request(ctx, "tasks/cancel", e.handle, object{"taskId": e.handle}, true, nil)
	if (out.Error != nil || out.silence != nil) && ctx.Err() == nil {
		e.problem("tasks/cancel: %s", &out)
	}
}

// listen listens for the task until ctx is done.
func (c *modernClient) listen(ctx context.Context, e *entry, news chan<- string) {
	for ctx.Err() == nil {
		c.request(ctx, "subscriptions/listen", "", object{"notifications": object{"taskIds": []string{e.handle}}}, true, func(m message) {
			var task modernTask
			if m.Method != "notifications/tasks" || json.Unmarshal(m.Params, &task) != nil || task.TaskID != e.handle {
				return
			}
			select {
			case news <- task.Status:
			default:
			}
		})
		pause(ctx, again) // until the bridge that was stopped is another
	}
}

func (c *modernClient) look(ctx context.Context, e *entry) (status, said string) {
	task := c.get(ctx, e)
	return task.Status, task.said()
}

func (c *modernClient) list(context.Context) (handles []string, ok bool) { return nil, false }
