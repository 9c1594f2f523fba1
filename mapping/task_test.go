package mapping_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// TestZeroTasks: a view that was never read has no status, and nothing is made of
// it, whatever the translation.
func TestZeroTasks(t *testing.T) {
	t.Parallel()
	type crossing = func(dst []byte) ([]byte, mapping.Notes, error)
	for want, cross := range map[mapping.Error]crossing{
		{Dir: mapping.Down, Method: "tasks/get", Path: "result.status"}: func(dst []byte) ([]byte, mapping.Notes, error) {
			return mapping.AppendDownTask(dst, ext2026.Task{}, "h", mapping.TaskOptions{})
		},
		{Dir: mapping.Down, Method: "tools/call", Path: "result.status"}: func(dst []byte) ([]byte, mapping.Notes, error) {
			return mapping.AppendDownCreateTask(dst, ext2026.Task{}, "h", mapping.TaskOptions{})
		},
		{Dir: mapping.Down, Method: "notifications/tasks", Path: "result.status"}: func(dst []byte) ([]byte, mapping.Notes, error) {
			return mapping.AppendDownTaskStatus(dst, ext2026.Task{}, "h", mapping.TaskOptions{})
		},
		{Dir: mapping.Up, Method: "tasks/get", Path: "result.status"}: func(dst []byte) ([]byte, mapping.Notes, error) {
			return mapping.AppendUpTask(dst, legacy2025.Task{}, "h", mapping.UpTaskOptions{})
		},
		{Dir: mapping.Up, Method: "tools/call", Path: "result.task.status"}: func(dst []byte) ([]byte, mapping.Notes, error) {
			return mapping.AppendUpCreateTask(dst, legacy2025.CreateTaskResult{}, "h", mapping.UpTaskOptions{})
		},
	} {
		buf, notes, err := cross([]byte(prefix))
		want.Err = mapping.ErrUnknownStatus
		var got *mapping.Error
		if !errors.As(err, &got) || *got != want || string(buf) != prefix || notes != 0 {
			t.Errorf("%q, %s, %v; want %v", buf, notes, err, &want)
		}
	}
}

// TestErrorsSayWhereAndWhat: what a backend says badly is -32603 for its client
// and can be told apart.
func TestErrorsSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	_, status := mapping.ReadDownTask("tasks/get", `{"taskId":"t","status":"paused"}`)
	_, shape := mapping.ReadDownTask("tasks/cancel", `{"status":"working"}`)
	_, legacy := mapping.ReadUpTask("tasks/get", `{"taskId":"t","status":"paused"}`)
	_, created := mapping.ReadUpCreateTask(`{"task":{"taskId":"t","status":"paused"}}`)
	working := modernTask(t, `{"taskId":"t","status":"working"}`)
	_, _, running := mapping.AppendDownTaskPayload(nil, working, "h", mapping.ResultOptions{})
	asking := modernTask(t, `{"taskId":"t","status":"input_required","inputRequests":{"k":{}}}`)
	_, _, waiting := mapping.AppendDownTaskPayload(nil, asking, "h", mapping.ResultOptions{})
	_, _, zero := mapping.AppendDownTaskPayload(nil, ext2026.Task{}, "h", mapping.ResultOptions{})
	_, _, unknown := mapping.AppendDownInputRequest(nil, ext2026.InputRequest{Method: "x/y"}, mapping.QuestionOptions{})
	_, _, ping := mapping.AppendUpInputRequest(nil, "ping", "")
	done := legacyTask(t, `{"taskId":"t","status":"completed"}`)
	_, _, unfetched := mapping.AppendUpTask(nil, done, "h", mapping.UpTaskOptions{})
	var decode *wire.DecodeError
	for _, c := range []struct {
		err    error
		is     error
		dir    mapping.Dir
		method string
		path   string
	}{
		{status, mapping.ErrUnknownStatus, mapping.Down, "tasks/get", "result.status"},
		{shape, nil, mapping.Down, "tasks/cancel", "result.taskId"},
		{legacy, mapping.ErrUnknownStatus, mapping.Up, "tasks/get", "result.status"},
		{created, mapping.ErrUnknownStatus, mapping.Up, "tools/call", "result.task.status"},
		{running, mapping.ErrNotTerminal, mapping.Down, "tasks/get", "result.status"},
		{waiting, mapping.ErrNotTerminal, mapping.Down, "tasks/get", "result.status"},
		{zero, mapping.ErrUnknownStatus, mapping.Down, "tasks/get", "result.status"},
		{unknown, mapping.ErrNoCounterpart, mapping.Down, "x/y", "method"},
		{ping, mapping.ErrNoCounterpart, mapping.Up, "ping", "method"},
		{unfetched, mapping.ErrNoPayload, mapping.Up, "tasks/result", "result"},
	} {
		var failure *mapping.Error
		if !errors.As(c.err, &failure) || failure.Dir != c.dir || failure.Method != c.method || failure.Path != c.path {
			t.Errorf("%#v, want %v %s %s", c.err, c.dir, c.method, c.path)
			continue
		}
		if c.is != nil && !errors.Is(c.err, c.is) || c.is == nil && !errors.As(c.err, &decode) {
			t.Errorf("%v is not %v", c.err, c.is)
		}
		if got := failure.RPC().Code; got != jsonrpc.CodeInternal {
			t.Errorf("%v has code %d", c.err, got)
		}
	}
}

