package demo

import (
	"context"
	"errors"
	"time"
)

const (
	// metaRelated ties a message to the task it belongs to.
	metaRelated = "io.modelcontextprotocol/related-task"
	// minTTL is the shortest time that a task is kept.
	minTTL = time.Second
	// taskPage is how many tasks tasks/list shows at a time.
	taskPage = 10
)

func relatedTask(id string) object { return object{metaRelated: object{"taskId": id}} }

// legacyStatus is the status of a job as this revision has it, where a tool
// that answers with an error has failed. Spec: 2025-11-25
// basic/utilities/tasks, "Task Execution Errors".
func legacyStatus(s snapshot, status jobStatus) jobStatus {
	if status == jobCompleted && s.out.isError {
		return jobFailed
	}
	return status
}

// legacyTask is the Task of a job.
func (l *Legacy) legacyTask(s snapshot) object {
	task := object{
		"taskId": s.id, "status": legacyStatus(s, s.status),
		"createdAt": s.created.UTC().Format(timeFormat), "lastUpdatedAt": s.updated.UTC().Format(timeFormat),
		"ttl": s.ttl.Milliseconds(), "pollInterval": l.opts.PollInterval.Milliseconds(),
	}
	if s.message != "" {
		task["statusMessage"] = s.message
	}
	if s.status == jobCompleted && s.out.isError {
		task["statusMessage"] = s.out.text
	}
	return task
}

// createTask starts a task and answers with it.
func (s *session) createTask(t *tool, p plan, o order) (object, error) {
	seed, err := s.server.jobs.start(p, o)
	if err != nil {
		return nil, err
	}
	s.count(t)
	return object{"task": s.server.legacyTask(seed)}, nil
}

// askFirst asks on the stream of the call and starts the task once it knows.
func (s *session) askFirst(t *tool, p plan, o order) later {
	return func(ctx context.Context, st *stream) (object, error) {
		h := &legacyHost{host: &streamHost{s: s, st: st}, s: s}
		known, err := h.ask(ctx, t.asks...)
		var no *refusal
		if errors.As(err, &no) { // the task tells it
			p, err = answering(no.why), nil
		}
		if err != nil {
			return nil, err
		}
		o.given = known
		return s.createTask(t, p, o) //nolint:contextcheck // a task outlives its call
	}
}

// own returns a task of this session; one of another is as unknown as none.
func (s *session) own(msg message) (snapshot, error) {
	id, ok := readString(msg.params["taskId"])
	if !ok {
		return snapshot{}, invalid("params.taskId: want a string")
	}
	snap, err := s.server.jobs.get(id)
	if err != nil || snap.owner != s.id {
		return snapshot{}, taskError(errNoJob)
	}
	return snap, nil
}

// getTask answers tasks/get. A client that polls on and does not wait for the
// result, where questions come, is asked on its GET stream in the end.
func (s *session) getTask(msg message) (object, error) {
	snap, err := s.own(msg)
	if err != nil {
		return nil, err
	}
	if snap.status == jobInput && s.toldLong(snap.id) {
		if st := s.outlet(); st != nil {
			s.deliver(st, snap.id)
		}
	}
	return s.server.legacyTask(snap), nil
}

// toldLong says whether the client has known for a poll interval that a task
// has questions. From this call on it knows.
func (s *session) toldLong(task string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, told := s.told[task]
	if !told {
		s.told[task] = time.Now()
	}
	return told && s.isReady && time.Since(at) >= s.server.opts.PollInterval
}

func (s *session) listTasks(msg message) (object, error) {
	after := 0
	if raw := msg.params["cursor"]; raw != nil {
		var err error
		if after, err = cursorPlace("tasks", raw); err != nil {
			return nil, err
		}
	}
	list := []object{}
	result := object{}
	for _, snap := range s.server.jobs.list(s.id, uint64(after)) {
		if len(list) == taskPage {
			result["nextCursor"] = writeCursor("tasks", after)
			break
		}
		list = append(list, s.server.legacyTask(snap))
		after = int(snap.seq) //nolint:gosec // a count
	}
	result["tasks"] = list
	return result, nil
}

func (s *session) cancelTask(msg message) (object, error) {
	snap, err := s.own(msg)
	if err != nil {
		return nil, err
	}
	ended, err := s.server.jobs.cancel(snap.id)
	if err != nil {
		return nil, taskError(err)
	}
	if snap, err = s.server.jobs.get(snap.id); err != nil {
		return nil, taskError(err)
	}
	if !ended {
		return nil, invalid("params.taskId: the task is already %s", legacyStatus(snap, snap.status))
	}
	return s.server.legacyTask(snap), nil
}

// taskResult serves tasks/result: on a stream that carries the questions of
// the task until it ends. Spec: "Result Retrieval" and "Input Required Status".
func (s *session) taskResult(msg message) (object, later, error) {
	snap, err := s.own(msg)
	if err != nil {
		return nil, nil, err
	}
	return nil, func(ctx context.Context, st *stream) (object, error) {
		for {
			s.mu.Lock()
			moved := s.desk.moved // before the questions are looked at
			s.mu.Unlock()
			now, err := s.server.jobs.get(snap.id)
			if err != nil {
				return nil, taskError(err)
			}
			if now.status.terminal() {
				return s.outcome(now)
			}
			var ready <-chan struct{}
			if len(now.open) > 0 && !s.deliverReady(st, now.id) {
				ready = s.ready
			}
			select {
			case <-now.pulse:
			case <-moved:
			case <-ready:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}, nil
}

// deliverReady asks, unless the client is not ready to be asked.
func (s *session) deliverReady(st *stream, task string) bool {
	select {
	case <-s.ready:
		s.deliver(st, task)
		return true
	default:
		return false
	}
}

// outcome is the answer to tasks/result for a task that has ended.
func (s *session) outcome(snap snapshot) (object, error) {
	switch snap.status {
	case jobFailed:
		return nil, snap.err
	case jobCancelled:
		return nil, &rpcError{code: codeInternal, message: "the task was cancelled"}
	case jobCompleted, jobWorking, jobInput:
	}
	result := s.result(snap.out)
	result["_meta"] = relatedTask(snap.id)
	return result, nil
}

// taskChanged is told of every change of a task: it takes questions back that
// nobody needs answered any more, and tells the owner of a new status.
func (l *Legacy) taskChanged(snap snapshot) {
	s := l.ownerOf(snap)
	if s == nil {
		return
	}
	s.settle(snap.id, snap.open)
	if snap.was != legacyStatus(snap, snap.status) {
		s.notify("notifications/tasks/status", l.legacyTask(snap))
	}
}

// taskForgotten takes the questions of a task back that is no more.
func (l *Legacy) taskForgotten(snap snapshot) {
	if s := l.ownerOf(snap); s != nil {
		s.settle(snap.id, nil)
	}
}

func (l *Legacy) ownerOf(snap snapshot) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions[snap.owner]
}
