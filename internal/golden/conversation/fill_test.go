package conversation_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// bound returns a matcher in which some placeholders stand for something.
func bound(t *testing.T) *conversation.Matcher {
	t.Helper()
	m := newMatcher()
	for leg, pair := range map[conversation.Leg][2]wire.Value{
		up:   {`{"id":9001,"params":{"_meta":{"progressToken":70001}}}`, `{"id":3,"params":{"_meta":{"progressToken":"t"}}}`},
		down: {`{"result":{"taskId":"b.1","nextCursor":"<cursor:2>","inputRequests":{"<key:1>":{}}}}`, `{"result":{"taskId":"hän\"dle","nextCursor":"c2","inputRequests":{"elicit-7":{}}}}`},
	} {
		if diffs, err := m.Match(leg, pair[0], pair[1]); err != nil || len(diffs) > 0 {
			t.Fatal(diffs, err)
		}
	}
	return m
}

func TestFill(t *testing.T) {
	t.Parallel()
	m := bound(t)
	for _, tt := range []struct {
		leg      conversation.Leg
		in, want wire.Value
		err      string
	}{
		{"c>b", `{"id":9001,"params":{"taskId":"b.1","cursor":"<cursor:2>"}}`, `{"id":9001,"params":{"taskId":"hän\"dle","cursor":"c2"}}`, ""},
		{"c>b", `{"params":{"taskId":"garbage","arguments":{"taskId":"b.9"},"a":[1.0,{"\u0062":"<text>"}]}}`, `{"params":{"taskId":"garbage","arguments":{"taskId":"b.9"},"a":[1.0,{"\u0062":"<text>"}]}}`, ""},
		{"c>b", `{"params":{"notifications":{"taskIds":["b.1","x"]},"inputResponses":{"<key:1>":{},"k":1}}}`, `{"params":{"notifications":{"taskIds":["hän\"dle","x"]},"inputResponses":{"elicit-7":{},"k":1}}}`, ""},
		{"c>b", `{"params":{"inputResponses":{"<key:2>":{}}}}`, "", "params.inputResponses: <key:2> stands for nothing yet"},
		{"u>b", `{"id":9001,"method":"ping"}`, `{"id":9001,"method":"ping"}`, ""},
		{"c>b", `{"params":{"taskId":"b.2"}}`, "", "params.taskId: b.2 stands for nothing yet"},
		{"c>b", `{"params":{"list":[0,"<cursor:3>"]}}`, "", "params.list[1]: <cursor:3> stands for nothing yet"},
		{"u>b", `{"id":9001,"params":{"progressToken":70001,"_meta":{"io.modelcontextprotocol/subscriptionId":9001}}}`, `{"id":3,"params":{"progressToken":"t","_meta":{"io.modelcontextprotocol/subscriptionId":3}}}`, ""},
		{"u>b", `{"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":9001}}}`, `{"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}`, ""},
		{"u>b", `{"id":7,"params":{"progressToken":8}}`, `{"id":7,"params":{"progressToken":8}}`, ""},
		{"u>b", `{"result":{"taskId":"b.1","_meta":"@UM"}}`, `{"result":{"taskId":"b.1","_meta":{"v":1,"c":{"x":2}}}}`, ""},
		{"u>b", `{"result":{"_meta":{"a":1,"...":"@UM"}}}`, `{"result":{"_meta":{"a":1,"v":1,"c":{"x":2}}}}`, ""},
		{"u>b", `{"result":{"_meta":"@NO"}}`, "", `no macro "@NO"`},
	} {
		got, err := m.Fill(tt.leg, tt.in)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%s: %s, %q\nwant %s, %q", tt.in, got, text, tt.want, tt.err)
		}
	}
}

func TestFillText(t *testing.T) {
	t.Parallel()
	m := newMatcher()
	if !m.MatchText("<sid:a>", `s"1`) {
		t.Fatal("no match")
	}
	for in, want := range map[string]string{"<sid:a>": `s"1`, "<sid>": "<sid>", "plain": "plain"} {
		if got, err := m.FillText(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := m.FillText("<sid:b>"); err == nil {
		t.Error("a placeholder that stands for nothing was sent")
	}
}

// What agrees stays as it was written, and what does not is written as it is.
func TestRender(t *testing.T) {
	t.Parallel()
	m := bound(t)
	for _, tt := range []struct {
		leg             conversation.Leg
		want, got, text wire.Value
	}{
		{down, `{"a":"<text>","b":1}`, `{"a":"x","b":1}`, `{"a":"<text>","b":1}`},
		{down, `{"a":"<text>","b":1,"c":2}`, `{"b":2,"a":"x","d":[1,{}]}`, `{"b":2,"a":"<text>","d":[1,{}]}`},
		{down, `{"a":[{"x":"<int>"},7]}`, `{"a":[{"x":5},8,9]}`, `{"a":[{"x":"<int>"},8,9]}`},
		{down, `{"a":{}}`, `{"a":[]}`, `{"a":[]}`},
		{down, `{}`, `{"taskId":"hän\"dle"}`, `{"taskId":"b.1"}`},
		{down, `{}`, `{"taskId":"other","structuredContent":{"taskId":"hän\"dle"}}`, `{"taskId":"other","structuredContent":{"taskId":"hän\"dle"}}`},
		{up, `{"id":9002,"params":{"_meta":"@UM"}}`, `{"id":4,"params":{"name":"x","_meta":{"c":{"x":2},"v":1}}}`, `{"id":9002,"params":{"name":"x","_meta":"@UM"}}`},
		{up, `{}`, `{"id":3,"params":{"_meta":{"progressToken":"t"}}}`, `{"id":9001,"params":{"_meta":{"progressToken":70001}}}`},
		{up, `{"params":{"_meta":"@UM"}}`, `{"params":{"_meta":{"v":2}}}`, `{"params":{"_meta":{"v":2}}}`},
	} {
		if got := m.Render(tt.leg, tt.want, tt.got); got != tt.text {
			t.Errorf("%s for %s: %s\nwant %s", tt.got, tt.want, got, tt.text)
		}
		if !m.Agrees(tt.leg, tt.text, tt.got) {
			t.Errorf("%s does not agree with %s", tt.got, tt.text)
		}
	}
}
