package ask_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// show writes a table down: the key, the state, the answer, and "+" once the
// backend has acknowledged it, with how often it was listed since.
func show(table ask.Table) string {
	var out []string
	for _, e := range table {
		s := e.Key + " " + string(e.State)
		if e.Answer != "" {
			s += " " + e.Answer
		}
		if e.Sent && e.State == ask.Answered {
			s += fmt.Sprint(" +", e.Listed)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// play does one step to a table and writes down what came of it:
//
//	list SPACE KEY…   what it lists; "changed" and the withdrawn requests
//	ask SPACE:KEY ID  put by a request of session s
//	reply ID ANSWER   by the request's id
//	unsent SPACE      what an update carries
//	ack SPACE         that the backend has what an update carries
func play(table *ask.Table, step string) string {
	f := strings.Fields(step)
	var out []string
	switch f[0] {
	case "list":
		changed, withdrawn := table.List(f[1], questions(f[2:]...))
		if changed {
			out = append(out, "changed")
		}
		for _, r := range withdrawn {
			out = append(out, "-"+r.ID)
		}
	case "ask":
		space, key, _ := strings.Cut(f[1], ":")
		e := table.Entry(space, key)
		if e == nil {
			return "no entry"
		}
		e.State, e.Requests = ask.Asked, append(e.Requests, ask.Request{ID: f[2], Session: "s", Stream: "x"})
	case "reply":
		if e := table.Asked("s", f[1]); e != nil && e.State == ask.Asked {
			e.Reply(wire.Value(f[2]))
		} else {
			return "dropped"
		}
	case "unsent":
		out = told(table.Unsent(f[1]))
	case "ack":
		table.Acknowledge(f[1], table.Unsent(f[1]))
	}
	return strings.Join(out, " ")
}

// step is one of [play], what comes of it, and the table after it.
type step struct{ do, out, table string }

var lives = map[string][]step{
	"A-I6 a question's life": {
		{"list task a", "changed", "task:a new"},
		{"list task a", "", "task:a new"},
		{"ask task:a 1", "", "task:a asked"},
		{"list task a", "", "task:a asked"},
		{"reply 1 5", "", "task:a answered 5"},
		{"list task a", "", "task:a answered 5"},
		{"ack task", "", "task:a answered 5 +0"},
		{"list task", "changed", "task:a done"},
		{"list task", "", "task:a done"},
	},
	"A-I4 a key that is burnt is not asked again": {
		{"list task a", "changed", "task:a new"},
		{"ask task:a 1", "", "task:a asked"},
		{"reply 1 5", "", "task:a answered 5"},
		{"list task", "changed", "task:a done"},
		{"list task a", "", "task:a done"},
		{"unsent task", "", "task:a done"},
		{"reply 1 6", "dropped", "task:a done"},
	},
	"A-I6 an answer that is listed for long is sent again": {
		{"list task a", "changed", "task:a new"},
		{"ask task:a 1", "", "task:a asked"},
		{"reply 1 5", "", "task:a answered 5"},
		{"unsent task", "a=5", "task:a answered 5"},
		{"ack task", "", "task:a answered 5 +0"},
		{"unsent task", "", "task:a answered 5 +0"},
		{"list task a", "changed", "task:a answered 5 +1"},
		{"list task a", "changed", "task:a answered 5 +2"},
		{"unsent task", "", "task:a answered 5 +2"},
		{"list task a", "changed", "task:a answered 5"},
		{"unsent task", "a=5", "task:a answered 5"},
		{"ack task", "", "task:a answered 5 +0"},
		{"list task a", "changed", "task:a answered 5 +1"},
	},
	"A-I5 an update repeats what the backend goes on listing, and no more": {
		{"list task a b c", "changed", "task:a new, task:b new, task:c new"},
		{"ask task:a 1", "", "task:a asked, task:b new, task:c new"},
		{"ask task:b 2", "", "task:a asked, task:b asked, task:c new"},
		{"ask task:c 3", "", "task:a asked, task:b asked, task:c asked"},
		{"reply 1 5", "", "task:a answered 5, task:b asked, task:c asked"},
		{"ack task", "", "task:a answered 5 +0, task:b asked, task:c asked"},
		{"reply 2 6", "", "task:a answered 5 +0, task:b answered 6, task:c asked"},
		{"unsent task", "b=6", "task:a answered 5 +0, task:b answered 6, task:c asked"},
		{"ack task", "", "task:a answered 5 +0, task:b answered 6 +0, task:c asked"},
		{"list task a c", "changed", "task:a answered 5 +1, task:b done, task:c asked"},
		{"unsent task", "", "task:a answered 5 +1, task:b done, task:c asked"},
		{"reply 3 7", "", "task:a answered 5 +1, task:b done, task:c answered 7"},
		{"unsent task", "a=5 c=7", "task:a answered 5 +1, task:b done, task:c answered 7"},
	},
	"A-I8 what nobody has answered is withdrawn and forgotten": {
		{"list task a b c", "changed", "task:a new, task:b new, task:c new"},
		{"ask task:a 1", "", "task:a asked, task:b new, task:c new"},
		{"ask task:a 2", "", "task:a asked, task:b new, task:c new"},
		{"list task c", "changed -1 -2", "task:c new"},
		{"reply 1 5", "dropped", "task:c new"},
		{"list task a", "changed", "task:a new"},
	},
	"A-I8 an answer that the backend does not want any more is not sent": {
		{"list task a", "changed", "task:a new"},
		{"ask task:a 1", "", "task:a asked"},
		{"reply 1 5", "", "task:a answered 5"},
		{"list task", "changed", "task:a done"},
		{"unsent task", "", "task:a done"},
	},
	"A-M10 a key in another space is another question": {
		{"list 1 a", "changed", "1:a new"},
		{"ask 1:a 1", "", "1:a asked"},
		{"reply 1 5", "", "1:a answered 5"},
		{"list 2 a", "changed", "1:a done, 2:a new"},
		{"ask 2:a 2", "", "1:a done, 2:a asked"},
		{"reply 2 6", "", "1:a done, 2:a answered 6"},
		{"unsent 2", "a=6", "1:a done, 2:a answered 6"},
		{"unsent 1", "", "1:a done, 2:a answered 6"},
		{"list task a", "changed", "1:a done, 2:a done, task:a new"},
	},
	"A-I9 the first answer wins, whichever request it is to": {
		{"list task a", "changed", "task:a new"},
		{"ask task:a 1", "", "task:a asked"},
		{"ask task:a 2", "", "task:a asked"},
		{"reply 1 5", "", "task:a answered 5"},
		{"reply 2 6", "dropped", "task:a answered 5"},
	},
	"keys are read to their end": {
		{"list task a: a :a", "changed", "task:a: new, task:a new, task::a new"},
		{"ask task:a 1", "", "task:a: new, task:a asked, task::a new"},
		{"list tas k:a", "changed -1", "tas:k:a new"},
		{"ask tas:k:a 2", "", "tas:k:a asked"},
		{"reply 2 5", "", "tas:k:a answered 5"},
		{"unsent tas", "k:a=5", "tas:k:a answered 5"},
		{"unsent task", "", "tas:k:a answered 5"},
		{"unsent ta", "", "tas:k:a answered 5"},
	},
	"a key that is listed twice is one question": {
		{"list task a a", "changed", "task:a new"},
		{"ask task:a 1", "", "task:a asked"},
		{"reply 1 5", "", "task:a answered 5"},
		{"ack task", "", "task:a answered 5 +0"},
		{"list task a a a", "changed", "task:a answered 5 +1"},
	},
}

// TestTable: what becomes of questions, step by step.
func TestTable(t *testing.T) {
	t.Parallel()
	for name, steps := range lives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var table ask.Table
			for i, s := range steps {
				out := play(&table, s.do)
				if out != s.out || show(table) != s.table {
					t.Fatalf("step %d, %s: %q, then %q; want %q, then %q", i+1, s.do, out, show(table), s.out, s.table)
				}
			}
		})
	}
}

