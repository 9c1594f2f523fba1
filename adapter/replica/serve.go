package replica

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

func topic(process string) string { return "process/" + process }

// publish sends a frame. What is lost is sent again.
func (r *Replica) publish(process string, f *frame) {
	if err := r.Store.Publish(r.ctx, topic(process), f.encode()); err != nil && r.ctx.Err() == nil {
		r.Logger.DebugContext(r.ctx, "message to another process not sent", "error", err)
	}
}

// listen takes what other processes send until the process stops.
func (r *Replica) listen() {
	state.Listen(r.ctx, r.Store, r.Env, topic(r.id), func(e state.Event) {
		if e.Lagged {
			return // it is sent again
		}
		f, err := decodeFrame(e.Payload)
		if err != nil {
			r.Logger.WarnContext(r.ctx, "message of another process not understood")
			return
		}
		r.hear(f)
	}, func(err error) {
		r.Logger.ErrorContext(r.ctx, "other processes not heard", "error", err)
	})
}

// hear takes a frame. It waits for nobody but the store, and for that only where there
// is no exchange.
func (r *Replica) hear(f frame) {
	r.mu.Lock()
	l := r.links[f.link]
	if l == nil && f.kind == kindRequest && f.seq == 1 && !r.closed {
		l = r.accept(f)
	}
	_, served := r.served[f.link]
	r.mu.Unlock()
	switch {
	case l != nil && l.peer != f.from:
	case f.kind == kindUnknown:
		if l != nil {
			l.fail(ErrGone)
		}
	case l == nil:
		if f.ends(served) {
			r.publish(f.from, &frame{kind: kindUnknown, link: f.link, from: r.id})
		}
	case f.kind == kindAck:
		if rc, err := decodeReceipt(f.data); err == nil {
			l.acknowledged(rc)
		}
	case f.kind == kindProbe:
		l.probed()
	case f.seq > 0:
		l.take(f)
	}
}

// ends reports whether a frame of an exchange that is not open here belongs to one
// that was: not to one whose first frame is still to come.
func (f *frame) ends(served bool) bool {
	switch f.kind {
	case kindRequest, kindAck:
		return false
	case kindBody, kindLeave:
		return served
	default:
		return true
	}
}

// servedFor is how long a request is remembered that was served: longer than it can
// be sent again.
const servedFor = 2 * silence

// headFor is how long a request is good after it was made: longer than it is sent
// again, and shorter than it is remembered, also where clocks differ a little.
const headFor = (silence + servedFor) / 2

// accept begins to serve a request, unless that was done before. The lock is held.
func (r *Replica) accept(f frame) *link {
	if _, before := r.served[f.link]; before {
		return nil
	}
	l := newLink(r, f.link, f.from)
	r.links[f.link] = l
	r.served[f.link] = r.Env.Now().Add(servedFor)
	handler := r.dispatch(r.handler)
	switch {
	case r.leaving:
		handler = http.HandlerFunc(refuse)
	case len(r.links) > maxLinks:
		handler = http.HandlerFunc(busy)
	}
	r.work.Go(func() { r.serve(l, handler) })
	return l
}

func refuse(w http.ResponseWriter, _ *http.Request) { Refuse(w) }

func busy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
}

type fromKey struct{}

// From returns the process that has passed the request of this context, or "" for
// one that came from its client.
func From(ctx context.Context) string {
	from, _ := ctx.Value(fromKey{}).(string)
	return from
}

// serve serves one request of another process to its end.
func (r *Replica) serve(l *link, handler http.Handler) {
	ctx, cancel := context.WithCancelCause(context.WithValue(r.ctx, fromKey{}, l.peer))
	defer cancel(nil)
	req, body, err := r.read(ctx, l)
	if err != nil {
		r.Logger.WarnContext(r.ctx, "request of another process not read", "error", err)
		w := newWriter(l, ctx)
		if errors.Is(err, errSealed) {
			w.refuse()
		} else {
			w.abort() // it may be one that was served, and is forgotten
		}
		l.conclude(ctx)
		return
	}
	go func() { // ends with the exchange, or with its client
		cancel(body.receive())
	}()
	w := newWriter(l, ctx)
	r.run(handler, w, req)
	w.finish()
	l.conclude(context.WithoutCancel(ctx))
}

// run calls the handler. One that gives up its client gives up the exchange.
func (r *Replica) run(handler http.Handler, w *writer, req *http.Request) {
	defer func() {
		if fault := recover(); fault != nil {
			w.abort()
			if err, ok := fault.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				r.Logger.ErrorContext(r.ctx, "request of another process failed", "fault", fault)
			}
		}
	}()
	handler.ServeHTTP(w, req)
}

