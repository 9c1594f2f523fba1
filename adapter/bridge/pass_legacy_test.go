package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestPassInitialize: the backend's session is opened with what the client has said,
// and its answer is the client's (S-1).
func TestPassInitialize(t *testing.T) {
	for _, tt := range []struct{ name, asked, sent, chosen, told string }{
		{"the same", "2025-11-25", "2025-11-25", "2025-11-25", "2025-11-25"},
		{"the backend is older", "2025-11-25", "2025-11-25", "2025-06-18", "2025-06-18"},
		{"the client is older", "2025-03-26", "2025-03-26", "2025-03-26", "2025-03-26"},
		{"the backend chooses what was not asked for", "2025-06-18", "2025-06-18", "2025-11-25", "2025-06-18"},
		{"nobody has asked for anything known", "2026-07-28", "2025-11-25", "2025-11-25", "2025-11-25"},
		{"the backend is older than any client may be", "2025-11-25", "2025-11-25", "2024-11-05", "2025-03-26"},
	} {
		t.Run("S-1 "+tt.name, func(t *testing.T) {
			passLegacy(t, func(t *testing.T, p *passage) {
				o := p.client("c1", "alice")
				o.caller.Version = tt.sent // as the face negotiates it
				p.back.version = tt.chosen
				p.back.about = wire.Value(strings.Replace(string(p.back.about), "2025-11-25", tt.chosen, 1))
				params := `{"protocolVersion":%q,"capabilities":{"elicitation":{},"com.acme/x":1.0},"clientInfo":{"name":"orbit","version":"1"},"_meta":{%s"com.acme/m":1e3},"com.acme/v":[ 1.0 ]}`
				out := o.initialize(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + fmt.Sprintf(params, tt.asked, `"progressToken":7,`) + `}`)
				if want := strings.Replace(string(p.back.about), tt.chosen, tt.told, 1); out.Err != nil || string(out.Result) != want {
					t.Errorf("result %s, error %v; want %s", out.Result, out.Err, want)
				}
				h := p.back.sessions[0].hello
				if got, want := string(h.Params), fmt.Sprintf(params, tt.sent, ""); got != want || h.Authorization != "Bearer alice" {
					t.Errorf("params %s, authorization %q; want %s", got, h.Authorization, want)
				}
				if o.caller.Kept == "" || strings.Contains(o.caller.Kept, "secret") {
					t.Errorf("kept %q", o.caller.Kept)
				}
			})
		})
	}
	t.Run("A-L4 a backend that cannot be reached", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			p.back.refuse = errUnreachable
			if out := o.initialize(hello); !errors.Is(out.Err, errUnreachable) || o.caller.Kept != "" || p.contradicted != 0 {
				t.Errorf("outcome %v, kept %q, contradicted %d", out, o.caller.Kept, p.contradicted)
			}
			p.back.refuse = &port.UpstreamError{Op: "initialize", Status: 401, Err: jsonrpc.NewError(-32000, "who are you?")}
			if out := o.initialize(hello); out.Err == nil || p.contradicted != 0 {
				t.Errorf("G-13 a credential that is refused: outcome %v, contradicted %d", out, p.contradicted)
			}
			p.back.refuse = jsonrpc.NewError(-32601, "no such method")
			if out := o.initialize(hello); !port.IsCode(out.Err, -32601) || p.contradicted != 1 {
				t.Errorf("G-13 outcome %v, contradicted %d", out, p.contradicted)
			}
		})
	})
}

