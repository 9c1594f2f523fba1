package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	const in = `{"progressToken":70002,"progress":5e-1,"total":1,"message":"half","x":1,"_meta":{"io.modelcontextprotocol/subscriptionId":1,"v":2,"io.modelcontextprotocol/related-task":{}}}`
	tests := []struct {
		name  string
		run   func([]byte, wire.Value, wire.Value) ([]byte, mapping.Notes, error)
		in    wire.Value
		token wire.Value
		want  string
		notes mapping.Notes
	}{
		{
			"A29 down, to the client's own token", mapping.AppendDownProgress, in, "5",
			`{"progressToken":5,"progress":5e-1,"total":1,"message":"half","x":1,"_meta":{"v":2}}`, notesOf(mapping.NoteReservedMeta),
		},
		{
			"B04 up, to the client's own token", mapping.AppendUpProgress, in, `"pp"`,
			`{"progressToken":"pp","progress":5e-1,"total":1,"message":"half","x":1,"_meta":{"v":2}}`, notesOf(mapping.NoteReservedMeta),
		},
		{
			"G-10 digits of a token survive", mapping.AppendDownProgress, `{"progress":1,"progressToken":"t"}`, "9007199254740993",
			`{"progress":1,"progressToken":9007199254740993}`, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := tt.run([]byte(prefix), tt.in, tt.token)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
}

func TestProgressRefused(t *testing.T) {
	t.Parallel()
	for in, path := range map[wire.Value]string{
		``:                                   "params",
		`{"progress":1}`:                     "params.progressToken",
		`{"progressToken":null}`:             "params.progressToken",
		`{"progressToken":1}`:                "params.progress",
		`{"progressToken":1,"progress":"1"}`: "params.progress",
		`{"progressToken":1,"progress":1,"progress":2}`:            "params.progress",
		`{"progressToken":1,"progress":1,"_meta":[]}`:              "params._meta",
		`{"progressToken":1,"progress":1,"_meta":{"a":{},"a":{}}}`: "params._meta.a",
	} {
		got, _, err := mapping.AppendDownProgress([]byte(prefix), in, "1")
		checkRefused(t, got, err, path, -32602)
		got, _, err = mapping.AppendUpProgress([]byte(prefix), in, "1")
		checkRefused(t, got, err, path, -32602)
	}
}

// G-12: a legacy client sees one request, so progress must grow across retries.
func TestProgressGrew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		last, next wire.Value
		want       bool
	}{
		{"", "0", true},
		{"0", "0.5", true},
		{"1", "1.0", false},
		{"2", "1", false},
		{"1e2", "99", false},
		{"9007199254740992", "9007199254740993", true},
		{"1e999999999", "1", true},
	}
	for _, tt := range tests {
		if got := mapping.ProgressGrew(tt.last, tt.next); got != tt.want {
			t.Errorf("ProgressGrew(%s, %s) = %v", tt.last, tt.next, got)
		}
	}
}
