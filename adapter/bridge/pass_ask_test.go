package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// theQuestion reads a question that was pushed or sent.
func theQuestion(t *testing.T, got []string) jsonrpc.Message {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("got %q, want one question", got)
	}
	msg := message(t, strings.TrimPrefix(got[0], ": "))
	if msg.Kind != jsonrpc.KindRequest || msg.ID.Kind() != wire.KindString {
		t.Fatalf("got %s, want a question with an id of its own", msg.Raw)
	}
	return msg
}

const elicit = `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{ "message":"\u00e9","requestedSchema":{"n": 1.0},"com.acme/v":1e2%s}}`

// TestPassQuestions: a request of the backend reaches the client where it belongs,
// under an id that no other ever has, and the answer goes back under the backend's
// (S-4, S-1).
func TestPassQuestions(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		var stream *client
		// A backend that uses an id again and again, of either type.
		p.back.do = func(ctx context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
			var ids []jsonrpc.ID
			for _, own := range []string{"0", "0", `"0"`, "9007199254740993"} {
				call.OnMessage(message(t, fmt.Sprintf(elicit, own, "")))
				q := theQuestion(t, stream.told())
				if q.Method != "elicitation/create" || q.Params != `{ "message":"\u00e9","requestedSchema":{"n": 1.0},"com.acme/v":1e2}` {
					t.Errorf("question %s", q.Raw)
				}
				ids = append(ids, q.ID)
			}
			for i, id := range ids {
				for _, other := range ids[:i] {
					if id == other {
						t.Errorf("the same id %s twice", id)
					}
				}
				if err := o.answer(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept", "content":{"n":%d.0}}}`, id, i)); err != nil {
					t.Error(err)
				}
				if err := o.answer(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"twice"}}`, id)); err != nil {
					t.Error(err)
				}
			}
			return "{}", nil
		}
		var x *port.Exchange
		x, stream = o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig"}}`)
		p.cross.Request(t.Context(), x)
		want(t, "the backend", s.heard(),
			`{"jsonrpc":"2.0","id":0,"result":{"action":"accept", "content":{"n":0.0}}}`,
			`{"jsonrpc":"2.0","id":0,"result":{"action":"accept", "content":{"n":1.0}}}`,
			`{"jsonrpc":"2.0","id":"0","result":{"action":"accept", "content":{"n":2.0}}}`,
			`{"jsonrpc":"2.0","id":9007199254740993,"result":{"action":"accept", "content":{"n":3.0}}}`)
		want(t, "the session's own stream", o.told())
	})
}

// TestPassQuestionPlaces: what is asked outside of a request, or in one whose client
// takes no stream or is gone, is asked on the session's own stream (S-4).
func TestPassQuestionPlaces(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		p.back.early = []jsonrpc.Message{message(t, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)}
		s := o.open() // the backend asks before the client knows its session
		theQuestion(t, o.told())
		s.hello.OnMessage(message(t, fmt.Sprintf(elicit, "2", "")))
		theQuestion(t, o.told())
		for name, deaf := range map[string]*client{"deaf": {}, "gone": {asks: true, gone: errors.New("gone")}} {
			p.back.do = func(_ context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
				call.OnMessage(message(t, fmt.Sprintf(elicit, "3", "")))
				return "{}", nil
			}
			x, _ := o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig"}}`)
			x.Stream = deaf
			p.cross.Request(t.Context(), x)
			if len(deaf.told()) != 0 {
				t.Errorf("%s: asked where nobody is", name)
			}
			theQuestion(t, o.told())
		}
	})
}

// TestPassForeignAnswers: only the session that was asked can answer, once, and what
// it was not asked is nobody's answer (S-2, G-5).
func TestPassForeignAnswers(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o, other := p.client("c1", "alice"), p.client("c2", "alice")
		s, others := o.open(), other.open()
		s.hello.OnMessage(message(t, fmt.Sprintf(elicit, "7", "")))
		q := theQuestion(t, o.told())
		for _, id := range []string{"7", `"7"`, `"x"`, `""`, "0", string(q.ID[:len(q.ID)-2]) + `"`} {
			if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`); err != nil {
				t.Errorf("id %s: %v", id, err)
			}
		}
		if err := other.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{}}`); err != nil {
			t.Error(err)
		}
		want(t, "the backend", append(s.heard(), others.heard()...))
		if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"error":{"code":-1,"message":"no","data":[1.0]}}`); err != nil {
			t.Error(err)
		}
		want(t, "the backend", s.heard(), `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":[1.0]}}`)
	})
}

// TestPassAnswerFails: an answer that did not reach the backend can be given again.
func TestPassAnswerFails(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		s.hello.OnMessage(message(t, fmt.Sprintf(elicit, "7", "")))
		answer := `{"jsonrpc":"2.0","id":` + string(theQuestion(t, o.told()).ID) + `,"result":{}}`
		for _, fail := range []error{errUnreachable, port.ErrSessionLost} {
			s.fail = fail
			if err := o.answer(t.Context(), answer); !errors.Is(err, fail) {
				t.Errorf("error %v, want %v", err, fail)
			}
		}
		s.fail = nil
		if err := o.answer(t.Context(), answer); err != nil {
			t.Error(err)
		}
		want(t, "the backend", s.heard(), `{"jsonrpc":"2.0","id":7,"result":{}}`)
	})
}

