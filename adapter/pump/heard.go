package pump

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// said is a message of a backend, and the session that it was said in.
type said struct {
	session port.Session
	msg     jsonrpc.Message
}

// listen returns what takes the messages ahead of the answer to a request. What
// belongs to another task goes there, and the rest to hear; nil refuses it.
func (l *live) listen(lease port.LentSession, hear func(said)) func(jsonrpc.Message) {
	return func(msg jsonrpc.Message) {
		s := said{lease.Session(), msg}
		switch {
		case hear != nil && msg.Kind == jsonrpc.KindRequest && l.is(l.m.Dialect.Said(msg).Task):
			hear(s)
		case l.m.Heard(l.ref.backend, s.session, msg, false):
		case hear != nil:
			hear(s)
		case msg.Kind == jsonrpc.KindRequest:
			l.m.refuse(l.m.ctx, s, jsonrpc.CodeMethodNotFound, "nobody can be asked during this request")
		}
	}
}

// Heard takes what a backend says of a task in this session. It reports false for
// what is said of none that this process looks after. A message that names no task
// is taken only if anonymous is set: if there is but one that it can be of (B-I2).
// It does not block for long.
func (m *Manager) Heard(backend string, session port.Session, msg jsonrpc.Message, anonymous bool) bool {
	about := m.Dialect.Said(msg)
	switch {
	case about.Doc.Present():
		m.status(backend, session, about)
		return true // of another session's task it is nobody's business
	case about.Withdrawn.Present():
		return m.withdraw(m.ctx, backend, session, about.Withdrawn)
	case about.Progress && about.Task != "":
		return true // there is none for tasks (§4.26)
	case msg.Kind != jsonrpc.KindRequest:
		return false
	}
	l := m.find(backend, session, about.Task)
	if l == nil && about.Task == "" && anonymous {
		l = m.only(backend, session, about.Unprompted)
	}
	if l == nil {
		return false
	}
	m.question(m.ctx, l, said{session, msg}, 0)
	return true
}

// find returns the task of this id that lives in the session.
func (m *Manager) find(backend string, session port.Session, taskID string) *live {
	if taskID == "" {
		return nil
	}
	for _, l := range m.in(backend, session) {
		if l.is(taskID) {
			return l
		}
	}
	return nil
}

// is reports whether the backend names the task so.
func (l *live) is(taskID string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return taskID != "" && l.taskID == taskID
}

// only returns the task of the session that is asking, if it is the only one there,
// or the only one that is known to need input. Needy leaves the others out.
func (m *Manager) only(backend string, session port.Session, needy bool) *live {
	all := m.in(backend, session)
	if len(all) == 1 && !needy {
		return all[0]
	}
	var found *live
	for _, l := range all {
		l.mu.Lock()
		needs := l.needs
		l.mu.Unlock()
		switch {
		case needs && found != nil:
			return nil
		case needs:
			found = l
		}
	}
	return found
}

// in returns the tasks that live in a session.
func (m *Manager) in(backend string, session port.Session) []*live {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*live
	for _, l := range m.tasks {
		l.mu.Lock()
		if l.ref.backend == backend && l.session == session && !l.gone {
			all = append(all, l)
		}
		l.mu.Unlock()
	}
	return all
}

// Lives reports whether a task lives in the session: what a backend says there beside
// all requests may be about it.
func (m *Manager) Lives(backend string, session port.Session) bool {
	return len(m.in(backend, session)) > 0
}

// status takes what a backend has said of a task's state by itself. It has the weight
// of an answer, if nothing is missing in it.
func (m *Manager) status(backend string, session port.Session, about port.TaskSaid) {
	st, err := m.Dialect.Read(about.Doc)
	if err != nil {
		m.Logger.Warn("task notification ignored", "backend", backend, "error", port.Reason(err))
		return
	}
	l := m.find(backend, session, st.ID)
	if l == nil {
		if st.Status == port.TaskInputRequired {
			m.early.Add(sessionTask{session, st.ID}, true) // its call has not been answered yet
		}
		return
	}
	said := about.Doc
	if !about.Whole {
		said = ""
	}
	if l.news(said, st) && said.Present() {
		m.tell(m.ctx, l.ref, said) // there may be listeners elsewhere
	}
	if st.Status == port.TaskInputRequired {
		m.await(l)
	}
}

// news takes what a backend has said of a task's state by itself, which is absent if it
// was not all. It reports whether that is new: some say everything twice.
func (l *live) news(doc wire.Value, st port.TaskState) bool {
	l.mu.Lock()
	same := l.doc.Present() && l.st.Change == st.Change
	l.needs = st.Status == port.TaskInputRequired
	l.mu.Unlock()
	switch {
	case same:
	case doc.Present():
		l.heard(doc, st)
	default:
		l.moved()
	}
	return !same
}

// hear takes a message ahead of the answer to a request about a task. It belongs to
// the task by where it was said, unless it names one that lives elsewhere. The token is
// that of the lease under which it was asked for, or 0.
func (m *Manager) hear(ctx context.Context, l *live, s said, token int64) {
	if s.msg.Kind != jsonrpc.KindRequest {
		return
	}
	if of := m.Dialect.Said(s.msg).Task; of != "" && !l.is(of) {
		m.refuse(ctx, s, jsonrpc.CodeInvalidParams, "no such task is waited for here")
		return
	}
	m.question(ctx, l, s, token)
}
