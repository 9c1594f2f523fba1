package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

var wrappedAndTold = notesOf(mapping.NoteStructuredWrapped, mapping.NoteTextAdded)

// callResults are results of tools/call and what a legacy client gets.
var callResults = []struct {
	name  string
	in    wire.Value
	opts  mapping.ResultOptions
	want  string
	notes mapping.Notes
}{
	{
		name: "A03 plain text",
		in:   `{"resultType":"complete","content":[{"type":"text","text":"10 primes"}],"_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `}}`,
		want: `{"content":[{"type":"text","text":"10 primes"}]}`,
	},
	{
		name: "G-2 blocks are not touched",
		in: `{"content":[ {"type":"resource","resource":{"uri":"a:b","_meta":{"io.modelcontextprotocol/related-task":1}}} , ` +
			`{"type":"resource_link","icons":[],"uri":"vein://3","name":"v3"},{"t":"\ud800","t":1e-07} ],"isError":true}`,
		want: `{"content":[ {"type":"resource","resource":{"uri":"a:b","_meta":{"io.modelcontextprotocol/related-task":1}}} , ` +
			`{"type":"resource_link","icons":[],"uri":"vein://3","name":"v3"},{"t":"\ud800","t":1e-07} ],"isError":true}`,
	},
	{
		name: "§3.7 an object stays an object",
		in:   `{"content":[],"structuredContent":{ "n":12345678901234567890, "task":{"taskId":"x"}, "resultType":1 }}`,
		want: `{"content":[],"structuredContent":{ "n":12345678901234567890, "task":{"taskId":"x"}, "resultType":1 }}`,
	},
	{
		name: "A21 an array is wrapped and told as text", in: `{"content":[],"structuredContent":[1.5,2]}`,
		want: `{"content":[{"type":"text","text":"[1.5,2]"}],"structuredContent":{"result":[1.5,2]}}`, notes: wrappedAndTold,
	},
	{
		name: "§3.7 null is wrapped", in: `{"structuredContent":null,"content":[]}`,
		want: `{"structuredContent":{"result":null},"content":[{"type":"text","text":"null"}]}`, notes: wrappedAndTold,
	},
	{
		name: "§3.7 a string is told as JSON", in: `{"content":[],"structuredContent":"a\"b"}`,
		want: `{"content":[{"type":"text","text":"\"a\\\"b\""}],"structuredContent":{"result":"a\"b"}}`, notes: wrappedAndTold,
	},
	{
		name: "§3.7 text that is there already suffices", in: `{"content":[{"type":"image"},{"type":"text","text":"x"}],"structuredContent":false}`,
		want: `{"content":[{"type":"image"},{"type":"text","text":"x"}],"structuredContent":{"result":false}}`, notes: notesOf(mapping.NoteStructuredWrapped),
	},
	{
		name: "§3.7 text goes behind other blocks", in: `{"content":[{"type":"image","data":"AA=="} ],"structuredContent":7}`,
		want: `{"content":[{"type":"image","data":"AA=="} ,{"type":"text","text":"7"}],"structuredContent":{"result":7}}`, notes: wrappedAndTold,
	},
	{
		name: "§3.7 an object of a tool whose schema was wrapped", in: `{"content":[],"structuredContent":{"a":1}}`,
		opts: mapping.ResultOptions{Wrapped: true},
		want: `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"result":{"a":1}}}`, notes: wrappedAndTold,
	},
	{
		name: "§3.7 a wrapped tool that failed has nothing to wrap", in: `{"content":[],"isError":true}`,
		opts: mapping.ResultOptions{Wrapped: true}, want: `{"content":[],"isError":true}`,
	},
	{
		name: "the legacy era requires content", in: `{"structuredContent":{"a":1}}`,
		want: `{"content":[],"structuredContent":{"a":1}}`,
	},
	{
		name: "§3.7 content is made for the text", in: `{"structuredContent":1}`,
		want: `{"content":[{"type":"text","text":"1"}],"structuredContent":{"result":1}}`, notes: wrappedAndTold,
	},
	{
		name: "§6.2 what looks like a legacy task goes", in: `{"content":[],"task":{"taskId":"t","x":1}}`,
		want: `{"content":[]}`, notes: notesOf(mapping.NoteForeignTask),
	},
	{
		name: "§6.2 another task member is unknown and stays", in: `{"content":[],"task":{"id":"t"}}`,
		want: `{"content":[],"task":{"id":"t"}}`,
	},
	{
		name: "§6.1 members of a retry", in: `{"content":[],"inputRequests":{},"requestState":"s"}`,
		want: `{"content":[]}`, notes: notesOf(mapping.NoteStrayMember),
	},
	{
		name: "§6.1 hints are a vendor's here", in: `{"content":[],"ttlMs":1,"cacheScope":"x"}`,
		want: `{"content":[],"ttlMs":1,"cacheScope":"x"}`,
	},
	{
		name: "A54 the result of a task names it",
		in:   `{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":` + quarry + `,"com.acme/run":"r9","io.modelcontextprotocol/related-task":{"taskId":"forged"}}}`,
		opts: mapping.ResultOptions{RelatedTask: `b."x"`},
		want: `{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.\"x\""},"com.acme/run":"r9"}}`, notes: notesOf(mapping.NoteReservedMeta),
	},
	{
		name: "§3.9 2025-06-18 has structured content", in: `{"content":[],"structuredContent":{"a":1}}`,
		opts: mapping.ResultOptions{Version: "2025-06-18"}, want: `{"content":[],"structuredContent":{"a":1}}`,
	},
	{
		name: "§3.9 2025-06-18 has no icons", in: `{"content":[{"type":"resource_link","icons":[],"title":"T","name":"n","uri":"a:b","_meta":{}}]}`,
		opts:  mapping.ResultOptions{Version: "2025-06-18"},
		want:  `{"content":[{"type":"resource_link","title":"T","name":"n","uri":"a:b","_meta":{}}]}`,
		notes: notesOf(mapping.NoteOlderRevision),
	},
	{
		name: "§3.9 2025-03-26 is told in text", in: `{"content":[{"type":"resource_link","name":"n","uri":"a:b"}, {"type":"text","text":"x","_meta":{}}],"structuredContent":{"a":1}}`,
		opts:  mapping.ResultOptions{Version: "2025-03-26"},
		want:  `{"content":[{"type":"text","text":"n: a:b"},{"type":"text","text":"x"}]}`,
		notes: notesOf(mapping.NoteOlderRevision, mapping.NoteLinkAsText),
	},
	{
		name: "§3.9 2025-03-26 gets text for what it cannot see", in: `{"content":[],"structuredContent":{"a":1}}`,
		opts:  mapping.ResultOptions{Version: "2025-03-26"},
		want:  `{"content":[{"type":"text","text":"{\"a\":1}"}]}`,
		notes: notesOf(mapping.NoteOlderRevision, mapping.NoteTextAdded),
	},
}

func TestAppendDownCallResult(t *testing.T) {
	t.Parallel()
	for _, tt := range callResults {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := mapping.AppendDownCallResult([]byte(prefix), modernResult(t, "tools/call", tt.in), tt.opts)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestAppendDownCallResultRefuses(t *testing.T) {
	t.Parallel()
	for in, path := range map[wire.Value]string{
		`{"content":{}}`:                 "result.content",
		`{"content":null}`:               "result.content",
		`{"content":[],"isError":"yes"}`: "result.isError",
	} {
		got, _, err := mapping.AppendDownCallResult([]byte(prefix), modernResult(t, "tools/call", in), mapping.ResultOptions{})
		checkRefused(t, got, err, path, -32603)
	}
}
