package task

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Observe takes a document that a backend sent of its own accord. It has the
// weight of a poll's answer.
func (m *Manager) Observe(ctx context.Context, backend string, caller port.Caller, taskID string, doc wire.Value) {
	m.mu.Lock()
	r, known := m.tracked[trackKey{backend, taskID}]
	m.mu.Unlock()
	if !known || r.owner != m.owner(caller) {
		return
	}
	rec, err := m.load(ctx, r)
	if err == nil {
		_, err = m.accept(ctx, r, caller, rec, doc)
	}
	if err != nil {
		m.Logger.WarnContext(ctx, "task notification ignored", "backend", backend, "error", err)
	}
}

// track remembers a living task of a backend, so that events find it.
func (m *Manager) track(r ref, rec *record, caller port.Caller) {
	key := trackKey{r.backend, rec.TaskID}
	m.mu.Lock()
	_, known := m.tracked[key]
	m.tracked[key] = r
	m.mu.Unlock()
	if !known && m.OnTask != nil {
		m.OnTask(r.backend, caller, rec.TaskID, true)
	}
}

func (m *Manager) untrack(r ref, rec *record) {
	key := trackKey{r.backend, rec.TaskID}
	m.mu.Lock()
	_, known := m.tracked[key]
	delete(m.tracked, key)
	m.mu.Unlock()
	if known && m.OnTask != nil {
		m.OnTask(r.backend, port.Caller{}, rec.TaskID, false)
	}
}

// EndOwner cancels and forgets all tasks of an owner that will not come back.
func (m *Manager) EndOwner(ctx context.Context, backend string, caller port.Caller) {
	owner := ownerKey(backend, m.owner(caller))
	var after state.Pos
	for {
		stored, err := m.Store.List(ctx, owner, after, refreshers)
		if err != nil {
			m.Logger.WarnContext(ctx, "tasks of an ended session not listed", "error", err)
			return
		}
		if len(stored) == 0 {
			return
		}
		for _, s := range stored {
			after = s.Pos()
			rec, err := decodeRecord(s)
			if err != nil {
				m.Logger.WarnContext(ctx, "task record unreadable", "error", err)
				continue
			}
			m.endTask(ctx, backend, caller, rec)
		}
	}
}

func (m *Manager) endTask(ctx context.Context, backend string, caller port.Caller, rec record) {
	r, err := m.open(backend, caller, rec.Handle)
	if err != nil {
		return
	}
	if !rec.Final {
		if _, err := m.Cancel(ctx, backend, caller, rec.Handle); err != nil {
			m.Logger.InfoContext(ctx, "task of an ended session not cancelled", "error", err)
		}
		if rec, err = m.load(ctx, r); err != nil {
			return
		}
	}
	m.forget(ctx, r, &rec)
}
