package demo_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestModernTaskRunsToItsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool      string
		arguments object
		takes     time.Duration
		status    string
		message   any
		result    object
		err       object
	}{
		"work": {
			tool: "work", arguments: object{"ms": 1500}, takes: 1500 * time.Millisecond, status: "completed",
			result: object{"resultType": "complete", "content": []any{object{"type": "text", "text": "worked 1500 ms"}}},
		},
		"only_task": {
			tool: "only_task", arguments: object{"ms": 10}, takes: 10 * time.Millisecond, status: "completed",
			result: object{"resultType": "complete", "content": []any{object{"type": "text", "text": "worked 10 ms"}}},
		},
		"structured": {
			tool: "structured", takes: 200 * time.Millisecond, status: "completed",
			result: object{"resultType": "complete", "content": []any{object{"type": "text", "text": `{"n":7}`}}, "structuredContent": object{"n": 7.0}},
		},
		"a tool error completes": {
			tool: "tool_error", takes: 200 * time.Millisecond, status: "completed",
			result: object{"resultType": "complete", "content": []any{object{"type": "text", "text": "tool says no"}}, "isError": true},
		},
		"a JSON-RPC error fails": {
			tool: "fail", takes: 200 * time.Millisecond, status: "failed", message: "the database is on fire",
			err: object{"code": -31050.0, "message": "the database is on fire", "data": object{"shard": 3.0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModern(t, demo.Options{})
				began := time.Now()
				id := task(t, m, test.tool, test.arguments)
				time.Sleep(test.takes - time.Millisecond)
				before := get(t, m, id)
				if before["status"] != "working" || before["result"] != nil || before["error"] != nil || before["inputRequests"] != nil {
					t.Errorf("shortly before its end: %v", before)
				}
				time.Sleep(time.Millisecond)
				synctest.Wait()
				after := get(t, m, id)
				if after["status"] != test.status || after["statusMessage"] != test.message {
					t.Errorf("at its end: %v", after)
				}
				var result, failure object
				result, _ = after["result"].(object)
				failure, _ = after["error"].(object)
				if diff := cmp.Diff(test.result, result); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(test.err, failure); diff != "" {
					t.Error(diff)
				}
				if got := stamp(t, after, "createdAt"); !got.Equal(began) {
					t.Errorf("createdAt = %v", got)
				}
				if got := stamp(t, after, "lastUpdatedAt"); !got.Equal(began.Add(test.takes)) {
					t.Errorf("lastUpdatedAt = %v", got)
				}
				if m.Runs(test.tool) != 1 {
					t.Errorf("Runs = %d", m.Runs(test.tool))
				}
			})
		})
	}
}

func stamp(t *testing.T, task object, name string) time.Time {
	t.Helper()
	s, _ := task[name].(string)
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return at
}

func TestModernTaskIsBornAsItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{TaskTTL: time.Minute, PollInterval: 50 * time.Millisecond})
		for ms, status := range map[int]string{0: "completed", 1: "working"} {
			res := do(t, m, tool("work", object{"ms": ms}, taskCaps)).result()
			if res["resultType"] != "task" || res["status"] != status || res["ttlMs"] != 60_000.0 || res["pollIntervalMs"] != 50.0 {
				t.Errorf("work of %d ms: %v", ms, res)
			}
			if _, there := res["result"]; there {
				t.Errorf("work of %d ms has a result", ms)
			}
			id, _ := res["taskId"].(string)
			if ended := until(t, m, id, "completed"); ended["result"] == nil {
				t.Errorf("work of %d ms: %v", ms, ended)
			}
		}
	})
}

func TestModernTaskDefaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		seen := map[string]bool{}
		for range 20 {
			id := task(t, m, "work", object{"ms": 1})
			if len(id) < 26 || seen[id] { // 26 letters of base32 are 130 bits
				t.Errorf("id %q is short or not new", id)
			}
			seen[id] = true
			res := get(t, m, id)
			if res["ttlMs"] != 300_000.0 || res["pollIntervalMs"] != 200.0 || res["statusMessage"] == "" {
				t.Errorf("%v", res)
			}
			for _, k := range []string{"ttl", "pollInterval"} {
				if _, there := res[k]; there {
					t.Errorf("%s is the other era's word", k)
				}
			}
		}
	})
}

