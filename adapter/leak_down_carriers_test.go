package adapter_test

import (
	"fmt"
	"maps"
	"strings"
)

// The carriers of the other direction: a modern client in front of a legacy server.

// downSetup is how the bridge is set up for them. The server keeps no log, so that a
// level is not told to it.
const downSetup = `cell: modern/legacy
upstream: {"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}
`

// hints are those that the bridge gives itself.
const hints = `,"ttlMs":0,"cacheScope":"private"`

// forwardedDown are the requests that pass, with what the server answers and what
// the client gets of it.
var forwardedDown = []struct{ method, params, result, told string }{
	{"tools/list", ``, `"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]`, `"tools":[{"name":"a","inputSchema":{"type":"object"}}]` + hints},
	{"tools/call", `"name":"echo","arguments":{"a":1}`, `"content":[{"type":"text","text":"t"}]`, ``},
	{"prompts/list", ``, `"prompts":[{"name":"brief"}]`, `"prompts":[{"name":"brief"}]` + hints},
	{"prompts/get", `"name":"brief"`, `"messages":[]`, ``},
	{"resources/list", ``, `"resources":[]`, `"resources":[]` + hints},
	{"resources/templates/list", ``, `"resourceTemplates":[]`, `"resourceTemplates":[]` + hints},
	{"resources/read", `"uri":"ore://1"`, `"contents":[{"uri":"ore://1","text":"t"}]`, `"contents":[{"uri":"ore://1","text":"t"}]` + hints},
	{"completion/complete", `"ref":{"type":"ref/prompt","name":"brief"},"argument":{"name":"a","value":"b"}`, `"completion":{"values":["b"]}`, ``},
	{"com.acme/dig", `"deep":true`, `"found":1`, ``},
}

// madeDown is the beginning of a conversation about a task of the backend.
const madeDown = `c>b {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"bore","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8039,"method":"tools/call","params":{"name":"bore","task":{"ttl":3600000}}}
u>b {"jsonrpc":"2.0","id":8039,"result":{"task":{"taskId":"LT1","status":"working",` + stamps + `,"ttl":90000}}}
b>c {"jsonrpc":"2.0","id":39,"result":{"resultType":"task","taskId":"h.LT1","status":"working",` + stamps + `,"ttlMs":90000,"_meta":"@SB"}}
wait 3s
`

// listeningDown is the beginning of a conversation with a subscription.
const listeningDown = `c>b {"jsonrpc":"2.0","id":77,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":"@M0"}}
b>c [on 77] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":77}}}
`

// downCarriers are the places by name.
var downCarriers = func() map[string]carrier {
	all := maps.Clone(specialDown)
	maps.Copy(all, downQuestionCarriers())
	for _, f := range forwardedDown {
		params, told := f.params, f.told
		if params != "" {
			params += ","
		}
		if told == "" {
			told = f.result
		}
		all["params of "+f.method] = carrier{from: "client", text: fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"...":"@MES","com.acme/k":{"n":1.0‹x›}‹k›}}}
b>u {"jsonrpc":"2.0","id":8001,"method":%[1]q,"params":{%[2]s"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
u>b {"jsonrpc":"2.0","id":8001,"result":{%[3]s}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",%[4]s,"_meta":"@SB"}}
`, f.method, params, f.result, told)}
		all["result of "+f.method] = carrier{from: "server", text: fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s"com.acme/q":0,"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":%[1]q,"params":{%[2]s"com.acme/q":0}}
u>b {"jsonrpc":"2.0","id":8001,"result":{%[3]s,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",%[4]s,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"...":"@SB","com.acme/k":{"n":1.0‹x›}‹k›}}}
`, f.method, params, f.result, told)}
	}
	for name, c := range all {
		if !strings.HasPrefix(c.setup, "cell: ") {
			c.setup = downSetup + c.setup
			all[name] = c
		}
	}
	return all
}()

