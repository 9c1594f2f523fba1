package replica

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

var (
	// ErrGone says that a process lives no more, or has nothing to do with the
	// request: it was not served.
	ErrGone = errors.New("the process that would serve the request is gone")
	// ErrCut says that the process died, or fell silent, while it may have been
	// serving the request. What was written of the answer is all there will be.
	ErrCut = errors.New("the process that served the request is gone")

	// ErrUnsent says that the request was given to nobody, and may be served later: it
	// cannot be known now whether the process lives, or there is no room.
	ErrUnsent = errors.New("the request was passed to no other process")

	errOver = errors.New("the exchange is over")
)

// writeTimeout is how long a client may take to read one piece of an answer.
const writeTimeout = 30 * time.Second

const purposeRequest = "request to another process"

// Pass has another process serve a request, with the body as it was read, and writes
// the answer to w as it comes. It returns when the answer is complete, the client has
// left, or with [ErrGone], [ErrUnsent] or [ErrCut]; then began says whether any of the answer was
// written.
func (r *Replica) Pass(w http.ResponseWriter, req *http.Request, body []byte, process string) (began bool, err error) {
	ctx := req.Context()
	if !r.Options.Shared || process == r.id {
		return false, ErrGone
	}
	switch lives, err := r.surely(ctx, process); {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		return false, errors.Join(ErrUnsent, err)
	case !lives:
		return false, ErrGone
	}
	l, err := r.dial(process)
	if err != nil {
		return false, errors.Join(ErrUnsent, err)
	}
	defer r.part(l)
	h := head{
		pass:   pass{link: l.id, from: r.id, to: process, digest: digest(body), at: r.Env.Now()},
		method: req.Method, target: req.URL.RequestURI(), host: req.Host, remote: req.RemoteAddr,
		header: req.Header, size: int64(len(body)),
	}
	sealed, err := r.Keys.Seal(purposeRequest, h.encode())
	if err != nil {
		return false, errors.Join(ErrUnsent, err)
	}
	if err = l.send(ctx, kindRequest, sealed); err == nil {
		err = l.sendAll(ctx, kindBody, body)
	}
	if err != nil {
		return false, cut(ctx, err)
	}
	return r.copy(w, l, ctx)
}

// surely is [Replica.Lives] that waits until it is known.
func (r *Replica) surely(ctx context.Context, process string) (lives bool, err error) {
	for range 2 * presenceTTL / livesFor {
		if lives, err = r.Lives(ctx, process); !errors.Is(err, errUnsure) {
			return lives, err
		}
		if err := env.Sleep(ctx, r.Env, livesFor); err != nil {
			return false, err
		}
	}
	return lives, err
}

// copy writes the answer that comes.
func (r *Replica) copy(w http.ResponseWriter, l *link, ctx context.Context) (began bool, err error) { //nolint:revive // ctx is the request's
	control := http.NewResponseController(w)
	for {
		f, err := l.next(ctx)
		if err != nil {
			return began, cut(ctx, err)
		}
		switch f.kind {
		case kindRefuse:
			l.complete()
			return began, ErrGone
		case kindCut:
			l.complete()
			return began, ErrCut
		case kindEnd:
			l.complete()
			return began, nil
		case kindHead:
			a, err := decodeAnswer(f.data)
			if err != nil || began {
				return began, ErrCut
			}
			for name, values := range a.header {
				w.Header()[name] = values
			}
			began = true
			_ = control.SetWriteDeadline(r.Env.Now().Add(writeTimeout))
			w.WriteHeader(a.status)
		case kindPiece:
			_ = control.SetWriteDeadline(r.Env.Now().Add(writeTimeout))
			if _, err := w.Write([]byte(f.data)); err != nil {
				return began, errClient
			}
			_ = control.Flush() // one that cannot is written to at the end
		default:
			return began, ErrCut
		}
	}
}

var errClient = errors.New("the client is gone")

// cut is what an exchange that has ended early means for who passed the request.
func cut(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, ErrGone) {
		return ErrCut // it may have been served before
	}
	return err
}

// dial begins an exchange with a process.
func (r *Replica) dial(process string) (*link, error) {
	id, err := env.NewID(r.Env)
	if err != nil {
		return nil, err
	}
	l := newLink(r, id, process)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errStopped
	case len(r.links) >= maxLinks:
		return nil, errCrowded
	}
	r.links[id] = l
	return l, nil
}

// maxLinks bounds the exchanges with other processes at a time.
const maxLinks = 20000

var errCrowded = errors.New("too many exchanges between processes")

// complete ends an exchange whose last frame has arrived. Should the peer not learn
// of it by this, it is told that there is no such exchange.
func (l *link) complete() {
	l.ack()
	l.fail(errOver)
}

// part ends an exchange for its caller. The peer is told if it is not complete:
// nobody reads the answer.
func (r *Replica) part(l *link) {
	l.mu.Lock()
	over := l.err != nil
	l.mu.Unlock()
	if over {
		return
	}
	if !r.spawn(func() {
		if l.send(r.ctx, kindLeave, "") == nil {
			l.conclude(r.ctx)
		}
	}) {
		l.fail(errStopped)
	}
}

// spawn runs f, unless the process is about to end.
func (r *Replica) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.work.Go(f)
	return true
}
