package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// Heard is a message that a backend sent outside every exchange.
type Heard struct {
	Backend string
	// Session is the one that it was said on.
	Session port.Session
	// Holder returns what hears, for the only call that may be asked something on the
	// session now, what is said there; nil if there is none (B-U6). It may be nil itself.
	Holder  func() func(msg jsonrpc.Message)
	Message jsonrpc.Message
}

func (h *Heard) holder() func(msg jsonrpc.Message) {
	if h.Holder == nil {
		return nil
	}
	return h.Holder()
}

// Hear hands a message on to whom it concerns. It does not block for long.
func (d *Downgrade) Hear(h Heard) {
	if d.tasks.Heard(h.Backend, h.Session, h.Message, false) {
		return
	}
	if h.Message.Kind == jsonrpc.KindRequest {
		d.hearRequest(h)
		return
	}
	d.listens.Heard(h.Session, h.Message)
	switch h.Message.Method {
	case legacy2025.NotificationToolsListChanged:
		d.catalogue.changed(h.Backend)
	case legacy2025.NotificationElicitationComplete:
		d.visits.announce(h.Backend, h.Message.Params)
	case legacy2025.NotificationProgress:
		d.hearProgress(h)
	case legacy2025.NotificationMessage:
		if sole := d.levels.sole(h.Session); sole != nil && !d.tasks.Lives(h.Backend, h.Session) {
			sole.aside(h.Message)
		}
	case legacy2025.NotificationCancelled:
		if d.withdrawn(h) {
			return
		}
		if hear := h.holder(); hear != nil {
			hear(h.Message)
		}
	}
}

// hearProgress finds the request by its token, which no other has had (G-9). Since it
// can be guessed, only the request's own session is believed.
func (d *Downgrade) hearProgress(h Heard) {
	d.mu.Lock()
	hearer := d.hearers[h.Message.Params.Get(wire.MetaProgressToken)]
	d.mu.Unlock()
	if hearer != nil && lent(hearer.session) == h.Session {
		hearer.aside(h.Message)
	}
}

// hearRequest takes a request of the backend to the call that it belongs to.
func (d *Downgrade) hearRequest(h Heard) {
	hear := h.holder()
	switch {
	case hear != nil:
		hear(h.Message)
	case d.tasks.Heard(h.Backend, h.Session, h.Message, true): // of the only task there
	case h.Message.Method == legacy2025.MethodRootsList:
		d.hold(h)
	case kinds[h.Message.Method] != "":
		d.refuseAside(h, jsonrpc.CodeInvalidParams, "no request to ask this in")
	default:
		d.refuseAside(h, jsonrpc.CodeMethodNotFound, "Method not found")
	}
}

// refuseAside answers a request with an error, without holding up the session.
func (d *Downgrade) refuseAside(h Heard, code int64, why string) {
	d.spawn(func() { d.refuse(context.Background(), h.Session, h.Message, code, why) })
}

const (
	// holdTime is how long a question about roots waits for a call in which it can
	// be asked: some servers ask as soon as a session is open (B-U9).
	holdTime = 2 * time.Second
	// maxHeld is how many wait in one session; more are refused at once.
	maxHeld = 16
)

// held is a question that waits for a call.
type held struct {
	heard Heard
	stop  func() bool
}

// hold keeps a question for the next call on its session, or hands it to one that has
// taken the session in between.
func (d *Downgrade) hold(h Heard) {
	hear, ok := d.holds(h)
	switch {
	case hear != nil:
		hear(h.Message)
	case !ok:
		d.refuseAside(h, jsonrpc.CodeInternal, "nobody can be asked")
	}
}

func (d *Downgrade) holds(h Heard) (hear func(msg jsonrpc.Message), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A call that comes from now on finds the question with [Downgrade.release].
	if hear = h.holder(); hear != nil {
		return hear, true
	}
	if d.closed || len(d.held[h.Session]) >= maxHeld {
		return nil, false
	}
	q := &held{heard: h}
	q.stop = d.env.AfterFunc(holdTime, func() {
		if d.unhold(q) {
			d.refuseAside(h, jsonrpc.CodeInternal, "nobody can be asked")
		}
	})
	d.held[h.Session] = append(d.held[h.Session], q)
	return nil, true
}

// withdrawn forgets a question that the backend takes back while it is held.
func (d *Downgrade) withdrawn(h Heard) bool {
	id := h.Message.Params.Get("requestId")
	d.mu.Lock()
	i := slices.IndexFunc(d.held[h.Session], func(q *held) bool { return q.heard.Message.ID == id })
	if i < 0 {
		d.mu.Unlock()
		return false
	}
	q := d.held[h.Session][i]
	d.mu.Unlock()
	q.stop()
	return d.unhold(q)
}

// unhold forgets a question, and reports false if somebody was faster.
func (d *Downgrade) unhold(q *held) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	session := q.heard.Session
	i := slices.Index(d.held[session], q)
	if i < 0 {
		return false
	}
	if d.held[session] = slices.Delete(d.held[session], i, i+1); len(d.held[session]) == 0 {
		delete(d.held, session)
	}
	return true
}

// release hands the questions that were held on a session to the call that has it
// now.
func (d *Downgrade) release(session port.Session, hear func(msg jsonrpc.Message)) {
	d.mu.Lock()
	waiting := d.held[session]
	delete(d.held, session)
	d.mu.Unlock()
	for _, q := range waiting {
		q.stop()
		hear(q.heard.Message)
	}
}

// spawn runs f, unless the crossing is closed.
func (d *Downgrade) spawn(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.work.Go(f)
	}
}
