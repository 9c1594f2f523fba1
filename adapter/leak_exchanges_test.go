package adapter_test

import "fmt"

// leakExchange is a row that is more than a member: a conversation that shows what
// becomes of it.
type leakExchange struct{ row, name, setup, text string }

// exchanges are those rows. What nobody expects fails: nothing is forwarded and
// nothing lost.
var exchanges = append([]leakExchange{
	{"6.1.3", "supportedVersions of discover", "session: none\n", carriers()["result of server/discover"].plain()},
	{"6.1.6", "the version in a client's _meta is a modern claim", "", `c>b {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
b>c [400] {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"<text>"}}
wait 10s
`},
	{"6.1.10", "x-mcp-header in a schema, and as data of one", "", `c>b {"jsonrpc":"2.0","id":1,"method":"tools/list"}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/list","params":{"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"}}},"x-mcp-header":{"type":"string","default":"x-mcp-header"}}},"_meta":{"com.acme/k":{"x-mcp-header":1}}}]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"o":{"type":"object","properties":{"s":{"type":"string"}}},"x-mcp-header":{"type":"string","default":"x-mcp-header"}}},"_meta":{"com.acme/k":{"x-mcp-header":1}},"execution":{"taskSupport":"optional"}}]}}
`},
	{"6.1.11", "modern notifications of a client", "", `c>b {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}
c>b {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"completed"}}
wait 10s
`},
	{"6.1.11", "modern notifications of a server ahead of its answer", "", `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smelt"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"smelt","_meta":"@UMN"}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"completed"}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t"}}
wait 300ms
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`},
	{"6.1.13", "headers of a client", "", `c>b [Mcp-Method: tasks/update | Mcp-Name: other | Mcp-Param-Site: east] {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smelt"}}
b>u [no Mcp-Param-Site] {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"smelt","_meta":"@UMN"}}
u>b [Mcp-Method: x | Mcp-Name: y | Mcp-Param-Site: z | MCP-Protocol-Version: 2026-07-28] {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","content":[]}}
b>c [no Mcp-Method | no Mcp-Name | no Mcp-Param-Site | no MCP-Protocol-Version] {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
c>b [MCP-Protocol-Version: 2026-07-28] {"jsonrpc":"2.0","id":2,"method":"tools/list"}
b>c [400] {"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"<text>"}}
wait 10s
`},
	{"6.1.14", "the modern version in initialize", "session: none\n", `c>b {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"orbit","version":"3.1.0"}}}
b>u {"jsonrpc":"2.0","id":9001,"method":"server/discover","params":{"_meta":"@UM0"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","protocolVersion":"2026-07-28","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}
b>c {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"quarry","version":"0"}}}
`},
	{"6.1.15", "values that are no objects, and boolean schemas", "", `c>b {"jsonrpc":"2.0","id":1,"method":"tools/list"}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/list","params":{"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"y":true,"n":false}},"outputSchema":{"type":"array"}}]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"y":{},"n":{"not":{}}}},"outputSchema":{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]},"execution":{"taskSupport":"optional"}}]}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tools/call","params":{"name":"b","_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","content":[],"structuredContent":false}}
b>c {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"false"}],"structuredContent":{"result":false}}}
`},
	{"6.1.16", "the empty cursor", "", `c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list"}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/list","params":{"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","prompts":[],"nextCursor":""}}
b>c {"jsonrpc":"2.0","id":1,"result":{"prompts":[],"nextCursor":"<cursor:1>"}}
c>b {"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{"cursor":"<cursor:1>"}}
b>u {"jsonrpc":"2.0","id":9002,"method":"prompts/list","params":{"cursor":"","_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","prompts":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}
`},
	{"6.2.1", "requests that end here", "", made + `c>b {"jsonrpc":"2.0","id":1,"method":"ping"}
b>c {"jsonrpc":"2.0","id":1,"result":{}}
c>b {"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}
b>c {"jsonrpc":"2.0","id":2,"result":{}}
c>b [Mcp-Session-Id: <sid>] {"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"orbit","version":"3.1.0"}}}
b>c [400] {"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":4,"method":"tasks/list"}
b>u {"jsonrpc":"2.0","id":9004,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9004,"result":{"resultType":"complete","taskId":"tk-5","status":"completed",` + stamps + `,"ttlMs":90000,"result":{"content":[]}}}
b>c {"jsonrpc":"2.0","id":4,"result":{"tasks":[{"taskId":"b.tk-5","status":"completed",` + stamps + `,"ttl":90000}]}}
c>b {"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>c {"jsonrpc":"2.0","id":5,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}}
c>b {"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"vein://7"}}
b>u {"jsonrpc":"2.0","id":9006,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["vein://7"]},"_meta":{"...":"@UMN"}}}
u>b [on 9006] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["vein://7"]},"_meta":{"io.modelcontextprotocol/subscriptionId":9006}}}
b>c {"jsonrpc":"2.0","id":6,"result":{}}
c>b {"jsonrpc":"2.0","id":7,"method":"resources/unsubscribe","params":{"uri":"vein://7"}}
b>c {"jsonrpc":"2.0","id":7,"result":{}}
b>u [abort | on 9006]
`},
	{"6.2.8", "execution of a server's tools", "", `c>b {"jsonrpc":"2.0","id":1,"method":"tools/list"}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/list","params":{"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required","x":1}}]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}}
`},
	{"6.2.5", "the task of a call", "", made},
	{"6.2.17", "an array of a server", "", `c>b {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"brief"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/get","params":{"name":"brief","_meta":"@UMN"}}
u>b [on 9001 | raw | json] [{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}]
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"<text>"}}
`},
	{"6.2.17", "an array of a client", "", `c>b [as batch | raw] [{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
b>c [400 | on batch] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
wait 10s
`},
	{"6.2.18", "the id null", "", `c>b [as null] {"jsonrpc":"2.0","id":null,"method":"tools/list"}
b>c [400 | on null] {"jsonrpc":"2.0","error":{"code":-32600,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"brief"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/get","params":{"name":"brief","_meta":"@UMN"}}
u>b [on 9001] {"jsonrpc":"2.0","id":null,"result":{"resultType":"complete","messages":[]}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"<text>"}}
wait 10s
`},
	{"6.2.20", "ids and sessions of the other leg", "", made + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"tk-5"}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"<text>"}}
