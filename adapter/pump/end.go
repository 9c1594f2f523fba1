package pump

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// endTime is how long a backend may take to tell the end of a task that it says is
// over (B-G1).
const endTime = 5 * time.Second

// waitTime is how much of it a wait that is open already may take: backends are there
// that forget who waits, or look after them in steps, and answer the next who asks.
const waitTime = time.Second

var errEndTime = &port.CauseError{Text: "the backend took too long to tell the end of a task", Public: port.TimedOut}

// conclude puts the end of a task on record whose document says that it is over
// (B-G1). The end is fetched once: backends forget a task that has been read.
func (m *Manager) conclude(ctx context.Context, l *live, caller port.Caller, v view) (view, error) {
	ctx = context.WithoutCancel(ctx) // nobody may be able to fetch it again
	var end port.TaskEnd
	if v.st.Status != port.TaskCancelled {
		var err error
		if end, err = m.end(ctx, l, caller, v.st); err != nil {
			return m.failed(ctx, l, err)
		}
	}
	rec, err := m.change(ctx, l.ref, func(rec *record) bool {
		if rec.Final {
			return false // somebody else was faster
		}
		rec.over(v.doc, end)
		rec.lifetime(v.st)
		if rec.Info == "" {
			rec.Info = v.rec.Info
		}
		return true
	})
	if err != nil && !rec.Final {
		return view{}, err
	}
	if err != nil {
		// The end is known, and is kept here until the store takes it.
		m.Logger.ErrorContext(ctx, "end of a task not recorded", "error", port.Reason(err))
		return view{rec: rec, doc: rec.doc, unkept: true}, nil
	}
	l.moved()
	m.dismiss(l)
	m.tell(ctx, l.ref, "")
	return view{rec: rec, doc: rec.doc}, nil
}

// end returns how a task has ended that is over. Whoever waits for that already should
// get it in a moment.
func (m *Manager) end(ctx context.Context, l *live, caller port.Caller, st port.TaskState) (port.TaskEnd, error) {
	ctx, cancel := m.bind(ctx, endTime, errEndTime)
	defer cancel()
	l.mu.Lock()
	waiting := l.waiting
	l.mu.Unlock()
	if waiting != nil && waiting.holds() {
		timer := m.Env.NewTimer(waitTime)
		defer timer.Stop()
		select {
		case <-waiting.done:
		case <-timer.C:
		case <-ctx.Done():
			waiting.stop() // it may be broken: the next look asks anew
			return port.TaskEnd{}, context.Cause(ctx)
		}
	}
	if end, known := l.ended(); known {
		return end, nil
	}
	result, err := l.do(ctx, caller, port.TaskResult, func(s said) { m.hear(ctx, l, s, 0) })
	if end, known := l.ended(); known && err != nil {
		return end, nil // the wait was faster
	}
	l.mu.Lock()
	early := l.early
	l.mu.Unlock()
	end := port.TaskEnd{Result: result}
	switch {
	case err == nil:
	case early != nil && st.Status == port.TaskCompleted && (errors.Is(context.Cause(ctx), errEndTime) || !transient(err)):
		end = *early // which was given once
	default:
		if end.Error, err = m.endedIn(ctx, l, caller, st, err); err != nil {
			return port.TaskEnd{}, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fetched = &end
	return end, nil
}

// ended returns the end of the task that has been fetched and is not on record.
func (l *live) ended() (port.TaskEnd, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fetched == nil {
		return port.TaskEnd{}, false
	}
	return *l.fetched, true
}

// endedIn returns the error that a task has ended in, or why that is not known. Some
// backends say of a completed task that they have given its result before that it is
// unknown (B-G6): whether it is the next look at it shows.
func (m *Manager) endedIn(ctx context.Context, l *live, caller port.Caller, st port.TaskState, err error) (*jsonrpc.Error, error) {
	var rpc *jsonrpc.Error
	switch {
	case ctx.Err() != nil && !errors.As(err, &rpc):
		return nil, context.Cause(ctx)
	case transient(err), !errors.As(err, &rpc):
		return nil, err
	case st.Status == port.TaskCompleted && unknownTask(err):
		if _, failed := l.do(ctx, caller, port.TaskGet, nil); failed != nil {
			return nil, failed
		}
	}
	return rpc, nil
}
