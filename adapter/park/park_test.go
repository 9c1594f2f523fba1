package park_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var times = park.Times{Window: 50 * time.Millisecond, Park: 10 * time.Minute, Keep: time.Minute}

var alice = park.Binding{Backend: "quarry", Owner: "alice", Digest: "d1"}

// world is a lot, and a backend that notes what it is told.
type world struct {
	*testing.T
	lot *park.Lot

	mu   sync.Mutex
	told []string
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

func (w *world) want(told ...string) {
	w.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.told, told) {
		w.Errorf("the backend was told %q, want %q", w.told, told)
	}
	w.told = nil
}

func bubble(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, lot: park.NewLot(env.System(), keys, "process", times)}
		test(w)
		if err := w.lot.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func (w *world) begin() *park.Call {
	w.Helper()
	c, err := w.lot.Begin(alice, func(context.Context) { w.note("abandoned") })
	if err != nil {
		w.Fatal(err)
	}
	return c
}

var errNoAnswer = errors.New("not an answer")

// question is one whose answer is what the backend is told; "bad" is none.
func (w *world) question(name string) park.Question {
	return park.Question{
		Kind: "elicit", Request: wire.Value(`"` + name + `"`),
		Answer: func(_ context.Context, _ string, answer wire.Value) error {
			if answer == `"bad"` {
				return errNoAnswer
			}
			w.note("%s: %s", name, answer)
			return nil
		},
		Refuse: func(context.Context) { w.note("%s: refused", name) },
	}
}

func (w *world) ask(c *park.Call, name string) {
	w.Helper()
	if _, ok := c.Ask(w.question(name)); !ok {
		w.Errorf("%s could not be asked", name)
	}
}

// next returns what a client is told: the keys and the state, or the outcome.
func (w *world) next(c *park.Call) (keys []string, turn park.Turn) {
	w.Helper()
	turn, err := c.Next(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range turn.Entries {
		keys = append(keys, e.Key+" "+string(e.Request))
	}
	return keys, turn
}

func (w *world) wantAsked(c *park.Call, want ...string) park.Turn {
	w.Helper()
	keys, turn := w.next(c)
	if !slices.Equal(keys, want) || turn.State == "" {
		w.Errorf("asked %q with state %q, want %q", keys, turn.State, want)
	}
	return turn
}

func (w *world) wantResult(c *park.Call, want wire.Value) {
	w.Helper()
	if keys, turn := w.next(c); turn.Outcome.Result != want || len(keys) > 0 {
		w.Errorf("told %q %+v, want %s", keys, turn.Outcome, want)
	}
}

// resume comes back with a state and answers.
func (w *world) resume(state string, answers ...port.Answer) *park.Call {
	w.Helper()
	c, round, err := w.lot.Resume(state, alice)
	if err != nil {
		w.Fatal(err)
	}
	if err := c.Answer(w.Context(), round, answers); err != nil {
		w.Fatal(err)
	}
	return c
}

func answer(key, value string) port.Answer {
	return port.Answer{Key: key, Value: wire.Value(`"` + value + `"`)}
}

func TestRounds(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		go func() {
			time.Sleep(time.Second)
			w.ask(c, "a")
			time.Sleep(30 * time.Millisecond)
			w.ask(c, "b")
			time.Sleep(30 * time.Millisecond)
			w.ask(c, "late")
		}()
		start := time.Now()
		first := w.wantAsked(c, `elicit-1 "a"`, `elicit-2 "b"`)
		if took := time.Since(start); took != time.Second+times.Window {
			w.Errorf("B-P1: the window was %v long", took-time.Second)
		}
		time.Sleep(time.Second)
		c = w.resume(first.State, answer("elicit-2", "B"), answer("unknown", "x"))
		w.want(`b: "B"`)
		second := w.wantAsked(c, `elicit-1 "a"`, `elicit-3 "late"`)
		if second.State == first.State {
			w.Error("B-P3: two rounds have one state")
		}
		c = w.resume(second.State, answer("elicit-1", "A"), answer("elicit-3", "L"))
		w.want(`a: "A"`, `late: "L"`)
		go func() {
			time.Sleep(time.Hour)
			c.End(port.Outcome{Result: `{"done":1}`})
			c.End(port.Outcome{Result: `{"done":2}`})
		}()
		w.wantResult(c, `{"done":1}`)
		if _, ok := c.Ask(w.question("x")); ok {
			w.Error("a call that is over asks")
		}
	})
}

