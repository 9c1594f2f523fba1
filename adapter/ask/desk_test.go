package ask_test

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// TestSeats: those who wait for a task and are there, the newest first (A-I1).
func TestSeats(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one, two, three, deaf := newStream(), newStream(), newStream(), newStream()
	deaf.deaf = true
	order := func() (out []port.Stream) {
		for _, s := range d.Seats("t") {
			out = append(out, s.Stream)
		}
		return out
	}
	is := func(what string, want ...port.Stream) {
		t.Helper()
		got := order()
		if len(got) != len(want) {
			t.Fatalf("%s: %d seats, want %d", what, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: seat %d is another's", what, i)
			}
		}
	}
	is("nobody")
	leaveOne := d.Sit("t", alice, one)
	leaveTwo := d.Sit("t", bob, two)
	leaveOther := d.Sit("another", alice, three)
	d.Sit("t", alice, nil)()
	leaveDeaf := d.Sit("t", alice, deaf)
	is("both", two, one)
	if got := d.Seats("t")[0].Caller; got.Session != bob.Session {
		t.Errorf("caller %q", got.Session)
	}
	two.away = true
	is("one is away", one)
	two.away = false
	is("and back", two, one)
	leaveOne()
	is("one has left", two)
	leaveOne() // once more: nothing
	is("still", two)
	leaveDeaf()
	leaveTwo()
	is("all have left")
	leaveOther()
	empty(t, d)
}

// TestSeatedTwice: a session may wait twice on one stream; each leaves for itself.
func TestSeatedTwice(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := newStream()
	first, second := d.Sit("t", alice, s), d.Sit("t", alice, s)
	first()
	if n := len(d.Seats("t")); n != 1 {
		t.Errorf("%d seats, want 1", n)
	}
	second()
	empty(t, d)
}

// TestLost: when nobody reads a request any more (A-I9).
func TestLost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		own, away, gone  bool
		waiting, polling bool // lost, for a client that waits and one that polls
	}{
		{"A-I9 a stream that is read", false, false, false, false, false},
		{"A-I9 one that may be resumed", false, true, false, true, false},
		{"A-I9 one that has ended", false, true, true, true, true},
		{"Settled: a session's own stream", true, false, false, false, false},
		{"Settled: one that may be resumed", true, true, false, false, false},
		{"Settled: one that was not in time", true, true, true, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, s := newDesk(t), newStream()
			r := ask.Request{ID: "1", Session: "s", Stream: d.Place(s, tt.own)}
			s.away = tt.away
			if tt.gone {
				close(s.gone)
			}
			if got := d.Lost(t.Context(), r, true); got != tt.waiting {
				t.Errorf("lost to one that waits: %v", got)
			}
			if got := d.Lost(t.Context(), r, false); got != tt.polling {
				t.Errorf("lost to one that polls: %v", got)
			}
		})
	}
	t.Run("A-I9 one of another process, or of before", func(t *testing.T) {
		t.Parallel()
		d, other, s := newDesk(t), newDesk(t), newStream()
		r := ask.Request{ID: "1", Session: "s", Stream: other.Place(s, true)}
		if !d.Lost(t.Context(), r, false) || !d.Lost(t.Context(), ask.Request{}, true) || other.Lost(t.Context(), r, true) {
			t.Error("a stream is known where it is not, or the other way round")
		}
		if r.Stream == d.Place(s, true) || !d.Lost(t.Context(), r, false) {
			t.Error("a stream has the name of another process's")
		}
		if first, second := d.Place(s, true), d.Place(s, true); first == second {
			t.Error("two requests have one name")
		}
	})
}

// TestPlacesAreSwept: a request that nobody ever asks for does not stay for ever.
func TestPlacesAreSwept(t *testing.T) {
	t.Parallel()
	d, gone, there := newDesk(t), newStream(), newStream()
	close(gone.gone)
	kept := d.Place(there, true)
	for range 254 {
		d.Place(gone, false)
	}
	if placed, _, _ := d.Waiting(); placed != 255 {
		t.Fatalf("%d places, want 255: nothing is swept yet", placed)
	}
	d.Place(there, false)
	if placed, _, _ := d.Waiting(); placed != 2 {
		t.Errorf("%d places, want those of the stream that is there", placed)
	}
	if d.Lost(t.Context(), ask.Request{Stream: kept}, true) {
		t.Error("one that is there is swept")
	}
}

