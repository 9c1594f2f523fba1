package demo_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestLegacyCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{})
		p := join(t, l)
		for name, test := range map[string]struct {
			tool      string
			arguments object
			want      object
		}{
			"add": {"add", object{"a": 2, "b": 3}, object{
				"content": []any{object{"type": "text", "text": "5"}}, "structuredContent": object{"sum": 5.0},
			}},
			"a tool error": {"tool_error", nil, object{
				"content": []any{object{"type": "text", "text": "tool says no"}}, "isError": true,
			}},
			"wrong arguments": {"add", object{"a": "2"}, object{
				"content": []any{object{"type": "text", "text": "a: want a number"}}, "isError": true,
			}},
			"locate": {"locate", object{"site": "here"}, object{
				"content": []any{object{"type": "text", "text": "site here"}},
			}},
		} {
			if diff := cmp.Diff(test.want, p.call(test.tool, test.arguments)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if data := p.do("tools/call", toolParams("fail", nil)).fails(200, -31050); data["shard"] != 3.0 {
			t.Errorf("data of fail: %v", data)
		}
		p.do("tools/call", toolParams("nobody", nil)).fails(200, -32602)
		p.do("tools/call", object{"name": "add", "arguments": []int{}}).fails(200, -32602)
		p.do("tools/call", object{"name": "add", "_meta": object{"progressToken": 1.5}}).fails(200, -32602)
		if l.Runs("add") != 2 || l.Runs("fail") != 1 || l.Runs("runs") != 0 {
			t.Errorf("runs: %d, %d, %d", l.Runs("add"), l.Runs("fail"), l.Runs("runs"))
		}
	})
}

// Spec 2025-11-25 basic/utilities/progress and server/utilities/logging.
func TestLegacyProgressAndLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		methods := func(params object) (seen []string) {
			a := p.do("tools/call", params)
			for _, n := range a.notes {
				m, _ := n["method"].(string)
				body, _ := n["params"].(object)
				if level, ok := body["level"].(string); ok {
					m = level
				} else if body["progressToken"] != "0" || body["total"] != 1.0 {
					t.Errorf("%v", n)
				}
				seen = append(seen, m)
			}
			if res, _ := a.final["result"].(object); legacyText(t, res) != "counted to 1" {
				t.Errorf("%s", a.raw)
			}
			return seen
		}
		params := toolParams("count", object{"steps": 1})
		if diff := cmp.Diff([]string{"info", "warning"}, methods(params)); diff != "" {
			t.Errorf("before a level is set: %s", diff)
		}
		p.ok("logging/setLevel", object{"level": "warning"})
		params["_meta"] = object{"progressToken": "0"}
		if diff := cmp.Diff([]string{"notifications/progress", "warning"}, methods(params)); diff != "" {
			t.Errorf("above info: %s", diff)
		}
		p.ok("logging/setLevel", object{"level": "debug"})
		if diff := cmp.Diff([]string{"debug", "notifications/progress", "info", "warning"}, methods(params)); diff != "" {
			t.Errorf("everything: %s", diff)
		}
		p.do("logging/setLevel", object{"level": "loud"}).fails(200, -32602)
	})
}

// Spec 2025-11-25 basic/utilities/cancellation.
func TestLegacyCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		other := join(t, p.l)
		f := p.open("7", "tools/call", toolParams("grind", object{"ms": 60_000}))
		synctest.Wait()
		for _, no := range []object{{"requestId": 7}, {"requestId": "8"}, {}} {
			p.post(message(t, nil, "notifications/cancelled", no))
		}
		other.post(message(t, nil, "notifications/cancelled", object{"requestId": "7"}))
		time.Sleep(time.Second)
		synctest.Wait()
		select {
		case <-f.done:
			t.Fatal("another request was cancelled")
		default:
		}
		began := time.Now()
		p.post(message(t, nil, "notifications/cancelled", object{"requestId": "7", "reason": "enough"}))
		if msg := f.message(); msg != nil {
			t.Errorf("a cancelled request was answered: %v", msg)
		}
		<-f.done
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

func TestLegacyRefusesAnIDInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.open("\u00e9", "tools/call", toolParams("grind", object{"ms": 1000}))
		synctest.Wait()
		rec := p.post(`{"jsonrpc":"2.0","id":"\u00e9","method":"tools/call","params":{"name":"grind"}}`)
		if rec.Code != 400 || p.l.Runs("grind") != 1 {
			t.Errorf("HTTP %d %s", rec.Code, rec.Body)
		}
		if f.message()["result"] == nil {
			t.Error("the first got no answer")
		}
	})
}

// Spec 2025-03-26 basic/transports, "Sending Messages to the Server".
func TestLegacyBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := joinAs(t, newLegacy(t, demo.Options{}), oldest, object{})
		call := message(t, "slow", "tools/call", toolParams("grind", object{"ms": 1000}))
		rec := p.post("[" + strings.Join([]string{
			call, message(t, nil, "notifications/progress", object{}), message(t, 2, "ping", nil), message(t, 3, "nothing", nil),
			message(t, 4, "initialize", object{}), call,
		}, ",") + "]")
		seen := map[any]bool{}
		order := []any{}
		for chunk := range strings.SplitSeq(rec.Body.String(), "\n\n") {
			if ev := parseEvent(t, chunk); ev.msg != nil {
				order = append(order, ev.msg["id"])
				seen[ev.msg["id"]] = ev.msg["result"] != nil
			} else if ev.id != "" {
				t.Error("an event without a message, which this revision does not know")
			}
		}
		if len(order) != 5 || !seen[2.0] || seen[3.0] || seen[4.0] || !seen["slow"] || order[4] != "slow" {
			t.Errorf("%v %v", order, seen)
		}
		if rec := p.post("[" + message(t, nil, "notifications/x", nil) + "]"); rec.Code != 202 {
			t.Errorf("a batch of notifications: HTTP %d", rec.Code)
		}
	})
}

func TestLegacyOlderRevisions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{})
		for _, version := range []string{oldest, middle, newest} {
			p := joinAs(t, l, version, fullCaps)
			list, _ := p.ok("tools/list", nil)["tools"].([]any)
			for _, entry := range list {
				tool, _ := entry.(object)
				if (tool["execution"] != nil) != (version == newest) || (tool["title"] != nil) != (version > oldest) {
					t.Errorf("%s: %v", version, tool)
				}
				if tool["name"] == "add" && (tool["outputSchema"] != nil) != (version > oldest) {
					t.Errorf("%s: %v", version, tool)
				}
			}
			if res := p.call("add", object{"a": 1, "b": 1}); (res["structuredContent"] != nil) != (version > oldest) {
				t.Errorf("%s: %v", version, res)
			}
			if version == newest {
				continue
			}
			// the member that asks for a task means nothing here
			if res := p.ok("tools/call", taskParams("work", object{"ms": 1}, object{})); res["task"] != nil {
				t.Errorf("%s: %v", version, res)
			}
			p.do("tasks/list", nil).fails(200, -32601)
			p.do("tools/call", toolParams("only_task", nil)).fails(200, -32601)
			if res := p.call("sign_in", nil); res["isError"] != true {
				t.Errorf("%s: %v", version, res)
			}
			if text := legacyText(t, p.call("hang_up", nil)); text != "still here" {
				t.Errorf("%s: %s", version, text)
			}
		}
		if res := joinAs(t, l, oldest, fullCaps).call("ask", nil); res["isError"] != true {
			t.Errorf("%s has no questions: %v", oldest, res)
		}
		p := joinAs(t, l, middle, fullCaps)
		f := p.open("a", "tools/call", toolParams("ask", nil))
		id, params := f.wants("elicitation/create")
		if _, there := params["mode"]; there || params["requestedSchema"] == nil {
			t.Errorf("%v", params)
		}
		p.answer(id, accept(object{"name": "Ada"}))
		if f.message()["result"] == nil {
			t.Error("no result")
		}
	})
}
