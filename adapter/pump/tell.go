package pump

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
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
	if m.sub == nil {
		return
	}
	n := news{from: m.Process.ID(), serial: r.serial, doc: doc}
	if err := m.Store.Publish(ctx, topic, n.encode()); err != nil && m.ctx.Err() == nil {
		m.Logger.DebugContext(ctx, "other processes not told of a task", "error", port.Reason(err))
	}
}

// listenToOthers takes what other processes tell until the subscription ends.
func (m *Manager) listenToOthers() {
	for e := range m.sub.Events() {
		n, ok := decodeNews(e.Payload)
		if e.Lagged || !ok || n.from == m.Process.ID() {
			continue
		}
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
}