// Spec ext-tasks "Task Cancellation".
func TestModernTaskCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		id := task(t, m, "work", object{"ms": 10_000})
		time.Sleep(time.Second)
		cancel(t, m, id)
		first := get(t, m, id)
		if first["status"] != "cancelled" || first["result"] != nil {
			t.Errorf("after the cancel: %v", first)
		}
		time.Sleep(20 * time.Second) // past the time the work would have ended
		cancel(t, m, id)
		update(t, m, id, object{"name": accept(object{})})
		if diff := cmp.Diff(first, get(t, m, id)); diff != "" {
			t.Errorf("cancelled is not the end: %s", diff)
		}
	})
}

func TestModernCancelOfAnEndedTaskChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		for name, status := range map[string]string{"structured": "completed", "fail": "failed"} {
			id := task(t, m, name, nil)
			ended := until(t, m, id, status)
			time.Sleep(time.Second)
			cancel(t, m, id)
			if diff := cmp.Diff(ended, get(t, m, id)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

func TestModernCancelOfAWaitingTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		id := task(t, m, "ask", nil)
		until(t, m, id, "input_required")
		cancel(t, m, id)
		after := get(t, m, id)
		if after["status"] != "cancelled" || after["inputRequests"] != nil {
			t.Errorf("%v", after)
		}
		update(t, m, id, object{"name": accept(object{"name": "late"})})
		if diff := cmp.Diff(after, get(t, m, id)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestModernUnknownTask(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	for _, id := range []string{"nobody", ""} {
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
			do(t, m, call{method: method, params: object{"taskId": id, "inputResponses": object{}}, caps: taskCaps}).fails(200, -32602)
		}
	}
}

func TestModernTaskExpires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool      string
		arguments object
		status    string
	}{
		"while it works": {"work", object{"ms": 600_000}, "working"},
		"while it waits": {"ask", nil, "input_required"},
		"after its end":  {"structured", nil, "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModern(t, demo.Options{TaskTTL: 10 * time.Second})
				id := task(t, m, test.tool, test.arguments)
				time.Sleep(10*time.Second - time.Millisecond)
				if got := get(t, m, id)["status"]; got != test.status {
					t.Errorf("status = %v", got)
				}
				time.Sleep(time.Millisecond)
				for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
					do(t, m, call{method: method, params: object{"taskId": id, "inputResponses": object{}}, caps: taskCaps}).fails(200, -32602)
				}
			})
		})
	}
}

func TestModernLastUpdatedAtMovesOnChangeOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		id := task(t, m, "ask", nil)
		waiting := until(t, m, id, "input_required")
		time.Sleep(3 * time.Second)
		update(t, m, id, object{"unknown": accept(object{})})
		if diff := cmp.Diff(waiting, get(t, m, id)); diff != "" {
			t.Errorf("polls and unknown keys changed the task: %s", diff)
		}
		update(t, m, id, object{"name": accept(object{"name": "Ada"})})
		if got := get(t, m, id); !stamp(t, got, "lastUpdatedAt").Equal(time.Now()) || got["status"] != "working" {
			t.Errorf("an answer did not: %v", got)
		}
	})
}

func TestModernTaskQuestion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool, key string
		answer    object
		want      string
	}{
		"accepted":                 {"ask", "name", accept(object{"name": "Ada"}), `accept {"name":"Ada"}`},
		"accepted without content": {"ask", "name", object{"action": "accept"}, "accept null"},
		"declined":                 {"ask", "name", object{"action": "decline"}, "decline null"},
		"dismissed":                {"ask", "name", object{"action": "cancel"}, "cancel null"},
		"sampled": {"sample", "haiku", object{
			"role": "assistant", "model": "m", "content": object{"type": "text", "text": "an old stone arch"},
		}, "model said: an old stone arch"},
		"sampled in blocks": {"sample", "haiku", object{
			"role": "assistant", "model": "m", "stopReason": "endTurn",
			"content": []any{object{"type": "text", "text": "an old"}, object{"type": "text", "text": "stone arch"}},
		}, "model said: an old stone arch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModern(t, demo.Options{})
				id := task(t, m, test.tool, nil)
				if got := get(t, m, id)["status"]; got != "working" {
					t.Errorf("it asks too early: %v", got)
				}
				questions, _ := until(t, m, id, "input_required")["inputRequests"].(object)
				if len(questions) != 1 || questions[test.key] == nil {
					t.Errorf("inputRequests = %v", questions)
				}
				update(t, m, id, object{test.key: test.answer})
				result, _ := until(t, m, id, "completed")["result"].(object)
				if got := text(t, result); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if m.Runs(test.tool) != 1 {
					t.Errorf("Runs = %d", m.Runs(test.tool))
				}
			})
		})
	}
}

