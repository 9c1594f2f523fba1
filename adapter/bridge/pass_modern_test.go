package bridge_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// recent is a crossing within the modern era, in front of one scripted backend.
type recent struct {
	*rig

	pass    *bridge.PassModern
	handles *handle.Book
}

func passModern(t *testing.T, test func(t *testing.T, r *recent)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recent{rig: newRig(t)}
		keys, err := seal.New([][]byte{bytes.Repeat([]byte("s"), seal.SecretSize)}, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		r.handles, err = handle.New(handle.Options{Keys: keys, Store: store, Env: env.System(), Face: "modern", Retention: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		r.pass = bridge.NewPassModern(r.modern, r.handles)
		test(t, r)
	})
}

// recentMeta is the envelope of the caller.
const recentMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28", "io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}},"com.acme/x":1.0}`

// request is a request of a principal.
func (r *recent) request(t *testing.T, principal, method, params string) (*port.Exchange, *client) {
	t.Helper()
	msg := message(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":"r 1","method":%q,"params":%s}`, method, params))
	meta := msg.Params.Get("_meta")
	s := &client{asks: false}
	return &port.Exchange{
		Backend: "quarry", Message: msg, Stream: s, Push: func(string, []byte) {},
		Caller: port.Caller{
			Principal: principal, Version: "2026-07-28", Tasks: true, Authorization: "Bearer a",
			ClientInfo: meta.Get(wire.MetaClientInfo), Capabilities: meta.Get(wire.MetaClientCapabilities),
		},
	}, s
}

func (r *recent) do(t *testing.T, principal, method, params string) port.Outcome {
	t.Helper()
	x, _ := r.request(t, principal, method, params)
	out := r.pass.Request(t.Context(), x)
	if !x.OwnEra {
		t.Errorf("%s: the face is not told that nothing was translated", method)
	}
	return out
}

// answer makes the backend answer everything with a result.
func (r *recent) answer(result wire.Value, err error) {
	r.back.do = func(int, port.Call) (wire.Value, error) { return result, err }
}

// TestPassModernRequests: a request, its result and its error pass byte for byte (S-1,
// S-3, S-4).
func TestPassModernRequests(t *testing.T) {
	for _, method := range []string{"tools/call", "tools/list", "resources/read", "com.acme/dig"} {
		t.Run("S-1 "+method, func(t *testing.T) {
			passModern(t, func(t *testing.T, r *recent) {
				const params = `{ "name":"dig","uri":"x:y","arguments":{"ttl":1.0}, "task":{"ttl":1e2},"inputResponses":{"k":{"_meta":{}}},"_meta":{` + recentMeta + `,"com.acme/k": 1.0} }`
				results := []wire.Value{
					`{ "resultType":"complete","ttlMs":1.0,"tools": [{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"x"}}],"task":{"taskId":"t"},"contents":[] }`,
					`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"elicitationId":"e","message": "m"}}}}`,
					`{"resultType":"com.acme/own","requestState":"\u00e9 user data"}`,
					`{"resultType":"com.acme/own","taskId":"user data"}`,
				}
				for _, result := range results {
					r.answer(result, nil)
					r.back.calls = nil
					if out := r.do(t, "alice", method, params); out.Err != nil || out.Result != result {
						t.Errorf("result %s, error %v", out.Result, out.Err)
					}
					if call := r.back.calls[len(r.back.calls)-1]; call.Method != method || call.Params != params || call.Authorization != "Bearer a" {
						t.Errorf("call %+v", call)
					}
				}
			})
		})
	}
}