c>b [as bye | DELETE]
b>c [204 | on bye]
b>u [no Mcp-Session-Id] {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000}}
b>u [no Mcp-Session-Id] {"jsonrpc":"2.0","id":9002,"method":"tasks/cancel","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete"}}
wait 10s
`},
	{"6.2.16", "what a server says of sessions and events", "", `c>b [Last-Event-ID: 1:1] {"jsonrpc":"2.0","id":1,"method":"prompts/list"}
b>u [no Mcp-Session-Id | no Last-Event-ID] {"jsonrpc":"2.0","id":9001,"method":"prompts/list","params":{"_meta":"@UMN"}}
u>b [on 9001 | sse | raw | Mcp-Session-Id: theirs] id: 7
 retry: 1
 data:
wait 200ms
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","prompts":[]}}
b>c [no Mcp-Session-Id] {"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}
c>b {"jsonrpc":"2.0","id":2,"method":"prompts/list"}
b>u [no Mcp-Session-Id] {"jsonrpc":"2.0","id":9002,"method":"prompts/list","params":{"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","prompts":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}
`},
}, generated()...)

// everyExchange are all of them.
var everyExchange = append(exchanges, questionExchanges...)

// generated are the rows that are lists: of methods and of error codes.
func generated() (all []leakExchange) {
	for _, method := range []string{"server/discover", "subscriptions/listen", "tasks/update"} {
		all = append(all, leakExchange{"6.1.11", method + " of a client", "", fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%q,"params":{"taskId":"t","inputResponses":{},"notifications":{"taskIds":["t"]}}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
wait 10s
`, method)})
	}
	all = append(all, leakExchange{"6.1.9", "notifications.taskIds of a client", "", all[1].text})
	for _, method := range []string{
		"notifications/initialized", "notifications/roots/list_changed", "notifications/elicitation/complete",
		"notifications/tasks/status", "notifications/progress", "notifications/message",
	} {
		all = append(all, leakExchange{"6.2.2", method + " of a client", "", fmt.Sprintf(`c>b {"jsonrpc":"2.0","method":%q,"params":{"taskId":"t","elicitationId":"e","progressToken":1,"progress":1}}
wait 10s
`, method)})
	}
	for _, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create", "ping", "tasks/get"} {
		all = append(all, leakExchange{"6.2.3", method + " of a server", "", fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list"}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/list","params":{"_meta":"@UMN"}}
u>b [on 9001] {"jsonrpc":"2.0","id":0,"method":%q,"params":{"message":"?","taskId":"t"}}
wait 300ms
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","prompts":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}
`, method)})
	}
	for _, body := range []string{
		`"result":{"action":"accept"}`, `"error":{"code":-1,"message":"no"}`,
	} {
		all = append(all, leakExchange{"6.2.4", "a response of a client with " + body[1:7], "", fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":501,%s}
c>b {"jsonrpc":"2.0","id":"501",%s}
wait 10s
`, body, body)})
	}
	return append(all, codes()...)
}

