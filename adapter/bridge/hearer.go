package bridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// hearer is a modern client's request at a legacy backend, with what the backend
// says about it.
type hearer struct {
	d       *Downgrade
	b       *LegacyBackend
	x       *port.Exchange
	session port.Session
	// crowded is set where callers without a name share the session: what is said beside
	// all requests may be about another's.
	crowded bool
	// token is the bridge's progress token, clientToken the client's (G-10).
	token, clientToken wire.Value
	// augment is what makes the request one for a task (§4.19); absent for a plain one.
	augment wire.Value
	// ask takes a request of the backend to its client; nil refuses all.
	ask func(msg jsonrpc.Message)
	// withdraw takes the id of a request that the backend has taken back.
	withdraw func(id jsonrpc.ID)
	// waited returns when the backend has last waited for an answer; nil if it
	// never does.
	waited func() time.Time

	mu   sync.Mutex
	id   jsonrpc.ID // of the request at the backend, until that is cancelled
	last wire.Value // the last progress told (G-12)
	// beside is what was said beside the request's own stream.
	beside beside
}

func (d *Downgrade) hearer(b *LegacyBackend, x *port.Exchange, session port.Session) *hearer {
	h := &hearer{d: d, b: b, x: x, session: session}
	if token := x.Message.Params.Get("_meta").Get(wire.MetaProgressToken); token.Present() && token != wire.Null {
		h.clientToken, h.token = token, jsonrpc.IntID(d.tokens.Add(1))
	}
	return h
}

// send sends the request and waits for its result. When ctx ends first, the backend
// is told that nobody waits any more (§1.7).
func (h *hearer) send(ctx context.Context) (wire.Value, error) {
	method := h.x.Message.Method
	params, _, err := mapping.AppendDownParams(nil, method, h.x.Message.Params, mapping.DownEnvelope{
		ProgressToken: h.token, Task: h.augment, Version: h.session.Ticket().Version,
	})
	if err != nil {
		return "", err
	}
	if h.token.Present() {
		h.d.mu.Lock()
		h.d.hearers[h.token] = h
		h.d.mu.Unlock()
		defer func() {
			h.d.mu.Lock()
			defer h.d.mu.Unlock()
			delete(h.d.hearers, h.token)
		}()
	}
	defer h.beside.end()
	defer h.d.levels.enter(ctx, h)()
	raw, err := h.session.Do(ctx, port.SessionCall{
		Method: method, Params: wire.Value(params), Authorization: h.b.Authorization(h.x.Caller), Waited: h.waited,
		OnMessage: func(msg jsonrpc.Message) { h.message(ctx, msg) },
		OnID: func(id jsonrpc.ID) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.id = id
		},
	})
	if err != nil && !h.augment.Present() && (ctx.Err() != nil || timedOut(err)) {
		ctx, cancel := h.d.parting(ctx)
		defer cancel()
		why := "the client has gone"
		if timedOut(err) {
			why = "no answer in time"
		}
		h.cancel(ctx, why)
	}
	return raw, err
}

// timedOut reports whether one of the bridge's own clocks has ended a request.
func timedOut(err error) bool {
	var cause *port.CauseError
	return errors.As(err, &cause) && cause.Public == port.TimedOut
}

// cancel tells the backend, once, that the request is not wanted any more.
func (h *hearer) cancel(ctx context.Context, why string) {
	h.mu.Lock()
	id := h.id
	h.id = ""
	h.mu.Unlock()
	if !id.Present() {
		return
	}
	if err := h.session.Notify(ctx, legacy2025.NotificationCancelled, withdrawal(id, why)); err != nil {
		h.d.logger.InfoContext(ctx, "backend not told of a cancelled request", "backend", h.x.Backend, "error", port.Reason(err))
	}
}

// message takes what the backend sends ahead of its answer.
func (h *hearer) message(ctx context.Context, msg jsonrpc.Message) {
	switch {
	case msg.Kind == jsonrpc.KindRequest && h.d.tasks.Heard(h.x.Backend, lent(h.session), msg, false): //nolint:contextcheck // of a task that it names, whatever the stream (B-I2)
	case msg.Kind == jsonrpc.KindRequest && h.ask != nil:
		h.ask(msg)
	case msg.Kind == jsonrpc.KindRequest:
		h.d.refuse(ctx, h.session, msg, jsonrpc.CodeMethodNotFound, "nobody can be asked during this request")
	case msg.Method == legacy2025.NotificationCancelled && h.withdraw != nil:
		if params, err := legacy2025.ParseCancelledParams(msg.Params); err == nil {
			h.withdraw(params.RequestID)
		}
	default:
		h.notification(msg) //nolint:contextcheck // what concerns the session outlives the request
	}
}

// notification passes progress and messages on to a client that asked for them
// (§3.4).
func (h *hearer) notification(msg jsonrpc.Message) {
	var (
		params []byte
		err    error
	)
	switch msg.Method {
	case legacy2025.NotificationProgress:
		if !h.token.Present() || msg.Params.Get(wire.MetaProgressToken) != h.token || !h.grew(msg.Params.Get("progress")) {
			return // another request's, nobody's, or a step back
		}
		params, _, err = mapping.AppendUpProgress(nil, msg.Params, h.clientToken)
	case legacy2025.NotificationMessage:
		if h.x.Caller.LogLevel == "" || msg.Params.Get("_meta").Get(wire.MetaRelatedTask).Present() {
			return // there are none for tasks
		}
		params, _, err = mapping.AppendUpLog(nil, msg.Params, h.x.Caller.LogLevel)
	default:
		// It concerns the session, whatever the stream.
		h.d.Hear(Heard{Backend: h.x.Backend, Session: lent(h.session), Message: msg})
		return
	}
	if err != nil {
		h.d.logger.Warn("notification dropped", "backend", h.x.Backend, "method", msg.Method, "error", port.Reason(err))
		return
	}
	if len(params) > 0 && h.x.Stream != nil {
		_ = h.x.Stream.Send(jsonrpc.AppendNotification(nil, msg.Method, wire.Value(params)))
	}
}

func (h *hearer) grew(progress wire.Value) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !mapping.ProgressGrew(h.last, progress) {
		return false
	}
	h.last = progress
	return true
}

// refuse answers a request of a backend with an error.
func (d *Downgrade) refuse(ctx context.Context, session port.Session, msg jsonrpc.Message, code int64, why string) {
	response := jsonrpc.AppendError(nil, msg.ID, jsonrpc.NewError(code, "%s", why))
	d.respond(ctx, session, response)
}

// respond answers a request of a backend, for a client that may be gone.
func (d *Downgrade) respond(ctx context.Context, session port.Session, response []byte) {
	ctx, cancel := d.parting(ctx)
	defer cancel()
	if err := session.Respond(ctx, response); err != nil {
		d.logger.InfoContext(ctx, "backend's question not answered", "error", port.Reason(err))
	}
}