// TestPassWithdrawals: what the backend takes back is taken back under the client's
// id, where it was asked; what it did not ask is not (S-1).
func TestPassWithdrawals(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		var stream *client
		cancelled := message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0, "reason":"late"}}`)
		p.back.do = func(ctx context.Context, _ *pair, call port.SessionCall) (wire.Value, error) {
			call.OnMessage(message(t, fmt.Sprintf(elicit, "0", "")))
			q := theQuestion(t, stream.told())
			// It may be said on another stream than the question's.
			s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"0"}}`))
			s.hello.OnMessage(cancelled)
			s.hello.OnMessage(cancelled)
			want(t, "the stream", stream.told(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+string(q.ID)+`,"reason":"late"}}`)
			if err := o.answer(ctx, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{}}`); err != nil {
				t.Error(err)
			}
			return "{}", nil
		}
		var x *port.Exchange
		x, stream = o.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig"}}`)
		p.cross.Request(t.Context(), x)
		want(t, "the backend", s.heard())
		want(t, "the session's own stream", o.told())
	})
}

// TestPassTaskQuestions: a question names its task by the handle, and the answer by
// the backend's id, also where the question comes before the task (S-2).
func TestPassTaskQuestions(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		const related = `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}`
		s.hello.OnMessage(message(t, fmt.Sprintf(elicit, "7", fmt.Sprintf(related, "task-1"))))
		q := theQuestion(t, o.told())
		named, _ := q.Params.Get("_meta").Get("io.modelcontextprotocol/related-task").Get("taskId").Text()
		if got := o.task("task-1"); got != named {
			t.Errorf("the question names %q, the task is %q", named, got)
		}
		if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"action":"decline"`+fmt.Sprintf(related, named)+`}}`); err != nil {
			t.Error(err)
		}
		want(t, "the backend", s.heard(), `{"jsonrpc":"2.0","id":7,"result":{"action":"decline"`+fmt.Sprintf(related, "task-1")+`}}`)
	})
}

// TestPassClientTasks: a task that the client runs for the backend is the client's to
// name (§4.25 within the era, S-1).
func TestPassClientTasks(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		const params = `{"taskId":"my own","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"my own"}}}`
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"} {
			s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":`+params+`}`))
			q := theQuestion(t, o.told())
			if q.Method != method || q.Params != params {
				t.Errorf("question %s", q.Raw)
			}
			if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":`+params+`}`); err != nil {
				t.Error(err)
			}
			want(t, "the backend", s.heard(), `{"jsonrpc":"2.0","id":7,"result":`+params+`}`)
		}
	})
}

// TestPassAnswerElsewhere: an answer reaches the backend from a process that has not
// asked (DESIGN promise 5).
func TestPassAnswerElsewhere(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		s.hello.OnMessage(message(t, fmt.Sprintf(elicit, `"a"`, "")))
		q := theQuestion(t, o.told())
		p.restart()
		if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"action":"cancel"}}`); err != nil {
			t.Error(err)
		}
		want(t, "the backend", p.back.sessions[1].heard(), `{"jsonrpc":"2.0","id":"a","result":{"action":"cancel"}}`)
	})
}

// TestPassManyQuestions: a backend that asks without end fills no memory; the newest
// questions can be answered, and taken back.
func TestPassManyQuestions(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		o := p.client("c1", "alice")
		s := o.open()
		for i := range 3000 {
			s.hello.OnMessage(message(t, fmt.Sprintf(elicit, fmt.Sprint(i), `,"_meta":{"progressToken":1}`)))
		}
		told := o.told()
		q := theQuestion(t, told[len(told)-1:])
		s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2999}}`))
		s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`))
		want(t, "the client", o.told(), `: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+string(q.ID)+`}}`)
		first := theQuestion(t, told[:1])
		if err := o.answer(t.Context(), `{"jsonrpc":"2.0","id":`+string(first.ID)+`,"result":{}}`); err != nil {
			t.Error(err)
		}
		want(t, "the backend", s.heard(), `{"jsonrpc":"2.0","id":0,"result":{}}`)
	})
}

// TestPassRefusals: a backend that asks and takes no answers does not fill the bridge
// with them.
func TestPassRefusals(t *testing.T) {
	passLegacy(t, func(t *testing.T, p *passage) {
		s := p.client("c1", "alice").open()
		s.deaf = true
		for range 100 {
			s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","id":1,"method":"tasks/update"}`))
		}
		if said := s.heard(); len(said) != 16 {
			t.Errorf("%d are being refused", len(said))
		}
		time.Sleep(11 * time.Second)
		s.hello.OnMessage(message(t, `{"jsonrpc":"2.0","id":1,"method":"tasks/update"}`))
		if said := s.heard(); len(said) != 1 {
			t.Errorf("later %d are", len(said))
		}
	})
}
