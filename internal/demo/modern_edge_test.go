package demo_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestModernHTTP(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit   func(*http.Request)
		opts   demo.Options
		status int
	}{
		"a plain request passes":       {edit: func(*http.Request) {}, status: 200},
		"GET is refused":               {edit: func(r *http.Request) { r.Method = "GET" }, status: 405},
		"DELETE is refused":            {edit: func(r *http.Request) { r.Method = "DELETE" }, status: 405},
		"PUT is refused":               {edit: func(r *http.Request) { r.Method = "PUT" }, status: 405},
		"a foreign Host":               {edit: func(r *http.Request) { r.Host = "evil.example.com" }, status: 403},
		"a foreign Host before GET":    {edit: func(r *http.Request) { r.Host, r.Method = "evil.example.com", "GET" }, status: 403},
		"no Host":                      {edit: func(r *http.Request) { r.Host = "" }, status: 403},
		"localhost in capitals":        {edit: func(r *http.Request) { r.Host = "LOCALHOST:1" }, status: 200},
		"an IPv6 Host with port":       {edit: func(r *http.Request) { r.Host = "[::1]:8730" }, status: 200},
		"an IPv6 Host without port":    {edit: func(r *http.Request) { r.Host = "[::1]" }, status: 200},
		"a configured Host":            {edit: func(r *http.Request) { r.Host = "demo-modern" }, opts: demo.Options{Hosts: []string{"demo-modern"}}, status: 200},
		"configured Hosts replace":     {edit: func(*http.Request) {}, opts: demo.Options{Hosts: []string{"demo-modern"}}, status: 403},
		"a foreign Origin":             {edit: header("Origin", "http://evil.example.com"), status: 403},
		"an opaque Origin":             {edit: header("Origin", "null"), status: 403},
		"an Origin of another scheme":  {edit: header("Origin", "file://localhost"), status: 403},
		"our own Origin":               {edit: header("Origin", "http://localhost:3000"), status: 200},
		"a second, foreign Origin":     {edit: func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost", "http://evil.example.com"} }, status: 403},
		"another Content-Type":         {edit: header("Content-Type", "text/plain"), status: 415},
		"no Content-Type":              {edit: header("Content-Type", ""), status: 415},
		"a Content-Type with charset":  {edit: header("Content-Type", "application/json; charset=utf-8"), status: 200},
		"Accept of neither type":       {edit: header("Accept", "text/html"), status: 406},
		"Accept excludes both":         {edit: header("Accept", "application/json;q=0, text/event-stream;q=0.0"), status: 406},
		"Accept of anything":           {edit: header("Accept", "*/*"), status: 200},
		"no Accept":                    {edit: func(r *http.Request) { r.Header.Del("Accept") }, status: 200},
		"session and resumption":       {edit: func(r *http.Request) { r.Header.Set("Mcp-Session-Id", "x"); r.Header.Set("Last-Event-ID", "1:2") }, status: 200},
		"a body beyond the limit":      {edit: body(`{"x":"` + strings.Repeat("x", 4<<20) + `"}`), status: 413},
		"a long body within the limit": {edit: body(`{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("x", 4<<20-100) + `"}}`), status: 202},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModern(t, test.opts)
			r := call{method: "server/discover"}.request(t.Context())
			test.edit(r)
			rec := httptest.NewRecorder()
			m.ServeHTTP(rec, r)
			if rec.Code != test.status {
				t.Fatalf("HTTP %d %s, want %d", rec.Code, rec.Body, test.status)
			}
			if id := rec.Header().Get("Mcp-Session-Id"); id != "" {
				t.Errorf("a session was minted: %q", id)
			}
			if allow := rec.Header().Get("Allow"); (rec.Code == 405) != (allow == "POST") {
				t.Errorf("Allow = %q", allow)
			}
			if rec.Code >= 400 {
				a := read(t, rec)
				a.fails(test.status, -32600)
				if _, there := a.final["id"]; there {
					t.Errorf("an id in %s", a.raw)
				}
			}
		})
	}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func body(text string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
}

func TestModernAnswersInTheTypeTheClientTakes(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for accept, want := range map[string]string{
		"application/json":                    "application/json",
		"text/event-stream":                   "text/event-stream",
		"application/json, text/event-stream": "application/json",
	} {
		a := do(t, m, call{method: "server/discover", header: map[string]string{"Accept": accept}})
		a.result()
		if got := a.header.Get("Content-Type"); got != want {
			t.Errorf("Accept %s is answered with %s, want %s", accept, got, want)
		}
	}
}

func TestModernMessage(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	tests := map[string]struct {
		body string
		code float64
		id   any
	}{
		"nothing":                   {body: " ", code: -32700},
		"cut short":                 {body: `{"jsonrpc":"2.0","id":1`, code: -32700},
		"two values":                {body: `{} {}`, code: -32700},
		"broken UTF-8":              {body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", code: -32700},
		"deeper than anyone needs":  {body: strings.Repeat("[", 100_000), code: -32700},
		"a batch":                   {body: `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, code: -32600},
		"an empty batch":            {body: `[]`, code: -32600},
		"a number":                  {body: `7`, code: -32600},
		"null":                      {body: `null`, code: -32600},
		"a duplicate name":          {body: `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`, code: -32600},
		"id null":                   {body: `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, code: -32600},
		"id true":                   {body: `{"jsonrpc":"2.0","id":true,"method":"tools/list"}`, code: -32600},
		"a fractional id":           {body: `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, code: -32600},
		"an id with an exponent":    {body: `{"jsonrpc":"2.0","id":1e3,"method":"tools/list"}`, code: -32600},
		"an object id":              {body: `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, code: -32600},
		"jsonrpc 1.0":               {body: `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, code: -32600, id: 1.0},
		"no jsonrpc":                {body: `{"id":1,"method":"tools/list"}`, code: -32600, id: 1.0},
		"names match exactly":       {body: `{"JSONRPC":"2.0","id":1,"method":"tools/list"}`, code: -32600, id: 1.0},
		"no method":                 {body: `{"jsonrpc":"2.0","id":"a"}`, code: -32600, id: "a"},
		"a method that is a number": {body: `{"jsonrpc":"2.0","id":1,"method":7}`, code: -32600, id: 1.0},
		"an empty method":           {body: `{"jsonrpc":"2.0","id":1,"method":""}`, code: -32600, id: 1.0},
		"a response":                {body: `{"jsonrpc":"2.0","id":1,"result":{}}`, code: -32600, id: 1.0},
		"an error response":         {body: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, code: -32600, id: 1.0},
		"params by position":        {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, code: -32602, id: 1.0},
		"params twice the name":     {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1,"a":2}}`, code: -32602, id: 1.0},
		"params null":               {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}`, code: -32602, id: 1.0},
		"no params":                 {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, code: -32602, id: 1.0},
		"no _meta":                  {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, code: -32602, id: 1.0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := do(t, m, call{method: "tools/list", body: test.body})
			a.fails(400, test.code)
			if a.final["id"] != test.id {
				t.Errorf("id = %v, want %v", a.final["id"], test.id)
			}
		})
	}
}

func TestModernNotificationsAreAccepted(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for _, method := range []string{"notifications/cancelled", "notifications/initialized", "vendor/unknown"} {
		a := do(t, m, call{method: method, body: `{"jsonrpc":"2.0","method":"` + method + `"}`})
		if a.status != 202 || a.raw != "" {
			t.Errorf("%s: HTTP %d %q", method, a.status, a.raw)
		}
	}
}

func TestModernEchoesIDs(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for _, id := range []string{`1`, `"1"`, `0`, `-7`, `9007199254740993`, `""`, `"ü<&>\n"`} {
		for _, method := range []string{"server/discover", "no/such/method"} {
			a := do(t, m, call{method: method, id: id})
			if !strings.Contains(a.raw, `"id":`+id) {
				t.Errorf("id %s of %s is not in %s", id, method, a.raw)
			}
		}
	}
}

func TestModernLadder(t *testing.T) {
	t.Parallel()
	legacy := object{prefix + "protocolVersion": "2025-11-25"}
	unknown := object{prefix + "protocolVersion": "v999.0.0"}
	add := object{"name": "add", "arguments": object{"a": 1, "b": 2}}
	tests := map[string]struct {
		call   call
		opts   demo.Options
		status int
		code   float64
	}{
		"no protocolVersion":                   {call: call{meta: object{prefix + "protocolVersion": nil}}, status: 400, code: -32602},
		"a protocolVersion of the wrong type":  {call: call{meta: object{prefix + "protocolVersion": 1}}, status: 400, code: -32602},
		"no clientCapabilities":                {call: call{meta: object{prefix + "clientCapabilities": nil}}, status: 400, code: -32602},
		"clientCapabilities of a wrong type":   {call: call{meta: object{prefix + "clientCapabilities": "x"}}, status: 400, code: -32602},
		"clientInfo without version":           {call: call{meta: object{prefix + "clientInfo": object{"name": "x"}}}, status: 400, code: -32602},
		"clientInfo of a wrong type":           {call: call{meta: object{prefix + "clientInfo": 1}}, status: 400, code: -32602},
		"an unknown logLevel":                  {call: call{meta: object{prefix + "logLevel": "loud"}}, status: 400, code: -32602},
		"a logLevel of a wrong type":           {call: call{meta: object{prefix + "logLevel": 3}}, status: 400, code: -32602},
		"a fractional progressToken":           {call: call{meta: object{"progressToken": 1.5}}, status: 400, code: -32602},
		"no version header":                    {call: call{header: map[string]string{"MCP-Protocol-Version": "-"}}, status: 400, code: -32020},
		"another version header":               {call: call{header: map[string]string{"MCP-Protocol-Version": "2025-11-25"}}, status: 400, code: -32020},
		"an encoded version header":            {call: call{header: map[string]string{"MCP-Protocol-Version": "=?base64?MjAyNi0wNy0yOA==?="}}, status: 400, code: -32020},
		"header and unknown version differ":    {call: call{meta: unknown}, status: 400, code: -32020},
		"an unknown version":                   {call: call{meta: unknown, header: map[string]string{"MCP-Protocol-Version": "v999.0.0"}}, status: 400, code: -32022},
		"a legacy version in this envelope":    {call: call{meta: legacy, header: map[string]string{"MCP-Protocol-Version": "2025-11-25"}}, status: 400, code: -32022},
		"an unknown version, another method":   {call: call{meta: unknown, header: map[string]string{"MCP-Protocol-Version": "v999.0.0", "Mcp-Method": "x"}}, status: 400, code: -32020},
		"an unknown version, no method":        {call: call{meta: unknown, header: map[string]string{"MCP-Protocol-Version": "v999.0.0", "Mcp-Method": "-"}}, status: 400, code: -32022},
		"no Mcp-Method":                        {call: call{header: map[string]string{"Mcp-Method": "-"}}, status: 400, code: -32020},
		"another Mcp-Method":                   {call: call{header: map[string]string{"Mcp-Method": "tools/list"}}, status: 400, code: -32020},
		"Mcp-Method in another case":           {call: call{header: map[string]string{"Mcp-Method": "SERVER/DISCOVER"}}, status: 400, code: -32020},
		"no Mcp-Name":                          {call: call{method: "tools/call", params: add, header: map[string]string{"Mcp-Name": "-"}}, status: 400, code: -32020},
		"another Mcp-Name":                     {call: call{method: "tools/call", params: add, header: map[string]string{"Mcp-Name": "work"}}, status: 400, code: -32020},
		"Mcp-Name in another case":             {call: call{method: "tools/call", params: add, header: map[string]string{"Mcp-Name": "ADD"}}, status: 400, code: -32020},
		"Mcp-Name without padding":             {call: call{method: "tools/call", params: add, header: map[string]string{"Mcp-Name": "=?base64?YWRkIQ?="}}, status: 400, code: -32020},
		"Mcp-Name with trailing bits":          {call: call{method: "tools/call", params: object{"name": "a"}, header: map[string]string{"Mcp-Name": "=?base64?YR==?="}}, status: 400, code: -32020},
		"Mcp-Name that is not UTF-8":           {call: call{method: "tools/call", params: object{"name": "\ufffd"}, header: map[string]string{"Mcp-Name": "=?base64?/w==?="}}, status: 400, code: -32020},
		"Mcp-Name with raw bytes":              {call: call{method: "tools/call", params: object{"name": "ü"}, header: map[string]string{"Mcp-Name": "ü"}}, status: 400, code: -32020},
		"Mcp-Name of a prompt":                 {call: call{method: "prompts/get", params: object{"name": "greeting"}, header: map[string]string{"Mcp-Name": "x"}}, status: 400, code: -32020},
		"Mcp-Name of a resource":               {call: call{method: "resources/read", params: object{"uri": "demo://readme"}, header: map[string]string{"Mcp-Name": "-"}}, status: 400, code: -32020},
		"Mcp-Name of another task":             {call: call{method: "tasks/get", params: object{"taskId": "t"}, caps: taskCaps, header: map[string]string{"Mcp-Name": "u"}}, status: 400, code: -32020},
		"no Mcp-Name of a task":                {call: call{method: "tasks/get", params: object{"taskId": "t"}, caps: taskCaps, header: map[string]string{"Mcp-Name": "-"}}, status: 200, code: -32602},
		"no Mcp-Name of a task, strictly":      {call: call{method: "tasks/get", params: object{"taskId": "t"}, caps: taskCaps, header: map[string]string{"Mcp-Name": "-"}}, opts: demo.Options{StrictTaskNames: true}, status: 400, code: -32020},
		"no taskId":                            {call: call{method: "tasks/get", caps: taskCaps}, status: 200, code: -32602},
		"a taskId that is a number":            {call: call{method: "tasks/cancel", params: object{"taskId": 7}, caps: taskCaps}, status: 200, code: -32602},
		"a tool name that is missing":          {call: call{method: "tools/call"}, status: 200, code: -32602},
		"a method that nobody has":             {call: call{method: "no/such"}, status: 404, code: -32601},
		"tasks/get without the extension":      {call: call{method: "tasks/get", params: object{"taskId": "t"}, caps: askCaps}, status: 400, code: -32021},
		"tasks/update without the extension":   {call: call{method: "tasks/update", params: object{"taskId": "t"}}, status: 400, code: -32021},
		"tasks/cancel without the extension":   {call: call{method: "tasks/cancel", params: object{"taskId": "t"}}, status: 400, code: -32021},
		"the extension as null is none":        {call: call{method: "tasks/get", params: object{"taskId": "t"}, caps: object{"extensions": object{extension: nil}}}, status: 400, code: -32021},
		"the extension with settings is there": {call: call{method: "tasks/get", params: object{"taskId": "t"}, caps: object{"extensions": object{extension: object{"x": 1}}}}, status: 200, code: -32602},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.call.method == "" {
				test.call.method = "server/discover"
			}
			a := do(t, newModern(t, test.opts), test.call)
			data := a.fails(test.status, test.code)
			if a.final["id"] != 1.0 {
				t.Errorf("id = %v", a.final["id"])
			}
			switch test.code {
			case -32022:
				want := test.call.meta[prefix+"protocolVersion"]
				if s, _ := data["supported"].([]any); len(s) != 1 || s[0] != version || data["requested"] != want {
					t.Errorf("data = %v", data)
				}
			case -32021:
				required, _ := data["requiredCapabilities"].(object)
				extensions, _ := required["extensions"].(object)
				if _, ok := extensions[extension].(object); !ok {
					t.Errorf("data = %v", data)
				}
			}
		})
	}
}

func TestModernPassesOddButLegalEnvelopes(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for name, c := range map[string]call{
		"no clientInfo":             {method: "server/discover", meta: object{prefix + "clientInfo": nil}},
		"unknown _meta":             {method: "server/discover", meta: object{"traceparent": "00-1", "vendor/x": object{}}},
		"a padded header":           {method: "server/discover", header: map[string]string{"Mcp-Method": " server/discover\t"}},
		"an encoded name":           {method: "resources/read", params: object{"uri": "demo://readme"}, header: map[string]string{"Mcp-Name": "=?base64?ZGVtbzovL3JlYWRtZQ==?="}},
		"a header nobody asked for": {method: "server/discover", header: map[string]string{"Mcp-Name": "x", "Mcp-Param-Site": "y"}},
		"capabilities of odd types": {method: "server/discover", caps: object{"elicitation": 1, "extensions": []int{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, m, c).result()
		})
	}
}

func TestModernHasNoMethodsOfTheOtherEra(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for _, method := range []string{
		"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
		"tasks/result", "tasks/list", "roots/list", "sampling/createMessage", "elicitation/create",
	} {
		do(t, m, call{method: method, params: object{"taskId": "t"}, caps: allCaps}).fails(404, -32601)
	}
}

func TestModernTellsOldClientsWhatItSpeaks(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","_meta":{"progressToken":1},"capabilities":{}}}`,
	} {
		a := do(t, m, call{method: "initialize", body: body, header: map[string]string{"MCP-Protocol-Version": "-", "Mcp-Method": "-"}})
		a.fails(404, -32601)
		if !strings.Contains(a.raw, version) {
			t.Errorf("no version in %s", a.raw)
		}
	}
}
