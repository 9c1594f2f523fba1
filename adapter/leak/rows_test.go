package leak_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/leak"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// filters are the legs.
var filters = map[string]func(*slog.Logger) *leak.Filter{"legacy": leak.Legacy, "modern": leak.Modern}

// specRows says which row of testdata/spec/leaks.txt a rule of the filter is.
var specRows = map[string][]string{
	"legacy method":            {"6.1.11"},
	"legacy error code":        {"6.1.12"},
	"legacy x-mcp-header":      {"6.1.10"},
	"legacy resultType":        {"6.1.1"},
	"legacy cache hints":       {"6.1.2"},
	"legacy supportedVersions": {"6.1.3"},
	"legacy questions":         {"6.1.4"},
	"legacy answers":           {"6.1.5"},
	"legacy envelope":          {"6.1.6"},
	"legacy serverInfo":        {"6.1.7"},
	"legacy subscriptionId":    {"6.1.7"},
	"legacy tasks extension":   {"6.1.8"},
	"legacy task members":      {"6.1.9"},

	"modern method":             {"6.2.1", "6.2.2", "6.2.3"},
	"modern error code":         {"6.2.15"},
	"modern task":               {"6.2.5"},
	"modern created task":       {"6.2.6"},
	"modern related-task":       {"6.2.11"},
	"modern immediate response": {"6.2.11"},
	"modern tasks capability":   {"6.2.9"},
	"modern roots.listChanged":  {"6.2.10"},
	"modern execution":          {"6.2.8"},
	"modern task members":       {"6.2.7"},
	"modern question members":   {"6.2.12", "6.2.13"},
	"modern question envelope":  {"6.2.13"},
	"modern answer _meta":       {"6.2.14"},
	"modern x-mcp-header":       nil, // the modern era's own
}

// noFilter are the rows that a filter of messages cannot see, with what does.
var noFilter = map[string]string{
	"6.1.13": "headers: the edges write their own",
	"6.1.14": "a version that is negotiated: the legacy front",
	"6.1.15": "values that are wrapped, not names",
	"6.1.16": "a value of the backend's that gets an alias",
	"6.2.4":  "responses: a modern client has no way to send one",
	"6.2.16": "headers and fields of events: the edges write their own",
	"6.2.17": "arrays: the edges read and write one message",
	"6.2.18": "the id: internal/jsonrpc reads none that is null",
	"6.2.19": "a member that is missing: the mapping sets it",
	"6.2.20": "values: the mapping of handles",
	"6.2.21": "free text",
}

// TestEveryRowHasARule: every row of PROTOCOL.md §6 is a rule of the filter, or
// says why it is none; and no rule is about nothing (§6.1, §6.2, §6.3).
func TestEveryRowHasARule(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../testdata/spec/leaks.txt")
	if err != nil {
		t.Fatal(err)
	}
	ruled := map[string]bool{}
	for leg := range filters {
		for _, rule := range leak.Rules(leg) {
			rows, known := specRows[leg+" "+rule]
			if !known {
				t.Errorf("%s leg: rule %q is of no row", leg, rule)
			}
			for _, row := range rows {
				ruled[row] = true
			}
		}
	}
	for line := range bytes.Lines(file) {
		row, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if ruled[row] == (noFilter[row] != "") {
			t.Errorf("§%s %s: a rule: %v, excused: %q", row, text, ruled[row], noFilter[row])
		}
	}
}

// message builds a message with a token at a place.
func message(p leak.Place, token string) string {
	inner := fmt.Sprintf("%q:%s", p.Path[len(p.Path)-1], token)
	if p.Beside != "" {
		inner += fmt.Sprintf(",%q:1", p.Beside)
	}
	inner = "{" + inner + `,"com.acme/v":1.0}`
	for _, name := range slices.Backward(p.Path[:len(p.Path)-1]) {
		switch name {
		case "*":
			inner = `{"any":` + inner + `}`
		case "[]":
			inner = `[` + inner + `]`
		default:
			inner = fmt.Sprintf("{%q:%s}", name, inner)
		}
	}
	head := `{"jsonrpc":"2.0","id":1,`
	if p.Path[0] == "params" {
		head += fmt.Sprintf(`"method":%q,`, p.Method)
	}
	return head + inner[1:]
}