func TestRepeated(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		first := w.wantAsked(c, `elicit-1 "a"`)
		again := w.wantAsked(w.resume(first.State), `elicit-1 "a"`)
		w.resume(again.State, answer("elicit-1", "A"))
		w.want(`a: "A"`)
		w.ask(c, "b")
		second := w.wantAsked(c, `elicit-2 "b"`)
		// B-P4: an older round attaches, answers nothing and gets the present one.
		old := w.wantAsked(w.resume(first.State, answer("elicit-1", "X"), answer("elicit-2", "X")), `elicit-2 "b"`)
		w.want()
		w.resume(old.State, answer("elicit-2", "B"))
		w.want(`b: "B"`)
		w.resume(second.State, answer("elicit-2", "Y"))
		w.want()
		c.End(port.Outcome{Result: `{}`})
		time.Sleep(times.Keep - time.Second)
		w.wantResult(w.resume(first.State), `{}`)
		time.Sleep(2 * time.Second)
		if _, _, err := w.lot.Resume(first.State, alice); !errors.Is(err, park.ErrState) {
			w.Errorf("B-P4: after the time: %v", err)
		}
		w.want()
	})
}

func TestStates(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		turn := w.wantAsked(c, `elicit-1 "a"`)
		for name, b := range map[string]park.Binding{
			"another caller":  {Backend: "quarry", Owner: "bob", Digest: "d1"},
			"another request": {Backend: "quarry", Owner: "alice", Digest: "d2"},
			"another route":   {Backend: "basalt", Owner: "alice", Digest: "d1"},
		} {
			if _, _, err := w.lot.Resume(turn.State, b); !errors.Is(err, park.ErrState) {
				w.Errorf("B-P2 %s: %v", name, err)
			}
		}
		for _, state := range []string{"", "x", turn.State + "x", strings.ToUpper(turn.State)} {
			if _, _, err := w.lot.Resume(state, alice); !errors.Is(err, park.ErrState) {
				w.Errorf("B-P2 %q: %v", state, err)
			}
		}
		w.want()
	})
}

// TestStateExpires: a state has its time, even while its call has more (B-P2).
func TestStateExpires(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		first := w.wantAsked(c, `elicit-1 "a"`)
		c = w.resume(first.State, answer("elicit-1", "A"))
		go func() {
			time.Sleep(times.Park)
			if _, _, err := w.lot.Resume(first.State, alice); err != nil {
				w.Errorf("B-P2 in time: %v", err)
			}
			time.Sleep(time.Second)
			if _, _, err := w.lot.Resume(first.State, alice); !errors.Is(err, park.ErrState) {
				w.Errorf("B-P2 expired: %v", err)
			}
			c.End(port.Outcome{Result: `{}`})
		}()
		w.wantResult(c, `{}`)
		w.want(`a: "A"`)
	})
}

func TestAway(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		turn := w.wantAsked(c, `elicit-1 "a"`)
		time.Sleep(times.Park - time.Second)
		w.want()
		w.wantAsked(w.resume(turn.State), `elicit-1 "a"`) // the time begins anew
		time.Sleep(times.Park - time.Second)
		w.want()
		time.Sleep(2 * time.Second)
		w.want("a: refused", "abandoned")
		if _, _, err := w.lot.Resume(turn.State, alice); !errors.Is(err, park.ErrState) {
			w.Errorf("B-P5: %v", err)
		}
	})
}

func TestLeft(t *testing.T) {
	bubble(t, func(w *world) {
		never := w.begin()
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := never.Next(ctx); err == nil {
			w.Error("a client that left was told something")
		}
		w.want("abandoned")
		c := w.begin()
		w.ask(c, "a")
		turn := w.wantAsked(c, `elicit-1 "a"`)
		w.resume(turn.State, answer("elicit-1", "A"))
		ctx, cancel = context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := c.Next(ctx); err == nil {
			w.Error("a client that left was told something")
		}
		w.want(`a: "A"`) // it may come back
		c.End(port.Outcome{Result: `{}`})
		w.wantResult(w.resume(turn.State), `{}`)
	})
}

func TestNoAnswer(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		w.ask(c, "b")
		turn := w.wantAsked(c, `elicit-1 "a"`, `elicit-2 "b"`)
		back, round, err := w.lot.Resume(turn.State, alice)
		if err != nil {
			w.Fatal(err)
		}
		if err := back.Answer(w.Context(), round, []port.Answer{answer("elicit-1", "bad"), answer("elicit-2", "B")}); !errors.Is(err, errNoAnswer) {
			w.Errorf("an answer that is none: %v", err)
		}
		w.want()
		turn = w.wantAsked(c, `elicit-2 "b"`, `elicit-1 "a"`)
		c.Withdraw("elicit-1")
		w.wantAsked(w.resume(turn.State), `elicit-2 "b"`)
	})
}

