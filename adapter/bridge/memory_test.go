package bridge_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestMessagesAreNotKept: what is remembered of a message does not keep all of it. It is
// not parallel to tests that need memory, too.
func TestMessagesAreNotKept(t *testing.T) { //nolint:paralleltest // see above
	downgradeAlone(t, func(d *down) {
		const messages, size = 32, 1 << 20
		pad := strings.Repeat("x", size)
		d.session.do = func(context.Context, port.SessionCall) (wire.Value, error) {
			return wire.Value(`{"tools":[],"nextCursor":"next","pad":"` + pad + `"}`), nil
		}
		before := heap()
		for i := range messages {
			capabilities := wire.Value(fmt.Sprintf(`{"experimental":{"x":%d}}`, i))
			if out, _ := d.request(d.t.Context(), "tools/list", `{`+novaMeta+`}}`, capabilities); out.Err != nil {
				d.t.Fatal(out.Err)
			}
			d.says(nil, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"%d","pad":%q}}`, i, pad))
		}
		d.session.calls, d.leases = nil, nil
		if kept := heap() - before; kept > messages*size/4 {
			d.t.Errorf("%d bytes are kept", kept)
		}
		runtime.KeepAlive(d.cross)
	})
}

// TestPassedMessagesAreNotKept is the same for peers of one era.
func TestPassedMessagesAreNotKept(t *testing.T) { //nolint:paralleltest // as above
	passLegacyAlone(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		const messages, size = 32, 1 << 20
		pad := strings.Repeat("x", size)
		before := heap()
		for i := range messages {
			p.back.do = func(context.Context, *pair, port.SessionCall) (wire.Value, error) {
				return wire.Value(fmt.Sprintf(`{"task":{"taskId":"%d"}}`, i)), nil
			}
			o.do("tools/call", fmt.Sprintf(`{"name":"a","task":{},"_meta":{"progressToken":%d},"pad":%q}`, i, pad))
			s.hello.OnMessage(message(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list","params":{"pad":%q,"_meta":{"progressToken":%d}}}`, i, pad, i)))
			p.back.calls = nil
			o.told()
		}
		if kept := heap() - before; kept > messages*size/4 {
			t.Errorf("%d bytes are kept", kept)
		}
		runtime.KeepAlive(p.cross)
	})
}

// TestEarlyStatusBounded: what a backend says of tasks that nobody is known to own is
// kept in little only.
func TestEarlyStatusBounded(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		p.back.do = func(context.Context, *pair, port.SessionCall) (wire.Value, error) {
			for _, size := range []int{1, 1 << 20} {
				s.hello.OnMessage(message(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"1","n":%d,"pad":%q}}`, size, strings.Repeat("x", size))))
			}
			return `{"task":{"taskId":"1"}}`, nil
		}
		o.do("tools/call", `{"name":"a","task":{}}`)
		if told := o.told(); len(told) != 1 || len(told[0]) > 1<<10 {
			t.Errorf("told %d times, %.100q", len(told), told)
		}
	})
}

// TestLongHello: a session keeps what its client says of itself, which is bounded.
func TestLongHello(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.do = func(context.Context, port.SessionCall) (wire.Value, error) { return `{"prompts":[]}`, nil }
		for size, code := range map[int]int64{60 << 10: 0, 64 << 10: -32602} {
			capabilities := wire.Value(`{"experimental":{"x":"` + strings.Repeat("x", size) + `"}}`)
			out, _ := d.request(d.t.Context(), "prompts/list", `{`+novaMeta+`}}`, capabilities)
			if got := port.RPCError(out.Err); out.Err != nil && got.Code != code || (out.Err != nil) != (code != 0) {
				d.t.Errorf("%d bytes: %v", size, out.Err)
			}
		}
	})
}

// TestLongLogToSlowClient: what waits for a client that reads slowly is bounded in bytes,
// too.
func TestLongLogToSlowClient(t *testing.T) {
	levels(t, func(l *leveled) {
		s := &stuckStream{free: make(chan struct{})}
		l.end["A"] = make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l.cross.Request(l.t.Context(), &port.Exchange{
				Backend: "basalt", Stream: s, Caller: port.Caller{LogLevel: "debug", Capabilities: `{}`, Authorization: "Bearer n"},
				Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "prompts/list", Params: `{"cursor":"A",` + novaMeta + `}}`},
			})
		}()
		synctest.Wait()
		for range 20 {
			l.announces("notifications/message", `{"level":"error","data":"`+strings.Repeat("x", 300<<10)+`"}`)
		}
		synctest.Wait()
		close(l.end["A"])
		close(s.free)
		<-ended
		if s.told < 3 || s.told > 5 {
			l.t.Errorf("told %d times", s.told)
		}
	})
}
