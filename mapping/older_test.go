package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// §3.9: what a client of an older revision does not know is dropped.
func TestOlderRevisions(t *testing.T) {
	t.Parallel()
	const item = `[{"name":"n","title":"T","icons":[],"uri":"a:b","_meta":{"v":1},"x":1e-07}, 7]`
	older := notesOf(mapping.NoteOlderRevision)
	tests := []struct {
		name, method, version string
		in                    wire.Value
		want                  string
		notes                 mapping.Notes
	}{
		{"prompts, now", "prompts/list", "2025-11-25", `{"prompts":` + item + `}`, `{"prompts":` + item + `}`, 0},
		{"prompts, without icons", "prompts/list", "2025-06-18", `{"prompts":` + item + `}`, `{"prompts":[{"name":"n","title":"T","uri":"a:b","_meta":{"v":1},"x":1e-07},7]}`, older},
		{"prompts, without titles and _meta", "prompts/list", "2025-03-26", `{"prompts":` + item + `}`, `{"prompts":[{"name":"n","uri":"a:b","x":1e-07},7]}`, older},
		{"resources", "resources/list", "2025-03-26", `{"resources":` + item + `}`, `{"resources":[{"name":"n","uri":"a:b","x":1e-07},7]}`, older},
		{"templates", "resources/templates/list", "2025-03-26", `{"resourceTemplates":` + item + `}`, `{"resourceTemplates":[{"name":"n","uri":"a:b","x":1e-07},7]}`, older},
		{
			"§3.9 arguments of prompts have titles, too", "prompts/list", "2025-03-26",
			`{"prompts":[{"name":"n","arguments":[{"name":"a","title":"A","x":1e-07}, {"name":"b"}]}, {"name":"m","arguments":{"title":"T"}}]}`,
			`{"prompts":[{"name":"n","arguments":[{"name":"a","x":1e-07},{"name":"b"}]},{"name":"m","arguments":{"title":"T"}}]}`, older,
		},
		{
			"§3.9 arguments of others are a vendor's", "resources/list", "2025-03-26", `{"resources":[{"name":"n","arguments":[{"title":"A"}]}]}`,
			`{"resources":[{"name":"n","arguments":[{"title":"A"}]}]}`, 0,
		},
		{
			"§3.9 an embedded resource has _meta, too", "prompts/get", "2025-03-26",
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","_meta":{"v":1},"text":"t"}}},{"role":"user","content":{"type":"text","text":"t","resource":{"_meta":{}}}}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":"t"}}},{"role":"user","content":{"type":"text","text":"t","resource":{"_meta":{}}}}]}`, older,
		},
		{
			"§3.9 2025-06-18 knows it", "prompts/get", "2025-06-18", `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","_meta":{"v":1}}}}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","_meta":{"v":1}}}}]}`, 0,
		},
		{
			"contents", "resources/read", "2025-03-26", `{"contents":[{"uri":"a:b","text":"t","_meta":{}},{ "uri":"c:d" }]}`,
			`{"contents":[{"uri":"a:b","text":"t"},{ "uri":"c:d" }]}`, older,
		},
		{
			"messages", "prompts/get", "2025-03-26",
			`{"messages":[{"role":"user","content":{"type":"resource_link","name":"n","uri":"a:b","title":"T"}},{"content":{"type":"text","text":"t","_meta":{}},"role":"user"},null]}`,
			`{"messages":[{"role":"user","content":{"type":"text","text":"n: a:b"}},{"content":{"type":"text","text":"t"},"role":"user"},null]}`,
			older.With(mapping.NoteLinkAsText),
		},
		{
			"messages of a revision with links", "prompts/get", "2025-06-18", `{"messages":[{"role":"user","content":{"type":"resource_link","icons":[1],"uri":"a:b"}}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource_link","uri":"a:b"}}]}`, older,
		},
		{"a vendor's member without a name", "acme/list", "2025-03-26", `{"":` + item + `}`, `{"":` + item + `}`, 0},
		{"a vendor's list", "acme/list", "2025-03-26", `{"prompts":` + item + `}`, `{"prompts":` + item + `}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := modernResult(t, tt.method, tt.in)
			got, notes, err := mapping.AppendDownResult([]byte(prefix), tt.method, in, mapping.ResultOptions{Version: tt.version})
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}
