package modern_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	prefix   = "io.modelcontextprotocol/"
	version  = `"` + prefix + `protocolVersion":"2026-07-28"`
	noCaps   = `"` + prefix + `clientCapabilities":{}`
	once     = "want each name only once"
	noTasks  = `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	tasksMsg = "Missing required client capability: io.modelcontextprotocol/tasks"
)

// row is a request and the answer to it.
type row struct {
	name   string
	post   post
	status int
	body   string
}

// run sends each request; those that are refused must not reach the crossing.
func run(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				a := r.do(tt.post)
				wantAnswer(t, a, tt.status, tt.body)
				if served := strings.Contains(tt.body, `"result"`); served != (r.crossing.count() == 1) {
					t.Errorf("%d requests reached the crossing", r.crossing.count())
				}
				if a.header.Get("Mcp-Session-Id") != "" {
					t.Error("B-L1 a session id")
				}
			})
		})
	}
}

func served(id, method string) string { return result(id, `{"method":"`+method+`"}`) }

func mismatch(id, text string) string {
	return failed(id, "-32020", "Header mismatch: "+text, "")
}

func withMeta(id, meta string) post { return asking(id, "tools/list", "", `"_meta":{`+meta+`}`) }

func badMeta(id, path, want string) string {
	return failed(id, "-32602", "Invalid params: params._meta"+path+": "+want, "")
}

func TestEnvelope(t *testing.T) {
	run(t, []row{
		{"§1.8 complete", ask("1", "tools/list", ""), 200, served("1", "tools/list")},
		{"B06 no capabilities", withMeta("5", version), 400, badMeta("5", "."+prefix+"clientCapabilities", "want an object")},
		{"B06 no params", raw(`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"), 400, badMeta("6", "", "want an object")},
		{"§1.8 no _meta", raw(`{"jsonrpc":"2.0","id":101,"method":"server/discover","params":{}}`), 400, badMeta("101", "", "want an object")},
		{"§1.8 a _meta of null", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":null}}`), 400, badMeta("1", "", "want an object")},
		{"§1.8 no version", withMeta("102", noCaps), 400, badMeta("102", "."+prefix+"protocolVersion", "want a string")},
		{"§1.8 a version that is a number", withMeta("1", `"`+prefix+`protocolVersion":2026,`+noCaps), 400, badMeta("1", "."+prefix+"protocolVersion", "want a string")},
		{"§1.8 capabilities that are an array", withMeta("1", version+`,"`+prefix+`clientCapabilities":[]`), 400, badMeta("1", "."+prefix+"clientCapabilities", "want an object")},
		{"§1.8 capabilities of null", withMeta("1", version+`,"`+prefix+`clientCapabilities":null`), 400, badMeta("1", "."+prefix+"clientCapabilities", "want an object")},
		{"§1.8 clientInfo without name", withMeta("1", version+","+noCaps+`,"`+prefix+`clientInfo":{"version":"1"}`), 400, badMeta("1", "."+prefix+"clientInfo.name", "want a string")},
		{"§1.8 clientInfo without version", withMeta("1", version+","+noCaps+`,"`+prefix+`clientInfo":{"name":"nova","version":1}`), 400, badMeta("1", "."+prefix+"clientInfo.version", "want a string")},
		{"§1.8 clientInfo of null", withMeta("1", version+","+noCaps+`,"`+prefix+`clientInfo":null`), 400, badMeta("1", "."+prefix+"clientInfo", "want an object")},
		{"§1.8 a level that is none", withMeta("1", version+","+noCaps+`,"`+prefix+`logLevel":"loud"`), 400, badMeta("1", "."+prefix+"logLevel", "want a log level")},
		{"§3.4 a level of null", withMeta("1", version+","+noCaps+`,"`+prefix+`logLevel":null`), 400, badMeta("1", "."+prefix+"logLevel", "want a log level")},
		{"§1.8 a progress token that is none", withMeta("1", version+","+noCaps+`,"progressToken":{}`), 400, badMeta("1", ".progressToken", "want a string or a number")},
		{"Strictness: a name twice in params", ask("1", "tools/list", `"cursor":"a","cursor":"b"`), 400, failed("1", "-32602", "Invalid params: params.cursor: "+once, "")},
		{"Strictness: a name twice in _meta", withMeta("1", version+","+noCaps+`,"a":1,"\u0061":1`), 400, badMeta("1", ".a", once)},
		{"Strictness: a version twice", withMeta("1", version+","+version+","+noCaps), 400, badMeta("1", "."+prefix+"protocolVersion", once)},
		{"Strictness: a name twice in capabilities", withMeta("1", version+`,"`+prefix+`clientCapabilities":{"roots":{},"roots":{}}`), 400, badMeta("1", "."+prefix+"clientCapabilities.roots", once)},
		{"Strictness: an extension twice", withMeta("1", version+`,"`+prefix+`clientCapabilities":{"extensions":{"a":{},"a":{}}}`), 400, badMeta("1", "."+prefix+"clientCapabilities.extensions.a", once)},
	})
}

