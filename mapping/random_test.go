package mapping_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// random makes tasks as peers might send them: members in any order, missing,
// misspelled, of the wrong type and of the other era.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 2))} }

func (r random) pick(values ...string) string { return values[r.IntN(len(values))] }

// object writes members in random order, each with the given chance in percent.
func (r random) object(chances map[string]int, values map[string]string) wire.Value {
	var members []string
	for name, chance := range chances {
		if r.IntN(100) < chance {
			members = append(members, fmt.Sprintf("%q:%s", name, values[name]))
		}
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return wire.Value("{" + strings.Join(members, r.pick(",", ", ", ",\n ")) + "}")
}

const statuses = "working input_required completed failed cancelled"

func (r random) status() string { return `"` + r.pick(strings.Fields(statuses)...) + `"` }

func (r random) ms() string {
	return r.pick("0", "1", "90000", "1e3", "60000.0", "60000.5", "-1", "-0", "null", `"5"`, "9007199254740993", "true", "[]")
}

func (r random) time() string {
	return r.pick(`"2026-09-14T08:00:00Z"`, `"2026-09-14T08:00:00.123+02:00"`, `"2026-09-14 08:00:00"`, "1789372800", "1789372800123",
		`"soon"`, `""`, "null", "{}")
}

func (r random) text() string {
	return r.pick(`"queued"`, `""`, `"ünï\u0063ode"`, "null", "7", `"`+strings.Repeat("x", 1200)+`"`)
}

func (r random) meta() string {
	return r.pick("{}", "null", `{"com.acme/k":1.50}`, `{"io.modelcontextprotocol/related-task":{"taskId":"x"}}`,
		`{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`, `{"io.modelcontextprotocol/model-immediate-response":"m","a":1}`)
}

func (r random) result() string {
	return r.pick(`{"content":[]}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`, `{"resultType":"complete","content":[],"isError":true}`,
		`{"content":[],"structuredContent":[1]}`, `{"content":[],"structuredContent":{"n":1.0},"com.acme/x":[1e2]}`, `{}`, `[]`, "null",
		`{"content":[],"_meta":{"com.acme/k":1}}`)
}

func (r random) failure() string {
	return r.pick(`{"code":-31999,"message":"cracked","data":{"t":1820}}`, `{"code":-32050,"message":"f"}`, `{"code":1,"message":""}`,
		`{"message":"no code"}`, `{"code":1.5}`, "null", `"broken"`, `{"code":-32042,"message":"u","data":{"elicitations":[]}}`)
}

func (r random) questions() string {
	return r.pick(`{}`, `{"q:1":{"method":"roots/list"}}`, `{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}}`,
		`{"u":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x.example"}},`+
			`"s":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1.0,"_meta":{"x":1}}}}`)
}

// shared are the members that tasks of both eras may have.
func (r random) shared() (chances map[string]int, values map[string]string) {
	chances = map[string]int{
		"taskId": 100, "status": 100, "createdAt": 90, "lastUpdatedAt": 90, "statusMessage": 40, "_meta": 30,
		"com.acme/lane": 40, "parentTaskId": 20, "task": 15,
	}
	values = map[string]string{
		"taskId": `"tk-5"`, "status": r.status(), "createdAt": r.time(), "lastUpdatedAt": r.time(), "statusMessage": r.text(),
		"_meta": r.meta(), "com.acme/lane": r.pick("3", "3.50", `{"ttl":1,"result":{}}`), "parentTaskId": `"P"`,
		"task": r.pick(`"t"`, `{"name":"x"}`, `{"taskId":"x"}`, "null"),
	}
	return chances, values
}

func (r random) modernTask() wire.Value {
	chances, values := r.shared()
	for name, chance := range map[string]int{
		"ttlMs": 90, "pollIntervalMs": 60, "result": 50, "error": 50, "inputRequests": 60, "resultType": 70,
		"ttl": 10, "pollInterval": 10, "requestState": 10,
	} {
		chances[name] = chance
	}
	values["ttlMs"], values["pollIntervalMs"], values["ttl"], values["pollInterval"] = r.ms(), r.ms(), r.ms(), r.ms()
	values["result"], values["error"], values["inputRequests"] = r.result(), r.failure(), r.questions()
	values["resultType"], values["requestState"] = r.pick(`"complete"`, `"task"`), `"s"`
	return r.object(chances, values)
}

// legacyTask also makes what tasks/result answers.
func (r random) legacyTask() (wire.Value, mapping.Payload) {
	chances, values := r.shared()
	for name, chance := range map[string]int{
		"ttl": 90, "pollInterval": 60, "ttlMs": 10, "pollIntervalMs": 10, "result": 10, "error": 10, "inputRequests": 10,
		"requestState": 10, "resultType": 10,
	} {
		chances[name] = chance
	}
	values["ttlMs"], values["pollIntervalMs"], values["ttl"], values["pollInterval"] = r.ms(), r.ms(), r.ms(), r.ms()
	values["result"], values["error"], values["inputRequests"] = r.result(), r.failure(), r.questions()
	values["resultType"], values["requestState"] = `"complete"`, `"s"`
	doc := r.object(chances, values)
	if r.IntN(3) == 0 {
		return doc, mapping.Payload{Error: jsonrpc.NewError(int64(-32603+r.IntN(900)), "failed")}
	}
	return doc, mapping.Payload{Result: wire.Value(r.pick(`{"content":[]}`, `{}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`,
		`{"structuredContent":{"n":1}}`, `{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"},"k":1}}`))}
}
