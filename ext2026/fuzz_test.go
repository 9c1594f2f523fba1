package ext2026_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// views are all readers of what modern servers and clients send.
var views = map[string]func(wire.Value) error{
	"MissingCapabilities":        func(v wire.Value) error { ext2026.MissingCapabilities(v); return nil },
	"SupportedVersions":          func(v wire.Value) error { ext2026.SupportedVersions(v); return nil },
	"ParseAcknowledged":          parse(ext2026.ParseAcknowledged),
	"ParseCallToolParams":        parse(ext2026.ParseCallToolParams),
	"ParseCallToolResult":        parse(ext2026.ParseCallToolResult),
	"ParseCancelledParams":       parse(ext2026.ParseCancelledParams),
	"ParseClientCapabilities":    at(ext2026.ParseClientCapabilities),
	"ParseCompleteParams":        parse(ext2026.ParseCompleteParams),
	"ParseCompleteResult":        parse(ext2026.ParseCompleteResult),
	"ParseDiscoverResult":        parse(ext2026.ParseDiscoverResult),
	"ParseGetPromptParams":       parse(ext2026.ParseGetPromptParams),
	"ParseGetPromptResult":       parse(ext2026.ParseGetPromptResult),
	"ParseImplementation":        at(ext2026.ParseImplementation),
	"ParseInputRequest":          at(ext2026.ParseInputRequest),
	"ParseListParams":            parse(ext2026.ParseListParams),
	"ParseListResult":            of(ext2026.ParseListResult),
	"ParseListenParams":          parse(ext2026.ParseListenParams),
	"ParseLogParams":             parse(ext2026.ParseLogParams),
	"ParseProgressParams":        parse(ext2026.ParseProgressParams),
	"ParseReadResourceParams":    parse(ext2026.ParseReadResourceParams),
	"ParseReadResourceResult":    parse(ext2026.ParseReadResourceResult),
	"ParseRequestMeta":           parse(ext2026.ParseRequestMeta),
	"ParseResourceUpdatedParams": parse(ext2026.ParseResourceUpdatedParams),
	"ParseResult":                of(ext2026.ParseResult),
	"ParseServerCapabilities":    at(ext2026.ParseServerCapabilities),
	"ParseSubscriptionFilter":    at(ext2026.ParseSubscriptionFilter),
	"ParseTask":                  at(ext2026.ParseTask),
	"ParseTaskID":                parse(ext2026.ParseTaskID),
	"ParseTool":                  at(ext2026.ParseTool),
	"ParseUpdateParams":          parse(ext2026.ParseUpdateParams),
}

// at is parse for a reader that is told where its value stands.
func at[T any](f func(wire.Value, string) (T, error)) func(wire.Value) error {
	return parse(func(v wire.Value) (T, error) { return f(v, "here") })
}

// of is parse for a reader that is told the method.
func of[T any](f func(string, wire.Value) (T, error)) func(wire.Value) error {
	return func(v wire.Value) error {
		var errs []error
		for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tools/call", "tasks/get", "server/discover", "vendor/own"} {
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
		"{}", "[]", "null", `""`, `{"taskId":"t","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":null}`,
		`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`,
		`{"notifications":{"toolsListChanged":true,"taskIds":["t"],"resourceSubscriptions":["a:b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`,
		`{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}}`,
		`{"taskId":"t","inputResponses":{"k":{"action":"accept"}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`,
		`{"name":"t","arguments":{},"inputSchema":{"type":"object"}}`, `{"content":[{"type":"text","text":"x"}],"isError":true,"structuredContent":7}`,
		`{"progressToken":1,"progress":1e400,"total":0}`, `{"level":"info","data":null}`, `{"requestId":"x"}`,
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
