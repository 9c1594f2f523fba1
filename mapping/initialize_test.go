package mapping_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestAppendDownInitialize(t *testing.T) {
	t.Parallel()
	const hints = `"ttlMs":60000,"cacheScope":"public"`
	told := notesOf(mapping.NoteCacheHints, mapping.NoteVersions)
	tests := []struct {
		name  string
		in    wire.Value
		opts  mapping.InitializeOptions
		want  string
		notes mapping.Notes
	}{
		{
			name: "A01 capabilities, identity and instructions",
			in: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},` +
				`"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},` +
				`"instructions":"Dig carefully.",` + hints + `,"_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `}}`,
			opts: mapping.InitializeOptions{Version: "2025-11-25", CanListen: true, Tasks: true},
			want: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},` +
				`"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}},"tasks":{"requests":{"tools":{"call":{}}},"cancel":{},"list":{}}},` +
				`"instructions":"Dig carefully.","serverInfo":` + quarry + `}`,
			notes: told,
		},
		{
			name: "A-L3 a server without identity gets one", in: `{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{}}`,
			opts:  mapping.InitializeOptions{FallbackName: "reports"},
			want:  `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"reports","version":"0"}}`,
			notes: notesOf(mapping.NoteVersions),
		},
		{
			name: "A-L3 an identity without version is none", in: `{"supportedVersions":["2026-07-28"],"capabilities":{},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"},"v":1}}`,
			opts:  mapping.InitializeOptions{FallbackName: "reports"},
			want:  `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"reports","version":"0"},"_meta":{"v":1}}`,
			notes: notesOf(mapping.NoteVersions),
		},
		{
			name: "G-3 unknown members stay, those of initialize are the bridge's", in: `{"supportedVersions":["2026-07-28"],"capabilities":{},"protocolVersion":"2026-07-28","serverInfo":1,"x":1e-07}`,
			opts:  mapping.InitializeOptions{FallbackName: "r"},
			want:  `{"protocolVersion":"2025-11-25","capabilities":{},"x":1e-07,"serverInfo":{"name":"r","version":"0"}}`,
			notes: notesOf(mapping.NoteVersions),
		},
		{
			name: "A-L3 2025-11-25 has the whole Implementation", in: fullDiscover,
			want:  `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","title":"A","version":"1","icons":[],"description":"d","websiteUrl":"u","x":1}}`,
			notes: notesOf(mapping.NoteVersions),
		},
		{
			name: "A-L3 2025-06-18 has no icons, description and website", in: fullDiscover, opts: mapping.InitializeOptions{Version: "2025-06-18"},
			want:  `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","title":"A","version":"1","x":1}}`,
			notes: notesOf(mapping.NoteVersions, mapping.NoteOlderRevision),
		},
		{
			name: "§3.9 2025-03-26 has no title either", in: fullDiscover, opts: mapping.InitializeOptions{Version: "2025-03-26"},
			want:  `{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"a","version":"1","x":1}}`,
			notes: notesOf(mapping.NoteVersions, mapping.NoteOlderRevision),
		},
		{
			name: "A03 an older client is not offered tasks", in: `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},` + hints + `,"_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `}}`,
			opts:  mapping.InitializeOptions{Version: "2025-06-18", CanListen: true, Tasks: true},
			want:  `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":` + quarry + `}`,
			notes: told | notesOf(mapping.NoteTasksCapability),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := mapping.AppendDownInitialize([]byte(prefix), discovered(t, tt.in), tt.opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

const fullDiscover = `{"supportedVersions":["2026-07-28"],"capabilities":{},"_meta":{"io.modelcontextprotocol/serverInfo":` +
	`{"name":"a","title":"A","version":"1","icons":[],"description":"d","websiteUrl":"u","x":1}}}`

func discovered(t *testing.T, v wire.Value) ext2026.DiscoverResult {
	t.Helper()
	in, err := ext2026.ParseDiscoverResult(v)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAppendDownInitializeRefuses(t *testing.T) {
	t.Parallel()
	in := discovered(t, `{"supportedVersions":["2025-11-25","2027-01-01"],"capabilities":{}}`)
	got, _, err := mapping.AppendDownInitialize([]byte(prefix), in, mapping.InitializeOptions{})
	checkRefused(t, got, err, "result.supportedVersions", -32603)
	if !errors.Is(err, mapping.ErrNoCounterpart) {
		t.Errorf("error %v, want %v (A-L5)", err, mapping.ErrNoCounterpart)
	}
	in = discovered(t, `{"supportedVersions":["2026-07-28"],"capabilities":{},"_meta":{"a":1,"a":1}}`)
	got, _, err = mapping.AppendDownInitialize([]byte(prefix), in, mapping.InitializeOptions{})
	checkRefused(t, got, err, "result._meta.a", -32603)
}

func TestReadHandshakesRefuse(t *testing.T) {
	t.Parallel()
	_, err := mapping.ReadDownDiscover(`{"supportedVersions":[]}`)
	checkRefused(t, []byte(prefix), err, "result.capabilities", -32603)
	_, err = mapping.ReadUpInitialize(`{"protocolVersion":"2025-11-25","capabilities":{}}`)
	checkRefused(t, []byte(prefix), err, "result.serverInfo", -32603)
}

func TestServerCapabilitiesDown(t *testing.T) {
	t.Parallel()
	all := mapping.InitializeOptions{Version: legacy2025.Latest, CanListen: true, Tasks: true}
	tests := []struct {
		name  string
		in    wire.Value
		edit  func(*mapping.InitializeOptions)
		want  string
		notes mapping.Notes
	}{
		{
			name: "§2.1 what both eras have is copied, unknown capabilities too",
			in:   `{"prompts":{"listChanged":false,"x":1e-07},"completions":{"y":{}},"acme":7,"resources":{}}`,
			want: `{"prompts":{"listChanged":false,"x":1e-07},"completions":{"y":{}},"acme":7,"resources":{}}`,
		},
		{
			name: "§2.1 without a way to deliver changes none are offered",
			in:   `{"tools":{"listChanged":true},"prompts":{"x":1,"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{"listChanged":true}}`,
			edit: func(o *mapping.InitializeOptions) { o.CanListen = false },
			want: `{"tools":{},"prompts":{"x":1},"resources":{},"logging":{"listChanged":true}}`, notes: notesOf(mapping.NoteNoChanges),
		},
		{
			name: "§2.1 any object is support for tasks", in: `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{"max":5}}}`,
			want: `{"tools":{},"tasks":{"requests":{"tools":{"call":{}}},"cancel":{},"list":{}}}`,
		},
		{
			name: "§2.1 tasks need tools", in: `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
			want: `{}`, notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "§2.1 no object is no support", in: `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":true,"v":1}}`,
			want: `{"tools":{},"extensions":{"v":1}}`, notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "§2.1 a bridge that does not drive tasks offers none", in: `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
			edit: func(o *mapping.InitializeOptions) { o.Tasks = false },
			want: `{"tools":{}}`, notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "§2.1 tasks of a modern server in legacy words mean nothing", in: `{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`,
			want: `{"tools":{}}`, notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "§2.1 experimental is copied but for tasks",
			in:   `{"experimental":{"tasks":{},"a":{"tasks":1},"io.modelcontextprotocol/tasks":{}}}`,
			want: `{"experimental":{"a":{"tasks":1}}}`, notes: notesOf(mapping.NoteTasksCapability),
		},
		{name: "empty maps stay", in: `{"experimental":{},"extensions":{}}`, want: `{"experimental":{},"extensions":{}}`},
		{name: "null declares nothing", in: `{"tools":null,"logging":null,"completions":null,"extensions":null,"experimental":null}`, want: `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := all
			if tt.edit != nil {
				tt.edit(&opts)
			}
			in, err := ext2026.ParseServerCapabilities(tt.in, "c")
			if err != nil {
				t.Fatal(err)
			}
			got, notes, err := mapping.AppendDownServerCapabilities([]byte(prefix), in, opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendUpDiscover(t *testing.T) {
	t.Parallel()
	const info = `{"name":"basalt","version":"2.4.0"}`
	const own = `"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":` + info
	tests := []struct {
		name  string
		in    wire.Value
		opts  mapping.DiscoverOptions
		want  string
		notes mapping.Notes
	}{
		{
			name: "B01 capabilities, identity and instructions",
			in: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true},` +
				`"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},"experimental":{"acme":{}}},"serverInfo":` + info + `,"instructions":"Handle with care."}`,
			opts: mapping.DiscoverOptions{CanListen: true},
			want: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true},` +
				`"experimental":{"acme":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}},"instructions":"Handle with care.",` + own + `}}`,
		},
		{
			name: "B02 tasks that tools cannot use are not announced", in: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{}}},"serverInfo":` + info + `}`,
			opts:  mapping.DiscoverOptions{CanListen: true},
			want:  `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` + own + `}}`,
			notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "§2.3 an older server has no tasks", in: `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":` + info + `}`,
			want:  `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` + own + `}}`,
			notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "host_tasks announces them all the same", in: `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"extensions":{"v":{}}},"serverInfo":` + info + `}`,
			opts: mapping.DiscoverOptions{HostTasks: true},
			want: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"v":{},"io.modelcontextprotocol/tasks":{}}},` + own + `}}`,
		},
		{
			name: "§2.3 a legacy server's extension key means nothing", in: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{"x":1}}},"serverInfo":` + info + `}`,
			want: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` + own + `}}`,
		},
		{
			name: "§2.3 without a way to hear of changes none are announced", in: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":` + info + `}`,
			want: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` + own + `}}`, notes: notesOf(mapping.NoteNoChanges),
		},
		{
			name:  "§6.1 members of the modern era are the bridge's",
			in:    `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":` + info + `,"supportedVersions":[],"ttlMs":5,"cacheScope":"public","resultType":"x","_meta":{"v":1},"y":2}`,
			want:  `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"y":2,` + own + `,"v":1}}`,
			notes: notesOf(mapping.NoteStrayMember),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in, err := legacy2025.ParseInitializeResult(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			got, notes, err := mapping.AppendUpDiscover([]byte(prefix), in, tt.opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendUpDiscoverRefuses(t *testing.T) {
	t.Parallel()
	in, err := legacy2025.ParseInitializeResult(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":` + quarry + `,"_meta":{"a":1,"a":1}}`)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := mapping.AppendUpDiscover([]byte(prefix), in, mapping.DiscoverOptions{})
	checkRefused(t, got, err, "result._meta.a", -32603)
}
