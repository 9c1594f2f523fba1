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

const (
	serverInfoPath   = `_meta.io.modelcontextprotocol/serverInfo`
	subscriptionPath = `_meta.io.modelcontextprotocol/subscriptionId`
)

// taskMessages are the messages about tasks, both ways.
var taskMessages = []message{
	{
		name: "tasks/get result", era: "ext2026", typ: "GetTaskResult", variants: 10, values: times, cross: crossDownTask,
		lost: map[string]mapping.Note{
			"result":                        mapping.NoteResult,
			"error":                         mapping.NoteError,
			"inputRequests":                 mapping.NoteInputRequests,
			"inputRequests.k2.params._meta": mapping.NoteQuestionMeta,
		},
		consumed: map[string]string{"taskId": "A-H1", serverInfoPath: "§3.6"},
	},
	{
		name: "a task by its status", era: "ext2026", typ: "DetailedTask", variants: 10, values: times, cross: crossDownTask,
		lost: map[string]mapping.Note{
			"inputRequests.k2.params._meta": mapping.NoteQuestionMeta,
		},
		consumed: map[string]string{"taskId": "A-H1"},
	},
	{
		name: "tools/call result that is a task", era: "ext2026", typ: "CreateTaskResult", variants: 5, values: times,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendDownCreateTask(nil, modernTask(t, in), "h", mapping.TaskOptions{})
			return must(t, out, notes, err)
		},
		lost:     map[string]mapping.Note{"status": mapping.NoteStatus},
		consumed: map[string]string{"taskId": "A-H1", serverInfoPath: "§3.6"},
	},
	{
		name: "notifications/tasks", era: "ext2026", typ: "TaskStatusNotificationParams", variants: 10, values: times,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendDownTaskStatus(nil, modernTask(t, in), "h", mapping.TaskOptions{})
			return must(t, out, notes, err)
		},
		lost: map[string]mapping.Note{
			"result": mapping.NoteResult, "error": mapping.NoteError, "inputRequests": mapping.NoteInputRequests,
		},
		consumed: map[string]string{"taskId": "A-H1", subscriptionPath: "§4.16"},
	},
	{
		name: "tasks/get params", era: "ext2026", typ: "GetTaskRequest.params", cross: crossDownParams,
		consumed: map[string]string{"taskId": "§4.23"},
	},
	{
		name: "tasks/cancel params", era: "ext2026", typ: "CancelTaskRequest.params", cross: crossDownParams,
		consumed: map[string]string{"taskId": "§4.23"},
	},
	{
		name: "tasks/get result", era: "legacy2025", typ: "GetTaskResult", variants: 5, values: times, cross: crossUpTask,
		consumed: map[string]string{"taskId": "§4.23"},
	},
	{
		name: "a task of tasks/list", era: "legacy2025", typ: "Task", variants: 5, values: times, cross: crossUpTask,
		consumed: map[string]string{"taskId": "§4.23"},
	},
	{
		name: "tools/call result that is a task", era: "legacy2025", typ: "CreateTaskResult", variants: 5, values: times,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			created, err := mapping.ReadUpCreateTask(in)
			if err != nil {
				t.Fatal(err)
			}
			out, notes, err := mapping.AppendUpCreateTask(nil, created, "h", mapping.UpTaskOptions{})
			return must(t, out, notes, err)
		},
		lost:     map[string]mapping.Note{"task.status": mapping.NoteStatus},
		consumed: map[string]string{"task.taskId": "§4.23"},
	},
	{
		name: "notifications/tasks/status", era: "legacy2025", typ: "TaskStatusNotificationParams", variants: 5, values: times,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendUpTaskNotification(nil, legacyTask(t, in), "h", "7", upOptions(in))
			return must(t, out, notes, err)
		},
		consumed: map[string]string{"taskId": "§4.23"},
	},
	{
		name: "tasks/result result", era: "legacy2025", typ: "GetTaskPayloadResult", cross: crossUpPayload,
	},
	{
		name: "tools/call result in a task", era: "legacy2025", typ: "CallToolResult", variants: 5, cross: crossUpPayload,
	},
	{
		name: "tasks/cancel result", era: "legacy2025", typ: "CancelTaskResult", variants: 5, values: times,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes := mapping.AppendUpCancelAck(nil, in, "")
			return must(t, out, notes, nil)
		},
		lost: map[string]mapping.Note{"": mapping.NoteTaskFields},
	},
	{
		name: "tasks/list result", era: "legacy2025", typ: "ListTasksResult", variants: 5, values: times,
		cross:    func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) { return nil, 0 },
		consumed: map[string]string{"": "§4.14: the bridge keeps a list of its own and never asks for one"},
	},
	{
		name: "tasks/get params", era: "legacy2025", typ: "GetTaskRequest.params", cross: crossUpParams,
		consumed: map[string]string{"taskId": "A-H1"},
	},
	{
		name: "tasks/result params", era: "legacy2025", typ: "GetTaskPayloadRequest.params", cross: crossUpParams,
		consumed: map[string]string{"taskId": "A-H1"},
	},
	{
		name: "tasks/cancel params", era: "legacy2025", typ: "CancelTaskRequest.params", cross: crossUpParams,
		consumed: map[string]string{"taskId": "A-H1"},
	},
	{
		name: "params.task", era: "legacy2025", typ: "TaskAugmentedRequestParams", variants: 2,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendUpTaskParams(nil, in, "tk", mapping.Envelope{})
			return must(t, out, notes, err)
		},
		lost:     map[string]mapping.Note{"task": mapping.NoteTaskMember},
		consumed: map[string]string{"_meta.progressToken": "G-9"},
	},
	{
		name: "tools/call result in a task", era: "ext2026", typ: "CallToolResult", variants: 5,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			doc := `{"taskId":"t","status":"completed","result":` + in + `}`
			out, notes, err := mapping.AppendDownTaskPayload(nil, modernTask(t, doc), "h", mapping.ResultOptions{})
			return must(t, out, notes, err)
		},
		values:   map[string]string{"resultType": `"complete"`},
		consumed: map[string]string{serverInfoPath: "A-R1", "resultType": "§3.1"},
	},
}

