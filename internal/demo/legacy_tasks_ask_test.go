package demo_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// asks reads a question of a task from a stream.
func (f flow) asks(task string) any {
	f.t.Helper()
	id, params := f.wants("elicitation/create")
	if diff := cmp.Diff(any(object{related: object{"taskId": task}}), params["_meta"]); diff != "" {
		f.t.Errorf("_meta of a question: %s", diff)
	}
	return id
}

// Spec 2025-11-25 basic/utilities/tasks, "Input Required Status".
func TestLegacyTaskAsksOnTheStreamOfItsResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		listener := p.listen("")
		id := p.task("ask_both", nil)
		time.Sleep(time.Minute) // nothing is asked while nobody waits for the result
		if got := p.get(id); got["status"] != "input_required" {
			t.Fatalf("%v", got)
		}
		wait := p.open("w", "tasks/result", object{"taskId": id})
		left, right := wait.asks(id), wait.asks(id)
		second := p.open("x", "tasks/result", object{"taskId": id})
		time.Sleep(time.Second)
		p.answer(right, accept(object{"right": "R"}))
		if got := p.get(id); got["status"] != "input_required" {
			t.Errorf("with one of two answers: %v", got)
		}
		p.answer(left, accept(object{"left": "L"}))
		want := `left: accept {"left":"L"}; right: accept {"right":"R"}`
		for _, f := range []flow{wait, second} {
			if got := f.answered(); got != want {
				t.Errorf("got %q", got)
			}
		}
		for _, status := range []string{"input_required", "working", "completed"} {
			if _, note := listener.wants("notifications/tasks/status"); note["status"] != status || note["_meta"] != nil {
				t.Errorf("notified: %v, want %s", note, status)
			}
		}
	})
}

func TestLegacyTaskQuestionRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		for name, test := range map[string]struct {
			reply func(id any)
			want  string
		}{
			"an error":  {func(id any) { p.refuse(id, "no") }, "the client refused: no"},
			"nonsense":  {func(id any) { p.answer(id, object{"action": "shrug"}) }, "the client's answer is not one to elicitation/create"},
			"a decline": {func(id any) { p.answer(id, object{"action": "decline"}) }, "left: decline null; right: decline null"},
		} {
			id := p.task("ask_both", nil)
			wait := p.open(name, "tasks/result", object{"taskId": id})
			left, right := wait.asks(id), wait.asks(id)
			test.reply(left)
			if name == "a decline" {
				test.reply(right)
			} else if _, params := wait.wants("notifications/cancelled"); params["requestId"] != right {
				t.Errorf("%s: withdrawn: %v", name, params)
			}
			if got := wait.answered(); got != test.want {
				t.Errorf("%s: got %q", name, got)
			}
			if got := p.get(id)["status"]; (got == "failed") != (name != "a decline") {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}

// A client that waited, asked and cancelled its wait has the question still.
func TestLegacyTaskAsksOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		id := p.task("ask", nil)
		first := p.open("a", "tasks/result", object{"taskId": id})
		asked := first.asks(id)
		p.post(message(t, nil, "notifications/cancelled", object{"requestId": "a"}))
		<-first.done
		second := p.open("b", "tasks/result", object{"taskId": id})
		time.Sleep(time.Second)
		p.answer(asked, accept(object{"name": "Ada"}))
		if got := second.answered(); got != `accept {"name":"Ada"}` {
			t.Errorf("got %q", got)
		}
	})
}

// Answers that come at the same time: neither question is asked again meanwhile.
func TestLegacyTaskAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		for range 500 {
			id := p.task("ask_both", nil)
			wait := p.open(id, "tasks/result", object{"taskId": id})
			left, right := wait.asks(id), wait.asks(id)
			var both sync.WaitGroup
			both.Go(func() { p.answer(left, accept(object{"left": "l"})) })
			both.Go(func() { p.answer(right, accept(object{"right": "r"})) })
			both.Wait()
			if got := wait.answered(); got != `left: accept {"left":"l"}; right: accept {"right":"r"}` {
				t.Fatalf("got %q", got)
			}
		}
	})
}

