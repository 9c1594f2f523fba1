package adapter_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// ownCell is a cell of peers of one era, in the words of conversations.
type ownCell struct {
	setup string
	// meta is what the _meta of every request of the client begins with, and answers
	// what every result does.
	meta, answers string
	// asksTask is what a call says that may be a task, and task the answer that makes one.
	asksTask, task string
	// learning is what the bridge asks the server of itself before a call.
	learning string
	// foreign are the keys of _meta that belong to the other era (S-3).
	foreign []string
	// codes are error codes that belong to the other era, and some that no era has.
	codes []int
	// row is that of the other era's methods and notifications, unknown the status with
	// which they are refused to a client, and refusal the answer that a server gets.
	row                    string
	methods, notifications []string
	unknown, refusal       string
	// headers are those that go no further, and headersRow is theirs.
	headers    []string
	headersRow string
}

var ownCells = map[string]ownCell{
	"legacy/legacy": {
		setup:    "cell: legacy/legacy\n",
		asksTask: `,"task":{"ttl":5}`,
		task:     `"task":{"taskId":"tk-5","status":"working",` + stamps + `,"ttl":90000,"com.acme/v":{"n":1.0‹x›}‹m›}`,
		foreign:  []string{wire.MetaProtocolVersion, wire.MetaClientInfo, wire.MetaClientCapabilities, wire.MetaLogLevel, wire.MetaServerInfo, wire.MetaSubscriptionID},
		codes:    []int{-32020, -32021, -32022, -32023, -32099},

		row:     "6.1.11",
		methods: []string{"server/discover", "subscriptions/listen", "tasks/update"}, notifications: []string{"notifications/tasks", "notifications/subscriptions/acknowledged"},
		unknown: "200", refusal: `{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"<text>"}}`,
		headers: []string{"Mcp-Method", "Mcp-Name", "Mcp-Param-Site"}, headersRow: "6.1.13",
	},
	"modern/modern": {
		setup: "cell: modern/modern\n",
		meta:  `"...":"@MTES",`, answers: `"resultType":"complete",`,
		task: `"resultType":"task","taskId":"tk-5","status":"working",` + stamps + `,"ttlMs":90000,"com.acme/v":{"n":1.0‹x›}‹m›`,
		learning: `b>u {"jsonrpc":"2.0","id":9090,"method":"server/discover","params":{"_meta":"@MTES"}}
u>b {"jsonrpc":"2.0","id":9090,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":86400000,"cacheScope":"public"}}
b>u {"jsonrpc":"2.0","id":9091,"method":"tools/list","params":{"_meta":"@MTES"}}
u>b {"jsonrpc":"2.0","id":9091,"result":` + tools + `}
`,
		foreign: []string{wire.MetaRelatedTask, wire.MetaImmediateResponse},
		codes:   []int{-32002, -32042},

		row: "6.2.1",
		methods: []string{
			"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list",
			"roots/list", "sampling/createMessage", "elicitation/create",
		},
		notifications: []string{
			"notifications/initialized", "notifications/roots/list_changed", "notifications/elicitation/complete", "notifications/tasks/status",
		},
		unknown: "404",
		headers: []string{"Mcp-Session-Id", "Last-Event-ID", "Mcp-Param-Site"}, headersRow: "6.2.16",
	},
}

