package conversation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var (
	epoch  = time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	macros = map[string]wire.Value{"@UM": `{"v":1,"c":{"x":2}}`}
)

func newMatcher() *conversation.Matcher {
	now := epoch
	return conversation.NewMatcher(macros, func() time.Time {
		now = now.Add(time.Second)
		return now
	})
}

const down, up = conversation.BridgeToClient, conversation.BridgeToUpstream

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		leg       conversation.Leg
		want, got wire.Value
		diffs     []string
	}{
		{"G-4 the same", down, `{"id":1,"result":{"a":[1,{"b":null}]}}`, `{ "result": {"a":[1, {"b":null}]}, "id":1}`, nil},
		{"a value", down, `{"result":{"tasks":[{"status":"working"}]}}`, `{"result":{"tasks":[{"status":"failed"}]}}`, []string{`result.tasks[0].status: want "working", got "failed"`}},
		{"a kind", down, `{"a":{}}`, `{"a":[]}`, []string{`a: want {}, got []`}},
		{"not an object at all", down, `{}`, `[]`, []string{`message: want {}, got []`}},
		{"G-4 a member too many", down, `{"a":1}`, `{"a":1,"b":2}`, []string{`b: want nothing, got 2`}},
		{"a member too few", down, `{"a":1,"b":2}`, `{"a":1}`, []string{`b: want 2, got nothing`}},
		{"an element too many", down, `{"a":[1]}`, `{"a":[1,2]}`, []string{`a[1]: want nothing, got 2`}},
		{"an element too few", down, `{"a":[1,2]}`, `{"a":[1]}`, []string{`a[1]: want 2, got nothing`}},
		{"several places", down, `{"a":1,"b":2}`, `{"a":2,"b":3}`, []string{`a: want 1, got 2`, `b: want 2, got 3`}},

		{"G-2 digits", down, `{"a":1e-07,"b":1.0,"c":12345678901234567890}`, `{"a":1e-7,"b":1,"c":12345678901234567000}`, []string{`a: want 1e-07, got 1e-7`, `b: want 1.0, got 1`, `c: want 12345678901234567890, got 12345678901234567000`}},
		{"G-2 the spelling of a string", down, `{"a":"\u0041"}`, `{"a":"A"}`, []string{`a: want "\u0041", got "A"`}},
		{"G-2 the spelling of a name", down, `{"\u0041":1}`, `{"A":1}`, []string{`A: want 1, got nothing`, `A: want nothing, got 1`}},
		{"G-2 the type of an id", down, `{"id":1}`, `{"id":"1"}`, []string{`id: want 1, got "1"`}},
		{"G-2 a name twice", down, `{"arguments":{"x":1,"x":2}}`, `{"arguments":{"x":1,"x":2}}`, nil},
		{"G-2 a name once", down, `{"arguments":{"x":1,"x":2}}`, `{"arguments":{"x":1}}`, []string{`arguments.x: want 2, got nothing`}},
		{"G-2 the order of user data", down, `{"structuredContent":{"b":1,"a":{"d":1,"c":1}}}`, `{"structuredContent":{"b":1,"a":{"c":1,"d":1}}}`, []string{`structuredContent.a: want members in this order: {"d":1,"c":1}, got {"c":1,"d":1}`}},
		{"G-2 the order of vendor data", down, `{"_meta":{"com.acme/x":{"b":1,"a":1},"z":1}}`, `{"_meta":{"z":1,"com.acme/x":{"a":1,"b":1}}}`, []string{`_meta.com.acme/x: want members in this order: {"b":1,"a":1}, got {"a":1,"b":1}`}},
		{"the order of the rest", down, `{"_meta":{"io.modelcontextprotocol/x":{"b":1,"a":1}}}`, `{"_meta":{"io.modelcontextprotocol/x":{"a":1,"b":1}}}`, nil},

		{"G-7 wildcards", down, `{"a":"<text>","b":"<int>","c":"<now>","d":"<uuid>","e":"<cursor>","f":"<cancel time>"}`, `{"a":"x","b":-7,"c":"2026-09-14T08:00:01Z","d":"01234567-89ab-cdef-0123-456789abcdef","e":"c","f":"2026-09-14T08:00:01.5Z"}`, nil},
		{"G-7 no text", down, `{"a":"<text>"}`, `{"a":""}`, []string{`a: want <text> (a string that is not empty), got ""`}},
		{"text of another kind", down, `{"a":"<cursor>"}`, `{"a":1}`, []string{`a: want <cursor> (a string that is not empty), got 1`}},
		{"G-16 no integer", down, `{"a":"<int>"}`, `{"a":1.0}`, []string{`a: want <int> (an integer literal), got 1.0`}},
		{"no time", down, `{"a":"<now>"}`, `{"a":"now"}`, []string{`a: want <now> (a time in RFC 3339, UTC), got "now"`}},
		{"a time elsewhere", down, `{"a":"<now>"}`, `{"a":"2026-09-14T10:00:01+02:00"}`, []string{`a: want <now> (a time in RFC 3339, UTC), got "2026-09-14T10:00:01+02:00"`}},
		{"a time before", down, `{"a":"<now>"}`, `{"a":"2026-09-14T07:59:59Z"}`, []string{`a: want <now> (a time within this conversation), got "2026-09-14T07:59:59Z"`}},
		{"a time to come", down, `{"a":"<now>"}`, `{"a":"2026-09-14T09:00:00Z"}`, []string{`a: want <now> (a time within this conversation), got "2026-09-14T09:00:00Z"`}},
		{"no UUID", down, `{"a":"<uuid>"}`, `{"a":"0123"}`, []string{`a: want <uuid> (a UUID), got "0123"`}},

		{"a macro", up, `{"params":{"_meta":"@UM"}}`, `{"params":{"_meta":{"c":{"x":2},"v":1}}}`, nil},
		{"a macro that differs", up, `{"params":{"_meta":"@UM"}}`, `{"params":{"_meta":{"c":{"x":3},"v":1}}}`, []string{`params._meta.c.x: want 2, got 3`}},
		{"a macro spread", up, `{"params":{"_meta":{"...":"@UM","z":"@"}}}`, `{"params":{"_meta":{"c":{"x":2},"v":1,"z":"@"}}}`, nil},
		{"no macro elsewhere", up, `{"params":{"a":"@UM"}}`, `{"params":{"a":"@UM"}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			diffs, err := newMatcher().Match(tt.leg, tt.want, tt.got)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range diffs {
				got = append(got, d.String())
			}
			if d := cmp.Diff(tt.diffs, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			if agrees := newMatcher().Agrees(tt.leg, tt.want, tt.got); agrees != (len(tt.diffs) == 0) {
				t.Errorf("Agrees: %v", agrees)
			}
		})
	}
}

func TestMatchUnknownMacro(t *testing.T) {
	t.Parallel()
	m := newMatcher()
	for _, want := range []wire.Value{`{"_meta":"@NO"}`, `{"_meta":{"...":"@NO"}}`} {
		if _, err := m.Match(up, want, `{"_meta":{}}`); err == nil || m.Agrees(up, want, `{"_meta":{}}`) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// bindingStep is one of several messages that are compared one after the other.
type bindingStep struct {
	leg       conversation.Leg
	want, got wire.Value
	diff      string
}

var bindingSteps = map[string][]bindingStep{
	"G-9 an id is new": {
		{up, `{"id":9001}`, `{"id":1}`, ""},
		{up, `{"id":9002}`, `{"id":1}`, `id: want a value of its own, not that of 9001, got 1`},
		{up, `{"id":9002}`, `{"id":"1"}`, ""},
		{up, `{"id":9001}`, `{"id":"1"}`, `id: want 1, which 9001 stands for, got "1"`},
		{up, `{"id":9003}`, `{"id":1.5}`, `id: want a string or an integer, got 1.5`},
		{up, `{"id":9003}`, `{}`, `id: want 9003, got nothing`},
	},
	"G-9 a token is new": {
		{up, `{"params":{"_meta":{"progressToken":1}}}`, `{"params":{"_meta":{"progressToken":7}}}`, ""},
		{up, `{"params":{"_meta":{"progressToken":2}}}`, `{"params":{"_meta":{"progressToken":7}}}`, `params._meta.progressToken: want a value of its own, not that of 1, got 7`},
	},
	"ids and tokens are apart": {
		{up, `{"id":1,"params":{"_meta":{"progressToken":1}}}`, `{"id":7,"params":{"_meta":{"progressToken":7}}}`, ""},
	},
	"A-H1 a handle stays": {
		{down, `{"result":{"task":{"taskId":"b.1"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b.1"}}}}`, `{"result":{"task":{"taskId":"h"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"i"}}}}`, `result._meta.io.modelcontextprotocol/related-task.taskId: want "h", which b.1 stands for, got "i"`},
		{down, `{"taskId":"b.1"}`, `{"taskId":"h"}`, ""},
		{down, `{"taskId":"b.2"}`, `{"taskId":"h"}`, `taskId: want a value of its own, not that of b.1, got "h"`},
		{down, `{"taskId":"b.2"}`, `{"taskId":""}`, `taskId: want a string that is not empty, got ""`},
	},
	"a handle is none in user data, or upstream": {
		{down, `{"structuredContent":{"taskId":"b.1"}}`, `{"structuredContent":{"taskId":"h"}}`, `structuredContent.taskId: want "b.1", got "h"`},
		{up, `{"params":{"taskId":"b.1"}}`, `{"params":{"taskId":"h"}}`, `params.taskId: want "b.1", got "h"`},
	},
	"a named wildcard": {
		{down, `{"a":"<cursor:2>","b":"<cursor:3>"}`, `{"a":"x","b":"y"}`, ""},
		{down, `{"a":"<cursor:2>"}`, `{"a":"y"}`, `a: want "x", which <cursor:2> stands for, got "y"`},
		{down, `{"a":"<cursor:4>"}`, `{"a":"x"}`, `a: want a value of its own, not that of <cursor:2>, got "x"`},
		{down, `{"a":"<sid:2>"}`, `{"a":"x"}`, ""},
		{down, `{"a":"<text:1>","b":"<text:2>"}`, `{"a":"x","b":"x"}`, ""},
		{down, `{"a":"<int:1>","b":"<int:1>"}`, `{"a":1,"b":1}`, ""},
		{down, `{"a":"<int:1>"}`, `{"a":2}`, `a: want 1, which <int:1> stands for, got 2`},
		{down, `{"a":"<int:2>"}`, `{"a":"2"}`, `a: want an integer literal, got "2"`},
		{down, `{"a":"<now:1>"}`, `{"a":"soon"}`, `a: want a time in RFC 3339, UTC, got "soon"`},
	},
	"a handle of direction B, in a filter": {
		{down, `{"result":{"taskId":"h.1"}}`, `{"result":{"taskId":"x"}}`, ""},
		{down, `{"params":{"notifications":{"taskIds":["h.1"]}}}`, `{"params":{"notifications":{"taskIds":["x"]}}}`, ""},
		{down, `{"params":{"notifications":{"taskIds":["h.1"]}}}`, `{"params":{"notifications":{"taskIds":["y"]}}}`, `params.notifications.taskIds[0]: want "x", which h.1 stands for, got "y"`},
	},
	"the ids of a server's requests are its own": {
		{up, `{"id":9001,"method":"x"}`, `{"id":0,"method":"x"}`, ""},
		{up, `{"id":0,"result":{}}`, `{"id":0,"result":{}}`, ""},
		{up, `{"id":0,"error":{}}`, `{"id":1,"error":{}}`, `id: want 0, got 1`},
	},
	"a request that is taken back": {
		{up, `{"id":90,"method":"x"}`, `{"id":5,"method":"x"}`, ""},
		{up, `{"method":"notifications/cancelled","params":{"requestId":90}}`, `{"method":"notifications/cancelled","params":{"requestId":5}}`, ""},
		{up, `{"method":"notifications/cancelled","params":{"requestId":90}}`, `{"method":"notifications/cancelled","params":{"requestId":6}}`, `params.requestId: want 5, which 90 stands for, got 6`},
	},
	"keys": {
		{down, `{"inputRequests":{"<key:1>":{"method":"a"},"<key:2>":{"method":"b"}}}`, `{"inputRequests":{"x":{"method":"b"},"y":{"method":"a"}}}`, ""},
		{down, `{"inputRequests":{"<key:1>":{"method":"a"}}}`, `{"inputRequests":{"x":{"method":"a"}}}`, `inputRequests.<key:1>: want {"method":"a"}, got nothing`},
		{down, `{"inputRequests":{"<key:3>":{}}}`, `{"inputRequests":{"x":{}}}`, `inputRequests.<key:3>: want {}, got nothing`},
		{down, `{"inputRequests":{"<key>":{},"<key:2>":{}}}`, `{"inputRequests":{"x":{},"z":{}}}`, `inputRequests.<key:2>: want {}, got nothing`},
		{down, `{"inputRequests":{"<key:2>":{},"<key>":{}}}`, `{"inputRequests":{"z":{},"x":{}}}`, ""},
		{down, `{"a":{"<key:1>":1}}`, `{"a":{"y":1}}`, `a.<key:1>: want 1, got nothing`},
	},
	"nothing binds beside a difference": {
		{down, `{"a":"<cursor:2>","b":1}`, `{"a":"x","b":2}`, `b: want 1, got 2`},
		{down, `{"a":"<cursor:2>"}`, `{"a":"y"}`, ""},
	},
}

// What stands for something is compared in steps: a value per step.
func TestBindings(t *testing.T) {
	t.Parallel()
	for name, steps := range bindingSteps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMatcher()
			for _, s := range steps {
				diffs, err := m.Match(s.leg, s.want, s.got)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if len(diffs) > 0 {
					got = diffs[0].String()
				}
				if got != s.diff {
					t.Errorf("%s: %s\nwant %s", s.want, got, s.diff)
				}
			}
		})
	}
}