func modernTask(t testing.TB, in wire.Value) ext2026.Task {
	t.Helper()
	task, err := mapping.ReadDownTask("tasks/get", in)
	if err != nil {
		t.Fatalf("%v\n%s", err, in)
	}
	return task
}

func legacyTask(t testing.TB, in wire.Value) legacy2025.Task {
	t.Helper()
	task, err := mapping.ReadUpTask("tasks/get", in)
	if err != nil {
		t.Fatalf("%v\n%s", err, in)
	}
	return task
}

// crossDownTask shows a modern task to a legacy client: the task, its end, and its
// questions.
func crossDownTask(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	task := modernTask(t, in)
	out, notes, err := mapping.AppendDownTask(nil, task, "h", mapping.TaskOptions{})
	must(t, out, notes, err)
	if task.Status().Terminal() {
		var more mapping.Notes
		var failure *jsonrpc.Error
		end, more, err := mapping.AppendDownTaskPayload(nil, task, "h", mapping.ResultOptions{})
		switch {
		case errors.As(err, &failure):
			out = jsonrpc.AppendErrorObject(out, failure)
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, end...)
		}
		notes |= more
	}
	for _, m := range task.InputRequests().Members() {
		question, err := ext2026.ParseInputRequest(m.Value, m.Name)
		if err != nil {
			t.Fatal(err)
		}
		params, more, err := mapping.AppendDownInputRequest(nil, question, mapping.QuestionOptions{TaskID: "h", ElicitationID: "e"})
		must(t, params, more, err)
		out, notes = append(append(out, question.Method...), params...), notes|more
	}
	return out, notes
}

// upOptions are what a legacy task is shown with, by its status.
func upOptions(in wire.Value) mapping.UpTaskOptions {
	switch status, _ := in.Get("status").Text(); legacy2025.Status(status) {
	case legacy2025.StatusInputRequired:
		return mapping.UpTaskOptions{Requests: []mapping.InputEntry{{Key: "k", Request: `{"method":"roots/list"}`}}}
	case legacy2025.StatusCompleted:
		return mapping.UpTaskOptions{Payload: mapping.Payload{Result: `{"content":[]}`}}
	case legacy2025.StatusFailed:
		return mapping.UpTaskOptions{Payload: mapping.Payload{Error: jsonrpc.NewError(1, "m")}}
	default:
		return mapping.UpTaskOptions{}
	}
}

func crossUpTask(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	out, notes, err := mapping.AppendUpTask(nil, legacyTask(t, in), "h", upOptions(in))
	return must(t, out, notes, err)
}

// crossUpPayload shows what tasks/result answered inside a completed task.
func crossUpPayload(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	task := legacyTask(t, `{"taskId":"t","status":"completed"}`)
	out, notes, err := mapping.AppendUpTask(nil, task, "h", mapping.UpTaskOptions{Payload: mapping.Payload{Result: in}})
	return must(t, out, notes, err)
}

func crossDownParams(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	out, notes, err := mapping.AppendDownTaskParams(nil, in, "LT")
	return must(t, out, notes, err)
}

func crossUpParams(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	out, notes, err := mapping.AppendUpTaskParams(nil, in, "tk", mapping.Envelope{})
	return must(t, out, notes, err)
}