var specialDown = map[string]carrier{
	"arguments": {from: "client", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.0‹x›},"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.0‹x›}}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[{"type":"text","text":"t","_meta":{"n":1.0‹x›}},{"type":"resource","resource":{"uri":"ore://1","text":"t","com.acme/v":{"n":1.0‹x›}}}],"structuredContent":{"n":1.0‹x›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"t","_meta":{"n":1.0‹x›}},{"type":"resource","resource":{"uri":"ore://1","text":"t","com.acme/v":{"n":1.0‹x›}}}],"structuredContent":{"n":1.0‹x›},"_meta":"@SB"}}
`},
	"arguments of a task": {from: "client", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bore","arguments":{"n":1.0‹x›},"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"bore","arguments":{"n":1.0‹x›},"task":{"ttl":3600000}}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[],"structuredContent":{"n":1.0‹x›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"structuredContent":{"n":1.0‹x›},"_meta":"@SB"}}
`},
	"capabilities of a client": {from: "client", setup: "cell: modern/legacy\n", text: `c>b {"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"nova","version":"0.9.0"},"io.modelcontextprotocol/clientCapabilities":{"com.acme/v":{"n":1.0‹x›}‹m›}}}}
b>u {"jsonrpc":"2.0","id":8001,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"com.acme/v":{"n":1.0‹x›}‹m›},"clientInfo":{"name":"nova","version":"0.9.0"}}}
u>b [Mcp-Session-Id: LS-1] {"jsonrpc":"2.0","id":8001,"result":{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"basalt","version":"2.4.0"}}}
b>u {"jsonrpc":"2.0","id":8002,"method":"prompts/list","params":{}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"prompts":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","prompts":[]` + hints + `,"_meta":"@SB"}}
`},
	"capabilities of a server": {from: "server", setup: "cell: modern/legacy\n", text: `c>b {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}},"clientInfo":{"name":"nova","version":"0.9.0"}}}
u>b [Mcp-Session-Id: LS-1] {"jsonrpc":"2.0","id":8001,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"com.acme/v":{"n":1.0‹x›}‹m›},"serverInfo":{"name":"basalt","version":"2.4.0"}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"com.acme/v":{"n":1.0‹x›}‹m›}` + hints + `,"_meta":"@SB"}}
`},
	"result of initialize": {from: "server", setup: "cell: modern/legacy\n", text: `c>b {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":"@M0"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"nova","version":"0.9.0"}}}
u>b [Mcp-Session-Id: LS-1] {"jsonrpc":"2.0","id":8001,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"basalt","version":"2.4.0"},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"com.acme/v":{"n":1.0‹x›}‹m›` + hints + `,"_meta":{"...":"@SB","com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"task that was made": {from: "server", text: `c>b {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"bore","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8039,"method":"tools/call","params":{"name":"bore","task":{"ttl":3600000}}}
u>b {"jsonrpc":"2.0","id":8039,"result":{"task":{"taskId":"LT1","status":"working",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›},"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":39,"result":{"resultType":"task","taskId":"h.LT1","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"...":"@SB","com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"task of tasks/get": {from: "server", text: madeDown + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"h.LT1","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"taskId":"LT1","status":"working",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"h.LT1","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"...":"@SB","com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"nested result": {from: "server", text: madeDown + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"h.LT1","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"taskId":"LT1","status":"completed",` + stamps + `,"ttl":90000}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tasks/result","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[],"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"h.LT1","status":"completed",` + stamps + `,"ttlMs":90000,"result":{"resultType":"complete","content":[],"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}},"_meta":"@SB"}}
`},
	"task that changed": {from: "server", text: madeDown + `c>b {"jsonrpc":"2.0","id":"L1","method":"subscriptions/listen","params":{"notifications":{"taskIds":["h.LT1"]},"_meta":"@MTES"}}
b>c [on "L1"] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":["h.LT1"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"L1"}}}
u>b [on GET] {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"LT1","status":"cancelled",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on "L1"] {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"h.LT1","status":"cancelled",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"io.modelcontextprotocol/subscriptionId":"L1","com.acme/k":{"n":1.0‹x›}‹k›}}}
c>b [hang up | on "L1"]
`},
	"change of a list": {from: "server", text: listeningDown + `u>b [on GET] {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on 77] {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"io.modelcontextprotocol/subscriptionId":77,"com.acme/k":{"n":1.0‹x›}‹k›}}}
