package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// questionMessages are questions to the client and the answers, both ways.
var questionMessages = []message{
	{name: "a form", era: "ext2026", typ: "ElicitRequestFormParams", variants: 4, cross: crossDownQuestion(ext2026.MethodElicitationCreate)},
	{name: "a URL", era: "ext2026", typ: "ElicitRequestURLParams", cross: crossDownQuestion(ext2026.MethodElicitationCreate)},
	{name: "a sampling", era: "ext2026", typ: "CreateMessageRequestParams", variants: 6, cross: crossDownQuestion(ext2026.MethodSamplingCreateMessage)},
	{
		name: "a request for roots", era: "ext2026", typ: "ListRootsRequest.params", cross: crossDownQuestion(ext2026.MethodRootsList),
		lost: map[string]mapping.Note{"_meta": mapping.NoteQuestionMeta},
	},
	{
		name: "answers", era: "ext2026", typ: "UpdateTaskRequest.params", variants: 6, cross: crossDownUpdate,
		lost:     map[string]mapping.Note{"inputResponses.k3.content": mapping.NoteAnswerContent},
		consumed: map[string]string{"taskId": "§4.23"},
	},
	{
		name: "a form", era: "legacy2025", typ: "ElicitRequestFormParams", variants: 4, cross: crossUpQuestion(legacy2025.MethodElicitationCreate),
		lost: map[string]mapping.Note{"_meta": mapping.NoteQuestionMeta, "task": mapping.NoteTaskMember},
	},
	{
		name: "a URL", era: "legacy2025", typ: "ElicitRequestURLParams", variants: 2, cross: crossUpQuestion(legacy2025.MethodElicitationCreate),
		lost: map[string]mapping.Note{
			"_meta": mapping.NoteQuestionMeta, "task": mapping.NoteTaskMember, "elicitationId": mapping.NoteElicitationID,
		},
	},
	{
		name: "a sampling", era: "legacy2025", typ: "CreateMessageRequestParams", variants: 6, cross: crossUpQuestion(legacy2025.MethodSamplingCreateMessage),
		lost: map[string]mapping.Note{"_meta": mapping.NoteQuestionMeta, "task": mapping.NoteTaskMember},
	},
	{
		name: "a request for roots", era: "legacy2025", typ: "RequestParams", variants: 2, cross: crossUpQuestion(legacy2025.MethodRootsList),
		lost: map[string]mapping.Note{"_meta": mapping.NoteQuestionMeta},
	},
	{
		name: "an answer to an elicitation", era: "legacy2025", typ: "ElicitResult", variants: 12, cross: crossUpAnswer(ext2026.MethodElicitationCreate),
		lost: map[string]mapping.Note{"_meta": mapping.NoteQuestionMeta, "content": mapping.NoteAnswerContent},
	},
	{name: "a sampled message", era: "legacy2025", typ: "CreateMessageResult", variants: 6, cross: crossUpAnswer(ext2026.MethodSamplingCreateMessage)},
	{
		name: "roots", era: "legacy2025", typ: "ListRootsResult", cross: crossUpAnswer(ext2026.MethodRootsList),
		lost: map[string]mapping.Note{"_meta": mapping.NoteQuestionMeta},
	},
	{
		name: "URLs to visit first", era: "legacy2025", typ: "URLElicitationRequiredError.error", variants: 2,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			list, err := legacy2025.ParseURLElicitations(in.Get("data"))
			if err != nil {
				t.Fatal(err)
			}
			return must(t, mapping.AppendUpURLElicitations(nil, list), 0, nil)
		},
		consumed: map[string]string{
			"message":                            "B-U10: an input_required result has none",
			"data.elicitations[0]._meta":         "B-U10",
			"data.elicitations[0].task":          "B-U10",
			"data.elicitations[0].elicitationId": "B-U10: kept in the request state",
		},
	},
}

func crossDownQuestion(method string) func(testing.TB, wire.Value) ([]byte, mapping.Notes) {
	return func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
		t.Helper()
		question := ext2026.InputRequest{Method: method, Params: in}
		out, notes, err := mapping.AppendDownInputRequest(nil, question, mapping.QuestionOptions{TaskID: "h", ElicitationID: "e"})
		return must(t, out, notes, err)
	}
}

func crossUpQuestion(method string) func(testing.TB, wire.Value) ([]byte, mapping.Notes) {
	return func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
		t.Helper()
		out, notes, err := mapping.AppendUpInputRequest(nil, method, in)
		return must(t, out, notes, err)
	}
}

func crossUpAnswer(method string) func(testing.TB, wire.Value) ([]byte, mapping.Notes) {
	return func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
		t.Helper()
		out, notes, err := mapping.AppendUpInputResponse(nil, ext2026.InputRequest{Method: method}, in)
		return must(t, out, notes, err)
	}
}

// crossDownUpdate turns an update into the responses that a legacy server gets.
func crossDownUpdate(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
	t.Helper()
	update, err := ext2026.ParseUpdateParams(in)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	var notes mapping.Notes
	for _, m := range update.Responses.Members() {
		method := ext2026.MethodSamplingCreateMessage
		switch {
		case m.Value.Get("roots").Present():
			method = ext2026.MethodRootsList
		case m.Value.Get("action").Present():
			method = ext2026.MethodElicitationCreate
		}
		answer, more, err := mapping.AppendDownInputResponse(nil, method, "", m.Value, "LT", "params.inputResponses."+m.Name)
		must(t, answer, more, err)
		out, notes = append(out, answer...), notes|more
	}
	return out, notes
}
