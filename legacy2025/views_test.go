package legacy2025_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

func listOf(method string) func(wire.Value) (legacy2025.ListResult, error) {
	return func(v wire.Value) (legacy2025.ListResult, error) { return legacy2025.ParseListResult(method, v) }
}

func parseTool(v wire.Value) (legacy2025.Tool, error) { return legacy2025.ParseTool(v, "tool") }

const (
	who    = `"clientInfo":{"name":"n","version":"1"}`
	server = `"serverInfo":{"name":"n","version":"1"}`
)

// refusals are messages, by view, and where the view finds fault.
var refusals = []struct {
	view  string
	parse func(wire.Value) error
	cases map[wire.Value]string // path of the error, empty for none
}{
	{"A-L6 initialize params", parse(legacy2025.ParseInitializeParams), map[wire.Value]string{
		`{"protocolVersion":"x","capabilities":{},` + who + `}`: "", ``: "params", `[]`: "params",
		`{"capabilities":{},` + who + `}`:                                                        "params.protocolVersion",
		`{"protocolVersion":1,"capabilities":{},` + who + `}`:                                    "params.protocolVersion",
		`{"protocolVersion":"x",` + who + `}`:                                                    "params.capabilities",
		`{"protocolVersion":"x","capabilities":null,` + who + `}`:                                "params.capabilities",
		`{"protocolVersion":"x","capabilities":{"sampling":true},` + who + `}`:                   "params.capabilities.sampling",
		`{"protocolVersion":"x","capabilities":{"roots":{},"roots":{}},` + who + `}`:             "params.capabilities.roots",
		`{"protocolVersion":"x","capabilities":{"roots":{"a":1,"a":1}},` + who + `}`:             "params.capabilities.roots.a",
		`{"protocolVersion":"x","capabilities":{"roots":null,"acme":{"a":1,"a":1}},` + who + `}`: "",
		`{"protocolVersion":"x","capabilities":{}}`:                                              "params.clientInfo",
		`{"protocolVersion":"x","capabilities":{},"clientInfo":{"version":"1"}}`:                 "params.clientInfo.name",
		`{"protocolVersion":"x","capabilities":{},"clientInfo":{"name":"n","version":1}}`:        "params.clientInfo.version",
	}},
	{"initialize result", parse(legacy2025.ParseInitializeResult), map[wire.Value]string{
		`{"protocolVersion":"x","capabilities":{},` + server + `}`: "", ``: "result",
		`{"capabilities":{},` + server + `}`:                                        "result.protocolVersion",
		`{"protocolVersion":"x",` + server + `}`:                                    "result.capabilities",
		`{"protocolVersion":"x","capabilities":{"tasks":[]},` + server + `}`:        "result.capabilities.tasks",
		`{"protocolVersion":"x","capabilities":{}}`:                                 "result.serverInfo",
		`{"protocolVersion":"x","capabilities":{},"instructions":7,` + server + `}`: "result.instructions",
	}},
	{"tools/call params", parse(legacy2025.ParseCallToolParams), map[wire.Value]string{
		`{"name":""}`: "", `{"name":"a","arguments":{}}`: "", ``: "params", `{"name":"a","name":"b"}`: "params.name",
		`{}`: "params.name", `{"name":null}`: "params.name", `{"name":"a","arguments":null}`: "params.arguments",
	}},
	{"tools/call result", parse(legacy2025.ParseCallToolResult), map[wire.Value]string{
		`{}`: "", `{"content":[],"structuredContent":{},"isError":true}`: "", `{"content":"x"}`: "result.content", `{"isError":1}`: "result.isError",
		`{"structuredContent":[]}`: "", `{"structuredContent":null}`: "", `[]`: "result",
	}},
	{"prompts/get params", parse(legacy2025.ParseGetPromptParams), map[wire.Value]string{
		`{"name":"a"}`: "", `{"name":1}`: "params.name", `{"name":"a","arguments":[]}`: "params.arguments", `[]`: "params",
	}},
	{"prompts/get result", parse(legacy2025.ParseGetPromptResult), map[wire.Value]string{`{"messages":[]}`: "", `{}`: "result.messages", `1`: "result"}},
	{"resource params", parse(legacy2025.ParseResourceParams), map[wire.Value]string{`{"uri":"a:b"}`: "", `{}`: "params.uri", `[]`: "params"}},
	{"resources/read result", parse(legacy2025.ParseReadResourceResult), map[wire.Value]string{`{"contents":[]}`: "", `{"contents":{}}`: "result.contents", ``: "result"}},
	{"completion params", parse(legacy2025.ParseCompleteParams), map[wire.Value]string{
		`{"ref":{},"argument":{"name":"a","value":""}}`: "", `{"ref":{},"argument":{"name":"a","value":""},"context":{}}`: "", ``: "params",
		`{"ref":1,"argument":{"name":"a","value":""}}`: "params.ref", `{"ref":{},"argument":[]}`: "params.argument", `{"ref":{},"argument":{"value":""}}`: "params.argument.name",
		`{"ref":{},"argument":{"name":"a","value":null}}`: "params.argument.value", `{"ref":{},"argument":{"name":"a","value":""},"context":null}`: "params.context",
	}},
	{"completion result", parse(legacy2025.ParseCompleteResult), map[wire.Value]string{
		`{"completion":{"values":[]}}`: "", `{}`: "result.completion", `{"completion":{"values":{}}}`: "result.completion.values", ``: "result",
	}},
	{"list params", parse(legacy2025.ParseListParams), map[wire.Value]string{``: "", `{}`: "", `{"cursor":"x"}`: "", `{"cursor":7}`: "params.cursor", `1`: "params"}},
	{"tools/list result", parse(listOf("tools/list")), map[wire.Value]string{
		`{"tools":[]}`: "", `{"tools":[],"nextCursor":null}`: "", `{"tools":[],"nextCursor":7}`: "result.nextCursor", `{"prompts":[]}`: "result.tools", `[]`: "result",
	}},
	{"prompts/list result", parse(listOf("prompts/list")), map[wire.Value]string{`{"prompts":[]}`: "", `{}`: "result.prompts"}},
	{"resources/list result", parse(listOf("resources/list")), map[wire.Value]string{`{"resources":[]}`: "", `{}`: "result.resources"}},
	{"templates result", parse(listOf("resources/templates/list")), map[wire.Value]string{`{"resourceTemplates":[]}`: "", `{}`: "result.resourceTemplates"}},
	{"tool", parse(parseTool), map[wire.Value]string{
		`{"name":"a","inputSchema":{}}`: "", `{"name":"a","inputSchema":{},"outputSchema":{}}`: "",
		`[]`: "tool", `{"inputSchema":{}}`: "tool.name", `{"name":"a"}`: "tool.inputSchema", `{"name":"a","inputSchema":{},"outputSchema":true}`: "tool.outputSchema",
	}},
	{"setLevel params", parse(legacy2025.ParseSetLevelParams), map[wire.Value]string{
		`{"level":"debug"}`: "", `{"level":"loud"}`: "params.level", `{}`: "params.level", ``: "params", `{"level":"debug","level":"debug"}`: "params.level",
	}},
	{"log params", parse(legacy2025.ParseLogParams), map[wire.Value]string{
		`{"level":"debug","data":null}`: "", `{"level":"Debug","data":1}`: "params.level", `{"data":1}`: "params.level", `{"level":"alert"}`: "params.data", ``: "params",
	}},
	{"progress params", parse(legacy2025.ParseProgressParams), map[wire.Value]string{
		`{"progressToken":"","progress":0}`: "", `{"progressToken":1.5,"progress":0}`: "", `{"progressToken":null,"progress":0}`: "params.progressToken",
		`{"progressToken":1,"progress":"0"}`: "params.progress", ``: "params",
	}},
	{"cancelled params", parse(legacy2025.ParseCancelledParams), map[wire.Value]string{
		`{"requestId":0}`: "", `{}`: "", ``: "", `{"requestId":1.0}`: "params.requestId", `{"requestId":null}`: "params.requestId", `[]`: "params",
	}},
	{"progress token", parse(legacy2025.ProgressToken), map[wire.Value]string{
		``: "", `{}`: "", `{"_meta":{"progressToken":null}}`: "", `{"_meta":{"progressToken":"a"}}`: "", `{"_meta":{"progressToken":false}}`: "params._meta.progressToken", `{"_meta":1}`: "params._meta",
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

// Scalars and members that the errors above do not show.
func TestViewsRead(t *testing.T) {
	t.Parallel()
	params, err := legacy2025.ParseInitializeParams(`{"protocolVersion":"x","capabilities":{"roots":{}},"clientInfo":{"name":"n","version":"1","x":1},"y":2}`)
	if err != nil || params.ProtocolVersion != "x" || params.Capabilities != `{"roots":{}}` || params.ClientInfo != `{"name":"n","version":"1","x":1}` || params.Get("y") != "2" {
		t.Errorf("got %+v, %v", params, err)
	}
	result, err := legacy2025.ParseInitializeResult(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},` +
		`"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"n","version":"1"},"instructions":"dig"}`)
	c := result.Capabilities
	if err != nil || result.ProtocolVersion != "2025-11-25" || result.Instructions != `"dig"` || result.ServerInfo != `{"name":"n","version":"1"}` ||
		!c.Declares("tools") || c.Declares("prompts") || !c.ListChanged("tools") || c.ListChanged("resources") || !c.Subscribe() || !c.TaskCalls() || !c.TaskCancel() {
		t.Errorf("got %+v, %v", result, err)
	}
	call, err := legacy2025.ParseCallToolParams(`{"name":"a\u0062","arguments":{"x":1},"task":{}}`)
	if err != nil || call.Name != "ab" || call.Arguments != `{"x":1}` || !call.Has("task") {
		t.Errorf("got %+v, %v", call, err)
	}
	tool, err := legacy2025.ParseTool(`{"name":"a","name":"b","inputSchema":{"x":1},"outputSchema":{"y":1},"execution":{"taskSupport":"optional"}}`, "t")
	if err != nil || tool.Name != "b" || tool.InputSchema != `{"x":1}` || tool.OutputSchema != `{"y":1}` || tool.TaskSupport() != legacy2025.TaskOptional {
		t.Errorf("got %+v, %v", tool, err)
	}
	token, err := legacy2025.ProgressToken(`{"_meta":{"progressToken":9007199254740993}}`)
	if err != nil || token != "9007199254740993" {
		t.Errorf("token %s, %v", token, err)
	}
	level, err := legacy2025.ParseSetLevelParams(`{"level":"critical"}`)
	if err != nil || level != legacy2025.LogCritical {
		t.Errorf("level %s, %v", level, err)
	}
	cancelled, err := legacy2025.ParseCancelledParams(`{"requestId":"7","reason":"user"}`)
	if err != nil || cancelled.RequestID != `"7"` || cancelled.Reason != "user" {
		t.Errorf("got %+v, %v", cancelled, err)
	}
	page, err := legacy2025.ParseListResult("tools/list", `{"tools":[1],"nextCursor":"n"}`)
	if err != nil || page.Items != "[1]" || page.NextCursor != `"n"` {
		t.Errorf("got %+v, %v", page, err)
	}
	client, err := legacy2025.ParseClientCapabilities(`{"sampling":{},"elicitation":null,"acme":1}`, "c")
	if err != nil || !client.Declares("sampling") || client.Declares("elicitation") || client.Declares("acme") {
		t.Errorf("got %+v, %v", client, err)
	}
}

// §4.19: a tool that says nothing, or nothing known, does not run as a task.
func TestTaskSupport(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]legacy2025.TaskSupport{
		`{"taskSupport":"required"}`: legacy2025.TaskRequired, `{"taskSupport":"optional"}`: legacy2025.TaskOptional,
		`{"taskSupport":"forbidden"}`: legacy2025.TaskForbidden, `{"taskSupport":"maybe"}`: legacy2025.TaskForbidden,
		`{"taskSupport":1}`: legacy2025.TaskForbidden, `{}`: legacy2025.TaskForbidden, `[]`: legacy2025.TaskForbidden, ``: legacy2025.TaskForbidden,
	} {
		tool := legacy2025.Tool{Execution: in}
		if got := tool.TaskSupport(); got != want {
			t.Errorf("TaskSupport of %s = %s, want %s", in, got, want)
		}
	}
}

// §2.3: tools can run as tasks only if there are tools and tools/call says so.
func TestTaskCalls(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]bool{
		`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`:   true,
		`{"tasks":{"requests":{"tools":{"call":{}}}}}`:              false,
		`{"tools":{},"tasks":{"requests":{"tools":{"call":true}}}}`: false,
		`{"tools":{},"tasks":{"requests":{"tools":{}}}}`:            false,
		`{"tools":{},"tasks":{"list":{},"cancel":{}}}`:              false,
		`{"tools":{}}`: false,
		`{"acme":{"a":1,"a":1},"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`: true,
	} {
		c, err := legacy2025.ParseServerCapabilities(in, "c")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.TaskCalls(); got != want {
			t.Errorf("TaskCalls of %s = %v", in, got)
		}
	}
}

func TestLogLevelRank(t *testing.T) {
	t.Parallel()
	levels := []legacy2025.LogLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	for i, level := range levels {
		if level.Rank() != i+1 || !level.Known() {
			t.Errorf("%s has rank %d", level, level.Rank())
		}
	}
	if legacy2025.LogLevel("").Known() || legacy2025.LogLevel("DEBUG").Known() {
		t.Error("unknown levels are known")
	}
}
