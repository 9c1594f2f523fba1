package demo_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// asked checks for an input_required result and returns its keys and state.
func asked(t *testing.T, res object) (keys []string, state string) {
	t.Helper()
	questions, _ := res["inputRequests"].(object)
	state, _ = res["requestState"].(string)
	if res["resultType"] != "input_required" || len(questions) == 0 || state == "" {
		t.Fatalf("no questions: %v", res)
	}
	for k, q := range questions {
		if o, _ := q.(object); o["method"] == nil || o["params"] == nil {
			t.Errorf("question %s: %v", k, q)
		}
		keys = append(keys, k)
	}
	return keys, state
}

// retry is a call with answers and a state.
func retry(c call, responses any, state any) call {
	c.params = maps.Clone(c.params)
	c.params["inputResponses"], c.params["requestState"] = responses, state
	return c
}

// Spec 2026-07-28 patterns/mrtr: without the extension, questions come as
// rounds of the call itself.
func TestModernRoundsOfAPlainCall(t *testing.T) {
	t.Parallel()
	sampled := object{"role": "assistant", "model": "m", "content": object{"type": "text", "text": "hi"}}
	for name, test := range map[string]struct {
		tool   string
		rounds []object
		want   string
	}{
		"ask":       {"ask", []object{{"name": accept(object{"name": "Ada"})}}, `accept {"name":"Ada"}`},
		"declined":  {"ask", []object{{"name": object{"action": "decline"}}}, "decline null"},
		"ask_first": {"ask_first", []object{{"name": accept(object{"name": "Ada"})}}, "Hello, Ada"},
		"sample":    {"sample", []object{{"haiku": sampled}}, "model said: hi"},
		"ask_twice": {"ask_twice", []object{
			{"first": accept(object{"first": "1"}), "second": accept(object{"second": "too early"})}, {"second": accept(object{"second": "2"})},
		}, `first: accept {"first":"1"}; second: accept {"second":"2"}`},
		"ask_both": {"ask_both", []object{
			{"left": accept(object{"left": "l"}), "right": accept(object{"right": "r"})},
		}, `left: accept {"left":"l"}; right: accept {"right":"r"}`},
		"ask_both, one by one": {"ask_both", []object{
			{"left": accept(object{"left": "l"}), "right": 7, "other": nil}, {"right": accept(object{"right": "r"})},
		}, `left: accept {"left":"l"}; right: accept {"right":"r"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModern(t, demo.Options{})
				c := tool(test.tool, object{}, askCaps)
				res := do(t, m, c).result()
				states := map[string]bool{}
				for _, responses := range test.rounds {
					_, state := asked(t, res)
					if states[state] {
						t.Error("two rounds have the same state")
					}
					states[state] = true
					if m.Runs(test.tool) != 0 {
						t.Error("a round that asks counts as a run")
					}
					res = do(t, m, retry(c, responses, state)).result()
				}
				if got := text(t, res); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if m.Runs(test.tool) != 1 {
					t.Errorf("Runs = %d", m.Runs(test.tool))
				}
			})
		})
	}
}

// Spec ext-tasks "Task Creation": rounds come before the task.
func TestModernAskFirstMakesATaskOfTheAnswer(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"accept": "Hello, Ada", "decline": "Hello, whoever you are (decline)"} {
		synctest.Test(t, func(t *testing.T) {
			m := newModern(t, demo.Options{})
			c := tool("ask_first", object{}, allCaps)
			res := do(t, m, c).result()
			if _, there := res["taskId"]; there {
				t.Errorf("a task before the answer: %v", res)
			}
			_, state := asked(t, res)
			response := object{"action": answer}
			if answer == "accept" {
				response["content"] = object{"name": "Ada"}
			}
			res = do(t, m, retry(c, object{"name": response}, state)).result()
			for _, k := range []string{"inputRequests", "requestState"} {
				if _, there := res[k]; there {
					t.Errorf("%s in %v", k, res)
				}
			}
			id, _ := res["taskId"].(string)
			if res["resultType"] != "task" || res["status"] != "working" {
				t.Fatalf("no task: %v", res)
			}
			for {
				res = get(t, m, id)
				if res["status"] == "input_required" {
					t.Fatal("the task asks again")
				}
				if res["status"] == "completed" {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			result, _ := res["result"].(object)
			if got := text(t, result); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if m.Runs("ask_first") != 1 {
				t.Errorf("Runs = %d", m.Runs("ask_first"))
			}
		})
	}
}

func TestModernAsksAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		c := tool("ask", object{}, askCaps)
		good := object{"name": accept(object{"name": "Ada"})}
		_, state := asked(t, do(t, m, c).result())
		for name, again := range map[string]call{
			"answers without a state":    {method: c.method, caps: c.caps, params: object{"name": "ask", "arguments": object{}, "inputResponses": good}},
			"a state without answers":    {method: c.method, caps: c.caps, params: object{"name": "ask", "arguments": object{}, "requestState": state}},
			"answers to other questions": retry(c, object{"nobody": accept(object{})}, state),
			"an answer that is null":     retry(c, object{"name": nil}, state),
			"an answer that is a number": retry(c, object{"name": 7}, state),
			"an answer without action":   retry(c, object{"name": object{"content": object{}}}, state),
		} {
			if keys, _ := asked(t, do(t, m, again).result()); len(keys) != 1 || keys[0] != "name" {
				t.Errorf("%s: asked %v", name, keys)
			}
		}
		if m.Runs("ask") != 0 {
			t.Error("it ran")
		}
	})
}

// Spec 2026-07-28 patterns/mrtr: a state is attacker-controlled.
func TestModernRefusesForgedStates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, other := newModern(t, demo.Options{}), newModern(t, demo.Options{})
		c := tool("ask_first", object{"x": 1, "y": 2}, allCaps)
		good := object{"name": accept(object{"name": "Ada"})}
		_, state := asked(t, do(t, m, c).result())
		_, foreign := asked(t, do(t, other, c).result())
		refused := func(name string, c call) {
			t.Helper()
			if a := do(t, m, c); a.final["error"] == nil {
				t.Errorf("%s is accepted: %s", name, a.raw)
			} else {
				a.fails(200, -32602)
			}
		}
		refused("a state with something attached", retry(c, good, state+"-TAMPERED"))
		refused("a state cut short", retry(c, good, state[:len(state)-1]))
		refused("a state with another start", retry(c, good, "A"+state[1:]))
		refused("an empty state", retry(c, good, ""))
		refused("a state that is a number", retry(c, good, 7))
		refused("a state without a seal", retry(c, good, "e30"))
		refused("the state of another server", retry(c, good, foreign))
		refused("the state of another tool", retry(tool("ask", object{"x": 1, "y": 2}, allCaps), good, state))
		refused("the state of other arguments", retry(tool("ask_first", object{"x": 1}, allCaps), good, state))
		refused("answers that are a list", retry(c, []any{}, state))

		same := retry(c, good, state)
		same.body = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{ "y": 2, "x": 1},"name":"ask_first",` +
			`"requestState":"` + state + `","inputResponses":{"name":{"action":"decline"}},"_meta":{"` + prefix + `protocolVersion":"` + version +
			`","` + prefix + `clientCapabilities":{"elicitation":{},"extensions":{"` + extension + `":{}}}}}}`
		if res := do(t, m, same).result(); res["resultType"] != "task" {
			t.Errorf("the same arguments in another order are refused: %v", res)
		}
		time.Sleep(10*time.Minute + time.Second)
		refused("a state that is too old", retry(c, good, state))
		if m.Runs("ask_first") != 1 {
			t.Errorf("Runs = %d", m.Runs("ask_first"))
		}
	})
}

func TestModernToolsThatAskNothingIgnoreAnswers(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	c := tool("add", object{"a": 1, "b": 2}, nil)
	if got := text(t, do(t, m, retry(c, object{"x": 1}, "forged")).result()); got != "3" {
		t.Errorf("got %q", got)
	}
	do(t, m, retry(c, "x", "forged")).fails(200, -32602)
}
