package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestCancelled(t *testing.T) {
	t.Parallel()
	const in = `{"requestId":31,"reason":"us\u0065r","x":1,"_meta":{"v":1,"io.modelcontextprotocol/subscriptionId":2}}`
	got, notes, err := mapping.AppendUpCancelled([]byte(prefix), in, "9030")
	checkOut(t, got, notes, err, `{"requestId":9030,"reason":"us\u0065r","x":1,"_meta":{"v":1}}`, notesOf(mapping.NoteReservedMeta))
	got, notes, err = mapping.AppendDownCancelled([]byte(prefix), in, `"a"`)
	checkOut(t, got, notes, err, `{"requestId":"a","reason":"us\u0065r","x":1,"_meta":{"v":1}}`, 0)
}

func TestCancelledRefused(t *testing.T) {
	t.Parallel()
	for in, path := range map[wire.Value]string{
		`{}`:                                    "params.requestId", // A legacy client may leave it out, which cancels nothing.
		`{"requestId":null}`:                    "params.requestId",
		`{"requestId":1.5}`:                     "params.requestId",
		`{"requestId":1,"requestId":1}`:         "params.requestId",
		`{"requestId":1,"_meta":"x"}`:           "params._meta",
		`{"requestId":0,"_meta":{"a":1,"a":1}}`: "params._meta.a",
	} {
		got, _, err := mapping.AppendUpCancelled([]byte(prefix), in, "1")
		checkRefused(t, got, err, path, -32602)
		got, _, err = mapping.AppendDownCancelled([]byte(prefix), in, "1")
		checkRefused(t, got, err, path, -32602)
	}
}
