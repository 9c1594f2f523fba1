package adapter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// unknownTask is the answer to a task that is not the caller's.
func unknownTask(t *testing.T, got wire.Value) {
	t.Helper()
	if got.Get("error").Get("code") != "-32602" {
		t.Errorf("got %s, want an unknown task", got)
	}
}

// TestLegacyToLegacy runs the flows of the legacy demo server behind the legacy face,
// whose era is found out first (S-1, S-2, S-4).
func TestLegacyToLegacy(t *testing.T) {
	t.Run("S-1 plain calls, progress and messages", func(t *testing.T) {
		cellOf(t, newOldDemo(), func(c *eraCell) {
			o := c.old("")
			if got := o.do("tools/call", `{"name":"add","arguments":{"a":9007199254740993,"b":1}}`); got.Get("result").Get("structuredContent").Get("sum") != "9007199254740994" {
				t.Errorf("add: %s", got)
			}
			if got := o.do("ping", `{}`); got.Get("result") != "{}" {
				t.Errorf("ping: %s", got)
			}
			if got := o.do("logging/setLevel", `{"level":"info"}`); got.Get("result") != "{}" {
				t.Errorf("setLevel: %s", got)
			}
			in := o.open("tools/call", `{"name":"count","arguments":{"steps":2},"_meta":{"progressToken":"mine"}}`)
			var progress, logs int
			var last wire.Value
			for msg := in.next(); msg.Present(); msg = in.next() {
				switch text(msg, "method") {
				case "notifications/progress":
					progress++
					if msg.Get("params").Get("progressToken") != `"mine"` {
						t.Errorf("progress %s", msg)
					}
				case "notifications/message":
					logs++
				default:
					last = msg
				}
			}
			in.hangUp()
			if progress != 2 || logs < 2 || !strings.Contains(string(last), "counted to 2") {
				t.Errorf("%d times progress, %d messages, then %s", progress, logs, last)
			}
		})
	})
	t.Run("S-4 a plain call asks on its stream", func(t *testing.T) {
		cellOf(t, newOldDemo(), func(c *eraCell) {
			o := c.old("")
			in := o.open("tools/call", `{"name":"ask","arguments":{}}`)
			question := in.want("elicitation/create")
			if question.Get("id").Kind() != wire.KindString {
				t.Errorf("question %s", question)
			}
			o.answer(question, `{"action":"accept","content":{"name":"Ada"}}`)
			if got := in.last(); !strings.Contains(string(got), "Ada") {
				t.Errorf("answer %s", got)
			}
		})
	})
	t.Run("S-2 tasks", func(t *testing.T) { cellOf(t, newOldDemo(), legacyTaskFlows) })
	t.Run("DESIGN 4.2 a restart keeps the session, its task and its question", func(t *testing.T) {
		cellOf(t, newOldDemo(), func(c *eraCell) {
			o := c.old("")
			id := o.task("ask", `{}`)
			time.Sleep(time.Second)
			in := o.open("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
			question := in.want("elicitation/create")
			in.hangUp()
			c.restart()
			o.answer(question, `{"action":"accept","content":{"name":"Ada"}}`)
			time.Sleep(time.Second)
			if got := o.do("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id)); !strings.Contains(string(got), "Ada") {
				t.Errorf("result %s", got)
			}
		})
	})
}

func legacyTaskFlows(c *eraCell) {
	t, o, other := c.t, c.old("Bearer a"), c.old("Bearer b")
	standing, others := o.get(), other.get()
	defer standing.hangUp()
	defer others.hangUp()
	id := o.task("work", `{"ms":1000}`)
	about := fmt.Sprintf(`{"taskId":%q}`, id)
	if got := o.do("tasks/get", about); text(got, "result", "taskId") != id || text(got, "result", "status") != "working" {
		t.Errorf("tasks/get: %s", got)
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		unknownTask(t, other.do(method, about))
	}
	got := o.do("tasks/result", about)
	if text(got, "result", "_meta", "io.modelcontextprotocol/related-task", "taskId") != id || !strings.Contains(string(got), "worked 1000 ms") {
		t.Errorf("tasks/result: %s", got)
	}
	if got := o.do("tasks/cancel", about); got.Get("error").Get("code") != "-32602" {
		t.Errorf("cancelled what has ended: %s", got)
	}
	asks := o.task("ask", `{}`)
	in := o.open("tasks/result", fmt.Sprintf(`{"taskId":%q}`, asks))
	question := in.want("elicitation/create")
	if text(question, "params", "_meta", "io.modelcontextprotocol/related-task", "taskId") != asks {
		t.Errorf("question %s", question)
	}
	o.answer(question, fmt.Sprintf(`{"action":"accept","content":{"name":"Ada"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, asks))
	if got := in.last(); !strings.Contains(string(got), "Ada") {
		t.Errorf("tasks/result: %s", got)
	}
	ends := o.task("work", `{"ms":600000}`)
	if got := o.do("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, ends)); text(got, "result", "status") != "cancelled" || text(got, "result", "taskId") != ends {
		t.Errorf("tasks/cancel: %s", got)
	}
	list := o.do("tasks/list", `{}`)
	for _, handle := range []string{id, asks, ends} {
		if !strings.Contains(string(list), handle) {
			t.Errorf("tasks/list does not have %s: %s", handle, list)
		}
	}
	if got := other.do("tasks/list", `{}`); got.Get("result").Get("tasks") != "[]" {
		t.Errorf("tasks/list of another: %s", got)
	}
	if got := text(standing.want("notifications/tasks/status"), "params", "taskId"); got != id {
		t.Errorf("told of %s", got)
	}
	if in := o.send("legacy", http.MethodDelete, "", o.headers()); in.status != http.StatusNoContent {
		t.Errorf("DELETE: %d", in.status)
	}
	if in := o.open("tools/list", `{}`); in.status != http.StatusNotFound {
		t.Errorf("after DELETE: %d", in.status)
	}
}

// TestModernToModern runs the flows of the modern demo server behind the modern face,
// whose era is found out first (S-1, S-2, S-4).
func TestModernToModern(t *testing.T) {
	t.Run("S-1 plain calls, progress and headers", func(t *testing.T) {
		cellOf(t, newRecentDemo(), func(c *eraCell) {
			r := &recentClient{eraCell: c}
			about := r.do("server/discover", "", canTasks, "")
			if about.Get("result").Get("supportedVersions") != `["2026-07-28"]` || !strings.Contains(string(about), `"io.modelcontextprotocol/tasks"`) {
				t.Errorf("discover: %s", about)
			}
			if got := r.call("add", `{"a":9007199254740993,"b":1}`); got.Get("result").Get("structuredContent").Get("sum") != "9007199254740994" {
				t.Errorf("add: %s", got)
			}
			in := r.open("tools/call", "count", canTasks, `,"name":"count","arguments":{"steps":2}`)
			first := in.want("notifications/progress")
			if text(first, "params", "progressToken") != fmt.Sprintf("p%d", r.id) {
				t.Errorf("progress %s", first)
			}
			if got := in.last(); !strings.Contains(string(got), "counted to 2") {
				t.Errorf("count: %s", got)
			}
			if in := r.open("tools/call", "locate", canTasks, `,"name":"locate","arguments":{"site":"pit"}`); in.status != http.StatusBadRequest || !strings.Contains(string(in.last()), "-32020") {
				t.Errorf("locate without its header: %d", in.status)
			}
			if got := r.open("tools/call", "locate", canTasks, `,"name":"locate","arguments":{"site":"pit"}`, "Mcp-Param-Site", "pit").last(); !strings.Contains(string(got), "site pit") {
				t.Errorf("locate: %s", got)
			}
			if in := r.open("com.acme/dig", "", canTasks, ""); in.status != http.StatusNotFound || !strings.Contains(string(in.last()), "-32601") {
				t.Errorf("an unknown method: %d", in.status)
			}
		})
	})
	t.Run("S-4 a question passes with its state", func(t *testing.T) {
		cellOf(t, newRecentDemo(), func(c *eraCell) {
			r := &recentClient{eraCell: c}
			got := r.do("tools/call", "ask", canAsk, `,"name":"ask","arguments":{}`).Get("result")
			if text(got, "resultType") != "input_required" {
				t.Fatalf("ask: %s", got)
			}
			retry := fmt.Sprintf(`,"name":"ask","arguments":{},"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},"requestState":%s`, got.Get("requestState"))
			if got := r.do("tools/call", "ask", canAsk, retry); !strings.Contains(string(got), "Ada") {
				t.Errorf("answer %s", got)
			}
		})
	})
	t.Run("S-2 tasks", func(t *testing.T) { cellOf(t, newRecentDemo(), modernTaskFlows) })
}

