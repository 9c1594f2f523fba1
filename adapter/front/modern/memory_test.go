package modern_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// TestCallersAreSmall: who keeps a caller does not keep the caller's message. It is not
// parallel to tests that need memory, too.
func TestCallersAreSmall(t *testing.T) { //nolint:paralleltest // see above
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *modern.Options) { o.Limits.Body = 2 << 20 })
		const requests, size = 32, 1 << 20
		pad := strings.Repeat("x", size)
		said := strings.Replace(meta, "{}}", `{"roots":{}},"io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/clientInfo":{"name":"nova","version":"1"}}`, 1)
		var callers []port.Caller
		before := heap()
		for range requests {
			r.do(asking("1", "prompts/list", `"pad":"`+pad+`"`, said))
			callers = append(callers, r.crossing.last().Caller)
			r.crossing.requests = nil
		}
		if kept := heap() - before; kept > requests*size/4 {
			t.Errorf("%d callers keep %d bytes", len(callers), kept)
		}
		if c := callers[0]; c.Capabilities != `{"roots":{}}` || c.ClientInfo != `{"name":"nova","version":"1"}` || c.LogLevel != "info" {
			t.Errorf("caller %+v", c)
		}
	})
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
