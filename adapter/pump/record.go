package pump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// record is what the store keeps of a task. It is written as its header in JSON, a
// line feed, and then the document and the result as they came.
type record struct {
	// TaskID is the backend's id; empty for a hosted task.
	TaskID string     `json:"taskId,omitempty"`
	Place  port.Place `json:"place"`
	// Capabilities are those of the call that made the task: what the backend may
	// ask at all (B-I4).
	Capabilities string `json:"capabilities,omitempty"`
	// Info is who the backend said it is.
	Info string `json:"info,omitempty"`
	// Created and Expires are the creation and the end of the lifetime, in ms; no
	// end means unlimited.
	Created int64 `json:"created"`
	Expires int64 `json:"expires,omitempty"`
	// Final is true once the task is over. It never changes again (B-G7).
	Final bool `json:"final,omitempty"`
	// Error is the end of a task that has no result.
	Error *failure `json:"error,omitempty"`
	// Doc is how many bytes behind the header are the document.
	Doc int `json:"doc,omitempty"`

	// Asks are the questions of the task, Asked counts all that it has ever had.
	Asks  []*ask `json:"asks,omitempty"`
	Asked int64  `json:"asked,omitempty"`
	// Fence is the token of the newest lease under which somebody has waited for the
	// end of the task, and Opened counts how often that began.
	Fence  int64 `json:"fence,omitempty"`
	Opened int   `json:"opened,omitempty"`
	// Wait is the request for the end of the task that was made last.
	Wait *sent `json:"wait,omitempty"`
	// Lost is set while a question may have been lost for good (B-I10).
	Lost bool `json:"lost,omitempty"`
	// Cancelling is set once the client has asked for the end of the task at a
	// backend that knows no cancellation: whatever it asks is refused (§4.22).
	Cancelling bool `json:"cancelling,omitempty"`
	// Uncancellable is set for a task of a backend that does not cancel tasks. Who resumes its
	// session has not been told.
	Uncancellable bool `json:"uncancellable,omitempty"`
	// CallID is the id of a hosted call at the backend.
	CallID string `json:"callId,omitempty"`
	// Runner is the process that has a hosted call.
	Runner string `json:"runner,omitempty"`

	doc, result wire.Value
	rev         state.Rev
	until       time.Time // when the store forgets it
}

// sent names a request to the backend, in the session at Place.
type sent struct {
	ID    string     `json:"id"`
	Place port.Place `json:"place"`
}

// failure is a JSON-RPC error on record.
type failure struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data,omitempty"`
}

const (
	// expiryGrace is how long after the end of a task's lifetime the backend may
	// have it still, by its own clock.
	expiryGrace = 10 * time.Minute
	// expiryMemory is how long the record of a task is kept after its lifetime, for
	// backends that count it otherwise: what is over stays over (B-G7).
	expiryMemory = 24 * time.Hour
)

// end is how the task has ended.
func (rec *record) end() port.TaskEnd {
	if rec.Error == nil {
		return port.TaskEnd{Result: rec.result}
	}
	return port.TaskEnd{Error: &jsonrpc.Error{Code: rec.Error.Code, Message: rec.Error.Message, Data: wire.Value(rec.Error.Data)}}
}

// maker is a caller as the one that made the task: its session was opened with the
// capabilities that were declared then.
func (rec *record) maker(caller port.Caller) port.Caller {
	if rec.Capabilities != "" {
		caller.Capabilities = wire.Value(rec.Capabilities)
	}
	return caller
}

// over puts the end of the task on the record. Nobody needs its questions any more
// (B-I9).
func (rec *record) over(doc wire.Value, end port.TaskEnd) {
	rec.Final, rec.doc, rec.result, rec.Error = true, doc, end.Result, nil
	if end.Error != nil {
		rec.Error = &failure{Code: end.Error.Code, Message: end.Error.Message, Data: string(end.Error.Data)}
	}
	rec.Asks, rec.Wait, rec.Lost = nil, nil, false
}

// live reports whether the lifetime of the task goes on.
func (m *Manager) lives(rec *record) bool {
	return rec.Expires == 0 || m.Env.Now().UnixMilli() < rec.Expires
}

// stands reports whether the record alone is the answer.
func (m *Manager) stands(rec *record) bool { return rec.Final && m.lives(rec) }

// lifetime notes how long a task is kept. A backend whose clock is behind must not
// make the bridge forget its task early.
func (rec *record) lifetime(st port.TaskState) {
	rec.Expires = 0
	if st.TTL <= 0 {
		return // real servers mean by 0 that there is none
	}
	from := time.UnixMilli(rec.Created)
	if st.CreatedAt.After(from) {
		from = st.CreatedAt
	}
	rec.Expires = from.Add(st.TTL).UnixMilli()
}

// recordKey begins with the time, so that neighbours in the store are written
// together.
func recordKey(r ref) string { return fmt.Sprintf("pump/%011x-%s", r.created.UnixMilli(), r.serial) }

