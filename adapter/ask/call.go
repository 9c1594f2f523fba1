package ask

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Call puts the questions that come up in one plain call to its client, on the
// call's own stream (A-M1, A-T12). It belongs to one goroutine. Close must be
// called.
type Call struct {
	desk    *Desk
	dialect port.QuestionDialect
	caller  port.Caller
	stream  port.Stream

	round     int // that the server is in
	asked     int // rounds that were about something new
	table     Table
	questions map[string]port.Question // listed and open, by key
	responses chan Response
	repeats   map[string]func() bool // stops the answer that is to be given again, by key
}

// Response is what the client has answered to a question.
type Response struct {
	key     string
	session string
	message jsonrpc.Message
	repeat  *Repeat // no response, but an answer that is given again
}

// RefusalError says that a question stays without an answer: the client cannot be
// asked, has refused, or has not answered in time (A-M6, §4.11). Message may be
// shown to the client.
type RefusalError struct{ Message string }

// Error implements error.
func (r *RefusalError) Error() string { return r.Message }

// ErrNobody refuses a question that nobody can be asked.
var ErrNobody = &RefusalError{"The server asked for input that this client cannot be asked for."}

// ErrRounds refuses to ask once more.
var ErrRounds = &RefusalError{"The server asked for input too often."}

// MaxRounds is how often a server may ask in answer to one call (A-M4). What only
// repeats a question does not count.
const MaxRounds = 10

var (
	errTooMany  = &RefusalError{"The server asked for too much input at once."}
	errNoAnswer = &RefusalError{"The client did not answer in time."}
	errLeft     = errors.New("the client is gone")
)

// Call returns the questions of a call whose client is asked on stream, which may
// be nil.
func (d *Desk) Call(dialect port.QuestionDialect, caller port.Caller, stream port.Stream) *Call {
	return &Call{
		desk: d, dialect: dialect, caller: caller, stream: stream,
		repeats:   make(map[string]func() bool),
		responses: make(chan Response, 2*maxOpen), // those of a round that has ended may still be in it
	}
}

// space is the namespace of the current round's keys.
func (c *Call) space() string { return strconv.Itoa(c.round) }

