package adapter_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// placed is a conversation whose requests go to the processes that are named.
type placed struct {
	name string // the promise or rule
	// setup and text are as in testdata/golden/conversation.
	setup, text string
	// at are the processes that the client's requests go to, in order. What is asked
	// before the conversation goes to the first process: it is the session's home.
	at []int
	// before is what happens before the step of this number, from 1.
	before map[int]func(p *player)
}

// play plays the conversation.
func (c *placed) play(t *testing.T) {
	t.Helper()
	script, err := conversation.Parse([]byte(c.text))
	if err != nil {
		t.Fatalf("%v\n%s", err, c.text)
	}
	s, err := parseSetup([]byte(strings.TrimSpace(c.setup)))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, step := range script.Steps {
		if step.Leg == conversation.ClientToBridge && step.Facts.Act != conversation.HangUp {
			asked++
		}
	}
	if asked != len(c.at) {
		t.Fatalf("the client asks %d times, at %v", asked, c.at)
	}
	p := player{script: script, setup: s, path: t.Name(), replaced: map[int]wire.Value{}, spread: &spread{at: c.at, before: c.before}}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		p.play(t)
	})
}

// task is how a conversation begins in which the client has made a task of its server.
const task = `
c>b {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"smelt","arguments":{},"task":{}}}
b>u {"jsonrpc":"2.0","id":9039,"method":"tools/call","params":{"name":"smelt","arguments":{},"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9039,"result":{"resultType":"task","taskId":"tk-5","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":900000,"pollIntervalMs":1000}}
b>c {"jsonrpc":"2.0","id":39,"result":{"task":{"taskId":"b.tk-5","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":900000,"pollInterval":1000},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}}
`

// say fills in what is said of the task.
func say(text string) string {
	return strings.NewReplacer(
		"$WORKING", `{"resultType":"complete","taskId":"tk-5","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":900000,"pollIntervalMs":1000}`,
		"$ASKING", `{"resultType":"complete","taskId":"tk-5","status":"input_required","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":900000,"pollIntervalMs":1000,"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Grade?","requestedSchema":{"type":"object","properties":{}}}}}}`,
		"$DONE", `{"resultType":"complete","taskId":"tk-5","status":"completed","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":900000,"pollIntervalMs":1000,"result":{"resultType":"complete","content":[]}}`,
		"$RESULT", `{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}`,
		"$FORM", `"params":{"message":"Grade?","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}`,
		"$PLAIN", `"params":{"message":"Grade?","requestedSchema":{"type":"object","properties":{}}}`,
		"$TASK", task,
	).Replace(text)
}

