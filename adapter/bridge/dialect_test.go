package bridge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const times = `"createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z"`

func TestReadTask(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		doc  wire.Value
		want port.TaskState
		fail bool
	}{
		{"plain", `{"taskId":"t","status":"working",` + times + `,"ttlMs":90000,"pollIntervalMs":250}`, port.TaskState{ID: "t", Status: port.TaskWorking, CreatedAt: created, TTL: 90 * time.Second, PollInterval: 250 * time.Millisecond}, false},
		{"G-16 floats", `{"taskId":"t","status":"completed",` + times + `,"ttlMs":900000.0,"pollIntervalMs":5000.0,"result":{}}`, port.TaskState{ID: "t", Status: port.TaskCompleted, CreatedAt: created, TTL: 15 * time.Minute, PollInterval: 5 * time.Second}, false},
		{"no lifetime", `{"taskId":"t","status":"cancelled",` + times + `,"ttlMs":null}`, port.TaskState{ID: "t", Status: port.TaskCancelled, CreatedAt: created, TTL: -1}, false},
		{"G-16 a lifetime that is none", `{"taskId":"t","status":"cancelled",` + times + `,"ttlMs":"1"}`, port.TaskState{ID: "t", Status: port.TaskCancelled, CreatedAt: created, TTL: -1}, false},
		{"one beyond all meaning", `{"taskId":"t","status":"cancelled",` + times + `,"ttlMs":9007199254740993000,"pollIntervalMs":9007199254740993000}`, port.TaskState{ID: "t", Status: port.TaskCancelled, CreatedAt: created, TTL: -1, PollInterval: -1}, false},
		{"G-17 an offset", `{"taskId":"t","status":"failed","createdAt":"2026-09-14T10:00:00+02:00","lastUpdatedAt":"x","ttlMs":null}`, port.TaskState{ID: "t", Status: port.TaskFailed, CreatedAt: created, TTL: -1}, false},
		{"G-17 no time", `{"taskId":"t","status":"input_required","createdAt":"x","ttlMs":null,"inputRequests":{}}`, port.TaskState{ID: "t", Status: port.TaskInputRequired, TTL: -1}, false},
		{"A-E4 an unknown status", `{"taskId":"t","status":"dreaming",` + times + `,"ttlMs":null}`, port.TaskState{}, true},
		{"no id", `{"status":"working",` + times + `,"ttlMs":null}`, port.TaskState{}, true},
		{"G-19 an id that is none", `{"taskId":1,"status":"working",` + times + `,"ttlMs":null}`, port.TaskState{}, true},
		{"not an object", `[]`, port.TaskState{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newRig(t).modern.Dialect("quarry").Read(tt.doc)
			if tt.fail {
				if port.RPCError(err).Code != jsonrpc.CodeInternal {
					t.Errorf("error %v", err)
				}
				return
			}
			got.Change = ""
			if d := cmp.Diff(tt.want, got); err != nil || d != "" {
				t.Errorf("%v, -want +got\n%s", err, d)
			}
		})
	}
}

// TestHostedTaskIsLikeAnyOther: what is written about a hosted task reads as what it
// was, whatever its end (A-T8, A-T11).
func TestHostedTaskIsLikeAnyOther(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	dialect := newRig(t).modern.Dialect("quarry")
	for _, h := range []port.HostedTask{
		{Status: port.TaskWorking, TTL: time.Minute},
		{Status: port.TaskCompleted, TTL: -1, Result: `{"resultType":"complete","content":[]}`},
		{Status: port.TaskFailed, TTL: time.Minute, Error: &jsonrpc.Error{Code: 7, Message: "cold"}, StatusMessage: "cold"},
	} {
		h.ID, h.CreatedAt, h.LastUpdatedAt, h.PollInterval = "local", at, at.Add(time.Second), time.Second
		doc := wire.Value(dialect.AppendHosted(nil, h))
		got, err := dialect.Read(doc)
		got.Change = ""
		want := port.TaskState{ID: "local", Status: h.Status, CreatedAt: at, TTL: h.TTL, PollInterval: time.Second}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v, -want +got\n%s", doc, err, d)
		}
	}
}

