package mapping_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestAppendUpListen(t *testing.T) {
	t.Parallel()
	filter := ext2026.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"vein://7", `a"b`}}
	env := orbitEnvelope()
	env.Retry.RequestState = `"s"` // no part of a listen
	got := mapping.AppendUpListen([]byte(prefix), filter, env)
	checkOut(t, got, 0, nil, `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["vein://7","a\"b"]},"_meta":{`+orbitMeta+`}}`, 0)
}

func TestAppendUpAcknowledged(t *testing.T) {
	t.Parallel()
	for id, want := range map[wire.Value]string{
		"77":   `{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":77}}`,
		`"77"`: `{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":"77"}}`,
	} {
		checkOut(t, mapping.AppendUpAcknowledged([]byte(prefix), ext2026.SubscriptionFilter{}, id), 0, nil, want, 0)
	}
}

// B64: the end names the subscription and the server.
func TestAppendUpListenResult(t *testing.T) {
	t.Parallel()
	checkOut(t, mapping.AppendUpListenResult([]byte(prefix), "77", quarry), 0, nil,
		`{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":77,"io.modelcontextprotocol/serverInfo":`+quarry+`}}`, 0)
	checkOut(t, mapping.AppendUpListenResult([]byte(prefix), `"L"`, ""), 0, nil,
		`{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"L"}}`, 0)
}

// §3.5 A 1: filters are requested only for what is offered.
func TestListenFilter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		server wire.Value
		want   ext2026.SubscriptionFilter
	}{
		{
			"all", `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}`,
			ext2026.SubscriptionFilter{
				ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true, ResourceSubscriptions: []string{"a:b"},
			},
		},
		{"no subscriptions", `{"tools":{"listChanged":true},"resources":{}}`, ext2026.SubscriptionFilter{ToolsListChanged: true}},
		{"nothing", `{"tools":{"listChanged":false},"prompts":{"listChanged":"true"},"resources":null}`, ext2026.SubscriptionFilter{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, err := ext2026.ParseServerCapabilities(tt.server, "c")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, mapping.ListenFilter(&server, []string{"a:b"})); diff != "" {
				t.Errorf("filter (-want +got):\n%s", diff)
			}
		})
	}
}

// B52: what the legacy server does not offer is left out, not refused.
func TestHonouredFilter(t *testing.T) {
	t.Parallel()
	want := ext2026.SubscriptionFilter{
		ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true,
		ResourceSubscriptions: []string{"ore://1"}, TaskIDs: []string{"h"},
	}
	for in, expected := range map[wire.Value]ext2026.SubscriptionFilter{
		`{"tools":{"listChanged":true},"resources":{"subscribe":true}}`: {
			ToolsListChanged: true, ResourceSubscriptions: []string{"ore://1"}, TaskIDs: []string{"h"},
		},
		`{"prompts":{"listChanged":true},"resources":{"listChanged":true}}`: {
			PromptsListChanged: true, ResourcesListChanged: true, TaskIDs: []string{"h"},
		},
		`{}`: {TaskIDs: []string{"h"}},
	} {
		server, err := legacy2025.ParseServerCapabilities(in, "c")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected, mapping.HonouredFilter(want, &server)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	if got := mapping.HonouredFilter(ext2026.SubscriptionFilter{ToolsListChanged: true}, mustServer(t, `{"prompts":{"listChanged":true},"tools":{"listChanged":true}}`)); got.PromptsListChanged || !got.ToolsListChanged {
		t.Errorf("a filter grew to %v", got)
	}
}

func mustServer(t *testing.T, v wire.Value) *legacy2025.ServerCapabilities {
	t.Helper()
	server, err := legacy2025.ParseServerCapabilities(v, "c")
	if err != nil {
		t.Fatal(err)
	}
	return &server
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	down := func(dst []byte, params, _ wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendDownNotification(dst, "notifications/resources/updated", params)
	}
	up := func(dst []byte, params, id wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendUpNotification(dst, "notifications/resources/updated", params, id)
	}
	tests := []struct {
		name  string
		run   func(dst []byte, params, id wire.Value) ([]byte, mapping.Notes, error)
		in    wire.Value
		id    wire.Value
		want  string
		notes mapping.Notes
	}{
		{"A09 subscriptionId is stripped", down, `{"uri":"vein://7","_meta":{"io.modelcontextprotocol/subscriptionId":9005}}`, "", `{"uri":"vein://7"}`, 0},
		{"A11 params that end up empty are left out", down, `{"_meta":{"io.modelcontextprotocol/subscriptionId":9005}}`, "", ``, 0},
		{"A11 absent params stay absent", down, ``, "", ``, 0},
		{"§3.5 other keys stay", down, `{"_meta":{"v":1e-07},"x":1}`, "", `{"x":1,"_meta":{"v":1e-07}}`, 0},
		{"B52 the subscription is named", up, `{"uri":"ore://1"}`, "77", `{"uri":"ore://1","_meta":{"io.modelcontextprotocol/subscriptionId":77}}`, 0},
		{"§3.5 B even without params", up, ``, `"L"`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}}`, 0},
		{
			"§3.6 a legacy server cannot name one", up, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"v":1}}`, "",
			`{"_meta":{"v":1}}`, notesOf(mapping.NoteReservedMeta),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := tt.run([]byte(prefix), tt.in, tt.id)
			checkOut(t, got, notes, err, tt.want, tt.notes)
		})
	}
	for in, path := range map[wire.Value]string{`[]`: "params", `{"a":1,"a":1}`: "params.a", `{"_meta":0}`: "params._meta"} {
		got, _, err := down([]byte(prefix), in, "")
		checkRefused(t, got, err, path, -32602)
		got, _, err = up([]byte(prefix), in, "1")
		checkRefused(t, got, err, path, -32602)
	}
}
