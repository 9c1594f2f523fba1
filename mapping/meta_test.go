package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

const (
	orbit     = `{"name":"orbit","version":"3.1.0"}`
	orbitMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + orbit +
		`,"io.modelcontextprotocol/clientCapabilities":{"roots":{}}`
)

// orbitEnvelope is the envelope of a session that never set a log level.
func orbitEnvelope() mapping.Envelope {
	return mapping.Envelope{ClientInfo: orbit, Capabilities: `{"roots":{}}`, ProgressToken: "70002"}
}

// upParamsCases are params of legacy clients and what a modern server gets.
var upParamsCases = []struct {
	name, method string
	in           wire.Value
	edit         func(*mapping.Envelope)
	want         string
	notes        mapping.Notes
}{
	{
		name: "A-U3 params are created", method: "tools/list", in: "",
		want: `{"_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "A-U1 empty params get the envelope", method: "tools/list", in: "{}",
		want: `{"_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "A-U1 no client info, no capabilities", method: "tools/list", in: "{}",
		edit: func(e *mapping.Envelope) { *e = mapping.Envelope{} },
		want: `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`,
	},
	{
		name: "§3.4 the session's level goes along", method: "prompts/list", in: "{}",
		edit: func(e *mapping.Envelope) { e.LogLevel = "warning" },
		want: `{"_meta":{` + orbitMeta + `,"io.modelcontextprotocol/logLevel":"warning"}}`,
	},
	{
		name: "A29 the token is replaced, vendor keys and numbers stay", method: "tools/call",
		in:   `{"name":"sieve","arguments":{"seed":12345678901234567890},"_meta":{"progressToken":5,"com.acme/trace":"x"}}`,
		want: `{"name":"sieve","arguments":{"seed":12345678901234567890},"_meta":{` + orbitMeta + `,"progressToken":70002,"com.acme/trace":"x"}}`,
	},
	{
		name: "G-9 no token of ours: progress is not asked for", method: "tools/call",
		in:   `{"name":"a","_meta":{"progressToken":"p"}}`,
		edit: func(e *mapping.Envelope) { e.ProgressToken = "" },
		want: `{"name":"a","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "G-9 a null token asks for nothing", method: "tools/call",
		in:   `{"name":"a","_meta":{"progressToken":null}}`,
		want: `{"name":"a","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "G-9 a token is never invented", method: "tools/call", in: `{"name":"a"}`,
		want: `{"name":"a","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "§3.6 reserved keys are overwritten or stripped", method: "tools/call",
		in: `{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"evil","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},` +
			`"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/serverInfo":{},` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-a-b-01","io.modelcontextprotocol/ui":{}},"name":"a"}`,
		want:  `{"_meta":{` + orbitMeta + `,"traceparent":"00-a-b-01","io.modelcontextprotocol/ui":{}},"name":"a"}`,
		notes: notesOf(mapping.NoteReservedMeta),
	},
	{
		name: "A-T4 related-task and model-immediate-response are ignored", method: "tools/call",
		in:   `{"name":"a","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"z"},"io.modelcontextprotocol/model-immediate-response":"x"}}`,
		want: `{"name":"a","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "A-T1 task is removed", method: "prompts/get", in: `{"name":"brief","task":{"ttl":9}}`,
		want: `{"name":"brief","_meta":{` + orbitMeta + `}}`, notes: notesOf(mapping.NoteTaskMember),
	},
	{
		name: "§6.1 a legacy client must not forge a retry", method: "tools/call",
		in:   `{"name":"a","inputResponses":{"x":{"action":"accept"}},"requestState":"forged"}`,
		want: `{"name":"a","_meta":{` + orbitMeta + `}}`, notes: notesOf(mapping.NoteForgedRetry),
	},
	{
		name: "G-3 where they mean nothing these are unknown members", method: "tools/list",
		in:   `{"inputResponses":1,"requestState":2,"x":[1e-07]}`,
		want: `{"inputResponses":1,"requestState":2,"x":[1e-07],"_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "A-M2 a retry carries the answers and the state", method: "tools/call",
		in:    `{"name":"blast","requestState":"forged","arguments":{"kg":3},"_meta":{"v":1}}`,
		edit:  func(e *mapping.Envelope) { e.Retry = ext2026.Retry{InputResponses: `{"k":{}}`, RequestState: `"s~1"`} },
		want:  `{"name":"blast","arguments":{"kg":3},"inputResponses":{"k":{}},"requestState":"s~1","_meta":{` + orbitMeta + `,"v":1}}`,
		notes: notesOf(mapping.NoteForgedRetry),
	},
	{
		name: "A-M3 a retry without answers", method: "prompts/get", in: `{"name":"brief"}`,
		edit: func(e *mapping.Envelope) { e.Retry = ext2026.Retry{RequestState: `"later"`} },
		want: `{"name":"brief","requestState":"later","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "§3.3 the alias of a cursor is resolved", method: "tools/list", in: `{"cursor":"~"}`,
		want: `{"cursor":"","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "§3.3 other cursors are opaque", method: "resources/templates/list", in: `{"cursor":"a\u0062~"}`,
		want: `{"cursor":"a\u0062~","_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "§1.3 a vendor method gets the envelope", method: "acme/dig",
		in:   `{"cursor":"~","task":1,"deep":{"task":1},"_meta":{}}`,
		want: `{"cursor":"~","deep":{"task":1},"_meta":{` + orbitMeta + `}}`, notes: notesOf(mapping.NoteTaskMember),
	},
	{
		name: "§3.9 an old client means no context", method: "completion/complete", in: completeWithContext,
		edit: func(e *mapping.Envelope) { e.Version = "2025-03-26" },
		want: `{"ref":{},"argument":{"name":"a","value":""},"_meta":{` + orbitMeta + `}}`, notes: notesOf(mapping.NoteOlderRevision),
	},
	{
		name: "§3.9 others do", method: "completion/complete", in: completeWithContext,
		edit: func(e *mapping.Envelope) { e.Version = "2025-06-18" },
		want: completeWithContext[:len(completeWithContext)-1] + `,"_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "§3.9 it is a vendor's elsewhere", method: "acme/dig", in: `{"context":1}`,
		edit: func(e *mapping.Envelope) { e.Version = "2025-03-26" },
		want: `{"context":1,"_meta":{` + orbitMeta + `}}`,
	},
	{
		name: "G-2 user data survives byte for byte", method: "tools/call",
		in: `{ "n\u0061me" : "a" , "arguments" : { "x" : 1e-07, "x":12345678901234567890, "k\u00e9y": "\ud800 prüfen", "task":{"ttlMs":-0.0} } }`,
		want: `{"n\u0061me":"a","arguments":{ "x" : 1e-07, "x":12345678901234567890, "k\u00e9y": "\ud800 prüfen", "task":{"ttlMs":-0.0} },` +
			`"_meta":{` + orbitMeta + `}}`,
	},
}

func TestAppendUpParams(t *testing.T) {
	t.Parallel()
	for _, tt := range upParamsCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := orbitEnvelope()
			if tt.edit != nil {
				tt.edit(&env)
			}
			got, notes, err := mapping.AppendUpParams([]byte(prefix), tt.method, tt.in, env)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendUpParamsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method string
		in           wire.Value
		path         string
	}{
		{"duplicate in params", "acme/dig", `{"a":1,"a":2}`, "params.a"},
		{"duplicate in _meta", "acme/dig", `{"_meta":{"k":1,"\u006b":2}}`, "params._meta.k"},
		{"two _meta", "acme/dig", `{"_meta":{},"_meta":{}}`, "params._meta"},
		{"_meta is null", "acme/dig", `{"_meta":null}`, "params._meta"},
		{"progress token is an object", "acme/dig", `{"_meta":{"progressToken":{}}}`, "params._meta.progressToken"},
		{"progress token is a boolean", "acme/dig", `{"_meta":{"progressToken":true}}`, "params._meta.progressToken"},
		{"params is an array", "acme/dig", `[]`, "params"},
		{"tools/call without params", "tools/call", ``, "params.name"},
		{"tools/call name is a number", "tools/call", `{"name":1}`, "params.name"},
		{"tools/call arguments is an array", "tools/call", `{"name":"a","arguments":[]}`, "params.arguments"},
		{"tools/call arguments is null", "tools/call", `{"name":"a","arguments":null}`, "params.arguments"},
		{"prompts/get without name", "prompts/get", `{}`, "params.name"},
		{"prompts/get arguments is text", "prompts/get", `{"name":"a","arguments":"x"}`, "params.arguments"},
		{"resources/read without uri", "resources/read", `{"url":"a:b"}`, "params.uri"},
		{"cursor is a number", "tools/list", `{"cursor":1}`, "params.cursor"},
		{"completion without ref", "completion/complete", `{"argument":{"name":"a","value":""}}`, "params.ref"},
		{"completion without argument", "completion/complete", `{"ref":{}}`, "params.argument"},
		{"completion value is a number", "completion/complete", `{"ref":{},"argument":{"name":"a","value":1}}`, "params.argument.value"},
		{"completion name is missing", "completion/complete", `{"ref":{},"argument":{"value":""}}`, "params.argument.name"},
		{"completion context is text", "completion/complete", `{"ref":{},"argument":{"name":"a","value":""},"context":""}`, "params.context"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := mapping.AppendUpParams([]byte(prefix), tt.method, tt.in, orbitEnvelope())
			checkRefused(t, got, err, tt.path, -32602)
		})
	}
}

const completeWithContext = `{"ref":{},"argument":{"name":"a","value":""},"context":{"arguments":{}}}`

func TestAppendDownParams(t *testing.T) {
	t.Parallel()
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"nova","version":"0.9.0"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}`
	tests := []struct {
		name, method string
		in           wire.Value
		env          mapping.DownEnvelope
		want         string
		notes        mapping.Notes
	}{
		{
			name: "B03 nothing is left but an object", method: "tools/list", in: `{"_meta":{` + meta + `}}`,
			want: `{}`,
		},
		{
			name: "B04 the token is replaced, traces stay", method: "tools/call",
			in:   `{"name":"echo","arguments":{"s":"hé"},"_meta":{` + meta + `,"progressToken":"pp","traceparent":"00-0a-b7-01"}}`,
			env:  mapping.DownEnvelope{ProgressToken: "8001"},
			want: `{"name":"echo","arguments":{"s":"hé"},"_meta":{"progressToken":8001,"traceparent":"00-0a-b7-01"}}`,
		},
		{
			name: "B53 the level is consumed", method: "tools/call",
			in:   `{"name":"echo","_meta":{` + meta + `,"io.modelcontextprotocol/logLevel":"error"}}`,
			want: `{"name":"echo"}`,
		},
		{
			name: "B-T8 a client's task is ignored", method: "tools/call",
			in: `{"task":{"ttl":1},"name":"echo","_meta":{` + meta + `}}`, want: `{"name":"echo"}`,
			notes: notesOf(mapping.NoteTaskMember),
		},
		{
			name: "§4.19 the bridge adds its own", method: "tools/call",
			in: `{"name":"echo","_meta":{` + meta + `}}`, env: mapping.DownEnvelope{Task: `{"ttl":3600000}`},
			want: `{"name":"echo","task":{"ttl":3600000}}`,
		},
		{
			name: "§6.1 a retry is consumed", method: "resources/read",
			in:   `{"uri":"a:b","inputResponses":{},"requestState":"s","_meta":{` + meta + `}}`,
			want: `{"uri":"a:b"}`,
		},
		{
			name: "§3.6 legacy keys are stripped", method: "tools/call",
			in:   `{"name":"a","_meta":{` + meta + `,"io.modelcontextprotocol/related-task":{"taskId":"x"},"io.modelcontextprotocol/subscriptionId":1,"v":1}}`,
			want: `{"name":"a","_meta":{"v":1}}`, notes: notesOf(mapping.NoteReservedMeta),
		},
		{
			name: "§3.3 the empty cursor names a page", method: "tools/list", in: `{"cursor":"","_meta":{` + meta + `}}`,
			want: `{"cursor":""}`,
		},
		{
			name: "§3.9 an old server knows no context", method: "completion/complete", in: completeWithContext, env: mapping.DownEnvelope{Version: "2025-03-26"},
			want: `{"ref":{},"argument":{"name":"a","value":""}}`, notes: notesOf(mapping.NoteOlderRevision),
		},
		{name: "§3.9 others do", method: "completion/complete", in: completeWithContext, env: mapping.DownEnvelope{Version: "2025-06-18"}, want: completeWithContext},
		{name: "§3.9 the newest does", method: "completion/complete", in: completeWithContext, want: completeWithContext},
		{
			name: "§3.9 it is a vendor's elsewhere", method: "acme/dig", in: `{"context":1}`, env: mapping.DownEnvelope{Version: "2025-03-26"},
			want: `{"context":1}`,
		},
		{name: "a vendor method without params", method: "acme/dig", in: ``, want: `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := mapping.AppendDownParams([]byte(prefix), tt.method, tt.in, tt.env)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendDownParamsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method string
		in           wire.Value
		path         string
	}{
		{"duplicate in params", "acme/dig", `{"a":1,"a":2}`, "params.a"},
		{"duplicate in _meta", "acme/dig", `{"_meta":{"k":1,"k":2}}`, "params._meta.k"},
		{"_meta is text", "acme/dig", `{"_meta":"x"}`, "params._meta"},
		{"progress token is an array", "tools/call", `{"name":"a","_meta":{"progressToken":[]}}`, "params._meta.progressToken"},
		{"answers are no object", "tools/call", `{"name":"a","inputResponses":[]}`, "params.inputResponses"},
		{"state is a number", "prompts/get", `{"name":"a","requestState":1}`, "params.requestState"},
		{"state of resources/read is null", "resources/read", `{"uri":"a:b","requestState":null}`, "params.requestState"},
		{"listen without filter", "subscriptions/listen", `{}`, "params.notifications"},
		{"name is missing", "tools/call", `{}`, "params.name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := mapping.AppendDownParams([]byte(prefix), tt.method, tt.in, mapping.DownEnvelope{})
			checkRefused(t, got, err, tt.path, -32602)
		})
	}
}