func TestVersionHeader(t *testing.T) {
	old := `"_meta":{"` + prefix + `protocolVersion":"2031-01-01",` + noCaps + `}`
	legacy := `"_meta":{"` + prefix + `protocolVersion":"2025-11-25",` + noCaps + `}`
	odd := `"_meta":{"` + prefix + `protocolVersion":"v\u0039\"",` + noCaps + `}`
	unsupported := func(id, requested string) string {
		return failed(id, "-32022", "Unsupported protocol version", `{"supported":["2026-07-28"],"requested":`+requested+`}`)
	}
	run(t, []row{
		{"§1.8 none", ask("1", "tools/list", "", "MCP-Protocol-Version:"), 400, mismatch("1", "MCP-Protocol-Version: missing")},
		{"§1.8 another", ask("1", "tools/list", "", "MCP-Protocol-Version: 2025-11-25"), 400, mismatch("1", "MCP-Protocol-Version: differs from the body")},
		{"§1.8 twice", ask("1", "tools/list", "", "+MCP-Protocol-Version: 2026-07-28"), 400, mismatch("1", "MCP-Protocol-Version: sent more than once")},
		{"§3.8 in any case, with space around", ask("1", "tools/list", "", "mcp-protocol-version:   2026-07-28  "), 200, served("1", "tools/list")},
		{"§1.8 another, though the body's is unknown", asking("302", "server/discover", "", old), 400, mismatch("302", "MCP-Protocol-Version: differs from the body")},
		{"B05 unknown in both", asking("4", "tools/list", "", old, "MCP-Protocol-Version: 2031-01-01"), 400, unsupported("4", `"2031-01-01"`)},
		{"§1.8 even for server/discover", asking("301", "server/discover", "", old, "MCP-Protocol-Version: 2031-01-01"), 400, unsupported("301", `"2031-01-01"`)},
		{"Q43 a legacy one in an envelope", asking("4", "tools/list", "", legacy, "MCP-Protocol-Version: 2025-11-25"), 400, unsupported("4", `"2025-11-25"`)},
		{"G-2 echoed as it came", asking("4", "tools/list", "", odd, `MCP-Protocol-Version: v9"`), 400, unsupported("4", `"v\u0039\""`)},
	})
}

func TestMethodHeader(t *testing.T) {
	run(t, []row{
		{"§1.8 none", ask("1", "tools/list", "", "Mcp-Method:"), 400, mismatch("1", "Mcp-Method: missing")},
		{"§1.8 another", ask("1", "tools/list", "", "Mcp-Method: prompts/list"), 400, mismatch("1", "Mcp-Method: differs from the body")},
		{"§1.8 in another case", ask("1", "tools/list", "", "Mcp-Method: TOOLS/LIST"), 400, mismatch("1", "Mcp-Method: differs from the body")},
		{"§1.8 twice", ask("1", "tools/list", "", "+Mcp-Method: tools/list"), 400, mismatch("1", "Mcp-Method: sent more than once")},
		{"§1.8 no sentinel is read here", ask("1", "tools/list", "", "Mcp-Method: "+encoded("tools/list")), 400, mismatch("1", "Mcp-Method: differs from the body")},
		{"§1.8 its name in any case", ask("1", "tools/list", "", "MCP-METHOD: tools/list"), 200, served("1", "tools/list")},
	})
}