func TestTaskChange(t *testing.T) {
	t.Parallel()
	const doc = `{"taskId":"t","status":"input_required","statusMessage":"m","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z",` +
		`"ttlMs":1,"pollIntervalMs":2,"inputRequests":{"a":{"method":"roots/list"},"b":{}},"x":1}`
	mark := func(doc wire.Value) string { return mapping.TaskChange(modernTask(t, doc)) }
	first := mark(doc)
	for name, same := range map[string]wire.Value{
		"lastUpdatedAt alone is no change":        `{"taskId":"t","status":"input_required","statusMessage":"m","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T09:00:00Z","ttlMs":1,"pollIntervalMs":2,"inputRequests":{"a":{"method":"roots/list"},"b":{}},"x":1}`,
		"nor is the pace or a member of a vendor": `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":1.0,"pollIntervalMs":3,"inputRequests":{"a":{},"b":{}},"x":2}`,
	} {
		if got := mark(same); got != first {
			t.Errorf("%s: %q is not %q", name, got, first)
		}
	}
	seen := map[string]string{first: "the first"}
	for name, other := range map[string]wire.Value{
		"status":           `{"taskId":"t","status":"working","statusMessage":"m","ttlMs":1,"inputRequests":{"a":{},"b":{}}}`,
		"statusMessage":    `{"taskId":"t","status":"input_required","statusMessage":"n","ttlMs":1,"inputRequests":{"a":{},"b":{}}}`,
		"no statusMessage": `{"taskId":"t","status":"input_required","ttlMs":1,"inputRequests":{"a":{},"b":{}}}`,
		"ttl":              `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":2,"inputRequests":{"a":{},"b":{}}}`,
		"no ttl":           `{"taskId":"t","status":"input_required","statusMessage":"m","inputRequests":{"a":{},"b":{}}}`,
		"a question fewer": `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":1,"inputRequests":{"a":{}}}`,
		"another question": `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":1,"inputRequests":{"a":{},"c":{}}}`,
		"names run on":     `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":1,"inputRequests":{"ab":{}}}`,
		"a result":         `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":1,"result":{},"inputRequests":{"a":{},"b":{}}}`,
		"an error":         `{"taskId":"t","status":"input_required","statusMessage":"m","ttlMs":1,"error":{},"inputRequests":{"a":{},"b":{}}}`,
	} {
		got := mark(other)
		if before, ok := seen[got]; ok {
			t.Errorf("%s is told like %s: %q", name, before, got)
		}
		seen[got] = name
	}
}

