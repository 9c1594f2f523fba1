package demo_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func haiku(text string) object {
	return object{"role": "assistant", "model": "m", "content": object{"type": "text", "text": text}}
}

// answered reads the result of a call from its stream.
func (f flow) answered() string {
	f.t.Helper()
	msg := f.message()
	res, ok := msg["result"].(object)
	if !ok {
		f.t.Fatalf("no result: %v", msg)
	}
	return legacyText(f.t, res)
}

func TestLegacyAsksOnTheStreamOfTheCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool, method string
		answer       object
		want         string
	}{
		"accepted":   {"ask", "elicitation/create", accept(object{"name": "Ada"}), `accept {"name":"Ada"}`},
		"declined":   {"ask", "elicitation/create", object{"action": "decline"}, "decline null"},
		"no action":  {"ask", "elicitation/create", object{"content": object{}}, "the client's answer is not one to elicitation/create"},
		"sampled":    {"sample", "sampling/createMessage", haiku("an old arch"), "model said: an old arch"},
		"no sample":  {"sample", "sampling/createMessage", object{"role": "assistant"}, "the client's answer is not one to sampling/createMessage"},
		"roots":      {"roots", "roots/list", object{"roots": []object{{"uri": "file:///a"}, {"uri": "file:///b"}}}, "roots: file:///a file:///b"},
		"no roots":   {"roots", "roots/list", object{"roots": []object{{"name": "a"}}}, "the client's answer is not one to roots/list"},
		"visited":    {"visit", "elicitation/create", object{"action": "accept"}, "visited"},
		"not a page": {"visit", "elicitation/create", object{"action": "cancel"}, "not visited: cancel"},
		"ask_first":  {"ask_first", "elicitation/create", accept(object{"name": "Ada"}), "Hello, Ada"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := join(t, newLegacy(t, demo.Options{}))
				quiet := p.listen("")
				f := p.open(1, "tools/call", toolParams(test.tool, nil))
				id, params := f.wants(test.method)
				if params["_meta"] != nil {
					t.Errorf("a call has no task: %v", params)
				}
				p.answer(id, test.answer)
				if got := f.answered(); got != test.want {
					t.Errorf("got %q", got)
				}
				p.answer(id, test.answer) // once more is no mistake, and means nothing
				if test.want == "visited" {
					if _, done := quiet.wants("notifications/elicitation/complete"); done["elicitationId"] != params["elicitationId"] {
						t.Errorf("%v, %v", params, done)
					}
				}
				synctest.Wait()
				for quiet.pending() > 0 {
					if chunk := <-quiet.chunks; strings.Contains(chunk, `"method"`) {
						t.Errorf("on the GET stream: %s", chunk)
					}
				}
			})
		})
	}
}

func TestLegacyRefusedQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.open(1, "tools/call", toolParams("ask_both", nil))
		left, _ := f.wants("elicitation/create")
		right, _ := f.wants("elicitation/create")
		p.refuse(left, "the user is away")
		if _, params := f.wants("notifications/cancelled"); params["requestId"] != right {
			t.Errorf("withdrawn: %v", params)
		}
		if got := f.answered(); got != "the client refused: the user is away" {
			t.Errorf("got %q", got)
		}
	})
}

func TestLegacyQuestionsEndWithTheirCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.open(1, "tools/call", toolParams("ask", nil))
		id, _ := f.wants("elicitation/create")
		p.post(message(t, nil, "notifications/cancelled", object{"requestId": 1}))
		if _, params := f.wants("notifications/cancelled"); params["requestId"] != id {
			t.Errorf("withdrawn: %v", params)
		}
		if msg := f.message(); msg != nil {
			t.Errorf("a cancelled call is answered: %v", msg)
		}
		slow := p.open(2, "tools/call", toolParams("ask", nil))
		slow.wants("elicitation/create")
		began := time.Now()
		slow.wants("notifications/cancelled")
		if got := slow.answered(); got != "the client did not answer in time" || time.Since(began) != 10*time.Minute {
			t.Errorf("%q after %v", got, time.Since(began))
		}
	})
}

func TestLegacyAnswersOfAnotherSessionDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		other := join(t, p.l)
		f := p.open(1, "tools/call", toolParams("ask", nil))
		id, _ := f.wants("elicitation/create")
		if rec := other.post(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Eve"}}}`); rec.Code != 400 {
			t.Errorf("HTTP %d", rec.Code)
		}
		if rec := p.post(`{"jsonrpc":"2.0","id":"1","result":{"action":"accept","content":{"name":"Eve"}}}`); rec.Code != 400 {
			t.Errorf("an id of another type: HTTP %d", rec.Code)
		}
		p.answer(id, accept(object{"name": "Ada"}))
		if got := f.answered(); got != `accept {"name":"Ada"}` {
			t.Errorf("got %q", got)
		}
	})
}

func TestLegacyAsksOnlyWhatIsDeclared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{})
		for name, test := range map[string]struct {
			caps  object
			tools map[string]bool // whether each asks
		}{
			"nothing":  {object{}, map[string]bool{"ask": false, "visit": false, "sample": false, "roots": false, "ask_first": false}},
			"forms":    {object{"elicitation": object{}}, map[string]bool{"ask": true, "visit": false, "sample": false}},
			"URLs":     {object{"elicitation": object{"url": object{}}}, map[string]bool{"ask": false, "visit": true}},
			"sampling": {object{"sampling": object{}}, map[string]bool{"ask": false, "sample": true}},
			"roots":    {object{"roots": object{"listChanged": true}}, map[string]bool{"ask": false, "roots": true}},
		} {
			p := joinAs(t, l, newest, test.caps)
			for tool, asks := range test.tools {
				f := p.open(tool, "tools/call", toolParams(tool, nil))
				msg := f.message()
				res, _ := msg["result"].(object)
				if asks != (msg["id"] != tool) || !asks && res["isError"] != true {
					t.Errorf("%s, %s: %v", name, tool, msg)
				}
				f.hangUp()
				<-f.done
			}
		}
	})
}

// Spec 2025-11-25 basic/lifecycle: no requests before the client is ready.
func TestLegacyWaitsForTheClientToBeReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := initialize(t, newLegacy(t, demo.Options{}), newest, fullCaps)
		id := p.task("ask", nil)
		call := p.open(1, "tools/call", toolParams("ask", nil))
		result := p.open(3, "tasks/result", object{"taskId": id})
		call.event()
		result.event()
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, f := range []flow{call, result} {
			for f.pending() > 0 {
				if chunk := <-f.chunks; !strings.HasPrefix(chunk, ":") {
					t.Errorf("before it is ready: %s", chunk)
				}
			}
		}
		p.post(message(t, nil, "notifications/initialized", nil))
		call.wants("elicitation/create")
		result.wants("elicitation/create")
	})
}

// Spec 2025-11-25 client/elicitation, "URL Elicitation Required Error".
func TestLegacySignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		other := join(t, p.l)
		f := p.listen("")
		refused := func(p *peer) object {
			data := p.do("tools/call", toolParams("sign_in", nil)).fails(200, -32042)
			list, _ := data["elicitations"].([]any)
			if len(list) != 1 {
				t.Fatalf("%v", data)
			}
			page, _ := list[0].(object)
			if page["mode"] != "url" || page["url"] == "" || page["message"] == "" || page["elicitationId"] == "" {
				t.Errorf("%v", page)
			}
			return page
		}
		first := refused(p)
		if diff := cmp.Diff(first, refused(p)); diff != "" {
			t.Errorf("the second page is another: %s", diff)
		}
		if _, params := f.wants("notifications/elicitation/complete"); params["elicitationId"] != first["elicitationId"] {
			t.Errorf("%v", params)
		}
		if got := legacyText(t, p.call("sign_in", nil)); got != "signed in" {
			t.Errorf("got %q", got)
		}
		if refused(other)["elicitationId"] == first["elicitationId"] {
			t.Error("another session has the same page")
		}
	})
}