// carriers are the places where a member can stand that means something in the other
// era, and where one of a peer's own passes.
func (o ownCell) carriers() map[string]carrier {
	all := map[string]carrier{}
	for _, f := range forwarded {
		params := f.params
		if params != "" {
			params += ","
		}
		method, more, keys := f.method, `"com.acme/v":{"n":1.0‹x›}‹m›`, `"com.acme/k":{"n":1.0‹x›}‹k›`
		all["params of "+method] = carrier{from: "client", setup: o.setup, text: o.exchange(method,
			params+more+`,"_meta":{`+o.meta+keys+`}`, o.answers+f.result)}
		about := params + `"com.acme/q":0`
		if o.meta != "" {
			about += `,"_meta":{` + strings.TrimSuffix(o.meta, ",") + `}`
		}
		all["result of "+method] = carrier{from: "server", setup: o.setup, text: o.exchange(method,
			about, o.answers+f.result+`,`+more+`,"_meta":{`+keys+`}`)}
	}
	meta := ""
	if o.meta != "" {
		meta = `,"_meta":{` + strings.TrimSuffix(o.meta, ",") + `}`
	}
	all["arguments"] = carrier{from: "client", setup: o.setup, text: o.exchange("tools/call",
		`"name":"smelt","arguments":{"n":1.0‹x›}`+meta, o.answers+`"content":[{"type":"text","text":"t","_meta":{"n":1.0‹x›}}],"structuredContent":{"n":1.0‹x›}`)}
	task := o.exchange("tools/call", `"name":"smelt"`+o.asksTask+meta, o.task+`,"_meta":{"com.acme/k":{"n":1.0‹x›}‹k›}`)
	before, after, _ := strings.Cut(task, "\nb>c ")
	all["task that was made"] = carrier{from: "server", setup: o.setup, text: before + "\nb>c " + strings.Replace(after, `"tk-5"`, `"b.tk-5"`, 1)}
	return all
}

// exchange is a request that passes as it is, and so does its answer.
func (o ownCell) exchange(method, params, result string) string {
	learning := ""
	if method == "tools/call" {
		learning = o.learning
	}
	return fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%[1]q,"params":{%[2]s}}
%[4]sb>u {"jsonrpc":"2.0","id":9001,"method":%[1]q,"params":{%[2]s}}
u>b {"jsonrpc":"2.0","id":9001,"result":{%[3]s}}
b>c {"jsonrpc":"2.0","id":1,"result":{%[3]s}}
`, method, params, result, learning)
}

// tokens are those of both directions. Members are somebody's own, and only the keys
// of _meta that belong to the other era go. The tasks of a legacy server are sealed
// wherever they are named (S-2).
func (o ownCell) tokens(all map[string]carrier) (tokens []token) {
	seen := map[string]bool{}
	for _, tk := range slices.Concat(everyToken, everyDownToken) {
		if tk.in == "" {
			continue
		}
		foreign := tk.hole == "‹k›" && slices.ContainsFunc(o.foreign, func(name string) bool { return strings.HasPrefix(tk.in, key(name, "")) })
		for _, place := range tk.at {
			what := tk.hole + tk.in + place
			if c, found := all[place]; !found || seen[what] || o.says(place, c.text, tk.in) {
				continue
			}
			seen[what] = true
			in := tk.in
			if o.meta != "" && slices.Contains(askingParams, place) {
				in = strings.Replace(in, `,"requestState":"s"`, "", 1) // one that nobody was given is refused (DESIGN §4.4)
			}
			one := token{tk.row, []string{place}, tk.hole, in, in}
			switch {
			case foreign:
				one.out = ""
			case o.meta == "" && all[place].from == "server":
				one.out = strings.NewReplacer(`"taskId":"`, `"taskId":"b.`).Replace(tk.in)
			}
			tokens = append(tokens, one)
		}
	}
	return tokens
}

// says reports whether a peer says this member already.
func (o ownCell) says(place, text, member string) bool {
	if strings.HasPrefix(place, "params") && o.meta != "" {
		text += string(macros["@MTES"])
	}
	name, _, _ := strings.Cut(member[1:], ":")
	return strings.Contains(text, name+":")
}

// half is what is put to the proof in the cell.
func (o ownCell) half() leakHalf {
	all := o.carriers()
	return leakHalf{carriers: all, tokens: o.tokens(all), exchanges: o.exchanges(), own: true}
}

// exchanges are the rows that are more than a member.
func (o ownCell) exchanges() (all []leakExchange) {
	const data = `{"requiredCapabilities":{"x":{}},"supported":["1"],"requested":"2"}`
	about := `"com.acme/q":0`
	if o.meta != "" {
		about += `,"_meta":{` + strings.TrimSuffix(o.meta, ",") + `}`
	}
	for _, code := range []int{-32000, -32002, -32019, -32020, -32021, -32022, -32023, -32042, -32099} {
		row, setupText := "6.1.12", o.setup
		if code > -32020 || code == -32042 {
			row = "6.2.15"
		}
		said := fmt.Sprintf(`{"code":%d,"message":"m","data":%s}`, code, data)
		told, status, again, last := said, "200", "", "9001"
		if o.meta != "" && code <= -32020 && code >= -32022 {
			status = "400"
		}
		if o.meta != "" && code == -32020 { // the request is made once more (§3.8)
			last = "9002"
			again = fmt.Sprintf(`u>b {"jsonrpc":"2.0","id":9001,"error":%s}