// The ids of requests differ within a session, not beyond it.
func TestWithin(t *testing.T) {
	t.Parallel()
	m := newMatcher()
	for _, s := range []struct {
		session string
		want    wire.Value
		ok      bool
	}{{"a", `{"id":1}`, true}, {"b", `{"id":2}`, true}, {"b", `{"id":3}`, false}, {"a", `{"id":2}`, true}} {
		m.Within(s.session)
		if diffs, err := m.Match(up, s.want, `{"id":7}`); (len(diffs) == 0) != s.ok || err != nil {
			t.Errorf("%s in %s: %v, %v", s.want, s.session, diffs, err)
		}
	}
}

func TestMatchText(t *testing.T) {
	t.Parallel()
	m := newMatcher()
	for _, tt := range []struct {
		want, got string
		ok        bool
	}{
		{"Bearer", "Bearer", true},
		{"Bearer", "bearer", false},
		{"<sid:a>", "s-1", true},
		{"<sid:a>", "s-2", false},
		{"<sid:b>", "s-1", false},
		{"<sid>", "", false},
		{"<sid>", "s-3", true},
	} {
		if got := m.MatchText(tt.want, tt.got); got != tt.ok {
			t.Errorf("%q, %q: %v", tt.want, tt.got, got)
		}
	}
}