func encoded(s string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

func TestNameHeader(t *testing.T) {
	const differs, malformed = "Mcp-Name: differs from params.name", "Mcp-Name: malformed value"
	named := func(name, header string) post {
		return ask("1", "tools/call", `"name":`+name, header)
	}
	yes := served("1", "tools/call")
	run(t, []row{
		{"§1.8 equal", named(`"echo"`, "Mcp-Name: echo"), 200, yes},
		{"§1.8 none", named(`"echo"`, "Mcp-Name:"), 400, mismatch("1", "Mcp-Name: missing")},
		{"§1.8 another", named(`"echo"`, "Mcp-Name: wrong_tool_name"), 400, mismatch("1", differs)},
		{"§1.8 in another case", named(`"echo"`, "Mcp-Name: Echo"), 400, mismatch("1", differs)},
		{"§1.8 twice", named(`"echo"`, "Mcp-Name: echo").with("+Mcp-Name: echo"), 400, mismatch("1", "Mcp-Name: sent more than once")},
		{"§3.8 space around", named(`"echo"`, "Mcp-Name:   echo  "), 200, yes},
		{"§3.8 space inside", named(`"a  b"`, "Mcp-Name: a  b"), 200, yes},
		{"§3.8 a sentinel", named(`"Prüfen"`, "Mcp-Name: "+encoded("Prüfen")), 200, yes},
		{"§3.8 one where none is needed", named(`"echo"`, "Mcp-Name: "+encoded("echo")), 200, yes},
		{"§3.8 escapes in the body", named(`"\u0065cho"`, "Mcp-Name: echo"), 200, yes},
		{"§3.8 edge spaces encoded", named(`" echo "`, "Mcp-Name: "+encoded(" echo ")), 200, yes},
		{"§3.8 edge spaces not encoded", named(`" echo "`, "Mcp-Name:  echo "), 400, mismatch("1", differs)},
		{"§3.8 a sentinel that encodes another", named(`"echo"`, "Mcp-Name: "+encoded("Echo")), 400, mismatch("1", differs)},
		{"§3.8 a sentinel without padding", named(`"echo"`, "Mcp-Name: =?base64?ZWNobw?="), 400, mismatch("1", malformed)},
		{"§3.8 a sentinel with trailing bits", named(`"echo"`, "Mcp-Name: =?base64?ZWNobx==?="), 400, mismatch("1", malformed)},
		{"§3.8 a sentinel of another alphabet", named(`"echo"`, "Mcp-Name: =?base64?_-_-?="), 400, mismatch("1", malformed)},
		{"§3.8 a sentinel that is no UTF-8", named(`"echo"`, "Mcp-Name: =?base64?/w==?="), 400, mismatch("1", malformed)},
		{"§3.8 markers are case-sensitive", named(`"echo"`, "Mcp-Name: =?BASE64?ZWNobw==?="), 400, mismatch("1", differs)},
		{"§3.8 half a sentinel is literal", named(`"=?base64?x"`, "Mcp-Name: =?base64?x"), 200, yes},
		{"§3.8 beyond ASCII unencoded", named(`"Prüfen"`, "Mcp-Name: Prüfen"), 400, mismatch("1", malformed)},
		{"Q9 the empty string encoded", named(`""`, "Mcp-Name: =?base64??="), 200, yes},
		{"Q9 the empty string as it is", named(`""`, "+Mcp-Name:"), 200, yes},
		{"§3.8 a lone surrogate fits no header", named(`"\ud800"`, "Mcp-Name: "+encoded("\ufffd")), 400, mismatch("1", differs)},
		{"§1.8 one that the body has no value for", named(`7`, "Mcp-Name: 7"), 400, mismatch("1", differs)},
		{"§1.8 a prompt's", ask("1", "prompts/get", `"name":"p"`, "Mcp-Name: q"), 400, mismatch("1", differs)},
		{"§1.8 a resource's", ask("1", "resources/read", `"uri":"ore://0"`, "Mcp-Name: ore://1"), 400, mismatch("1", "Mcp-Name: differs from params.uri")},
		{"§1.8 a resource's, missing", ask("1", "resources/read", `"uri":"ore://0"`), 400, mismatch("1", "Mcp-Name: missing")},
		{"§3.8 not looked at where it mirrors nothing", ask("1", "tools/list", "", "Mcp-Name: x"), 200, served("1", "tools/list")},
	})
}

// TestTaskNames: a header that names another task than the body is refused; none is
// tolerated, and counted, unless the route is strict (Q39).
func TestTaskNames(t *testing.T) {
	for method, rest := range map[string]string{"tasks/get": "", "tasks/cancel": "", "tasks/update": `,"inputResponses":{}`} {
		t.Run("Q39 "+method, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				p := asking("1", method, `"taskId":"h.1"`+rest, metaTasks)
				wantAnswer(t, r.do(p.with("Mcp-Name: h.1")), 200, served("1", method))
				if n := r.face.UnnamedTasks(); n != 0 {
					t.Errorf("%d counted", n)
				}
				wantAnswer(t, r.do(p), 200, served("1", method))
				if n := r.face.UnnamedTasks(); n != 1 {
					t.Errorf("%d counted", n)
				}
				wantAnswer(t, r.do(p.with("Mcp-Name: h.2")), 400, mismatch("1", "Mcp-Name: differs from params.taskId"))
				wantAnswer(t, r.do(p.with("Mcp-Name: =?base64?x?=")), 400, mismatch("1", "Mcp-Name: malformed value"))
				strict := p.to("/modern/strict")
				wantAnswer(t, r.do(strict), 400, mismatch("1", "Mcp-Name: missing"))
				wantAnswer(t, r.do(strict.with("Mcp-Name: h.1")), 200, served("1", method))
				if n := r.face.UnnamedTasks(); n != 1 {
					t.Errorf("%d counted", n)
				}
			})
		})
	}
}

