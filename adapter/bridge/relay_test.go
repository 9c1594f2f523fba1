package bridge_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestRelay: what a backend sends ahead of an answer, and what of it reaches the
// client. The bridge's own progress token is 1.
func TestRelay(t *testing.T) {
	t.Parallel()
	progress := func(params wire.Value) jsonrpc.Message {
		return jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/progress", Params: params}
	}
	message := func(params wire.Value) jsonrpc.Message {
		return jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/message", Params: params}
	}
	told := func(params string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":` + params + `}`
	}
	for _, tt := range []struct {
		name   string
		params wire.Value // of the request
		level  string
		in     []jsonrpc.Message
		want   []string
	}{
		{"G-10 under the client's token", `{"name":"a","_meta":{"progressToken":"p"}}`, "", []jsonrpc.Message{
			progress(`{"progressToken":1,"progress":1.50,"com.acme/x":1.0}`),
		}, []string{told(`{"progressToken":"p","progress":1.50,"com.acme/x":1.0}`)}},
		{"G-12 another token, or the client's own", `{"name":"a","_meta":{"progressToken":"p"}}`, "", []jsonrpc.Message{
			progress(`{"progressToken":2,"progress":1}`), progress(`{"progressToken":"1","progress":1}`), progress(`{"progressToken":"p","progress":1}`), progress(`{"progress":1}`), progress(``),
		}, nil},
		{"G-12 never back", `{"name":"a","_meta":{"progressToken":0}}`, "", []jsonrpc.Message{
			progress(`{"progressToken":1,"progress":-1}`), progress(`{"progressToken":1,"progress":-1.0}`), progress(`{"progressToken":1,"progress":-2}`), progress(`{"progressToken":1,"progress":0}`),
		}, []string{told(`{"progressToken":0,"progress":-1}`), told(`{"progressToken":0,"progress":0}`)}},
		{"G-12 not back after one that is none", `{"name":"a","_meta":{"progressToken":0}}`, "", []jsonrpc.Message{
			progress(`{"progressToken":1,"progress":5}`), progress(`{"progressToken":1,"progress":"6"}`), progress(`{"progressToken":1}`), progress(`{"progressToken":1,"progress":4}`),
		}, []string{told(`{"progressToken":0,"progress":5}`)}},
		{"G-9 nobody has asked for progress", `{"name":"a"}`, "", []jsonrpc.Message{progress(`{"progressToken":1,"progress":1}`), progress(`{"progress":1}`)}, nil},
		{"a token of null asks for none", `{"name":"a","_meta":{"progressToken":null}}`, "", []jsonrpc.Message{progress(`{"progressToken":1,"progress":1}`)}, nil},
		{"§3.4 no level, no messages", `{"name":"a"}`, "", []jsonrpc.Message{message(`{"level":"emergency","data":1}`)}, nil},
		{"§3.4 from the level on", `{"name":"a"}`, "error", []jsonrpc.Message{
			message(`{"level":"warning","data":1}`), message(`{"level":"error","data":1e-07,"_meta":{"io.modelcontextprotocol/serverInfo":{}}}`), message(`{"level":"loud","data":1}`), message(`{"data":1}`),
		}, []string{`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1e-07}}`}},
		{"what belongs elsewhere (PEERS.md 2.7.3)", `{"name":"a","_meta":{"progressToken":"p"}}`, "debug", []jsonrpc.Message{
			{Kind: jsonrpc.KindNotification, Method: "notifications/tasks", Params: `{"taskId":"t"}`},
			{Kind: jsonrpc.KindNotification, Method: "notifications/tools/list_changed"},
			{Kind: jsonrpc.KindNotification, Method: "notifications/com.acme/x"},
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.do = func(_ int, call port.Call) (wire.Value, error) {
				for _, msg := range tt.in {
					call.OnMessage(msg)
				}
				return results["tools/call"], nil
			}
			x, sent := exchange("tools/call", tt.params)
			x.Caller.LogLevel = tt.level
			if out := r.upgrade.Request(t.Context(), x); out.Err != nil {
				t.Fatal(out.Err)
			}
			if d := cmp.Diff(tt.want, *sent); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// TestTokensDiffer: tokens are the bridge's, unique for all its requests (G-9).
func TestTokensDiffer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seen := map[wire.Value]bool{}
	r.back.do = func(_ int, call port.Call) (wire.Value, error) {
		token := call.Params.Get("_meta").Get("progressToken")
		if seen[token] || token == "5" {
			t.Errorf("token %s", token)
		}
		seen[token] = true
		return results["tools/call"], nil
	}
	for range 3 {
		r.request(t, "tools/call", `{"name":"a","_meta":{"progressToken":5}}`)
	}
}

// TestRelayToNobody: that a client is gone is for its exchange to notice.
func TestRelayToNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.back.do = func(_ int, call port.Call) (wire.Value, error) {
		call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/progress", Params: `{"progressToken":1,"progress":1}`})
		return results["tools/call"], nil
	}
	x, _ := exchange("tools/call", `{"name":"a","_meta":{"progressToken":5}}`)
	x.Stream = &stream{broken: errors.New("gone")}
	if out := r.upgrade.Request(t.Context(), x); out.Err != nil {
		t.Error(out.Err)
	}
}
