package pump

import (
	"context"
	"slices"
	"strconv"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// ask is a question of a task on record.
type ask struct {
	// Key is its name for clients: never used again in the task's life, whatever the
	// backend does with its ids (B-I3).
	Key    string `json:"key"`
	Method string `json:"method"`
	// Params are those of the backend's request, Entry is what clients see. They are
	// strings so that encoding them changes no byte.
	Params string `json:"params,omitempty"`
	Entry  string `json:"entry"`
	// ID is that of the backend's request, as it came, in the session at Place.
	ID    string     `json:"id"`
	Place port.Place `json:"place"`
	// Opened is the wait in which it was asked; see record.
	Opened int      `json:"opened,omitempty"`
	State  askState `json:"state"`
	// Answer is the backend's result until the backend has it; without one the backend
	// is told that there is none. Sender is the process that gives it, and Sending when
	// it began to last, in ms.
	Answer  string `json:"answer,omitempty"`
	Sender  string `json:"sender,omitempty"`
	Sending int64  `json:"sending,omitempty"`
}

// askState is how far a question has got. One that the backend has its answer to is
// not on record any more.
type askState string

const (
	askOpen     askState = "open"
	askAnswered askState = "answered"
)

const (
	// maxAsks is how many questions of a task are on record at a time, and maxAskBytes
	// how much they take there; more are refused.
	maxAsks     = 64
	maxAskBytes = 8 << 20
)

// verdict is what becomes of a backend's request.
type verdict uint8

const (
	kept verdict = iota
	ignored
	refused
	dismissed
)

// question takes a request of the backend for the task. It is on record when this
// returns, or was refused: because it is no question, because the client that made
// the task has not declared it (B-I4), or because the task is over.
func (m *Manager) question(ctx context.Context, l *live, s said, token int64) {
	if !m.enter() {
		return // the backend has it still, for the next process
	}
	defer m.work.Done()
	// Once read it is nowhere else: it is kept even if nobody waits any more.
	ctx, cancel := m.parting(ctx)
	defer cancel()
	kind := m.Dialect.Kind(s.msg.Method)
	if kind == "" {
		m.refuse(ctx, s, jsonrpc.CodeMethodNotFound, "Method not found")
		return
	}
	entry, err := m.Dialect.AppendQuestion(nil, s.msg.Method, s.msg.Params)
	if err != nil {
		m.refuse(ctx, s, jsonrpc.CodeInvalidParams, port.RPCError(err).Message)
		return
	}
	a := &ask{Method: s.msg.Method, Params: string(s.msg.Params), Entry: string(entry), ID: string(s.msg.ID), State: askOpen}
	var (
		what          verdict
		may, declared bool
		code          = int64(jsonrpc.CodeMethodNotFound)
		why           = "the client has not declared this"
	)
	rec, err := m.change(ctx, l.ref, func(rec *record) bool {
		may, declared = m.Dialect.MayAsk(wire.Value(rec.Capabilities), a.Method, wire.Value(a.Params))
		switch {
		case rec.Final:
			what, code, why = refused, jsonrpc.CodeInternal, "the task is over"
		case rec.Cancelling:
			what = dismissed
		case rec.Capabilities != "" && !may:
			what = refused
			if declared {
				code = jsonrpc.CodeInvalidParams
			}
		default:
			a.Place, a.Opened = rec.Place, rec.Opened
			a.Place.Ticket = s.session.Ticket()
			if token != 0 && token < rec.Fence {
				a.Opened-- // somebody else waits for this task by now
			}
			what = rec.ask(kind, a)
			code, why = jsonrpc.CodeInternal, "too many questions at once"
		}
		return what == kept
	})
	switch {
	case err != nil:
		// Nobody has been shown it. A backend that is told so may end the task
		// instead of waiting for ever.
		m.Logger.ErrorContext(ctx, "question of a task not recorded", "error", port.Reason(err))
		m.refuse(ctx, s, jsonrpc.CodeInternal, "the question could not be recorded")
	case what == refused:
		m.refuse(ctx, s, code, why)
	case what == dismissed:
		m.dismissAsk(a)
		m.respond(ctx, s, a.response())
	case what == kept:
		l.moved()
		m.resend(l, &rec)
	}
}

// ask puts a question on record. What the backend says once more, on another stream
// or because the first has broken, is the same question; an id that is used again
// for something else is a new one, and the old one cannot be answered any more.
func (rec *record) ask(kind string, a *ask) verdict {
	for i, old := range rec.Asks {
		same, id := old.Method == a.Method && old.Params == a.Params, old.ID == a.ID
		switch {
		case old.Place != a.Place:
		case same && id && (old.State == askOpen || old.Opened == a.Opened), same && old.Opened > a.Opened:
			return ignored
		case same && old.Opened < a.Opened:
			// Nobody knows whether the backend has heard what the first was told.
			old.ID, old.Opened, old.Sending = a.ID, a.Opened, 0 // whoever sees it gives the answer again
			return kept
		case id && old.State == askOpen:
			rec.Asks = slices.Delete(rec.Asks, i, i+1)
			return rec.add(kind, a)
		}
	}
	return rec.add(kind, a)
}

func (rec *record) add(kind string, a *ask) verdict {
	size := len(a.Params) + len(a.Entry)
	for _, old := range rec.Asks {
		size += len(old.Params) + len(old.Entry)
	}
	if len(rec.Asks) >= maxAsks || size > maxAskBytes {
		return refused
	}
	rec.Asked++
	a.Key = kind + "-" + strconv.FormatInt(rec.Asked, 10)
	rec.Asks = append(rec.Asks, a)
	rec.Lost = false
	return kept
}

// find returns the open question with this key.
func (rec *record) find(key string) *ask {
	for _, a := range rec.Asks {
		if a.Key == key && a.State == askOpen {
			return a
		}
	}
	return nil
}

// drop takes questions off the record, and reports whether there were any.
func (rec *record) drop(which func(*ask) bool) bool {
	before := len(rec.Asks)
	rec.Asks = slices.DeleteFunc(rec.Asks, which)
	return len(rec.Asks) != before
}

// withdraw removes a question that the backend has taken back (B-I8). It reports
// whether that was one of a task.
func (m *Manager) withdraw(ctx context.Context, backend string, session port.Session, id jsonrpc.ID) bool {
	for _, l := range m.in(backend, session) {
		found := false
		_, err := m.change(ctx, l.ref, func(rec *record) bool {
			found = rec.drop(func(a *ask) bool { return a.ID == string(id) && a.Place == rec.Place })
			return found
		})
		if err != nil && found {
			m.Logger.WarnContext(ctx, "question of a task not withdrawn", "error", port.Reason(err))
		}
		if found {
			l.moved()
			return true
		}
	}
	return false
}

// refuse answers a request of a backend with an error, without holding up whoever
// reads what the backend says.
func (m *Manager) refuse(ctx context.Context, s said, code int64, why string) {
	m.respond(ctx, s, jsonrpc.AppendError(nil, s.msg.ID, jsonrpc.NewError(code, "%s", why)))
}

// response is the answer to a question as the backend gets it.
func (a *ask) response() []byte {
	if a.Answer == "" {
		return jsonrpc.AppendError(nil, wire.Value(a.ID), jsonrpc.NewError(jsonrpc.CodeInternal, "the task is being cancelled"))
	}
	return jsonrpc.AppendResult(nil, wire.Value(a.ID), []byte(a.Answer))
}

// dismissAsk answers a question that nobody is going to answer (§4.22).
func (m *Manager) dismissAsk(a *ask) {
	a.State, a.Answer = askAnswered, string(m.Dialect.Dismissal(a.Method))
	a.Sender, a.Sending = m.id(), m.Env.Now().UnixMilli()
}

func (m *Manager) respond(ctx context.Context, s said, response []byte) {
	m.spawn(func() {
		ctx, cancel := m.parting(ctx)
		defer cancel()
		if err := s.session.Respond(ctx, response); err != nil {
			m.Logger.InfoContext(ctx, "backend's question not answered", "error", port.Reason(err))
		}
	})
}