// TestWithdraw: what was seen is taken back on its stream, once.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	d, s, other := newDesk(t), newStream(), newStream()
	place := func(id string, s *stream) ask.Request {
		return ask.Request{ID: id, Session: "s", Stream: d.Place(s, false)}
	}
	one, two, unsent, answered := place("1", s), place("2", other), place("3", s), place("4", s)
	for _, r := range []ask.Request{one, two, answered} {
		if err := d.Send(r, []byte("ask "+r.ID)); err != nil {
			t.Error(err)
		}
	}
	d.Forget([]ask.Request{answered})
	all := []ask.Request{one, two, unsent, answered, {ID: "5", Stream: "another process"}}
	d.Withdraw(t.Context(), dialect{}, all)
	d.Withdraw(t.Context(), dialect{}, all)
	want(t, "stream", []string{"ask 1", "ask 4", "withdrawn 1"}, s.got())
	want(t, "other", []string{"ask 2", "withdrawn 2"}, other.got())
	empty(t, d)
	for _, r := range all {
		if err := d.Send(r, []byte("late")); err != nil {
			t.Error(err)
		}
	}
	want(t, "stream", []string{"ask 1", "ask 4", "withdrawn 1"}, s.got())
}

// TestSendTo: that a stream takes nothing any more is said.
func TestSendTo(t *testing.T) {
	t.Parallel()
	d, s := newDesk(t), newStream()
	s.broken = errors.New("ended")
	if err := d.Send(ask.Request{Stream: d.Place(s, false)}, []byte("ask")); !errors.Is(err, s.broken) {
		t.Errorf("%v, want %v", err, s.broken)
	}
}

// TestWithdrawAgainstSend: whoever comes first, a client is never left with a
// question that was withdrawn.
func TestWithdrawAgainstSend(t *testing.T) {
	t.Parallel()
	for range 200 {
		d, s := newDesk(t), newStream()
		r := ask.Request{ID: "1", Stream: d.Place(s, false)}
		var both sync.WaitGroup
		both.Go(func() { _ = d.Send(r, []byte("ask")) })
		both.Go(func() { d.Withdraw(t.Context(), dialect{}, []ask.Request{r}) })
		both.Wait()
		if got := s.got(); len(got) != 0 && (len(got) != 2 || got[1] != "withdrawn 1") {
			t.Fatalf("on the stream: %q", got)
		}
	}
}

// TestPolled: a session is asked on its own stream if it has been told an interval
// ago or longer, and has not opened tasks/result since ("Settled", Q12).
func TestPolled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		const interval = 2 * time.Second
		polled := func(task string, caller port.Caller, want bool) {
			t.Helper()
			if got := d.Polled(task, caller, interval); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
		polled("t", alice, false)
		polled("t", alice, false) // told, but just now
		time.Sleep(interval - time.Millisecond)
		polled("t", alice, false)
		polled("t", bob, false)
		time.Sleep(time.Millisecond)
		polled("t", alice, true)
		polled("t", bob, false)
		polled("another", alice, false)
		polled("t", alice, true)
		d.Sit("t", bob, newStream())()
		polled("t", alice, true) // it is another's tasks/result
		d.Sit("another", alice, newStream())()
		polled("t", alice, true) // it is another task's
		d.Sit("t", alice, newStream())()
		polled("t", alice, false)
		time.Sleep(interval)
		polled("t", alice, true)
	})
}

var uuid8 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// TestElicitationID: a UUID, the same for the same question and no other (A-I11).
func TestElicitationID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	seen := make(map[string]string)
	for _, parts := range [][]string{{"a", "b"}, {"ab"}, {"a", "", "b"}, {"a b"}, {`a"`, "b"}, {"a", `"b`}, {"b", "a"}, {}, {""}} {
		name := fmt.Sprintf("%q", parts)
		id := d.ElicitationID(parts...)
		if !uuid8.MatchString(id) {
			t.Errorf("%s: %s is no UUID", name, id)
		}
		if id != d.ElicitationID(parts...) {
			t.Errorf("%s: not the same twice", name)
		}
		if other := seen[id]; other != "" {
			t.Errorf("%s has the id of %s", name, other)
		}
		seen[id] = name
	}
	if d.ElicitationID("a") != newDesk(t).ElicitationID("a") {
		t.Error("another process has another id")
	}
}

// TestSession: the store names sessions by a hash that says nothing of them.
func TestSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if d.Session(alice) == d.Session(bob) || d.Session(alice) != d.Session(port.Caller{Session: "sa"}) || len(d.Session(alice)) != 32 {
		t.Error("a session's name is not its own")
	}
}

// TestDeliverToNobody: a response to what nobody has asked is not a plain call's.
func TestDeliverToNobody(t *testing.T) {
	t.Parallel()
	if newDesk(t).Deliver(alice, jsonrpc.Message{Kind: jsonrpc.KindResult, ID: "1", Result: "{}"}) {
		t.Error("taken")
	}
}
