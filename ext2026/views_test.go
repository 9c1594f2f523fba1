package ext2026_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func listOf(method string) func(wire.Value) (ext2026.ListResult, error) {
	return func(v wire.Value) (ext2026.ListResult, error) { return ext2026.ParseListResult(method, v) }
}

func parseTool(v wire.Value) (ext2026.Tool, error) { return ext2026.ParseTool(v, "tool") }

// refusals are messages, by view, and where the view finds fault.
var refusals = []struct {
	view  string
	parse func(wire.Value) error
	cases map[wire.Value]string // path of the error, empty for none
}{
	{"tools/call params", parse(ext2026.ParseCallToolParams), map[wire.Value]string{
		`{"name":""}`: "", `{"name":"a","arguments":{}}`: "", ``: "params", `{"name":"a","name":"b"}`: "params.name",
		`{}`: "params.name", `{"name":null}`: "params.name", `{"name":"a","arguments":null}`: "params.arguments",
		`{"name":"a","inputResponses":1}`: "params.inputResponses", `{"name":"a","requestState":{}}`: "params.requestState",
		`{"name":"a","inputResponses":{},"requestState":""}`: "",
	}},
	{"tools/call result", parse(ext2026.ParseCallToolResult), map[wire.Value]string{
		`{}`: "", `{"content":[],"structuredContent":null,"isError":true}`: "", `{"content":"x"}`: "result.content", `{"isError":1}`: "result.isError", `[]`: "result",
	}},
	{"prompts/get params", parse(ext2026.ParseGetPromptParams), map[wire.Value]string{
		`{"name":"a"}`: "", `{"name":1}`: "params.name", `{"name":"a","arguments":[]}`: "params.arguments", `[]`: "params", `{"name":"a","requestState":1}`: "params.requestState",
	}},
	{"prompts/get result", parse(ext2026.ParseGetPromptResult), map[wire.Value]string{
		`{"messages":[]}`: "", `{}`: "result.messages", `1`: "result",
	}},
	{"resources/read params", parse(ext2026.ParseReadResourceParams), map[wire.Value]string{
		`{"uri":"a:b"}`: "", `{}`: "params.uri", `[]`: "params", `{"uri":"a:b","inputResponses":[]}`: "params.inputResponses",
	}},
	{"resources/read result", parse(ext2026.ParseReadResourceResult), map[wire.Value]string{
		`{"contents":[]}`: "", `{"contents":{}}`: "result.contents", ``: "result",
	}},
	{"resources/updated params", parse(ext2026.ParseResourceUpdatedParams), map[wire.Value]string{
		`{"uri":"a:b"}`: "", `{"uri":7}`: "params.uri", ``: "params",
	}},
	{"completion params", parse(ext2026.ParseCompleteParams), map[wire.Value]string{
		`{"ref":{},"argument":{"name":"a","value":""}}`: "", `{"ref":{},"argument":{"name":"a","value":""},"context":{}}`: "", ``: "params",
		`{"ref":1,"argument":{"name":"a","value":""}}`: "params.ref", `{"ref":{},"argument":[]}`: "params.argument", `{"ref":{},"argument":{"value":""}}`: "params.argument.name",
		`{"ref":{},"argument":{"name":"a","value":null}}`: "params.argument.value", `{"ref":{},"argument":{"name":"a","value":""},"context":null}`: "params.context",
	}},
	{"completion result", parse(ext2026.ParseCompleteResult), map[wire.Value]string{
		`{"completion":{"values":[]}}`: "", `{}`: "result.completion", `{"completion":{"values":{}}}`: "result.completion.values", ``: "result",
	}},
	{"list params", parse(ext2026.ParseListParams), map[wire.Value]string{``: "", `{}`: "", `{"cursor":""}`: "", `{"cursor":null}`: "params.cursor", `1`: "params"}},
	{"tools/list result", parse(listOf("tools/list")), map[wire.Value]string{
		`{"tools":[]}`: "", `{"tools":[],"nextCursor":null}`: "", `{"tools":[],"nextCursor":7}`: "result.nextCursor", `{"prompts":[]}`: "result.tools", `[]`: "result",
	}},
	{"prompts/list result", parse(listOf("prompts/list")), map[wire.Value]string{`{"prompts":[]}`: "", `{}`: "result.prompts"}},
	{"resources/list result", parse(listOf("resources/list")), map[wire.Value]string{`{"resources":[]}`: "", `{}`: "result.resources"}},
	{"templates result", parse(listOf("resources/templates/list")), map[wire.Value]string{`{"resourceTemplates":[]}`: "", `{}`: "result.resourceTemplates"}},
	{"tool", parse(parseTool), map[wire.Value]string{
		`{"name":"a","inputSchema":{}}`: "", `{"name":"a","inputSchema":{},"outputSchema":false}`: "", `{"name":"a","inputSchema":{},"outputSchema":{}}`: "",
		`[]`: "tool", `{"inputSchema":{}}`: "tool.name", `{"name":"a"}`: "tool.inputSchema", `{"name":"a","inputSchema":{},"outputSchema":null}`: "tool.outputSchema",
	}},
	{"log params", parse(ext2026.ParseLogParams), map[wire.Value]string{
		`{"level":"debug","data":null}`: "", `{"level":"Debug","data":1}`: "params.level", `{"data":1}`: "params.level", `{"level":"alert"}`: "params.data", ``: "params",
	}},
	{"progress params", parse(ext2026.ParseProgressParams), map[wire.Value]string{
		`{"progressToken":"","progress":0}`: "", `{"progressToken":1.5,"progress":0}`: "", `{"progressToken":null,"progress":0}`: "params.progressToken",
		`{"progressToken":1,"progress":"0"}`: "params.progress", ``: "params",
	}},
	{"cancelled params", parse(ext2026.ParseCancelledParams), map[wire.Value]string{
		`{"requestId":0}`: "", `{"requestId":""}`: "", `{}`: "params.requestId", `{"requestId":1.0}`: "params.requestId", ``: "params",
	}},
	{"listen params", parse(ext2026.ParseListenParams), map[wire.Value]string{
		`{"notifications":{}}`: "", `{"notifications":{"x":1}}`: "", `{}`: "params.notifications", ``: "params",
		`{"notifications":{"toolsListChanged":1}}`: "params.notifications.toolsListChanged", `{"notifications":{"promptsListChanged":null}}`: "params.notifications.promptsListChanged",
		`{"notifications":{"resourcesListChanged":"true"}}`: "params.notifications.resourcesListChanged", `{"notifications":{"taskIds":"x"}}`: "params.notifications.taskIds",
		`{"notifications":{"resourceSubscriptions":["a",1]}}`: "params.notifications.resourceSubscriptions[1]",
		`{"notifications":{"taskIds":[],"taskIds":[]}}`:       "params.notifications.taskIds",
	}},
	{"acknowledged params", parse(ext2026.ParseAcknowledged), map[wire.Value]string{`{"notifications":{}}`: "", `{}`: "params.notifications"}},
	{"discover result", parse(ext2026.ParseDiscoverResult), map[wire.Value]string{
		`{"supportedVersions":[],"capabilities":{}}`: "", `{"capabilities":{}}`: "result.supportedVersions", `{"supportedVersions":[1],"capabilities":{}}`: "result.supportedVersions[0]",
		`{"supportedVersions":[]}`: "result.capabilities", `{"supportedVersions":[],"capabilities":{"tools":[]}}`: "result.capabilities.tools",
		`{"supportedVersions":[],"capabilities":{},"instructions":1}`: "result.instructions", `{"resultType":"task"}`: "result.resultType", ``: "result",
	}},
}

