package adapter_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// bounds lists the limits of docs/operations.md by the words that its table begins a row
// with, and the test that goes past each, as "file: name in it".
var bounds = []struct{ limit, proof string }{
	{"size of a message | `limits.body`", "limits_edge_test.go: limits.body, sent"},
	{"time for the headers | `limits.header_timeout`", "limits_edge_test.go: limits.header_timeout, silent"},
	{"time for a message", "limits_edge_test.go: the time for a message"},
	{"size of the headers |", "limits_edge_test.go: the size of headers"},
	{"length of the URL", "limits_edge_test.go: the length of the URL"},
	{"depth of JSON", "limits_edge_test.go: the depth of JSON"},
	{"messages of a batch", "front/legacy/batch_test.go: TestBatchRefused"},
	{"what a client says of itself", "front/legacy/cap_test.go: TestIdentityIsBounded"},
	{"time between two requests", "limits_edge_test.go: a connection that asks nothing more"},
	{"time to take 64 KiB", "limits_edge_test.go: TestUnreadAnswers"},
	{"connections | `limits.connections`", "limits_edge_test.go: TestConnections"},
	{"connections of one address | `limits.connections_per_address`", "limits_edge_test.go: connections_per_address"},
	{"connections to the admin listener", "limits_edge_test.go: TestAdminIsReachedInACrowd"},
	{"sessions | `limits.sessions`", "front/legacy/unused_test.go: TestFloodOfInitialize"},
	{"sessions of one address | `limits.sessions_per_address`", "front/legacy/initialize_test.go: limits.sessions_per_address"},
	{"sessions of one principal", "front/legacy/cap_test.go: TestSessionsOfAPrincipal"},
	{"event streams of a session, subscriptions of a modern caller | `limits.streams_per_session`", "front/modern/close_test.go: TestTooManySubscriptions"},
	{"requests at one face", "front/legacy/cap_test.go: TestRequestsOfAll"},
	{"requests of one address, of one principal", "front/modern/close_test.go: TestTooManyRequestsOfOne"},
	{"requests of one session", "front/legacy/limits_test.go: TestManyRequests"},
	{"bytes of messages and answers | `limits.inflight_bytes`", "limits_backend_test.go: TestNoRoomForAnswers"},
	{"the same of large ones, over 64 KiB", "front/edge/budget_test.go: TestLarge"},
	{"the same of large ones of one address", "front/edge/budget_test.go: TestLarge"},
	{"bytes kept for clients", "front/legacy/limits_test.go: TestCrowdedSessions"},
	{"what a client may be behind on a stream of its session", "front/legacy/push_test.go: TestSlowStream"},
	{"what a client may be behind on the stream of a call", "front/legacy/limits_test.go: TestSlowReaderHoldsTheSender"},
	{"resource subscriptions of a session", "front/legacy/cap_test.go: TestSubscribedURIsAreBounded"},
	{"one subscription of a modern client", "listen/limits_test.go: 10,000 tasks"},
	{"what waits for a subscriber", "listen/limits_test.go: TestSlowTasks"},
	{"open questions of a call", "park/park_test.go: TestQuestionsBounded"},
	{"size of a message | `limits.result`", "limits_backend_test.go: sends 100 MiB"},
	{"silence | `times.call_idle`", "limits_backend_test.go: hangs"},
	{"time for everything | `times.call_total`", "limits_backend_test.go: drips a document"},
	{"size of the headers, those of informational answers", "limits_backend_test.go: never stops to say"},
	{"sessions at a backend | `limits.sessions`", "back/legacy/pool/pool_test.go: TestStrangers"},
	{"handshakes at a time", "back/legacy/pool/pool_test.go: so many handshakes at a time"},
	{"tasks of a legacy backend", "pump/crowd_test.go: TestCrowd"},
}

// TestEveryLimitIsDocumented: every row of the tables has a test, and every key is in a
// row.
func TestEveryLimitIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, limits, _ := strings.Cut(string(doc), "\n## Limits\n")
	limits, _, _ = strings.Cut(limits, "\n## ")
	rows := make(map[string]bool)
	for line := range strings.Lines(limits) {
		if row, ok := strings.CutPrefix(line, "| "); ok && !strings.HasPrefix(row, "Limit |") {
			rows[row] = false
		}
	}
	for _, b := range bounds {
		found := false
		for row := range rows {
			if strings.HasPrefix(row, b.limit) && !found {
				rows[row], found = true, true
			}
		}
		if !found {
			t.Errorf("%q begins no row", b.limit)
		}
		file, name, _ := strings.Cut(b.proof, ": ")
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), name) {
			t.Errorf("%s: %s does not have %q, %v", b.limit, file, name, err)
		}
	}
	for row, proven := range rows {
		if !proven && !strings.HasPrefix(row, "depth of JSON") { // of answers: see the misconducts
			t.Errorf("no test goes past %q", row)
		}
	}
	for field := range reflect.TypeFor[config.Limits]().Fields() {
		if key := "`limits." + snake(field.Name) + "`"; !strings.Contains(limits, key) {
			t.Errorf("%s is in no row", key)
		}
	}
}
