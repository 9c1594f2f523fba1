package bridge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	bore      = `{"tools":[{"name":"bore","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`
	boring    = `{"taskId":"LT1","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":null}`
	taskMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	whereAsk  = `{"jsonrpc":"2.0","id":5,"method":"roots/list"}`
	deeperAsk = `{"jsonrpc":"2.0","id":6,"method":"elicitation/create","params":{"message":"Deeper?","requestedSchema":{"type":"object","properties":{}}}}`
)

// bores is a backend that makes tasks of its calls, after it has done something.
func (d *down) bores(first func(call port.SessionCall)) {
	d.session.about = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"basalt","version":"1"}}`
	made := 0
	d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
		switch call.Method {
		case "tools/list":
			return bore, nil
		case "tools/call":
			if first != nil {
				first(call)
			}
			made++
			return wire.Value(`{"task":` + strings.ReplaceAll(boring, "LT1", "LT"+string(jsonrpc.IntID(int64(made)))) + `}`), nil
		case "tasks/get":
			id, _ := call.Params.Get("taskId").Text()
			return wire.Value(strings.ReplaceAll(boring, "LT1", id)), nil
		default:
			<-ctx.Done()
			return "", &port.UpstreamError{Op: call.Method, Sent: true, Err: context.Cause(ctx)}
		}
	}
}

// taskRequest is a request of a client with tasks that can be asked everything.
func (d *down) taskRequest(method, params string) port.Outcome {
	d.t.Helper()
	var sent []string
	return d.cross.Request(d.t.Context(), &port.Exchange{
		Backend: "basalt", Stream: &stream{sent: &sent},
		Caller: port.Caller{
			Principal: "p", Version: "2026-07-28", Capabilities: `{"elicitation":{},"sampling":{},"roots":{}}`, Tasks: true,
		},
		Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: method, Params: wire.Value(params)},
	})
}

// task makes a task and returns its handle, as JSON.
func (d *down) task() string {
	d.t.Helper()
	out := d.taskRequest("tools/call", `{"name":"bore",`+taskMeta+`}`)
	handle := out.Result.Get("taskId")
	if !handle.Present() {
		d.t.Fatalf("no task: %s %v", out.Result, out.Err)
	}
	return string(handle)
}

// questions are the keys of what a task asks.
func (d *down) questions(handle string) []string {
	d.t.Helper()
	time.Sleep(2 * time.Second)
	out := d.taskRequest("tasks/get", `{"taskId":`+handle+`,`+taskMeta+`}`)
	if out.Err != nil {
		d.t.Fatal(out.Err)
	}
	var keys []string
	for m := range out.Result.Get("inputRequests").Members() {
		keys = append(keys, m.Name)
	}
	return keys
}

func (d *down) wantQuestions(rule, handle string, want ...string) {
	d.t.Helper()
	if got := d.questions(handle); !slices.Equal(got, want) {
		d.t.Errorf("%s asks %q, want %q", rule, got, want)
	}
}

// wantSaid checks that the bridge has said nothing to the backend but this, in part.
func (d *down) wantSaid(rule string, want ...string) {
	d.t.Helper()
	said := d.session.heard()
	if len(said) != len(want) {
		d.t.Errorf("%s said %q, want %q", rule, said, want)
		return
	}
	for i, part := range want {
		if !strings.Contains(said[i], part) {
			d.t.Errorf("%s said %q, want %q", rule, said, want)
		}
	}
}

// TestRootsOfNoTask: servers ask for roots at start-up, on the standing stream: that is
// no task's question, whatever is going on (B-U9, B-I2).
func TestRootsOfNoTask(t *testing.T) {
	t.Parallel()
	t.Run("B-U9 a task lives in the session", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(nil)
			h := d.task()
			d.says(nil, whereAsk)
			d.wantSaid("B-U9")
			d.wantQuestions("B-U9", h)
			d.wantSaid("B-U9", `"id":5,"error":{"code":-32603`)
		})
	})
	t.Run("B-U9 the call that makes the task has the session", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(func(port.SessionCall) { d.says(d.session.hear, whereAsk) })
			h := d.task()
			d.wantSaid("B-U9")
			d.wantQuestions("B-U9", h)
			d.wantSaid("B-U9", `"id":5,"error":{"code":-32603`)
		})
	})
	t.Run("B-U9 it was there before the call, and the next call can be asked", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(nil)
			d.says(nil, whereAsk)
			h := d.task()
			d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
				if call.Method == "tasks/get" {
					return boring, nil
				}
				<-ctx.Done()
				return "", ctx.Err()
			}
			out, _ := d.request(d.t.Context(), "prompts/get", `{"name":"dig",`+novaMeta+`}}`, `{"roots":{}}`)
			if got := out.Result.Get("inputRequests"); got != `{"roots-1":{"method":"roots/list"}}` {
				d.t.Errorf("B-U9 asked %s %v", got, out.Err)
			}
			d.wantQuestions("B-U9", h)
		})
	})
	t.Run("B-I2 it names the task, or comes on the stream of the task's call", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(func(call port.SessionCall) {
				call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "8", Method: "roots/list"})
			})
			h := d.task()
			d.says(nil, `{"jsonrpc":"2.0","id":9,"method":"roots/list","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"LT1"}}}}`)
			d.wantQuestions("B-I2", h, "roots-1", "roots-2")
			d.wantSaid("B-I2")
		})
	})
}

