package task_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// line is a stream on which a client is asked.
type line struct {
	sent chan string
	ids  int64
}

func (l *line) Asks() bool            { return true }
func (l *line) Connected() bool       { return true }
func (l *line) Gone() <-chan struct{} { return nil }

func (l *line) NewID(context.Context) (jsonrpc.ID, error) {
	l.ids++
	return jsonrpc.IntID(l.ids), nil
}

func (l *line) Send(msg []byte) error {
	l.sent <- string(msg)
	return nil
}

// TestDrainWhileAnswered: a client's answer comes when the bridge is about to stop.
// A hosted call that waits for it is not begun again by this process, which would
// only cut it, but by the next one (A-M9, G-6; DESIGN, promise 2).
func TestDrainWhileAnswered(t *testing.T) {
	for name, stop := range map[string]func(w *world){
		"between draining and closing": func(w *world) {
			if err := w.Drain(w.Context()); err != nil {
				w.Error(err)
			}
		},
		"while it drains": func(w *world) {
			w.create(call(2*second, task.Ending{Result: someResult})) // one to wait for
			w.create(call(10*second, task.Ending{Result: someResult}))
			go func() { _ = w.Drain(w.Context()) }()
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				resumed := 0
				w.onResume = func(ctx context.Context, _ port.Caller, saved string, answers []port.Answer) task.Ending {
					resumed++
					if saved != "the call" || len(answers) != 1 || answers[0].Value != `"yes"` {
						w.Errorf("resumed with %q and %v", saved, answers)
					}
					if err := env.Sleep(ctx, env.System(), minute); err != nil {
						return task.Ending{Err: &port.UpstreamError{Op: "tools/call", Sent: true, Err: err}}
					}
					return task.Ending{Result: someResult}
				}
				handle := w.create(call(0, task.Ending{Round: &task.Round{
					Questions: []port.Question{{Key: "k", Request: `{"key":"k","text":"Really"}`}}, Saved: []byte("the call"),
				}})).ID
				l := &line{sent: make(chan string, 1)}
				ctx, leave := context.WithCancel(w.Context())
				go w.Manager.Result(ctx, backendName, alice, handle, l)
				<-l.sent
				leave()

				stop(w)
				answer := jsonrpc.Message{Kind: jsonrpc.KindResult, ID: jsonrpc.ID(strconv.FormatInt(l.ids, 10)), Result: `"yes"`}
				if err := w.Answer(w.Context(), backendName, alice, answer); err != nil {
					w.Fatal(err)
				}
				synctest.Wait()
				w.asleep(second)
				if resumed != 0 {
					w.Errorf("the call was begun again %d times by the process that stops", resumed)
				}
				w.wantStatus(handle, port.TaskWorking)
				after(2 * minute)
				w.wantStatus(handle, port.TaskCompleted)
				if resumed != 1 {
					w.Errorf("the call was begun again %d times, want 1", resumed)
				}
			})
		})
	}
}
