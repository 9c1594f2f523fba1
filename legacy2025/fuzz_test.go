package legacy2025_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// views are all readers of what legacy clients and servers send.
var views = map[string]func(wire.Value) error{
	"ParseCallToolParams":     parse(legacy2025.ParseCallToolParams),
	"ParseCallToolResult":     parse(legacy2025.ParseCallToolResult),
	"ParseCancelledParams":    parse(legacy2025.ParseCancelledParams),
	"ParseClientCapabilities": at(legacy2025.ParseClientCapabilities),
	"ParseCompleteParams":     parse(legacy2025.ParseCompleteParams),
	"ParseCompleteResult":     parse(legacy2025.ParseCompleteResult),
	"ParseCreateTaskResult":   at(legacy2025.ParseCreateTaskResult),
	"ParseGetPromptParams":    parse(legacy2025.ParseGetPromptParams),
	"ParseGetPromptResult":    parse(legacy2025.ParseGetPromptResult),
	"ParseImplementation":     at(legacy2025.ParseImplementation),
	"ParseInitializeParams":   parse(legacy2025.ParseInitializeParams),
	"ParseInitializeResult":   parse(legacy2025.ParseInitializeResult),
	"ParseListParams":         parse(legacy2025.ParseListParams),
	"ParseListResult":         of(legacy2025.ParseListResult),
	"ParseLogParams":          parse(legacy2025.ParseLogParams),
	"ParseProgressParams":     parse(legacy2025.ParseProgressParams),
	"ParseReadResourceResult": parse(legacy2025.ParseReadResourceResult),
	"ParseResourceParams":     parse(legacy2025.ParseResourceParams),
	"ParseServerCapabilities": at(legacy2025.ParseServerCapabilities),
	"ParseSetLevelParams":     parse(legacy2025.ParseSetLevelParams),
	"ParseTask":               at(legacy2025.ParseTask),
	"ParseTaskID":             parse(legacy2025.ParseTaskID),
	"ParseTaskMetadata":       parse(legacy2025.ParseTaskMetadata),
	"ParseTasksCursor":        func(v wire.Value) error { _, _, err := legacy2025.ParseTasksCursor(v); return err },
	"ParseTool":               at(legacy2025.ParseTool),
	"ParseURLElicitations":    parse(legacy2025.ParseURLElicitations),
}

// at is parse for a reader that is told where its value stands.
func at[T any](f func(wire.Value, string) (T, error)) func(wire.Value) error {
	return parse(func(v wire.Value) (T, error) { return f(v, "here") })
}

// of is parse for a reader that is told the method.
func of[T any](f func(string, wire.Value) (T, error)) func(wire.Value) error {
	return func(v wire.Value) error {
		var errs []error
		for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "vendor/own"} {
			_, err := f(method, v)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// FuzzViews: peers choose the bytes. Whatever they are, a reader reads them or says
// where they are wrong, and does not panic.
func FuzzViews(f *testing.F) {
	for _, seed := range []string{
		"{}", "[]", "null", `""`, `{"task":{"taskId":"t","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":null}}`,
		`{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}},"clientInfo":{"name":"n","version":"1"}}`,
		`{"name":"t","arguments":{},"task":{"ttl":1e400}}`, `{"taskId":"t","cursor":""}`, `{"level":"info"}`, `{"uri":"a:b"}`, `{"requestId":9007199254740993}`,
		`{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x.example","message":"m"}]}`,
		`{"content":[{"type":"text","text":"x"}],"isError":true,"structuredContent":{}}`, `{"progressToken":"p","progress":-0}`,
		`{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := wire.Check(text)
		if err != nil {
			return
		}
		for name, read := range views {
			var decode *wire.DecodeError
			if err := read(v); err != nil && (!errors.As(err, &decode) || decode.Path == "") {
				t.Errorf("%s: %v names no place", name, err)
			}
		}
	})
}
