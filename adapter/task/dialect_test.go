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

func parse(v wire.Value) (doc, error) {
	var d doc
	if err := json.Unmarshal([]byte(v), &d); err != nil {
		return doc{}, fmt.Errorf("task: %w", err)
	}
	switch d.Status {
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
	st.Change = fmt.Sprintf("%s|%s|%s|%x", d.Status, d.Message, lifetime, outcome)
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
	return append(dst, d.value()...)
}

func (dialect) AppendOverlay(dst []byte, v wire.Value, status port.TaskStatus, message string, at time.Time) []byte {
	d, err := parse(v)
	if err != nil {
		return append(dst, v...)
	}
	d.Status, d.Message, d.Updated, d.Result, d.Error = status, message, at.UnixMilli(), nil, nil
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

func (dialect) AppendTask(dst []byte, v wire.Value, handle string, firstSeen time.Time) ([]byte, error) {
	d, err := parse(v)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(render(d, handle, firstSeen))
	return append(dst, out...), err
}

func (dialect) AppendCreated(dst []byte, v wire.Value, handle string, firstSeen time.Time) ([]byte, error) {
	d, err := parse(v)
	if err != nil {
		return nil, err
	}
	d.Status = port.TaskWorking
	out, err := json.Marshal(map[string]face{"task": render(d, handle, firstSeen)})
	return append(dst, out...), err
}

func (l dialect) AppendStatus(dst []byte, v wire.Value, handle string, firstSeen time.Time) ([]byte, error) {
	if d, err := parse(v); err == nil && l.onStatus != nil {
		l.onStatus(d)
	}
	return l.AppendTask(dst, v, handle, firstSeen)
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
