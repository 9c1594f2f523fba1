package task

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// snapshot is a document fetched from a backend, for as long as the backend's
// own poll interval lasts.
type snapshot struct {
	rec   record
	until time.Time
}

// Get serves tasks/get: the face's rendering of the task's current state.
func (m *Manager) Get(ctx context.Context, backend string, caller port.Caller, handle string) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	rec, err := m.current(ctx, r, caller, false)
	if err != nil {
		return "", err
	}
	return m.render(r, &rec)
}

func (m *Manager) render(r ref, rec *record) (wire.Value, error) {
	out, err := m.Dialect(r.backend).AppendTask(nil, rec.doc, r.handle, time.UnixMilli(rec.Created))
	return wire.Value(out), err
}

// current returns the newest state of a task. The store is asked first, so that
// an end or a cancellation that any replica has seen stands (A-T18, A-T19). Unless
// fresh is set a backend is asked at most once per poll interval (A-T21).
func (m *Manager) current(ctx context.Context, r ref, caller port.Caller, fresh bool) (record, error) {
	rec, err := m.load(ctx, r)
	if err != nil {
		return record{}, err
	}
	switch {
	case rec.Final && m.expired(&rec) && rec.Kind == kindHosted:
		return record{}, ErrUnknown
	case rec.Final:
		return rec, nil
	case m.cancelling(&rec):
		return rec, nil
	case rec.TaskID == "":
		return m.hostedState(ctx, r, rec)
	}
	if snap, ok := m.recent.Get(r.serial); ok && !fresh && snap.until.After(m.Env.Now()) {
		return snap.rec, nil
	}
	return m.fetch(ctx, r, caller, rec)
}

// fetch asks the backend; concurrent callers share one request.
func (m *Manager) fetch(ctx context.Context, r ref, caller port.Caller, rec record) (record, error) {
	ch := m.fetches.DoChan(r.serial, func() (any, error) {
		ctx, cancel := m.detach(ctx)
		defer cancel()
		doc, err := m.Backend.GetTask(ctx, r.backend, caller, rec.TaskID)
		if err != nil {
			return record{}, m.fetchFailed(ctx, r, &rec, err)
		}
		return m.accept(ctx, r, caller, rec, doc)
	})
	select {
	case res := <-ch:
		got, _ := res.Val.(record)
		return got, res.Err
	case <-ctx.Done():
		return record{}, context.Cause(ctx)
	}
}

// fetchFailed decides what a failed fetch means (§4.13).
func (m *Manager) fetchFailed(ctx context.Context, r ref, rec *record, err error) error {
	if port.IsCode(err, jsonrpc.CodeInvalidParams) {
		m.forget(ctx, r, rec)
		return err
	}
	var upstream *port.UpstreamError
	if errors.As(err, &upstream) && rec.Expires != 0 && m.Env.Now().After(time.UnixMilli(rec.Expires).Add(expiryGrace)) {
		return jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Task has expired")
	}
	return err
}

// forget drops a task that its backend no longer knows from the list (A-E1).
func (m *Manager) forget(ctx context.Context, r ref, rec *record) {
	m.recent.Remove(r.serial)
	m.untrack(r, rec)
	if rec.rev == 0 {
		return
	}
	if err := m.Store.Delete(ctx, recordKey(r), state.IfRev(rec.rev)); err != nil && !errors.Is(err, state.ErrConflict) {
		m.Logger.WarnContext(ctx, "task record not removed", "error", err)
	}
}

// accept takes a document of the backend: it becomes the task's state unless a
// cancellation or an end is already on record.
func (m *Manager) accept(ctx context.Context, r ref, caller port.Caller, rec record, doc wire.Value) (record, error) {
	dialect := m.Dialect(r.backend)
	if rec.Kind == kindHosted {
		doc = wire.Value(dialect.AppendRebased(nil, doc, time.UnixMilli(rec.Created)))
	}
	st, err := dialect.Read(doc)
	if err != nil {
		return record{}, err
	}
	for {
		if rec.Final || m.cancelling(&rec) {
			return rec, nil
		}
		changed := rec.Change != st.Change || rec.Seed
		rec.take(doc, st)
		if !changed {
			break // only lastUpdatedAt moved: nothing worth a write
		}
		switch err := m.save(ctx, r, &rec); {
		case err == nil:
			m.announce(ctx, r, &rec)
		case errors.Is(err, state.ErrConflict):
			if rec, err = m.load(ctx, r); err != nil {
				return record{}, err
			}
			continue
		default:
			return record{}, err
		}
		break
	}
	if rec.Final {
		m.recent.Remove(r.serial)
		m.untrack(r, &rec)
	} else {
		m.recent.Add(r.serial, snapshot{rec: rec, until: m.Env.Now().Add(m.interval(st))})
		m.track(r, &rec, caller)
	}
	return rec, nil
}

// interval is the pace at which a task may be asked for.
func (m *Manager) interval(st port.TaskState) time.Duration {
	if st.PollInterval <= 0 {
		return m.Times.PollDefault
	}
	return min(max(st.PollInterval, m.Times.PollFloor), m.Times.PollCeiling)
}

// announce tells the owner's sessions and this process's waiters of a change.
func (m *Manager) announce(ctx context.Context, r ref, rec *record) {
	m.wake(r.serial)
	if m.OnStatus == nil {
		return
	}
	note, err := m.Dialect(r.backend).AppendStatus(nil, rec.doc, r.handle, time.UnixMilli(rec.Created))
	if err != nil {
		m.Logger.WarnContext(ctx, "status notification not rendered", "error", err)
		return
	}
	m.OnStatus(r.backend, r.owner, r.handle, note)
}
