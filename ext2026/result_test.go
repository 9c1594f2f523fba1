package ext2026_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// G-15: which type a result may have, by method.
func TestParseResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method string
		in           wire.Value
		want         ext2026.ResultType
		path         string
	}{
		{"A31 absent means complete", "completion/complete", `{}`, ext2026.ResultComplete, ""},
		{"complete", "acme/dig", `{"resultType":"complete"}`, ext2026.ResultComplete, ""},
		{"a question to tools/call", "tools/call", `{"resultType":"input_required","inputRequests":{}}`, ext2026.ResultInputRequired, ""},
		{"a question to prompts/get", "prompts/get", `{"resultType":"input_required","requestState":""}`, ext2026.ResultInputRequired, ""},
		{"a question to resources/read", "resources/read", `{"resultType":"input_required","requestState":"s","inputRequests":{"k":1}}`, ext2026.ResultInputRequired, ""},
		{"a question to a list", "tools/list", `{"resultType":"input_required","requestState":"s"}`, "", "result.resultType"},
		{"a question to a vendor method", "acme/dig", `{"resultType":"input_required","requestState":"s"}`, "", "result.resultType"},
		{"a question that asks nothing", "tools/call", `{"resultType":"input_required"}`, "", "result"},
		{"questions are no object", "tools/call", `{"resultType":"input_required","inputRequests":[]}`, "", "result.inputRequests"},
		{"state is no string", "tools/call", `{"resultType":"input_required","requestState":1}`, "", "result.requestState"},
		{"a task of tools/call", "tools/call", `{"resultType":"task"}`, ext2026.ResultTask, ""},
		{"a task of prompts/get", "prompts/get", `{"resultType":"task","taskId":"t","status":"working"}`, "", "result.resultType"},
		{"Q14 tasks/get that says task", "tasks/get", `{"resultType":"task","taskId":"t","status":"working"}`, ext2026.ResultComplete, ""},
		{"Q14 but is none", "tasks/get", `{"resultType":"task","taskId":"t"}`, "", "result.resultType"},
		{"Q14 other methods of tasks", "tasks/cancel", `{"resultType":"task","taskId":"t","status":"working"}`, "", "result.resultType"},
		{"unknown type", "tools/call", `{"resultType":"partial"}`, "", "result.resultType"},
		{"empty type", "tools/call", `{"resultType":""}`, "", "result.resultType"},
		{"type is null", "tools/call", `{"resultType":null}`, "", "result.resultType"},
		{"type is a number", "tools/call", `{"resultType":1}`, "", "result.resultType"},
		{"case matters", "tools/call", `{"resultType":"Complete"}`, "", "result.resultType"},
		{"no object", "tools/call", `[]`, "", "result"},
		{"duplicate", "tools/call", `{"resultType":"complete","resultType":"task"}`, "", "result.resultType"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ext2026.ParseResult(tt.method, tt.in)
			checkPath(t, err, tt.path)
			if got.Type != tt.want {
				t.Errorf("type %q, want %q", got.Type, tt.want)
			}
			if err == nil && got.Raw() != tt.in {
				t.Errorf("Raw() = %s", got.Raw())
			}
		})
	}
}

func TestParseResultQuestions(t *testing.T) {
	t.Parallel()
	got, err := ext2026.ParseResult("tools/call", `{"resultType":"input_required","inputRequests":{"k":{}},"requestState":"s~\u0031"}`)
	if err != nil || got.InputRequests != `{"k":{}}` || got.RequestState != `"s~\u0031"` {
		t.Errorf("questions %s, state %s, error %v", got.InputRequests, got.RequestState, err)
	}
	got, err = ext2026.ParseResult("tools/call", `{"inputRequests":{"k":{}},"requestState":"s"}`)
	if err != nil || got.InputRequests.Present() || got.RequestState.Present() {
		t.Errorf("a complete result has questions %s, state %s, error %v", got.InputRequests, got.RequestState, err)
	}
}

func TestCacheableAndAsks(t *testing.T) {
	t.Parallel()
	cacheable := map[string]bool{
		"server/discover": true, "tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true, "resources/read": true,
	}
	asks := map[string]bool{"tools/call": true, "prompts/get": true, "resources/read": true}
	for _, method := range []string{
		"server/discover", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
		"resources/read", "completion/complete", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel", "acme/dig", "",
	} {
		if got := ext2026.Cacheable(method); got != cacheable[method] {
			t.Errorf("Cacheable(%s) = %v", method, got)
		}
		if got := ext2026.Asks(method); got != asks[method] {
			t.Errorf("Asks(%s) = %v", method, got)
		}
	}
}
