package adapter_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A carrier is a conversation with holes: places of the protocol where a token of
// the other era can stand. What stands there goes in with what the client or the
// server says, and must come out as it is expected to.
//
//	‹m›  more members of the object that matters
//	‹k›  more keys of its _meta
//	‹x›  more members of a vendor's object beside them
type carrier struct {
	// from is who says it: client or server.
	from string
	// setup is the section of that name of a conversation.
	setup, text string
}

// fill returns setup and conversation with a hole filled: with the one text where
// something goes in, with the other where it comes out. The other holes are empty.
func (c carrier) fill(hole, in, out string) (setup, text string) {
	fill := func(line, with string) string {
		for _, h := range []string{"‹m›", "‹k›", "‹x›"} {
			if h != hole {
				line = strings.ReplaceAll(line, h, "")
			}
		}
		return strings.ReplaceAll(line, hole, with)
	}
	for line := range strings.Lines(c.text) {
		with := in
		if strings.HasPrefix(line, "b>") {
			with = out
		}
		text += fill(line, with)
	}
	return fill(c.setup, in), text
}

// forwarded are the requests that pass, with what the server answers and what the
// client gets of it.
var forwarded = []struct{ method, params, result, told string }{
	{"tools/list", ``, `"tools":[{"name":"a","inputSchema":{"type":"object"}}]`, `"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]`},
	{"tools/call", `"name":"smelt","arguments":{"a":1}`, `"content":[{"type":"text","text":"t"}]`, ``},
	{"prompts/list", ``, `"prompts":[{"name":"brief"}]`, ``},
	{"prompts/get", `"name":"brief"`, `"messages":[]`, ``},
	{"resources/list", ``, `"resources":[]`, ``},
	{"resources/templates/list", ``, `"resourceTemplates":[]`, ``},
	{"resources/read", `"uri":"vein://1"`, `"contents":[{"uri":"vein://1","text":"t"}]`, ``},
	{"completion/complete", `"ref":{"type":"ref/prompt","name":"brief"},"argument":{"name":"a","value":"b"}`, `"completion":{"values":["b"]}`, ``},
	{"com.acme/dig", `"deep":true`, `"found":1`, ``},
}

// stamps are the members that every task has.
const stamps = `"createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z"`

// made is the beginning of a conversation about a task of the backend.
const made = `c>b {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"smelt","task":{}}}
b>u {"jsonrpc":"2.0","id":9039,"method":"tools/call","params":{"name":"smelt","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9039,"result":{"resultType":"task","taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000}}
b>c {"jsonrpc":"2.0","id":39,"result":{"task":{"taskId":"b.tk-5","status":"working",` + stamps + `,"ttl":90000},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}}
`

// carriers are the places by name. The ones that are not results of requests are
// written out; the others are made from forwarded.
func carriers() map[string]carrier {
	all := maps.Clone(special)
	maps.Copy(all, questionCarriers())
	for _, f := range forwarded {
		params, told := f.params, f.told
		if params != "" {
			params += ","
		}
		if told == "" {
			told = f.result
		}
		all["params of "+f.method] = carrier{from: "client", text: fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>u {"jsonrpc":"2.0","id":9001,"method":%[1]q,"params":{%[2]s"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"...":"@UMN","com.acme/k":{"n":1.0‹x›}‹k›}}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete",%[3]s}}
b>c {"jsonrpc":"2.0","id":1,"result":{%[4]s}}
`, f.method, params, f.result, told)}
		all["result of "+f.method] = carrier{from: "server", text: fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s"com.acme/q":0}}
b>u {"jsonrpc":"2.0","id":9001,"method":%[1]q,"params":{%[2]s"com.acme/q":0,"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{%[3]s,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{%[4]s,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
`, f.method, params, f.result, told)}
	}
	return all
}

// namedCarriers returns the names of the carriers that begin with one of these words.
func namedCarriers(words ...string) []string { return namesOf(carriers(), words...) }

// namesOf returns the names in all that begin with one of these words.
func namesOf(all map[string]carrier, words ...string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(name, w) }) {
			names = append(names, name)
		}
	}
	return names
}

// listening is the beginning of a conversation with a subscription.
const listening = `c>b [GET]
b>u {"jsonrpc":"2.0","id":9090,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":"@UMN"}}
u>b [on 9090] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":9090}}}
`