// replicaCases are requests of a session, a task or a call at another process than the one
// that has it.
var replicaCases = []placed{
	{name: "A-L11 a session is ended at another process, and gone at all", at: []int{1, 2, 0, 1, 2}, text: `
c>b [GET]
c>b [DELETE | as bye]
b>c [204 | on bye]
b>c [end | on GET]
c>b {"jsonrpc":"2.0","id":1,"method":"ping"}
b>c [404] {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":2,"method":"ping"}
b>c [404] {"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":3,"method":"ping"}
b>c [404] {"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"<text>"}}
`},
	{name: "§1.7 a call is cancelled at another process", at: []int{1, 2, 1}, text: `
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grind"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"grind","_meta":"@UMN"}}
c>b [as no] {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
b>c [202 | on no]
b>u [abort | on 9001]
b>c [end | on 1]
c>b {"jsonrpc":"2.0","id":2,"method":"ping"}
b>c {"jsonrpc":"2.0","id":2,"result":{}}
`},
	{name: "A-I5 a plain call's question is answered at another process, once", at: []int{1, 2, 0}, text: say(`
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"blast"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"blast","_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create",$PLAIN}}}}
b>c [on 1] {"jsonrpc":"2.0","id":501,"method":"elicitation/create",$PLAIN}
c>b {"jsonrpc":"2.0","id":501,"result":{"action":"decline"}}
c>b {"jsonrpc":"2.0","id":501,"result":{"action":"cancel"}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tools/call","params":{"name":"blast","inputResponses":{"k":{"action":"decline"}},"_meta":"@UMN"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`)},
	{name: "A-I5 a task's question is answered at another process, once", at: []int{1, 2, 0, 1}, text: say(`$TASK
c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":$ASKING}
b>c [on 1] {"jsonrpc":"2.0","id":501,"method":"elicitation/create",$FORM}
c>b {"jsonrpc":"2.0","id":501,"result":{"action":"decline"}}
c>b {"jsonrpc":"2.0","id":501,"result":{"action":"cancel"}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tasks/update","params":{"taskId":"tk-5","inputResponses":{"a":{"action":"decline"}},"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete"}}
b>u {"jsonrpc":"2.0","id":9003,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9003,"result":$DONE}
b>c {"jsonrpc":"2.0","id":1,"result":$RESULT}
`)},
	{name: "A-L16 what a server says reaches a stream that was opened at another process", at: []int{1, 2}, setup: `
upstream: {"tools":{"listChanged":true},"resources":{"subscribe":true}}`, text: `
c>b [GET]
b>u {"jsonrpc":"2.0","id":9001,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":"@UMN"}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":9001}}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":9001}}}
b>c [on GET] {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
c>b {"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"vein://7"}}
b>u {"jsonrpc":"2.0","id":9002,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["vein://7"]},"_meta":"@UMN"}}
u>b [on 9002] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["vein://7"]},"_meta":{"io.modelcontextprotocol/subscriptionId":9002}}}
b>c {"jsonrpc":"2.0","id":1,"result":{}}
u>b [on 9002] {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"vein://7","_meta":{"io.modelcontextprotocol/subscriptionId":9002}}}
b>c [on GET] {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"vein://7"}}
wait 500ms
b>u [abort | on 9001]
`},
	{name: "A-L16 A-L18 the stream of a plain call is come back to at another process", at: []int{1, 2}, text: `
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grind"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"grind","_meta":"@UMN"}}
b>c [on 1 | primed <event:0>]
c>b [hang up | on 1]
wait 1s
c>b [GET | as back | Last-Event-ID: <event:0>]
b>c [on back | primed <event:0>]
u>b {"jsonrpc":"2.0","id":9001,"result":{"resultType":"complete","content":[]}}
b>c [on back] {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
b>c [end | on back]
`},
	{name: "A-L16 A-R7 the stream of a tasks/result is come back to at another process", at: []int{2, 1, 2}, text: say(`$TASK
c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":$WORKING}
b>c [on 1 | primed <event:0>]
c>b [hang up | on 1]
c>b [GET | as back | Last-Event-ID: <event:0>]
b>c [on back | primed <event:0>]
b>u {"jsonrpc":"2.0","id":9002,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9002,"result":$DONE}
b>c [on back] {"jsonrpc":"2.0","id":1,"result":$RESULT}
b>c [end | on back]
`)},
	{name: "B-P4 B-P11 a parked call is answered at two other processes at a time, once", at: []int{0, 1, 2, 1}, setup: `
cell: modern/legacy
upstream: {"tools":{}}`, text: say(`
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core","_meta":"@MEF"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"core"}}
u>b {"jsonrpc":"2.0","id":0,"method":"elicitation/create",$PLAIN}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"elicitation-1":{"method":"elicitation/create",$PLAIN}},"requestState":"<state:1>","_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"core","inputResponses":{"elicitation-1":{"action":"accept","content":{}}},"requestState":"<state:1>","_meta":"@MEF"}}
c>b {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"core","inputResponses":{"elicitation-1":{"action":"accept","content":{}}},"requestState":"<state:1>","_meta":"@MEF"}}
b>u {"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{}}}
wait 1s
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
b>c {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
# Its outcome is known for a while.
wait 30s
c>b {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"core","inputResponses":{"elicitation-1":{"action":"accept","content":{}}},"requestState":"<state:1>","_meta":"@MEF"}}
b>c {"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`)},
	{name: "B-U11 a round of URLs is presented at two other processes at a time, and made once", at: []int{0, 1, 2, 0}, setup: `
cell: modern/legacy
upstream: {"tools":{}}`, text: `
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail","_meta":"@ME"}}
b>u {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"mail"}}
u>b {"jsonrpc":"2.0","id":8001,"error":{"code":-32042,"message":"auth needed","data":{"elicitations":[{"mode":"url","elicitationId":"a","url":"https://a.test/a","message":"Connect a"}]}}}
b>c {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"url-1":{"method":"elicitation/create","params":{"mode":"url","url":"https://a.test/a","message":"Connect a"}}},"requestState":"<state:1>","_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mail","inputResponses":{"url-1":{"action":"accept"}},"requestState":"<state:1>","_meta":"@ME"}}
b>u {"jsonrpc":"2.0","id":8002,"method":"tools/call","params":{"name":"mail"}}
c>b {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"mail","inputResponses":{"url-1":{"action":"accept"}},"requestState":"<state:1>","_meta":"@ME"}}
wait 1s
u>b {"jsonrpc":"2.0","id":8002,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
b>c {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
c>b {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"mail","inputResponses":{"url-1":{"action":"accept"}},"requestState":"<state:1>","_meta":"@ME"}}
b>c {"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","content":[],"_meta":"@SB"}}
`},
	{name: "S-1 S-4 a session between peers of one era is at one process", at: []int{1, 2, 0, 1, 2}, setup: `
cell: legacy/legacy`, text: say(`
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core"}}
b>u [Mcp-Session-Id: <theirs:1>] {"jsonrpc":"2.0","id":8001,"method":"tools/call","params":{"name":"core"}}
u>b [on 8001] {"jsonrpc":"2.0","id":"q","method":"elicitation/create",$PLAIN}
b>c [on 1] {"jsonrpc":"2.0","id":"<q:1>","method":"elicitation/create",$PLAIN}
c>b [as yes] {"jsonrpc":"2.0","id":"<q:1>","result":{"action":"decline"}}
b>u [Mcp-Session-Id: <theirs:1>] {"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}
b>c [202 | on yes]
u>b {"jsonrpc":"2.0","id":8001,"result":{"content":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
c>b [GET]
u>b [on GET] {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
b>c [on GET] {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/list"}
b>c {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"core","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}},{"name":"bore","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},{"name":"drill","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}}
c>b [DELETE | as bye]
b>c [204 | on bye]
b>c [end | on GET]
`)},
}

