package legacy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// TestFault: a fault of the bridge fails the request it happens in, and its log
// tells where it was.
func TestFault(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			var none *port.Outcome
			return *none
		})
		wantError(t, r.post(id, call("1", "tools/call")), http.StatusOK, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`)
		if log := r.logs.String(); !strings.Contains(log, "nil pointer dereference") || !strings.Contains(log, "fault_test.go") {
			t.Errorf("log %s", log)
		}
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome { return port.Outcome{Result: "{}"} })
		if a := r.post(id, call("1", "tools/call")); !strings.Contains(a.body, `"result":{}`) {
			t.Errorf("after the fault: %s", a.body)
		}
	})
}
