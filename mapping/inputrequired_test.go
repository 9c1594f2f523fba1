package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// TestInputRequired: what a modern client is asked, and what it is told when it was
// not to be asked (B-P1, B-P7, B-U10, B-U12).
func TestInputRequired(t *testing.T) {
	t.Parallel()
	entries := []mapping.InputEntry{{Key: "elicit-1", Request: `{"method":"elicitation/create","params":{}}`}, {Key: "roots-1", Request: `{"method":"roots/list"}`}}
	got := string(mapping.AppendUpInputRequired([]byte("x"), entries, `s"1`, `{"name":"basalt","version":"1"}`))
	want := `x{"resultType":"input_required","inputRequests":{"elicit-1":{"method":"elicitation/create","params":{}},"roots-1":{"method":"roots/list"}},"requestState":"s\"1","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"basalt","version":"1"}}}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := mapping.AppendUpInputRequired(nil, nil, "s", ""); string(got) != `{"resultType":"input_required","inputRequests":{},"requestState":"s"}` {
		t.Errorf("without anything: %s", got)
	}
	for _, tt := range []struct{ method, params, want string }{
		{"elicitation/create", `{}`, `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{"elicitation/create", `{"mode":"url"}`, `{"requiredCapabilities":{"elicitation":{"url":{}}}}`},
		{"sampling/createMessage", `{}`, `{"requiredCapabilities":{"sampling":{}}}`},
		{"sampling/createMessage", `{"tools":[]}`, `{"requiredCapabilities":{"sampling":{"tools":{}}}}`},
		{"roots/list", ``, `{"requiredCapabilities":{"roots":{}}}`},
	} {
		e := mapping.Undeclared(tt.method, wire.Value(tt.params))
		if e.Code != -32021 || string(e.Data) != tt.want || e.Message != "the server asked for what this request does not declare: "+tt.method {
			t.Errorf("%s %s: %d %q %s", tt.method, tt.params, e.Code, e.Message, e.Data)
		}
	}
}