// ended is what the client is told of a task that failed with a code.
var ended = map[int]string{
	-32020: `{"code":-32603,"message":"m"}`,
	-32021: `{"code":-32600,"message":"<text>"}`,
	-32022: `{"code":-32603,"message":"m"}`,
	-32023: `{"code":-32603,"message":"m","data":{"originalCode":-32023}}`,
	-32042: `{"code":-32603,"message":"m"}`,
	-32099: `{"code":-32603,"message":"m","data":{"originalCode":-32099}}`,
}

// codes are the error codes of one era, from a server: what the client is told.
func codes() (all []leakExchange) {
	const (
		plain   = `{"code":%d,"message":"m","data":{"requiredCapabilities":{"x":{}},"supported":["1"],"requested":"2"}}`
		encoded = `{"code":-32603,"message":"m","data":{"originalCode":%d,"originalData":{"requiredCapabilities":{"x":{}},"supported":["1"],"requested":"2"}}}`
	)
	for _, c := range []struct {
		row  string
		code int
		told string
	}{
		{"6.1.12", -32021, `{"code":-32600,"message":"<text>"}`},
		{"6.1.12", -32022, `{"code":-32603,"message":"<text>"}`},
		{"6.1.12", -32023, fmt.Sprintf(encoded, -32023)},
		{"6.1.12", -32041, fmt.Sprintf(encoded, -32041)},
		{"6.1.12", -32099, fmt.Sprintf(encoded, -32099)},
		{"6.2.15", -32042, `{"code":-32603,"message":"m"}`},
		{"6.2.15", -32002, fmt.Sprintf(plain, -32002)},
		{"6.2.15", -32000, fmt.Sprintf(plain, -32000)},
		{"6.2.15", -32019, fmt.Sprintf(plain, -32019)},
	} {
		for _, f := range forwarded {
			params := f.params
			if params != "" {
				params += ","
			}
			all = append(all, leakExchange{c.row, fmt.Sprintf("%d of a server at %s", c.code, f.method), "", fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s"com.acme/q":0}}
b>u {"jsonrpc":"2.0","id":9001,"method":%[1]q,"params":{%[2]s"com.acme/q":0,"_meta":"@UMN"}}
u>b [400] {"jsonrpc":"2.0","id":9001,"error":%[3]s}
b>c {"jsonrpc":"2.0","id":1,"error":%[4]s}
`, f.method, params, fmt.Sprintf(plain, c.code), c.told)})
		}
	}
	for _, code := range []int{-32020, -32021, -32022, -32023, -32042, -32099} {
		row := "6.1.12"
		if code == -32042 {
			row = "6.2.15"
		}
		all = append(all, leakExchange{row, fmt.Sprintf("%d in a task that failed", code), "", made + fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","taskId":"tk-5","status":"failed",%s,"ttlMs":90000,"error":{"code":%d,"message":"m"}}}
b>c {"jsonrpc":"2.0","id":1,"error":%s}
`, stamps, code, ended[code])})
	}
	return append(all, leakExchange{"6.1.12", "-32020 of a server", "", `c>b {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"brief"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/get","params":{"name":"brief","_meta":"@UMN"}}
u>b [400] {"jsonrpc":"2.0","id":9001,"error":{"code":-32020,"message":"Header mismatch","data":{"header":"Mcp-Name"}}}
b>u {"jsonrpc":"2.0","id":9002,"method":"prompts/get","params":{"name":"brief","_meta":"@UMN"}}
u>b [400] {"jsonrpc":"2.0","id":9002,"error":{"code":-32020,"message":"Header mismatch","data":{"header":"Mcp-Name"}}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"<text>"}}
`})
}
