package mapping_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// seed adds every section of that name in the golden files of the directories.
func seed(f *testing.F, section string, dirs ...string) {
	f.Helper()
	for _, dir := range dirs {
		cases, err := golden.Cases(goldenRoot + "/" + dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			if body, ok := c.Get(section); ok {
				f.Add(string(body))
			}
		}
	}
}

// checked is how a message comes in: what is no JSON never reaches a translation.
func checked(text string) (wire.Value, bool) {
	v, err := wire.Check([]byte(text))
	return v, err == nil
}

// written checks what a translation wrote: one JSON object, without those names at
// its top and without those keys in its _meta.
func written(t *testing.T, buf []byte, notes mapping.Notes, err error, names, keys []string) wire.Value {
	t.Helper()
	if err != nil {
		if len(buf) > 0 {
			t.Fatalf("bytes beside the error %v: %s", err, buf)
		}
		return ""
	}
	v, err := wire.Check(buf)
	if err != nil {
		t.Fatalf("no JSON: %v\n%s", err, buf)
	}
	obj, err := wire.ParseObject(v, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, buf)
	}
	for _, name := range names {
		if obj.Has(name) {
			t.Fatalf("%s at a protocol position\n%s", name, buf)
		}
	}
	for _, key := range keys {
		if obj.Get("_meta").Get(key).Present() {
			t.Fatalf("%s in _meta\n%s", key, buf)
		}
	}
	if bytes.Contains([]byte(notes.String()), []byte("unknown")) {
		t.Fatalf("notes without a text: %b", notes)
	}
	return v
}

var (
	// modernNames and modernKeys must not reach a legacy client (§6.1).
	modernNames = []string{"resultType", "ttlMs", "pollIntervalMs", "result", "error", "inputRequests", "requestState"}
	modernKeys  = []string{
		wire.MetaProtocolVersion, wire.MetaClientInfo, wire.MetaClientCapabilities, wire.MetaLogLevel, wire.MetaServerInfo, wire.MetaSubscriptionID,
	}
	// legacyNames and legacyKeys must not reach a modern client (§6.2).
	legacyNames = []string{"ttl", "pollInterval", "requestState"}
	legacyKeys  = []string{wire.MetaRelatedTask, wire.MetaImmediateResponse}
)

func FuzzDownTask(f *testing.F) {
	seed(f, "modern.result", "get", "create", "result", "cancel")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		task, err := mapping.ReadDownTask("tasks/get", v)
		if err != nil {
			refused(t, err)
			return
		}
		buf, notes, err := mapping.AppendDownTask(nil, task, "h", mapping.TaskOptions{})
		shown := written(t, buf, notes, err, modernNames, append([]string{wire.MetaRelatedTask, wire.MetaImmediateResponse}, modernKeys...))
		again, err := mapping.ReadUpTask("tasks/get", shown)
		if err != nil {
			t.Fatalf("the legacy task does not read: %v\n%s", err, shown)
		}
		if again.ID() != "h" || !again.CreatedAt().Present() || !again.LastUpdatedAt().Present() || !again.Has("ttl") {
			t.Fatalf("a required member is missing\n%s", shown)
		}
		if _, exact := again.TTL(); !exact {
			t.Fatalf("ttl is neither null nor an integer\n%s", shown)
		}
		if back, notes, ok := upAgain(t, task, shown); ok {
			written(t, back, notes, nil, legacyNames, legacyKeys)
		}
		overlay := mapping.AppendTaskOverlay(nil, v, ext2026.StatusCancelled, "m", "2026-01-01T00:00:00.000Z")
		written(t, overlay, 0, nil, []string{"result", "error", "inputRequests", "requestState"}, nil)
		written(t, mapping.AppendTaskRebased(nil, v, "2026-01-01T00:00:00.000Z"), 0, nil, nil, nil)
		written(t, mapping.AppendFailedOverlay(nil, v, "m", "2026-01-01T00:00:00.000Z"), 0, nil, nil, nil)
		if mapping.TaskChange(task) == "" {
			t.Fatal("no change mark")
		}
	})
}

// refused checks an error about a backend's message: its client gets -32603.
func refused(t *testing.T, err error) {
	t.Helper()
	var failure *mapping.Error
	if !errors.As(err, &failure) || failure.RPC().Code != jsonrpc.CodeInternal {
		t.Fatalf("%T: %v", err, err)
	}
}

func FuzzDownCreate(f *testing.F) {
	seed(f, "modern.result", "create", "get")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		task, err := mapping.ReadDownTask("tools/call", v)
		if err != nil {
			refused(t, err)
			return
		}
		buf, notes, err := mapping.AppendDownCreateTask(nil, task, "h", mapping.TaskOptions{})
		made := written(t, buf, notes, err, modernNames, modernKeys)
		written(t, []byte(made.Get("task")), 0, nil, append([]string{"_meta"}, modernNames...), nil)
		created, err := mapping.ReadUpCreateTask(made)
		if err != nil {
			t.Fatalf("the result does not read: %v\n%s", err, made)
		}
		if created.Task.Status() != legacy2025.StatusWorking {
			t.Fatalf("created as %s", created.Task.Status())
		}
		if id, _ := made.Get("_meta").Get(wire.MetaRelatedTask).Get("taskId").Text(); id != "h" {
			t.Fatalf("not tied to the task\n%s", made)
		}
	})
}

