package bridge

import (
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// relay passes on what a modern backend sends ahead of its answer.
type relay struct {
	x      *port.Exchange
	modern *Modern
	// token is the bridge's progress token, clientToken the client's (G-10).
	token, clientToken wire.Value

	mu   sync.Mutex
	last wire.Value // the last progress told (G-12)
}

// message implements port.Call.OnMessage. A client that is gone loses what is
// sent; that is for the exchange to notice.
func (r *relay) message(msg jsonrpc.Message) {
	var (
		params []byte
		err    error
	)
	switch msg.Method {
	case ext2026.NotificationProgress:
		if !r.token.Present() || msg.Params.Get(wire.MetaProgressToken) != r.token {
			return // another request's, or nobody's
		}
		params, _, err = mapping.AppendDownProgress(nil, msg.Params, r.clientToken)
		if err == nil && !r.grew(msg.Params.Get("progress")) {
			return
		}
	case ext2026.NotificationMessage:
		params, _, err = mapping.AppendDownLog(nil, msg.Params, r.x.Caller.LogLevel)
		if len(params) == 0 {
			return
		}
	default:
		// Everything else belongs on a listen stream, or means nothing here
		// (PEERS: one server sends notifications/tasks ahead of a result).
		return
	}
	if err != nil {
		r.modern.logger.Warn("notification dropped", "backend", r.x.Backend, "method", msg.Method, "error", port.Reason(err))
		return
	}
	r.send(legacyName(msg.Method), params)
}

// send passes a notification on, if there is a client to hear it.
func (r *relay) send(method string, params []byte) {
	if r.x.Stream != nil {
		_ = r.x.Stream.Send(jsonrpc.AppendNotification(nil, method, wire.Value(params)))
	}
}

// synthesize tells the client of progress that the backend has not reported
// (A-T14): one more than was told last. An empty message is left out.
func (r *relay) synthesize(message string) {
	r.mu.Lock()
	next := int64(1)
	if floor, ok := r.last.Floor(); ok {
		n, fits := floor.Int()
		if !fits || n >= maxCount {
			r.mu.Unlock()
			return // nothing is greater, or nothing can be counted
		}
		next = n + 1
	}
	r.last = jsonrpc.IntID(next)
	r.mu.Unlock()
	w := wire.Begin(nil)
	w.Value(wire.MetaProgressToken, r.clientToken)
	w.Int("progress", next)
	if message != "" {
		w.Text("message", message)
	}
	r.send(legacy2025.NotificationProgress, w.End())
}

// maxCount is the largest integer that every client can count to.
const maxCount = 1<<53 - 1

// legacyName is the notification's name on the legacy leg.
func legacyName(method string) string {
	if method == ext2026.NotificationProgress {
		return legacy2025.NotificationProgress
	}
	return legacy2025.NotificationMessage
}

// grew reports whether progress is more than was told before, and remembers it.
func (r *relay) grew(progress wire.Value) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !mapping.ProgressGrew(r.last, progress) {
		return false
	}
	r.last = progress
	return true
}
