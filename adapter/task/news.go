package task

import (
	"strings"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// What one process learns of a task, the sessions and waiters of all others hear at
// once. It is a hint and may be lost: whoever waits looks at the record as well.

const (
	// newsTopic is where the changes of tasks are told; a message is the process and
	// the task's handle.
	newsTopic = "tasks"
	// newsSize is how many changes may wait to be told.
	newsSize = 1024
)

// spread tells other processes that a task has changed.
func (m *Manager) spread(r ref) {
	if !m.Process.Shared() {
		return
	}
	select {
	case m.news <- r.handle:
	default: // the store is slow; they will see
	}
}

// tellNews publishes changes until the manager is closed.
func (m *Manager) tellNews() {
	for {
		select {
		case handle := <-m.news:
			if err := m.Store.Publish(m.ctx, newsTopic, []byte(m.Process.ID()+" "+handle)); err != nil && m.ctx.Err() == nil {
				m.Logger.DebugContext(m.ctx, "change of a task not told", "error", port.Reason(err))
			}
		case <-m.ctx.Done():
			return
		}
	}
}

// hearNews takes the changes that others tell.
func (m *Manager) hearNews() {
	state.Listen(m.ctx, m.Store, m.Env, newsTopic, func(e state.Event) {
		if process, handle, ok := strings.Cut(string(e.Payload), " "); ok && process != m.Process.ID() {
			m.hear(handle)
		}
	}, nil)
}

// hear looks at a task that has changed, if anybody here wants to know.
func (m *Manager) hear(handle string) {
	r, err := m.read(handle)
	if err != nil {
		return
	}
	m.wake(r.serial)
	if m.Listens == nil || !m.Listens(r.backend, r.owner) {
		return
	}
	if rec, err := m.load(m.ctx, r); err == nil && rec.rev != 0 {
		m.tellHere(m.ctx, r, &rec)
	}
}
