package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// caller is a client of 2026-07-28. It remembers nothing between two requests.
type caller struct {
	t            *testing.T
	url          string
	capabilities string
}

// answer is what the bridge says to one.
type reply struct {
	status int
	Result struct {
		ResultType, RequestState, TaskID, Status string
		InputRequests                            map[string]json.RawMessage
		Content                                  []struct{ Text string }
		Result                                   struct{ Content []struct{ Text string } }
	}
	Error *struct {
		Code    int
		Message string
	}
}

// do makes a request with these params, which must be an object.
func (c *caller) do(method, name string, params map[string]any) reply {
	c.t.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.capabilities),
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Authorization": {"Bearer t"}}
	if name != "" {
		header.Set("Mcp-Name", name)
	}
	status, text, _ := post(c.t, c.url, string(body), header)
	got := reply{status: status}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		c.t.Fatalf("%s: status %d, %s", method, status, text)
	}
	return got
}

func (c *caller) call(tool string, retry map[string]any) reply {
	c.t.Helper()
	params := map[string]any{"name": tool, "arguments": map[string]any{}}
	for name, value := range retry {
		params[name] = value
	}
	return c.do("tools/call", tool, params)
}

// retry answers every question of a round.
func retry(round reply, answer any) map[string]any {
	answers := make(map[string]any)
	for key := range round.Result.InputRequests {
		answers[key] = answer
	}
	return map[string]any{"inputResponses": answers, "requestState": round.Result.RequestState}
}

// runs is how often the backend's tools have run.
func (c *caller) runs() string {
	c.t.Helper()
	got := c.call("runs", nil)
	if len(got.Result.Content) == 0 {
		c.t.Fatalf("runs: %+v", got)
	}
	return got.Result.Content[0].Text
}

// until polls a task until it has a status.
func (c *caller) until(handle, status string) reply {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		got := c.do("tasks/get", handle, map[string]any{"taskId": handle})
		if got.Result.Status == status {
			return got
		}
		if got.Error != nil || time.Now().After(deadline) {
			c.t.Fatalf("a task that should become %s: %+v", status, got)
		}
	}
}

var (
	named    = map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}}
	accepted = map[string]any{"action": "accept"}
)

// TestKillModern: the bridge is killed in front of a legacy backend that is a process
// of its own, while a call is parked, a task waits for input, and a request waits for
// a URL to be visited. After the restart the task goes on where it was, what the
// parked call's connection took with it is an error, and nothing has run twice
// (B-P11, B-I3, B-U11).
func TestKillModern(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	backend := launch(t, "demo", "legacy", "--listen", "127.0.0.1:0")
	serve := []string{
		"serve", "--admin", "off", "--store", "embedded:" + filepath.Join(t.TempDir(), "state", "taskbridge.db"),
		"--set", "faces.legacy.off=true", "--backend", "default=" + backend.url, "--listen", "127.0.0.1:0",
	}
	bridge := launch(t, serve...)
	plain := &caller{t: t, url: bridge.url, capabilities: `{"elicitation":{"form":{},"url":{}}}`}
	tasks := &caller{t: t, url: bridge.url, capabilities: `{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`}

	parked := plain.call("ask", nil)
	if parked.Result.ResultType != "input_required" {
		t.Fatalf("a call that asks: %+v", parked)
	}
	task := tasks.call("ask", nil).Result.TaskID
	asked := tasks.until(task, "input_required")
	visit := plain.call("sign_in", nil)
	spent := retry(visit, accepted)
	plain.call("sign_in", spent)
	before := plain.runs()

	bridge.kill()
	bridge = launch(t, serve...)
	plain.url, tasks.url = bridge.url, bridge.url

	for name, state := range map[string]map[string]any{"ask": retry(parked, named), "sign_in": spent} {
		if got := plain.call(name, state); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("a state of %s from before the crash: %+v", name, got)
		}
	}
	again := tasks.until(task, "input_required")
	for key := range asked.Result.InputRequests {
		if string(again.Result.InputRequests[key]) != string(asked.Result.InputRequests[key]) || len(again.Result.InputRequests) != len(asked.Result.InputRequests) {
			t.Errorf("asked %s before the crash, and %s after it", asked.Result.InputRequests, again.Result.InputRequests)
		}
	}
	if after := plain.runs(); after != before {
		t.Errorf("the backend's tools ran %s before the crash, and %s after it", before, after)
	}
	update := retry(again, named)
	delete(update, "requestState")
	update["taskId"] = task
	if got := tasks.do("tasks/update", task, update); got.Result.ResultType != "complete" {
		t.Errorf("tasks/update: %+v", got)
	}
	ended := tasks.until(task, "completed")
	if content := ended.Result.Result.Content; len(content) != 1 || content[0].Text == "" {
		t.Errorf("the task ended with %+v", ended)
	}
	if after := plain.runs(); after != before {
		t.Errorf("the backend's tools ran %s before the answer, and %s after it", before, after)
	}
}
