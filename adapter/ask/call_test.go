package ask_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// asking is a call whose client is asked a round.
type asking struct {
	t      *testing.T
	desk   *ask.Desk
	call   *ask.Call
	stream *stream
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan asked
}

type asked struct {
	answers []port.Answer
	err     error
}

const patience = 10 * time.Minute

// plain runs f with a call of alice, in a bubble of fake time.
func plain(t *testing.T, f func(a *asking)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &asking{t: t, desk: newDesk(t), stream: newStream(), done: make(chan asked, 1)}
		a.ctx, a.cancel = context.WithCancelCause(t.Context())
		a.call = a.desk.Call(dialect{}, alice, a.stream)
		f(a)
		a.call.Close()
		empty(t, a.desk)
	})
}

func (a *asking) ask(in ...string) {
	go func() {
		answers, err := a.call.Ask(a.ctx, questions(in...), patience)
		a.done <- asked{answers, err}
	}()
	synctest.Wait()
}

// answers delivers a response of alice.
func (a *asking) answers(m jsonrpc.Message) (taken bool) {
	taken = a.desk.Deliver(alice, m)
	synctest.Wait()
	return taken
}

func (a *asking) pending() bool {
	synctest.Wait()
	return len(a.done) == 0
}

// got returns the answers of the round.
func (a *asking) got() []string {
	a.t.Helper()
	if a.pending() {
		a.t.Fatal("it waits")
	}
	r := <-a.done
	if r.err != nil {
		a.t.Errorf("refused: %v", r.err)
	}
	return told(r.answers)
}

// refused checks what the client is told of a round without answers.
func (a *asking) refused(message string) {
	a.t.Helper()
	if a.pending() {
		a.t.Fatal("it waits")
	}
	var refusal *ask.RefusalError
	if r := <-a.done; !errors.As(r.err, &refusal) || refusal.Error() != message || r.answers != nil {
		a.t.Errorf("%v with %v, want the refusal %q", r.err, r.answers, message)
	}
}

func (a *asking) want(sent ...string) {
	a.t.Helper()
	want(a.t, "on the stream", sent, a.stream.got())
}

func TestAsk(t *testing.T) {
	t.Parallel()
	t.Run("A-M2 all at once, and all answers in their order", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a", "b", "c")
			a.want("1 a", "2 b", "3 c")
			a.answers(result("3", `3`))
			a.answers(result("1", `1`))
			if !a.pending() {
				a.t.Fatal("ended in part")
			}
			a.answers(result("2", `2`))
			want(a.t, "answers", []string{"a=1", "b=2", "c=3"}, a.got())
			a.want("1 a", "2 b", "3 c")
		})
	})
	t.Run("A-M10 the next round asks anew, under the same key too", func(t *testing.T) {
		plain(t, func(a *asking) {
			for n := range 3 {
				a.ask("a")
				a.answers(result(jsonrpc.IntID(int64(n+1)), `1`))
				want(a.t, "answers", []string{"a=1"}, a.got())
			}
			a.want("1 a", "2 a", "3 a")
		})
	})
	t.Run("A-I5 the first answer wins", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a", "b")
			if !a.answers(result("1", `1`)) || a.answers(result("1", `2`)) {
				a.t.Error("taken twice, or not at all")
			}
			a.answers(result("2", `3`))
			want(a.t, "answers", []string{"a=1", "b=3"}, a.got())
		})
	})
	t.Run("A-I5 only the session that was asked can answer", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a")
			if a.desk.Deliver(bob, result("1", `2`)) || a.answers(result(`"1"`, `2`)) || a.answers(result("2", `2`)) {
				a.t.Error("taken from another")
			}
			a.answers(result("1", `1`))
			want(a.t, "answers", []string{"a=1"}, a.got())
		})
	})
	t.Run("nothing to ask is answered never", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask()
			time.Sleep(patience)
			a.refused("The client did not answer in time.")
		})
	})
}

