package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestAppendUpClientCapabilities(t *testing.T) {
	t.Parallel()
	const tasks = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	all := mapping.UpCapabilities{Tasks: true, Questions: true}
	tests := []struct {
		name, version string
		in            wire.Value
		opts          mapping.UpCapabilities
		want          string
		notes         mapping.Notes
	}{
		{
			name: "A01 what is asked crosses, tasks and changes of roots do not", version: "2025-11-25", opts: all,
			in:    `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true},"tasks":{"requests":{"elicitation":{"create":{}}}}}`,
			want:  `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},` + tasks + `}`,
			notes: notesOf(mapping.NoteRootsListChanged, mapping.NoteTasksCapability),
		},
		{name: "§2.2 none", version: "2025-11-25", opts: all, in: ``, want: `{` + tasks + `}`},
		{name: "§4.3 the extension only where it is to be declared", version: "2025-11-25", in: `{}`, want: `{}`},
		{
			name: "A-C1 nobody to ask", version: "2025-11-25", opts: mapping.UpCapabilities{Tasks: true},
			in:   `{"elicitation":{},"sampling":{},"roots":{},"experimental":{"tasks":{}},"acme":1e-07}`,
			want: `{"experimental":{"tasks":{}},"acme":1e-07,` + tasks + `}`, notes: notesOf(mapping.NoteUnrelayed),
		},
		{
			name: "§2.2 a client's own extension key enables nothing", version: "2025-11-25",
			in: `{"extensions":{"io.modelcontextprotocol/tasks":{"x":1}}}`, want: `{}`,
		},
		{
			name: "§2.2 other extensions stay", version: "2025-11-25", opts: all,
			in:   `{"extensions":{"io.modelcontextprotocol/ui":{"m":[]},"io.modelcontextprotocol/tasks":{"x":1}}}`,
			want: `{"extensions":{"io.modelcontextprotocol/ui":{"m":[]},"io.modelcontextprotocol/tasks":{}}}`,
		},
		{
			name: "§2.2 empty extensions", version: "2025-11-25", opts: all, in: `{"extensions":{}}`, want: `{` + tasks + `}`,
		},
		{
			name: "Q35 empty elicitation stays empty", version: "2025-11-25", opts: mapping.UpCapabilities{Questions: true},
			in: `{"elicitation":{},"sampling":{"tools":{},"context":{}}}`, want: `{"elicitation":{},"sampling":{"tools":{},"context":{}}}`,
		},
		{
			name: "§2.2 url of an older client is ignored, so are tools in sampling", version: "2025-06-18", opts: mapping.UpCapabilities{Questions: true},
			in: `{"elicitation":{"url":{}},"sampling":{"tools":{}},"roots":{}}`, want: `{"elicitation":{},"sampling":{},"roots":{}}`,
			notes: notesOf(mapping.NoteOlderRevision),
		},
		{
			name: "§3.9 sampling of an older client", version: "2025-06-18", opts: mapping.UpCapabilities{Questions: true},
			in: `{"sampling":{"context":{}}}`, want: `{"sampling":{}}`, notes: notesOf(mapping.NoteOlderRevision),
		},
		{
			name: "§3.9 forms of an older client", version: "2025-06-18", opts: mapping.UpCapabilities{Questions: true},
			in: `{"elicitation":{"form":{}}}`, want: `{"elicitation":{}}`, notes: notesOf(mapping.NoteOlderRevision),
		},
		{
			name: "§3.9 nothing of them is lost", version: "2025-06-18", opts: mapping.UpCapabilities{Questions: true},
			in: `{"elicitation":{},"sampling":{},"roots":{}}`, want: `{"elicitation":{},"sampling":{},"roots":{}}`,
		},
		{
			name: "§3.9 2025-03-26 has no elicitation", version: "2025-03-26", opts: mapping.UpCapabilities{Questions: true},
			in: `{"elicitation":{},"sampling":{}}`, want: `{"sampling":{}}`, notes: notesOf(mapping.NoteOlderRevision),
		},
		{
			name: "null declares nothing", version: "2025-11-25", opts: mapping.UpCapabilities{Questions: true},
			in: `{"elicitation":null,"sampling":null,"roots":null,"extensions":null}`, want: `{}`,
		},
		{
			name: "null extensions and tasks", version: "2025-11-25", opts: all, in: `{"extensions":null}`, want: `{` + tasks + `}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := mapping.AppendUpClientCapabilities([]byte(prefix), tt.in, tt.version, tt.opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendDownClientCapabilities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, version string
		in            wire.Value
		want          string
		notes         mapping.Notes
	}{
		{
			name: "B01 the extension stays with the bridge", version: "2025-11-25",
			in: `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, want: `{"elicitation":{"form":{}}}`,
		},
		{
			name: "§2.4 the rest crosses", version: "2025-11-25",
			in:   `{"sampling":{"tools":{},"context":{}},"roots":{},"experimental":{"a":{}},"extensions":{"v":{},"io.modelcontextprotocol/tasks":{}},"x":1e-07}`,
			want: `{"sampling":{"tools":{},"context":{}},"roots":{},"experimental":{"a":{}},"extensions":{"v":{}},"x":1e-07}`,
		},
		{
			name: "§2.4 changes of roots cannot be delivered", version: "2025-11-25", in: `{"roots":{"listChanged":true,"x":1}}`,
			want: `{"roots":{"x":1}}`, notes: notesOf(mapping.NoteRootsListChanged),
		},
		{
			name: "§2.4 tasks in legacy words are not declared", version: "2025-11-25", in: `{"tasks":{"list":{}}}`,
			want: `{}`, notes: notesOf(mapping.NoteTasksCapability),
		},
		{
			name: "§2.4 older: forms, if they can be shown", version: "2025-06-18", in: `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}`,
			want: `{"elicitation":{},"sampling":{}}`, notes: notesOf(mapping.NoteOlderRevision),
		},
		{name: "§2.4 older: empty means forms", version: "2025-06-18", in: `{"elicitation":{}}`, want: `{"elicitation":{}}`},
		{
			name: "§2.4 older: urls alone are nothing", version: "2025-06-18", in: `{"elicitation":{"url":{}}}`,
			want: `{}`, notes: notesOf(mapping.NoteOlderRevision),
		},
		{
			name: "§3.9 2025-03-26 asks nothing of users", version: "2025-03-26", in: `{"elicitation":{"form":{}},"roots":{}}`,
			want: `{"roots":{}}`, notes: notesOf(mapping.NoteOlderRevision),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := mapping.AppendDownClientCapabilities([]byte(prefix), tt.in, tt.version)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestClientCapabilitiesRefused(t *testing.T) {
	t.Parallel()
	const down = "params._meta.io.modelcontextprotocol/clientCapabilities"
	for in, path := range map[wire.Value]string{
		`[]`: "", `{"sampling":1}`: ".sampling", `{"a":1,"a":1}`: ".a", `{"elicitation":{"form":{},"form":{}}}`: ".elicitation.form",
		`{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/tasks":{}}}`: ".extensions.io.modelcontextprotocol/tasks",
	} {
		got, _, err := mapping.AppendUpClientCapabilities([]byte(prefix), in, "2025-11-25", mapping.UpCapabilities{})
		checkRefused(t, got, err, "params.capabilities"+path, -32602)
		got, _, err = mapping.AppendDownClientCapabilities([]byte(prefix), in, "2025-11-25")
		checkRefused(t, got, err, down+path, -32602)
	}
}
