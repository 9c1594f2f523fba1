package adapter_test

import (
	"fmt"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// asked are the questions of a server, with what a client answers.
var asked = []struct{ method, params, answer string }{
	{"elicitation/create", `"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{"g":{"type":"string"}}}`, `"action":"accept","content":{"g":"A","n":1.0‹x›}`},
	{"sampling/createMessage", `"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":16`, `"role":"assistant","content":{"type":"text","text":"A"},"model":"m"`},
	{"roots/list", ``, `"roots":[{"uri":"file:///a","name":"n"}]`},
}

// questionCarriers are the places of questions and answers, of a call and of a
// task. ‹k› is beside the params of a question, and in the _meta of an answer.
func questionCarriers() map[string]carrier {
	all := map[string]carrier{}
	for _, a := range asked {
		params := a.params
		if params != "" {
			params += ","
		}
		question := fmt.Sprintf(`{"method":%q‹k›,"params":{%s"com.acme/v":{"n":1.0‹x›}‹m›}}`, a.method, params)
		heard := fmt.Sprintf(`"method":%q,"params":{%s"com.acme/v":{"n":1.0‹x›}‹m›`, a.method, params)
		all["question of a call, "+a.method] = carrier{from: "server", text: call(question, heard, a.answer, a.answer)}
		all["question of a task, "+a.method] = carrier{from: "server", text: pending(question, heard, a.answer, a.answer)}
		bare, heardBare := removeHoles(question), removeHoles(heard)
		told := a.answer + `‹m›`
		all["answer of a call, "+a.method] = carrier{from: "client", text: call(bare, heardBare, told, told)}
		all["answer of a task, "+a.method] = carrier{from: "client", text: pending(bare, heardBare, told, told)}
	}
	return all
}

// removeHoles leaves the holes out.
func removeHoles(text string) string {
	_, out := carrier{text: text}.fill("‹m›", "", "")
	return out
}

// call is a call whose server asks before it answers.
func call(question, heard, answer, told string) string {
	return `c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"blast"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"blast","_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"input_required","inputRequests":{"k":` + question + `}}}
b>c [on 1] {"jsonrpc":"2.0","id":501,` + heard + `}}
c>b {"jsonrpc":"2.0","id":501,"result":{` + answer + `}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tools/call","params":{"name":"blast","inputResponses":{"k":{` + told + `}},"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`
}

// pending is a task that waits for an answer.
func pending(question, heard, answer, told string) string {
	related := `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}`
	heard += `,` + related
	return made + `c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","taskId":"tk-5","status":"input_required",` + stamps + `,"ttlMs":90000,"inputRequests":{"k":` + question + `}}}
b>c [on 1] {"jsonrpc":"2.0","id":501,` + heard + `}
c>b {"jsonrpc":"2.0","id":501,"result":{` + answer + `}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tasks/update","params":{"taskId":"tk-5","inputResponses":{"k":{` + told + `}},"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete"}}
wait 300ms
b>u {"jsonrpc":"2.0","id":9003,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9003,"result":{"resultType":"complete","taskId":"tk-5","status":"completed",` + stamps + `,"ttlMs":90000,"result":{"content":[]}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}}
`
}

var (
	questions = namedCarriers("question of")
	answers   = []string{
		"answer of a call, elicitation/create", "answer of a task, elicitation/create",
		"answer of a call, roots/list", "answer of a task, roots/list",
	}
)

// questionExchanges are the rows about questions that are more than a member.
var questionExchanges = []leakExchange{
	{"6.2.12", "the id of a question with a URL is the bridge's own", "", call(
		`{"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://a.test/","elicitationId":"theirs"}}`,
		`"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://a.test/","elicitationId":"<uuid>"`,
		`"action":"accept"`, `"action":"accept"`)},
	{"6.2.12", "where there is no URL it is a vendor's", "", call(
		`{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"elicitationId":"theirs"}}`,
		`"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"elicitationId":"theirs"`,
		`"action":"decline"`, `"action":"decline"`)},
}

// questionTokens are the rows about questions and answers.
var questionTokens = []token{
	{"6.2.13", questions, "‹m›", `,"_meta":{"com.acme/k":1}`, ``},
	{"6.2.13", questions, "‹m›", key("_meta", `{`+key(wire.MetaRelatedTask, aRelated)[1:]+`}`), ``},
	{"6.2.13", questions, "‹m›", key("task", aTask), ``},
	{"6.2.13", questions, "‹k›", `,"jsonrpc":"2.0","id":7`, ``},
	{"6.2.14", answers, "‹m›", `,"_meta":{"com.acme/k":1}`, ``},
	{"6.2.14", answers, "‹m›", key("_meta", `{`+key(wire.MetaRelatedTask, aRelated)[1:]+`}`), ``},
}