// TestReplicas: any process will do (DESIGN.md §4, promise 5).
func TestReplicas(t *testing.T) {
	for _, c := range replicaCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.play(t)
		})
	}
}

// kills has a process die.
func kills(n int) func(p *player) { return func(p *player) { p.bridge.nodes[n].kill() } }

// stops has a process stop, which takes no time where nothing has to be waited for.
func stops(n int) func(p *player) {
	return func(p *player) {
		r, began := p.bridge.nodes[n], time.Now()
		if err := r.drained(); err != nil {
			p.fail("the process ended with %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			p.fail("the process took %v to stop", took)
		}
	}
}

// older is a session whose answers are not begun before there is something to say.
const older = "session: 2025-06-18\nclient: {}"

// TestReplicasLost: a process that serves a request of another dies (DESIGN.md §4,
// promises 2, 3 and 5). A call that may have reached the backend is not made again, and
// its client is told; who waits, waits elsewhere.
func TestReplicasLost(t *testing.T) {
	for _, c := range []placed{
		{name: "a call is interrupted", at: []int{1, 2}, setup: older, before: map[int]func(*player){3: kills(0)}, text: `
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grind"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"grind","_meta":"@UMN0"}}
b>u [abort | on 9001]
b>c {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"interrupted: the process that served the request was lost; its outcome is unknown"}}
c>b {"jsonrpc":"2.0","id":2,"method":"ping"}
b>c {"jsonrpc":"2.0","id":2,"result":{}}
`},
		{name: "a call is interrupted whose stream has begun", at: []int{1, 2}, before: map[int]func(*player){4: kills(0)}, text: `
c>b {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grind"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"name":"grind","_meta":"@UMN"}}
b>c [on 1 | primed <event:0>]
b>u [abort | on 9001]
b>c [sse] {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"interrupted: the process that served the request was lost; its outcome is unknown"}}
c>b {"jsonrpc":"2.0","id":2,"method":"ping"}
b>c {"jsonrpc":"2.0","id":2,"result":{}}
`},
		{name: "what only reads is read elsewhere", at: []int{1}, setup: older, before: map[int]func(*player){3: kills(0)}, text: `
c>b {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"vein://7"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"resources/read","params":{"uri":"vein://7","_meta":"@UMN0"}}
b>u [abort | on 9001]
b>u {"jsonrpc":"2.0","id":9002,"method":"resources/read","params":{"uri":"vein://7","_meta":"@UMN0"}}
u>b {"jsonrpc":"2.0","id":9002,"result":{"resultType":"complete","contents":[]}}
b>c {"jsonrpc":"2.0","id":1,"result":{"contents":[]}}
`},
		{name: "A-L16 A-R7 who waits for a result comes back to the stream", at: []int{1, 1, 2}, before: map[int]func(*player){9: kills(0)}, text: say(`$TASK
c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
b>c [on 1 | primed <event:0>]
wait 1s
b>u [abort | on 9001]
c>b [hang up | on 1]
c>b [GET | as back | Last-Event-ID: <event:0>]
b>u {"jsonrpc":"2.0","id":9002,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9002,"result":$DONE}
b>c [on back] {"jsonrpc":"2.0","id":1,"result":$RESULT}
b>c [end | on back]
`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.play(t)
		})
	}
}

// TestReplicasStop: a process stops, with requests of another in service or its own
// served by another (DESIGN.md §4, promises 5 and 6): streams and waits end at once and
// whole, and are there again at the next process.
func TestReplicasStop(t *testing.T) {
	for _, c := range []placed{
		{name: "A-R7 that passes a stream of the session and a wait", at: []int{1, 1, 1, 2, 2}, before: map[int]func(*player){11: stops(1)}, text: say(`$TASK
c>b [GET]
b>u {"jsonrpc":"2.0","id":9000,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["tk-5"]},"_meta":"@UM"}}
u>b [on 9000] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":["tk-5"]},"_meta":{"io.modelcontextprotocol/subscriptionId":9000}}}
c>b {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
b>c [on 1 | primed <event:0>]
b>c [end | on GET]
b>c [end | on 1]
u>b {"jsonrpc":"2.0","id":9001,"result":$DONE}
c>b [GET | as back | Last-Event-ID: <event:0>]
b>c [on back] {"jsonrpc":"2.0","id":1,"result":$RESULT}
b>c [end | on back]
c>b [GET | as again]
b>c [on again | primed <own:0>]
b>c [on again] {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"b.tk-5","status":"completed","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":900000,"pollInterval":1000}}
`)},
		{name: "that is the home of a session", at: []int{1, 2, 1}, before: map[int]func(*player){5: stops(0)}, setup: `
upstream: {"tools":{"listChanged":true}}`, text: `
c>b [GET]
b>u {"jsonrpc":"2.0","id":9001,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":"@UMN"}}
u>b [on 9001] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":9001}}}
b>c [on GET | primed <own:0>]
b>u [abort | on 9001]
b>c [end | on GET]
c>b {"jsonrpc":"2.0","id":1,"method":"ping"}
b>c {"jsonrpc":"2.0","id":1,"result":{}}
c>b [GET | as again]
b>u {"jsonrpc":"2.0","id":9002,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":"@UMN"}}
u>b [on 9002] {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":9002}}}
u>b [on 9002] {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":9002}}}
b>c [on again] {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.play(t)
		})
	}
}

// TestReplicasTwoHomes: two sessions of one owner, at home at two processes, wait for
// one task (A-I1, A-I9). Its question is asked once; when who was asked leaves, the
// other one is, and the first answer wins.
func TestReplicasTwoHomes(t *testing.T) {
	t.Parallel()
	const open = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + clientCapabilities + `,"clientInfo":{"name":"orbit","version":"3.1.0"}}}`
	c := placed{setup: "session: none", at: []int{0, 1, 2, 0, 1, 2, 0}, text: strings.NewReplacer(
		"$OWNER", "Authorization: Bearer one", "$A", "Authorization: Bearer one | Mcp-Session-Id: <sid:a>", "$B", "Authorization: Bearer one | Mcp-Session-Id: <sid:b>",
	).Replace(say(`
c>b [$OWNER | as a] ` + open + `
b>u [$OWNER] {"jsonrpc":"2.0","id":9000,"method":"server/discover","params":{"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9000,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":86400000,"cacheScope":"public"}}
b>c [on a | Mcp-Session-Id: <sid:a>] {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}},"cancel":{},"list":{}}},"serverInfo":{"name":"quarry","version":"0"}}}
c>b [$OWNER | no Mcp-Session-Id | as b] ` + open + `
b>c [on b | Mcp-Session-Id: <sid:b>] {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}},"cancel":{},"list":{}}},"serverInfo":{"name":"quarry","version":"0"}}}
c>b [$A] {"jsonrpc":"2.0","id":39,"method":"tools/call","params":{"name":"smelt","arguments":{},"task":{}}}
b>u [$OWNER] {"jsonrpc":"2.0","id":9038,"method":"tools/list","params":{"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9038,"result":{"resultType":"complete","ttlMs":86400000,"cacheScope":"public","tools":[]}}
b>u [$OWNER] {"jsonrpc":"2.0","id":9039,"method":"tools/call","params":{"name":"smelt","arguments":{},"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9039,"result":{"resultType":"task","taskId":"tk-5","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":900000,"pollIntervalMs":1000}}
b>c {"jsonrpc":"2.0","id":39,"result":{"task":{"taskId":"b.tk-5","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":900000,"pollInterval":1000},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.tk-5"}}}}
c>b [$A | as one] {"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>u [$OWNER] {"jsonrpc":"2.0","id":9001,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9001,"result":$ASKING}
b>c [on one] {"jsonrpc":"2.0","id":501,"method":"elicitation/create",$FORM}
c>b [$B | as two] {"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"b.tk-5"}}
b>c [on two | primed <event:0>]
c>b [hang up | on one]
b>u [$OWNER] {"jsonrpc":"2.0","id":9003,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9003,"result":$ASKING}
b>c [on two] {"jsonrpc":"2.0","id":502,"method":"elicitation/create",$FORM}
# Who was asked first answers all the same, and first.
c>b [$A] {"jsonrpc":"2.0","id":501,"result":{"action":"accept","content":{}}}
b>c [on two] {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":502}}
b>u [$OWNER] {"jsonrpc":"2.0","id":9004,"method":"tasks/update","params":{"taskId":"tk-5","inputResponses":{"a":{"action":"accept","content":{}}},"_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9004,"result":{"resultType":"complete"}}
c>b [$B] {"jsonrpc":"2.0","id":502,"result":{"action":"decline"}}
b>u [$OWNER] {"jsonrpc":"2.0","id":9005,"method":"tasks/get","params":{"taskId":"tk-5","_meta":"@UM"}}
u>b {"jsonrpc":"2.0","id":9005,"result":$DONE}
b>c [on two] {"jsonrpc":"2.0","id":2,"result":$RESULT}
`))}
	c.play(t)
}
