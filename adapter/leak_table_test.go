package adapter_test

import (
	"fmt"
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// A token is a row of PROTOCOL.md §6 at places that a carrier has: what stands in
// the hole goes in as in and must come out as out. What is not said is stripped.
type token struct {
	row  string // as testdata/spec/leaks.txt counts
	at   []string
	hole string
	in   string
	out  string
}

func key(name, value string) string { return "," + string(wire.String(name)) + ":" + value }

var (
	everyResult  = namedCarriers("result of", "nested result")
	everyParams  = namedCarriers("params of")
	everyTask    = namedCarriers("task of", "task that")
	notification = []string{"change of a list", "progress", "message of the log"}
	cacheable    = []string{
		"result of tools/list", "result of prompts/list", "result of resources/list", "result of resources/templates/list",
		"result of resources/read", "result of server/discover",
	}
	asking       = []string{"result of tools/call", "result of prompts/get", "result of resources/read", "nested result"}
	askingParams = []string{"params of tools/call", "params of prompts/get", "params of resources/read"}
)

// but returns the names without those that are left out.
func but(names []string, out ...string) (left []string) {
	for _, name := range names {
		if !strings.Contains("\n"+strings.Join(out, "\n")+"\n", "\n"+name+"\n") {
			left = append(left, name)
		}
	}
	return left
}

const (
	aTask     = `{"ttl":60000}`
	aRelated  = `{"taskId":"theirs"}`
	extension = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// tokens are the rows that a member or a key of _meta is, with the places where
// the row says what becomes of it, and those where the same name is somebody's own.
var tokens = []token{
	{"6.1.1", but(everyResult, "result of server/discover"), "‹m›", `,"resultType":"complete"`, ``},
	{"6.1.1", []string{"result of server/discover", "task of tasks/get", "task of tasks/list", "task of tasks/cancel", "task that changed"}, "‹m›", `,"resultType":"complete"`, ``},
	{"6.1.1", []string{"task of tasks/get", "task of tasks/list", "task that changed"}, "‹m›", `,"resultType":"task"`, ``},
	{"6.1.2", cacheable, "‹m›", `,"ttlMs":60000,"cacheScope":"public"`, ``},
	{"6.1.2", but(everyResult, cacheable...), "‹m›", `,"ttlMs":7,"cacheScope":"x"`, `,"ttlMs":7,"cacheScope":"x"`},
	{"6.1.4", asking, "‹m›", `,"inputRequests":{},"requestState":"s"`, ``},
	{"6.1.4", but(everyResult, append(asking, "result of server/discover")...), "‹m›", `,"inputRequests":{},"requestState":"s"`, `,"inputRequests":{},"requestState":"s"`},
	{"6.1.5", askingParams, "‹m›", `,"inputResponses":{"k":{"action":"accept"}},"requestState":"s"`, ``},
	{"6.1.5", but(everyParams, askingParams...), "‹m›", `,"inputResponses":{"k":1},"requestState":"s"`, `,"inputResponses":{"k":1},"requestState":"s"`},
	{"6.1.6", append(everyResult, notification...), "‹k›", key(wire.MetaProtocolVersion, `"2026-07-28"`), ``},
	{"6.1.6", append(everyResult, notification...), "‹k›", key(wire.MetaClientInfo, `{"name":"x","version":"1"}`), ``},
	{"6.1.6", append(everyResult, notification...), "‹k›", key(wire.MetaClientCapabilities, `{}`), ``},
	{"6.1.6", append(everyResult, notification...), "‹k›", key(wire.MetaLogLevel, `"debug"`), ``},
	{"6.1.6", everyParams, "‹k›", key(wire.MetaClientInfo, `{"name":"x","version":"1"}`), ``},
	{"6.1.6", everyParams, "‹k›", key(wire.MetaClientCapabilities, extension), ``},
	{"6.1.6", everyParams, "‹k›", key(wire.MetaLogLevel, `"debug"`), ``},
	{"6.1.7", append(everyResult, "progress", "change of a list", "message of the log", "task of tasks/get", "task that changed"), "‹k›", key(wire.MetaServerInfo, `{"name":"quarry","version":"0"}`), ``},
	{"6.1.7", append(everyResult, "progress", "message of the log", "task of tasks/get"), "‹k›", key(wire.MetaSubscriptionID, `7`), ``},
	{"6.1.7", everyParams, "‹k›", key(wire.MetaServerInfo, `{"name":"x","version":"1"}`), ``},
	{"6.1.7", everyParams, "‹k›", key(wire.MetaSubscriptionID, `7`), ``},
	{"6.1.8", []string{"capabilities of a server"}, "‹m›", `,"extensions":{"io.modelcontextprotocol/tasks":{"v":1},"com.acme/x":{}}`, `,"tasks":{"requests":{"tools":{"call":{}}},"cancel":{},"list":{}},"extensions":{"com.acme/x":{}}`},
	{"6.1.8", []string{"capabilities of a client"}, "‹m›", `,"extensions":{"io.modelcontextprotocol/tasks":{},"com.acme/x":{}}`, `,"extensions":{"com.acme/x":{}}`},
	{"6.1.9", everyTask, "‹m›", `,"requestState":"s"`, ``},
	{"6.1.9", everyTask, "‹m›", `,"pollIntervalMs":2000`, `,"pollInterval":2000`},
	{"6.1.9", but(everyTask, "task that changed"), "‹m›", `,"result":{"content":[]}`, ``},
	{"6.1.9", everyTask, "‹m›", `,"error":{"code":-32000,"message":"m"}`, ``},
	{"6.1.9", everyTask, "‹m›", `,"inputRequests":{}`, ``},
	{"6.1.10", []string{"result of tools/list"}, "‹m›", `,"x-mcp-header":"X"`, `,"x-mcp-header":"X"`}, // a vendor's; for schemas see exchanges
	{"6.2.5", but(everyParams, "params of tools/call"), "‹m›", key("task", aTask), ``},
	{"6.2.6", []string{"result of tools/call", "nested result"}, "‹m›", `,"task":{"taskId":"t","status":"working"}`, ``},
	{"6.2.6", []string{"result of tools/call", "nested result"}, "‹m›", `,"task":"t"`, `,"task":"t"`},
	{"6.2.7", everyTask, "‹m›", `,"pollInterval":5`, ``},
	{"6.2.7", everyTask, "‹m›", `,"ttl":5`, ``},
	{"6.2.9", []string{"capabilities of a server"}, "‹m›", `,"tasks":{"requests":{"tools":{"call":{}}}}`, ``},
	{"6.2.9", []string{"capabilities of a client"}, "‹m›", `,"tasks":{"list":{},"requests":{"elicitation":{"create":{}}}}`, ``},
	{"6.2.10", []string{"capabilities of a client"}, "‹m›", `,"roots":{"listChanged":true}`, `,"roots":{}`},
	{"6.2.11", everyParams, "‹k›", key(wire.MetaRelatedTask, aRelated), ``},
	{"6.2.11", everyParams, "‹k›", key(wire.MetaImmediateResponse, `"x"`), ``},
	{"6.2.11", append(everyResult, "progress", "change of a list", "message of the log", "task of tasks/get", "task that changed", "task that was made"), "‹k›", key(wire.MetaRelatedTask, aRelated), ``},
	{"6.2.11", append(everyResult, "progress", "change of a list", "message of the log", "task of tasks/get", "task that changed", "task that was made"), "‹k›", key(wire.MetaImmediateResponse, `"x"`), ``},
	{"6.2.21", but(everyTask, "task of tasks/cancel"), "‹m›", `,"statusMessage":"poll tasks/result, then notifications/tasks/status"`, `,"statusMessage":"poll tasks/result, then notifications/tasks/status"`},
	{"6.2.19", but(everyResult, "nested result"), "‹m›", ``, ``},
}

// everyToken are all of them.
var everyToken = append(tokens, questionTokens...)

// name says where a token stands.
func (tk *token) name(place string) string {
	return fmt.Sprintf("§%s %s in the %s", tk.row, strings.Trim(tk.in, ","), place)
}
