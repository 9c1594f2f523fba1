package bridge_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	asksColor = wire.Value(`{"resultType":"input_required","inputRequests":{"color":{"method":"elicitation/create","params":{"message":"Color?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s1"}`)
	asksAgain = wire.Value(`{"resultType":"input_required","requestState":"s2"}`)
	isDone    = wire.Value(`{"resultType":"complete","content":[{"type":"text","text":"done"}]}`)
)

// answerer is the session that gives the last answer to a saved call: another one
// of its owner, with a newer credential.
var answerer = port.Caller{
	Session: "s2", Principal: "p", Version: "2025-06-18", Authorization: "Bearer new", LogLevel: "debug",
	ClientInfo: `{"name":"other","version":"9"}`, Capabilities: `{}`,
}

// saved is a call of the legacy caller as a task's record keeps it.
func saved(change func(call map[string]any)) []byte {
	call := map[string]any{
		"params": `{"name":"blast","arguments":{"n":1.50},"_meta":{"com.acme/x":1e-7}}`, "state": "\"s\\ud8001\"", "round": 1,
		"version": "2025-11-25", "clientInfo": `{"name":"orbit","version":"1"}`, "capabilities": `{"elicitation":{"url":{}},"roots":{}}`,
		"logLevel": "error",
	}
	if change != nil {
		change(call)
	}
	out, err := json.Marshal(call)
	if err != nil {
		return nil
	}
	return out
}

var color = []port.Answer{{Key: "color", Value: `{"action":"accept","content":{"c":1.0}}`}}

func (r *rig) resume(ctx context.Context, call []byte) task.Ending {
	return r.upgrade.Resume(ctx, "quarry", answerer, task.Resumption{Saved: call, Answers: color, Fresh: true})
}

// TestResume: a saved call goes on as the client that made it, with the credential
// of the one that answered (A-M9, A-H4).
func TestResume(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.back.do = func(int, port.Call) (wire.Value, error) { return isDone, nil }
	if end := r.resume(t.Context(), saved(nil)); end.Err != nil || end.Result != isDone || end.Round != nil || end.Seed != "" {
		t.Fatalf("ended in %+v", end)
	}
	if len(r.back.calls) != 1 {
		t.Fatalf("%d calls, want one", len(r.back.calls))
	}
	call := r.back.calls[0]
	if call.Method != "tools/call" || call.Authorization != "Bearer new" {
		t.Errorf("%s with %q", call.Method, call.Authorization)
	}
	for path, want := range map[string]wire.Value{
		"name": `"blast"`, "arguments": `{"n":1.50}`, "requestState": "\"s\\ud8001\"",
		"inputResponses": `{"color":{"action":"accept","content":{"c":1.0}}}`,
	} {
		if got := call.Params.Get(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	meta := call.Params.Get("_meta")
	for key, want := range map[string]wire.Value{
		"com.acme/x":                              `1e-7`,
		"io.modelcontextprotocol/clientInfo":      `{"name":"orbit","version":"1"}`,
		"io.modelcontextprotocol/protocolVersion": `"2026-07-28"`,
		"io.modelcontextprotocol/logLevel":        `"error"`,
	} {
		if got := meta.Get(key); got != want {
			t.Errorf("_meta %s: %s, want %s", key, got, want)
		}
	}
	declared := meta.Get("io.modelcontextprotocol/clientCapabilities")
	if !declared.Get("elicitation").Present() || !declared.Get("roots").Present() || !declared.Get("extensions").Get(wire.TasksExtension).Present() {
		t.Errorf("A-U1 declared %s, want what the saved client can", declared)
	}
}

// TestResumeWithoutState: what the server has not given it does not get (A-M2).
func TestResumeWithoutState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.back.do = func(int, port.Call) (wire.Value, error) { return isDone, nil }
	r.resume(t.Context(), saved(func(call map[string]any) { delete(call, "state"); delete(call, "logLevel") }))
	params := r.back.calls[0].Params
	if params.Get("requestState").Present() || params.Get("_meta").Get("io.modelcontextprotocol/logLevel").Present() {
		t.Errorf("sent %s", params)
	}
}

// TestResumeAsksAgain: a round more is saved with the state of the newest, and is
// the last but for so many (A-M4, A-M10).
func TestResumeAsksAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.back.do = func(int, port.Call) (wire.Value, error) { return asksColor, nil }
	for n := 1; n < 10; n++ {
		call := saved(func(call map[string]any) { call["round"] = n })
		end := r.resume(t.Context(), call)
		if end.Round == nil || len(end.Round.Questions) != 1 || end.Round.Questions[0].Key != "color" {
			t.Fatalf("round %d ended in %+v", n, end)
		}
		want := saved(func(call map[string]any) { call["round"] = n + 1; call["state"] = `"s1"` })
		var got, expected map[string]any
		if json.Unmarshal(end.Round.Saved, &got) != nil || json.Unmarshal(want, &expected) != nil {
			t.Fatalf("saved %s", end.Round.Saved)
		}
		if d := cmp.Diff(expected, got); d != "" {
			t.Errorf("round %d saved (-want +got):\n%s", n, d)
		}
	}
	end := r.resume(t.Context(), saved(func(call map[string]any) { call["round"] = 10 }))
	if end.Round != nil || end.Err != nil || end.Result.Get("isError") != "true" || !strings.Contains(string(end.Result), "too often") {
		t.Errorf("round 10 ended in %+v, want a tool error", end)
	}
	if strings.Contains(string(saved(nil)), "Bearer") || len(r.back.calls) != 10 {
		t.Errorf("%d calls", len(r.back.calls))
	}
}