// load reads the record of a task. One is made up from the handle of a task that
// has none: losing the store loses no task of a backend. The keys of its questions
// begin behind all that there can have been.
func (m *Manager) load(ctx context.Context, r ref) (record, error) {
	stored, err := m.Store.Get(ctx, recordKey(r))
	switch {
	case errors.Is(err, state.ErrNotFound) && r.kind == kindProxied:
		return m.unrecorded(r), nil
	case errors.Is(err, state.ErrNotFound):
		return record{}, ErrUnknown
	case err != nil:
		return record{}, &awayError{err}
	}
	return decodeRecord(stored)
}

// unrecorded is all that the handle of a backend's task says.
func (m *Manager) unrecorded(r ref) record {
	return record{
		TaskID: r.taskID, Place: r.place, Created: r.created.UnixMilli(), Asked: m.Env.Now().Sub(r.created).Milliseconds(),
	}
}

func decodeRecord(stored state.Record) (record, error) {
	head, rest, found := bytes.Cut(stored.Value, []byte{'\n'})
	if !found {
		return record{}, fmt.Errorf("task record %s: want a header line", stored.Key)
	}
	rec := record{rev: stored.Rev, until: stored.Expires}
	if err := json.Unmarshal(head, &rec); err != nil {
		return record{}, fmt.Errorf("task record %s: %w", stored.Key, err)
	}
	if rec.Doc < 0 || rec.Doc > len(rest) {
		return record{}, fmt.Errorf("task record %s: want a document of %d bytes", stored.Key, rec.Doc)
	}
	rec.doc, rec.result = wire.Value(rest[:rec.Doc]), wire.Value(rest[rec.Doc:])
	return rec, nil
}

// save writes the record if nobody else has since it was read, and sets its new
// revision. The error wraps [state.ErrConflict] otherwise.
func (m *Manager) save(ctx context.Context, r ref, rec *record) error {
	rec.Doc = len(rec.doc)
	head, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write task record: %w", err)
	}
	value := append(append(append(head, '\n'), rec.doc...), rec.result...)
	until := m.recordExpiry(r, rec)
	rev, err := m.Store.Put(ctx, state.Record{Key: recordKey(r), Value: value, Expires: until}, state.IfRev(rec.rev))
	if err != nil {
		return fmt.Errorf("write task record: %w", err)
	}
	rec.rev, rec.until = rev, until
	if m.stands(rec) {
		m.remember(r, rec)
	}
	return nil
}

// remember keeps the record of a task that is over beside the store.
func (m *Manager) remember(r ref, rec *record) {
	if len(rec.doc)+len(rec.result) <= endedBytes {
		m.ended.Add(r.serial, *rec)
	}
}

// fades reports whether the record of a task without a lifetime has to be written
// again, so that the store does not forget a task that is asked for.
func (m *Manager) fades(rec *record) bool {
	return rec.rev != 0 && rec.Expires == 0 && rec.until.Sub(m.Env.Now()) < m.Times.Retention/2
}

// touch has the store keep the record of a task that somebody asks for.
func (m *Manager) touch(ctx context.Context, r ref, rec *record) {
	if !m.fades(rec) {
		return
	}
	if err := m.save(ctx, r, rec); err != nil && !errors.Is(err, state.ErrConflict) {
		m.Logger.WarnContext(ctx, "task record not kept", "error", port.Reason(err)) // the next look tries again
	}
}

// recordExpiry is when the store may forget a task.
func (m *Manager) recordExpiry(r ref, rec *record) time.Time {
	now, ends := m.Env.Now(), time.UnixMilli(rec.Expires)
	switch {
	case rec.Expires == 0:
		return now.Add(m.Times.Retention)
	case r.kind == kindHosted:
		return ends
	case ends.Before(now): // the backend has it all the same
		return now.Add(expiryMemory)
	default:
		return ends.Add(expiryMemory)
	}
}

// change applies a change to the record of a task, again and again until nobody
// has interfered. Change reports whether there is anything to write.
func (m *Manager) change(ctx context.Context, r ref, change func(rec *record) bool) (record, error) {
	for {
		rec, err := m.load(ctx, r)
		if err != nil {
			return record{}, err
		}
		if !change(&rec) {
			return rec, nil
		}
		if err := m.save(ctx, r, &rec); !errors.Is(err, state.ErrConflict) {
			return rec, err
		}
	}
}

// forget removes the record of a task that its backend does not know, unless it has
// changed since it was read.
func (m *Manager) forget(ctx context.Context, r ref, rec *record) {
	if rec.rev == 0 {
		return
	}
	if err := m.Store.Delete(ctx, recordKey(r), state.IfRev(rec.rev)); err != nil && !errors.Is(err, state.ErrConflict) {
		m.Logger.WarnContext(ctx, "task record not removed", "error", port.Reason(err)) // it expires
	}
}
