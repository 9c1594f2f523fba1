package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// record is what the store keeps of a task. It is written as its header in
// JSON, a line feed, and the document as it came.
type record struct {
	Handle string `json:"handle"`
	Kind   kind   `json:"kind"`
	// TaskID is the backend's id. A hosted task gets one when its call yields a
	// task late (A-T9).
	TaskID string `json:"taskId,omitempty"`
	// Created is the creation time the client was told, in ms.
	Created int64 `json:"created"`
	// Expires is when the task's lifetime ends, in ms; 0 means never.
	Expires int64 `json:"expires,omitempty"`
	// Change is that of the newest document; see port.TaskState.
	Change string `json:"change,omitempty"`
	// Seed is true until the task has been fetched once: a seed is never shown
	// again after the create answer (A-T21).
	Seed bool `json:"seed,omitempty"`
	// Final is true once the document is terminal. It never changes again
	// (A-T19, A-X1).
	Final bool `json:"final,omitempty"`
	// Cancelling is when a cancellation began that has not ended yet, in ms.
	// Readers show the task as it was (A-X5).
	Cancelling int64 `json:"cancelling,omitempty"`
	// Runner is the process that runs a hosted call.
	Runner string `json:"runner,omitempty"`

	doc wire.Value
	rev state.Rev
}

// cancelPatience is how long a cancellation under way blocks other writers; a
// process that died in the middle of one is overruled after it.
const cancelPatience = time.Minute

// recordKey begins with the time, so that neighbours in the store are written
// together.
func recordKey(r ref) string {
	return fmt.Sprintf("task/%011x-%s", r.created.UnixMilli(), r.serial)
}

func ownerKey(backend, owner string) string { return "tasks/" + backend + "/" + owner }

// order sorts an owner's tasks by creation, then by serial (A-S2).
func order(r ref) string {
	return fmt.Sprintf("%015d/%s", r.created.UnixMilli(), r.serial)
}

// load reads the record of a task. For a proxied task that has none a fresh one
// is made up from the handle: losing the store loses no task of a backend.
func (m *Manager) load(ctx context.Context, r ref) (record, error) {
	stored, err := m.Store.Get(ctx, recordKey(r))
	switch {
	case errors.Is(err, state.ErrNotFound) && r.kind == kindProxied:
		return record{Handle: r.handle, Kind: r.kind, TaskID: r.taskID, Created: r.created.UnixMilli(), Seed: true}, nil
	case errors.Is(err, state.ErrNotFound):
		return record{}, ErrUnknown
	case err != nil:
		return record{}, fmt.Errorf("read task record: %w", err)
	}
	return decodeRecord(stored)
}

func decodeRecord(stored state.Record) (record, error) {
	head, doc, found := bytes.Cut(stored.Value, []byte{'\n'})
	rec := record{rev: stored.Rev, doc: wire.Value(doc)}
	if !found {
		return record{}, fmt.Errorf("task record %s: want a header line", stored.Key)
	}
	if err := json.Unmarshal(head, &rec); err != nil {
		return record{}, fmt.Errorf("task record %s: %w", stored.Key, err)
	}
	return rec, nil
}

// save writes the record if nobody else has since it was read, and sets its new
// revision. The error wraps [state.ErrConflict] otherwise.
func (m *Manager) save(ctx context.Context, r ref, rec *record) error {
	head, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write task record: %w", err)
	}
	rev, err := m.Store.Put(ctx, state.Record{
		Key:     recordKey(r),
		Value:   append(append(head, '\n'), rec.doc...),
		Expires: m.recordExpiry(rec),
		Owner:   ownerKey(r.backend, r.owner),
		Order:   order(r),
	}, state.IfRev(rec.rev))
	if err != nil {
		return fmt.Errorf("write task record: %w", err)
	}
	rec.rev = rev
	return nil
}

// recordExpiry is when the store may forget a task: with a hosted one's
// lifetime (A-E6), some time after a backend's (A-E2), and a retention after
// the last change without one (A-E3).
func (m *Manager) recordExpiry(rec *record) time.Time {
	switch {
	case rec.Expires == 0:
		return m.Env.Now().Add(m.Times.ListRetention)
	case rec.Kind == kindHosted && rec.TaskID == "":
		return time.UnixMilli(rec.Expires)
	default:
		return time.UnixMilli(rec.Expires).Add(expiryGrace)
	}
}

// expired reports whether the task's lifetime is over, as far as is known.
func (m *Manager) expired(rec *record) bool {
	return rec.Expires != 0 && m.Env.Now().UnixMilli() >= rec.Expires
}

// cancelling reports whether a cancellation is under way.
func (m *Manager) cancelling(rec *record) bool {
	return rec.Cancelling != 0 && m.Env.Now().Sub(time.UnixMilli(rec.Cancelling)) < cancelPatience
}

// take puts a document into the record.
func (rec *record) take(doc wire.Value, st port.TaskState) {
	rec.doc, rec.Change, rec.Seed = doc, st.Change, false
	rec.Final = st.Status.Terminal()
	rec.Expires = 0
	if st.TTL >= 0 {
		from := st.CreatedAt
		if from.IsZero() {
			from = time.UnixMilli(rec.Created)
		}
		rec.Expires = from.Add(st.TTL).UnixMilli()
	}
}