// TestPassRequests: params, results and errors pass byte for byte, whatever they are
// called, and other methods than the other era's with them (S-1, S-3).
func TestPassRequests(t *testing.T) {
	for _, method := range []string{"tools/call", "tools/list", "com.acme/dig", "resources/subscribe", "logging/setLevel", "completion/complete", "prompts/get"} {
		t.Run("S-3 "+method, func(t *testing.T) {
			passLegacy(t, func(t *testing.T, p *passage) {
				const params = `{ "name":"dig","uri":"x:y","level":"debug","ref":{"type":"ref/prompt","name":"n"},"argument":{"name":"a","value":""}, "arguments":{"task":1.0,"ttlMs":1e2}, "ttlMs":1.50,"resultType":"own","requestState":"\u00e9","_meta": {"com.acme/k":[ 1.0 ]} }`
				const result = `{ "resultType":"own","ttlMs":1.0,"tools": [{"name":"a","execution":{"taskSupport":"optional"},"inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}],"content":[],"inputRequests":{},"taskId":"user data" }`
				o := p.client("c1", "alice")
				o.open()
				p.back.do = func(context.Context, *pair, port.SessionCall) (wire.Value, error) { return result, nil }
				if got := o.do(method, params); got != result {
					t.Errorf("result %s", got)
				}
				if call := p.back.calls[0]; call.Method != method || call.Params != params || call.Authorization != "Bearer alice" {
					t.Errorf("call %+v", call)
				}
				p.back.do = func(context.Context, *pair, port.SessionCall) (wire.Value, error) {
					return "", &jsonrpc.Error{Code: -32042, Message: "visit", Data: `{"elicitations":[1.0]}`}
				}
				x, _ := o.exchange(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
				var rpc *jsonrpc.Error
				if out := p.cross.Request(t.Context(), x); !errors.As(out.Err, &rpc) || rpc.Code != -32042 || rpc.Data != `{"elicitations":[1.0]}` {
					t.Errorf("error %v", out.Err)
				}
			})
		})
	}
	t.Run("S-3 the other era's methods", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			s := o.open()
			for _, method := range []string{"server/discover", "subscriptions/listen", "tasks/update"} {
				if got := o.do(method, `{}`); !strings.Contains(got, "-32601") {
					t.Errorf("%s: %s", method, got)
				}
				s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","id":5,"method":"`+method+`"}`))
				want(t, "the backend", s.heard(), `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}`)
			}
			for _, method := range []string{"notifications/tasks", "notifications/subscriptions/acknowledged"} {
				o.notify(`{"jsonrpc":"2.0","method":"` + method + `"}`)
				s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","method":"`+method+`","params":{}}`))
			}
			want(t, "the client", o.told())
			want(t, "the backend", s.heard())
			if len(p.back.calls) != 0 {
				t.Errorf("calls %v", p.back.calls)
			}
		})
	})
	t.Run("bad params reach no backend", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			o.open()
			for method, params := range map[string]string{
				"tools/call": `{"name":1}`, "tools/list": `{"_meta":[]}`, "com.acme/dig": `{"_meta":{"progressToken":{}}}`,
				"prompts/get": `{"name":"a","name":"b"}`, "tasks/get": `{"taskId":7}`, "tasks/result": `{}`,
			} {
				if got := o.do(method, params); got == "{}" {
					t.Errorf("%s with %s was served", method, params)
				}
			}
			if len(p.back.calls) != 0 {
				t.Errorf("calls %v", p.back.calls)
			}
		})
	})
}

