package adapter_test

import "github.com/taskbridge/taskbridge/internal/wire"

var (
	everyDownResult  = namesOf(downCarriers, "result of", "nested result")
	everyDownParams  = namesOf(downCarriers, "params of")
	everyDownTask    = namesOf(downCarriers, "task of", "task that")
	downAnswers      = namesOf(downCarriers, "answer of")
	everyDownMeta    = append(append(namesOf(downCarriers, "result of", "nested result"), notification...), everyDownTask...)
	downCacheable    = []string{"result of tools/list", "result of prompts/list", "result of resources/list", "result of resources/templates/list", "result of resources/read", "result of initialize"}
	downQuestions    = namesOf(downCarriers, "question of")
	downForwardedRes = but(everyDownResult, "result of initialize", "nested result")
)

// downTokens are the rows that a member or a key of _meta is, from a modern client
// to a legacy server and back.
var downTokens = []token{
	{"6.1.1", everyDownResult, "‹m›", `,"resultType":"complete"`, ``},
	{"6.1.1", everyDownResult, "‹m›", `,"resultType":"input_required"`, ``},
	{"6.1.1", everyDownResult, "‹m›", `,"resultType":7`, ``},
	{"6.1.1", everyDownTask, "‹m›", `,"resultType":"task"`, ``},
	{"6.1.1", downAnswers, "‹m›", `,"resultType":"complete"`, ``},
	{"6.1.2", downCacheable, "‹m›", `,"ttlMs":60000,"cacheScope":"public"`, ``},
	{"6.1.2", but(everyDownResult, downCacheable...), "‹m›", `,"ttlMs":7,"cacheScope":"x"`, `,"ttlMs":7,"cacheScope":"x"`},
	{"6.1.3", []string{"result of initialize"}, "‹m›", `,"supportedVersions":["2031-01-01"]`, ``},
	{"6.1.4", asking, "‹m›", `,"inputRequests":{},"requestState":"s"`, ``},
	{"6.1.4", but(downForwardedRes, asking...), "‹m›", `,"inputRequests":{},"requestState":"s"`, `,"inputRequests":{},"requestState":"s"`},
	{"6.1.5", askingParams, "‹m›", `,"inputResponses":{"k":{"action":"accept"}}`, ``},
	{"6.1.5", but(everyDownParams, askingParams...), "‹m›", `,"inputResponses":{"k":1},"requestState":"s"`, `,"inputResponses":{"k":1},"requestState":"s"`},
	{"6.1.6", everyDownParams, "‹k›", ``, ``}, // what every client says of itself
	{"6.1.6", everyDownParams, "‹k›", key(wire.MetaLogLevel, `"debug"`), ``},
	{"6.1.6", everyDownMeta, "‹k›", key(wire.MetaProtocolVersion, `"2026-07-28"`), ``},
	{"6.1.6", everyDownMeta, "‹k›", key(wire.MetaClientInfo, `{"name":"x","version":"1"}`), ``},
	{"6.1.6", everyDownMeta, "‹k›", key(wire.MetaClientCapabilities, `{}`), ``},
	{"6.1.6", everyDownMeta, "‹k›", key(wire.MetaLogLevel, `"debug"`), ``},
	{"6.1.7", append(everyDownMeta, everyDownParams...), "‹k›", key(wire.MetaServerInfo, `{"name":"x","version":"0"}`), ``},
	{"6.1.7", append(everyDownMeta, everyDownParams...), "‹k›", key(wire.MetaSubscriptionID, `7`), ``},
	{"6.1.8", []string{"capabilities of a server", "capabilities of a client"}, "‹m›", `,"extensions":{"io.modelcontextprotocol/tasks":{"v":1},"com.acme/x":{}}`, `,"extensions":{"com.acme/x":{}}`},
	{"6.1.8", []string{"capabilities of a server"}, "‹m›", `,"tasks":{"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{"v":1}}`, `,"extensions":{"io.modelcontextprotocol/tasks":{}}`},
	{"6.1.9", everyDownTask, "‹m›", `,"ttlMs":5`, ``},
	{"6.1.9", everyDownTask, "‹m›", `,"pollIntervalMs":5`, ``},
	{"6.1.9", everyDownTask, "‹m›", `,"requestState":"s"`, ``},
	{"6.1.9", everyDownTask, "‹m›", `,"result":{"content":[]}`, ``},
	{"6.1.9", everyDownTask, "‹m›", `,"error":{"code":-32000,"message":"m"}`, ``},
	{"6.1.9", everyDownTask, "‹m›", `,"inputRequests":{}`, ``},
	{"6.2.5", everyDownParams, "‹m›", key("task", aTask), ``},
	{"6.2.6", []string{"result of tools/call", "nested result"}, "‹m›", `,"task":"t"`, `,"task":"t"`},
	{"6.2.6", but(downForwardedRes, "result of tools/call"), "‹m›", `,"task":{"taskId":"t"}`, `,"task":{"taskId":"t"}`},
	{"6.2.7", everyDownTask, "‹m›", ``, ``}, // each has a ttl
	{"6.2.7", everyDownTask, "‹m›", `,"pollInterval":2000`, `,"pollIntervalMs":2000`},
	{"6.2.8", []string{"result of tools/list"}, "‹m›", ``, ``}, // its tool has one
	{"6.2.8", []string{"result of tools/list"}, "‹m›", `,"execution":{"taskSupport":"required"}`, `,"execution":{"taskSupport":"required"}`},
	{"6.2.9", []string{"capabilities of a server"}, "‹m›", `,"tasks":{"list":{},"cancel":{}}`, ``},
	{"6.2.9", []string{"capabilities of a client"}, "‹m›", `,"tasks":{"list":{},"requests":{"elicitation":{"create":{}}}}`, ``},
	{"6.2.10", []string{"capabilities of a client"}, "‹m›", `,"roots":{"listChanged":true}`, `,"roots":{}`},
	{"6.2.11", append(but(everyDownMeta, "message of the log"), everyDownParams...), "‹k›", key(wire.MetaRelatedTask, aRelated), ``},
	{"6.2.11", append(but(everyDownMeta, "task that was made"), everyDownParams...), "‹k›", key(wire.MetaImmediateResponse, `"x"`), ``},
	{"6.2.21", everyDownTask, "‹m›", `,"statusMessage":"poll tasks/result, then notifications/tasks/status"`, `,"statusMessage":"poll tasks/result, then notifications/tasks/status"`},
	{"6.2.19", everyDownResult, "‹m›", ``, ``},
}

// everyDownToken are all of them.
var everyDownToken = append(downTokens, downQuestionTokens...)

// downQuestionTokens are the rows about questions and answers.
var downQuestionTokens = []token{
	{"6.2.13", downQuestions, "‹m›", `,"_meta":{"com.acme/k":1}`, ``},
	{"6.2.13", downQuestions, "‹m›", key("_meta", `{`+key(wire.MetaProgressToken, `1`)[1:]+`}`), ``},
	{"6.2.13", downQuestions, "‹m›", key("task", aTask), ``},
	{"6.2.14", answers, "‹m›", `,"_meta":{"com.acme/k":1}`, ``},
	{"6.2.14", answers, "‹m›", key("_meta", `{`+key(wire.MetaRelatedTask, aRelated)[1:]+`}`), ``},
}