func TestModernQuestionShapes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		questions := until(t, m, task(t, m, "ask", nil), "input_required")["inputRequests"]
		want := object{"name": object{"method": "elicitation/create", "params": object{
			"mode": "form", "message": "What is your name?",
			"requestedSchema": object{
				"type":       "object",
				"properties": object{"name": object{"type": "string", "title": "What is your name?"}},
				"required":   []any{"name"},
			},
		}}}
		if diff := cmp.Diff(want, questions); diff != "" {
			t.Error(diff)
		}
		questions = until(t, m, task(t, m, "sample", nil), "input_required")["inputRequests"]
		want = object{"haiku": object{"method": "sampling/createMessage", "params": object{
			"messages":  []any{object{"role": "user", "content": object{"type": "text", "text": "A haiku about bridges, please."}}},
			"maxTokens": 50.0,
		}}}
		if diff := cmp.Diff(want, questions); diff != "" {
			t.Error(diff)
		}
	})
}

func TestModernTaskAsksTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		id := task(t, m, "ask_twice", nil)
		for i, key := range []string{"first", "second"} {
			questions, _ := until(t, m, id, "input_required")["inputRequests"].(object)
			if len(questions) != 1 || questions[key] == nil {
				t.Errorf("question %d: %v", i, questions)
			}
			// an answer to a question that is over or still to come is ignored
			update(t, m, id, object{key: accept(object{key: key}), "first": accept(object{"first": "first"}), "second": accept(object{"second": "second"})})
		}
		result, _ := until(t, m, id, "completed")["result"].(object)
		if got, want := text(t, result), `first: accept {"first":"first"}; second: accept {"second":"second"}`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Spec ext-tasks "Task Update Requests": a part of the answers is accepted.
func TestModernTaskAsksBoth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		id := task(t, m, "ask_both", nil)
		questions, _ := until(t, m, id, "input_required")["inputRequests"].(object)
		if len(questions) != 2 || questions["left"] == nil || questions["right"] == nil {
			t.Errorf("inputRequests = %v", questions)
		}
		time.Sleep(time.Second)
		update(t, m, id, object{"right": accept(object{"right": "r"})})
		half := get(t, m, id)
		questions, _ = half["inputRequests"].(object)
		if half["status"] != "input_required" || len(questions) != 1 || questions["left"] == nil {
			t.Errorf("after a part: %v", half)
		}
		if !stamp(t, half, "lastUpdatedAt").Equal(time.Now()) {
			t.Errorf("lastUpdatedAt = %v", half["lastUpdatedAt"])
		}
		update(t, m, id, object{"right": object{"action": "decline"}}) // answered already
		update(t, m, id, object{"left": object{"action": "decline"}})
		result, _ := until(t, m, id, "completed")["result"].(object)
		if got, want := text(t, result), `left: decline null; right: accept {"right":"r"}`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestModernHoldsSoManyTasksAndNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{TaskTTL: time.Minute, MaxTasks: 3})
		for range 3 {
			task(t, m, "work", object{"ms": 0})
		}
		do(t, m, tool("work", object{"ms": 0}, taskCaps)).fails(200, -32603)
		if m.Runs("work") != 3 {
			t.Errorf("Runs = %d: a refused call counts", m.Runs("work"))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		task(t, m, "work", object{"ms": 0})
	})
}

func TestModernMalformedAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		ask, sample := task(t, m, "ask_both", nil), task(t, m, "sample", nil)
		waiting := until(t, m, ask, "input_required")
		until(t, m, sample, "input_required")
		bad := func(id string, responses any) {
			t.Helper()
			do(t, m, call{method: "tasks/update", caps: taskCaps, params: object{"taskId": id, "inputResponses": responses}}).fails(200, -32602)
		}
		bad(ask, nil)
		bad(ask, "x")
		bad(ask, []any{})
		good := accept(object{"left": "l"})
		for _, answer := range []any{nil, 7, "accept", []any{}, object{}, object{"action": "maybe"}, object{"ACTION": "accept"}, object{"action": "accept", "content": "x"}} {
			bad(ask, object{"left": good, "right": answer})
		}
		for _, answer := range []any{
			accept(object{}),
			object{"role": "assistant", "model": "m"},
			object{"role": "assistant", "content": object{}},
			object{"model": "m", "content": object{}},
			object{"role": "assistant", "model": "m", "content": "text"},
			object{"role": "assistant", "model": "m", "content": []any{"text"}},
		} {
			bad(sample, object{"haiku": answer})
		}
		if diff := cmp.Diff(waiting, get(t, m, ask)); diff != "" {
			t.Errorf("refused answers changed the task: %s", diff)
		}
		do(t, m, call{method: "tasks/update", caps: taskCaps, params: object{"taskId": ask}}).fails(200, -32602)
	})
}