// TestPassProgress: each leg has its own tokens, which live as long as what they are
// of (S-1, G-9, G-10, G-12).
func TestPassProgress(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o, other := p.client("c1", "alice"), p.client("c2", "bob")
		s, _ := o.open(), other.open()
		progress := func(token wire.Value) jsonrpc.Message {
			return message(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(token)+`,"progress":1.0, "total":2}}`)
		}
		var token, othersToken wire.Value
		p.back.do = func(_ context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
			token = call.Params.Get("_meta").Get("progressToken")
			call.OnMessage(progress(token))
			call.OnMessage(progress(`"mine"`))
			if othersToken.Present() {
				call.OnMessage(progress(othersToken))
			}
			if call.Method == "tools/call" {
				return `{"task":{"taskId":"1","status":"working"}}`, nil
			}
			return "{}", nil
		}
		other.do("tools/list", `{"_meta":{"progressToken":"mine"}}`)
		othersToken = token
		x, stream := o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":"mine","com.acme/k":1}}}`)
		p.cross.Request(t.Context(), x)
		const told = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1.0,"total":2}}`
		want(t, "the client", stream.told(), told)
		if token.Kind() != wire.KindNumber || token == othersToken {
			t.Errorf("tokens %s and %s", token, othersToken)
		}
		s.hello.OnMessage(progress(token)) // its request has ended
		want(t, "the client", o.told())
		o.do("tools/call", `{"name":"dig","task":{},"_meta":{"progressToken":"mine"}}`)
		s.hello.OnMessage(progress(token)) // its task has not
		want(t, "the client", o.told(), `notifications/progress "mine": `+told)
	})
}

// TestPassTasks: wherever a task is named, a client names it by a handle that holds
// for its owner (S-2).
func TestPassTasks(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o, other := p.client("c1", "alice"), p.client("c2", "bob")
		o.open()
		other.open()
		named, others := o.task("1"), other.task("2")
		echo := func(_ context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
			id := call.Params.Get("taskId")
			return `{"taskId":` + id + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + id + `}},"structuredContent":{"taskId":"1"}}`, nil
		}
		p.back.do = echo
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result"} {
			p.back.calls = nil
			got, shown := o.do(method, `{"taskId":"`+named+`", "x":1.0}`), named
			if method == "tasks/result" { // what is in a payload is the tool's
				shown = "1"
			}
			if want := `{"taskId":"` + shown + `","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + named + `"}},"structuredContent":{"taskId":"1"}}`; got != want {
				t.Errorf("%s: %s, want %s", method, got, want)
			}
			if call := p.back.calls[0]; call.Params != `{"taskId":"1","x":1.0}` {
				t.Errorf("%s: sent %s", method, call.Params)
			}
			for _, foreign := range []string{others, "1", "2", named[1:], ""} {
				if got := o.do(method, `{"taskId":"`+foreign+`"}`); got != handle.ErrUnknown.Error() {
					t.Errorf("%s of %q: %s", method, foreign, got)
				}
			}
			if len(p.back.calls) != 1 {
				t.Errorf("%s: the backend was asked %d times", method, len(p.back.calls))
			}
		}
		var asked wire.Value
		p.back.do = func(_ context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
			asked = call.Params
			return `{"tasks":[{"taskId":"2","status":"working"}, {"taskId":"1","ttl":1.0},{"status":"x"}],"nextCursor":"\u00e9 d"}`, nil
		}
		page := wire.Value(o.do("tasks/list", `{}`))
		cursor := page.Get("nextCursor")
		if want := `{"tasks":[{"taskId":"` + named + `","ttl":1.0}],"nextCursor":` + string(cursor) + `}`; string(page) != want || strings.Contains(want, "d\"}") {
			t.Errorf("tasks/list: %s, want %s", page, want)
		}
		// A cursor of it is its caller's, and the backend gets its own.
		if o.do("tasks/list", `{"cursor":`+string(cursor)+`}`); asked != `{"cursor":"\u00e9 d"}` {
			t.Errorf("sent %s", asked)
		}
		asked = ""
		for caller, cursor := range map[*old]string{other: string(cursor), o: `"\u00e9 d"`} {
			if got := caller.do("tasks/list", `{"cursor":`+cursor+`}`); !strings.Contains(got, "params.cursor") {
				t.Errorf("A-S2 tasks/list behind %s: %s", cursor, got)
			}
		}
		if asked != "" {
			t.Errorf("sent %s", asked)
		}
		// The handle is the same in every session of its owner, and for ever.
		same := p.client("c3", "alice")
		same.open()
		if got := same.task("1"); got != named {
			t.Errorf("another session has %s", got)
		}
	})
}

// TestPassStatus: a session hears of its owner's tasks, also when the backend tells
// everybody, and before it says whose the task is (S-2).
func TestPassStatus(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o, other := p.client("c1", "alice"), p.client("c2", "bob")
		s, _ := o.open(), other.open()
		status := func(id, status string) jsonrpc.Message {
			return message(t, `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"`+id+`","status":"`+status+`", "ttl":1.0}}`)
		}
		broadcast := func(msg jsonrpc.Message) {
			for _, s := range p.back.sessions {
				s.hello.OnMessage(msg)
			}
		}
		told := func(named, status string) string {
			return "task/" + named + `: {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"` + named + `","status":"` + status + `","ttl":1.0}}`
		}
		named := o.task("1")
		broadcast(status("1", "working"))
		broadcast(status("9", "working"))
		broadcast(message(t, `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":7}}`))
		broadcast(message(t, `{"jsonrpc":"2.0","method":"notifications/message","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}},"level":"info"}}`))
		want(t, "the owner", o.told(), told(named, "working"),
			`: {"jsonrpc":"2.0","method":"notifications/message","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+named+`"}},"level":"info"}}`)
		want(t, "another", other.told())
		p.back.do = func(_ context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
			broadcast(status("3", "working"))
			broadcast(status("3", "completed"))
			broadcast(status("4", "completed"))
			call.OnMessage(status("1", "failed"))
			return `{"task":{"taskId":"3","status":"working"}}`, nil
		}
		x, stream := o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig","task":{}}}`)
		out := p.cross.Request(t.Context(), x)
		third, _ := out.Result.Get("task").Get("taskId").Text()
		want(t, "the stream", stream.told(), strings.TrimPrefix(told(named, "failed"), "task/"+named+": "))
		want(t, "the owner", o.told(), told(third, "completed"))
		want(t, "another", other.told())
		// What was not told then is nobody's now.
		if got := o.task("4"); got == "" {
			t.Error("no task")
		}
		want(t, "the owner", o.told())
		s.hello.OnMessage(status("4", "failed"))
		if got := o.told(); len(got) != 1 {
			t.Errorf("told %v", got)
		}
	})
}

