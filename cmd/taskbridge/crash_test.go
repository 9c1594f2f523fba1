package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asCommand makes the test binary behave as the command itself, so that
// processes can be killed for real.
const asCommand = "TASKBRIDGE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	m.Run()
}

// process is a running command and the first line it printed that holds a URL.
type process struct {
	cmd *exec.Cmd
	url string
}

func launch(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			if strings.HasPrefix(word, "http://") {
				p.url = word
				go func() { _, _ = io.Copy(io.Discard, out) }()
				return p
			}
		}
	}
	t.Fatalf("taskbridge %v printed no URL: %s", args, stderr.String())
	return nil
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// client is a 2025-11-25 client of one session.
type client struct {
	t       *testing.T
	url     string
	session string
	id      int
}

func (c *client) post(method string, params any) json.RawMessage {
	c.t.Helper()
	c.id++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := new(http.Client).Do(r)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	answer, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	var envelope struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(answer, &envelope); err != nil || envelope.Error != nil {
		c.t.Fatalf("%s: HTTP %d %s", method, resp.StatusCode, answer)
	}
	return envelope.Result
}

type taskView struct {
	TaskID        string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
}

func (c *client) create(tool string, arguments map[string]any) string {
	c.t.Helper()
	var created struct{ Task taskView }
	decode(c.t, c.post("tools/call", map[string]any{"name": tool, "arguments": arguments, "task": map[string]any{"ttl": 600000}}), &created)
	if created.Task.Status != "working" {
		c.t.Fatalf("%s: created as %q", tool, created.Task.Status)
	}
	return created.Task.TaskID
}

func (c *client) get(handle string) taskView {
	c.t.Helper()
	var task taskView
	decode(c.t, c.post("tasks/get", map[string]any{"taskId": handle}), &task)
	return task
}

// runs asks the backend how often each of its tools has run.
func (c *client) runs() map[string]int {
	c.t.Helper()
	var result struct{ StructuredContent map[string]int }
	decode(c.t, c.post("tools/call", map[string]any{"name": "runs"}), &result)
	return result.StructuredContent
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

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