// TestDrivenWait: a server may be silent for long while it is waited for, and is told when
// nobody hears it any more: it would ask there (Q7, G-8).
func TestDrivenWait(t *testing.T) {
	downgrade(t, func(d *down) {
		d.backend.DriveRequired = true
		d.bores(nil)
		other, waits := d.session.do, 0
		d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
			switch {
			case call.Method == "tools/list":
				return wire.Value(strings.Replace(bore, "optional", "required", 1)), nil
			case call.Method != "tasks/result":
				return other(ctx, call)
			}
			time.Sleep(time.Hour / 4)
			if call.Waited == nil || time.Since(call.Waited()) > 0 {
				d.t.Error("G-8 its silence is held against the server")
			}
			if waits++; waits == 1 {
				return "", &port.UpstreamError{Op: call.Method, Sent: true, Err: errors.New("unexpected end")}
			}
			return `{"content":[{"type":"text","text":"deep"}]}`, nil
		}
		out, _ := d.request(d.t.Context(), "tools/call", `{"name":"bore",`+novaMeta+`}}`, `{}`)
		if !strings.Contains(string(out.Result), "deep") {
			d.t.Errorf("Q7 %s %v", out.Result, out.Err)
		}
		d.wantSaid("Q7", `notifications/cancelled {"requestId":7`)
	})
}

// TestAsideOfTasks: what is asked aside without a name is of the session's only task,
// and of none of several (B-I2, B-U6).
func TestAsideOfTasks(t *testing.T) {
	t.Parallel()
	t.Run("B-I2 PEERS FastMCP 3 and mcp-go ask so", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(nil)
			h := d.task()
			d.says(nil, deeperAsk)
			d.says(nil, `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
			d.wantQuestions("B-I2", h, "elicitation-1", "sampling-2")
			d.wantSaid("B-I2")
		})
	})
	t.Run("B-U6 several live there", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(nil)
			one, two := d.task(), d.task()
			d.says(nil, deeperAsk)
			d.wantSaid("B-U6", `"id":6,"error":{"code":-32602`)
			d.wantQuestions("B-U6", one)
			d.wantQuestions("B-U6", two)
		})
	})
	t.Run("B-U6 a task's question on the stream of another call", func(t *testing.T) {
		downgrade(t, func(d *down) {
			d.bores(nil)
			h := d.task()
			end := make(chan struct{})
			d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
				if call.Method == "tasks/get" {
					return boring, nil
				}
				call.OnMessage(jsonrpc.Message{
					Kind: jsonrpc.KindRequest, ID: "6", Method: "elicitation/create",
					Params: `{"message":"Deeper?","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"LT1"}}}`,
				})
				<-end
				return `{"messages":[]}`, nil
			}
			go func() {
				time.Sleep(time.Second)
				close(end)
			}()
			out := d.taskRequest("prompts/get", `{"name":"dig",`+taskMeta+`}`)
			if out.Result.Get("resultType") != `"complete"` {
				d.t.Errorf("B-U6 the call was asked: %s %v", out.Result, out.Err)
			}
			synctest.Wait()
			d.wantQuestions("B-U6", h, "elicitation-1")
		})
	})
}
