package task

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// snapshot is what a backend has said of a task, for as long as the backend's
// own poll interval lasts.
type snapshot struct {
	rec      record
	at       time.Time
	interval time.Duration
}

// size is what a snapshot takes in bytes, about.
func (s snapshot) size() int {
	const rest = 1 << 10
	size := rest + len(s.rec.doc) + len(s.rec.view)
	for i := range s.rec.Asks {
		size += len(s.rec.Asks[i].Answer)
	}
	return size
}

// age is how long ago the backend said it.
func (m *Manager) age(s *snapshot) time.Duration { return m.Env.Now().Sub(s.at) }

// Get serves tasks/get: the face's rendering of the task's current state. Own
// returns the stream on which the caller's session can be asked if it does not
// open tasks/result, or nil; it may be nil itself.
func (m *Manager) Get(ctx context.Context, backend string, caller port.Caller, handle string, own func() port.Stream) (wire.Value, error) {
	r, err := m.open(backend, caller, handle)
	if err != nil {
		return "", err
	}
	rec, err := m.current(ctx, r, caller, false)
	if err != nil {
		return "", err
	}
	rec = m.pose(ctx, r, caller, rec, own)
	return m.render(r, &rec)
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
	case m.stands(&rec):
		m.prolong(ctx, r, &rec)
		return rec, nil
	case rec.Final && rec.TaskID == "":
		return record{}, ErrUnknown
	case m.cancelling(ctx, r, &rec):
		return rec, nil
	case rec.TaskID == "":
		return m.hostedState(ctx, r, rec)
	}
	if !fresh {
		if known, ok := m.known(r, rec.rev); ok {
			return known, nil
		}
	}
	return m.fetch(ctx, r, caller, rec, fresh)
}

// known returns what the backend has said within its own poll interval, unless
// another replica has learned more since: the record is at this revision.
func (m *Manager) known(r ref, rev state.Rev) (record, bool) {
	snap, ok := m.recent.Get(r.serial)
	return snap.rec, ok && snap.rec.rev >= rev && m.age(&snap) < snap.interval
}

// fetched is what a shared fetch has learned.
type fetched struct {
	rec   record
	asked bool // of the backend, not of somebody who asked just before
}

// fetch asks the backend; concurrent callers share one request, which outlives
// each of them.
func (m *Manager) fetch(ctx context.Context, r ref, caller port.Caller, rec record, fresh bool) (record, error) {
	for {
		ch := m.fetches.DoChan(r.serial, func() (any, error) {
			if known, ok := m.known(r, rec.rev); ok && !fresh {
				return fetched{rec: known}, nil // another request has ended in between
			}
			got, err := m.ask(ctx, r, caller, rec)
			return fetched{got, true}, err
		})
		select {
		case res := <-ch:
			if got, _ := res.Val.(fetched); res.Err != nil || got.asked || !fresh {
				return got.rec, res.Err
			}
		case <-ctx.Done():
			return record{}, context.Cause(ctx)
		}
	}
}

// ask performs one request of the backend.
func (m *Manager) ask(ctx context.Context, r ref, caller port.Caller, rec record) (got record, err error) {
	defer func() { // where several wait, it would end the process
		if fault := recover(); fault != nil {
			port.LogFault(ctx, m.Logger, fault)
			got, err = record{}, errFault
		}
	}()
	if !m.enter() {
		return record{}, errStopped
	}
	defer m.work.Done()
	ctx, cancel := m.detach(ctx, m.Times.CallTotal, errCallTotal)
	defer cancel()
	doc, err := m.Backend.GetTask(ctx, r.backend, caller, rec.TaskID)
	if err != nil {
		return m.fetchFailed(ctx, r, rec, err)
	}
	return m.accept(ctx, r, caller, rec, doc)
}

// fetchFailed decides what a failed fetch means (§4.13).
func (m *Manager) fetchFailed(ctx context.Context, r ref, rec record, err error) (record, error) {
	switch {
	case unknownTask(err):
		return m.gone(ctx, r, rec, err)
	case transient(err) && rec.Expires != 0 && m.Env.Now().After(time.UnixMilli(rec.Expires).Add(expiryGrace)):
		return record{}, jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Task has expired")
	default:
		return record{}, err
	}
}

// transient reports whether a backend could not be reached, or did not answer
// properly, which says nothing about the task (A-E4, A-R6).
func transient(err error) bool {
	var upstream *port.UpstreamError
	return errors.As(err, &upstream)
}

// waitable reports whether it is worth waiting after err: a backend that cannot
// be reached may come back, one that refuses the credential will not be of
// another mind (A-L17).
func waitable(err error) bool {
	var upstream *port.UpstreamError
	return errors.As(err, &upstream) && upstream.Status != http.StatusUnauthorized && upstream.Status != http.StatusForbidden
}