// TestTableAgainst: an acknowledgement is for the answer that was sent.
func TestTableAgainst(t *testing.T) {
	t.Parallel()
	var table ask.Table
	play(&table, "list task a b")
	play(&table, "ask task:a 1")
	play(&table, "reply 1 5")
	table.Acknowledge("task", []port.Answer{{Key: "a", Value: "6"}, {Key: "b", Value: "5"}, {Key: "c", Value: "5"}})
	want(t, "table", "task:a answered 5, task:b new", show(table))
	table.Acknowledge("tas", []port.Answer{{Key: "a", Value: "5"}})
	want(t, "unsent", []string{"a=5"}, told(table.Unsent("task")))
}

func TestTableAnswered(t *testing.T) {
	t.Parallel()
	var table ask.Table
	ab := questions("a", "b")
	if table.Answered("task", nil) || table.Answered("task", ab) {
		t.Error("answered before there is anything to answer")
	}
	play(&table, "list task a b")
	table.Entry("task", "a").Reply("5")
	if table.Answered("task", ab) {
		t.Error("answered in part")
	}
	table.Entry("task", "b").Reply("6")
	if !table.Answered("task", ab) || table.Answered("task", questions("a", "b", "c")) || table.Answered("1", ab) || table.Answered("task", nil) {
		t.Error("answered is not what is answered")
	}
	want(t, "answers", []string{"a=5", "b=6"}, told(table.Answers("task")))
	want(t, "answers elsewhere", nil, told(table.Answers("1")))
	play(&table, "list task b")
	want(t, "answers", []string{"b=6"}, told(table.Answers("task")))
	if !table.Answered("task", ab) {
		t.Error("what is done is answered")
	}
}

