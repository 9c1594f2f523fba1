package pump_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// doc is a task document of the test's own era.
type doc struct {
	ID      string          `json:"taskId"`
	Status  port.TaskStatus `json:"status"`
	Message string          `json:"message,omitempty"`
	Created int64           `json:"createdAt,omitempty"`
	TTL     *int64          `json:"ttl,omitempty"` // ms; nil: unlimited
	Poll    int64           `json:"poll,omitempty"`
}

func (d doc) value() wire.Value {
	out, err := json.Marshal(d)
	if err != nil {
		return wire.String(err.Error()) // no document, then
	}
	return wire.Value(out)
}

// face is a task as clients see it.
type face struct {
	Handle  string              `json:"handle"`
	Status  port.TaskStatus     `json:"status"`
	Message string              `json:"message,omitempty"`
	Result  json.RawMessage     `json:"result,omitempty"`
	Error   string              `json:"error,omitempty"`
	Asks    map[string]question `json:"asks,omitempty"`
	TTL     *int64              `json:"ttl,omitempty"`
	Info    string              `json:"info,omitempty"`
}

// question is one as clients see it.
type question struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// dialect implements [port.SessionTaskDialect].
type dialect struct{}

func (dialect) Call(call port.TaskCall, taskID string) port.SessionCall {
	method := map[port.TaskCall]string{port.TaskGet: "get", port.TaskResult: "result", port.TaskCancel: "cancel"}[call]
	return port.SessionCall{Method: method, Params: wire.String(taskID)}
}

func parse(v wire.Value) (doc, error) {
	var d doc
	if err := json.Unmarshal([]byte(v), &d); err != nil {
		return doc{}, fmt.Errorf("task: %w", err)
	}
	switch d.Status {
	case "fault":
		panic("a fault of the dialect") //nolint:forbidigo // a fault is what is wanted
	case port.TaskWorking, port.TaskInputRequired, port.TaskCompleted, port.TaskFailed, port.TaskCancelled:
		return d, nil
	default:
		return doc{}, fmt.Errorf("task.status: unknown status %q", d.Status)
	}
}

func (dialect) Read(v wire.Value) (port.TaskState, error) {
	d, err := parse(v)
	if err != nil {
		return port.TaskState{}, err
	}
	st := port.TaskState{ID: d.ID, Status: d.Status, TTL: -1, PollInterval: time.Duration(d.Poll) * time.Millisecond}
	if d.Created != 0 {
		st.CreatedAt = time.UnixMilli(d.Created)
	}
	if d.TTL != nil {
		st.TTL = time.Duration(*d.TTL) * time.Millisecond
	}
	st.Change = string(d.Status) + d.Message
	return st, nil
}

func (dialect) ReadCreated(result wire.Value) (wire.Value, error) {
	made := result.Get("task")
	if !made.Present() {
		return "", errors.New("no task")
	}
	return made, nil
}

func (dialect) Cancels(about wire.Value) bool { return about.Get("cancel") != "false" }

func (dialect) Said(msg jsonrpc.Message) port.TaskSaid {
	var said port.TaskSaid
	said.Task, _ = msg.Params.Get("of").Text()
	switch {
	case msg.Kind != jsonrpc.KindNotification:
	case msg.Method == "status":
		said.Doc = msg.Params.Get("task")
		said.Whole = said.Doc.Get("createdAt").Present()
	case msg.Method == "withdrawn":
		said.Withdrawn = msg.Params.Get("id")
	case msg.Method == "progress":
		said.Progress = true
	}
	return said
}

func (dialect) Kind(method string) string {
	return map[string]string{"elicit": "elicitation", "sample": "sampling", "roots": "roots"}[method]
}

func (dialect) MayAsk(capabilities wire.Value, method string, params wire.Value) (may, kind bool) {
	kind = capabilities.Get(method).Present()
	return kind && (!params.Get("url").Present() || capabilities.Get(method).Get("url").Present()), kind
}

func (dialect) AppendQuestion(dst []byte, method string, params wire.Value) ([]byte, error) {
	if params.Get("text") == "7" {
		return nil, wire.Wrong("params.text", "a string")
	}
	return fmt.Appendf(dst, `{"method":%q,"params":{"text":%s}}`, method, params.Get("text")), nil
}

func (dialect) AppendAnswer(dst []byte, _ string, _, answer wire.Value, taskID, path string) ([]byte, error) {
	if !answer.IsObject() {
		return nil, wire.Wrong(path, "an object")
	}
	return fmt.Appendf(dst, `{"answer":%s,"of":%q}`, answer, taskID), nil
}

func (dialect) Dismissal(method string) wire.Value {
	if method == "elicit" {
		return `{"dismissed":true}`
	}
	return ""
}

func (dialect) Withdrawal(id jsonrpc.ID) (method string, params wire.Value) {
	return "cancelled", wire.Value(fmt.Sprintf(`{"id":%s}`, id))
}

func (dialect) AppendHosted(dst []byte, h port.HostedTask) []byte {
	ms := h.TTL.Milliseconds()
	d := doc{ID: h.ID, Status: h.Status, Message: h.StatusMessage, Created: h.CreatedAt.UnixMilli(), TTL: &ms, Poll: h.PollInterval.Milliseconds()}
	return append(dst, d.value()...)
}

func (l dialect) AppendCreated(dst []byte, result wire.Value, view port.SessionTaskView) ([]byte, error) {
	made, err := l.ReadCreated(result)
	if err != nil {
		return nil, err
	}
	return l.AppendTask(dst, made, view)
}

func (l dialect) AppendHostedCreated(dst []byte, doc wire.Value, view port.SessionTaskView) ([]byte, error) {
	return l.AppendTask(dst, doc, view)
}

func (dialect) AppendTask(dst []byte, v wire.Value, view port.SessionTaskView) ([]byte, error) {
	d, err := parse(v)
	if err != nil {
		return nil, err
	}
	f := face{Handle: view.Handle, Status: d.Status, Message: d.Message, TTL: d.TTL, Info: string(view.ServerInfo)}
	if view.Message != "" {
		f.Message = view.Message
	}
	if !d.Status.Terminal() {
		f.Status = port.TaskWorking
	}
	if view.End.Error != nil {
		f.Error = fmt.Sprintf("%d %s", view.End.Error.Code, view.End.Error.Message)
	}
	f.Result = json.RawMessage(view.End.Result)
	for _, q := range view.Questions {
		f.Status = port.TaskInputRequired
		if f.Asks == nil {
			f.Asks = make(map[string]question)
		}
		var asked question
		if err := json.Unmarshal([]byte(q.Request), &asked); err != nil {
			return nil, err
		}
		f.Asks[q.Key] = asked
	}
	out, err := json.Marshal(f)
	return append(dst, out...), err
}

func (l dialect) AppendStatus(dst []byte, v wire.Value, _ jsonrpc.ID, view port.SessionTaskView) (notification []byte, shown string, err error) {
	out, err := l.AppendTask(nil, v, view)
	return append(dst, out...), string(out), err
}

func (dialect) AppendAck(dst []byte, info wire.Value) []byte {
	return fmt.Appendf(dst, "ack %s", info)
}

func (dialect) ServerInfo(about wire.Value) wire.Value { return about.Get("info") }

func (dialect) Error(_ port.TaskCall, e *jsonrpc.Error) *jsonrpc.Error {
	return &jsonrpc.Error{Code: e.Code, Message: strings.ToLower(e.Message)}
}
