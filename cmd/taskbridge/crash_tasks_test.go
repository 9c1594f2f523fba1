package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ms are the arguments of a tool that takes so long.
func ms(n int) map[string]any { return map[string]any{"arguments": map[string]any{"ms": n}} }

// keys are what a task asks.
func (r *reply) keys() []string {
	var keys []string
	for key := range r.Result.InputRequests {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// asks polls a task until its questions are as they should be.
func (c *caller) asks(handle string, should func(keys []string) bool) reply {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		got := c.until(handle, "input_required")
		if should(got.keys()) {
			return got
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the task asks %q", got.keys())
		}
	}
}

// answer answers one question of a task.
func (c *caller) answer(handle, key, name string) {
	c.t.Helper()
	got := c.do("tasks/update", handle, map[string]any{
		"taskId":         handle,
		"inputResponses": map[string]any{key: map[string]any{"action": "accept", "content": map[string]any{name: key}}},
	})
	if got.Result.ResultType != "complete" {
		c.t.Errorf("tasks/update: %+v", got)
	}
}

// wantText checks what a task has ended with.
func (c *caller) wantText(handle, want string) {
	c.t.Helper()
	got := c.until(handle, "completed")
	if content := got.Result.Result.Content; len(content) != 1 || !strings.Contains(content[0].Text, want) {
		c.t.Errorf("the task ended with %+v, want %q", got.Result.Result, want)
	}
}

// TestKillTasks: the bridge is killed, twice, in front of a legacy backend that is a
// process of its own, while tasks work, wait for one answer or another, are over or
// cancelled, and calls are parked or hosted. Tasks of a living session go on with the
// questions that are open, and no other; what the bridge alone held says that it was
// interrupted; a spent request state runs nothing (B-I3, B-I5, B-G7, B-P2, B-P11,
// §4.22, §4.23; DESIGN, promises 2 and 3).
func TestKillTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	backend := launch(t, "demo", "legacy", "--listen", "127.0.0.1:0")
	serve := []string{
		"serve", "--admin", "off", "--store", "embedded:" + filepath.Join(t.TempDir(), "state", "taskbridge.db"),
		"--set", "faces.legacy.off=true", "--set", "host_tasks=slow", "--set", "host_grace=100ms",
		"--backend", "default=" + backend.url, "--listen", "127.0.0.1:0",
	}
	bridge := launch(t, serve...)
	plain := &caller{t: t, url: bridge.url, capabilities: `{"elicitation":{"form":{}}}`}
	tasks := &caller{t: t, url: bridge.url, capabilities: `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`}
	start := func(tool string, args map[string]any) string {
		t.Helper()
		got := tasks.call(tool, args)
		if got.Result.ResultType != "task" {
			t.Fatalf("%s: %+v", tool, got)
		}
		return got.Result.TaskID
	}
	again := func() {
		t.Helper()
		bridge.kill()
		bridge = launch(t, serve...)
		plain.url, tasks.url = bridge.url, bridge.url
	}

	working, over, cancelled := start("work", ms(3000)), start("work", ms(1)), start("work", ms(600_000))
	both, twice, hosted := start("ask_both", nil), start("ask_twice", nil), start("grind", ms(600_000))
	tasks.wantText(over, "worked 1 ms")
	tasks.do("tasks/cancel", cancelled, map[string]any{"taskId": cancelled})
	tasks.until(cancelled, "cancelled")
	first := tasks.until(twice, "input_required")
	asked := tasks.asks(both, func(keys []string) bool { return len(keys) == 2 })
	tasks.answer(both, asked.keys()[0], "left") // which is durable once acknowledged
	one := plain.call("ask_twice", nil)
	spent := retry(one, map[string]any{"action": "accept", "content": map[string]any{"first": "a"}})
	two := plain.call("ask_twice", spent)
	if two.Result.ResultType != "input_required" {
		t.Fatalf("a call that asks twice: %+v", two)
	}
	open := retry(two, map[string]any{"action": "accept", "content": map[string]any{"second": "b"}})
	before := plain.runs()

	again()
	for name, state := range map[string]map[string]any{"spent": spent, "open": open} {
		for range 2 {
			if got := plain.call("ask_twice", state); got.Error == nil || got.Error.Code != -32602 || got.Result.ResultType != "" {
				t.Errorf("a state of a parked call, %s: %+v", name, got)
			}
		}
	}
	if left := tasks.until(both, "input_required"); !slices.Equal(left.keys(), asked.keys()[1:]) {
		t.Errorf("asked %q after the crash, want %q", left.keys(), asked.keys()[1:])
	}
	if still := tasks.until(twice, "input_required"); !slices.Equal(still.keys(), first.keys()) {
		t.Errorf("asked %q after the crash, want %q", still.keys(), first.keys())
	}
	tasks.answer(twice, first.keys()[0], "first")
	second := tasks.asks(twice, func(keys []string) bool { return !slices.Equal(keys, first.keys()) })

	again()
	if still := tasks.until(twice, "input_required"); !slices.Equal(still.keys(), second.keys()) {
		t.Errorf("asked %q after the second crash, want %q", still.keys(), second.keys())
	}
	tasks.answer(both, asked.keys()[1], "right")
	tasks.answer(twice, second.keys()[0], "second")
	tasks.wantText(both, "right")
	tasks.wantText(twice, "second")
	tasks.wantText(working, "worked 3000 ms")
	tasks.wantText(over, "worked 1 ms")
	tasks.until(cancelled, "cancelled")
	tasks.until(hosted, "failed") // once its lease has run out
	if after := plain.runs(); after != before {
		t.Errorf("the backend's tools ran %s before the crash, and %s after it", before, after)
	}
}
