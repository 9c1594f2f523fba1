package task_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// client is a session that can be asked, on any number of streams.
type client struct {
	w      *world
	caller port.Caller

	mu   sync.Mutex
	ids  int64
	sent []string // on all streams, in order
}

func (w *world) client(caller port.Caller) *client { return &client{w: w, caller: caller} }

// stream implements [port.Stream].
type stream struct {
	client *client
	deaf   bool          // the client cannot be asked here
	onSend func(string)  // before a message is kept, unless nil
	gone   chan struct{} // see end
	noID   error         // of NewID; guarded by the client's lock

	mu   sync.Mutex
	away bool
	sent []string
}

func (c *client) stream() *stream { return &stream{client: c, gone: make(chan struct{})} }

func (s *stream) Asks() bool            { return !s.deaf }
func (s *stream) Gone() <-chan struct{} { return s.gone }

func (s *stream) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.away
}

// leave breaks the connection; the stream can be resumed.
func (s *stream) leave() { s.set(true) }

// resume is the client's return.
func (s *stream) resume() { s.set(false) }

func (s *stream) set(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// end is the stream's: it will not be resumed.
func (s *stream) end() {
	s.leave()
	close(s.gone)
}

var errGone = errors.New("the stream has ended")

func (s *stream) Send(msg []byte) error {
	if s.onSend != nil {
		s.onSend(string(msg))
	}
	select {
	case <-s.gone:
		return errGone
	default:
	}
	text, _, _ := strings.Cut(string(msg), "?") // without the handle
	s.mu.Lock()
	s.sent = append(s.sent, text)
	s.mu.Unlock()
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	s.client.sent = append(s.client.sent, text)
	return nil
}

func (s *stream) NewID(context.Context) (jsonrpc.ID, error) {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if s.noID != nil {
		return "", s.noID
	}
	s.client.ids++
	return jsonrpc.IntID(s.client.ids), nil
}

// got returns what has come on the stream, in order.
func (s *stream) got() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// want checks what has come on the stream.
func (s *stream) want(want ...string) {
	s.client.w.Helper()
	if d := cmp.Diff(want, s.got()); d != "" {
		s.client.w.Errorf("on the stream (-want +got):\n%s", d)
	}
}

// asked returns what the client has got on all of its streams.
func (c *client) asked() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

// waits opens tasks/result on a stream.
func (c *client) waits(ctx context.Context, handle string, s *stream) <-chan port.Outcome {
	out := make(chan port.Outcome, 1)
	go func() { out <- c.w.Manager.Result(ctx, backendName, c.caller, handle, s) }()
	synctest.Wait()
	return out
}

// polls asks for a task as a session whose own stream is s, or that has none.
func (c *client) polls(handle string, s *stream) port.TaskStatus {
	c.w.Helper()
	out, err := c.w.Manager.Get(c.w.Context(), backendName, c.caller, handle, func() port.Stream {
		if s == nil {
			return nil
		}
		return s
	})
	if err != nil {
		c.w.Fatalf("Get: %v", err)
	}
	synctest.Wait()
	return parseFace(c.w.T, out).Status
}

// result is a client's response.
func result(id jsonrpc.ID, value wire.Value) jsonrpc.Message {
	return jsonrpc.Message{Kind: jsonrpc.KindResult, ID: id, Result: value}
}

// refusal is a client's error.
func refusal(id jsonrpc.ID, text string) jsonrpc.Message {
	return jsonrpc.Message{Kind: jsonrpc.KindError, ID: id, Error: jsonrpc.NewError(-1, "%s", text)}
}

// answers responds to a request, and lets the answer take its course.
func (c *client) answers(id jsonrpc.ID, value wire.Value) {
	c.w.Helper()
	c.responds(result(id, value))
}

func (c *client) responds(m jsonrpc.Message) {
	c.w.Helper()
	if err := c.w.Answer(c.w.Context(), backendName, c.caller, m); err != nil {
		c.w.Errorf("Answer: %v", err)
	}
	synctest.Wait()
}

// asks makes a task of the backend ask these questions, and those only. Without
// any it is at work.
func (w *world) asks(id string, questions ...question) {
	w.backend.set(func(b *backend) {
		d := b.docs[id]
		d.Asks, d.Status = questions, port.TaskInputRequired
		if len(questions) == 0 {
			d.Status = port.TaskWorking
		}
		b.docs[id] = d
	})
}

// q is a question that anybody can be asked and nobody has to answer.
func q(key string) question { return question{Key: key, Text: key, Dismissible: true} }

// asking creates a task of the backend that asks questions, and returns its handle.
// The backend takes answers, and stops asking what it has one for.
func (w *world) asking(questions ...question) string {
	w.Helper()
	handle := w.proxied("t1")
	w.asks("t1", questions...)
	w.backend.set(func(b *backend) { b.onUpdate = w.satisfied })
	return handle
}

func (w *world) satisfied(answers []port.Answer) {
	w.backend.mu.Lock()
	left := slices.DeleteFunc(slices.Clone(w.backend.docs["t1"].Asks), func(q question) bool {
		return slices.ContainsFunc(answers, func(a port.Answer) bool { return a.Key == q.Key })
	})
	w.backend.mu.Unlock()
	w.asks("t1", left...)
}

// updates returns what the backend was told, as key=answer, one update after the
// other.
func (w *world) updates() []string {
	synctest.Wait()
	w.backend.mu.Lock()
	defer w.backend.mu.Unlock()
	var out []string
	for _, u := range w.backend.updates {
		var told []string
		for _, a := range u.answers {
			told = append(told, a.Key+"="+string(a.Value))
		}
		out = append(out, strings.Join(told, " "))
	}
	return out
}

func (w *world) wantUpdates(want ...string) {
	w.Helper()
	if d := cmp.Diff(want, w.updates()); d != "" {
		w.Errorf("updates (-want +got):\n%s", d)
	}
}

// hosting makes a hosted task that asks questions, and goes on with go after the
// answers.
func (w *world) hosting(after func(ctx context.Context, answers []port.Answer) task.Ending, keys ...string) string {
	w.Helper()
	w.onResume = func(ctx context.Context, _ port.Caller, _ string, answers []port.Answer) task.Ending {
		return after(ctx, answers)
	}
	return w.create(call(0, asksFor(keys...))).ID
}

// asksFor is the end of a call in questions.
func asksFor(keys ...string) task.Ending {
	round := task.Round{Saved: []byte("saved")}
	for _, key := range keys {
		in := dialect{}.Questions(doc{Status: port.TaskInputRequired, Asks: []question{q(key)}}.value())
		round.Questions = append(round.Questions, in...)
	}
	return task.Ending{Round: &round}
}

// onDesk returns how many open requests and waiting clients the desk knows of.
func (w *world) onDesk() int {
	synctest.Wait()
	desk := reflect.ValueOf(w.desk).Elem()
	return desk.FieldByName("placed").Len() + desk.FieldByName("seats").Len()
}
