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
	// ID is that of the backend's request, as it came, in the session at Place, and
	// Elder are those of requests before it that said the same and may be open.
	ID    string     `json:"id"`
	Elder []string   `json:"elder,omitempty"`
	Place port.Place `json:"place"`
	// Aside is set for one that did not come on the stream of a wait for the task.
	Aside bool `json:"aside,omitempty"`
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
	// maxElder is how often a question may be asked under another id.
	maxElder = 16
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
			a.Place, a.Opened, a.Aside = rec.Place, rec.Opened, token == 0
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
		m.respond(ctx, s, a.responses()[0])
	case what == kept:
		l.moved()
		m.resend(l, &rec)
	}
}

// ask puts a question on record. What the backend says once more, on another stream
// or because the first has broken, is the same question, whatever its id; on one and
// the same stream another id is another question, as a model may be asked for several
// samples. An id that is used again for something else is a new one, and the old one
// cannot be answered any more.
func (rec *record) ask(kind string, a *ask) verdict {
	for i, old := range rec.Asks {
		same, id := old.Method == a.Method && old.Params == a.Params, old.has(a.ID)
		switch {
		case old.Place != a.Place:
		case same && id && (old.State == askOpen || old.Opened == a.Opened), same && old.Opened > a.Opened:
			return ignored
		case same && old.Opened < a.Opened:
			// Nobody knows whether the backend has heard what the first was told.
			old.ID, old.Elder, old.Opened, old.Sending = a.ID, nil, a.Opened, 0 // whoever sees it gives the answer again
			return kept
		case same && old.State == askOpen && old.Aside != a.Aside: // which of them it waits for is not known
			if len(old.Elder) >= maxElder {
				return refused
			}
			old.ID, old.Elder = a.ID, append(old.Elder, old.ID)
			return kept
		case id && old.State == askOpen:
			if !old.withdrawn(a.ID) {
				rec.Asks = slices.Delete(rec.Asks, i, i+1)
			}
			return rec.add(kind, a)
		}
	}
	return rec.add(kind, a)
}

// has reports whether the question was asked under this id.
func (a *ask) has(id string) bool { return a.ID == id || slices.Contains(a.Elder, id) }

// withdrawn takes one of the ids back under which the question was asked, and reports
// whether there is another.
func (a *ask) withdrawn(id string) bool {
	if len(a.Elder) == 0 {
		return false
	}
	if last := len(a.Elder) - 1; a.ID == id {
		a.ID, a.Elder = a.Elder[last], a.Elder[:last]
	} else {
		a.Elder = slices.DeleteFunc(a.Elder, func(elder string) bool { return elder == id })
	}
	return true
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
			found = false
			rec.drop(func(a *ask) bool {
				its := a.Place == rec.Place && a.has(string(id))
				found = found || its
				return its && !a.withdrawn(string(id))
			})
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

// responses are the answer to a question as the backend gets it, under every id.
func (a *ask) responses() [][]byte {
	out := make([][]byte, 0, 1+len(a.Elder))
	for _, id := range append([]string{a.ID}, a.Elder...) {
		if a.Answer == "" {
			out = append(out, jsonrpc.AppendError(nil, wire.Value(id), jsonrpc.NewError(jsonrpc.CodeInternal, "the task is being cancelled")))
		} else {
			out = append(out, jsonrpc.AppendResult(nil, wire.Value(id), []byte(a.Answer)))
		}
	}
	return out
}

// tell gives the backend the answer to a question. It is enough that it takes one: what
// it has no use for under the other ids is its own affair.
func (a *ask) tell(ctx context.Context, session port.Session) error {
	var refused error
	took := false
	for _, response := range a.responses() {
		switch err := session.Respond(ctx, response); {
		case err == nil:
			took = true
		case again(err):
			return err
		case refused == nil:
			refused = err
		}
	}
	if took {
		return nil
	}
	return refused
}

// dismissAsk answers a question that nobody is going to answer (§4.22).
func (m *Manager) dismissAsk(a *ask) {
	a.State, a.Answer = askAnswered, string(m.Dialect.Dismissal(a.Method))
	a.Sender, a.Sending = m.Process.ID(), m.Env.Now().UnixMilli()
}

// maxResponses is how many questions of a session are being answered here at a time; more
// are dropped, or a backend that asks without listening would keep a goroutine for each.
const maxResponses = 16

func (m *Manager) respond(ctx context.Context, s said, response []byte) {
	m.mu.Lock()
	full := m.responding[s.session] >= maxResponses
	if !full {
		m.responding[s.session]++
	}
	m.mu.Unlock()
	if full {
		return
	}
	responded := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.responding[s.session]--; m.responding[s.session] == 0 {
			delete(m.responding, s.session)
		}
	}
	if !m.spawn(func() {
		defer responded()
		ctx, cancel := m.parting(ctx)
		defer cancel()
		if err := s.session.Respond(ctx, response); err != nil {
			m.Logger.InfoContext(ctx, "backend's question not answered", "error", port.Reason(err))
		}
	}) {
		responded()
	}
}
