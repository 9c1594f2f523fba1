package jsonrpc_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestParseBatch(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, tt := range []struct{ name, text, err string }{
		{"all kinds", `[` + ping + `, {"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":2,"result":{}}, {"jsonrpc":"2.0","id":3,"error":{"code":1,"message":""}} ]`, ""},
		{"as many as allowed", `[` + strings.Repeat(ping+",", 3) + ping + `]`, ""},
		{"one more", `[` + strings.Repeat(ping+",", 4) + ping + `]`, "message: want an array of 1 to 4 messages"},
		{"none", ` [ ] `, "message: want an array of 1 to 4 messages"},
		{"no array", ping, "message: want an array"},
		{"of arrays", `[` + ping + `,[` + ping + `]]`, "[1]: want an object"},
		{"of something else", `[1]`, "[0]: want an object"},
		{"of null", `[` + ping + `,null]`, "[1]: want an object"},
		{"another version", `[{"jsonrpc":"1.0","id":1,"method":"ping"}]`, `[0].jsonrpc: want "2.0"`},
		{"params of no kind", `[` + ping + `,` + ping + `,{"jsonrpc":"2.0","id":1,"method":"a","params":[]}]`, "[2].params: want an object"},
		{"names twice", `[{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}]`, "[0].id: want each name only once"},
		{"an id of null in an answer", `[{"jsonrpc":"2.0","id":null,"result":{}}]`, "[0].id: want a string or an integer"},
	} {
		t.Run("§3.9 "+tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := wire.Check([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			batch, err := jsonrpc.ParseBatch(v, 4)
			if got := message(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
			if want := strings.Count(tt.text, "jsonrpc"); tt.err == "" && len(batch) != want {
				t.Errorf("%d messages, want %d", len(batch), want)
			}
			if tt.err != "" && batch != nil {
				t.Error("messages beside an error")
			}
		})
	}
}

func TestParseBatchKeepsOrder(t *testing.T) {
	t.Parallel()
	batch, err := jsonrpc.ParseBatch(`[{"jsonrpc":"2.0","id":"b","method":"x"},{"jsonrpc":"2.0","method":"y"},{"jsonrpc":"2.0","id":1,"result":{}}]`, 3)
	if err != nil || batch[0].ID != `"b"` || batch[1].Method != "y" || batch[2].Kind != jsonrpc.KindResult {
		t.Errorf("%+v, %v", batch, err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
