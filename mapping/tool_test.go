package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

const optionalTask = `"execution":{"taskSupport":"optional"}`

// toolPages are pages of tools and what a legacy client gets.
var toolPages = []struct {
	name  string
	in    wire.Value
	opts  mapping.ResultOptions
	want  string
	facts []mapping.ToolFacts
	notes mapping.Notes
}{
	{
		name: "A18 hints, cursor, annotations and a tool with an illegal one",
		in: `{"resultType":"complete","ttlMs":120000,"cacheScope":"public","nextCursor":"","tools":[` +
			`{"name":"broken","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Two Words"}}}},` +
			`{"name":"assay","inputSchema":{"type":"object","properties":{"site":{"type":"string","x-mcp-header":"Site"},"depth":{"type":"integer"}}}}],` +
			`"_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `}}`,
		opts: mapping.ResultOptions{Tasks: true},
		want: `{"nextCursor":"~","tools":[{"name":"assay","inputSchema":{"type":"object","properties":{"site":{"type":"string"},"depth":{"type":"integer"}}},` + optionalTask + `}]}`,
		facts: []mapping.ToolFacts{
			{Name: "assay", Headers: []ext2026.ParamHeader{{Name: "Site", Path: []string{"site"}}}},
		},
		notes: notesOf(mapping.NoteCacheHints, mapping.NoteCursor, mapping.NoteToolDropped, mapping.NoteHeaderAnnotation),
	},
	{
		name: "A21 output schemas",
		in: `{"tools":[{"name":"grades","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}},` +
			`{"outputSchema":{"items":{"$ref":"x.json"}},"inputSchema":{"type":"object"},"name":"lost"},` +
			`{"name":"plain","outputSchema":{"type":"object"},"inputSchema":{"type":"object"}}]}`,
		want: `{"tools":[{"name":"grades","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]}},` +
			`{"inputSchema":{"type":"object"},"name":"lost"},` +
			`{"name":"plain","outputSchema":{"type":"object"},"inputSchema":{"type":"object"}}]}`,
		facts: []mapping.ToolFacts{{Name: "grades", Wrapped: true}, {Name: "lost", Wrapped: true}, {Name: "plain"}},
		notes: notesOf(mapping.NoteOutputWrapped, mapping.NoteOutputOmitted),
	},
	{
		name: "§6.2 a modern tool's execution is replaced", in: `{"tools":[{"execution":{"taskSupport":"required"},"name":"a","inputSchema":{"type":"object"}}]}`,
		opts:  mapping.ResultOptions{Tasks: true},
		want:  `{"tools":[{"name":"a","inputSchema":{"type":"object"},` + optionalTask + `}]}`,
		facts: []mapping.ToolFacts{{Name: "a"}}, notes: notesOf(mapping.NoteExecution),
	},
	{
		name: "§6.2 or dropped", in: `{"tools":[{"execution":{"taskSupport":"required"},"name":"a","inputSchema":{"type":"object"}}]}`,
		want:  `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`,
		facts: []mapping.ToolFacts{{Name: "a"}}, notes: notesOf(mapping.NoteExecution),
	},
	{
		name: "A79 _meta, icons and unknown members pass",
		in:   `{"x":1e-07,"tools":[{"name":"map","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://map/main"},"com.acme/z":[1]},"icons":[{"src":"a:b"}],"x":{"execution":1}}]}`,
		want: `{"x":1e-07,"tools":[{"name":"map","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://map/main"},"com.acme/z":[1]},"icons":[{"src":"a:b"}],"x":{"execution":1}}]}`,

		facts: []mapping.ToolFacts{{Name: "map"}},
	},
	{name: "no tools", in: `{"tools":[ ]}`, want: `{"tools":[]}`},
	{
		name: "all tools dropped", in: `{"tools":[{"name":"a","inputSchema":{"type":"object","x-mcp-header":"A"}}]}`,
		want: `{"tools":[]}`, notes: notesOf(mapping.NoteToolDropped),
	},
	{
		name:  "§3.9 2025-06-18 has neither tasks nor icons",
		in:    `{"tools":[{"name":"a","title":"A","icons":[],"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"_meta":{},"annotations":{"title":"t"}}]}`,
		opts:  mapping.ResultOptions{Version: "2025-06-18", Tasks: true},
		want:  `{"tools":[{"name":"a","title":"A","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"_meta":{},"annotations":{"title":"t"}}]}`,
		facts: []mapping.ToolFacts{{Name: "a"}}, notes: notesOf(mapping.NoteOlderRevision),
	},
	{
		name:  "§3.9 2025-03-26 has no titles, output schemas and _meta either",
		in:    `{"tools":[{"name":"a","title":"A","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"_meta":{},"annotations":{"title":"t"}}]}`,
		opts:  mapping.ResultOptions{Version: "2025-03-26"},
		want:  `{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":"t"}}]}`,
		facts: []mapping.ToolFacts{{Name: "a"}}, notes: notesOf(mapping.NoteOlderRevision),
	},
}

func TestAppendDownToolsList(t *testing.T) {
	t.Parallel()
	for _, tt := range toolPages {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := modernResult(t, "tools/list", tt.in)
			got, facts, notes, err := mapping.AppendDownToolsList([]byte(prefix), in, tt.opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
			if diff := cmp.Diff(tt.facts, facts); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadTools(t *testing.T) {
	t.Parallel()
	in := modernResult(t, "tools/list", `{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":true},{"name":"b","inputSchema":{"x-mcp-header":""}}]}`)
	facts, notes, err := mapping.ReadTools(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]mapping.ToolFacts{{Name: "a", Wrapped: true}}, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if !notes.Has(mapping.NoteToolDropped) {
		t.Errorf("notes %s", notes)
	}
}

func TestAppendDownToolsListRefuses(t *testing.T) {
	t.Parallel()
	for in, path := range map[wire.Value]string{
		`{}`:                       "result.tools",
		`{"tools":{}}`:             "result.tools",
		`{"tools":[1]}`:            "result.tools[0]",
		`{"tools":[{"name":"a"}]}`: "result.tools[0].inputSchema",
		`{"tools":[{"name":"a","inputSchema":{}},{"inputSchema":{}}]}`:      "result.tools[1].name",
		`{"tools":[{"name":"a","inputSchema":true}]}`:                       "result.tools[0].inputSchema",
		`{"tools":[{"name":"a","inputSchema":{},"outputSchema":"string"}]}`: "result.tools[0].outputSchema",
		`{"tools":[],"nextCursor":1}`:                                       "result.nextCursor",
	} {
		got, _, _, err := mapping.AppendDownToolsList([]byte(prefix), modernResult(t, "tools/list", in), mapping.ResultOptions{})
		checkRefused(t, got, err, path, -32603)
	}
}

func TestAppendUpToolsList(t *testing.T) {
	t.Parallel()
	const in = `{"tools":[{"name":"drill","inputSchema":{"type":"object","properties":{"d":{"type":"number","x-mcp-header":"Depth"}}},` +
		`"execution":{"taskSupport":"required"},"icons":[{"src":"https://x.example/i.png"}]},` +
		`{"name":"dig","inputSchema":{"type":"object","properties":{"d":{"type":"integer","x-mcp-header":"Depth"}}},"execution":{"taskSupport":"maybe"},"title":"T"},` +
		`{"name":"pan","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}],"nextCursor":"n2"}`
	const want = `{"resultType":"complete","tools":[{"name":"drill","inputSchema":{"type":"object","properties":{"d":{"type":"number"}}},"icons":[{"src":"https://x.example/i.png"}]},` +
		`{"name":"dig","inputSchema":{"type":"object","properties":{"d":{"type":"integer","x-mcp-header":"Depth"}}},"title":"T"},` +
		`{"name":"pan","inputSchema":{"type":"object"}}],"nextCursor":"n2","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `}}`
	got, facts, notes, err := mapping.AppendUpToolsList([]byte(prefix), in, mapping.UpResultOptions{ServerInfo: quarry})
	checkOut(t, got, notes, err, want, notesOf(mapping.NoteExecution, mapping.NoteHeaderAnnotation))
	wantFacts := []mapping.LegacyToolFacts{
		{Name: "drill", TaskSupport: legacy2025.TaskRequired},
		{Name: "dig", TaskSupport: legacy2025.TaskForbidden, Headers: []ext2026.ParamHeader{{Name: "Depth", Path: []string{"d"}, Integer: true}}},
		{Name: "pan", TaskSupport: legacy2025.TaskOptional},
	}
	if diff := cmp.Diff(wantFacts, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestAppendUpToolsListRefuses(t *testing.T) {
	t.Parallel()
	for in, path := range map[wire.Value]string{
		`{}`:                        "result.tools",
		`{"tools":[[]]}`:            "result.tools[0]",
		`{"tools":[{"name":true}]}`: "result.tools[0].name",
		`{"tools":[{"name":"a"}]}`:  "result.tools[0].inputSchema",
		`{"tools":[{"name":"a","inputSchema":{},"outputSchema":true}]}`: "result.tools[0].outputSchema",
		`{"tools":[],"nextCursor":{}}`:                                  "result.nextCursor",
	} {
		got, _, _, err := mapping.AppendUpToolsList([]byte(prefix), in, mapping.UpResultOptions{})
		checkRefused(t, got, err, path, -32603)
	}
}

// A hostile schema must cost no more than its size times the depth limit.
func TestDeepSchemaWithAnnotationIsDropped(t *testing.T) {
	t.Parallel()
	const deep = 4000
	schema := strings.Repeat(`{"properties":{"a":`, deep) + `{"type":"string","x-mcp-header":"A"}` + strings.Repeat(`}}`, deep)
	in := modernResult(t, "tools/list", wire.Value(`{"tools":[{"name":"a","inputSchema":`+schema+`}]}`))
	got, facts, notes, err := mapping.AppendDownToolsList([]byte(prefix), in, mapping.ResultOptions{})
	checkOut(t, got, notes, err, `{"tools":[]}`, notesOf(mapping.NoteToolDropped))
	if len(facts) != 0 {
		t.Errorf("facts %v", facts)
	}
}
