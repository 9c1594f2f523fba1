package ask_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// list is a poll of a task that is driven behind a plain call.
func (a *asking) list(in ...string) {
	a.t.Helper()
	if err := a.call.List(a.ctx, questions(in...)); err != nil {
		a.t.Errorf("List: %v", err)
	}
}

// take passes on what the client has answered.
func (a *asking) take() error {
	for {
		select {
		case r := <-a.call.Responses():
			if err := a.call.Take(r); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (a *asking) taken() {
	a.t.Helper()
	if err := a.take(); err != nil {
		a.t.Errorf("Take: %v", err)
	}
}

func (a *asking) unsent(told_ ...string) []port.Answer {
	a.t.Helper()
	answers := a.call.Unsent()
	want(a.t, "unsent", told_, told(answers))
	return answers
}

// TestDriven: the questions of a driven task, from poll to poll (A-T12).
func TestDriven(t *testing.T) {
	t.Parallel()
	t.Run("A-I4 asked once, answered once", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.list("a")
			a.list("a")
			a.want("1 a")
			a.unsent()
			a.answers(result("1", `1`))
			a.taken()
			a.call.Acknowledge(a.unsent("a=1"))
			a.unsent()
			a.list("a", "b") // A-I10
			a.want("1 a", "2 b")
			a.answers(result("2", `2`))
			a.taken()
			a.call.Acknowledge(a.unsent("a=1", "b=2"))
			a.list()
			a.unsent()
			a.want("1 a", "2 b")
		})
	})
	t.Run("A-I6 told again if it does not stick", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.list("a")
			a.answers(result("1", `1`))
			a.taken()
			a.call.Acknowledge(a.unsent("a=1"))
			a.list("a")
			a.list("a")
			a.unsent()
			a.list("a")
			a.unsent("a=1")
			a.want("1 a")
		})
	})
	t.Run("A-I8 withdrawn when its key goes", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.list("a", "b")
			a.answers(result("1", `1`)) // on its way while the key goes
			a.list("b")
			a.taken()
			a.unsent()
			if a.answers(result("1", `1`)) {
				a.t.Error("a late answer is taken")
			}
			a.list()
			a.want("1 a", "2 b", "withdrawn 1", "withdrawn 2")
		})
	})
	t.Run("§4.11 dismissed, or refused", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.list("a=shy")
			a.call.Acknowledge(a.unsent(`a="dismissed"`))
			if err := a.call.List(a.ctx, questions("c", "b=shy firm")); err == nil {
				a.t.Error("no refusal")
			}
			a.want()
		})
	})
	t.Run("§4.11 an error ends it", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.list("a=firm", "b")
			a.answers(failure("1", "no"))
			if err := a.take(); err == nil || err.Error() != "no" {
				a.t.Errorf("%v, want the client's words", err)
			}
			a.call.Close()
			a.want("1 firm", "2 b", "withdrawn 2")
		})
	})
}

// TestDrivenAnswersPileUp: however many answers come between two polls, none blocks
// whoever delivers it.
func TestDrivenAnswersPileUp(t *testing.T) {
	plain(t, func(a *asking) {
		id := int64(0)
		for round := range 2 {
			var keys []string
			for i := range 64 {
				keys = append(keys, fmt.Sprintf("%d-%d", round, i))
			}
			a.list(keys...)
			for range keys {
				id++
				done := false
				go func() {
					done = a.desk.Deliver(alice, result(jsonrpc.IntID(id), `1`))
				}()
				synctest.Wait()
				if !done {
					a.t.Fatalf("answer %d is not taken, or blocks", id)
				}
			}
		}
		a.taken()
		if n := len(a.call.Unsent()); n != 64 {
			a.t.Errorf("%d answers to tell, want those of the second poll", n)
		}
	})
}

// TestCallsApart: calls that ask at the same time, under the same id, do not mix.
func TestCallsApart(t *testing.T) {
	plain(t, func(a *asking) {
		other := newStream()
		second := a.desk.Call(dialect{}, bob, other)
		a.list("a")
		if err := second.List(a.ctx, questions("a")); err != nil {
			a.t.Error(err)
		}
		a.want("1 a")
		want(a.t, "on the other stream", []string{"1 a"}, other.got())
		a.desk.Deliver(bob, result("1", `2`))
		a.desk.Deliver(alice, result("1", `1`))
		a.taken()
		a.unsent("a=1")
		if err := second.Take(<-second.Responses()); err != nil {
			a.t.Error(err)
		}
		want(a.t, "unsent", []string{"a=2"}, told(second.Unsent()))
		second.Close()
	})
}

// TestURLsApart: every question that leads to a URL has an id of its own (A-I11),
// also the first of two sessions.
func TestURLsApart(t *testing.T) {
	plain(t, func(a *asking) {
		other := newStream()
		second := a.desk.Call(dialect{}, bob, other)
		a.list("a=url", "b=url")
		if err := second.List(a.ctx, questions("a=url")); err != nil {
			a.t.Error(err)
		}
		seen := make(map[string]bool)
		for _, id := range append(a.stream.got(), other.got()...) {
			if !uuid8.MatchString(id) || seen[id] {
				a.t.Errorf("elicitation %q is no UUID, or another's", id)
			}
			seen[id] = true
		}
		if len(seen) != 3 {
			a.t.Errorf("%d elicitations, want 3", len(seen))
		}
		second.Close()
	})
}
