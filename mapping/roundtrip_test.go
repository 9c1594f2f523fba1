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

// upAgain translates a legacy task back into the modern one it came from, with
// what tasks/result and the questions carried beside it. ok is false when there
// is no way back, because tasks/result has no answer.
func upAgain(t testing.TB, from ext2026.Task, legacy wire.Value) (back []byte, notes mapping.Notes, ok bool) {
	t.Helper()
	task, err := mapping.ReadUpTask("tasks/get", legacy)
	if err != nil {
		t.Fatalf("the translated task does not read: %v\n%s", err, legacy)
	}
	o := mapping.UpTaskOptions{ServerInfo: from.Meta().Get(wire.MetaServerInfo)}
	if from.Status().Terminal() {
		payload, more, err := mapping.AppendDownTaskPayload(nil, from, task.ID(), mapping.ResultOptions{})
		var failure *jsonrpc.Error
		switch {
		case errors.As(err, &failure):
			o.Payload.Error = failure
		case err != nil:
			return nil, 0, false
		default:
			o.Payload.Result = wire.Value(payload)
		}
		notes |= more
	}
	for _, m := range from.InputRequests().Members() {
		entry, more := questionThereAndBack(t, m.Value)
		o.Requests, notes = append(o.Requests, mapping.InputEntry{Key: m.Name, Request: entry}), notes|more
	}
	more := mapping.Notes(0)
	back, more, err = mapping.AppendUpTask(nil, task, from.ID(), o)
	if err != nil {
		t.Fatalf("up again: %v\n%s", err, legacy)
	}
	return back, notes | more, true
}

// questionThereAndBack puts a modern question to a legacy client, and takes what
// that client sees for a question of its server.
func questionThereAndBack(t testing.TB, entry wire.Value) (wire.Value, mapping.Notes) {
	t.Helper()
	question, err := ext2026.ParseInputRequest(entry, "entry")
	if err != nil {
		t.Fatal(err)
	}
	params, notes, err := mapping.AppendDownInputRequest(nil, question, mapping.QuestionOptions{TaskID: "h", ElicitationID: "e-1"})
	if err != nil {
		t.Fatal(err)
	}
	back, more, err := mapping.AppendUpInputRequest(nil, question.Method, wire.Value(params))
	if err != nil {
		t.Fatal(err)
	}
	return wire.Value(back), notes | more
}

// downAgain translates a modern task back into the legacy one it came from.
func downAgain(t testing.TB, from legacy2025.Task, modern wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	task, err := mapping.ReadDownTask("tasks/get", modern)
	if err != nil {
		t.Fatalf("the translated task does not read: %v\n%s", err, modern)
	}
	back, notes, err := mapping.AppendDownTask(nil, task, from.ID(), mapping.TaskOptions{})
	if err != nil {
		t.Fatalf("down again: %v\n%s", err, modern)
	}
	return back, notes
}
