package bridge_test

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestHonoured: what an acknowledgement is worth (§3.5 A2).
func TestHonoured(t *testing.T) {
	t.Parallel()
	asked := port.ChangeFilter{Tools: true, URIs: []string{"vein://1", "vein://2"}, TaskIDs: []string{"tk"}}
	for _, tt := range []struct {
		name string
		ack  wire.Value
		want port.ChangeFilter
		fail bool
	}{
		{"all of it", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["vein://1","vein://2"],"taskIds":["tk"]}}`, asked, false},
		{"a part", `{"notifications":{"toolsListChanged":false,"resourceSubscriptions":["vein://2"]}}`, port.ChangeFilter{URIs: []string{"vein://2"}}, false},
		{"nothing", `{"notifications":{}}`, port.ChangeFilter{}, false},
		{"more than was asked for", `{"notifications":{"promptsListChanged":true,"resourcesListChanged":true,"com.acme/x":1}}`, port.ChangeFilter{Prompts: true, Resources: true}, false},
		// PEERS.md 2.7.5: it leaves the filter out, and ignores tasks.
		{"no filter", `{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1"}}`, port.ChangeFilter{Tools: true, URIs: asked.URIs}, false},
		{"no params", ``, port.ChangeFilter{Tools: true, URIs: asked.URIs}, false},
		{"a filter that is none", `{"notifications":[]}`, port.ChangeFilter{}, true},
		{"URIs that are none", `{"notifications":{"resourceSubscriptions":[1]}}`, port.ChangeFilter{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.back.sub = &subscription{ack: tt.ack}
			stream, err := r.modern.Listen(t.Context(), "quarry", legacyCaller, asked)
			if tt.fail {
				if err == nil || !r.back.sub.closed.Load() {
					t.Errorf("error %v, closed %v", err, r.back.sub.closed.Load())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, stream.Honoured()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			if r.back.sub.closed.Load() {
				t.Error("closed")
			}
			if stream.Close(); !r.back.sub.closed.Load() {
				t.Error("not closed")
			}
		})
	}
}

// TestListen: what is asked for, and in whose name. The extension is declared where
// tasks are asked for (§2.2), and no messages are.
func TestListen(t *testing.T) {
	t.Parallel()
	caller := legacyCaller
	caller.LogLevel = "debug"
	for _, tt := range []struct {
		filter       port.ChangeFilter
		want         wire.Value
		capabilities wire.Value
	}{
		{port.ChangeFilter{Tools: true, Prompts: true, Resources: true}, `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`, `{"elicitation":{"url":{}},"roots":{}}`},
		{port.ChangeFilter{URIs: []string{"vein://1"}, TaskIDs: []string{"tk"}}, `{"resourceSubscriptions":["vein://1"],"taskIds":["tk"]}`, `{"elicitation":{"url":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
	} {
		r := newRig(t)
		r.back.sub = &subscription{ack: `{"notifications":{}}`}
		if _, err := r.modern.Listen(t.Context(), "quarry", caller, tt.filter); err != nil {
			t.Fatal(err)
		}
		call := r.back.calls[0]
		meta := call.Params.Get("_meta")
		if call.Method != "subscriptions/listen" || call.Authorization != "Bearer a" || call.Params.Get("notifications") != tt.want {
			t.Errorf("%s %s", call.Method, call.Params)
		}
		if got := meta.Get(wire.MetaClientCapabilities); got != tt.capabilities || meta.Get(wire.MetaLogLevel).Present() {
			t.Errorf("_meta %s", meta)
		}
	}
	r := newRig(t)
	r.back.err = errors.New("away")
	if _, err := r.modern.Listen(t.Context(), "quarry", caller, port.ChangeFilter{Tools: true}); !errors.Is(err, r.back.err) {
		t.Errorf("error %v", err)
	}
}

// TestChanges: notifications of a subscription as the legacy era spells them, and
// what replaces what while nobody listens (§3.5 A4).
func TestChanges(t *testing.T) {
	t.Parallel()
	note := func(method string, params wire.Value) jsonrpc.Message {
		return jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: method, Params: params}
	}
	r := newRig(t)
	r.back.sub = &subscription{ack: `{"notifications":{}}`, notes: []jsonrpc.Message{
		note("notifications/tools/list_changed", `{"_meta":{"io.modelcontextprotocol/subscriptionId":9}}`),
		note("notifications/prompts/list_changed", ``),
		note("notifications/resources/list_changed", `{"_meta":{"io.modelcontextprotocol/subscriptionId":9,"com.acme/x":1.0}}`),
		note("notifications/resources/updated", `{"uri":"vein://1","_meta":{"io.modelcontextprotocol/subscriptionId":9}}`),
		note("notifications/tasks", `{"taskId":"tk","status":"working"}`),
		// What cannot be read, and what belongs elsewhere.
		note("notifications/resources/updated", `{"uri":7}`),
		note("notifications/tasks", `{"taskId":7}`),
		note("notifications/tools/list_changed", `{"_meta":7}`),
		note("notifications/message", `{"level":"error","data":1}`),
		note("notifications/com.acme/x", `{}`),
		note("notifications/tools/list_changed", ``),
	}}
	stream, err := r.modern.Listen(t.Context(), "quarry", legacyCaller, port.ChangeFilter{Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []port.Change
	for {
		c, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	change := func(key, uri, message string) port.Change {
		return port.Change{Key: key, URI: uri, Message: []byte(message)}
	}
	want := []port.Change{
		change("notifications/tools/list_changed ", "", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`),
		change("notifications/prompts/list_changed ", "", `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`),
		change("notifications/resources/list_changed ", "", `{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{"_meta":{"com.acme/x":1.0}}}`),
		change("notifications/resources/updated vein://1", "vein://1", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"vein://1"}}`),
		{Key: `task/tk/"working"`, Task: `{"taskId":"tk","status":"working"}`, TaskID: "tk"},
		change("notifications/tools/list_changed ", "", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestSynthesize: one change of each kind, for what may have been missed (Q26).
func TestSynthesize(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var got []string
	for _, c := range r.modern.Synthesize(port.ChangeFilter{Tools: true, Prompts: true, Resources: true, URIs: []string{`vein://"1"`}, TaskIDs: []string{"tk"}}) {
		got = append(got, c.Key+"|"+c.URI+"|"+string(c.Message))
	}
	want := []string{
		`notifications/tools/list_changed ||{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`notifications/prompts/list_changed ||{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
		`notifications/resources/list_changed ||{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
		`notifications/resources/updated vein://"1"|vein://"1"|{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"vein://\"1\""}}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if got := r.modern.Synthesize(port.ChangeFilter{}); len(got) > 0 {
		t.Errorf("%d changes of nothing", len(got))
	}
}

// TestOffered: what a backend says it announces (§3.5 A1).
func TestOffered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		capabilities wire.Value
		lists        port.ChangeFilter
		resources    bool
	}{
		{`{"tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{"subscribe":true}}`, port.ChangeFilter{Tools: true}, true},
		{`{"tools":{},"prompts":{"listChanged":true},"resources":{"listChanged":true}}`, port.ChangeFilter{Prompts: true, Resources: true}, false},
		{`{}`, port.ChangeFilter{}, false},
	} {
		r := newRig(t)
		r.capabilities = tt.capabilities
		lists, resources, err := r.modern.Offered(t.Context(), "quarry", legacyCaller)
		if err != nil || resources != tt.resources {
			t.Errorf("%s: resources %v, error %v", tt.capabilities, resources, err)
		}
		if d := cmp.Diff(tt.lists, lists); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.capabilities, d)
		}
	}
}