func modernTaskFlows(c *eraCell) {
	t := c.t
	r, other := &recentClient{eraCell: c, auth: "Bearer a"}, &recentClient{eraCell: c, auth: "Bearer b"}
	made := r.call("work", `{"ms":1000}`).Get("result")
	id := text(made, "taskId")
	if text(made, "resultType") != "task" || len(id) < 100 {
		t.Fatalf("work: %s", made)
	}
	if got := r.about("tasks/get", id, ""); text(got, "result", "taskId") != id || text(got, "result", "status") != "working" {
		t.Errorf("tasks/get: %s", got)
	}
	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		unknownTask(t, other.about(method, id, ""))
	}
	unknownTask(t, other.about("tasks/update", id, `,"inputResponses":{}`))
	both := other.open("subscriptions/listen", "", canTasks, fmt.Sprintf(`,"notifications":{"taskIds":[%q]}`, id))
	if ack := both.want("notifications/subscriptions/acknowledged"); strings.Contains(string(ack), id) {
		t.Errorf("another may listen: %s", ack)
	}
	listen := r.open("subscriptions/listen", "", canTasks, fmt.Sprintf(`,"notifications":{"taskIds":[%q],"toolsListChanged":true}`, id))
	own := fmt.Sprintf("r%d", r.id)
	for _, method := range []string{"notifications/subscriptions/acknowledged", "notifications/tasks"} {
		msg := listen.want(method)
		if text(msg, "params", "_meta", "io.modelcontextprotocol/subscriptionId") != own || !strings.Contains(string(msg), id) {
			t.Errorf("%s", msg)
		}
	}
	if got := r.about("tasks/get", id, ""); !strings.Contains(string(got), "worked 1000 ms") || text(got, "result", "taskId") != id {
		t.Errorf("tasks/get: %s", got)
	}
	asks := text(r.call("ask", `{}`), "result", "taskId")
	time.Sleep(time.Second)
	if got := r.about("tasks/get", asks, ""); !got.Get("result").Get("inputRequests").Get("name").IsObject() {
		t.Errorf("tasks/get: %s", got)
	}
	if got := r.about("tasks/update", asks, `,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}`); text(got, "result", "resultType") != "complete" {
		t.Errorf("tasks/update: %s", got)
	}
	time.Sleep(time.Second)
	if got := r.about("tasks/get", asks, ""); !strings.Contains(string(got), "Ada") {
		t.Errorf("tasks/get: %s", got)
	}
	ends := text(r.call("work", `{"ms":600000}`), "result", "taskId")
	if got := r.about("tasks/cancel", ends, ""); text(got, "result", "resultType") != "complete" {
		t.Errorf("tasks/cancel: %s", got)
	}
	unknownTask(t, r.about("tasks/get", "bogus", ""))
	both.hangUp()
	listen.hangUp()
	synctest.Wait()
}
