package bridge

import (
	"fmt"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// modernQuestions puts the questions of modern backends to legacy clients.
type modernQuestions struct{}

var _ port.QuestionDialect = modernQuestions{}

// readQuestion reads a question. One that is malformed cannot be put to anybody.
func readQuestion(q port.Question) (ext2026.InputRequest, error) {
	in, err := ext2026.ParseInputRequest(q.Request, wire.Join("inputRequests", q.Key))
	if err != nil {
		return in, fmt.Errorf("%w: %w", port.ErrUnaskable, err)
	}
	return in, nil
}

// Check implements [port.QuestionDialect].
func (d modernQuestions) Check(q port.Question, caller port.Caller) error {
	_, err := d.AppendQuestion(nil, q, caller, port.Ask{ID: "0", ElicitationID: "0"})
	return err
}

// AppendQuestion implements [port.QuestionDialect].
func (modernQuestions) AppendQuestion(dst []byte, q port.Question, caller port.Caller, ask port.Ask) ([]byte, error) {
	in, err := readQuestion(q)
	if err != nil {
		return dst, err
	}
	if !mapping.MayAskDown(caller.Capabilities, caller.Version, in) {
		return dst, fmt.Errorf("%w: %s is not declared", port.ErrUnaskable, in.Method)
	}
	params, _, err := mapping.AppendDownInputRequest(nil, in, mapping.QuestionOptions{
		TaskID: ask.Handle, ElicitationID: ask.ElicitationID, Version: caller.Version,
	})
	if err != nil {
		return dst, fmt.Errorf("%w: %w", port.ErrUnaskable, err)
	}
	return jsonrpc.AppendRequest(dst, ask.ID, in.Method, wire.Value(params)), nil
}

// Answer implements [port.QuestionDialect].
func (modernQuestions) Answer(q port.Question, response jsonrpc.Message) (wire.Value, error) {
	in, err := readQuestion(q)
	if err != nil {
		return "", err
	}
	if response.Kind == jsonrpc.KindError {
		return "", response.Error
	}
	answer, _, err := mapping.AppendUpInputResponse(nil, in, response.Result)
	return wire.Value(answer), err
}

// Dismissal implements [port.QuestionDialect]. Only an elicitation can be answered
// without anybody being asked.
func (modernQuestions) Dismissal(q port.Question) (wire.Value, bool) {
	method, _ := q.Request.Get("method").Text()
	return mapping.DismissedAnswer, method == ext2026.MethodElicitationCreate
}

// Repeats implements [port.QuestionDialect].
func (modernQuestions) Repeats(q port.Question, answer wire.Value) bool {
	in, err := readQuestion(q)
	if err != nil || in.Method != ext2026.MethodElicitationCreate {
		return false
	}
	mode, _ := ext2026.ElicitMode(in.Params)
	action, _ := answer.Get("action").Text()
	return mode == ext2026.ElicitURL && action == ext2026.ActionAccept
}

// AppendWithdrawal implements [port.QuestionDialect].
func (modernQuestions) AppendWithdrawal(dst []byte, id jsonrpc.ID) []byte {
	w := wire.Begin(nil)
	w.Value("requestId", id)
	return jsonrpc.AppendNotification(dst, legacy2025.NotificationCancelled, wire.Value(w.End()))
}

// questions lists the members of an inputRequests object.
func questions(inputRequests wire.Value) []port.Question {
	var out []port.Question
	for m := range inputRequests.Members() {
		out = append(out, port.Question{Key: m.Name, Request: m.Value})
	}
	return out
}