c>b [hang up | on 77]
`},
	"progress": {from: "server", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"...":"@MES","progressToken":"p"}}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":70001}}}
u>b [on 8001] {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":70001,"progress":1,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on 1] {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	"message of the log": {from: "server", setup: `upstream: {"tools":{},"logging":{}}` + "\n", text: `c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"...":"@MES","io.modelcontextprotocol/logLevel":"info"}}}
b>u {"jsonrpc":"2.0","id":8001,"method":"logging/setLevel","params":{"level":"info"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tools/call","params":{"name":"echo"}}
u>b [on 8002] {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.0‹x›},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on 2] {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.0‹x›},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	"data of an error": {from: "server", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":"@MES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"echo"}}
u>b {"jsonrpc":"2.0","id":8001,"error":{"code":-32603,"message":"m","data":{"n":1.0‹x›}}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m","data":{"n":1.0‹x›}}}
`},
	"error of a task": {from: "server", text: madeDown + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"h.LT1","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"taskId":"LT1","status":"failed",` + stamps + `,"ttl":90000}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tasks/result","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8002,"error":{"code":-32603,"message":"m","data":{"n":1.0‹x›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"h.LT1","status":"failed",` + stamps + `,"ttlMs":90000,"error":{"code":-32603,"message":"m","data":{"n":1.0‹x›}},"_meta":"@SB"}}
`},
}

// downQuestionCarriers are the places of questions and answers, of a call and of a
// task.
func downQuestionCarriers() map[string]carrier {
	all := map[string]carrier{}
	for _, a := range asked {
		params := a.params
		if params != "" {
			params += ","
		}
		question := fmt.Sprintf(`"method":%q,"params":{%s"com.acme/v":{"n":1.0‹x›}‹m›`, a.method, params)
		all["question of a call, "+a.method] = carrier{from: "server", text: parkedCall(question, a.answer, a.answer)}
		all["question of a task, "+a.method] = carrier{from: "server", text: pendingDown(question, a.answer, a.answer)}
		bare, told := removeHoles(question), a.answer+`‹m›`
		all["answer of a call, "+a.method] = carrier{from: "client", text: parkedCall(bare, told, told)}
		all["answer of a task, "+a.method] = carrier{from: "client", text: pendingDown(bare, told, told)}
	}
	return all
}

// parkedCall is a call whose server asks before it answers.
func parkedCall(question, answer, told string) string {
	return `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"core"}}
u>b [on 8001] {"jsonrpc":"2.0","id":0,` + question + `}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"<key:1>":{` + question + `}}},"requestState":"<state:1>","_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"core","inputResponses":{"<key:1>":{` + answer + `}},"requestState":"<state:1>","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":0,"result":{` + told + `}}
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`
}

// pendingDown is a task that waits for an answer.
func pendingDown(question, answer, told string) string {
	const (
		seen  = `{"taskId":"LT1","status":"input_required",` + stamps + `,"ttl":90000}`
		shown = `"taskId":"h.LT1","status":"working",` + stamps + `,"ttlMs":90000`
	)
	return madeDown + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"h.LT1","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8001,"result":` + seen + `}
b>u {"jsonrpc":"2.0","id":8002,"method":"tasks/result","params":{"taskId":"LT1"}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",` + shown + `,"_meta":"@SB"}}
u>b [on 8002] {"jsonrpc":"2.0","id":0,` + question + `}}
wait 3s
c>b {"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"h.LT1","_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":8003,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8003,"result":` + seen + `}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","taskId":"h.LT1","status":"input_required",` + stamps + `,"ttlMs":90000,"inputRequests":{"<key:1>":{` + question + `}}},"_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":3,"method":"tasks/update","params":{"taskId":"h.LT1","inputResponses":{"<key:1>":{` + answer + `}},"_meta":"@MTES"}}
b>u {"jsonrpc":"2.0","id":0,"result":{` + told + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"LT1"}}}}
b>c {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","_meta":"@SB"}}
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[]}}
b>u {"jsonrpc":"2.0","id":8004,"method":"tasks/get","params":{"taskId":"LT1"}}
u>b {"jsonrpc":"2.0","id":8004,"result":{"taskId":"LT1","status":"completed",` + stamps + `,"ttl":90000}}
`
}
