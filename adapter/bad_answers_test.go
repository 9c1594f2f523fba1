package adapter_test

import (
	"fmt"
	"strings"
	"testing"
)

// badAnswers are those that are none, of every kind of question and of all. One that
// another kind would take is here as well.
var badAnswers = map[string][]string{
	"":                       {`7`, `null`, `"accept"`, `true`, `[]`, `[{"action":"accept"}]`, `{}`, `{"error":{"code":-1,"message":"no"}}`, `{"result":{"action":"accept"}}`},
	"elicitation/create":     {`{"action":7}`, `{"action":null}`, `{"action":"maybe"}`, `{"action":""}`, `{"content":{}}`, `{"action":"accept","content":[]}`, `{"action":"accept","content":"x"}`, `{"roots":[]}`},
	"sampling/createMessage": {`{"role":"assistant","model":"m"}`, `{"role":7,"content":{"type":"text","text":"A"},"model":"m"}`, `{"content":{"type":"text","text":"A"},"model":"m"}`, `{"role":"assistant","content":7,"model":"m"}`, `{"action":"decline"}`},
	"roots/list":             {`{"roots":{}}`, `{"roots":null}`, `{"roots":"file:///a"}`, `{"action":"accept","content":{}}`},
}

// TestBadAnswers: an answer that is none for its kind is refused, of a parked call
// and of a task; nothing of it reaches the server, and the question can still be
// answered (B-P3, B-I5, B-I7).
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for _, a := range asked {
		params := a.params
		if params != "" {
			params += ","
		}
		question := fmt.Sprintf(`"method":%q,"params":{%s"com.acme/v":1`, a.method, params)
		answer := removeHoles(a.answer)
		for name, at := range map[string]struct{ text, retry, params string }{
			"a call": {parkedCall(question, answer, answer), `c>b {"jsonrpc":"2.0","id":2,`, `"method":"tools/call","params":{"name":"core","inputResponses":{"<key:1>":%s},"requestState":"<state:1>","_meta":"@MTES"}`},
			"a task": {pendingDown(question, answer, answer), `c>b {"jsonrpc":"2.0","id":3,`, `"method":"tasks/update","params":{"taskId":"h.LT1","inputResponses":{"<key:1>":%s},"_meta":"@MTES"}`},
		} {
			t.Run("B-I7 "+a.method+" of "+name, func(t *testing.T) {
				t.Parallel()
				bad := ""
				for i, body := range append(badAnswers[""], badAnswers[a.method]...) {
					bad += fmt.Sprintf(`c>b {"jsonrpc":"2.0","id":%[1]d,%[2]s}
b>c [200] {"jsonrpc":"2.0","id":%[1]d,"error":{"code":-32602,"message":"<text>"}}
`, 100+i, fmt.Sprintf(at.params, body))
				}
				before, after, found := strings.Cut(at.text, at.retry)
				if !found {
					t.Fatalf("no %s in\n%s", at.retry, at.text)
				}
				playText(t, downSetup, before+bad+at.retry+after)
			})
		}
	}
}