var (
	errRequest = errors.New("not a request")
	errSealed  = errors.New("sealed under another secret")
)

// read takes the head of a request off an exchange. The body has to be received.
func (r *Replica) read(ctx context.Context, l *link) (*http.Request, *incoming, error) {
	f, err := l.next(ctx)
	if err != nil {
		return nil, nil, err
	}
	plain, err := r.Keys.Open(purposeRequest, f.data)
	if err != nil {
		return nil, nil, errors.Join(errSealed, err)
	}
	h, err := decodeHead(plain)
	if err != nil || !r.good(l, &h.pass) {
		return nil, nil, errors.Join(errRequest, err)
	}
	target, err := url.ParseRequestURI(h.target)
	if err != nil {
		return nil, nil, errors.Join(errRequest, err)
	}
	body := &incoming{ctx: ctx, l: l, left: h.size, digest: h.digest, arrived: make(chan struct{}, 1)}
	req := &http.Request{
		Method: h.method, URL: target, RequestURI: h.target, Host: h.host, RemoteAddr: h.remote,
		Header: h.header, Body: body, ContentLength: h.size,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx), body, nil
}

// good reports whether a head was made for this exchange, and not long ago.
func (r *Replica) good(l *link, p *pass) bool {
	return p.link == l.id && p.from == l.peer && p.to == r.id && r.Env.Now().Sub(p.at) <= headFor
}

// refuser is an answer that can be refused.
type refuser interface{ refuse() bool }

// Refuse says that a request that another process has passed is not this one's to
// serve, and reports whether that could be said. Nothing may have been written.
func Refuse(w http.ResponseWriter) bool {
	for {
		if r, ok := w.(refuser); ok {
			return r.refuse()
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = inner.Unwrap()
	}
}

// writer is the answer to a request of another process. It belongs to the handler's
// goroutine.
type writer struct {
	l        *link
	ctx      context.Context //nolint:containedctx // of the request
	header   http.Header
	buf      []byte
	deadline time.Time
	begun    bool
	ended    bool
	err      error
}

func newWriter(l *link, ctx context.Context) *writer { //nolint:revive // ctx is the request's
	return &writer{l: l, ctx: ctx, header: make(http.Header)}
}

// Header implements [http.ResponseWriter].
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	if w.begun || w.ended || status < http.StatusOK {
		return
	}
	w.begun = true
	a := answer{status, w.header}
	w.send(kindHead, string(a.encode()))
}

// Write implements [http.ResponseWriter].
func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.ended {
		return 0, http.ErrHandlerTimeout
	}
	w.buf = append(w.buf, p...)
	for len(w.buf) >= pieceSize {
		w.send(kindPiece, string(w.buf[:pieceSize]))
		w.buf = w.buf[pieceSize:]
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Flush implements [http.Flusher].
func (w *writer) Flush() {
	w.WriteHeader(http.StatusOK)
	if len(w.buf) > 0 && !w.ended {
		w.send(kindPiece, string(w.buf))
		w.buf = nil
	}
}

// SetWriteDeadline implements what [http.ResponseController] looks for.
func (w *writer) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

// SetReadDeadline implements what [http.ResponseController] looks for. The body is
// there already.
func (w *writer) SetReadDeadline(time.Time) error { return nil }

func (w *writer) send(k kind, data string) {
	if w.err != nil {
		return
	}
	ctx := w.ctx
	if !w.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = env.WithTimeout(ctx, w.l.r.Env, w.deadline.Sub(w.l.r.Env.Now()), context.DeadlineExceeded)
		defer cancel()
	}
	w.err = w.l.send(ctx, k, data)
}

func (w *writer) refuse() bool {
	if w.begun || w.ended {
		return false
	}
	w.ended = true
	w.last(kindRefuse)
	return true
}

// finish says that the answer is complete, or that it is not.
func (w *writer) finish() {
	if w.ended {
		return
	}
	w.Flush()
	w.ended = true
	if w.err != nil {
		w.last(kindCut)
		return
	}
	w.last(kindEnd)
}

// abort breaks the answer off.
func (w *writer) abort() {
	if !w.ended {
		w.ended = true
		w.last(kindCut)
	}
}

// last sends the last frame, whatever became of the client.
func (w *writer) last(k kind) {
	ctx, cancel := env.WithTimeout(context.WithoutCancel(w.ctx), w.l.r.Env, partingTime, errStopped)
	defer cancel()
	_ = w.l.send(ctx, k, "") // over already, if not
}
