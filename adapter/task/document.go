package task

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// inlineSize is the largest final document that a record has in itself, in
// bytes. A larger one, with a result that only tasks/result needs, goes into a
// record of its own, so that polls and lists do not drag it along.
const inlineSize = 32 << 10

// pack moves a large final document into a body and keeps the face's rendering
// in its place, and reports whether it did. The body is durable before the record
// that names it, and has a name that no other writer uses.
func (m *Manager) pack(ctx context.Context, r ref, rec *record, until time.Time) (packed bool, err error) {
	if !rec.Final || rec.Body != "" || len(rec.doc) <= inlineSize {
		return false, nil
	}
	view, err := m.render(r, rec)
	if err != nil {
		return false, err
	}
	var unique [8]byte
	if _, err := io.ReadFull(m.Env.Random(), unique[:]); err != nil {
		return false, fmt.Errorf("name a task document: %w", err)
	}
	key := recordKey(r) + "/" + hex.EncodeToString(unique[:])
	if err := m.putBody(ctx, key, rec.doc, until); err != nil {
		return false, err
	}
	rec.Body, rec.view = key, view
	return true, nil
}

func (m *Manager) putBody(ctx context.Context, key string, doc wire.Value, until time.Time) error {
	if _, err := m.Store.Put(ctx, state.Record{Key: key, Value: []byte(doc), Expires: until}, state.Always); err != nil {
		return fmt.Errorf("write task document: %w", err)
	}
	return nil
}

// unpack removes the body of a record that was not or is no longer kept.
func (m *Manager) unpack(ctx context.Context, rec *record) {
	if rec.Body == "" {
		return
	}
	if err := m.Store.Delete(ctx, rec.Body, state.Always); err != nil {
		m.Logger.WarnContext(ctx, "task document not removed", "error", err) // it expires
	}
	rec.Body, rec.view = "", ""
}

// prolongBody keeps the body of a record as long as the record.
func (m *Manager) prolongBody(ctx context.Context, rec *record) error {
	if rec.Body == "" {
		return nil
	}
	doc, err := m.document(ctx, rec)
	if err != nil {
		return err
	}
	return m.putBody(ctx, rec.Body, doc, m.recordExpiry(rec))
}

// document returns the task's document, wherever it is.
func (m *Manager) document(ctx context.Context, rec *record) (wire.Value, error) {
	if rec.doc.Present() || rec.Body == "" {
		return rec.doc, nil
	}
	body, err := m.Store.Get(ctx, rec.Body)
	if err != nil {
		return "", fmt.Errorf("read task document: %w", err)
	}
	return wire.Value(body.Value), nil
}

// render returns the face's rendering of a task.
func (m *Manager) render(r ref, rec *record) (wire.Value, error) {
	if rec.view.Present() {
		return rec.view, nil
	}
	out, err := m.Dialect(r.backend).AppendTask(nil, rec.doc, m.shown(r, rec))
	return wire.Value(out), err
}

// shown is how a task is shown.
func (m *Manager) shown(r ref, rec *record) port.TaskView {
	return port.TaskView{
		Handle: r.handle, FirstSeen: time.UnixMilli(rec.Created), Answered: m.answered(r, rec),
	}
}

// payload returns how the original call of a task that is over has ended.
func (m *Manager) payload(ctx context.Context, r ref, rec *record) port.Outcome {
	doc, err := m.document(ctx, rec)
	if err != nil {
		return port.Fail(err)
	}
	return m.Dialect(r.backend).Payload(doc, r.handle, rec.Wrapped)
}