func FuzzDownPayload(f *testing.F) {
	seed(f, "modern.result", "result", "get")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		task, err := mapping.ReadDownTask("tasks/get", v)
		if err != nil {
			refused(t, err)
			return
		}
		buf, notes, err := mapping.AppendDownTaskPayload(nil, task, "h", mapping.ResultOptions{})
		var end *jsonrpc.Error
		if errors.As(err, &end) {
			legacyError(t, end)
			return
		}
		if err != nil {
			refused(t, err)
		}
		result := written(t, buf, notes, err, []string{"resultType", "inputRequests", "requestState"}, modernKeys)
		if structured := result.Get("structuredContent"); structured.Present() && !structured.IsObject() {
			t.Fatalf("structuredContent is no object\n%s", buf)
		}
	})
}

// legacyError checks an error that a legacy client gets.
func legacyError(t *testing.T, e *jsonrpc.Error) {
	t.Helper()
	if e.Code <= -32020 && e.Code >= -32099 {
		t.Fatalf("code %d on a legacy leg", e.Code)
	}
	if _, err := wire.Check(jsonrpc.AppendErrorObject(nil, e)); err != nil {
		t.Fatal(err)
	}
}

func FuzzUpTask(f *testing.F) {
	seed(f, "legacy.result", "get", "create")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		o := mapping.UpTaskOptions{Payload: mapping.Payload{Result: v}, Requests: []mapping.InputEntry{{Key: "k", Request: `{"method":"roots/list"}`}}}
		names := append([]string{"task"}, legacyNames...)
		if legacy2025.IsCreateTaskResult(v) {
			created, err := mapping.ReadUpCreateTask(v)
			if err != nil {
				refused(t, err)
				return
			}
			buf, notes, err := mapping.AppendUpCreateTask(nil, created, "h", o)
			seedTask := written(t, buf, notes, err, []string{"ttl", "pollInterval", "requestState", "result", "error", "inputRequests"}, legacyKeys)
			if seedTask.Get("status") == `"input_required"` {
				t.Fatalf("created without a question in hand\n%s", seedTask)
			}
			return
		}
		task, err := mapping.ReadUpTask("tasks/get", v)
		if err != nil {
			refused(t, err)
			return
		}
		if !isWrapper(v.Get("task")) {
			names = legacyNames
		}
		buf, notes, err := mapping.AppendUpTask(nil, task, "h", o)
		if err != nil {
			refused(t, err)
		}
		shown := written(t, buf, notes, err, names, legacyKeys)
		if err == nil {
			downAgain(t, task, shown)
		}
	})
}

func isWrapper(v wire.Value) bool {
	_, ok := v.Get("taskId").Text()
	return ok
}

func FuzzErrors(f *testing.F) {
	seed(f, "modern.error", "errors")
	seed(f, "legacy.error", "errors", "input")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		failure, err := jsonrpc.ParseError(v, "error")
		if err != nil {
			return
		}
		for _, method := range []string{ext2026.MethodToolsCall, ext2026.MethodResourcesRead} {
			down := mapping.DownError(method, `{"uri":"ore://0"}`, failure)
			legacyError(t, down)
			if down.Code == legacy2025.CodeURLElicitationRequired {
				t.Fatal("-32042 passed")
			}
			up := mapping.UpError(method, failure)
			if up.Code <= -32000 && up.Code >= -32099 {
				t.Fatalf("code %d on a modern leg", up.Code)
			}
			if _, err := wire.Check(jsonrpc.AppendErrorObject(nil, up)); err != nil {
				t.Fatal(err)
			}
			// What was translated once needs no more.
			if again := mapping.UpError(method, up); again != up {
				t.Fatalf("%v became %v and then %v", failure, up, again)
			}
		}
	})
}

func FuzzQuestions(f *testing.F) {
	seed(f, "modern.entry", "input")
	seed(f, "legacy.params", "input")
	f.Add(`{"method":"sampling/createMessage","params":{"messages":[{"content":[{"type":"tool_result","content":"","structuredContent":""}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		for _, version := range legacy2025.Versions() {
			if question, err := ext2026.ParseInputRequest(v, ""); err == nil {
				buf, notes, err := mapping.AppendDownInputRequest(nil, question, mapping.QuestionOptions{TaskID: "h", ElicitationID: "e", Version: version})
				if len(buf) > 0 || err != nil {
					written(t, buf, notes, err, []string{"task"}, modernKeys)
				}
				mapping.MayAskDown(v, version, question)
			}
		}
		for _, method := range []string{ext2026.MethodElicitationCreate, ext2026.MethodSamplingCreateMessage, ext2026.MethodRootsList} {
			buf, notes, err := mapping.AppendUpInputRequest(nil, method, v)
			entry := written(t, buf, notes, err, []string{"id", "jsonrpc"}, nil)
			if params := entry.Get("params"); params.Present() {
				written(t, []byte(params), 0, nil, []string{"_meta", "task"}, nil)
			}
			buf, notes, err = mapping.AppendUpInputResponse(nil, ext2026.InputRequest{Method: method}, v)
			written(t, buf, notes, err, []string{"resultType"}, legacyKeys)
			for _, params := range []wire.Value{"", `{"mode":"url"}`, v} {
				for _, taskID := range []string{"", "LT"} {
					buf, notes, err = mapping.AppendDownInputResponse(nil, method, params, v, taskID, "params.inputResponses.k")
					told := written(t, buf, notes, err, []string{"resultType"}, modernKeys)
					if got, _ := told.Get("_meta").Get(wire.MetaRelatedTask).Get("taskId").Text(); err == nil && got != taskID {
						t.Fatalf("an answer to task %q\n%s", taskID, told)
					}
				}
			}
		}
	})
}