func TestTableAsked(t *testing.T) {
	t.Parallel()
	var table ask.Table
	play(&table, "list task a b")
	e := table.Entry("task", "b")
	e.Requests = []ask.Request{{ID: "1", Session: "s", Stream: "x"}, {ID: "1", Session: "s2", Stream: "y"}, {ID: "2", Session: "s", Stream: "z"}}
	if table.Asked("s", "1") != e || table.Asked("s2", "1") != e || table.Asked("s", "2") != e {
		t.Error("A-I9 every request of a question leads to it")
	}
	if table.Asked("s2", "2") != nil || table.Asked("s", "3") != nil || table.Asked("", "1") != nil || table.Asked("s", `"1"`) != nil {
		t.Error("A-I5 a response of nobody that was asked leads nowhere")
	}
	want(t, "others", []ask.Request{{ID: "1", Session: "s2", Stream: "y"}, {ID: "2", Session: "s", Stream: "z"}}, e.Others("s", "1"))
}

// TestTableLimits: a hostile backend costs a bounded amount of memory.
func TestTableLimits(t *testing.T) {
	t.Parallel()
	var table ask.Table
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	table.List("task", questions(keys...))
	if len(table) != 64 {
		t.Fatalf("%d questions are open, want 64", len(table))
	}
	if table.Answered("task", questions(keys...)) {
		t.Error("answered although some wait")
	}
	for _, e := range table[:10] {
		e.Reply("1")
	}
	if changed, _ := table.List("task", questions(keys...)); !changed || len(table) != 74 {
		t.Errorf("%d questions once 10 are answered, want 74", len(table))
	}
	want(t, "the one that waited longest", "task:k64", table[64].Key)
	for round := range 40 {
		space := fmt.Sprint(round)
		table.List(space, questions(keys[:64]...))
		for _, e := range table {
			if e.State == ask.New {
				e.Reply("1")
			}
		}
	}
	table.List("end", nil)
	if len(table) != 1024 {
		t.Errorf("%d are remembered, want 1024", len(table))
	}
	want(t, "the newest", "39:k63", table[len(table)-1].Key)
	want(t, "the oldest", "24:k0", table[0].Key)
}

// TestTableIsStoredAsItIs: what is stored comes back byte for byte (G-2).
func TestTableIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	answer := wire.Value("{\"b\":1.50,\"a\": 9007199254740993 ,\"x\":\"<&> \u2028 \\ud800 é \\u00e9\"}")
	var table ask.Table
	table.List("task", []port.Question{{Key: "k<\u2028\"\n", Request: `{"a":1}`}, {Key: "", Request: `2`}})
	play(&table, "ask task: 1")
	table[0].Reply(answer)
	table.Acknowledge("task", table.Unsent("task"))
	table.List("task", []port.Question{{Key: "k<\u2028\"\n", Request: `{"a":1}`}, {Key: "", Request: `2`}})
	raw, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	var back ask.Table
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	want(t, "table", table, back)
	want(t, "answer", string(answer), back[0].Answer)
}

// TestTableClone: copies of a record have tables of their own.
func TestTableClone(t *testing.T) {
	t.Parallel()
	var table ask.Table
	play(&table, "list task a b")
	play(&table, "ask task:a 1")
	before, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	clone := table.Clone()
	clone[0].Requests[0].ID = "9"
	clone[0].Requests = append(clone[0].Requests, ask.Request{ID: "2"})
	clone[0].Reply("5")
	play(&clone, "list task c")
	slices.Reverse(clone)
	after, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the original", string(before), string(after))
	if none := (&ask.Table{}).Clone(); len(none) != 0 {
		t.Errorf("clone of nothing: %v", none)
	}
}

// TestEntryDiffers: a backend that changes a question under its key is found out
// (A-I4).
func TestEntryDiffers(t *testing.T) {
	t.Parallel()
	var table ask.Table
	table.List("task", questions("a=one"))
	table.List("task", questions("a=two"))
	e := table.Entry("task", "a")
	if e.Differs(questions("a=one")[0]) || !e.Differs(questions("a=two")[0]) || len(table) != 1 {
		t.Error("the first one does not stand")
	}
}

// TestUnanswered: of a list, those that wait for an answer, in its order; what
// waits for room in the table is not among them.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	var table ask.Table
	keys := make([]string, 70)
	for i := range keys {
		keys[i] = fmt.Sprint("k", i)
	}
	listed := questions(keys...)
	table.List("task", listed)
	table.Entry("task", "k3").Reply(`"x"`)
	table.Entry("task", "k5").State = ask.Asked
	slices.Reverse(listed)
	var got []string
	for _, q := range table.Unanswered("task", listed) {
		got = append(got, q.Key)
	}
	want := slices.DeleteFunc(slices.Clone(keys[:64]), func(key string) bool { return key == "k3" })
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if other := table.Unanswered("1", listed); len(other) != 0 {
		t.Errorf("%d of another space", len(other))
	}
}