func TestClose(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		turn := w.wantAsked(c, `elicit-1 "a"`)
		waiting := w.begin()
		done := make(chan error, 1)
		go func() {
			_, err := waiting.Next(w.Context())
			done <- err
		}()
		synctest.Wait()
		if err := w.lot.Close(w.Context()); err != nil {
			w.Fatal(err)
		}
		if err := <-done; err == nil {
			w.Error("a wait outlived the lot")
		}
		synctest.Wait()
		if _, _, err := w.lot.Resume(turn.State, alice); !errors.Is(err, park.ErrState) {
			w.Errorf("after the end: %v", err)
		}
		late := w.begin()
		w.ask(late, "b")
		if _, err := late.Next(w.Context()); err == nil {
			w.Error("a call was parked after the end")
		}
	})
}

// TestFull: a call whose question cannot be shown, because too many are parked, is
// given up: nobody could ever answer.
func TestFull(t *testing.T) {
	bubble(t, func(w *world) {
		const most = 10000
		for range most {
			c := w.begin()
			c.Ask(park.Question{Kind: "elicit", Refuse: func(context.Context) {}})
			if _, err := c.Next(w.Context()); err != nil {
				w.Fatal(err)
			}
		}
		c := w.begin()
		w.ask(c, "a")
		if _, err := c.Next(w.Context()); err == nil {
			w.Error("one call too many was parked")
		}
		w.want("a: refused", "abandoned")
		if err := w.lot.Close(w.Context()); err != nil {
			w.Fatal(err)
		}
		w.told = nil
	})
}

// TestQuestionsBounded: what a backend asks at a time is bounded, in number and in
// size.
func TestQuestionsBounded(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		asked := 0
		for range 1000 {
			if _, ok := c.Ask(w.question("a")); ok {
				asked++
			}
		}
		if asked != 64 {
			w.Errorf("%d questions are open", asked)
		}
		c, asked = w.begin(), 0
		for range 30 {
			if _, ok := c.Ask(w.question(strings.Repeat("x", 1<<20))); ok {
				asked++
			}
		}
		if asked != 7 {
			w.Errorf("%d questions of a MiB are open", asked)
		}
		c.Withdraw("elicit-1")
		w.ask(c, strings.Repeat("x", 1<<20))
		// One that is too large by itself is asked all the same.
		w.ask(w.begin(), strings.Repeat("x", 20<<20))
	})
}

// TestShown: a question that comes while others are answered waits for its own
// window, and is not taken for one that was shown.
func TestShown(t *testing.T) {
	bubble(t, func(w *world) {
		c := w.begin()
		w.ask(c, "a")
		turn := w.wantAsked(c, `elicit-1 "a"`)
		w.ask(c, "b")
		w.resume(turn.State, answer("elicit-1", "A"))
		w.want(`a: "A"`)
		if moved := c.Transfer(); !slices.Equal(moved, []string{"elicit-2"}) {
			w.Errorf("moved %q, want the question that nobody was shown", moved)
		}
	})
}

// TestCloseInTime: a backend that takes no last word holds up nobody: calls are given
// up at the same time, and not beyond the time there is (B-P5).
func TestCloseInTime(t *testing.T) {
	bubble(t, func(w *world) {
		deaf := w.question("deaf")
		deaf.Refuse = func(context.Context) { time.Sleep(10 * time.Second) }
		for range 20 {
			c := w.begin()
			if _, ok := c.Ask(deaf); !ok {
				w.Fatal("not asked")
			}
			w.wantAsked(c, `elicit-1 "deaf"`)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
		defer cancel()
		if err := w.lot.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			w.Errorf("closed with %v after %v", err, time.Since(start))
		}
		if err := w.lot.Close(w.Context()); err != nil || time.Since(start) != 10*time.Second {
			w.Errorf("all is over with %v after %v", err, time.Since(start))
		}
	})
}

// TestCloseMeetsTime: a call that is being given up because its client stayed away is
// waited for, too.
func TestCloseMeetsTime(t *testing.T) {
	bubble(t, func(w *world) {
		deaf, over := w.question("deaf"), false
		deaf.Refuse = func(context.Context) { time.Sleep(10 * time.Second); over = true }
		c := w.begin()
		if _, ok := c.Ask(deaf); !ok {
			w.Fatal("not asked")
		}
		w.wantAsked(c, `elicit-1 "deaf"`)
		time.Sleep(times.Park + time.Second)
		if err := w.lot.Close(w.Context()); err != nil || !over {
			w.Errorf("closed with %v before the backend was told", err)
		}
	})
}
