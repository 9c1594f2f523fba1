package bridge_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// progressed is a server's report of progress under the token of this very call.
func progressed(call port.Call, progress string) {
	token := call.Params.Get("_meta").Get("progressToken")
	call.OnMessage(jsonrpc.Message{
		Kind: jsonrpc.KindNotification, Method: "notifications/progress",
		Params: `{"progressToken":` + token + `,"progress":` + wire.Value(progress) + `}`,
	})
}

// asking returns a request of a client that can be asked for colors.
func asking(method string, params wire.Value) (*port.Exchange, *[]string) {
	x, sent := exchange(method, params)
	x.Caller.Capabilities = `{"elicitation":{},"roots":{}}`
	return x, sent
}

// TestProgressOfRepetitions: to the client it is one request, so its progress does
// not begin again with a repetition (G-12).
func TestProgressOfRepetitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.back.do = func(n int, call port.Call) (wire.Value, error) {
			switch n {
			case 1:
				progressed(call, "1")
				progressed(call, "3.5")
				return asksAgain, nil
			case 2:
				progressed(call, "2")
				progressed(call, "3.50")
				progressed(call, "4")
				return asksColor, nil
			default:
				progressed(call, "4")
				progressed(call, "5")
				return isDone, nil
			}
		}
		x, sent := asking("tools/call", `{"name":"a","_meta":{"progressToken":"p"}}`)
		out := make(chan port.Outcome, 1)
		go func() { out <- r.upgrade.Request(t.Context(), x) }()
		time.Sleep(time.Second)
		synctest.Wait()
		answer := &port.Exchange{Backend: "quarry", Caller: legacyCaller, Message: jsonrpc.Message{
			Kind: jsonrpc.KindResult, ID: "1", Result: `{"action":"accept","content":{}}`,
		}}
		if err := r.upgrade.Answer(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
		if o := <-out; o.Err != nil {
			t.Fatal(o.Err)
		}
		var got []string
		for _, msg := range *sent {
			if params := wire.Value(msg).Get("params"); params.Get("progress").Present() {
				got = append(got, string(params.Get("progress")))
				if params.Get("progressToken") != `"p"` {
					t.Errorf("G-10 told %s", msg)
				}
			}
		}
		if d := cmp.Diff([]string{"1", "3.5", "4", "5"}, got); d != "" {
			t.Errorf("progress told (-want +got):\n%s", d)
		}
		if len(r.back.calls) != 3 {
			t.Fatalf("%d requests, want 3", len(r.back.calls))
		}
		if got := r.back.calls[2].Params; got.Get("requestState") != `"s1"` || !got.Get("inputResponses").Present() {
			t.Errorf("A-M2 repeated with %s", got)
		}
	})
}

// TestEnvelopeAsksWhereItCan: what a client has declared is passed on where it can
// be asked: on a stream that carries requests, or later, for a task (A-C1).
func TestEnvelopeAsksWhereItCan(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method string
		params       wire.Value
		stream       port.Stream
		asks         bool
	}{
		{"a call on a stream", "tools/call", `{"name":"a"}`, &stream{sent: new([]string)}, true},
		{"a call on a stream that carries no requests", "tools/call", `{"name":"a"}`, deaf{&stream{sent: new([]string)}}, false},
		{"a prompt on such a stream", "prompts/get", `{"name":"a"}`, deaf{&stream{sent: new([]string)}}, false},
		{"a read on such a stream", "resources/read", `{"uri":"a:b"}`, deaf{&stream{sent: new([]string)}}, false},
		{"a list, for which nobody is asked", "prompts/list", `{}`, deaf{&stream{sent: new([]string)}}, true},
		{"a call without a stream", "tools/call", `{"name":"a"}`, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.do = func(int, port.Call) (wire.Value, error) { return results[tt.method], nil }
			x, _ := exchange(tt.method, tt.params)
			x.Stream = tt.stream
			r.upgrade.Request(t.Context(), x)
			if len(r.back.calls) != 1 {
				t.Fatalf("%d calls", len(r.back.calls))
			}
			declared := r.back.calls[0].Params.Get("_meta").Get("io.modelcontextprotocol/clientCapabilities")
			if got := declared.Get("elicitation").Present(); got != tt.asks || declared.Get("roots").Present() != got {
				t.Errorf("declared %s", declared)
			}
		})
	}
}

// deaf is a stream that carries no requests.
type deaf struct{ *stream }

func (deaf) Asks() bool { return false }

// TestEndlessQuestions: a call asks its client ten times and no more (A-M4).
func TestEndlessQuestions(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"tools/call", "prompts/get"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.back.do = func(int, port.Call) (wire.Value, error) { return asksColor, nil }
				x, sent := asking(method, `{"name":"a"}`)
				out := make(chan port.Outcome, 1)
				go func() { out <- r.upgrade.Request(t.Context(), x) }()
				for id := int64(1); id <= 10; id++ {
					synctest.Wait()
					if err := r.upgrade.Answer(t.Context(), &port.Exchange{Backend: "quarry", Caller: legacyCaller, Message: jsonrpc.Message{
						Kind: jsonrpc.KindResult, ID: jsonrpc.IntID(id), Result: `{"action":"decline"}`,
					}}); err != nil {
						t.Fatal(err)
					}
				}
				o := <-out
				if len(*sent) != 10 || len(r.back.calls) != 11 {
					t.Errorf("%d questions, %d requests; want 10 and 11", len(*sent), len(r.back.calls))
				}
				if method == ext2026.MethodToolsCall && (o.Err != nil || o.Result.Get("isError") != "true") {
					t.Errorf("A-M6 ended in %+v, want a tool error", o)
				}
				if method != ext2026.MethodToolsCall && !port.IsCode(o.Err, jsonrpc.CodeInternal) {
					t.Errorf("A-M6 ended in %+v, want an internal error", o)
				}
			})
		})
	}
}

// TestAnswersOfOthers: nobody else's response answers a call's question.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRigWithTasks(t)
		r.back.do = func(n int, _ port.Call) (wire.Value, error) {
			if n == 1 {
				return asksColor, nil
			}
			return isDone, nil
		}
		x, sent := asking("tools/call", `{"name":"a"}`)
		out := make(chan port.Outcome, 1)
		go func() { out <- r.upgrade.Request(t.Context(), x) }()
		synctest.Wait()
		if len(*sent) != 1 || !strings.Contains((*sent)[0], `"id":1,`) {
			t.Fatalf("asked %q", *sent)
		}
		respond := func(caller port.Caller, id jsonrpc.ID) {
			t.Helper()
			if err := r.upgrade.Answer(t.Context(), &port.Exchange{Backend: "quarry", Caller: caller, Message: jsonrpc.Message{
				Kind: jsonrpc.KindResult, ID: id, Result: `{"action":"cancel"}`,
			}}); err != nil {
				t.Errorf("A-I8 Answer: %v, want it dropped", err)
			}
			synctest.Wait()
		}
		respond(answerer, "1") // the same owner's other session
		respond(legacyCaller, "2")
		respond(legacyCaller, `"1"`)
		if len(out) != 0 {
			t.Fatalf("another's response has answered: %+v", <-out)
		}
		respond(legacyCaller, "1")
		if o := <-out; o.Err != nil {
			t.Error(o.Err)
		}
		respond(legacyCaller, "1")
	})
}
