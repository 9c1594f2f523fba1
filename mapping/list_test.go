package mapping_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

const quarry = `{"name":"quarry","version":"9.0.2"}`

// downResults are results of modern servers and what a legacy client gets.
var downResults = []struct {
	name, method string
	in           wire.Value
	opts         mapping.ResultOptions
	want         string
	notes        mapping.Notes
}{
	{
		name: "§6.1 hints, type and identity stop at the bridge", method: "prompts/list",
		in:   `{"resultType":"complete","prompts":[{"name":"p","icons":[]}],"ttlMs":5,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `}}`,
		want: `{"prompts":[{"name":"p","icons":[]}]}`, notes: notesOf(mapping.NoteCacheHints),
	},
	{
		name: "A31 a result without type is complete", method: "resources/list", in: `{"resources":[ 1e-07 ]}`,
		want: `{"resources":[ 1e-07 ]}`,
	},
	{
		name: "A29 vendor keys of _meta and their numbers stay", method: "prompts/get",
		in:   `{"_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `,"com.acme/cost":1e-07,"io.modelcontextprotocol/subscriptionId":1},"messages":[]}`,
		want: `{"messages":[],"_meta":{"com.acme/cost":1e-07}}`,
	},
	{
		name: "§3.6 legacy keys are not the server's to set", method: "prompts/get",
		in:   `{"messages":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"},"io.modelcontextprotocol/model-immediate-response":"y"}}`,
		want: `{"messages":[]}`, notes: notesOf(mapping.NoteReservedMeta),
	},
	{
		name: "§6.1 hints are a vendor's where results are not cached", method: "prompts/get",
		in: `{"messages":[],"ttlMs":1,"cacheScope":"x"}`, want: `{"messages":[],"ttlMs":1,"cacheScope":"x"}`,
	},
	{
		name: "§3.3 resources/read has hints", method: "resources/read",
		in:   `{"contents":[],"ttlMs":0,"cacheScope":"private","resultType":"complete"}`,
		want: `{"contents":[]}`, notes: notesOf(mapping.NoteCacheHints),
	},
	{
		name: "§6.1 members of a retry mean nothing in a complete result", method: "resources/read",
		in:   `{"contents":[],"inputRequests":{},"requestState":"s"}`,
		want: `{"contents":[]}`, notes: notesOf(mapping.NoteStrayMember),
	},
	{
		name: "G-3 a vendor method loses its type and nothing else", method: "acme/dig",
		in:   `{"resultType":"complete","ttlMs":1,"inputRequests":2,"task":{"taskId":"x"},"nextCursor":"","\u0061":"\ud800","a":1,"_meta":{}}`,
		want: "", // the duplicate in a result is refused below
	},
	{
		name: "G-3 a vendor method without duplicates", method: "acme/dig",
		in:   `{"resultType":"complete","ttlMs":1,"inputRequests":2,"task":{"taskId":"x"},"nextCursor":"","\u0061":"\ud800","_meta":{}}`,
		want: `{"ttlMs":1,"inputRequests":2,"task":{"taskId":"x"},"nextCursor":"","\u0061":"\ud800"}`,
	},
	{
		name: "§3.3 the empty cursor gets an alias", method: "prompts/list", in: `{"prompts":[],"nextCursor":""}`,
		want: `{"prompts":[],"nextCursor":"~"}`, notes: notesOf(mapping.NoteCursor),
	},
	{
		name: "§3.3 other cursors are opaque", method: "resources/templates/list", in: `{"resourceTemplates":[],"nextCursor":"\u0061/~"}`,
		want: `{"resourceTemplates":[],"nextCursor":"\u0061/~"}`,
	},
	{
		name: "§3.3 a null cursor ends the list", method: "prompts/list", in: `{"prompts":[],"nextCursor":null}`,
		want: `{"prompts":[]}`,
	},
	{
		name: "A31 completion", method: "completion/complete", in: `{"completion":{"values":["ab"],"hasMore":false},"resultType":"complete"}`,
		want: `{"completion":{"values":["ab"],"hasMore":false}}`,
	},
	{
		name: "tools/call goes its own way", method: "tools/call", in: `{"content":[],"structuredContent":[1]}`,
		want:  `{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"result":[1]}}`,
		notes: notesOf(mapping.NoteStructuredWrapped, mapping.NoteTextAdded),
	},
	{
		name: "tools/list goes its own way", method: "tools/list", in: `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`,
		opts: mapping.ResultOptions{Tasks: true},
		want: `{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`,
	},
}