// unknownTask reports whether the answer is that there is no such task.
func unknownTask(err error) bool {
	return !transient(err) && port.IsCode(err, jsonrpc.CodeInvalidParams)
}

// gone drops a task that its backend no longer knows from the list (A-E1). An
// end or a cancellation that has come on record meanwhile stands.
func (m *Manager) gone(ctx context.Context, r ref, rec record, cause error) (record, error) {
	for {
		err := m.forget(ctx, r, &rec)
		if !errors.Is(err, state.ErrConflict) {
			if err != nil {
				m.Logger.WarnContext(ctx, "task record not removed", "error", err)
			}
			return record{}, cause
		}
		if rec, err = m.load(ctx, r); err != nil {
			return record{}, cause
		}
		if m.stands(&rec) || m.cancelling(ctx, r, &rec) {
			return rec, nil
		}
	}
}

// forget removes a task's record, and all that hangs on it, unless it has changed
// since it was read, which is [state.ErrConflict].
func (m *Manager) forget(ctx context.Context, r ref, rec *record) error {
	if err := m.Store.Delete(ctx, recordKey(r), state.IfRev(rec.rev)); err != nil {
		return err
	}
	m.recent.Remove(r.serial)
	m.untrack(r, rec.TaskID)
	m.unpack(ctx, rec)
	rec.list(nil)
	rec.unsaved = rec.Call
	m.written(ctx, r, rec)
	return nil
}

// accept takes a document of the backend: it becomes the task's state unless a
// cancellation or an end is already on record.
func (m *Manager) accept(ctx context.Context, r ref, caller port.Caller, rec record, doc wire.Value) (record, error) {
	dialect := m.Dialect(r.backend)
	if r.kind == kindHosted {
		doc = wire.Value(dialect.AppendRebased(nil, doc, time.UnixMilli(rec.Created)))
	}
	st, err := dialect.Read(doc)
	if err != nil {
		return record{}, err
	}
	for !rec.Final {
		if m.cancelling(ctx, r, &rec) {
			return rec, nil
		}
		next := rec
		asks := next.take(dialect, doc, st)
		news := next.Change != rec.Change
		if !news && !asks && rec.rev != 0 && !m.fading(&rec) {
			rec = next // only lastUpdatedAt moved: nothing worth a write
			break
		}
		err := m.save(ctx, r, &next)
		if errors.Is(err, state.ErrConflict) {
			if rec, err = m.load(ctx, r); err == nil {
				continue
			}
		}
		if err != nil {
			return record{}, err
		}
		rec = next
		if news {
			m.announce(ctx, r, &rec)
		}
		break
	}
	m.note(ctx, r, caller, &rec, st)
	return rec, nil
}

// note remembers what a backend has just said, for fast pollers, and whether its
// notifications about the task are of interest.
func (m *Manager) note(ctx context.Context, r ref, caller port.Caller, rec *record, st port.TaskState) {
	if !m.stands(rec) {
		m.recent.Add(r.serial, snapshot{rec: *rec, at: m.Env.Now(), interval: m.interval(st)})
	}
	if rec.Final {
		m.untrack(r, rec.TaskID)
	} else {
		m.track(ctx, r, rec, caller)
	}
}

// interval is the pace at which a task may be asked for.
func (m *Manager) interval(st port.TaskState) time.Duration {
	if st.PollInterval <= 0 {
		return m.Times.PollDefault
	}
	return min(max(st.PollInterval, m.Times.PollFloor), m.Times.PollCeiling)
}

// announce tells the owner's sessions and everybody's waiters of a change.
func (m *Manager) announce(ctx context.Context, r ref, rec *record) {
	m.spread(r)
	m.tellHere(ctx, r, rec)
}

// tellHere tells the owner's sessions and waiters in this process.
func (m *Manager) tellHere(ctx context.Context, r ref, rec *record) {
	if rec.Final {
		m.conclude(r.serial, *rec, nil)
	}
	if m.OnStatus == nil {
		return
	}
	note, shown, err := m.Dialect(r.backend).AppendStatus(nil, rec.doc, m.shown(r, rec))
	if err != nil {
		m.Logger.WarnContext(ctx, "status notification not rendered", "error", err)
		return
	}
	m.tellMu.Lock()
	defer m.tellMu.Unlock()
	last, known := m.told.Get(r.serial)
	if known && last.rev >= rec.rev {
		return // overtaken
	}
	m.told.Add(r.serial, telling{rec.rev, shown})
	if known && last.shown == shown {
		return // nothing that a client would see
	}
	m.OnStatus(r.backend, r.owner, r.handle, note)
}