// TestPassCancel: a request that a client gives up is cancelled at the backend under
// its id there, in the client's words if it has said any (S-1, §1.7).
func TestPassCancel(t *testing.T) {
	for _, tt := range []struct{ name, cancelled, told string }{
		{"in the client's words", `{"requestId":1, "reason":"bored","com.acme/k":1.0}`, `notifications/cancelled {"requestId":101,"reason":"bored","com.acme/k":1.0}`},
		{"of another request", `{"requestId":"1","reason":"bored"}`, `notifications/cancelled {"requestId":101,"reason":"the client has gone"}`},
		{"without a word", "", `notifications/cancelled {"requestId":101,"reason":"the client has gone"}`},
	} {
		t.Run("S-1 "+tt.name, func(t *testing.T) {
			passLegacy(t, func(t *testing.T, p *passage) {
				o := p.client("c1", "alice")
				s := o.open()
				p.back.do = func(ctx context.Context, _ *pair, _ port.SessionCall) (wire.Value, error) {
					<-ctx.Done()
					return "", &port.UpstreamError{Op: "tools/call", Sent: true, Err: context.Cause(ctx)}
				}
				ctx, cancel := context.WithCancel(t.Context())
				x, _ := o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig"}}`)
				done := make(chan port.Outcome)
				go func() { done <- p.cross.Request(ctx, x) }()
				synctest.Wait()
				if tt.cancelled != "" {
					o.notify(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + tt.cancelled + `}`)
				}
				want(t, "the backend, before the request has ended", s.heard())
				cancel()
				<-done
				want(t, "the backend", s.heard(), tt.told)
				// Nothing is cancelled that has ended.
				o.notify(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
				want(t, "the backend", s.heard())
			})
		})
	}
}

// TestPassNotifications: a client's notifications reach the backend, progress under
// the backend's own token (S-1).
func TestPassNotifications(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		named := o.task("1")
		o.notify(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		o.notify(`{"jsonrpc":"2.0","method":"notifications/com.acme","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + named + `"}}}}`)
		o.notify(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"my own", "status":"working"}}`)
		o.notify(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"guessed","progress":1}}`)
		want(t, "the backend", s.heard(), "notifications/roots/list_changed ",
			`notifications/com.acme {"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}`,
			`notifications/tasks/status {"taskId":"my own", "status":"working"}`)
		s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"_meta":{"progressToken":"its"}}}`))
		pushed := o.told()
		asked := message(t, strings.TrimPrefix(pushed[0], ": "))
		token := asked.Params.Get("_meta").Get("progressToken")
		o.notify(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(token) + `,"progress":1.0}}`)
		want(t, "the backend", s.heard(), `notifications/progress {"progressToken":"its","progress":1.0}`)
		if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":{}}`); err != nil {
			t.Error(err)
		}
		s.heard()
		o.notify(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(token) + `,"progress":2}}`)
		want(t, "the backend, of what is answered", s.heard())
	})
}