// TestUpTaskChange: of a legacy task, too, only what counts is a change.
func TestUpTaskChange(t *testing.T) {
	t.Parallel()
	mark := func(doc wire.Value) string {
		task, err := mapping.ReadUpTask("tasks/get", doc)
		if err != nil {
			t.Fatal(err)
		}
		return mapping.UpTaskChange(task)
	}
	first := mark(`{"taskId":"t","status":"working","statusMessage":"m","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":1,"pollInterval":2}`)
	if same := mark(`{"taskId":"t","status":"working","statusMessage":"m","lastUpdatedAt":"2026-09-14T09:00:00Z","ttl":1,"pollInterval":3,"x":1}`); same != first {
		t.Errorf("time, pace and a vendor's member are a change: %q is not %q", same, first)
	}
	seen := map[string]string{first: "the first"}
	for name, other := range map[string]wire.Value{
		"status":           `{"taskId":"t","status":"input_required","statusMessage":"m","ttl":1}`,
		"statusMessage":    `{"taskId":"t","status":"working","statusMessage":"n","ttl":1}`,
		"no statusMessage": `{"taskId":"t","status":"working","ttl":1}`,
		"ttl":              `{"taskId":"t","status":"working","statusMessage":"m","ttl":2}`,
		"no ttl":           `{"taskId":"t","status":"working","statusMessage":"m"}`,
	} {
		got := mark(other)
		if before, ok := seen[got]; ok {
			t.Errorf("%s is told like %s: %q", name, before, got)
		}
		seen[got] = name
	}
}

func TestSmallBuilders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want string }{
		"§4.19 task of a call to a legacy backend": {string(mapping.AppendDownTaskMetadata([]byte(prefix), 3600000)), `{"ttl":3600000}`},
		"§4.11 a question without an answer, in a task": {
			string(mapping.AppendDownFailedResult([]byte(prefix), `no "form"`, "h")),
			`{"content":[{"type":"text","text":"no \"form\""}],"isError":true,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"h"}}}`,
		},
		"A-M6 a question without an answer, in a plain call": {
			string(mapping.AppendDownFailedResult([]byte(prefix), "m", "")), `{"content":[{"type":"text","text":"m"}],"isError":true}`,
		},
		"A-M2 answers": {
			string(mapping.AppendInputResponses([]byte(prefix), []mapping.InputAnswer{{Key: "b\n", Answer: "1"}, {Key: "a", Answer: mapping.DismissedAnswer}})),
			`{"b\n":1,"a":{"action":"cancel"}}`,
		},
		"B-P1 questions": {
			string(mapping.AppendInputRequests([]byte(prefix), []mapping.InputEntry{{Key: "q-1", Request: `{"method":"roots/list"}`}, {Key: "q-2", Request: "2"}})),
			`{"q-1":{"method":"roots/list"},"q-2":2}`,
		},
		"B-I5 ack": {string(mapping.AppendUpAck([]byte(prefix), `{"name":"s"}`)), `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}`},
	} {
		if c.got != prefix+c.want {
			t.Errorf("%s: %s", name, c.got)
		}
	}
	if got := mapping.Cancelled(); got.Code != jsonrpc.CodeInternal || got.Message != "Task was cancelled" || got.Data.Present() {
		t.Errorf("A-R1: %v", got)
	}
}

// TestUntouchedErrorsAreTheSame: what §1.6 leaves alone is not copied.
func TestUntouchedErrorsAreTheSame(t *testing.T) {
	t.Parallel()
	e := jsonrpc.NewError(-31999, "m")
	if mapping.DownError("tools/call", "", e) != e || mapping.UpError("tools/call", e) != e {
		t.Error("a copy was made")
	}
	secret := &jsonrpc.Error{Code: ext2026.CodeMissingCapability, Message: "m", Data: `{"requiredCapabilities":{"roots":{}}}`}
	if mapping.DownError("tools/call", "", secret) == secret {
		t.Error("a missing capability passed")
	}
	if secret.Code != ext2026.CodeMissingCapability || secret.Message != "m" || !secret.Data.Present() {
		t.Error("the backend's error was changed")
	}
}
