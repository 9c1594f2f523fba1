package demo_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestLegacyTaskRunsToItsEnd(t *testing.T) {
	t.Parallel()
	textOf := func(s string) []any { return []any{object{"type": "text", "text": s}} }
	for name, test := range map[string]struct {
		tool      string
		arguments object
		takes     time.Duration
		status    string
		message   any
		result    object // without _meta
		code      float64
	}{
		"work":            {"work", object{"ms": 1500}, 1500 * time.Millisecond, "completed", nil, object{"content": textOf("worked 1500 ms")}, 0},
		"only_task":       {"only_task", object{"ms": 10}, 10 * time.Millisecond, "completed", nil, object{"content": textOf("worked 10 ms")}, 0},
		"structured":      {"structured", nil, 200 * time.Millisecond, "completed", nil, object{"content": textOf(`{"n":7}`), "structuredContent": object{"n": 7.0}}, 0},
		"a tool error":    {"tool_error", nil, 200 * time.Millisecond, "failed", "tool says no", object{"content": textOf("tool says no"), "isError": true}, 0},
		"wrong arguments": {"work", object{"ms": "x"}, 0, "failed", "ms: want a whole number from 0 to 600000", object{"content": textOf("ms: want a whole number from 0 to 600000"), "isError": true}, 0},
		"an error":        {"fail", nil, 200 * time.Millisecond, "failed", "the database is on fire", nil, -31050},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := join(t, newLegacy(t, demo.Options{}))
				listener := p.listen("")
				began := time.Now()
				id := p.task(test.tool, test.arguments)
				a := p.do("tasks/result", object{"taskId": id})
				if d := time.Since(began); d != test.takes {
					t.Errorf("tasks/result took %v", d)
				}
				task := p.get(id)
				if task["status"] != test.status || task["statusMessage"] != test.message || task["ttl"] != 300_000.0 || task["pollInterval"] != 200.0 {
					t.Errorf("at its end: %v", task)
				}
				if !stamp(t, task, "createdAt").Equal(began) || !stamp(t, task, "lastUpdatedAt").Equal(began.Add(test.takes)) {
					t.Errorf("stamps of %v", task)
				}
				if _, note := listener.wants("notifications/tasks/status"); cmp.Diff(task, note) != "" {
					t.Errorf("notified: %v", note)
				}
				if test.code != 0 {
					a.fails(200, test.code)
					return
				}
				test.result["_meta"] = object{related: object{"taskId": id}}
				if diff := cmp.Diff(any(test.result), a.final["result"]); diff != "" {
					t.Error(diff)
				}
				again := p.ok("tasks/result", object{"taskId": id})
				if diff := cmp.Diff(a.final["result"], any(again)); diff != "" {
					t.Errorf("the second time: %s", diff)
				}
			})
		})
	}
}

// Spec 2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation".
func TestLegacyTaskSupport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{TaskTTL: time.Minute})
		p := join(t, l)
		p.do("tools/call", taskParams("add", object{"a": 1, "b": 1}, object{})).fails(200, -32601)
		p.do("tools/call", toolParams("only_task", nil)).fails(200, -32601)
		p.do("tools/call", taskParams("nobody", nil, object{})).fails(200, -32602)
		for _, bad := range []any{nil, 7, []int{}, object{"ttl": "7"}, object{"ttl": -1}, object{"ttl": nil}} {
			p.do("tools/call", object{"name": "work", "task": bad}).fails(200, -32602)
		}
		if l.Runs("work")+l.Runs("add")+l.Runs("only_task") != 0 {
			t.Error("a refused call ran")
		}
		for asked, want := range map[any]float64{2500.5: 2500, 0: 1000, 59_999: 59_999, 1e300: 60_000, 60_001: 60_000} {
			task, _ := p.ok("tools/call", taskParams("work", nil, object{"ttl": asked}))["task"].(object)
			if task["ttl"] != want {
				t.Errorf("a ttl of %v became %v", asked, task["ttl"])
			}
		}
		support := map[string]any{"add": "forbidden", "work": "optional", "only_task": "required"}
		list, _ := p.ok("tools/list", nil)["tools"].([]any)
		for _, entry := range list {
			tool, _ := entry.(object)
			name, _ := tool["name"].(string)
			execution, _ := tool["execution"].(object)
			if want, known := support[name]; known && execution["taskSupport"] != want {
				t.Errorf("%v", tool)
			}
			delete(support, name)
		}
		if len(support) > 0 {
			t.Errorf("not listed: %v", support)
		}
	})
}

func TestLegacyTaskCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		id := p.task("ask", nil)
		wait := p.open("w", "tasks/result", object{"taskId": id})
		asked, _ := wait.wants("elicitation/create")
		cancelled := p.ok("tasks/cancel", object{"taskId": id})
		if cancelled["status"] != "cancelled" || cancelled["taskId"] != id {
			t.Errorf("%v", cancelled)
		}
		if _, params := wait.wants("notifications/cancelled"); params["requestId"] != asked {
			t.Errorf("withdrawn: %v", params)
		}
		if e, _ := wait.message()["error"].(object); e["code"] != -32603.0 {
			t.Errorf("the result of a cancelled task: %v", e)
		}
		p.answer(asked, accept(object{"name": "late"}))
		time.Sleep(time.Second)
		if diff := cmp.Diff(cancelled, p.get(id)); diff != "" {
			t.Errorf("cancelled is not the end: %s", diff)
		}
		p.do("tasks/cancel", object{"taskId": id}).fails(200, -32602)
		for _, tool := range []string{"structured", "tool_error", "fail"} {
			id := p.task(tool, nil)
			p.do("tasks/result", object{"taskId": id})
			p.do("tasks/cancel", object{"taskId": id}).fails(200, -32602)
		}
	})
}

func TestLegacyTasksBelongToTheirSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		other := join(t, p.l)
		heard := other.listen("")
		id := p.task("ask", nil)
		time.Sleep(time.Second)
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			other.do(method, object{"taskId": id}).fails(200, -32602)
			p.do(method, object{"taskId": "nobody"}).fails(200, -32602)
			p.do(method, object{"taskId": 7}).fails(200, -32602)
			p.do(method, nil).fails(200, -32602)
		}
		if list, _ := other.ok("tasks/list", nil)["tasks"].([]any); len(list) != 0 {
			t.Errorf("listed: %v", list)
		}
		synctest.Wait()
		if heard.pending() != 1 { // the priming event
			t.Errorf("another session heard %d things", heard.pending())
		}
	})
}

func TestLegacyTaskList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		var made, listed []any
		for range 20 {
			made = append(made, p.task("work", object{"ms": 0}))
		}
		synctest.Wait()
		params := object{}
		for pages := 1; ; pages++ {
			res := p.ok("tasks/list", params)
			page, _ := res["tasks"].([]any)
			for _, entry := range page {
				task, _ := entry.(object)
				listed = append(listed, task["taskId"])
				if diff := cmp.Diff(p.ok("tasks/get", object{"taskId": task["taskId"]}), task); diff != "" {
					t.Error(diff)
				}
			}
			if params["cursor"] = res["nextCursor"]; params["cursor"] == nil {
				if pages != 2 {
					t.Errorf("%d pages", pages)
				}
				break
			}
		}
		if diff := cmp.Diff(made, listed); diff != "" {
			t.Error(diff)
		}
		for _, bad := range []any{"", "x", 7, "dG9vbHMgMQ"} { // the last is one of tools
			p.do("tasks/list", object{"cursor": bad}).fails(200, -32602)
		}
	})
}

func TestLegacyTaskExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{TaskTTL: 10 * time.Second}))
		id := p.task("ask", nil)
		wait := p.open(1, "tasks/result", object{"taskId": id})
		asked, _ := wait.wants("elicitation/create")
		if _, params := wait.wants("notifications/cancelled"); params["requestId"] != asked {
			t.Errorf("withdrawn: %v", params)
		}
		if e, _ := wait.message()["error"].(object); e["code"] != -32602.0 {
			t.Errorf("%v", e)
		}
		p.do("tasks/get", object{"taskId": id}).fails(200, -32602)
		p.answer(asked, accept(object{}))
	})
}

func TestLegacyTaskLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{MaxTasks: 1}))
		p.task("work", nil)
		p.do("tools/call", taskParams("work", nil, object{})).fails(200, -32603)
		if p.l.Runs("work") != 1 {
			t.Errorf("%d runs", p.l.Runs("work"))
		}
	})
}
