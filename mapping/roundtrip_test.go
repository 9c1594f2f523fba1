package mapping_test

import (
	"errors"
	"slices"
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
		entry, more, ok := questionThereAndBack(m.Value)
		if !ok {
			return nil, 0, false
		}
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
// that client sees for a question of its server. ok is false for one that cannot
// be put.
func questionThereAndBack(entry wire.Value) (back wire.Value, notes mapping.Notes, ok bool) {
	question, err := ext2026.ParseInputRequest(entry, "entry")
	if err != nil {
		return "", 0, false
	}
	params, notes, err := mapping.AppendDownInputRequest(nil, question, mapping.QuestionOptions{TaskID: "h", ElicitationID: "e-1"})
	if err != nil {
		return "", 0, false
	}
	up, more, err := mapping.AppendUpInputRequest(nil, question.Method, wire.Value(params))
	return wire.Value(up), notes | more, err == nil
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

// explains lists for each note the members that it may have changed. A round trip
// that differs in any other member has lost something in silence.
var explains = map[mapping.Note][]string{
	mapping.NoteResult:            {"result"},
	mapping.NoteError:             {"error"},
	mapping.NoteInputRequests:     {"inputRequests"},
	mapping.NoteToolError:         {"status", "statusMessage"},
	mapping.NoteStatus:            {"status", "inputRequests", "result", "error", "statusMessage"},
	mapping.NoteStatusMessage:     {"statusMessage"},
	mapping.NoteTTL:               {"ttl", "ttlMs"},
	mapping.NotePollInterval:      {"pollInterval", "pollIntervalMs"},
	mapping.NoteTimestamp:         {"createdAt", "lastUpdatedAt"},
	mapping.NoteReservedMeta:      {"_meta"},
	mapping.NoteImmediateResponse: {"_meta"},
	mapping.NoteStrayMember:       {"ttl", "pollInterval", "ttlMs", "pollIntervalMs", "result", "error", "inputRequests", "requestState", "resultType", "statusMessage"},
	mapping.NoteForeignTask:       {"task"},
	mapping.NoteMadeError:         {"error", "statusMessage"},
	mapping.NoteErrorCode:         {"error", "statusMessage"},
	mapping.NoteStructuredWrapped: {"result"},
	mapping.NoteTextAdded:         {"result"},
	mapping.NoteQuestionMeta:      {"inputRequests"},
	mapping.NoteTaskMember:        {"inputRequests"},
}

// sameTask compares two tasks member by member and returns those that differ
// without a note that explains it. Members that mean the same when they are null
// or missing are the same.
func sameTask(a, b wire.Value, notes mapping.Notes, added ...string) []string {
	excused := map[string]bool{}
	for note, members := range explains {
		if notes.Has(note) {
			for _, name := range members {
				excused[name] = true
			}
		}
	}
	for _, name := range added {
		excused[name] = true
	}
	names := map[string]bool{}
	for _, v := range []wire.Value{a, b} {
		for m := range v.Members() {
			names[m.Name] = true
		}
	}
	var differ []string
	for name := range names {
		if !excused[name] && normal(a.Get(name)) != normal(b.Get(name)) {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ
}

// normal spells a value so that equal values are equal texts: numbers as integers
// where they are, the nested result of a task without the type that one side adds
// and the content that it requires, _meta without the tie to a task.
func normal(v wire.Value) wire.Value {
	if n, ok := v.Floor(); ok {
		if up, _ := v.Ceil(); up == n {
			return n
		}
	}
	if v == wire.Null || v == "{}" {
		return ""
	}
	w := wire.Begin(nil)
	for m := range v.Members() {
		switch {
		case m.Name == "resultType", m.Name == wire.MetaRelatedTask, m.Name == "content" && m.Value == "[]":
		default:
			w.Copy(m)
		}
	}
	if out := wire.Value(w.End()); v.IsObject() && out != v {
		return normal(out)
	}
	return v
}

const rounds = 2000

func TestRoundTripOfModernTasks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds) {
		r := newRandom(seed)
		doc := r.modernTask()
		task, err := mapping.ReadDownTask("tasks/get", doc)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc)
		}
		legacy, notes, err := mapping.AppendDownTask(nil, task, "h", mapping.TaskOptions{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc)
		}
		back, more, ok := upAgain(t, task, wire.Value(legacy))
		if !ok {
			continue
		}
		notes |= more
		// What belongs to the status comes back, detached or not.
		switch task.Status() {
		case ext2026.StatusCompleted:
			notes &^= mapping.Notes(0).With(mapping.NoteResult)
		case ext2026.StatusFailed:
			notes &^= mapping.Notes(0).With(mapping.NoteError)
		case ext2026.StatusInputRequired:
			notes &^= mapping.Notes(0).With(mapping.NoteInputRequests)
		default:
		}
		if differ := sameTask(doc, wire.Value(back), notes, "resultType"); len(differ) > 0 {
			t.Fatalf("seed %d: %v differ without a note\n from %s\nlegacy %s\n  back %s\n%s", seed, differ, doc, legacy, back, notes)
		}
	}
}

func TestRoundTripOfLegacyTasks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds) {
		r := newRandom(seed)
		doc, payload := r.legacyTask()
		task, err := mapping.ReadUpTask("tasks/get", doc)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc)
		}
		o := mapping.UpTaskOptions{Payload: payload}
		if r.IntN(2) == 0 {
			o.Requests = []mapping.InputEntry{{Key: "k", Request: `{"method":"roots/list"}`}}
		}
		modern, notes, err := mapping.AppendUpTask(nil, task, "h", o)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc)
		}
		back, more := downAgain(t, task, wire.Value(modern))
		notes |= more
		if payload.Result.Present() {
			notes = notes.With(mapping.NoteStatusMessage) // the reason why may be added
		}
		if differ := sameTask(doc, wire.Value(back), notes); len(differ) > 0 {
			t.Fatalf("seed %d: %v differ without a note\n  from %s\nmodern %s\n  back %s\n%s", seed, differ, doc, modern, back, notes)
		}
	}
}
