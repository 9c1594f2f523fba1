package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestKill: the bridge is killed with tasks running on a backend that is a
// process of its own, and started again on the same store. The session still
// holds, every handle answers, the list is complete, and nothing has run twice.
// A call that the crash has cut says so (DESIGN, promises 2 and 3; A-T10).
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	backend := launch(t, "demo", "modern", "--listen", "127.0.0.1:0")
	serve := []string{
		"serve", "--admin", "off", "--store", "embedded:" + filepath.Join(t.TempDir(), "state", "taskbridge.db"),
		"--backend", "default=" + backend.url, "--set", "sync_grace=50ms", "--listen",
	}
	bridge := launch(t, append(serve, "127.0.0.1:0")...)
	c := &client{t: t, url: bridge.url}
	c.post("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"},
	})
	var running []string
	for range 10 {
		running = append(running, c.create("work", map[string]any{"ms": 600000}))
	}
	hosted := c.create("add", map[string]any{"a": 2, "b": 3})
	cut := c.create("grind", map[string]any{"ms": 600000})
	cancelled := c.create("work", map[string]any{"ms": 600000})
	c.post("tasks/cancel", map[string]any{"taskId": cancelled})
	before := c.runs()

	bridge.kill()
	bridge = launch(t, append(serve, "127.0.0.1:0")...)
	c.url = bridge.url

	for _, handle := range running {
		if got := c.get(handle); got.TaskID != handle || got.Status != "working" {
			t.Errorf("a running task after the restart: %+v", got)
		}
	}
	if got := c.get(hosted); got.Status != "completed" {
		t.Errorf("a hosted task after the restart: %+v", got)
	}
	var sum struct{ StructuredContent struct{ Sum int } }
	decode(t, c.post("tasks/result", map[string]any{"taskId": hosted}), &sum)
	if sum.StructuredContent.Sum != 5 {
		t.Errorf("the result of a hosted task after the restart: %+v", sum)
	}
	if got := c.get(cut); got.Status != "failed" || !strings.Contains(got.StatusMessage, "interrupted") {
		t.Errorf("a call that the crash has cut: %+v", got)
	}
	if got := c.get(cancelled); got.Status != "cancelled" {
		t.Errorf("a cancelled task after the restart: %+v", got)
	}
	var list struct{ Tasks []taskView }
	decode(t, c.post("tasks/list", map[string]any{}), &list)
	listed := make(map[string]bool)
	for _, task := range list.Tasks {
		listed[task.TaskID] = true
	}
	for _, handle := range append(running, hosted, cut, cancelled) {
		if !listed[handle] {
			t.Errorf("not listed after the restart: %.20s…", handle)
		}
	}
	if len(list.Tasks) != len(running)+3 {
		t.Errorf("%d tasks listed after the restart, want %d", len(list.Tasks), len(running)+3)
	}
	if after := c.runs(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the backend's tools ran %v before the crash and %v after it", before, after)
	}
}
