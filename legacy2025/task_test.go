package legacy2025_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

func parseTask(v wire.Value) (legacy2025.Task, error) { return legacy2025.ParseTask(v, "result") }

func parseCreate(v wire.Value) (legacy2025.CreateTaskResult, error) {
	return legacy2025.ParseCreateTaskResult(v, "result")
}

func TestTaskViewsRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		view  string
		parse func(wire.Value) error
		cases map[wire.Value]string // path of the error, empty for none
	}{
		{"task", parse(parseTask), map[wire.Value]string{
			`{"taskId":"","status":"working"}`: "", `{"taskId":"t","status":"cancelled","_meta":null}`: "",
			``: "result", `[]`: "result", `{"status":"working"}`: "result.taskId", `{"taskId":7,"status":"working"}`: "result.taskId",
			`{"taskId":"t"}`: "result.status", `{"taskId":"t","status":"Working"}`: "result.status", `{"taskId":"t","status":null}`: "result.status",
			`{"taskId":"t","taskId":"t","status":"working"}`: "result.taskId", `{"taskId":"t","status":"working","_meta":7}`: "result._meta",
			`{"taskId":"t","status":"working","_meta":{"a":1,"a":1}}`: "result._meta.a",
		}},
		{"CreateTaskResult", parse(parseCreate), map[wire.Value]string{
			`{"task":{"taskId":"t","status":"working"}}`: "", `{"task":{"taskId":"t","status":"working"},"_meta":null}`: "",
			`7`: "result", `{}`: "result.task", `{"task":{"status":"working"}}`: "result.task.taskId", `{"task":{"taskId":"t"}}`: "result.task.status",
			`{"task":{"taskId":"t","status":"working"},"_meta":[]}`: "result._meta", `{"task":{"taskId":"t","status":"working"},"task":{}}`: "result.task",
		}},
		{"task id", parse(legacy2025.ParseTaskID), map[wire.Value]string{
			`{"taskId":"t","task":{},"x":1}`: "", ``: "params", `{}`: "params.taskId", `{"taskId":null}`: "params.taskId", `{"taskId":"t","taskId":"t"}`: "params.taskId",
		}},
		{"params.task", parse(legacy2025.ParseTaskMetadata), map[wire.Value]string{
			``: "", `{}`: "", `{"task":{}}`: "", `{"task":{"ttl":0}}`: "", `{"task":{"ttl":-0.0}}`: "", `{"task":{"ttl":1e3,"x":1}}`: "",
			`{"task":null}`: "params.task", `{"task":{"ttl":null}}`: "params.task.ttl", `{"task":{"ttl":-0.5}}`: "params.task.ttl",
			`{"task":{"ttl":1e999}}`: "params.task.ttl", `{"task":{"ttl":1,"ttl":1}}`: "params.task.ttl",
		}},
		{"URL elicitations", parse(legacy2025.ParseURLElicitations), map[wire.Value]string{
			`{"elicitations":[]}`: "", `{"elicitations":[{"mode":"url","elicitationId":"a","url":"b","message":"c"}]}`: "",
			``: "data", `{}`: "data.elicitations", `{"elicitations":[7]}`: "data.elicitations[0]", `{"elicitations":[{}]}`: "data.elicitations[0].mode",
			`{"elicitations":[{"mode":"url","url":"b","message":"c"}]}`:           "data.elicitations[0].elicitationId",
			`{"elicitations":[{"mode":"url","elicitationId":"a","message":"c"}]}`: "data.elicitations[0].url",
			`{"elicitations":[{"mode":"url","elicitationId":"a","url":"b"}]}`:     "data.elicitations[0].message",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.view, func(t *testing.T) {
			t.Parallel()
			for in, path := range tt.cases {
				if !checkPath(t, tt.parse(in), path) {
					t.Logf("of %s", in)
				}
			}
		})
	}
}

