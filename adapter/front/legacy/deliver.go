package legacy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// patience is how long an answer may take before its stream is opened without
// it, so that the client and every proxy see the request alive (A-L15).
const patience = 500 * time.Millisecond

// deliver answers the requests of a POST: in a plain body as long as nothing had
// to precede the answers and they were quick, and as an event stream otherwise
// (A-L15).
func (f *Face) deliver(rep *reply, s *session, st *stream, rd *reader) {
	defer st.leave(rd)
	gone := rep.c.Request.Context().Done()
	timer := f.Env.NewTimer(patience)
	defer timer.Stop()
	for !st.decide(rep) {
		select {
		case <-rd.wake:
		case <-timer.C:
			st.alive()
		case <-gone:
			return
		}
	}
	if !st.asEvents() {
		rep.answers(st)
		return
	}
	f.title(s, st)
	f.serve(rep, st, rd, 0)
}

// asEvents reports whether the answers are events. Once it is decided that they are
// not, nobody changes them any more.
func (st *stream) asEvents() bool {
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	return st.begun
}

// decide reports whether it is known what form the answers take.
func (st *stream) decide(rep *reply) bool {
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	if !st.begun && st.unanswered == 0 && !rep.accepts.JSON && st.answered() {
		st.begin()
	}
	return st.begun || st.unanswered == 0
}

// answered reports whether there are answers for a client that takes nothing but
// a stream, or only a status. The lock is held.
func (st *stream) answered() bool {
	for _, x := range st.requests {
		if x.response != nil && x.status == http.StatusOK {
			return true
		}
	}
	return false
}

// alive begins a stream, if the client takes one, before there is anything to be
// written.
func (st *stream) alive() {
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	for _, x := range st.requests {
		if x.asks {
			st.begin()
			return
		}
	}
}

// title gives a stream its id.
func (f *Face) title(s *session, st *stream) {
	id := f.sealed(s, st)
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	if id == "" {
		id = st.l.name()
	}
	st.tell(id)
}

// serve writes what is behind an event of a stream, and what will come, until its
// end, or that of the connection.
func (f *Face) serve(rep *reply, st *stream, rd *reader, after int64) {
	place := ""
	if st.primes {
		place = st.place(after)
	}
	ev, err := openEvents(rep.c, f, place)
	if err == nil {
		follow(rep.c.Request.Context(), ev, st, rd)
	}
}

// place is the id of an event of the stream.
func (st *stream) place(seq int64) string { return st.id + ":" + strconv.FormatInt(seq, 10) }

// follow writes the events of a stream until its end, or that of the connection.
func follow(ctx context.Context, ev *edge.Events, st *stream, rd *reader) {
	for ctx.Err() == nil {
		e, found := st.next(rd)
		switch found {
		case over:
			return
		case some:
			if ev.Message(st.place(e.seq), e.msg) != nil {
				return
			}
			continue
		case idle:
		}
		timer := st.l.f.Env.NewTimer(edge.Heartbeat)
		var err error
		select {
		case <-rd.wake:
		case <-rd.kicked:
		case <-timer.C:
			err = ev.Comment()
		case <-ctx.Done():
		}
		timer.Stop()
		if err != nil {
			return
		}
	}
}

// conclude renders how an exchange has ended: not at all for the client that has
// cancelled it (§1.7), or can wait elsewhere (A-R7).
func (f *Face) conclude(x *exchange, out port.Outcome) (response []byte, status int) {
	cause := context.Cause(x.ctx)
	switch {
	case errors.Is(cause, errCancelled):
		return nil, http.StatusAccepted
	case out.Err == nil, errors.Is(out.Err, port.ErrSessionLost):
	case errors.Is(cause, errClosing) && x.rule.wait && x.st.returns():
		return nil, http.StatusAccepted
	case errors.Is(cause, errClosing), errors.Is(cause, errEnded):
		out = port.Fail(cause)
	}
	return f.response(x, out)
}

// returns reports whether the client comes back to a stream that ends without its
// answer.
func (st *stream) returns() bool {
	st.l.mu.Lock()
	defer st.l.mu.Unlock()
	return st.primes && st.known()
}
