package adapter_test

import (
	"fmt"

	"github.com/taskbridge/taskbridge/ext2026"
)

// downExchanges are the rows that are more than a member, in direction B. What
// nobody expects fails: nothing is forwarded and nothing lost.
var downExchanges = []leakExchange{
	{"6.1.3", "the versions of discover are the bridge's", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":"@M0"}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}` + hints + `,"_meta":"@SB"}}
`},
	{"6.1.4", "questions of a call, and its state", downSetup, downCarriers["question of a call, elicitation/create"].plain()},
	{"6.1.5", "answers of a call, and its state", downSetup, downCarriers["answer of a call, elicitation/create"].plain()},
	{"6.1.9", "taskIds of a subscription", downSetup, downCarriers["task that changed"].plain()},
	{"6.1.10", "x-mcp-header in a schema: what is legal stays, what is not goes, and the tool stays", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/list","params":{}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"},"f":{"type":"number","x-mcp-header":"F"},"x-mcp-header":{"type":"string","default":"x-mcp-header"}}},"_meta":{"com.acme/k":{"x-mcp-header":1}}}]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"},"f":{"type":"number"},"x-mcp-header":{"type":"string","default":"x-mcp-header"}}},"_meta":{"com.acme/k":{"x-mcp-header":1}}}]` + hints + `,"_meta":"@SB"}}
c>b [Mcp-Param-S: z] {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"s":"z"},"_meta":"@M0"}}
b>u [no Mcp-Param-S] {"jsonrpc":"2.0","id":8002,"method":"tools/call","params":{"name":"a","arguments":{"s":"z"}}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	{"6.1.11", "modern notifications of a client", downSetup, `c>b {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}
c>b {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"completed"}}
wait 10s
`},
	{"6.1.13", "headers of a client, and of a server", downSetup, `c>b [Mcp-Param-Site: east] {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":"@M0"}}
b>u [MCP-Protocol-Version: 2025-11-25 | no Mcp-Method | no Mcp-Name | no Mcp-Param-Site] {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"echo"}}
u>b [Mcp-Method: x | Mcp-Name: y | Mcp-Param-Site: z | MCP-Protocol-Version: 2025-11-25] {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c [no Mcp-Method | no Mcp-Name | no Mcp-Param-Site | no MCP-Protocol-Version] {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	{"6.1.14", "the modern version in initialize", "cell: modern/legacy\n", `c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"nova","version":"0.9.0"}}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"protocolVersion":"2026-07-28","capabilities":{"prompts":{}},"serverInfo":{"name":"basalt","version":"2.4.0"}}}
b>c [200] {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"<text>"}}
wait 10s
`},
	{"6.1.15", "values that are no objects, and boolean schemas", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/list","params":{}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"y":true,"n":false}},"outputSchema":{"type":"array"}}]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"y":true,"n":false}},"outputSchema":{"type":"array"}}]` + hints + `,"_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tools/call","params":{"name":"a"}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[],"structuredContent":false}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"structuredContent":false,"_meta":"@SB"}}
`},
	{"6.1.16", "the empty cursor", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"cursor":"","_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"prompts/list","params":{"cursor":""}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"prompts":[],"nextCursor":""}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","prompts":[],"nextCursor":""` + hints + `,"_meta":"@SB"}}
`},
	{"6.2.5", "the task that the bridge adds, and that of a client", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bore","task":{"ttl":5},"_meta":"@MES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"bore"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bore","task":{"ttl":5},"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tools/call","params":{"name":"bore","task":{"ttl":3600000}}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	{"6.2.6", "a wrapped task that nobody asked for is handed out", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"core"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[],"task":{"taskId":"LT1","status":"working",` + stamps + `,"ttl":90000}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"h.LT1","status":"working",` + stamps + `,"ttlMs":90000,"_meta":"@SB"}}
`},
	{"6.2.6", "a wrapped task of a client that knows none is driven to its end", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core","_meta":"@MES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"core"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[],"task":{"taskId":"LT1","status":"working",` + stamps + `,"ttl":90000}}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tasks/result","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[{"type":"text","text":"t"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"LT1"}}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"t"}],"_meta":"@SB"}}
`},
	{"6.2.11", "a message about a task in the log goes to nobody", downCarriers["message of the log"].setup, `c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"...":"@MES","io.modelcontextprotocol/logLevel":"info"}}}
b>u {"jsonrpc":"2.0","id":8001,"method":"logging/setLevel","params":{"level":"info"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tools/call","params":{"name":"echo"}}
u>b [on 8002] {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"theirs"}}}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	{"6.2.11", "the immediate response of a task is its message", downSetup, `c>b {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"bore","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8039,"method":"tools/call","params":{"name":"bore","task":{"ttl":3600000}}}
u>b {"jsonrpc":"2.0","id":8039,"result":{"task":{"taskId":"LT1","status":"working",` + stamps + `,"ttl":90000},"_meta":{"io.modelcontextprotocol/model-immediate-response":"x"}}}
b>c {"jsonrpc":"2.0","id":39,"result":{"resultType":"task","taskId":"h.LT1","status":"working","statusMessage":"x",` + stamps + `,"ttlMs":90000,"_meta":"@SB"}}
`},
	{"6.2.12", "the id of a question with a URL stays here", downSetup, withElicitationID(parkedCall(
		`"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://a.test/"‹m›`, `"action":"accept"`, `"action":"accept"`))},
	{"6.2.16", "sessions and events of both sides", downSetup, `c>b [Mcp-Session-Id: mine | Last-Event-ID: 1:1] {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":"@M0"}}
b>u [Mcp-Session-Id: <sid:1> | no Last-Event-ID] {"jsonrpc":"2.0","id":8001,"method":"prompts/list","params":{}}
u>b [on 8001 | sse | raw] id: 7
 retry: 1
 data:
u>b [event 8] {"jsonrpc":"2.0","id":8001,"result":{"prompts":[]}}
b>c [no Mcp-Session-Id] {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","prompts":[]` + hints + `,"_meta":"@SB"}}
c>b [GET]
b>c [405 | on GET | Allow: POST] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
c>b [as bye | DELETE]
b>c [405 | on bye | Allow: POST] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
wait 10s
`},
	{"6.2.17", "an array of a client", downSetup, `c>b [as batch | raw] [{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
b>c [400 | on batch] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
wait 10s
`},
	{"6.2.17", "an array of a server", downSetup, `c>b {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"brief","_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"prompts/get","params":{"name":"brief"}}
u>b [on 8001 | raw | json] [{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}]
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"<text>"}}
`},
	{"6.2.18", "the id null", downSetup, `c>b [as null] {"jsonrpc":"2.0","id":null,"method":"tools/list","params":{"_meta":"@M0"}}
b>c [400 | on null] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"brief","_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"prompts/get","params":{"name":"brief"}}
u>b [on 8001] {"jsonrpc":"2.0","id":null,"result":{"messages":[]}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"<text>"}}
wait 10s
`},
	{"6.2.20", "the server's own id of a task is none", downSetup, madeDown + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"LT1","_meta":"@MTES"}}
b>c [200] {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"<text>"}}
wait 1s
`},
}

// withElicitationID has the server give its question an id.
func withElicitationID(text string) string {
	_, text = carrier{text: text}.fill("‹m›", `,"elicitationId":"theirs"`, "")
	return text
}

// everyDownExchange are all of them.
var everyDownExchange = append(downExchanges, downGenerated()...)

// downGenerated are the rows that are lists: of methods and of error codes.
func downGenerated() (all []leakExchange) {
	const unknown = `"error":{"code":-32601,"message":"<text>"}`
	modern := []string{"server/discover", "subscriptions/listen", "tasks/update"}
	legacy := []string{"initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list"}
	for _, method := range append([]string{"ping"}, legacy...) {
		all = append(all, leakExchange{"6.2.1", method + " of a client", downSetup, fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%q,"params":{"taskId":"t","uri":"ore://1","level":"info","_meta":"@MTES"}}
b>c [404] {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"<text>"}}
wait 10s
`, method)})
	}
	for _, method := range append(append([]string{"tasks/get", "tasks/cancel"}, legacy...), modern...) {
		row := "6.2.1"
		for _, m := range modern {
			if m == method {
				row = "6.1.11"
			}
		}
		all = append(all, leakExchange{row, method + " of a server", downSetup, asksMeanwhile(method, unknown, unknown)})
	}
	all = append(all, leakExchange{"6.2.3", "ping of a server", downSetup, asksMeanwhile("ping", `"result":{}`, `"result":{}`)})
	for method, alone := range map[string]int{"roots/list": -32603, "sampling/createMessage": -32602, "elicitation/create": -32602} {
		all = append(all, leakExchange{"6.2.3", method + " of a server where nobody can be asked", downSetup, asksMeanwhile(method, unknown, fmt.Sprintf(`"error":{"code":%d,"message":"<text>"}`, alone))},
			leakExchange{"6.2.3", method + " of a server", downSetup, downCarriers["question of a call, "+method].plain()})
	}
	notifications := []string{
		"notifications/initialized", "notifications/roots/list_changed", "notifications/elicitation/complete",
		"notifications/tasks/status",
	}
	for _, method := range append([]string{"notifications/tasks", "notifications/subscriptions/acknowledged"}, notifications...) {
		row := "6.2.2"
		if method == "notifications/tasks" || method == "notifications/subscriptions/acknowledged" {
			row = "6.1.11"
		}
		all = append(all, leakExchange{row, method + " of a server", downSetup, listeningDown + fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"...":"@M0","progressToken":"p"}}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":70001}}}
u>b [on 8001] {"jsonrpc":"2.0","method":%[1]q,"params":{"taskId":"t","elicitationId":"e","notifications":{}}}
u>b [on GET] {"jsonrpc":"2.0","method":%[1]q,"params":{"taskId":"t","elicitationId":"e","notifications":{}}}
wait 300ms
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
c>b [hang up | on 77]
`, method)})
	}
	for _, method := range append([]string{"notifications/progress", "notifications/message", "notifications/cancelled"}, notifications...) {
		all = append(all, leakExchange{"6.2.2", method + " of a client", downSetup, fmt.Sprintf(`c>b {"jsonrpc":"2.0","method":%q,"params":{"taskId":"t","elicitationId":"e","requestId":1,"progressToken":1,"progress":1}}
wait 10s
`, method)})
	}
	for _, body := range []string{`"result":{"action":"accept"}`, `"error":{"code":-1,"message":"no"}`} {
		all = append(all, leakExchange{"6.2.4", "a response of a client with " + body[1:7], downSetup, fmt.Sprintf(`c>b [as response] {"jsonrpc":"2.0","id":0,%s}
b>c [400 | on response] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
wait 10s
`, body)})
	}
	return append(all, downCodes()...)
}

// asksMeanwhile is a server that asks something while it lists its prompts, on the
// stream of that and on its own, and what the bridge says to each.
func asksMeanwhile(method, answer, alone string) string {
	return fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"prompts/list","params":{}}
u>b [on 8001] {"jsonrpc":"2.0","id":0,"method":%[1]q,"params":{"message":"?","taskId":"t"}}
b>u {"jsonrpc":"2.0","id":0,%[2]s}
u>b [on GET] {"jsonrpc":"2.0","id":"0","method":%[1]q,"params":{"message":"?","taskId":"t"}}
b>u {"jsonrpc":"2.0","id":"0",%[3]s}
u>b {"jsonrpc":"2.0","id":8001,"result":{"prompts":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","prompts":[]%[4]s,"_meta":"@SB"}}
`, method, answer, alone, hints)
}

// downCodes are the error codes of one era, from a server: what the client is told,
// of a request and of a task.
func downCodes() (all []leakExchange) {
	const (
		data    = `{"requiredCapabilities":{"x":{}},"supported":["1"],"requested":"2"}`
		encoded = `{"code":-32603,"message":"m","data":{"originalCode":%d,"originalData":` + data + `}}`
	)
	for _, c := range []struct {
		row  string
		code int
		told string
	}{
		{"6.1.12", -32020, ""},
		{"6.1.12", -32021, ""},
		{"6.1.12", -32022, ""},
		{"6.1.12", -32023, ""},
		{"6.1.12", -32041, ""},
		{"6.1.12", -32099, ""},
		{"6.2.15", -32042, `{"code":-32603,"message":"m","data":{"originalCode":-32042}}`},
		{"6.2.15", -32002, `{"code":-32602,"message":"m","data":` + data + `}`},
		{"6.2.15", -32000, ""},
		{"6.2.15", -32019, ""},
		{"6.2.15", -31999, `{"code":-31999,"message":"m","data":` + data + `}`},
	} {
		if c.told == "" {
			c.told = fmt.Sprintf(encoded, c.code)
		}
		said := fmt.Sprintf(`{"code":%d,"message":"m","data":%s}`, c.code, data)
		for _, f := range forwardedDown {
			params, told := f.params, c.told
			if params != "" {
				params += ","
			}
			if c.code == -32042 && ext2026.Asks(f.method) {
				told = `{"code":-32603,"message":"<text>"}` // it does not say what to ask
			}
			all = append(all, leakExchange{c.row, fmt.Sprintf("%d of a server at %s", c.code, f.method), downSetup, fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s"com.acme/q":0,"_meta":"@MES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":%[1]q,"params":{%[2]s"com.acme/q":0}}
u>b {"jsonrpc":"2.0","id":8001,"error":%[3]s}
b>c [200] {"jsonrpc":"2.0","id":1,"error":%[4]s}
`, f.method, params, said, told)})
		}
		all = append(all, leakExchange{c.row, fmt.Sprintf("%d in a task that failed", c.code), downSetup, madeDown + fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"h.LT1","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"taskId":"LT1","status":"failed",%[1]s,"ttl":90000}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tasks/result","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8002,"error":%[2]s}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"h.LT1","status":"failed",%[1]s,"ttlMs":90000,"error":%[3]s,"_meta":"@SB"}}
`, stamps, said, c.told)})
	}
	return all
}