func TestTaskView(t *testing.T) {
	t.Parallel()
	const doc wire.Value = `{"taskId":"t\u0031","status":"input_required","statusMessage":"m","createdAt":1,"lastUpdatedAt":"u","ttl":5,"pollInterval":7,"_meta":{"k":1},"x":2}`
	task, err := parseTask(doc)
	if err != nil {
		t.Fatal(err)
	}
	message, ok := task.StatusMessage()
	if task.ID() != "t1" || task.Status() != legacy2025.StatusInputRequired || message != "m" || !ok || task.CreatedAt() != "1" ||
		task.LastUpdatedAt() != `"u"` || task.Meta().Get("k") != "1" || task.Raw() != doc || len(task.Members()) != 9 ||
		!task.Has("x") || task.Has("y") {
		t.Errorf("view of %s", doc)
	}
	if ms, exact := task.TTL(); ms != "5" || !exact {
		t.Errorf("ttl %s, %t", ms, exact)
	}
	if ms, exact := task.PollInterval(); ms != "7" || !exact {
		t.Errorf("pollInterval %s, %t", ms, exact)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[legacy2025.Status][2]bool{ // known, terminal
		"working": {true, false}, "input_required": {true, false}, "completed": {true, true}, "failed": {true, true}, "cancelled": {true, true},
		"": {}, "submitted": {},
	} {
		if got := [2]bool{status.Known(), status.Terminal()}; got != want {
			t.Errorf("%q is known, terminal: %v", status, got)
		}
	}
}

func TestTaskDurations(t *testing.T) {
	t.Parallel()
	type reading struct {
		MS    wire.Value
		Exact bool
	}
	for member, want := range map[string][2]reading{ // ttl, pollInterval
		"5": {{"5", true}, {"5", true}}, "0": {{"0", true}, {"", false}}, "-0": {{"0", true}, {"", false}},
		"1.0": {{"1", true}, {"1", true}}, "1e3": {{"1000", true}, {"1000", true}}, "1.5": {{"1", false}, {"2", false}},
		"-1": {{"null", false}, {"", false}}, "-0.5": {{"null", false}, {"", false}}, "0.5": {{"0", false}, {"1", false}},
		"null": {{"null", true}, {"", true}}, `"5"`: {{"null", false}, {"", false}}, "true": {{"null", false}, {"", false}},
		"1e999": {{"null", false}, {"", false}}, "9007199254740993": {{"9007199254740993", true}, {"9007199254740993", true}},
	} {
		task, err := parseTask(wire.Value(`{"taskId":"t","status":"working","ttl":` + member + `,"pollInterval":` + member + `}`))
		if err != nil {
			t.Fatal(err)
		}
		var got [2]reading
		got[0].MS, got[0].Exact = task.TTL()
		got[1].MS, got[1].Exact = task.PollInterval()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", member, diff)
		}
	}
	task, err := parseTask(`{"taskId":"t","status":"working"}`)
	if err != nil {
		t.Fatal(err)
	}
	if ms, exact := task.TTL(); ms != wire.Null || exact {
		t.Errorf("a missing ttl is %s, %t", ms, exact)
	}
	if ms, exact := task.PollInterval(); ms.Present() || !exact {
		t.Errorf("a missing pollInterval is %s, %t", ms, exact)
	}
}

func TestTaskMetadata(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]legacy2025.TaskMetadata{
		`{}`: {}, `{"task":{}}`: {Asked: true}, `{"task":{"ttl":0}}`: {Asked: true, HasTTL: true},
		`{"task":{"ttl":1500.9}}`: {Asked: true, HasTTL: true, TTLMs: 1500}, `{"task":{"ttl":1e300}}`: {Asked: true, HasTTL: true, TTLMs: 1<<63 - 1},
	} {
		if got, err := legacy2025.ParseTaskMetadata(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
}

func TestCreateTaskResult(t *testing.T) {
	t.Parallel()
	const doc wire.Value = `{"task":{"taskId":"t","status":"working"},"_meta":{"io.modelcontextprotocol/model-immediate-response":"soon"},"x":1}`
	created, err := parseCreate(doc)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := created.ImmediateResponse(); text != "soon" || !ok || created.Task.ID() != "t" || len(created.Members()) != 3 || created.Meta().Len() != 1 {
		t.Errorf("view of %s: %q, %t", doc, text, ok)
	}
	for in, want := range map[wire.Value]bool{
		doc: true, `{"task":{"taskId":"t"},"content":[]}`: true, `{"task":{"taskId":7}}`: false, `{"task":"t"}`: false, `{}`: false, ``: false,
	} {
		if got := legacy2025.IsCreateTaskResult(in); got != want {
			t.Errorf("%s is a CreateTaskResult: %t", in, got)
		}
	}
}

func TestHasContent(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]bool{
		`{"content":[]}`: true, `{"_meta":{},"structuredContent":{}}`: true, `{"_meta":{}}`: false, `{}`: false, `[]`: false, ``: false,
	} {
		if got := legacy2025.HasContent(in); got != want {
			t.Errorf("%s has content: %t", in, got)
		}
	}
}

func TestTasksCursor(t *testing.T) {
	t.Parallel()
	type reading struct {
		Cursor string
		Has    bool
	}
	for in, want := range map[wire.Value]reading{``: {}, `{}`: {}, `{"cursor":"c"}`: {"c", true}} {
		if cursor, has, err := legacy2025.ParseTasksCursor(in); err != nil || (reading{cursor, has}) != want {
			t.Errorf("%s: %q, %t, %v", in, cursor, has, err)
		}
	}
	for in, path := range map[wire.Value]string{
		`{"cursor":""}`: "params.cursor", `{"cursor":7}`: "params.cursor", `{"cursor":null}`: "params.cursor", `[]`: "params", `{"a":1,"a":1}`: "params.a",
	} {
		_, _, err := legacy2025.ParseTasksCursor(in)
		checkPath(t, err, path)
	}
}
