package task_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// TestAnswerWhileCancelling: a client's answer is accepted while the backend is being
// asked to cancel. Where it refuses, or the bridge dies before it knows, the task goes
// on, and the answer counts; where it agrees, the task is cancelled all the same. In
// either case the question is closed (A-I5, A-X1, A-X5; DESIGN, promise 2).
func TestAnswerWhileCancelling(t *testing.T) {
	for _, tt := range []struct {
		name    string
		refusal error // of the backend
		dies    bool
		status  port.TaskStatus
		told    int
	}{
		{"the backend refuses", errMethod, false, port.TaskWorking, 1},
		{"the backend agrees", nil, false, port.TaskCancelled, 0},
		{"the process dies", errMethod, true, port.TaskWorking, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				handle := w.proxied("t1")
				w.backend.set(func(b *backend) {
					d := b.docs["t1"]
					d.Status, d.Asks = port.TaskInputRequired, []question{{Key: "k", Text: "Really"}}
					b.docs["t1"] = d
					b.cancelDelay, b.cancelErr = 10*second, tt.refusal
				})
				l := &line{sent: make(chan string, 10)}
				ctx, leave := context.WithCancel(w.Context())
				defer leave()
				go w.Manager.Result(ctx, backendName, alice, handle, l)
				<-l.sent

				cancelled := make(chan error, 1)
				m := w.Manager
				go func() {
					_, err := m.Cancel(context.WithoutCancel(w.Context()), backendName, alice, handle)
					cancelled <- err
				}()
				after(second)
				answer := jsonrpc.Message{Kind: jsonrpc.KindResult, ID: jsonrpc.ID(strconv.FormatInt(l.ids, 10)), Result: `"yes"`}
				if err := w.Answer(w.Context(), backendName, alice, answer); err != nil {
					w.Fatal(err)
				}
				if tt.dies {
					w.crash()
					after(2 * minute) // the mark of the dead is ignored by now
				} else if err := <-cancelled; (err == nil) != (tt.refusal == nil) {
					w.Errorf("the cancellation ended with %v", err)
				}
				w.wantStatus(handle, tt.status)
				after(second)
				w.backend.set(func(b *backend) {
					if len(b.updates) != tt.told || tt.told > 0 && b.updates[0].answers[0].Value != `"yes"` {
						w.Errorf("the backend was told %v", b.updates)
					}
				})
				if len(l.sent) != 0 {
					w.Errorf("the client gets %q", <-l.sent)
				}
			})
		})
	}
}