// TestPassLife: the two sessions live and end together, and a process that stops ends
// neither (S-1, DESIGN promise 2).
func TestPassLife(t *testing.T) {
	t.Run("the client ends its session", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			s := o.open()
			close(o.over)
			synctest.Wait()
			p.cross.EndSession(t.Context(), "basalt", o.caller)
			if !s.closed || s.deleted || len(p.back.ended) != 1 || p.back.ended[0] != s.ticket || o.lost != 0 {
				t.Errorf("closed %v, deleted %v, ended %v, lost %d", s.closed, s.deleted, p.back.ended, o.lost)
			}
		})
	})
	t.Run("the backend loses it", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			s := o.open()
			p.back.do = func(context.Context, *pair, port.SessionCall) (wire.Value, error) { return "", port.ErrSessionLost }
			x, _ := o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig"}}`)
			if out := p.cross.Request(t.Context(), x); !errors.Is(out.Err, port.ErrSessionLost) {
				t.Errorf("outcome %v", out)
			}
			s.lose()
			synctest.Wait()
			if o.lost != 1 || s.deleted || len(p.back.sessions) != 1 {
				t.Errorf("lost %d, deleted %v, %d sessions", o.lost, s.deleted, len(p.back.sessions))
			}
		})
	})
	t.Run("a notification finds it lost", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			s := o.open()
			s.fail = port.ErrSessionLost
			o.notify(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			if o.lost != 1 {
				t.Errorf("lost %d", o.lost)
			}
		})
	})
}

// TestPassElsewhere: any process can go on with a session, and nobody else can with
// what was kept for it (DESIGN promises 2 and 5).
func TestPassElsewhere(t *testing.T) {
	t.Run("another process goes on with it", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o := p.client("c1", "alice")
			s := o.open()
			named := o.task("1")
			p.restart()
			if !s.closed || s.deleted || o.lost != 0 {
				t.Fatalf("closed %v, deleted %v, lost %d", s.closed, s.deleted, o.lost)
			}
			detach := p.cross.Attach(port.Subscriber{Backend: "basalt", Caller: o.caller, Push: o.push, Tie: o.tie(nil)})
			defer detach()
			next := p.back.sessions[1]
			if !next.resumed || next.ticket != s.ticket {
				t.Errorf("resumed %v with %v", next.resumed, next.ticket)
			}
			next.hello.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"1"}}`))
			if got := o.told(); len(got) != 1 || !strings.HasPrefix(got[0], "task/"+named) {
				t.Errorf("told %v", got)
			}
			var work sync.WaitGroup
			for range 8 {
				work.Go(func() { o.do("tools/list", `{}`) })
			}
			work.Wait()
			if len(p.back.sessions) != 2 {
				t.Errorf("%d sessions", len(p.back.sessions))
			}
		})
	})
	t.Run("nobody goes on with what was kept for another", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			o, other := p.client("c1", "alice"), p.client("c2", "bob")
			o.open()
			other.caller.Kept = o.caller.Kept
			x, _ := other.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if out := p.cross.Request(t.Context(), x); !errors.Is(out.Err, port.ErrSessionLost) || len(p.back.sessions) != 1 {
				t.Errorf("outcome %v", out)
			}
		})
	})
	t.Run("a race of everything", func(t *testing.T) {
		passLegacy(t, func(t *testing.T, p *passage) {
			var work sync.WaitGroup
			for i := range 16 {
				o := p.client(fmt.Sprint("c", i), "alice")
				s := o.open()
				work.Go(func() { o.do("tools/list", `{"_meta":{"progressToken":1}}`) })
				work.Go(func() { s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)) })
				work.Go(func() { s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/x"}`)) })
				work.Go(func() { p.cross.EndSession(t.Context(), "basalt", o.caller) })
				work.Go(func() { close(o.over) })
				work.Go(s.lose)
			}
			work.Wait()
			time.Sleep(time.Second)
			p.close()
			for _, s := range p.back.sessions {
				if !s.closed {
					t.Error("a session is left open")
				}
			}
		})
	})
}