// A client that lost its connection may have lost the question with it.
func TestLegacyTaskAsksAgainAfterALoss(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"the new request is answered": false, "the old one is": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := join(t, newLegacy(t, demo.Options{}))
				id := p.task("ask", nil)
				first := p.open("a", "tasks/result", object{"taskId": id})
				prime := first.event()
				lost := first.asks(id)
				second := p.open("b", "tasks/result", object{"taskId": id})
				second.event()
				synctest.Wait()
				first.hangUp()
				<-first.done
				again := second.asks(id)
				if again == lost {
					t.Fatal("the id was used twice")
				}
				if late {
					p.answer(lost, accept(object{"name": "Ada"}))
					if _, params := second.wants("notifications/cancelled"); params["requestId"] != again {
						t.Errorf("withdrawn: %v", params)
					}
				} else {
					p.answer(again, accept(object{"name": "Ada"}))
				}
				if got := second.answered(); got != `accept {"name":"Ada"}` {
					t.Errorf("got %q", got)
				}
				back := p.listen(prime.id)
				if got := back.asks(id); got != lost {
					t.Errorf("replayed: %v", got)
				}
				if !late {
					if _, params := back.wants("notifications/cancelled"); params["requestId"] != lost {
						t.Errorf("withdrawn: %v", params)
					}
				}
				if got := back.answered(); got != `accept {"name":"Ada"}` {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// A question that comes up while the client is away waits for it.
func TestLegacyTaskAsksWhenTheClientIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		id := p.task("ask_twice", nil)
		f := p.open("a", "tasks/result", object{"taskId": id})
		prime := f.event()
		first := f.asks(id)
		f.hangUp()
		<-f.done
		p.answer(first, accept(object{"first": "one"}))
		time.Sleep(time.Minute)
		back := p.listen(prime.id)
		if got := back.asks(id); got != first {
			t.Errorf("replayed: %v", got)
		}
		p.answer(back.asks(id), accept(object{"second": "two"}))
		if got := back.answered(); got != `first: accept {"first":"one"}; second: accept {"second":"two"}` {
			t.Errorf("got %q", got)
		}
	})
}

// A client that only polls is asked on its GET stream, once it has had the time
// to ask for the result.
func TestLegacyTaskAsksAPollerOnItsGETStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{PollInterval: time.Second}))
		f := p.listen("")
		id := p.task("ask", nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		p.get(id)
		time.Sleep(999 * time.Millisecond)
		p.get(id)
		synctest.Wait()
		for f.pending() > 0 {
			if chunk := <-f.chunks; strings.Contains(chunk, "elicitation") {
				t.Fatalf("too early: %s", chunk)
			}
		}
		time.Sleep(time.Millisecond)
		p.get(id)
		p.get(id)
		asked := f.asks(id)
		wait := p.open("w", "tasks/result", object{"taskId": id})
		time.Sleep(time.Second)
		p.answer(asked, accept(object{"name": "Ada"}))
		if got := wait.answered(); got != `accept {"name":"Ada"}` {
			t.Errorf("got %q", got)
		}
	})
}

// ask_first asks on the stream of the call that is to make a task.
func TestLegacyTaskAskedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		for name, reply := range map[string]func(any){
			"Hello, Ada":            func(id any) { p.answer(id, accept(object{"name": "Ada"})) },
			"the client refused: x": func(id any) { p.refuse(id, "x") },
		} {
			f := p.open(name, "tools/call", taskParams("ask_first", nil, object{}))
			asked, params := f.wants("elicitation/create")
			if params["_meta"] != nil {
				t.Errorf("there is no task yet: %v", params)
			}
			reply(asked)
			res, _ := f.message()["result"].(object)
			task, _ := res["task"].(object)
			if task["status"] != "working" {
				t.Fatalf("%v", res)
			}
			if got := legacyText(t, p.ok("tasks/result", object{"taskId": task["taskId"]})); got != name {
				t.Errorf("got %q", got)
			}
		}
	})
}
