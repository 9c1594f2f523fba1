package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// record is what the store keeps of a task. It is written as its header in
// JSON, a line feed, and the document as it came; see [Manager.pack] for large
// ones.
type record struct {
	Handle string `json:"handle"`
	// TaskID is the backend's id. A hosted task gets one when its call yields a
	// task late (A-T9).
	TaskID string `json:"taskId,omitempty"`
	// Wrapped is that of the request; see port.TaskDialect.
	Wrapped bool `json:"wrapped,omitempty"`
	// Created is the creation time the client was told, in ms.
	Created int64 `json:"created"`
	// Expires is when the task's lifetime ends, in ms; 0 means never.
	Expires int64 `json:"expires,omitempty"`
	// Change is that of the newest document; see port.TaskState.
	Change string `json:"change,omitempty"`
	// Final is true once the document is terminal. It never changes again
	// (A-T19, A-X1).
	Final bool `json:"final,omitempty"`
	// Cancelling is when a cancellation began that has not ended yet, in ms.
	// Readers show the task as it was (A-X5).
	Cancelling int64 `json:"cancelling,omitempty"`
	// Canceller is the process that is at it.
	Canceller string `json:"canceller,omitempty"`
	// Runner is the process that runs a hosted call, or ran it.
	Runner string `json:"runner,omitempty"`
	// Body is the key of the record that has the document, if it is too large
	// for this one.
	Body string `json:"body,omitempty"`
	// Session is the one that made the task, as the desk names it.
	Session string `json:"session,omitempty"`
	// Asks are the questions of the task.
	Asks ask.Table `json:"asks,omitempty"`
	// Pointed is until when their answers find the task at least, in ms; see
	// [Manager.follow].
	Pointed int64 `json:"pointed,omitempty"`
	// Call is the key of the record that has the hosted call while it waits for
	// answers, Rounds how often it has asked.
	Call   string `json:"call,omitempty"`
	Rounds int    `json:"rounds,omitempty"`

	doc  wire.Value // absent while it is in the body only
	view wire.Value // the face's rendering, in place of a document in a body
	rev  state.Rev
	// withdrawn are requests that lose their question, and unsaved is a call that
	// is not needed any more, once this is written.
	withdrawn []ask.Request
	unsaved   string
	// until is when the store forgets the record.
	until time.Time
}

const (
	// expiryGrace is how long after the end of a task's lifetime a backend that
	// cannot be reached counts as having it still (A-E2).
	expiryGrace = 10 * time.Minute
	// expiryMemory is how long after it a record is kept, in which the end of
	// the task stands and "expired" is the answer rather than "unreachable".
	expiryMemory = 24 * time.Hour
	// cancelPatience is how long a cancellation under way blocks other writers at
	// most. A process that died in the middle of one is overruled at once.
	cancelPatience = time.Minute
)

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
		return record{Handle: r.handle, TaskID: r.taskID, Created: r.created.UnixMilli()}, nil
	case errors.Is(err, state.ErrNotFound):
		return record{}, ErrUnknown
	case err != nil:
		return record{}, fmt.Errorf("read task record: %w", err)
	}
	return decodeRecord(stored)
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
	if rec.Body == "" {
		rec.doc = wire.Value(rest)
	} else {
		rec.view = wire.Value(rest)
	}
	return rec, nil
}

// save writes the record if nobody else has since it was read, and sets its new
// revision. The error wraps [state.ErrConflict] otherwise.
func (m *Manager) save(ctx context.Context, r ref, rec *record) error {
	until := m.recordExpiry(rec)
	if err := m.follow(ctx, r, rec, until); err != nil {
		return err
	}
	packed, err := m.pack(ctx, r, rec, until)
	if err != nil {
		return err
	}
	head, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write task record: %w", err)
	}
	content := rec.doc
	if rec.Body != "" {
		content = rec.view
	}
	rev, err := m.Store.Put(ctx, state.Record{
		Key:     recordKey(r),
		Value:   append(append(head, '\n'), content...),
		Expires: until,
		Owner:   ownerKey(r.backend, r.owner),
		Order:   order(r),
	}, state.IfRev(rec.rev))
	if err != nil {
		if packed && errors.Is(err, state.ErrConflict) {
			m.unpack(ctx, rec)
		}
		return fmt.Errorf("write task record: %w", err)
	}
	rec.rev, rec.until = rev, until
	m.written(ctx, r, rec)
	return nil
}

