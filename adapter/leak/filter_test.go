package leak_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/leak"
)

var quiet = slog.New(slog.DiscardHandler)

type leakCase struct {
	name, method, in, want string
}

func run(t *testing.T, newFilter func(*slog.Logger) *leak.Filter, cases []leakCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFilter(quiet)
			got := string(f.Apply(c.method, []byte(c.in)))
			if got != c.want {
				t.Errorf("Apply(%s)\n got %s\nwant %s", c.in, got, c.want)
			}
			hits := int64(0)
			for _, n := range f.Hits() {
				hits += n
			}
			if (hits > 0) != (c.in != c.want) {
				t.Errorf("%d hits counted for a message that changed: %v", hits, c.in != c.want)
			}
		})
	}
}

func TestLegacyLeg(t *testing.T) {
	t.Parallel()
	const (
		head = `{"jsonrpc":"2.0","id":1,"result":`
		meta = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}`
	)
	run(t, leak.Legacy, []leakCase{
		{"§6.1 resultType on any result", "vendor/x", head + `{"resultType":"complete","a":1}}`, head + `{"a":1}}`},
		{"§6.1 ttlMs and cacheScope on a cacheable result", "tools/list", head + `{"tools":[],"ttlMs":0,"cacheScope":"private"}}`, head + `{"tools":[]}}`},
		{"§6.1 ttlMs of another result is the vendor's", "vendor/x", head + `{"ttlMs":7,"cacheScope":"x"}}`, head + `{"ttlMs":7,"cacheScope":"x"}}`},
		{"§6.1 supportedVersions", "initialize", head + `{"supportedVersions":["2026-07-28"],"protocolVersion":"2025-11-25"}}`, head + `{"protocolVersion":"2025-11-25"}}`},
		{"§6.1 inputRequests and requestState", "prompts/get", head + `{"inputRequests":{},"requestState":"s","messages":[]}}`, head + `{"messages":[]}}`},
		{"§6.1 envelope in _meta of a result", "tools/call", head + `{"content":[],"_meta":{"io.modelcontextprotocol/logLevel":"info","v":1}}}`, head + `{"content":[],"_meta":{"v":1}}}`},
		{"§6.1 serverInfo, and an emptied _meta goes", "tools/call", head + `{"content":[],` + meta + `}}}`, head + `{"content":[]}}`},
		{
			"§6.1 subscriptionId", "", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":3}}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`,
		},
		{"§6.1 tasks extension", "initialize", head + `{"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}}}}`, head + `{"capabilities":{"extensions":{"x":{}}}}}`},
		{"§6.1 members of a created task", "tools/call", head + `{"task":{"taskId":"h","ttlMs":1,"ttl":1,"result":{}}}}`, head + `{"task":{"taskId":"h","ttl":1}}}`},
		{"§6.1 a vendor's task is no task", "tools/call", head + `{"content":[],"task":{"ttlMs":1,"result":{}}}}`, head + `{"content":[],"task":{"ttlMs":1,"result":{}}}}`},
		{"§6.1 members of a task", "tasks/get", head + `{"taskId":"h","pollIntervalMs":1,"inputRequests":{},"error":{}}}`, head + `{"taskId":"h"}}`},
		{"§6.1 members of a listed task", "tasks/list", head + `{"tasks":[{"taskId":"a"},{"taskId":"b","ttlMs":2}]}}`, head + `{"tasks":[{"taskId":"a"},{"taskId":"b"}]}}`},
		{
			"§6.1 members of a task that changed", "", `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"h","resultType":"complete","result":{}}}`,
			`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"h"}}`,
		},
		{
			"§6.1 x-mcp-header below properties", "tools/list",
			head + `{"tools":[{"inputSchema":{"properties":{"a":{"x-mcp-header":"A","properties":{"b":{"x-mcp-header":"B"}}}}}}]}}`,
			head + `{"tools":[{"inputSchema":{"properties":{"a":{"properties":{"b":{}}}}}}]}}`,
		},
		{
			"§6.1 x-mcp-header as data of a schema", "tools/list",
			head + `{"tools":[{"inputSchema":{"properties":{"x-mcp-header":{"default":{"x-mcp-header":1}}}}}]}}`,
			head + `{"tools":[{"inputSchema":{"properties":{"x-mcp-header":{"default":{"x-mcp-header":1}}}}}]}}`,
		},
		{"§6.1 a modern request", "", `{"jsonrpc":"2.0","id":1,"method":"tasks/update","params":{}}`, ``},
		{"§6.1 a modern notification", "", `{"jsonrpc":"2.0","method":"notifications/tasks","params":{}}`, ``},
		{
			"§6.1 -32021 and its data", "tools/call", `{"jsonrpc":"2.0","id":"x","error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}}`,
			`{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"m"}}`,
		},
		{"§6.1 -32042 is the era's own", "tools/call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m"}}`},
		{
			"§6.3 user data", "tools/call",
			head + `{"content":[{"type":"text","text":"\"resultType\""}],"structuredContent":{"resultType":"task","ttlMs":1,"_meta":{"io.modelcontextprotocol/serverInfo":1}},"_meta":{"com.acme":{"ttlMs":1,"resultType":2}}}}`,
			head + `{"content":[{"type":"text","text":"\"resultType\""}],"structuredContent":{"resultType":"task","ttlMs":1,"_meta":{"io.modelcontextprotocol/serverInfo":1}},"_meta":{"com.acme":{"ttlMs":1,"resultType":2}}}}`,
		},
		{"an escaped name hides nothing", "tools/call", head + `{"content":[],"\u0072esultType":"complete"}}`, head + `{"content":[]}}`},
	})
}

func TestModernLeg(t *testing.T) {
	t.Parallel()
	const head = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`
	run(t, leak.Modern, []leakCase{
		{"§6.2 task", "", head + `{"name":"a","task":{"ttl":1}}}`, head + `{"name":"a"}}`},
		{"§6.2 task as an argument", "", head + `{"arguments":{"task":{"ttl":1},"ttlMs":3}}}`, head + `{"arguments":{"task":{"ttl":1},"ttlMs":3}}}`},
		{"§6.2 related-task", "", head + `{"_meta":{"io.modelcontextprotocol/related-task":{},"v":1}}}`, head + `{"_meta":{"v":1}}}`},
		{"§6.2 model-immediate-response", "", head + `{"_meta":{"io.modelcontextprotocol/model-immediate-response":"x","v":1}}}`, head + `{"_meta":{"v":1}}}`},
		{
			"§6.2 capabilities.tasks", "", head + `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"tasks":{},"roots":{"listChanged":true}}}}}`,
			head + `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}`,
		},
		{"§6.2 _meta of an answer", "", head + `{"inputResponses":{"k":{"action":"accept","_meta":{}}}}}`, head + `{"inputResponses":{"k":{"action":"accept"}}}}`},
		{"§6.2 a legacy request", "", `{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{}}`, ``},
		{"§6.2 a legacy notification", "", `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, ``},
		{"§6.2 CreateTaskResult", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t"},"content":[]}}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`},
		{"§6.2 an unknown member task stays", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"task":"t","content":[]}}`, `{"jsonrpc":"2.0","id":1,"result":{"task":"t","content":[]}}`},
		{"§6.2 ttl and pollInterval of a task", "tasks/get", `{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","ttl":1,"pollInterval":2,"ttlMs":1}}`, `{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","ttlMs":1}}`},
		{"§6.2 execution", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","execution":{}}]}}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}`},
		{
			"§6.2 members of a question", "tools/call",
			`{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"k":{"id":1,"jsonrpc":"2.0","method":"elicitation/create","params":{"elicitationId":"e","task":{},"_meta":{},"message":"m"}}}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}}}}`,
		},
		{"§6.2 -32002", "resources/read", `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"m"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`},
	})
}

// TestUntouched: a clean message is handed back as the very same bytes.
func TestUntouched(t *testing.T) {
	t.Parallel()
	in := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 4096) + `"}],"n":12345678901234567890}}`)
	if out := leak.Legacy(quiet).Apply("tools/call", in); &out[0] != &in[0] {
		t.Error("a clean message was copied")
	}
}