// Ask puts all questions of a round at once and returns their answers, in order,
// when there are all of them (A-M2). The error is a *[RefusalError], or the cause when
// ctx or the stream has ended. Whatever is open then is withdrawn.
func (c *Call) Ask(ctx context.Context, questions []port.Question, timeout time.Duration) ([]port.Answer, error) {
	if len(questions) > maxOpen {
		return nil, errTooMany
	}
	c.round++
	defer c.Close()
	if !c.table.repeats(questions, c.desk.env.Now()) {
		if c.asked == MaxRounds {
			return nil, ErrRounds
		}
		c.asked++
	}
	if err := c.List(ctx, questions); err != nil {
		return nil, err
	}
	timer := c.desk.env.NewTimer(timeout)
	defer timer.Stop()
	for !c.table.Answered(c.space(), questions) {
		select {
		case r := <-c.responses:
			if err := c.Take(r); err != nil {
				return nil, err
			}
		case <-timer.C:
			return nil, errNoAnswer
		case <-c.stream.Gone():
			return nil, errLeft
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return c.table.Answers(c.space()), nil
}

// List takes note of what the backend lists: new questions are put to the client,
// or dismissed where it cannot be asked, and requests whose question has gone are
// withdrawn. The error is a *[RefusalError] for a question that can be neither put nor
// dismissed.
func (c *Call) List(ctx context.Context, questions []port.Question) error {
	_, withdrawn := c.table.List(c.space(), questions)
	c.withdraw(withdrawn)
	c.questions = make(map[string]port.Question)
	var ask []port.Question
	for _, q := range c.table.Unanswered(c.space(), questions) {
		c.questions[q.Key] = q
		e := c.table.Entry(c.space(), q.Key)
		switch {
		case e.State != New || c.again(e):
		case c.stream != nil && c.stream.Asks() && c.dialect.Check(q, c.caller) == nil:
			ask = append(ask, q)
		default:
			if err := c.dismiss(e, q, ErrNobody); err != nil {
				return err // before the user is troubled with the others
			}
		}
	}
	for _, q := range ask {
		if err := c.put(ctx, c.table.Entry(c.space(), q.Key), q); err != nil {
			return err
		}
	}
	return nil
}

// again gives an answer again that was given to the same question, at its time,
// and reports whether there is one.
func (c *Call) again(e *Entry) bool {
	if c.repeats[e.Key] != nil {
		return true
	}
	now := c.desk.env.Now()
	repeat, due, ok := c.table.Repeated(e.Digest, now)
	if ok {
		key := e.Key
		c.repeats[key] = c.desk.env.AfterFunc(due.Sub(now), func() {
			c.responses <- Response{key: key, repeat: &repeat}
		})
	}
	return ok
}

// put asks one question.
func (c *Call) put(ctx context.Context, e *Entry, q port.Question) error {
	id, err := c.stream.NewID(ctx)
	if err != nil {
		return err
	}
	session := c.desk.Session(c.caller)
	request, err := c.dialect.AppendQuestion(nil, q, c.caller, port.Ask{
		ID: id, ElicitationID: c.desk.ElicitationID(session, string(id)),
	})
	if err != nil {
		return c.dismiss(e, q, ErrNobody)
	}
	r := Request{ID: string(id), Session: session, Stream: c.desk.Place(c.stream, false)}
	e.State, e.Requests = Asked, append(e.Requests, r)
	c.desk.expect(callKey{session, r.ID}, func(m jsonrpc.Message) { c.responses <- Response{key: q.Key, session: session, message: m} })
	return c.desk.Send(r, request)
}

// dismiss gives a question the answer that stands for none, or refuses.
func (c *Call) dismiss(e *Entry, q port.Question, refusal error) error {
	answer, ok := c.dialect.Dismissal(q)
	if !ok {
		return refusal
	}
	e.Reply(answer)
	return nil
}

// Responses delivers what the client answers, for Take.
func (c *Call) Responses() <-chan Response { return c.responses }

// Take records an answer. What is no answer counts as the client's error: it is
// a dismissal where there is one, and a *[RefusalError] otherwise.
func (c *Call) Take(r Response) error {
	if r.repeat != nil {
		delete(c.repeats, r.key)
		if e := c.table.find(r.key); e != nil && e.State == New {
			e.Again(*r.repeat, c.desk.env.Now())
		}
		return nil
	}
	e := c.table.Asked(r.session, string(r.message.ID))
	if e == nil || e.State != Asked {
		return nil // withdrawn meanwhile
	}
	q := c.questions[r.key]
	c.desk.Forget(e.Requests)
	answer, err := c.dialect.Answer(q, r.message)
	if err != nil {
		return c.dismiss(e, q, Refused(err))
	}
	e.Reply(answer)
	if c.dialect.Repeats(q, answer) {
		e.Keep(c.desk.env.Now())
	}
	return nil
}

// Refused returns the refusal for what was no answer.
func Refused(err error) *RefusalError {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && rpc.Message != "" {
		return &RefusalError{rpc.Message}
	}
	return &RefusalError{"The client's answer is not one: " + err.Error()}
}

// Unsent returns the answers that the backend has to be told.
func (c *Call) Unsent() []port.Answer { return c.table.Unsent(c.space()) }

// Acknowledge notes that the backend has taken answers.
func (c *Call) Acknowledge(answers []port.Answer) { c.table.Acknowledge(c.space(), answers) }

// Close withdraws what is open. The call may go on with another round.
func (c *Call) Close() {
	_, withdrawn := c.table.List(c.space(), nil)
	c.withdraw(withdrawn)
	for _, stop := range c.repeats {
		stop()
	}
	clear(c.repeats)
	for len(c.responses) > 0 {
		<-c.responses
	}
}

func (c *Call) withdraw(requests []Request) {
	for _, r := range requests {
		c.desk.unexpect(callKey{r.Session, r.ID})
	}
	for _, r := range requests { // all of them are this process's
		c.desk.withdraw(r, c.dialect.AppendWithdrawal(nil, jsonrpc.ID(r.ID)))
	}
}