// What each view requires, and where it says that it is missing.
func TestViewsRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range refusals {
		t.Run(tt.view, func(t *testing.T) {
			t.Parallel()
			for in, path := range tt.cases {
				if err := tt.parse(in); !checkPath(t, err, path) {
					t.Errorf("for %s", in)
				}
			}
		})
	}
}

func TestDiscoverResult(t *testing.T) {
	t.Parallel()
	got, err := ext2026.ParseDiscoverResult(`{"supportedVersions":["2026-07-28","x"],"capabilities":{"tools":{}},"instructions":"dig","ttlMs":6e4,"cacheScope":"public",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"quarry","version":"9"}},"x":1}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2026-07-28", "x"}, got.SupportedVersions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if !got.Supports("x") || got.Supports("2025-11-25") {
		t.Error("Supports is wrong")
	}
	if got.TTLMs != 60000 || !got.Public || got.Instructions != `"dig"` || got.ServerInfo != `{"name":"quarry","version":"9"}` || !got.Has("x") {
		t.Errorf("got %+v", got)
	}
	for in, want := range map[wire.Value]int64{`{"ttlMs":5}`: 5, `{"ttlMs":-1}`: 0, `{"ttlMs":"5"}`: 0, `{}`: 0, `{"ttlMs":1.5}`: 0} {
		if ttl, public := ext2026.CacheHints(in); ttl != want || public {
			t.Errorf("CacheHints(%s) = %d, %v", in, ttl, public)
		}
	}
	for _, in := range []wire.Value{`{}`, `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}`, `{"_meta":{"io.modelcontextprotocol/serverInfo":{"version":"1"}}}`, `{"_meta":1}`} {
		if info := ext2026.ServerInfo(in); info.Present() {
			t.Errorf("ServerInfo(%s) = %s", in, info)
		}
	}
}

func TestRequestMeta(t *testing.T) {
	t.Parallel()
	const v, c = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	got, err := ext2026.ParseRequestMeta(`{"_meta":{` + v + `,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/logLevel":"alert","progressToken":0,"x":1}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.ProtocolVersion != "2026-07-28" || !got.Capabilities.Tasks() || !got.Capabilities.Declares("roots") || got.Capabilities.Declares("sampling") ||
		got.LogLevel != ext2026.LogAlert || got.ProgressToken != "0" || !got.Has("x") || !got.ClientInfo.IsObject() {
		t.Errorf("got %+v", got)
	}
	for in, path := range map[wire.Value]string{
		`{"_meta":{` + v + `,` + c + `}}`: "",
		``:                                "params._meta",
		`{}`:                              "params._meta",
		`{"_meta":{` + c + `}}`:           "params._meta.io.modelcontextprotocol/protocolVersion",
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":1,` + c + `}}`: "params._meta.io.modelcontextprotocol/protocolVersion",
		`{"_meta":{` + v + `}}`: "params._meta.io.modelcontextprotocol/clientCapabilities",
		`{"_meta":{` + v + `,"io.modelcontextprotocol/clientCapabilities":[]}}`:                "params._meta.io.modelcontextprotocol/clientCapabilities",
		`{"_meta":{` + v + `,` + c + `,"io.modelcontextprotocol/clientInfo":{"name":"n"}}}`:    "params._meta.io.modelcontextprotocol/clientInfo.version",
		`{"_meta":{` + v + `,` + c + `,"io.modelcontextprotocol/clientInfo":null}}`:            "params._meta.io.modelcontextprotocol/clientInfo",
		`{"_meta":{` + v + `,` + c + `,"io.modelcontextprotocol/clientInfo":{"version":"1"}}}`: "params._meta.io.modelcontextprotocol/clientInfo.name",
		`{"_meta":{` + v + `,` + c + `,"io.modelcontextprotocol/logLevel":"loud"}}`:            "params._meta.io.modelcontextprotocol/logLevel",
		`{"_meta":{` + v + `,` + c + `,"progressToken":{}}}`:                                   "params._meta.progressToken",
		`{"_meta":{` + v + `,` + c + `,` + v + `}}`:                                            "params._meta.io.modelcontextprotocol/protocolVersion",
	} {
		_, err := ext2026.ParseRequestMeta(in)
		if !checkPath(t, err, path) {
			t.Errorf("for %s", in)
		}
	}
}

func TestSubscriptionFilter(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]ext2026.SubscriptionFilter{
		`{}`: {},
		`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b","a\"b"],"taskIds":["h1","h2"]}`: {
			ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true, ResourceSubscriptions: []string{"a:b", `a"b`}, TaskIDs: []string{"h1", "h2"},
		},
		`{"taskIds":["h1"]}`: {TaskIDs: []string{"h1"}},
	} {
		got, err := ext2026.ParseSubscriptionFilter(in, "f")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		if back := string(ext2026.AppendSubscriptionFilter([]byte("x"), got)); back != "x"+string(in) {
			t.Errorf("%s is written as %s", in, back)
		}
		if got.Empty() != (in == "{}") {
			t.Errorf("Empty() of %s = %v", in, got.Empty())
		}
	}
	got, err := ext2026.ParseSubscriptionFilter(`{"toolsListChanged":false,"resourceSubscriptions":[],"unknown":{}}`, "f")
	if err != nil || !got.Empty() {
		t.Errorf("a filter about nothing is %+v, %v", got, err)
	}
}

func TestSubscriptionID(t *testing.T) {
	t.Parallel()
	const in = `{"notifications":{"taskIds":["h"]},"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":77}}`
	ack, err := ext2026.ParseAcknowledged(in)
	if err != nil || ack.SubscriptionID != "77" || len(ack.Filter.TaskIDs) != 1 {
		t.Errorf("got %+v, %v", ack, err)
	}
	updated, err := ext2026.ParseResourceUpdatedParams(in)
	if err != nil || updated.SubscriptionID != "77" || updated.URI != "a:b" {
		t.Errorf("got %+v, %v", updated, err)
	}
	if id := ext2026.SubscriptionID(`{"_meta":{}}`); id.Present() {
		t.Errorf("got %s", id)
	}
}

func TestLogLevelRank(t *testing.T) {
	t.Parallel()
	levels := []ext2026.LogLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	for i, level := range levels {
		if level.Rank() != i+1 || !level.Known() {
			t.Errorf("%s has rank %d", level, level.Rank())
		}
	}
	if ext2026.LogLevel("").Known() || ext2026.LogLevel("DEBUG").Known() {
		t.Error("unknown levels are known")
	}
}

// Scalars and members that the errors above do not show.
func TestViewsRead(t *testing.T) {
	t.Parallel()
	call, err := ext2026.ParseCallToolParams(`{"name":"a\u0062","arguments":{"x":1},"inputResponses":{"k":{}},"requestState":"s","x":1}`)
	if err != nil || call.Name != "ab" || call.Arguments != `{"x":1}` || call.Retry != (ext2026.Retry{InputResponses: `{"k":{}}`, RequestState: `"s"`}) || call.Get("x") != "1" {
		t.Errorf("got %+v, %v", call, err)
	}
	result, err := ext2026.ParseCallToolResult(`{"content":[1],"structuredContent":null,"isError":true}`)
	if err != nil || result.Content != "[1]" || result.StructuredContent != wire.Null || !result.IsError {
		t.Errorf("got %+v, %v", result, err)
	}
	tool, err := ext2026.ParseTool(`{"name":"a","name":"b","inputSchema":{"x":1},"outputSchema":true}`, "t")
	if err != nil || tool.Name != "b" || tool.InputSchema != `{"x":1}` || tool.OutputSchema != "true" {
		t.Errorf("got %+v, %v", tool, err)
	}
	cancelled, err := ext2026.ParseCancelledParams(`{"requestId":"7","reason":"user"}`)
	if err != nil || cancelled.RequestID != `"7"` || cancelled.Reason != "user" {
		t.Errorf("got %+v, %v", cancelled, err)
	}
	page, err := ext2026.ParseListResult("tools/list", `{"tools":[1],"nextCursor":""}`)
	if err != nil || page.Items != "[1]" || page.NextCursor != `""` {
		t.Errorf("got %+v, %v", page, err)
	}
	server, err := ext2026.ParseServerCapabilities(`{"tools":{"listChanged":true},"resources":{"subscribe":true},"extensions":{"io.modelcontextprotocol/tasks":{"x":1}},"acme":[]}`, "c")
	if err != nil || !server.ListChanged("tools") || server.ListChanged("resources") || !server.Subscribe() || !server.Tasks() || server.Declares("acme") || !server.Declares("tools") {
		t.Errorf("got %+v, %v", server, err)
	}
}