var special = map[string]carrier{
	"arguments": {from: "client", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smelt","arguments":{"n":1.0‹x›}}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"smelt","arguments":{"n":1.0‹x›},"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","content":[],"structuredContent":{"n":1.0‹x›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":1.0‹x›}}}
`},
	"capabilities of a client": {from: "client", setup: `client: {"com.acme/v":{"n":1.0‹x›}‹m›}` + "\n", text: `c>b {"jsonrpc":"2.0","id":2,"method":"prompts/list"}
b>u {"jsonrpc":"2.0","id":9002,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"3.1.0"},"io.modelcontextprotocol/clientCapabilities":{"com.acme/v":{"n":1.0‹x›}‹m›}}}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","prompts":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}
`},
	"capabilities of a server": {from: "server", setup: "session: none\n", text: `c>b {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"orbit","version":"3.1.0"}}}
b>u {"jsonrpc":"2.0","id":9001,"method":"server/discover","params":{"_meta":"@UM0"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"com.acme/v":{"n":1.0‹x›}‹m›},"ttlMs":86400000,"cacheScope":"public"}}
b>c {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"com.acme/v":{"n":1.0‹x›}‹m›},"serverInfo":{"name":"quarry","version":"0"}}}
`},
	"result of server/discover": {from: "server", setup: "session: none\n", text: `c>b {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"orbit","version":"3.1.0"}}}
b>u {"jsonrpc":"2.0","id":9001,"method":"server/discover","params":{"_meta":"@UM0"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"quarry","version":"0"},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"task that was made": {from: "server", text: `c>b {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"smelt","task":{}}}
b>u {"jsonrpc":"2.0","id":9039,"method":"tools/call","params":{"name":"smelt","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9039,"result":{"resultType":"task","taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":39,"result":{"task":{"taskId":"b.tk-5","status":"working",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"},"com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"task of tasks/get": {from: "server", text: made + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"taskId":"b.tk-5","status":"working",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"task of tasks/list": {from: "server", text: made + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/list"}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›}}
b>c {"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"b.tk-5","status":"working",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›}]}}
`},
	"task of tasks/cancel": {from: "server", text: made + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tasks/cancel","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete"}}
b>c {"jsonrpc":"2.0","id":1,"result":{"taskId":"b.tk-5","status":"cancelled","statusMessage":"<text>","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"<now>","ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›}}
`},
	"nested result": {from: "server", text: made + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"taskId":"tk-5","status":"completed",` + stamps + `,"ttlMs":90000,"result":{"content":[],"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[],"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›,"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}}
`},
	"task that changed": {from: "server", text: `c>b [GET]
` + made + `b>u {"jsonrpc":"2.0","id":9090,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["tk-5"]},"_meta":"@UM"}}
u>b [on 9090] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":["tk-5"]},"_meta":{"io.modelcontextprotocol/subscriptionId":9090}}}
u>b [on 9090] {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"tk-5","status":"completed",` + stamps + `,"ttlMs":90000,"result":{"content":[]},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"io.modelcontextprotocol/subscriptionId":9090,"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on GET] {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"b.tk-5","status":"completed",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>u [abort | on 9090]
`},
	"change of a list": {from: "server", setup: `upstream: {"tools":{"listChanged":true}}` + "\n", text: listening + `u>b [on 9090] {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on GET] {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
`},
	"progress": {from: "server", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smelt","_meta":{"progressToken":"p"}}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"smelt","_meta":{"...":"@UMN","progressToken":70001}}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":70001,"progress":1,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on 1] {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`},
	"message of the log": {from: "server", text: `c>b {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}
b>c {"jsonrpc":"2.0","id":1,"result":{}}
c>b {"jsonrpc":"2.0","id":2,"method":"prompts/list"}
b>u {"jsonrpc":"2.0","id":9002,"method":"prompts/list","params":{"_meta":{"...":"@UMN","io.modelcontextprotocol/logLevel":"info"}}}
u>b [on 9002] {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.0‹x›},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
b>c [on 2] {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.0‹x›},"com.acme/v":{"n":1.0‹x›}‹m›,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","prompts":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}
`},
	"data of an error": {from: "server", text: `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smelt"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"smelt","_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"error":{"code":-32603,"message":"m","data":{"n":1.0‹x›}}}
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m","data":{"n":1.0‹x›}}}
`},
}

// plain returns the conversation with nothing in its holes.
func (c carrier) plain() string {
	_, text := c.fill("‹m›", "", "")
	return text
}