b>u {"jsonrpc":"2.0","id":9002,"method":"prompts/list","params":{%s}}
`, said, about)
		}
		if slices.Contains(o.codes, code) {
			told, setupText = `{"code":-32603,"message":"m"}`, setupText+"filter: hit\n"
		}
		all = append(all, leakExchange{row, fmt.Sprintf("%d of a server", code), setupText, fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{%[1]s}}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/list","params":{%[1]s}}
%[5]su>b {"jsonrpc":"2.0","id":%[6]s,"error":%[2]s}
b>c [%[4]s] {"jsonrpc":"2.0","id":1,"error":%[3]s}
`, about, said, told, status, again, last)})
	}
	for _, method := range o.methods {
		all = append(all, leakExchange{o.row, method + " of a client", o.setup, fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":%q,"params":{"taskId":"t","uri":"ore://1","level":"info",%s}}
b>c [%s] {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"<text>"}}
wait 10s
`, method, about, o.unknown)})
		all = append(all, leakExchange{o.row, method + " of a server", o.setup, o.meanwhile(about,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":{"taskId":"t"}}`, method), o.refusal)})
	}
	for _, method := range o.notifications {
		setupText := o.setup
		if o.meta != "" {
			setupText += "filter: hit\n"
		}
		all = append(all, leakExchange{o.row, method + " of a client", o.setup, fmt.Sprintf(`c>b {"jsonrpc":"2.0","method":%q,"params":{"taskId":"t"}}
wait 10s
`, method)})
		all = append(all, leakExchange{o.row, method + " of a server", setupText, o.meanwhile(about,
			fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"taskId":"t"}}`, method), "")})
	}
	return append(all, leakExchange{o.headersRow, "headers", o.setup, fmt.Sprintf(`c>b [%[2]s] {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{%[1]s}}
b>u [%[3]s] {"jsonrpc":"2.0","id":9001,"method":"prompts/list","params":{%[1]s}}
u>b [%[2]s] {"jsonrpc":"2.0","id":9001,"result":{%[4]s"prompts":[]}}
b>c [%[3]s] {"jsonrpc":"2.0","id":1,"result":{%[4]s"prompts":[]}}
`, about, strings.Join(o.headers, ": x | ")+": x", "no "+strings.Join(o.headers, " | no "), o.answers)})
}

// meanwhile is a server that says something while it lists its prompts, and what the
// bridge says to that, if anything. The client hears nothing of it.
func (o ownCell) meanwhile(about, said, answer string) string {
	if answer != "" {
		answer = "b>u " + answer + "\n"
	}
	return fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{%[1]s}}
b>u {"jsonrpc":"2.0","id":9001,"method":"prompts/list","params":{%[1]s}}
u>b [on 9001] %[2]s
%[3]swait 300ms
u>b {"jsonrpc":"2.0","id":9001,"result":{%[4]s"prompts":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{%[4]s"prompts":[]}}
`, about, said, answer, o.answers)
}
