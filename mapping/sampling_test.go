package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// TestToolResultWithoutList: the content of a tool result in a sampling request is the
// server's to get right. What is no list stays as it came, and gets no text (§3.7).
func TestToolResultWithoutList(t *testing.T) {
	t.Parallel()
	for _, content := range []wire.Value{`""`, `"abc"`, `7`, `null`, `{}`, `{"a":[]}`} {
		got, _, err := mapping.AppendDownInputRequest(nil, ext2026.InputRequest{
			Method: ext2026.MethodSamplingCreateMessage,
			Params: `{"messages":[{"content":[{"type":"tool_result","content":` + content + `,"structuredContent":5}]}]}`,
		}, mapping.QuestionOptions{})
		want := `{"messages":[{"content":[{"type":"tool_result","content":` + content + `,"structuredContent":{"result":5}}]}]}`
		if err != nil || wire.Value(got) != want {
			t.Errorf("%s: %s, error %v\nwant %s", content, got, err, want)
		}
	}
}
