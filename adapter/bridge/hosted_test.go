package bridge_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestHostedMalformedQuestions: what a server asks in answer to a call with a task
// is read like what it asks of any task: a malformed elicitation is dismissed, and
// what is no question at all fails the task, at once and for good (§4.11).
func TestHostedMalformedQuestions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		inputs wire.Value
		status string
	}{
		"§4.11 an elicitation without params":    {`{"k":{"method":"elicitation/create"}}`, `"completed"`},
		"§4.11 an elicitation with other params": {`{"k":{"method":"elicitation/create","params":5}}`, `"completed"`},
		"§4.11 a method that nobody knows":       {`{"k":{"method":"dance/now","params":{}}}`, `"failed"`},
		"§4.11 what is no question":              {`{"k":5}`, `"failed"`},
		"§4.11 a null":                           {`{"k":null}`, `"failed"`},
		"§4.11 an empty key":                     {`{"":{"method":"elicitation/create"}}`, `"completed"`},
		"§4.11 a key that looks like another":    {`{"1:\u0000<&\"":{"method":"elicitation/create"}}`, `"completed"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRigWithTasks(t)
				r.back.do = func(n int, call port.Call) (wire.Value, error) {
					if n == 1 {
						return `{"resultType":"input_required","inputRequests":` + tt.inputs + `,"requestState":"s"}`, nil
					}
					for m := range tt.inputs.Members() {
						for answered := range call.Params.Get("inputResponses").Members() {
							if answered.Name != m.Name || answered.Value != `{"action":"cancel"}` {
								t.Errorf("answered %s", call.Params.Get("inputResponses"))
							}
						}
					}
					return isDone, nil
				}
				x, _ := asking("tools/call", `{"name":"a","task":{}}`)
				out := r.upgrade.Request(t.Context(), x)
				handle, ok := out.Result.Get("task").Get("taskId").Text()
				if out.Err != nil || !ok {
					t.Fatalf("created %+v", out)
				}
				get, sent := asking("tasks/get", wire.Value(`{"taskId":`+string(wire.String(handle))+`}`))
				get.Own = func() port.Stream { return get.Stream }
				var status wire.Value
				for range 4 {
					out := r.upgrade.Request(t.Context(), get)
					if out.Err != nil {
						t.Fatal(out.Err)
					}
					status = out.Result.Get("status")
					time.Sleep(2 * time.Second)
				}
				if string(status) != tt.status || len(*sent) != 0 {
					t.Errorf("status %s after %q, want %s", status, *sent, tt.status)
				}
				if got := len(r.back.calls); got != 1+strings.Count(tt.status, "completed") {
					t.Errorf("%d calls", got)
				}
			})
		})
	}
}
