package task_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// doc is a task document of the test's own era. A task whose result says isError
// has failed on the face.
type doc struct {
	ID      string          `json:"taskId"`
	Status  port.TaskStatus `json:"status"`
	Message string          `json:"statusMessage,omitempty"`
	Created int64           `json:"createdAt"` // ms; 0: not readable
	Updated int64           `json:"lastUpdatedAt"`
	TTL     *int64          `json:"ttlMs"`
	Poll    int64           `json:"pollIntervalMs,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
	Asks    []question      `json:"asks,omitempty"`
}

// question is one of the test's own era: who can be asked is in it, and whether
// it has an answer that stands for none.
type question struct {
	Key         string `json:"key"`
	Text        string `json:"text"`
	Needs       string `json:"needs,omitempty"` // a capability of the caller
	Dismissible bool   `json:"dismissible,omitempty"`
}

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// face is the task object that clients see.
type face struct {
	ID      string          `json:"taskId"`
	Status  port.TaskStatus `json:"status"`
	Message string          `json:"statusMessage,omitempty"`
	Created int64           `json:"createdAt"`
	Updated int64           `json:"lastUpdatedAt"`
	TTL     *int64          `json:"ttl"`
	Poll    int64           `json:"pollInterval,omitempty"`
}

func (d doc) value() wire.Value {
	out, err := json.Marshal(d)
	if err != nil {
		return wire.String(err.Error()) // no document, then
	}
	return wire.Value(out)
}

func ttl(d time.Duration) *int64 {
	ms := d.Milliseconds()
	return &ms
}

// dialect implements [port.TaskDialect].
type dialect struct {
	onStatus func(d doc) // runs while a notification is rendered, unless nil
}

func (dialect) Questions(v wire.Value) []port.Question {
	d, err := parse(v)
	if err != nil || d.Status != port.TaskInputRequired {
		return nil
	}
	out := make([]port.Question, len(d.Asks))
	for i, q := range d.Asks {
		raw, _ := json.Marshal(q)
		out[i] = port.Question{Key: q.Key, Request: wire.Value(raw)}
	}
	return out
}

func readQuestion(q port.Question) (out question, err error) {
	return out, json.Unmarshal([]byte(q.Request), &out)
}

func (dialect) Check(q port.Question, caller port.Caller) error {
	in, err := readQuestion(q)
	if err == nil && in.Needs != "" && !caller.Capabilities.Get(in.Needs).Present() {
		err = port.ErrUnaskable
	}
	return err
}

func (d dialect) AppendQuestion(dst []byte, q port.Question, caller port.Caller, ask port.Ask) ([]byte, error) {
	if err := d.Check(q, caller); err != nil {
		return dst, err
	}
	in, err := readQuestion(q)
	return fmt.Appendf(dst, "%s %s? %s", ask.ID, in.Text, ask.Handle), err
}

func (dialect) Answer(_ port.Question, response jsonrpc.Message) (wire.Value, error) {
	if response.Kind == jsonrpc.KindError {
		return "", response.Error
	}
	return response.Result, nil
}

func (dialect) Dismissal(q port.Question) (wire.Value, bool) {
	in, err := readQuestion(q)
	return `{"dismissed":true}`, err == nil && in.Dismissible
}

func (dialect) Repeats(q port.Question, answer wire.Value) bool {
	in, err := readQuestion(q)
	return err == nil && in.Needs == "url" && answer.Get("ok") == "true"
}

func (dialect) AppendWithdrawal(dst []byte, id jsonrpc.ID) []byte {
	return fmt.Appendf(dst, "withdrawn %s", id)
}

func (dialect) AppendFailed(dst []byte, v wire.Value, message string, at time.Time) []byte {
	d, err := parse(v)
	if err != nil {
		return append(dst, v...)
	}
	d.Status, d.Message, d.Updated, d.Asks = port.TaskCompleted, message, at.UnixMilli(), nil
	d.Result = json.RawMessage(fmt.Sprintf(`{"isError":true,"text":%q}`, message))
	return append(dst, d.value()...)
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
	lifetime := "null"
	if d.TTL != nil {
		st.TTL = time.Duration(*d.TTL) * time.Millisecond
		lifetime = fmt.Sprint(*d.TTL)
	}
	outcome := crc32.ChecksumIEEE(fmt.Appendf(nil, "%s|%v", d.Result, d.Error))
	st.Change = fmt.Sprintf("%s|%s|%s|%x|%v", d.Status, d.Message, lifetime, outcome, d.Asks)
	return st, nil
}

func (dialect) AppendHosted(dst []byte, h port.HostedTask) []byte {
	d := doc{
		ID: h.ID, Status: h.Status, Message: h.StatusMessage,
		Created: h.CreatedAt.UnixMilli(), Updated: h.LastUpdatedAt.UnixMilli(),
		Poll: h.PollInterval.Milliseconds(), Result: json.RawMessage(h.Result),
	}
	if h.TTL >= 0 {
		d.TTL = ttl(h.TTL)
	}
	if h.Error != nil {
		d.Error = &rpcError{h.Error.Code, h.Error.Message}
	}
	for _, q := range h.Questions {
		in, err := readQuestion(q)
		if err != nil {
			in.Text = err.Error()
		}
		in.Key = q.Key
		d.Asks = append(d.Asks, in)
	}
	return append(dst, d.value()...)
}

func (dialect) AppendOverlay(dst []byte, v wire.Value, status port.TaskStatus, message string, at time.Time) []byte {
	d, err := parse(v)
	if err != nil {
		return append(dst, v...)
	}
	d.Status, d.Message, d.Updated, d.Result, d.Error = status, message, at.UnixMilli(), nil, nil
	d.Asks = nil
	return append(dst, d.value()...)
}

func (dialect) AppendRebased(dst []byte, v wire.Value, createdAt time.Time) []byte {
	d, err := parse(v)
	if err != nil {
		return append(dst, v...)
	}
	if d.TTL != nil {
		d.TTL = ttl(time.Duration(*d.TTL+d.Created-createdAt.UnixMilli()) * time.Millisecond)
	}
	d.Created = createdAt.UnixMilli()
	return append(dst, d.value()...)
}

func render(d doc, handle string, firstSeen time.Time) face {
	f := face{ID: handle, Status: d.Status, Message: d.Message, Created: d.Created, Updated: d.Updated, TTL: d.TTL, Poll: d.Poll}
	if f.Created == 0 {
		f.Created = firstSeen.UnixMilli()
	}
	if d.Status == port.TaskCompleted && wire.Value(d.Result).Get("isError") == "true" {
		f.Status = port.TaskFailed
	}
	return f
}

func (dialect) AppendTask(dst []byte, v wire.Value, o port.TaskView) ([]byte, error) {
	d, err := parse(v)
	if err != nil {
		return nil, err
	}
	if d.Status == port.TaskInputRequired && o.Answered {
		d.Status = port.TaskWorking
	}
	out, err := json.Marshal(render(d, o.Handle, o.FirstSeen))
	return append(dst, out...), err
}

func (dialect) AppendCreated(dst []byte, v wire.Value, o port.TaskView) ([]byte, error) {
	d, err := parse(v)
	if err != nil {
		return nil, err
	}
	d.Status = port.TaskWorking
	out, err := json.Marshal(map[string]face{"task": render(d, o.Handle, o.FirstSeen)})
	return append(dst, out...), err
}

func (l dialect) AppendStatus(dst []byte, v wire.Value, o port.TaskView) (notification []byte, shown string, err error) {
	d, err := parse(v)
	if err == nil && l.onStatus != nil {
		l.onStatus(d)
	}
	if d.Status == port.TaskInputRequired && o.Answered {
		d.Status = port.TaskWorking
	}
	lifetime := "null"
	if d.TTL != nil {
		lifetime = fmt.Sprint(*d.TTL)
	}
	out, err := l.AppendTask(dst, v, o)
	return out, fmt.Sprintf("%s|%s|%s", d.Status, d.Message, lifetime), err
}

func (dialect) Payload(v wire.Value, handle string, _ bool) port.Outcome {
	d, err := parse(v)
	switch {
	case err != nil:
		return port.Fail(err)
	case d.Status == port.TaskCompleted:
		return port.Outcome{Result: wire.Value(d.Result)}
	case d.Error != nil:
		return port.Fail(jsonrpc.NewError(d.Error.Code, "%s", d.Error.Message))
	default:
		return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "Task was %s", d.Status))
	}
}
