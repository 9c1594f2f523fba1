package ext2026_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func parseTask(v wire.Value) (ext2026.Task, error) { return ext2026.ParseTask(v, "result") }

func parseQuestion(v wire.Value) (ext2026.InputRequest, error) {
	return ext2026.ParseInputRequest(v, "k")
}

func TestTaskViewsRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		view  string
		parse func(wire.Value) error
		cases map[wire.Value]string // path of the error, empty for none
	}{
		{"task", parse(parseTask), map[wire.Value]string{
			`{"taskId":"","status":"working"}`: "", `{"taskId":"t","status":"cancelled","_meta":null,"result":7}`: "",
			`{"taskId":"t","status":"input_required"}`: "", `{"taskId":"t","status":"working","inputRequests":7}`: "",
			``: "result", `[]`: "result", `{"status":"working"}`: "result.taskId", `{"taskId":7,"status":"working"}`: "result.taskId",
			`{"taskId":"t"}`: "result.status", `{"taskId":"t","status":"Working"}`: "result.status", `{"taskId":"t","status":null}`: "result.status",
			`{"taskId":"t","taskId":"t","status":"working"}`: "result.taskId", `{"taskId":"t","status":"working","_meta":7}`: "result._meta",
			`{"taskId":"t","status":"working","_meta":{"a":1,"a":1}}`:                "result._meta.a",
			`{"taskId":"t","status":"input_required","inputRequests":[]}`:            "result.inputRequests",
			`{"taskId":"t","status":"input_required","inputRequests":{"k":1,"k":1}}`: "result.inputRequests.k",
		}},
		{"task id", parse(ext2026.ParseTaskID), map[wire.Value]string{
			`{"taskId":"t","x":1}`: "", ``: "params", `{}`: "params.taskId", `{"taskId":null}`: "params.taskId", `{"taskId":"t","taskId":"t"}`: "params.taskId",
		}},
		{"tasks/update params", parse(ext2026.ParseUpdateParams), map[wire.Value]string{
			`{"taskId":"t","inputResponses":{}}`: "", `{"inputResponses":{}}`: "params.taskId", `{"taskId":"t"}`: "params.inputResponses",
			`{"taskId":"t","inputResponses":null}`: "params.inputResponses", `{"taskId":"t","inputResponses":{"k":1,"k":1}}`: "params.inputResponses.k", `7`: "params",
		}},
		{"question", parse(parseQuestion), map[wire.Value]string{
			`{"method":"roots/list"}`: "", `{"method":"roots/list","params":{}}`: "", `{"method":"x/y","params":{}}`: "",
			``: "k", `{}`: "k.method", `{"method":""}`: "k.method", `{"method":7}`: "k.method", `{"method":"elicitation/create"}`: "k.params",
			`{"method":"roots/list","params":null}`: "k.params", `{"method":"roots/list","params":{"a":1,"a":1}}`: "k.params.a", `{"method":"a","method":"a"}`: "k.method",
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
	const doc wire.Value = `{"taskId":"t\u0031","status":"input_required","statusMessage":"m","createdAt":1,"lastUpdatedAt":"u","ttlMs":5,"pollIntervalMs":7,` +
		`"_meta":{"k":1},"x":2,"inputRequests":{"q":3},"result":{"isError":true},"error":{"message":"e"}}`
	task, err := parseTask(doc)
	if err != nil {
		t.Fatal(err)
	}
	message, ok := task.StatusMessage()
	if task.ID() != "t1" || task.Status() != ext2026.StatusInputRequired || message != "m" || !ok || task.CreatedAt() != "1" ||
		task.LastUpdatedAt() != `"u"` || task.Meta().Get("k") != "1" || task.Raw() != doc || len(task.Members()) != 12 ||
		!task.Has("x") || task.Has("y") || task.InputRequests().Get("q") != "3" || task.Result() != `{"isError":true}` ||
		!task.ResultIsError() || task.Error() != `{"message":"e"}` || task.ErrorMessage() != "e" {
		t.Errorf("view of %s", doc)
	}
	if ms, exact := task.TTLMs(); ms != "5" || !exact {
		t.Errorf("ttlMs %s, %t", ms, exact)
	}
	if ms, exact := task.PollIntervalMs(); ms != "7" || !exact {
		t.Errorf("pollIntervalMs %s, %t", ms, exact)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[ext2026.Status][2]bool{ // known, terminal
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
	for member, want := range map[string][2]reading{ // ttlMs, pollIntervalMs
		"5": {{"5", true}, {"5", true}}, "0": {{"0", true}, {"", false}}, "-0": {{"0", true}, {"", false}},
		"900000.0": {{"900000", true}, {"900000", true}}, "1e3": {{"1000", true}, {"1000", true}}, "1.5": {{"1", false}, {"2", false}},
		"-1": {{"null", false}, {"", false}}, "-0.5": {{"null", false}, {"", false}}, "0.5": {{"0", false}, {"1", false}},
		"null": {{"null", true}, {"", true}}, `"5"`: {{"null", false}, {"", false}}, "true": {{"null", false}, {"", false}},
		"1e999": {{"null", false}, {"", false}}, "9007199254740993": {{"9007199254740993", true}, {"9007199254740993", true}},
	} {
		task, err := parseTask(wire.Value(`{"taskId":"t","status":"working","ttlMs":` + member + `,"pollIntervalMs":` + member + `}`))
		if err != nil {
			t.Fatal(err)
		}
		var got [2]reading
		got[0].MS, got[0].Exact = task.TTLMs()
		got[1].MS, got[1].Exact = task.PollIntervalMs()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", member, diff)
		}
	}
	task, err := parseTask(`{"taskId":"t","status":"working"}`)
	if err != nil {
		t.Fatal(err)
	}
	if ms, exact := task.TTLMs(); ms != wire.Null || exact {
		t.Errorf("a missing ttlMs is %s, %t", ms, exact)
	}
	if ms, exact := task.PollIntervalMs(); ms.Present() || !exact {
		t.Errorf("a missing pollIntervalMs is %s, %t", ms, exact)
	}
	if task.InputRequests().Len() != 0 || task.Meta().Len() != 0 || task.ResultIsError() || task.FirstErrorText() != "" || task.ErrorMessage() != "" {
		t.Error("a bare task says something")
	}
}

func TestTextOfAFailure(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<10)
	for result, want := range map[string]string{
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`:  "a",
		`{"content":[{"type":"image","text":"a"},{"type":"text","text":"b"}]}`: "b",
		`{"content":[{"type":"text"},{"type":"text","text":"b"}]}`:             "",
		`{"content":[7]}`: "", `{"content":"x"}`: "", `{}`: "",
		`{"content":[{"type":"text","text":"` + long + `"}]}`:                       long,
		`{"content":[{"type":"text","text":"` + long + `y"}]}`:                      long,
		`{"content":[{"type":"text","text":"` + long[1:] + `é"}]}`:                  long[1:],
		`{"content":[{"type":"text","text":"` + long[2:] + `é"}]}`:                  long[2:] + "é",
		`{"content":[{"type":"text","text":"` + long[3:] + `x` + `\ud83d\ude00"}]}`: long[3:] + "x",
	} {
		task, err := parseTask(wire.Value(`{"taskId":"t","status":"completed","result":` + result + `,"error":{"message":"` + long + `é"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := task.FirstErrorText(); got != want {
			t.Errorf("%.60s…: %d bytes, want %d", result, len(got), len(want))
		}
		if got := task.ErrorMessage(); got != long {
			t.Errorf("error message of %d bytes", len(got))
		}
	}
}

func TestIsTask(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]bool{
		`{"taskId":"t","status":"x"}`: true, `{"taskId":"t"}`: false, `{"status":"x"}`: false, `{"taskId":1,"status":"x"}`: false,
		`{"taskId":"t","status":1}`: false, ``: false, `[]`: false,
	} {
		if got := ext2026.IsTask(in); got != want {
			t.Errorf("%s is a task: %t", in, got)
		}
	}
	for name, want := range map[string]bool{
		"result": true, "error": true, "inputRequests": true, "requestState": true, "ttlMs": false, "inputResponses": false, "": false,
	} {
		if got := ext2026.IsPayloadMember(name); got != want {
			t.Errorf("%s is payload: %t", name, got)
		}
	}
}

func TestUpdateAndQuestionViews(t *testing.T) {
	t.Parallel()
	update, err := ext2026.ParseUpdateParams(`{"taskId":"t","inputResponses":{"b":1,"a":2}}`)
	if err != nil || update.TaskID != "t" || update.Responses.Len() != 2 || update.Responses.Members()[0].Name != "b" {
		t.Errorf("%+v, %v", update, err)
	}
	question, err := parseQuestion(`{"method":"roots/list","params":{"a":1}}`)
	if err != nil || question.Method != "roots/list" || question.Params != `{"a":1}` {
		t.Errorf("%+v, %v", question, err)
	}
}
