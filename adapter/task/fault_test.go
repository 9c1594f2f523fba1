package task_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// TestFaultOfALook: a fault of the bridge at one task ends what is asked about that task, and
// nothing else (DESIGN, promise 6).
func TestFaultOfALook(t *testing.T) {
	bubble(t, func(w *world) {
		h, other := w.proxied("t1"), w.proxied("t2")
		waiting := make(chan port.Outcome, 1)
		go func() { waiting <- w.Result(w.Context(), backendName, alice, h) }()
		after(second / 2)
		w.now("t1", "fault")
		if out := <-waiting; port.RPCError(out.Err).Code != jsonrpc.CodeInternal {
			w.Errorf("who waits is told %+v", out)
		}
		if _, err := w.Get(w.Context(), backendName, alice, h); port.RPCError(err).Code != jsonrpc.CodeInternal {
			w.Errorf("who asks is told %v", err)
		}
		w.wantStatus(other, port.TaskWorking)
		if !strings.Contains(w.logged.String(), "a fault of the bridge") {
			w.Errorf("log: %s", w.logged)
		}
	})
}