func TestMethods(t *testing.T) {
	notFound := failed("1", "-32601", "Method not found", "")
	var rows []row
	for _, method := range []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		rows = append(rows, row{"§3.2 serves " + method, ask("1", method, ""), 200, served("1", method)})
	}
	for _, method := range []string{"com.acme/dig", "unknown/method", "a/b/c", "Tools/x"} {
		rows = append(rows, row{"§3.2 asks the backend about " + method, ask("1", method, ""), 200, served("1", method)})
	}
	for _, method := range []string{
		"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list",
		"roots/list", "sampling/createMessage", "elicitation/create", "notifications/initialized",
		"tools/dig", "server/x", "unknown", "/x", "x/", "/", "a b/c",
	} {
		rows = append(rows, row{"B08 refuses " + method, ask("1", method, ""), 404, notFound})
	}
	older := failed("16", "-32601", "Method not found: this route speaks 2026-07-28; protocols that begin with initialize are served at /legacy/basalt", "")
	hello := `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}`
	run(t, append(rows,
		row{"§3.2 completion", ask("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}`), 200, served("1", "completion/complete")},
		row{"B08 beyond ASCII", ask("1", "a/ü", ""), 404, notFound},
		row{"B08 initialize with an envelope", ask("16", "initialize", hello), 404, older},
		row{"§1.1 initialize of an old client", raw(`{"jsonrpc":"2.0","id":16,"method":"initialize","params":{` + hello + `}}`), 404, older},
		row{"§1.1 that says its version", raw(`{"jsonrpc":"2.0","id":16,"method":"initialize","params":{`+hello+`}}`, "MCP-Protocol-Version: 2025-11-25", "Mcp-Method: initialize"), 404, older},
		row{"§1.1 without anything", raw(`{"jsonrpc":"2.0","id":16,"method":"initialize"}`), 404, older},
	))
}

func TestParams(t *testing.T) {
	bad := func(path, want string) string {
		return failed("1", "-32602", "Invalid params: params."+path+": want "+want, "")
	}
	tasks := func(method, params string) post { return asking("1", method, params, metaTasks) }
	run(t, []row{
		{"§1.8 a call without name", ask("1", "tools/call", ""), 200, bad("name", "a string")},
		{"§1.8 arguments that are an array", ask("1", "tools/call", `"name":"echo","arguments":[]`, "Mcp-Name: echo"), 200, bad("arguments", "an object")},
		{"§1.8 a prompt without name", ask("1", "prompts/get", `"name":7`), 200, bad("name", "a string")},
		{"§1.8 a resource without uri", ask("1", "resources/read", ""), 200, bad("uri", "a string")},
		{"§1.8 a cursor that is a number", ask("1", "tools/list", `"cursor":1`), 200, bad("cursor", "a string")},
		{"§1.8 a subscription to nothing", ask("1", "subscriptions/listen", ""), 200, bad("notifications", "an object")},
		{"§1.8 a task without id", tasks("tasks/get", ""), 200, bad("taskId", "a string")},
		{"§1.8 a task without id to cancel", tasks("tasks/cancel", `"taskId":null`), 200, bad("taskId", "a string")},
		{"B44 no answers", tasks("tasks/update", `"taskId":"h.1","inputResponses":null`), 200, bad("inputResponses", "an object")},
		{"Strictness: an answer twice", tasks("tasks/update", `"taskId":"h.1","inputResponses":{"a":1,"a":2}`), 200, failed("1", "-32602", "Invalid params: params.inputResponses.a: "+once, "")},
		{"B33 a task that is none", ask("1", "tools/call", `"name":"echo","task":7`, "Mcp-Name: echo"), 200, served("1", "tools/call")},
	})
}

func TestCapabilities(t *testing.T) {
	refused := failed("1", "-32021", tasksMsg, noTasks)
	legacyTasks := `"_meta":{` + version + `,"` + prefix + `clientCapabilities":{"tasks":{"requests":{}}}}`
	null := `"_meta":{` + version + `,"` + prefix + `clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":null}}}`
	settings := `"_meta":{` + version + `,"` + prefix + `clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{"specVersion":"draft"}}}}`
	run(t, []row{
		{"B48 tasks/get", ask("1", "tasks/get", `"taskId":"h.1"`, "Mcp-Name: h.1"), 400, refused},
		{"B48 tasks/cancel", ask("1", "tasks/cancel", `"taskId":"does-not-exist"`, "Mcp-Name: does-not-exist"), 400, refused},
		{"B48 tasks/update", ask("1", "tasks/update", `"taskId":"h.1","inputResponses":{}`), 400, refused},
		{"§6.2 legacy tasks count for nothing", asking("1", "tasks/get", `"taskId":"h.1"`, legacyTasks), 400, refused},
		{"§2.4 null counts for nothing", asking("1", "tasks/get", `"taskId":"h.1"`, null), 400, refused},
		{"§2.4 any object counts", asking("1", "tasks/get", `"taskId":"h.1"`, settings), 200, served("1", "tasks/get")},
		{"B51 listen for tasks", ask("1", "subscriptions/listen", `"notifications":{"taskIds":["h.1"]}`), 400, refused},
		{"B50 listen for tasks", asking("1", "subscriptions/listen", `"notifications":{"taskIds":["h.1"]}`, metaTasks), 200, served("1", "subscriptions/listen")},
	})
}

// TestOrder: of two failures the one that stands first in §1.8 is the answer.
func TestOrder(t *testing.T) {
	const broken, batch = `{"jsonrpc":`, `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`
	gone := withMeta("1", version) // no capabilities
	gone.method = http.MethodGet
	future := `"_meta":{"` + prefix + `protocolVersion":"2031-01-01",` + noCaps + `}`
	const accept = "Invalid request: Accept: want application/json or text/event-stream"
	run(t, []row{
		{"the HTTP method before Content-Type", post{method: http.MethodDelete, path: "/modern/" + backend, body: broken, header: http.Header{"Content-Type": {"text/plain"}}}, 405, failed("", "-32600", "Invalid request: DELETE: want POST", "")},
		{"the HTTP method before the envelope", gone, 405, failed("", "-32600", "Invalid request: GET: want POST", "")},
		{"Content-Type before Accept", raw(broken, "Content-Type: text/plain", "Accept: text/html"), 415, failed("", "-32600", "Invalid request: Content-Type: want application/json", "")},
		{"Accept before JSON", raw(broken, "Accept: text/html"), 406, failed("", "-32600", accept, "")},
		{"Accept before the shape", raw(batch, "Accept: text/html"), 406, failed("", "-32600", accept, "")},
		{"JSON before the headers", raw(broken, "Mcp-Method: x"), 400, failed("", "-32700", "Parse error: message: want one valid JSON value", "")},
		{"the shape before the envelope", raw(batch), 400, failed("", "-32600", "Invalid request: message: want an object", "")},
		{"the envelope before the version header", withMeta("1", version).with("MCP-Protocol-Version:"), 400, badMeta("1", "."+prefix+"clientCapabilities", "want an object")},
		{"the envelope before the method", asking("1", "ping", "", `"_meta":{}`), 400, badMeta("1", "."+prefix+"protocolVersion", "want a string")},
		{"the version header before Mcp-Method", ask("1", "tools/list", "", "MCP-Protocol-Version: x", "Mcp-Method: y"), 400, mismatch("1", "MCP-Protocol-Version: differs from the body")},
		{"the version header before the version", asking("1", "tools/list", "", future), 400, mismatch("1", "MCP-Protocol-Version: differs from the body")},
		{"Mcp-Method, if present, before the version", asking("1", "tools/list", "", future, "MCP-Protocol-Version: 2031-01-01", "Mcp-Method: x"), 400, mismatch("1", "Mcp-Method: differs from the body")},
		{"the version before a missing Mcp-Method", asking("1", "tools/list", "", future, "MCP-Protocol-Version: 2031-01-01", "Mcp-Method:"), 400, failed("1", "-32022", "Unsupported protocol version", `{"supported":["2026-07-28"],"requested":"2031-01-01"}`)},
		{"the version before Mcp-Name", asking("1", "tools/call", `"name":"echo"`, future, "MCP-Protocol-Version: 2031-01-01"), 400, failed("1", "-32022", "Unsupported protocol version", `{"supported":["2026-07-28"],"requested":"2031-01-01"}`)},
		{"a missing Mcp-Method before Mcp-Name", ask("1", "tools/call", `"name":"echo"`, "Mcp-Method:"), 400, mismatch("1", "Mcp-Method: missing")},
		{"a missing Mcp-Method before the method", ask("1", "ping", "", "Mcp-Method:"), 400, mismatch("1", "Mcp-Method: missing")},
		{"the method before params", ask("1", "tasks/list", `"cursor":7`), 404, failed("1", "-32601", "Method not found", "")},
		{"Mcp-Name before params", ask("1", "tools/call", `"name":"echo","arguments":[]`, "Mcp-Name: x"), 400, mismatch("1", "Mcp-Name: differs from params.name")},
		{"Mcp-Name before capabilities", ask("1", "tasks/get", `"taskId":"a"`, "Mcp-Name: b"), 400, mismatch("1", "Mcp-Name: differs from params.taskId")},
		{"params before capabilities", ask("1", "tasks/get", `"taskId":7`), 200, failed("1", "-32602", "Invalid params: params.taskId: want a string", "")},
		{"capabilities before Accept of a subscription", ask("1", "subscriptions/listen", `"notifications":{"taskIds":[]}`, "Accept: application/json"), 400, failed("1", "-32021", tasksMsg, noTasks)},
		{"Accept of a subscription", listen("1", "Accept: application/json"), 406, failed("1", "-32600", "Invalid request: Accept: want text/event-stream", "")},
	})
}

// TestParamHeaders: what only the backend's tools can tell is asked last, of calls
// alone, with every value of a header.
func TestParamHeaders(t *testing.T) {
	for _, tt := range []struct {
		name   string
		err    error
		status int
		body   string
	}{
		{"§3.8 a mismatch", &ext2026.HeaderError{Header: "Mcp-Param-Site", Want: "missing"}, 400, mismatch("1", "Mcp-Param-Site: missing")},
		{"§3.8 a mismatch as an error", jsonrpc.NewError(ext2026.CodeHeaderMismatch, "no"), 400, failed("1", "-32020", "no", "")},
		{"Strictness: a name twice on the way", wire.Wrong("params.arguments.a", "each name only once"), 200, failed("1", "-32602", "Invalid params: params.arguments.a: "+once, "")},
		{"§3.8 the tools are out of reach", &port.UpstreamError{Op: "tools/list", Status: 502, Err: context.Canceled}, 200, failed("1", "-32603", "backend answered HTTP 502", "")},
		{"§3.8 nothing is wrong", nil, 200, served("1", "tools/call")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				asked := 0
				r.crossing.check = func(_ context.Context, x *port.Exchange, header func(string) []string) error {
					asked++
					if got := strings.Join(header("mcp-param-site"), "|"); got != "a|b" || x.Backend != backend || x.Message.Method != "tools/call" {
						t.Errorf("headers %q of %s", got, x.Message.Method)
					}
					return tt.err
				}
				wantAnswer(t, r.do(call("1", "+Mcp-Param-Site: a", "+Mcp-Param-Site: b")), tt.status, tt.body)
				if served := r.crossing.count() == 1; served != (tt.err == nil) {
					t.Error("the crossing is asked before, or not at all")
				}
				r.do(call("2", "Mcp-Name: other"))
				r.do(ask("3", "tools/list", ""))
				if asked != 1 {
					t.Errorf("asked %d times, want once", asked)
				}
			})
		})
	}
}

// TestEachRequestStandsAlone: what a client said before counts for nothing (B-L3).
func TestEachRequestStandsAlone(t *testing.T) {
	bubble(t, func(o *modern.Options) { o.Limits.Requests = 1 }, func(t *testing.T, r *rig) {
		get := `"taskId":"h.1"`
		wantAnswer(t, r.do(asking("1", "tasks/get", get, metaTasks)), 200, served("1", "tasks/get"))
		wantAnswer(t, r.do(ask("1", "tasks/get", get)), 400, failed("1", "-32021", tasksMsg, noTasks))
	})
}