// TestPassModernStates: a request state is its caller's on its route, however little the
// backend looks, and comes back to it byte for byte (DESIGN §4.4, S-4).
func TestPassModernStates(t *testing.T) {
	for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
		t.Run(method, func(t *testing.T) {
			passModern(t, func(t *testing.T, r *recent) {
				const params = `{"name":"dig","uri":"x:y","requestState":%s,"inputResponses":{"k": 1.0},"_meta":{` + recentMeta + `}}`
				const asks = wire.Value(`{"resultType":"input_required","requestState":"\u00e9 \/","inputRequests":{}}`)
				r.answer(asks, nil)
				state := r.do(t, "alice", method, `{"name":"dig","uri":"x:y","_meta":{`+recentMeta+`}}`).Result.Get("requestState")
				if again := r.do(t, "alice", method, fmt.Sprintf(params, state)).Result.Get("requestState"); again == state || again == asks.Get("requestState") {
					t.Errorf("the next state is %s", again)
				}
				if call := r.back.calls[len(r.back.calls)-1]; string(call.Params) != fmt.Sprintf(params, asks.Get("requestState")) {
					t.Errorf("sent %s", call.Params)
				}
				r.back.calls = nil
				for name, try := range map[string][2]string{
					"another's":      {"bob", string(state)},
					"nobody's":       {"", string(state)},
					"the backend's":  {"alice", string(asks.Get("requestState"))},
					"forged":         {"alice", strings.Replace(string(state), `"A`, `"B`, 1)},
					"of nothing":     {"alice", `""`},
					"another's kind": {"alice", string(wire.String(r.handle(t, "alice")))},
				} {
					if out := r.do(t, try[0], method, fmt.Sprintf(params, try[1])); !errors.Is(out.Err, park.ErrState) {
						t.Errorf("B-P2 %s: %s, %v", name, out.Result, out.Err)
					}
				}
				if len(r.back.calls) != 0 {
					t.Errorf("the backend was asked %d times", len(r.back.calls))
				}
				// What is no state passes, for the backend to judge.
				r.do(t, "alice", method, fmt.Sprintf(params, "7"))
				if call := r.back.calls[len(r.back.calls)-1]; string(call.Params) != fmt.Sprintf(params, "7") {
					t.Errorf("sent %s", call.Params)
				}
			})
		})
	}
}

