package bridge

import (
	"context"
	"slices"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// The id under which a client is asked something holds the backend's own, sealed: so
// whichever process gets the answer can pass it on, and no two questions ever have
// the same id, however often the backend uses one.

// maxAsked bounds the questions of a session that are remembered, to be taken back
// and to be answered only once.
const maxAsked = 1024

// question is a request of the backend that was passed on.
type question struct {
	id, own  jsonrpc.ID // the client's and the backend's
	stream   port.Stream
	token    wire.Value // the bridge's progress token, or absent
	answered bool
}

// asked are the last questions of a session, oldest first.
type asked struct{ all []*question }

func newAsked() asked { return asked{} }

func (a *asked) add(q *question) {
	if a.all = append(a.all, q); len(a.all) > maxAsked {
		a.all = slices.Delete(a.all, 0, 1)
	}
}

// find returns the question that a client knows by this id, or nil.
func (a *asked) find(id jsonrpc.ID) *question {
	for _, q := range slices.Backward(a.all) {
		if q.id == id {
			return q
		}
	}
	return nil
}

// open returns the newest question under the backend's id that has no answer, or nil.
func (a *asked) open(own jsonrpc.ID) *question {
	for _, q := range slices.Backward(a.all) {
		if q.own == own && !q.answered {
			return q
		}
	}
	return nil
}

func (s *passed) questionPurpose() string {
	return "question of a backend, " + s.b.Name + " " + s.caller.Session
}

// sealQuestion makes the id of a question. It differs for every question. OfTask is
// set for requests about a task that the client has itself.
func (s *passed) sealQuestion(own jsonrpc.ID, ofTask bool) (jsonrpc.ID, error) {
	var f seal.Fields
	f.String(string(own))
	about := int64(0)
	if ofTask {
		about = 1
	}
	f.Int(about)
	id, err := s.p.o.Keys.Seal(s.questionPurpose(), f.Bytes())
	return wire.String(id), err
}

func (s *passed) openQuestion(id jsonrpc.ID) (own jsonrpc.ID, ofTask, ok bool) {
	text, _ := id.Text()
	plain, err := s.p.o.Keys.Open(s.questionPurpose(), text)
	if err != nil {
		return "", false, false
	}
	f := seal.ReadFields(plain)
	own, ofTask = jsonrpc.ID(f.String()), f.Int() == 1
	return own, ofTask, f.Done() == nil
}

// ask passes a request of the backend on. What cannot reach the client is refused.
func (s *passed) ask(ctx context.Context, msg jsonrpc.Message, stream port.Stream) error {
	if isModernOnly(msg.Method) {
		s.refuse(ctx, msg, jsonrpc.CodeMethodNotFound, "Method not found")
		return nil
	}
	request, q, err := s.question(ctx, msg, stream)
	if err != nil {
		s.refuse(ctx, msg, port.RPCError(err).Code, port.RPCError(err).Message)
		return err
	}
	s.mu.Lock()
	s.asked.add(q)
	s.mu.Unlock()
	s.deliver(stream, "", request)
	return nil
}

// question renders a request of the backend for the client. Since it is put to this
// session, the task that it belongs to is this session's owner's.
func (s *passed) question(ctx context.Context, msg jsonrpc.Message, stream port.Stream) ([]byte, *question, error) {
	ofTask := isLegacyTask(msg.Method)
	params := msg.Params
	if taskID, ok := relatedTask(params).Text(); ok && !ofTask {
		named, err := s.own(ctx, s.caller, taskID)
		if err != nil {
			return nil, nil, err
		}
		params = withRelatedTask(params, wire.String(named))
	}
	id, err := s.sealQuestion(msg.ID, ofTask)
	if err != nil {
		return nil, nil, err
	}
	params, token, err := s.withToken(&s.up, params)
	if err != nil {
		return nil, nil, err
	}
	own := jsonrpc.ID(strings.Clone(string(msg.ID))) // not the message with it
	q := &question{id: id, own: own, stream: stream, token: token}
	return jsonrpc.AppendRequest(nil, id, msg.Method, params), q, nil
}

// refuse answers a request of the backend without holding up what it came on.
func (s *passed) refuse(ctx context.Context, msg jsonrpc.Message, code int64, why string) {
	p := s.p
	p.spawn(func() {
		ctx, cancel := env.WithTimeout(context.WithoutCancel(ctx), p.o.Env, partingTime, errCallTotal)
		defer cancel()
		response := jsonrpc.AppendError(nil, msg.ID, jsonrpc.NewError(code, "%s", why))
		if err := s.session.Respond(ctx, response); err != nil {
			p.o.Logger.InfoContext(ctx, "backend's question not answered", "backend", s.b.Name, "error", port.Reason(err))
		}
	})
}

// spawn runs f, unless the crossing is closed.
func (p *PassLegacy) spawn(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Go(f)
	}
}

// withdraw takes back a question that the backend has cancelled.
func (s *passed) withdraw(msg jsonrpc.Message) {
	s.mu.Lock()
	q := s.asked.open(msg.Params.Get("requestId"))
	if q != nil {
		q.answered = true
		s.up.remove(q.token)
	}
	s.mu.Unlock()
	if q == nil {
		return
	}
	params := replaced(msg.Params, to(q.id), "requestId")
	s.deliver(q.stream, "", jsonrpc.AppendNotification(nil, msg.Method, params))
}

// answer passes a client's answer on, once. What the session was not asked is
// nobody's answer.
func (s *passed) answer(ctx context.Context, x *port.Exchange) error {
	msg := x.Message
	own, ofTask, ok := s.openQuestion(msg.ID)
	if !ok {
		return nil
	}
	s.mu.Lock()
	q := s.asked.find(msg.ID)
	again := q != nil && q.answered
	if q != nil {
		q.answered = true
	}
	s.mu.Unlock()
	if again {
		return nil
	}
	response, err := s.response(ctx, x, own, ofTask)
	if err == nil {
		err = s.session.Respond(ctx, response)
	}
	if err != nil {
		s.unanswer(q)
		return err
	}
	if q != nil {
		s.forget(&s.up, q.token)
	}
	return nil
}

// response is a client's answer as the backend gets it.
func (s *passed) response(ctx context.Context, x *port.Exchange, own jsonrpc.ID, ofTask bool) ([]byte, error) {
	if x.Message.Kind == jsonrpc.KindError {
		return jsonrpc.AppendError(nil, own, x.Message.Error), nil
	}
	result := x.Message.Result
	if !ofTask {
		var err error
		if result, err = s.openRelated(ctx, x.Caller, result); err != nil {
			return nil, err
		}
	}
	return jsonrpc.AppendResult(nil, own, []byte(result)), nil
}

// unanswer lets the client try again.
func (s *passed) unanswer(q *question) {
	if q != nil {
		s.mu.Lock()
		q.answered = false
		s.mu.Unlock()
	}
}
