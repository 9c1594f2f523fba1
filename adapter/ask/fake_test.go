package ask_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// dialect is a [port.QuestionDialect] whose questions are texts. One that says shy
// can be put to nobody, one that says odd only seems to be one that can be put, and
// one that says firm cannot be dismissed.
type dialect struct{}

func says(q port.Question, word string) bool { return strings.Contains(string(q.Request), word) }

func (dialect) Check(q port.Question, _ port.Caller) error {
	if says(q, "shy") {
		return port.ErrUnaskable
	}
	return nil
}

func (d dialect) AppendQuestion(dst []byte, q port.Question, caller port.Caller, a port.Ask) ([]byte, error) {
	if says(q, "odd") {
		return dst, port.ErrUnaskable
	}
	if says(q, "url") {
		return fmt.Appendf(dst, "%s", a.ElicitationID), nil
	}
	return fmt.Appendf(dst, "%s %s%s", a.ID, q.Request, a.Handle), d.Check(q, caller)
}

var errNone = errors.New("null is no answer")

func (dialect) Answer(_ port.Question, m jsonrpc.Message) (wire.Value, error) {
	switch {
	case m.Kind == jsonrpc.KindError:
		return "", m.Error
	case m.Result == wire.Null:
		return "", errNone
	default:
		return m.Result, nil
	}
}

func (dialect) Dismissal(q port.Question) (wire.Value, bool) { return `"dismissed"`, !says(q, "firm") }

func (dialect) Repeats(q port.Question, answer wire.Value) bool {
	return says(q, "url") && answer == `"accepted"`
}

func (dialect) AppendWithdrawal(dst []byte, id jsonrpc.ID) []byte {
	return fmt.Appendf(dst, "withdrawn %s", id)
}

// stream is a [port.Stream] that keeps what is sent.
type stream struct {
	mu     sync.Mutex
	sent   []string
	ids    int64
	deaf   bool
	away   bool
	gone   chan struct{}
	noID   error
	broken error // of Send
}

func newStream() *stream { return &stream{gone: make(chan struct{})} }

func (s *stream) Asks() bool            { return !s.deaf }
func (s *stream) Connected() bool       { return !s.away }
func (s *stream) Gone() <-chan struct{} { return s.gone }

func (s *stream) Send(msg []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.sent = append(s.sent, string(msg))
	}
	return s.broken
}

func (s *stream) NewID(context.Context) (jsonrpc.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return jsonrpc.IntID(s.ids), s.noID
}

func (s *stream) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

func want[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func newDesk(t *testing.T) *ask.Desk {
	t.Helper()
	process, err := replica.New(t.Context(), replica.Options{Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := ask.NewDesk(env.System(), process)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// empty checks that nothing is left on a desk.
func empty(t *testing.T, d *ask.Desk) {
	t.Helper()
	if placed, calls, seats := d.Waiting(); placed+calls+seats != 0 {
		t.Errorf("left on the desk: %d requests, %d calls, %d seats", placed, calls, seats)
	}
}

var (
	alice = port.Caller{Session: "sa", Principal: "p"}
	bob   = port.Caller{Session: "sb", Principal: "p"}
)

// questions lists questions, each given as its key, or as key=text.
func questions(in ...string) []port.Question {
	var out []port.Question
	for _, q := range in {
		key, text, found := strings.Cut(q, "=")
		if !found {
			text = key
		}
		out = append(out, port.Question{Key: key, Request: wire.Value(text)})
	}
	return out
}

func result(id jsonrpc.ID, value wire.Value) jsonrpc.Message {
	return jsonrpc.Message{Kind: jsonrpc.KindResult, ID: id, Result: value}
}

func failure(id jsonrpc.ID, text string) jsonrpc.Message {
	return jsonrpc.Message{Kind: jsonrpc.KindError, ID: id, Error: jsonrpc.NewError(-1, "%s", text)}
}

// told lists answers as key=answer.
func told(answers []port.Answer) []string {
	var out []string
	for _, a := range answers {
		out = append(out, a.Key+"="+string(a.Value))
	}
	return out
}
