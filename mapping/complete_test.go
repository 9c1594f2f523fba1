package mapping_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

func completion(values int, rest string) wire.Value {
	var b strings.Builder
	for i := range values {
		b.WriteString(`,"v` + strconv.Itoa(i) + `"`)
	}
	return wire.Value(`{"completion":{"total":7,"values":[` + strings.TrimPrefix(b.String(), ",") + `]` + rest + `}}`)
}

func TestAppendUpComplete(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		in     wire.Value
		values int
		rest   string
		notes  mapping.Notes
	}{
		{"§3.3 a hundred values pass", completion(100, `,"hasMore":false`), 100, `,"hasMore":false`, 0},
		{"§3.3 one more is cut, and there is more", completion(101, `,"hasMore":false,"x":1`), 100, `,"x":1,"hasMore":true`, notesOf(mapping.NoteValuesCut)},
		{"§3.3 few values pass as they are", completion(2, ``), 2, ``, 0},
		{"§3.3 none", completion(0, ``), 0, ``, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := `{"resultType":"complete",` + string(completion(tt.values, tt.rest))[1:]
			got, notes, err := mapping.AppendUpComplete([]byte(prefix), tt.in, mapping.UpResultOptions{})
			checkOut(t, got, notes, err, want, tt.notes)
			got, notes, err = mapping.AppendUpResult([]byte(prefix), "completion/complete", tt.in, mapping.UpResultOptions{})
			checkOut(t, got, notes, err, want, tt.notes)
		})
	}
}

func TestCompletionDownKeepsWhatCame(t *testing.T) {
	t.Parallel()
	in := modernResult(t, "completion/complete", `{"completion":{ "values":[ "\u0061" ],"total":1e2 },"ttlMs":1,"resultType":"complete","_meta":{"v":1}}`)
	got, notes, err := mapping.AppendDownResult([]byte(prefix), "completion/complete", in, mapping.ResultOptions{})
	checkOut(t, got, notes, err, `{"completion":{ "values":[ "\u0061" ],"total":1e2 },"ttlMs":1,"_meta":{"v":1}}`, 0)
}