// TestEveryPlace puts a token at every place of every row: it goes, its neighbour
// stays, and the hit is counted under the row (§6.1, §6.2; for both directions).
func TestEveryPlace(t *testing.T) {
	t.Parallel()
	for leg, newFilter := range filters {
		for _, p := range leak.Places(leg) {
			t.Run(fmt.Sprintf("§%v %s of %s", specRows[leg+" "+p.Rule], strings.Join(p.Path, "."), p.Method), func(t *testing.T) {
				t.Parallel()
				token := `"x"`
				if p.Holding != "" {
					token = fmt.Sprintf(`{%q:"x"}`, p.Holding)
				}
				in := message(p, token)
				f := newFilter(quiet)
				got := string(f.Apply(p.Method, []byte(in)))
				want := strings.Replace(in, fmt.Sprintf("%q:%s,", p.Path[len(p.Path)-1], token), "", 1)
				if got != want {
					t.Errorf("Apply(%s)\n got %s\nwant %s", in, got, want)
				}
				if f.Hits()[p.Rule] != 1 {
					t.Errorf("hits %v; want one of %q", f.Hits(), p.Rule)
				}
			})
		}
	}
}

// TestOpaquePlaces: the names of every row are a user's own inside arguments,
// structured content, text, vendor members and vendor keys of _meta (§6.3).
func TestOpaquePlaces(t *testing.T) {
	t.Parallel()
	for leg, newFilter := range filters {
		var data strings.Builder
		for i, p := range leak.Places(leg) {
			fmt.Fprintf(&data, `,"d%d":%s`, i, message(p, `{"taskId":"t"}`))
			fmt.Fprintf(&data, `,%q:{"taskId":"t"}`, p.Path[len(p.Path)-1])
		}
		own := `{"n":1.0` + data.String() + `}`
		for _, tt := range []struct{ name, method, text string }{
			{"arguments", "tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":` + own + `,"com.acme/v":` + own + `,"_meta":{"com.acme/k":` + own + `}}}`},
			{"structuredContent", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":` + string(wire.String(own)) + `,"_meta":` + own + `}],"structuredContent":` + own + `,"com.acme/v":` + own + `,"_meta":{"com.acme/k":` + own + `}}}`},
			{"data of an error", "tools/call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m","data":` + own + `}}`},
			{"members of a tool", "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","default":` + own + `},"com.acme/v":` + own + `,"_meta":` + own + `}]}}`},
			{"data of a message", "", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + own + `}}`},
			{"members of a question", "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"com.acme/v":{"inputRequests":{"k":` + own + `}}}}`},
		} {
			t.Run("§6.3 "+leg+" leg, "+tt.name, func(t *testing.T) {
				t.Parallel()
				if got := string(newFilter(quiet).Apply(tt.method, []byte(tt.text))); got != tt.text {
					t.Errorf("Apply changed\n%s\nto\n%s", tt.text, got)
				}
			})
		}
	}
}

// TestMethodsAndCodes: what is not a member is stopped as a whole, or encoded anew
// (§6.1, §6.2).
func TestMethodsAndCodes(t *testing.T) {
	t.Parallel()
	for leg, methods := range map[string][]string{
		"legacy": {"server/discover", "subscriptions/listen", "tasks/update", "notifications/subscriptions/acknowledged", "notifications/tasks"},
		"modern": {
			"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list",
			"notifications/initialized", "notifications/roots/list_changed", "notifications/elicitation/complete", "notifications/tasks/status",
			"roots/list", "sampling/createMessage", "elicitation/create",
		},
	} {
		for _, method := range methods {
			for _, id := range []string{"", `"id":1,`} {
				f := filters[leg](quiet)
				if got := f.Apply("", fmt.Appendf(nil, `{"jsonrpc":"2.0",%s"method":%q,"params":{}}`, id, method)); got != nil || f.Hits()["method"] != 1 {
					t.Errorf("§%v %s: got %s, hits %v; want nothing, counted", specRows[leg+" method"], method, got, f.Hits())
				}
			}
		}
	}
	for leg, codes := range map[string][]int{
		"legacy": {-32020, -32021, -32022, -32023, -32041, -32043, -32099},
		"modern": {-32002, -32042},
	} {
		for _, code := range codes {
			in := fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","error":{"code":%d,"message":"m","data":{"requiredCapabilities":{},"supported":[]}}}`, code)
			if got := string(filters[leg](quiet).Apply("resources/read", []byte(in))); got != `{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"m"}}` {
				t.Errorf("§%v %d: got %s", specRows[leg+" error code"], code, got)
			}
		}
	}
	for leg, codes := range map[string][]int{
		"legacy": {-32700, -32600, -32603, -32002, -32042, -32000, -32019, -32100, -1, 7},
		"modern": {-32700, -32600, -32603, -32020, -32021, -32022, -32000, -32001, -32019, -1, 7},
	} {
		for _, code := range codes {
			in := fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","error":{"code":%d,"message":"m","data":1.0}}`, code)
			if got := string(filters[leg](quiet).Apply("resources/read", []byte(in))); got != in {
				t.Errorf("§%v %d: got %s; want it as it is", specRows[leg+" error code"], code, got)
			}
		}
	}
}
