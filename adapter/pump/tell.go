package pump

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// topic carries what a process learns of tasks that others may look after, too. A
// message may be lost: whoever needs to know asks the backend, or the store.
const topic = "pump"

const newsVersion = 1

// news is what one process tells the others of a task: what its backend has said of it
// by itself, or, without that, that nobody needs to look after it any more.
type news struct {
	from, serial string
	doc          wire.Value
}

func (n *news) encode() []byte {
	var f seal.Fields
	f.Int(newsVersion)
	f.String(n.from)
	f.String(n.serial)
	f.String(string(n.doc))
	return f.Bytes()
}

func decodeNews(payload []byte) (n news, ok bool) {
	f := seal.ReadFields(payload)
	version := f.Int()
	n = news{from: f.String(), serial: f.String(), doc: wire.Value(f.String())}
	return n, f.Done() == nil && version == newsVersion
}

// tell tells the other processes of a task.
func (m *Manager) tell(ctx context.Context, r ref, doc wire.Value) {
	if !m.Process.Shared() {
		return
	}
	n := news{from: m.Process.ID(), serial: r.serial, doc: doc}
	if err := m.Store.Publish(ctx, topic, n.encode()); err != nil && m.ctx.Err() == nil {
		m.Logger.DebugContext(ctx, "other processes not told of a task", "error", port.Reason(err))
	}
}

// listenToOthers takes what other processes tell until the manager is closed.
func (m *Manager) listenToOthers() {
	state.Listen(m.ctx, m.Store, m.Env, topic, func(e state.Event) {
		if n, ok := decodeNews(e.Payload); ok && !e.Lagged && n.from != m.Process.ID() {
			m.learn(n)
		}
	}, func(err error) {
		m.Logger.WarnContext(m.ctx, "other processes not heard", "error", port.Reason(err))
	})
}

// learn takes what another process tells of a task.
func (m *Manager) learn(n news) {
	m.mu.Lock()
	l := m.tasks[n.serial]
	m.mu.Unlock()
	switch {
	case l == nil || l.calls() != nil:
	case n.doc.Present():
		if st, err := m.Dialect.Read(n.doc); err == nil {
			l.news(n.doc, st)
		}
	default:
		m.spawn(func() { m.dismiss(l) })
	}
}