// recordExpiry is when the store may forget a task: with a hosted one's lifetime
// (A-E6), or a little later if it waits for answers, so that its questions can be
// taken back; a while after a backend's (A-E2), and a retention after the last
// access to one without lifetime (A-E3).
func (m *Manager) recordExpiry(rec *record) time.Time {
	now := m.Env.Now()
	ends := time.UnixMilli(rec.Expires)
	switch {
	case rec.Expires == 0:
		return now.Add(m.Times.ListRetention)
	case rec.TaskID == "" && rec.Call != "":
		return ends.Add(expiryGrace)
	case rec.TaskID == "":
		return ends
	case ends.Before(now): // the backend has it all the same
		return now.Add(expiryMemory)
	default:
		return ends.Add(expiryMemory)
	}
}

// fading reports whether the store is going to forget a record well before the
// task, which has just been seen alive. A write per access would be too much.
func (m *Manager) fading(rec *record) bool {
	wanted := m.recordExpiry(rec)
	return rec.rev != 0 && wanted.Sub(rec.until) > wanted.Sub(m.Env.Now())/8
}

// prolong keeps a record that is not written otherwise.
func (m *Manager) prolong(ctx context.Context, r ref, rec *record) {
	if !m.fading(rec) {
		return
	}
	err := m.prolongBody(ctx, rec)
	if err == nil {
		err = m.save(ctx, r, rec)
	}
	if err != nil && !errors.Is(err, state.ErrConflict) {
		m.Logger.WarnContext(ctx, "task record not prolonged", "error", err)
	}
}

// expired reports whether the task's lifetime is over, as far as is known.
func (m *Manager) expired(rec *record) bool {
	return rec.Expires != 0 && m.Env.Now().UnixMilli() >= rec.Expires
}

// over reports whether nothing that comes now changes the task any more. Whether a
// backend's is, that backend alone knows.
func (m *Manager) over(rec *record) bool { return rec.Final || rec.TaskID == "" && m.expired(rec) }

// stands reports whether the record alone is the answer: the task has ended, and
// its lifetime has not. After that the backend is asked whether it still has the
// task; the end on record stands even then (A-T19).
func (m *Manager) stands(rec *record) bool { return rec.Final && !m.expired(rec) }

// cancelling reports whether a cancellation is under way, for all anyone knows.
func (m *Manager) cancelling(ctx context.Context, r ref, rec *record) bool {
	switch {
	case rec.Cancelling == 0 || m.Env.Now().Sub(time.UnixMilli(rec.Cancelling)) >= cancelPatience:
		return false
	case rec.Canceller == m.Process.ID():
		return m.cancels(r.serial)
	}
	lives, err := m.Process.Lives(ctx, rec.Canceller)
	return lives || err != nil
}

// take puts a document into the record, and reports whether the questions have
// changed with it.
func (rec *record) take(dialect port.TaskDialect, doc wire.Value, st port.TaskState) (asks bool) {
	rec.doc, rec.view, rec.Body = doc, "", ""
	rec.Change, rec.Cancelling, rec.Canceller = st.Change, 0, ""
	rec.Final = st.Status.Terminal()
	rec.Expires = 0
	if st.TTL >= 0 {
		// A backend whose clock is behind must not make us forget its task early.
		from := time.UnixMilli(rec.Created)
		if st.CreatedAt.After(from) {
			from = st.CreatedAt
		}
		rec.Expires = from.Add(st.TTL).UnixMilli()
	}
	if rec.Final {
		rec.unsaved, rec.Call = rec.Call, ""
	}
	if len(rec.Asks) == 0 && st.Status != port.TaskInputRequired {
		return false
	}
	return rec.list(dialect.Questions(doc))
}