func (r *recent) handle(t *testing.T, principal string) string {
	t.Helper()
	named, err := r.handles.Seal(t.Context(), "quarry", port.Caller{Principal: principal}, "t")
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// TestPassModernErrors: an error keeps its code and its data; what the backend does
// not know the route does not have (§1.6).
func TestPassModernErrors(t *testing.T) {
	passModern(t, func(t *testing.T, r *recent) {
		for _, code := range []int64{-32020, -32021, -32022, -32602, -32000, 7} {
			own := &jsonrpc.Error{Code: code, Message: "m", Data: `{"supported":["2026-07-28"],"a":1.0}`}
			r.answer("", own)
			var rpc *jsonrpc.Error
			if out := r.do(t, "alice", "prompts/get", `{"name":"a","_meta":{`+recentMeta+`}}`); !errors.As(out.Err, &rpc) || rpc != own {
				t.Errorf("%d: %v", code, out.Err)
			}
		}
		if r.contradicted != 0 {
			t.Errorf("contradicted %d times", r.contradicted)
		}
		r.answer("", jsonrpc.NewError(-32601, "nothing of the kind"))
		var status *port.StatusError
		if out := r.do(t, "alice", "prompts/get", `{"name":"a","_meta":{`+recentMeta+`}}`); !errors.As(out.Err, &status) || status.Status != http.StatusNotFound || status.Err.Message != "nothing of the kind" {
			t.Errorf("unknown method: %v", out.Err)
		}
		refused := &port.UpstreamError{Op: "x", Status: 401, Err: jsonrpc.NewError(-32601, "m")}
		r.answer("", refused)
		if out := r.do(t, "alice", "prompts/get", `{"name":"a","_meta":{`+recentMeta+`}}`); !errors.Is(out.Err, refused) || errors.As(out.Err, &status) {
			t.Errorf("refused: %v", out.Err)
		}
		r.answer("", &jsonrpc.Error{Code: -32022, Message: "m", Data: `{"supported":["2025-11-25"]}`})
		if out := r.do(t, "alice", "prompts/list", `{"_meta":{`+recentMeta+`}}`); !port.IsCode(out.Err, -32022) || r.contradicted != 1 {
			t.Errorf("another era: %v, contradicted %d", out.Err, r.contradicted)
		}
	})
}

// TestPassModernDiscover: what the backend says of itself passes, but for the
// versions that this route does not speak (S-1, B-L4).
func TestPassModernDiscover(t *testing.T) {
	passModern(t, func(t *testing.T, r *recent) {
		const about = `{"resultType":"complete","supportedVersions":%s,"capabilities":{"tools":{},"tasks":{"own":1.0}},"instructions":"dig","ttlMs":5.0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"q","version":"1"}}}`
		for _, versions := range []string{`["2026-07-28"]`, `["2025-11-25", "2026-07-28"]`} {
			r.answer(wire.Value(fmt.Sprintf(about, versions)), nil)
			if out := r.do(t, "alice", "server/discover", `{"_meta":{`+recentMeta+`}}`); string(out.Result) != fmt.Sprintf(about, `["2026-07-28"]`) {
				t.Errorf("%s: %s, error %v", versions, out.Result, out.Err)
			}
		}
		for _, versions := range []string{`["2025-11-25"]`, `[]`, `7`} {
			before := r.contradicted
			r.answer(wire.Value(fmt.Sprintf(about, versions)), nil)
			if out := r.do(t, "alice", "server/discover", `{"_meta":{`+recentMeta+`}}`); !port.IsCode(out.Err, -32603) || r.contradicted != before+1 {
				t.Errorf("%s: %s, error %v", versions, out.Result, out.Err)
			}
		}
	})
}

// TestPassModernProgress: each leg has its own token, and what is nobody's is dropped
// (S-1, G-9, G-12).
func TestPassModernProgress(t *testing.T) {
	passModern(t, func(t *testing.T, r *recent) {
		var tokens []wire.Value
		r.back.do = func(_ int, call port.Call) (wire.Value, error) {
			tokens = append(tokens, call.Params.Get("_meta").Get("progressToken"))
			for _, params := range []string{
				`{"progressToken":` + string(tokens[len(tokens)-1]) + `,"progress": 1.0,"_meta":{"com.acme/k":1}}`,
				`{"progressToken":` + string(tokens[0]) + `,"progress":2}`, `{"progressToken":1.5,"progress":3}`,
			} {
				call.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":`+params+`}`))
			}
			call.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug", "data":1.0}}`))
			call.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"secret"}}`))
			return `{"resultType":"complete"}`, nil
		}
		const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug", "data":1.0}}`
		told := []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1.5,"progress":1.0,"_meta":{"com.acme/k":1}}}`}
		for i := range 2 {
			x, stream := r.request(t, "alice", "com.acme/dig", `{"_meta":{`+recentMeta+`,"progressToken":1.5}}`)
			r.pass.Request(t.Context(), x)
			if i == 0 { // the second message is of the same request then
				told = append(told, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1.5,"progress":2}}`)
			} else {
				told = told[:1]
			}
			want(t, "the client", stream.told(), append(told, log)...)
		}
		if tokens[0] == tokens[1] || tokens[0] == "1.5" {
			t.Errorf("tokens %v", tokens)
		}
		x, stream := r.request(t, "alice", "com.acme/dig", `{"_meta":{`+recentMeta+`}}`)
		tokens = []wire.Value{"7"}
		r.back.do = func(_ int, call port.Call) (wire.Value, error) {
			call.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`))
			return `{}`, nil
		}
		r.pass.Request(t.Context(), x)
		want(t, "who asked for none", stream.told())
	})
}

// TestPassModernTasks: a task has a handle, which holds for its owner (S-2).
func TestPassModernTasks(t *testing.T) {
	passModern(t, func(t *testing.T, r *recent) {
		r.answer(`{"resultType":"task","taskId":"secret","status":"working", "ttlMs":1.0,"_meta":{"taskId":"secret"}}`, nil)
		made := r.do(t, "alice", "tools/call", `{"name":"dig","_meta":{`+recentMeta+`}}`).Result
		named, _ := made.Get("taskId").Text()
		if string(made) != `{"resultType":"task","taskId":"`+named+`","status":"working","ttlMs":1.0,"_meta":{"taskId":"secret"}}` || named == "secret" {
			t.Fatalf("made %s", made)
		}
		r.answer(`{"resultType":"complete","taskId":"secret","status":"completed","result":{"taskId":"secret", "n":1.0}}`, nil)
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			r.back.calls = nil
			out := r.do(t, "alice", method, `{"taskId":"`+named+`","inputResponses":{"k": 1.0},"_meta":{`+recentMeta+`}}`)
			if string(out.Result) != `{"resultType":"complete","taskId":"`+named+`","status":"completed","result":{"taskId":"secret", "n":1.0}}` {
				t.Errorf("%s: %s, error %v", method, out.Result, out.Err)
			}
			if call := r.back.calls[0]; string(call.Params) != `{"taskId":"secret","inputResponses":{"k": 1.0},"_meta":{`+recentMeta+`}}` {
				t.Errorf("%s: sent %s", method, call.Params)
			}
			for _, foreign := range [][2]string{{"bob", named}, {"", named}, {"alice", "secret"}, {"alice", named[1:]}} {
				if out := r.do(t, foreign[0], method, `{"taskId":"`+foreign[1]+`","inputResponses":{},"_meta":{`+recentMeta+`}}`); !errors.Is(out.Err, handle.ErrUnknown) {
					t.Errorf("%s of %v: %s, error %v", method, foreign, out.Result, out.Err)
				}
			}
			if len(r.back.calls) != 1 {
				t.Errorf("%s: the backend was asked %d times", method, len(r.back.calls))
			}
		}
	})
}

// TestPassModernParams: the headers that mirror arguments are checked on one leg and
// written anew on the other (S-1, §3.8).
func TestPassModernParams(t *testing.T) {
	passModern(t, func(t *testing.T, r *recent) {
		const params = `{"name":"dig","arguments":{"site":"ü"},"_meta":{` + recentMeta + `}}`
		r.back.do = func(_ int, call port.Call) (wire.Value, error) {
			if call.Method == "tools/list" {
				if call.Params.Get("_meta").Get(wire.MetaClientCapabilities).Get("com.acme/x") != "1.0" {
					t.Errorf("listed with %s", call.Params)
				}
				return `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"dig","inputSchema":{"type":"object","properties":{"site":{"type":"string","x-mcp-header":"Site"}}}}]}`, nil
			}
			return `{"resultType":"complete","content":[]}`, nil
		}
		for _, tt := range []struct {
			values []string
			ok     bool
		}{{nil, false}, {[]string{"=?base64?w7w=?="}, true}, {[]string{"u"}, false}, {[]string{"=?base64?w7w=?=", "=?base64?w7w=?="}, false}} {
			x, _ := r.request(t, "carol", "tools/call", params)
			x.Caller.Authorization = "Bearer carol" // of whom nothing is known
			err := r.pass.CheckParams(t.Context(), x, func(name string) []string {
				if name != "Mcp-Param-Site" {
					t.Errorf("asked for %s", name)
				}
				return tt.values
			})
			var status *port.StatusError
			if tt.ok != (err == nil) || err != nil && (!errors.As(err, &status) || status.Err.Code != -32020) {
				t.Errorf("%q: %v", tt.values, err)
			}
			if tt.ok {
				r.pass.Request(t.Context(), x)
			}
		}
		call := r.back.calls[len(r.back.calls)-1]
		if call.Method != "tools/call" || len(call.Headers) != 1 || call.Headers[0] != (port.Header{Name: "Mcp-Param-Site", Value: "=?base64?w7w=?="}) {
			t.Errorf("call %+v", call)
		}
	})
}

// ended is a subscription with a result.
type ended struct {
	*subscription

	result wire.Value
	err    error
}

func (e *ended) Result() wire.Value { return e.result }

func (e *ended) Next() (jsonrpc.Message, error) {
	msg, err := e.subscription.Next()
	if err != nil && e.err != nil {
		err = e.err
	}
	return msg, err
}

// ownID is the id of the caller's request, where a subscription is named by it.
const ownID = `"io.modelcontextprotocol/subscriptionId":"r 1"`

func notification(t *testing.T, method, params string) jsonrpc.Message {
	t.Helper()
	return message(t, `{"jsonrpc":"2.0","method":"`+method+`","params":`+params+`}`)
}

// TestPassModernListen: a subscription is the client's own, about its own tasks, and
// under the id of its request (S-1, S-2).
func TestPassModernListen(t *testing.T) {
	t.Run("S-2", func(t *testing.T) {
		passModern(t, func(t *testing.T, r *recent) {
			seal := func(principal, id string) string {
				t.Helper()
				named, err := r.handles.Seal(t.Context(), "quarry", port.Caller{Principal: principal}, id)
				if err != nil {
					t.Fatal(err)
				}
				return named
			}
			mine, others := seal("alice", "1"), seal("bob", "2")
			sub := &subscription{
				ack: `{"notifications":{"toolsListChanged":true,"taskIds":["1","2"], "com.acme/x":1.0},"_meta":{"io.modelcontextprotocol/subscriptionId":17}}`,
				notes: []jsonrpc.Message{
					notification(t, "notifications/tasks", `{"taskId":"2","status":"working"}`),
					notification(t, "notifications/tasks", `{"taskId":"1","status":"working","_meta":{"io.modelcontextprotocol/subscriptionId":17,"com.acme/k": 1.0}}`),
					notification(t, "notifications/progress", `{"progressToken":1,"progress":1}`),
					notification(t, "notifications/tools/list_changed", `{"_meta":{"io.modelcontextprotocol/subscriptionId":17}}`),
					{Kind: jsonrpc.KindNotification, Method: "notifications/com.acme"},
				},
			}
			r.back.listen = &ended{subscription: sub, result: `{"resultType":"complete", "com.acme/x":1.0,"_meta":{"io.modelcontextprotocol/subscriptionId":17,"io.modelcontextprotocol/serverInfo":{}}}`}
			x, stream := r.request(t, "alice", "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"taskIds":["`+others+`","`+mine+`", "1","`+mine+`"]},"_meta":{`+recentMeta+`}}`)
			out := r.pass.Request(t.Context(), x)
			if want := `{"resultType":"complete","com.acme/x":1.0,"_meta":{` + ownID + `,"io.modelcontextprotocol/serverInfo":{}}}`; string(out.Result) != want {
				t.Errorf("result %s, error %v", out.Result, out.Err)
			}
			if got := r.back.calls[len(r.back.calls)-1].Params.Get("notifications"); got != `{"toolsListChanged":true,"taskIds":["1"]}` {
				t.Errorf("listened to %s", got)
			}
			want(t, "the client", stream.told(),
				`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"taskIds":["`+mine+`"],"com.acme/x":1.0},"_meta":{`+ownID+`}}}`,
				`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"`+mine+`","status":"working","_meta":{`+ownID+`,"com.acme/k":1.0}}}`,
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{`+ownID+`}}}`,
				`{"jsonrpc":"2.0","method":"notifications/com.acme","params":{"_meta":{`+ownID+`}}}`)
			if !sub.closed.Load() {
				t.Error("the subscription is left open")
			}
		})
	})
}

// TestPassModernListenEnds: a subscription ends as it does at the backend, and with a
// result when the bridge stops (S-1).
func TestPassModernListenEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  error
		ctx  error
		want string
	}{
		{"it ends without a word", io.EOF, nil, `{"resultType":"complete","_meta":{` + ownID + `}}`},
		{"it is cut", errUnreachable, nil, ""},
		{"the backend fails it", jsonrpc.NewError(-32603, "m"), nil, ""},
		{"the bridge drains", io.ErrClosedPipe, port.ErrDraining, `{"resultType":"complete","_meta":{` + ownID + `}}`},
		{"the client is gone", io.ErrClosedPipe, context.Canceled, ""},
	} {
		t.Run("S-1 "+tt.name, func(t *testing.T) {
			passModern(t, func(t *testing.T, r *recent) {
				r.back.listen = &ended{subscription: &subscription{ack: `{"notifications":{}}`}, err: tt.end}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tt.ctx != nil {
					cancel(tt.ctx)
				}
				x, _ := r.request(t, "alice", "subscriptions/listen", `{"notifications":{},"_meta":{`+recentMeta+`}}`)
				out := r.pass.Request(ctx, x)
				if string(out.Result) != tt.want || (out.Err == nil) != (tt.want != "") {
					t.Errorf("result %s, error %v", out.Result, out.Err)
				}
			})
		})
	}
	t.Run("S-1 it is refused, or nobody reads it", func(t *testing.T) {
		passModern(t, func(t *testing.T, r *recent) {
			r.back.err = &jsonrpc.Error{Code: -32021, Message: "m", Data: `{"requiredCapabilities":{}}`}
			x, stream := r.request(t, "alice", "subscriptions/listen", `{"notifications":{},"_meta":{`+recentMeta+`}}`)
			if out := r.pass.Request(t.Context(), x); !errors.Is(out.Err, r.back.err) || len(stream.told()) != 0 {
				t.Errorf("outcome %v", out)
			}
			if out := r.do(t, "alice", "subscriptions/listen", `{"notifications":{"taskIds":"x"},"_meta":{`+recentMeta+`}}`); out.Err == nil || !strings.Contains(port.RPCError(out.Err).Message, "taskIds") {
				t.Errorf("outcome %v", out)
			}
			r.back.err, r.back.sub = nil, &subscription{ack: `{"notifications":{}}`}
			x, stream = r.request(t, "alice", "subscriptions/listen", `{"notifications":{},"_meta":{`+recentMeta+`}}`)
			stream.gone = errors.New("gone")
			if out := r.pass.Request(t.Context(), x); !errors.Is(out.Err, stream.gone) || !r.back.sub.closed.Load() {
				t.Errorf("outcome %v, closed %v", out, r.back.sub.closed.Load())
			}
		})
	})
}