// TestRenderings: a document in every form that a legacy client sees it in.
func TestRenderings(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	doc := wire.Value(`{"resultType":"complete","taskId":"t","status":"completed",` + times + `,"ttlMs":90000,"result":{"content":[{"type":"text","text":"slag"}],"isError":true}}`)
	r := newRig(t)
	dialect := r.modern.Dialect("quarry")
	render := func(out []byte, err error) string {
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	status, _, err := dialect.AppendStatus(nil, doc, port.TaskView{Handle: "h", FirstSeen: seen})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string][2]string{
		"A-T6 created":  {render(dialect.AppendCreated(nil, doc, port.TaskView{Handle: "h", FirstSeen: seen})), `{"task":{"taskId":"h","status":"working",` + times + `,"ttl":90000},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"h"}}}`},
		"§4.8 task":     {render(dialect.AppendTask(nil, doc, port.TaskView{Handle: "h", FirstSeen: seen})), `{"taskId":"h","status":"failed",` + times + `,"ttl":90000,"statusMessage":"slag"}`},
		"§4.16 status":  {render(status, nil), `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"h","status":"failed",` + times + `,"ttl":90000,"statusMessage":"slag"}}`},
		"A-R1 payload":  {string(dialect.Payload(doc, "h", false).Result), `{"content":[{"type":"text","text":"slag"}],"isError":true,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"h"}}}`},
		"§4.9 overlay":  {string(dialect.AppendOverlay(nil, doc, port.TaskCancelled, "by request", seen)), `{"resultType":"complete","taskId":"t","status":"cancelled","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T09:00:00.000Z","ttlMs":90000,"statusMessage":"by request"}`},
		"Q38 rebased":   {string(dialect.AppendRebased(nil, doc, seen)), `{"resultType":"complete","taskId":"t","status":"completed","createdAt":"2026-09-14T09:00:00.000Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":0,"result":{"content":[{"type":"text","text":"slag"}],"isError":true}}`},
		"G-17 no times": {render(dialect.AppendTask(nil, `{"taskId":"t","status":"working","ttlMs":null}`, port.TaskView{Handle: "h", FirstSeen: seen})), `{"taskId":"h","status":"working","ttl":null,"createdAt":"2026-09-14T09:00:00.000Z","lastUpdatedAt":"2026-09-14T09:00:00.000Z"}`},
	} {
		if got, want := compact(t, tt[0]), compact(t, tt[1]); got != want {
			t.Errorf("%s: %s\nwant %s", name, tt[0], tt[1])
		}
	}
	r.backend.ToolErrorsCompleted = true
	out, err := r.modern.Dialect("quarry").AppendTask(nil, doc, port.TaskView{Handle: "h", FirstSeen: seen})
	if status := wire.Value(out).Get("status"); err != nil || status != `"completed"` {
		t.Errorf("Q3: status %s, error %v", status, err)
	}
}

func TestMalformedDocuments(t *testing.T) {
	t.Parallel()
	dialect := newRig(t).modern.Dialect("quarry")
	for _, doc := range []wire.Value{`{}`, `{"taskId":"t","status":"dreaming"}`, `7`} {
		_, created := dialect.AppendCreated(nil, doc, port.TaskView{Handle: "h"})
		_, task := dialect.AppendTask(nil, doc, port.TaskView{Handle: "h"})
		_, _, status := dialect.AppendStatus(nil, doc, port.TaskView{Handle: "h"})
		for _, err := range []error{created, task, status, dialect.Payload(doc, "h", false).Err} {
			if port.RPCError(err).Code != jsonrpc.CodeInternal {
				t.Errorf("%s: error %v", doc, err)
			}
		}
	}
}

// compact sorts the members of an object, so that order does not count.
func compact(t *testing.T, text string) string {
	t.Helper()
	v, err := wire.Check([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(sorted(v))
}

func sorted(v wire.Value) []byte {
	if !v.IsObject() {
		return []byte(v)
	}
	members := map[string]string{}
	var names []string
	for m := range v.Members() {
		names = append(names, m.Name)
		members[m.Name] = string(sorted(m.Value))
	}
	slices.Sort(names)
	w := wire.Begin(nil)
	for _, name := range names {
		w.Raw(name, []byte(members[name]))
	}
	return w.End()
}
