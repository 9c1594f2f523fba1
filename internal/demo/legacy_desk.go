package demo

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"
)

// questionLimit is how long a call waits for the answer to a question. Those of
// a task may take as long as the task is kept.
const questionLimit = 10 * time.Minute

// refusal is why a question has no answer. The tool that asked tells it to the
// model.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

// asked is a request of this server that has no answer yet.
type asked struct {
	id   int
	task string // empty for a question of a call
	q    question
	st   *stream
	got  chan incoming // of a question of a call
	// answered is set once somebody has answered; a task's question is kept until
	// the task has the answer, or it would be asked again meanwhile.
	answered bool
}

// desk keeps the requests of one session. The session's mu guards it.
type desk struct {
	last  int // id of the latest request; ids are never used again
	open  map[int]*asked
	moved chan struct{} // closed when a stream has lost its reader or has one again
}

func newDesk() desk { return desk{open: map[int]*asked{}, moved: make(chan struct{})} }

// moved tells those who wait for a task that a question may have been lost, or
// can be asked again.
func (s *session) moved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.desk.moved)
	s.desk.moved = make(chan struct{})
}

// putLocked sends a question on a stream. The caller holds mu.
func (s *session) putLocked(st *stream, q question, task string) *asked {
	s.desk.last++
	a := &asked{id: s.desk.last, task: task, q: q, st: st, got: make(chan incoming, 1)}
	s.desk.open[a.id] = a
	msg := object{"jsonrpc": "2.0", "id": a.id, "method": q.method}
	if params := s.questionParams(q, task); len(params) > 0 {
		msg["params"] = params
	}
	st.send(msg)
	return a
}

// questionParams are the params of a question as the session's revision has
// them. Spec: 2025-11-25 basic/utilities/tasks, "Associating Task-Related
// Messages".
func (s *session) questionParams(q question, task string) object {
	params := object{}
	if given, ok := q.params.(object); ok {
		maps.Copy(params, given)
	}
	if s.version < legacyNewest {
		delete(params, "mode")
	}
	if task != "" {
		params["_meta"] = relatedTask(task)
	}
	return params
}

// askOn asks on the stream of a call and waits. Questions that are open when
// it returns are taken back.
func (s *session) askOn(ctx context.Context, st *stream, questions []question) (answers, error) {
	select {
	case <-s.ready: // before, a server sends no requests
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var open []*asked
	s.mu.Lock()
	for _, q := range questions {
		open = append(open, s.putLocked(st, q, ""))
	}
	s.mu.Unlock()
	defer s.withdraw(func(a *asked) bool { return slices.Contains(open, a) })
	limit := time.NewTimer(questionLimit)
	defer limit.Stop()
	got := answers{}
	for _, a := range open {
		select {
		case in := <-a.got:
			if err := a.q.refused(in); err != nil {
				return nil, err
			}
			got[a.q.key] = in.result
		case <-limit.C:
			return nil, &refusal{why: "the client did not answer in time"}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return got, nil
}

// refused says why a response is no answer to the question.
func (q question) refused(in incoming) error {
	if in.failure != nil {
		return &refusal{why: "the client refused: " + in.failure.message}
	}
	if !q.accepts(in.result) {
		return &refusal{why: "the client's answer is not one to " + q.method}
	}
	return nil
}

// withdraw takes questions back. Spec: 2025-11-25 basic/utilities/cancellation.
func (s *session) withdraw(which func(*asked) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.desk.open)) {
		a := s.desk.open[id]
		if !which(a) {
			continue
		}
		delete(s.desk.open, id)
		if !a.answered {
			a.st.notify("notifications/cancelled", object{"requestId": id, "reason": "no longer needed"})
		}
	}
}

// settle takes back what a task has asked and no longer wants to know.
func (s *session) settle(task string, open []question) {
	if len(open) == 0 {
		s.mu.Lock()
		delete(s.told, task)
		s.mu.Unlock()
	}
	s.withdraw(func(a *asked) bool {
		return a.task == task && !slices.ContainsFunc(open, func(q question) bool { return q.key == a.q.key })
	})
}

// deliver asks the open questions of a task on a stream that somebody reads,
// except those that a client has or can still read on another. The earlier request stays good: it
// may have arrived, and the first answer counts.
func (s *session) deliver(st *stream, task string) {
	s.server.jobs.look(task, func(snap snapshot) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !st.live() {
			return // it asks when its client comes back
		}
		for _, q := range snap.open {
			there := false
			for _, a := range s.desk.open {
				there = there || a.task == task && a.q.key == q.key && (a.answered || a.st.read())
			}
			if !there {
				s.putLocked(st, q, task)
			}
		}
	})
}

// answered takes a response. It is false for an id this server never used; a
// response that comes too late is ignored.
func (s *session) answered(in incoming) bool {
	id, err := strconv.Atoi(string(in.id))
	s.mu.Lock()
	if err != nil || id <= 0 || id > s.desk.last {
		s.mu.Unlock()
		return false
	}
	a := s.desk.open[id]
	if a == nil || a.answered {
		s.mu.Unlock()
		return true
	}
	a.answered = true
	if a.task == "" {
		delete(s.desk.open, id)
	}
	s.mu.Unlock()
	if a.task == "" {
		a.got <- in
		return true
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.desk.open, id)
	}()
	why := a.q.refused(in)
	if why == nil {
		why = s.server.jobs.update(a.task, answers{a.q.key: in.result})
	}
	if why != nil {
		s.server.jobs.refuse(a.task, a.q.key, why)
	}
	return true
}