func TestAppendDownResult(t *testing.T) {
	t.Parallel()
	for _, tt := range downResults {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				_, err := ext2026.ParseResult(tt.method, tt.in)
				var decode *wire.DecodeError
				if !errors.As(err, &decode) || decode.Path != "result.a" {
					t.Errorf("error %v, want one at result.a", err)
				}
				return
			}
			in := modernResult(t, tt.method, tt.in)
			got, notes, err := mapping.AppendDownResult([]byte(prefix), tt.method, in, tt.opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendDownResultRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range brokenResults {
		in := modernResult(t, tt.method, tt.in)
		got, _, err := mapping.AppendDownResult([]byte(prefix), tt.method, in, mapping.ResultOptions{})
		checkRefused(t, got, err, tt.path, -32603)
	}
	for _, v := range []wire.Value{`{"resultType":"task"}`, `{"resultType":"input_required","requestState":"s"}`} {
		in := modernResult(t, "tools/call", v)
		got, _, err := mapping.AppendDownResult([]byte(prefix), "tools/call", in, mapping.ResultOptions{})
		checkRefused(t, got, err, "result.resultType", -32603)
		if !errors.Is(err, mapping.ErrResultType) {
			t.Errorf("error %v, want %v", err, mapping.ErrResultType)
		}
	}
}

func TestAppendUpResult(t *testing.T) {
	t.Parallel()
	const basalt = `{"name":"basalt","version":"2.4.0"}`
	const own = `"_meta":{"io.modelcontextprotocol/serverInfo":` + basalt + `}`
	tests := []struct {
		name, method string
		in           wire.Value
		bare         bool // no serverInfo known
		want         string
		notes        mapping.Notes
	}{
		{
			name: "B03 lists get type, hints and identity", method: "prompts/list", in: `{"prompts":[],"nextCursor":"n2"}`,
			want: `{"resultType":"complete","prompts":[],"nextCursor":"n2","ttlMs":0,"cacheScope":"private",` + own + `}`,
		},
		{
			name: "§3.3 a null cursor ends the list", method: "resources/list", bare: true, in: `{"resources":[],"nextCursor":null}`,
			want: `{"resultType":"complete","resources":[],"ttlMs":0,"cacheScope":"private"}`,
		},
		{
			name: "B59 prompts/get is not cached", method: "prompts/get", in: `{"messages":[],"_meta":{"v":2}}`,
			want: `{"resultType":"complete","messages":[],"_meta":{"io.modelcontextprotocol/serverInfo":` + basalt + `,"v":2}}`,
		},
		{
			name: "§3.3 resources/read is", method: "resources/read", in: `{"contents":[]}`,
			want: `{"resultType":"complete","contents":[],"ttlMs":0,"cacheScope":"private",` + own + `}`,
		},
		{
			name: "§6.1 a legacy server's own hints and type are replaced", method: "resources/list", bare: true,
			in:    `{"resultType":"partial","ttlMs":99,"cacheScope":"public","resources":[]}`,
			want:  `{"resultType":"complete","resources":[],"ttlMs":0,"cacheScope":"private"}`,
			notes: notesOf(mapping.NoteStrayMember),
		},
		{
			name: "B-L5 identity is overwritten, modern keys stripped", method: "prompts/get",
			in:   `{"messages":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"0"},"io.modelcontextprotocol/subscriptionId":1}}`,
			want: `{"resultType":"complete","messages":[],` + own + `}`, notes: notesOf(mapping.NoteReservedMeta),
		},
		{
			name: "§3.6 related-task is consumed", method: "tools/call", bare: true,
			in:   `{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"}}}`,
			want: `{"resultType":"complete","content":[]}`,
		},
		{
			name: "§6.1 members of a retry are no legacy server's", method: "tools/call", bare: true,
			in:   `{"content":[],"inputRequests":{},"requestState":"s","isError":false}`,
			want: `{"resultType":"complete","content":[],"isError":false}`, notes: notesOf(mapping.NoteStrayMember),
		},
		{
			name: "§3.3 structured content stays as it is", method: "tools/call", bare: true,
			in:   `{"structuredContent":{"a":12345678901234567890}}`,
			want: `{"resultType":"complete","content":[],"structuredContent":{"a":12345678901234567890}}`,
		},
		{
			name: "G-3 a vendor method gets the type and nothing else", method: "acme/dig", bare: true,
			in:   `{"ttlMs":1,"requestState":2,"\u0061":1e-07}`,
			want: `{"resultType":"complete","ttlMs":1,"requestState":2,"\u0061":1e-07}`,
		},
		{
			name: "EmptyResult", method: "acme/dig", in: `{}`,
			want: `{"resultType":"complete",` + own + `}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := mapping.UpResultOptions{ServerInfo: basalt}
			if tt.bare {
				opts = mapping.UpResultOptions{}
			}
			got, notes, err := mapping.AppendUpResult([]byte(prefix), tt.method, tt.in, opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendUpResultRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range append(brokenResults, brokenResult{"acme/dig", `[]`, "result"}, brokenResult{"acme/dig", `{"a":1,"a":1}`, "result.a"}) {
		got, _, err := mapping.AppendUpResult([]byte(prefix), tt.method, tt.in, mapping.UpResultOptions{})
		checkRefused(t, got, err, tt.path, -32603)
	}
}

type brokenResult struct {
	method string
	in     wire.Value
	path   string
}

// brokenResults are results that neither era may give.
var brokenResults = []brokenResult{
	{"acme/dig", `{"_meta":1}`, "result._meta"},
	{"acme/dig", `{"_meta":null}`, "result._meta"},
	{"acme/dig", `{"_meta":{"k":1,"k":1}}`, "result._meta.k"},
	{"tools/call", `{"content":{}}`, "result.content"},
	{"tools/call", `{"isError":0}`, "result.isError"},
	{"tools/list", `{}`, "result.tools"},
	{"prompts/list", `{"prompts":{}}`, "result.prompts"},
	{"prompts/list", `{"prompts":[],"nextCursor":1}`, "result.nextCursor"},
	{"prompts/get", `{"messages":"x"}`, "result.messages"},
	{"resources/list", `{"tools":[]}`, "result.resources"},
	{"resources/templates/list", `{"resources":[]}`, "result.resourceTemplates"},
	{"resources/read", `{}`, "result.contents"},
	{"completion/complete", `{"completion":[]}`, "result.completion"},
	{"completion/complete", `{"completion":{}}`, "result.completion.values"},
}

func TestReadDownResult(t *testing.T) {
	t.Parallel()
	in, err := mapping.ReadDownResult("tools/call", `{"resultType":"task","taskId":"t"}`)
	if err != nil || in.Type != ext2026.ResultTask {
		t.Errorf("got %q, %v", in.Type, err)
	}
	for v, path := range map[wire.Value]string{
		`{"resultType":"partial"}`: "result.resultType", `{"resultType":"input_required"}`: "result", `[]`: "result", `{"a":1,"a":1}`: "result.a",
	} {
		_, err := mapping.ReadDownResult("tools/call", v)
		checkRefused(t, []byte(prefix), err, path, -32603)
		if got := errors.Is(err, mapping.ErrResultType); got != (path == "result.resultType") {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// Two cursors never share an alias, and every alias leads back.
func TestCursorAliases(t *testing.T) {
	t.Parallel()
	seen := map[string]wire.Value{}
	for _, cursor := range []wire.Value{
		`""`, `"~"`, `"~~"`, `"~~~"`, `"~x"`, `"a"`, `"a~"`, `" "`, `"\u007e"`, `"\u007ex"`, `"\"~"`, `"\ud800"`, `"~\ud800"`,
	} {
		alias := mapping.AppendDownCursor(nil, cursor)
		text, ok := wire.Value(alias).Text()
		if !ok || text == "" {
			t.Errorf("the alias of %s is %s", cursor, alias)
		}
		if other, found := seen[text]; found && !sameText(other, cursor) {
			t.Errorf("%s and %s share the alias %s", other, cursor, alias)
		}
		seen[text] = cursor
		back := wire.Value(mapping.AppendUpCursor(nil, wire.Value(alias)))
		if !sameText(back, cursor) {
			t.Errorf("%s comes back as %s", cursor, back)
		}
	}
	for in, want := range map[wire.Value]string{
		`"\u007e"`: `""`, `"\u007e~x"`: `"~x"`, `"~\u007ex"`: `"\u007ex"`, `"~x"`: `"~x"`, `""`: `""`, `7`: `7`,
	} {
		if got := string(mapping.AppendUpCursor(nil, in)); got != want {
			t.Errorf("AppendUpCursor(%s) = %s, want %s", in, got, want)
		}
	}
}

func sameText(a, b wire.Value) bool {
	x, _ := a.Text()
	y, _ := b.Text()
	return x == y
}
