package bridge

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// aliveEvery is the longest time without progress of a driven call (A-T14).
const aliveEvery = 15 * time.Second

// taskState is what a task says of itself.
type taskState struct{ status, message string }

// alive makes up progress for a call whose task is driven: tasks have none, and
// without any the client's own time runs out (A-T14). It counts up, and says what
// the task says of itself.
type alive struct {
	d      *dialogue
	states chan taskState
	stop   context.CancelFunc
}

// keepAlive begins to report; stop ends that. A client that asked for no progress
// gets none.
func (u *Upgrade) keepAlive(ctx context.Context, d *dialogue) *alive {
	ctx, stop := context.WithCancel(ctx)
	a := &alive{d: d, states: make(chan taskState, 1), stop: stop}
	if !d.relay.clientToken.Present() || d.x.Stream == nil {
		return a
	}
	done := make(chan struct{})
	a.stop = func() {
		stop()
		<-done // nothing may follow the answer
	}
	go func() {
		defer close(done)
		a.report(ctx, u.env)
	}()
	return a
}

// state takes the task's newest document.
func (a *alive) state(doc wire.Value) {
	var now taskState
	now.status, _ = doc.Get("status").Text()
	now.message, _ = doc.Get("statusMessage").Text()
	if port.TaskStatus(now.status).Terminal() {
		return
	}
	select {
	case <-a.states: // only the newest counts
	default:
	}
	select {
	case a.states <- now:
	default:
	}
}

func (a *alive) report(ctx context.Context, e env.Env) {
	var last taskState
	for {
		if !a.wait(ctx, e, &last) {
			return
		}
		a.d.relay.synthesize(last.message)
	}
}

// wait returns when there is something to report: another state than the last, or
// nothing for too long. It reports false when the call has ended.
func (a *alive) wait(ctx context.Context, e env.Env, last *taskState) bool {
	timer := e.NewTimer(aliveEvery)
	defer timer.Stop()
	for {
		select {
		case state := <-a.states:
			if state != *last {
				*last = state
				return true
			}
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}
