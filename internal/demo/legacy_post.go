package demo

import (
	"context"
	"net/http"
	"sync/atomic"
)

// later is the part of a request that takes time or talks to the client. It
// runs on a stream, which may have lost its connection.
type later func(ctx context.Context, st *stream) (object, error)

// post serves POST: one message, or a batch in the revision that has them.
// Spec: 2025-11-25 basic/transports, "Sending Messages to the Server".
func (l *Legacy) post(rep *reply, w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	all, batch, err := readIncoming(body)
	if len(all) > 0 && !batch {
		rep.id = all[0].id
	}
	if err != nil {
		return err
	}
	if !batch && all[0].isRequest() && all[0].method == methodInitialize {
		return l.initialize(rep, w, r, all[0].message)
	}
	s, err := l.find(r)
	if err != nil {
		return err
	}
	defer s.enter()()
	if batch && s.version != legacyOldest {
		return badRequest(codeRequest, "batches are part of "+legacyOldest+" only")
	}
	var requests []message
	for _, in := range all {
		switch {
		case in.isResponse():
			if !s.answered(in) {
				rep.id = nil
				return badRequest(codeRequest, "nothing was asked under this id")
			}
		case in.isRequest():
			requests = append(requests, in.message)
		default:
			s.notified(in.message)
		}
	}
	switch {
	case len(requests) == 0:
		w.WriteHeader(http.StatusAccepted)
	case batch:
		s.serveBatch(r.Context(), rep, requests)
	default:
		return s.serveOne(r.Context(), rep, requests[0])
	}
	return nil
}

// serveOne answers a request as JSON, or on a stream if it takes time.
func (s *session) serveOne(ctx context.Context, rep *reply, msg message) error {
	result, rest, err := s.begin(msg)
	if err != nil {
		return err
	}
	if rest == nil {
		rep.finish(result)
		return nil
	}
	c, err := s.hold(msg)
	if err != nil {
		return err
	}
	st := s.open(c.dropped)
	reader := st.attach() // before the call runs: it must see that somebody listens
	s.goOn(c, st, rest, st.finish)
	st.relay(ctx, rep, reader, 0)
	return nil
}

// serveBatch answers every request of a batch on one stream.
func (s *session) serveBatch(ctx context.Context, rep *reply, requests []message) {
	var open atomic.Int64
	open.Store(int64(len(requests)))
	var calls []*pending
	st := s.open(func() {
		for _, c := range calls {
			c.dropped()
		}
	})
	reader := st.attach()
	finish := func() {
		if open.Add(-1) == 0 {
			st.finish()
		}
	}
	for _, msg := range requests {
		result, rest, err := s.begin(msg)
		var c *pending
		if err == nil && rest != nil {
			c, err = s.hold(msg)
		}
		if c != nil {
			calls = append(calls, c)
			s.goOn(c, st, rest, finish)
			continue
		}
		st.respond(msg.id, result, err)
		finish()
	}
	st.relay(ctx, rep, reader, 0)
}

// begin does what can be done of a request at once. rest is the remainder, nil
// if there is none.
func (s *session) begin(msg message) (result object, rest later, err error) {
	how, known := s.server.methods[msg.method]
	if !known || s.version < how.since {
		return nil, nil, &rpcError{code: codeMethod, message: "method not found: " + msg.method}
	}
	return how.serve(s, msg)
}

// pending is a request whose answer is still to come.
type pending struct {
	msg    message
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// dropped ends a call whose client did not come back for its answer.
func (c *pending) dropped() { c.cancel(errGone) }

// hold makes a request one that can be cancelled, until release.
func (s *session) hold(msg message) (*pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := idKey(msg.id)
	if _, twice := s.calls[key]; twice {
		return nil, badRequest(codeRequest, "id: in use by another request")
	}
	c := &pending{msg: msg}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	s.calls[key] = c.cancel
	return c, nil
}

func (s *session) release(c *pending) {
	c.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, idKey(c.msg.id))
}

// goOn runs the rest of a request beside its connection. A request that its
// client cancelled is not answered.
func (s *session) goOn(c *pending, st *stream, rest later, finish func()) {
	leave := s.enter()
	s.server.flights.Go(func() {
		defer leave()
		defer finish()
		result, err := rest(c.ctx, st)
		quiet := silent(c.ctx)
		s.release(c)
		if !quiet {
			st.respond(c.msg.id, result, err)
		}
	})
}

// respond adds the answer to a request.
func (st *stream) respond(id any, result object, err error) {
	if err == nil {
		st.send(object{"jsonrpc": "2.0", "id": id, "result": result})
		return
	}
	st.send(object{"jsonrpc": "2.0", "id": id, "error": failureBody(asRPC(err))})
}

// notified acts on a notification; those this server has no use for, also
// unknown ones, are ignored.
func (s *session) notified(msg message) {
	switch msg.method {
	case "notifications/initialized":
		s.initialized()
	case "notifications/cancelled":
		id, given := msg.params["requestId"]
		if !given {
			return
		}
		s.mu.Lock()
		cancel := s.calls[idKey(id)]
		s.mu.Unlock()
		if cancel != nil {
			cancel(errCancelled)
		}
	}
}