// TestResumeBecomesATask: the server may make a task of it now (A-M10).
func TestResumeBecomesATask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const seed = wire.Value(`{"resultType":"task","taskId":"t","status":"working","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":null}`)
	r.back.do = func(int, port.Call) (wire.Value, error) { return seed, nil }
	if end := r.resume(t.Context(), saved(nil)); end.Seed != seed || end.Err != nil {
		t.Errorf("ended in %+v", end)
	}
}

// TestResumeWhatCannot: a saved call that cannot go on is an error, and nothing
// reaches a server.
func TestResumeWhatCannot(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"empty": ``, "no JSON": `{"params":`, "another shape": `[1]`, "another type": `{"params":{}}`,
		"capabilities that are none": string(saved(func(call map[string]any) { call["capabilities"] = "[]" })),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			end := r.resume(t.Context(), []byte(call))
			if len(r.back.calls) == 0 && end.Err == nil || len(r.back.calls) > 0 && name != "capabilities that are none" {
				t.Errorf("ended in %+v after %d calls", end, len(r.back.calls))
			}
		})
	}
	r := newRig(t)
	if end := r.upgrade.Resume(t.Context(), "gone", answerer, task.Resumption{Saved: saved(nil), Answers: color, Fresh: true}); end.Err == nil || len(r.back.calls) != 0 {
		t.Errorf("a backend that is gone: %+v", end)
	}
	r.back.do = func(int, port.Call) (wire.Value, error) { return "", jsonrpc.NewError(-32000, "no") }
	if end := r.resume(t.Context(), saved(nil)); !port.IsCode(end.Err, -32000) {
		t.Errorf("ended in %+v, want the server's error", end)
	}
	r.back.do = func(int, port.Call) (wire.Value, error) {
		return `{"resultType":"input_required","inputRequests":[]}`, nil
	}
	if end := r.resume(t.Context(), saved(nil)); end.Err == nil {
		t.Errorf("inputRequests that are none: %+v", end)
	}
}

// TestResumeRepeats: a server that only wants to be asked again is, more and more
// slowly, with its newest state and no answers (A-M3, A-M11).
func TestResumeRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		start := time.Now()
		var at []time.Duration
		r.back.do = func(n int, call port.Call) (wire.Value, error) {
			at = append(at, time.Since(start))
			state, inputs := call.Params.Get("requestState"), call.Params.Get("inputResponses")
			if n > 1 && (state != `"s2"` || inputs.Present()) {
				t.Errorf("request %d: %s with %s", n, state, inputs)
			}
			switch n {
			case 8:
				return isDone, nil
			case 3:
				return `{"resultType":"input_required","inputRequests":{},"requestState":"s2"}`, nil
			default:
				return asksAgain, nil
			}
		}
		if end := r.resume(t.Context(), saved(nil)); end.Result != isDone {
			t.Errorf("ended in %+v", end)
		}
		const ms = time.Millisecond
		want := []time.Duration{0, 250 * ms, 750 * ms, 1750 * ms, 3750 * ms, 7750 * ms, 12750 * ms, 17750 * ms}
		if d := cmp.Diff(want, at); d != "" {
			t.Errorf("requests (-want +got):\n%s", d)
		}
	})
}

// TestResumeIsCut: the end of the task ends the wait for a server's patience.
func TestResumeIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.back.do = func(int, port.Call) (wire.Value, error) { return asksAgain, nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if end := r.resume(ctx, saved(nil)); end.Err == nil {
			t.Errorf("ended in %+v", end)
		}
		if got := len(r.back.calls); got != 16 {
			t.Errorf("%d requests in a minute", got)
		}
	})
}