func TestAskEnds(t *testing.T) {
	t.Parallel()
	t.Run("A-M2 after its time, and takes back what is open", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a", "b")
			a.answers(result("1", `1`))
			time.Sleep(patience - time.Millisecond)
			if !a.pending() {
				a.t.Fatal("ended too early")
			}
			time.Sleep(time.Millisecond)
			a.refused("The client did not answer in time.")
			a.want("1 a", "2 b", "withdrawn 2")
			if a.answers(result("2", `2`)) {
				a.t.Error("a late answer is taken")
			}
		})
	})
	t.Run("§1.7 with the call", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a")
			left := errors.New("cancelled by its client")
			a.cancel(left)
			if r := <-a.done; !errors.Is(r.err, left) {
				a.t.Errorf("%v, want %v", r.err, left)
			}
			a.want("1 a", "withdrawn 1")
		})
	})
	t.Run("A-M7 with the client", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a")
			a.stream.away = true
			if !a.pending() {
				a.t.Fatal("ended although the client may come back")
			}
			close(a.stream.gone)
			synctest.Wait()
			var refusal *ask.RefusalError
			if r := <-a.done; r.err == nil || errors.As(r.err, &refusal) {
				a.t.Errorf("%v, want that the client is gone", r.err)
			}
		})
	})
	t.Run("A-M7 with a stream that takes nothing any more", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.stream.broken = errors.New("ended")
			a.ask("a")
			if r := <-a.done; !errors.Is(r.err, a.stream.broken) {
				a.t.Errorf("%v, want %v", r.err, a.stream.broken)
			}
		})
	})
	t.Run("A-I3 without an id", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.stream.noID = errors.New("no store")
			a.ask("a")
			if r := <-a.done; !errors.Is(r.err, a.stream.noID) {
				a.t.Errorf("%v, want %v", r.err, a.stream.noID)
			}
			a.want()
		})
	})
}

func TestAskOneThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	t.Run("§4.11 a question that nobody can be asked is dismissed", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a=shy", "b", "c=odd")
			a.want("1 b")
			a.answers(result("1", `1`))
			want(a.t, "answers", []string{`a="dismissed"`, "b=1", `c="dismissed"`}, a.got())
		})
	})
	t.Run("§4.11 one that cannot be dismissed ends the call before anything is asked", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a", "b=shy firm")
			a.refused("The server asked for input that this client cannot be asked for.")
			a.want()
		})
	})
	t.Run("§4.11 one that turns out to be such ends it, too", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("b=odd firm")
			a.refused("The server asked for input that this client cannot be asked for.")
			a.want()
		})
	})
	t.Run("A-C1 on a stream that carries no requests", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.stream.deaf = true
			a.ask("a", "b")
			want(a.t, "answers", []string{`a="dismissed"`, `b="dismissed"`}, a.got())
			a.ask("a=firm")
			a.refused("The server asked for input that this client cannot be asked for.")
			a.want()
		})
	})
	t.Run("A-C1 without a stream", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.call = a.desk.Call(dialect{}, alice, nil)
			a.ask("a")
			want(a.t, "answers", []string{`a="dismissed"`}, a.got())
			a.ask("a=firm")
			a.refused("The server asked for input that this client cannot be asked for.")
		})
	})
	t.Run("more at once than is sensible", func(t *testing.T) {
		plain(t, func(a *asking) {
			var many []string
			for i := range 65 {
				many = append(many, fmt.Sprint("k", i))
			}
			a.ask(many...)
			a.refused("The server asked for too much input at once.")
			a.want()
			a.ask(many[:64]...)
			if n := len(a.stream.got()); n != 64 {
				a.t.Errorf("%d questions, want 64", n)
			}
			a.cancel(nil)
			<-a.done
		})
	})
}

func TestAskForWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	t.Run("§4.11 an error dismisses a question", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a", "b")
			a.answers(failure("1", "no"))
			a.answers(result("2", `null`))
			want(a.t, "answers", []string{`a="dismissed"`, `b="dismissed"`}, a.got())
			a.want("1 a", "2 b")
		})
	})
	t.Run("§4.11 or ends the call in the client's words", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a=firm", "b")
			a.answers(failure("1", "no model"))
			a.refused("no model")
			a.want("1 firm", "2 b", "withdrawn 2")
		})
	})
	t.Run("§4.11 or in ours", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a=firm")
			a.answers(result("1", `null`))
			a.refused("The client's answer is not one: null is no answer")
			a.want("1 firm")
		})
	})
	t.Run("§4.11 an error without words", func(t *testing.T) {
		plain(t, func(a *asking) {
			a.ask("a=firm")
			a.answers(failure("1", ""))
			if r := <-a.done; r.err == nil || r.err.Error() == "" {
				a.t.Errorf("refused with %v", r.err)
			}
		})
	})
}

// TestAnswerOfAnOldRound: an answer that is on its way while its round ends is not
// taken for one of the next.
func TestAnswerOfAnOldRound(t *testing.T) {
	plain(t, func(a *asking) {
		a.ask("a", "b=firm")
		// The round's end and an answer come at the same time.
		a.desk.Deliver(alice, failure("2", "no"))
		a.desk.Deliver(alice, result("1", `1`))
		a.refused("no")
		a.ask("a")
		a.answers(result("3", `3`))
		want(a.t, "answers", []string{"a=3"}, a.got())
	})
}
