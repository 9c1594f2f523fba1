package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestLog(t *testing.T) {
	t.Parallel()
	const in = `{"level":"error","logger":"core","data":{"k":1e-07},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`
	const want = `{"level":"error","logger":"core","data":{"k":1e-07}}`
	levels := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	for i, minimum := range levels {
		passes := ""
		if i <= 4 {
			passes = want
		}
		got, notes, err := mapping.AppendDownLog([]byte(prefix), in, minimum)
		checkOut(t, got, notes, err, passes, 0)
		got, notes, err = mapping.AppendUpLog([]byte(prefix), `{"level":"error","logger":"core","data":{"k":1e-07}}`, minimum)
		checkOut(t, got, notes, err, passes, 0)
	}
	for _, minimum := range []string{"", "loud"} { // A07, B53: never asked for
		got, notes, err := mapping.AppendDownLog([]byte(prefix), in, minimum)
		checkOut(t, got, notes, err, "", 0)
		got, notes, err = mapping.AppendUpLog([]byte(prefix), in, minimum)
		checkOut(t, got, notes, err, "", 0)
	}
}

func TestLogRefused(t *testing.T) {
	t.Parallel()
	for in, path := range map[wire.Value]string{
		`[]`:                                  "params",
		`{"data":1}`:                          "params.level",
		`{"level":"loud","data":1}`:           "params.level",
		`{"level":"error"}`:                   "params.data",
		`{"level":"error","data":1,"data":2}`: "params.data",
		`{"level":"error","data":null,"_meta":7}`: "params._meta",
	} {
		got, _, err := mapping.AppendDownLog([]byte(prefix), in, "debug")
		checkRefused(t, got, err, path, -32602)
		got, _, err = mapping.AppendUpLog([]byte(prefix), in, "debug")
		checkRefused(t, got, err, path, -32602)
	}
}
