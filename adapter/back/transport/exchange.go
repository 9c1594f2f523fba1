package transport

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// drainTime and drainBytes bound what is read behind the response.
	drainTime  = time.Second
	drainBytes = 64 << 10
)

// Server is what the exchanges with one server have in common.
type Server struct {
	// URL is the server's endpoint.
	URL *url.URL
	// HTTP sends the requests; see [Harden].
	HTTP *http.Client
	// Env is the clock and the randomness.
	Env env.Env
	// Log gets what was ignored.
	Log *slog.Logger
	// Limit is the largest message accepted, in bytes.
	Limit int64
	// Memory bounds the bytes of all messages together; nil does not.
	Memory port.Memory
}

// Exchange is one HTTP request and its answer. It is meant to be embedded; call
// [Exchange.Begin] before anything else.
type Exchange struct {
	server *Server
	op     string
	watch  *Watchdog
	body   requestBody
	resp   *http.Response
	held   memory
}

// Begin sets the exchange up: op is the method of MCP that errors name, and w is
// closed with the exchange.
func (x *Exchange) Begin(s *Server, op string, w *Watchdog) {
	x.server, x.op, x.watch = s, op, w
	x.held = memory{of: s.Memory, env: s.Env, ctx: w.ctx}
}

// Send sends the request and returns when the head of the answer is there; one
// whose status is not 2xx is a failure. The header is not copied. The exchange
// must be ended with Close or Finish, whatever Send returned.
func (x *Exchange) Send(verb string, header http.Header, msg []byte) *Failure {
	s := x.server
	x.body.data = msg
	// Without GetBody net/http never sends a body twice: not over HTTP/1, where
	// it takes a closed connection for an idle one, nor over HTTP/2, where it
	// takes a reset for a refusal. Whether to try again is decided elsewhere.
	req := (&http.Request{
		Method: verb, URL: s.URL, Host: s.URL.Host, Header: header,
		Body: &x.body, ContentLength: int64(len(msg)),
	}).WithContext(x.watch.ctx)
	if len(msg) == 0 {
		req.Body = http.NoBody
	}
	resp, err := s.HTTP.Do(req) //nolint:bodyclose // Close and Finish do
	if err != nil {
		// The URL in a *url.Error may hold a secret.
		if outer := (*url.Error)(nil); errors.As(err, &outer) {
			err = outer.Err
		}
		return x.Lost(err)
	}
	x.resp = resp
	x.watch.Touch()
	if status := resp.StatusCode; status < 200 || status > 299 {
		return x.refused()
	}
	return nil
}

// Continue says that the exchange goes on with what an earlier one has sent: its
// failures are those of a request that may have reached the server.
func (x *Exchange) Continue() { x.body.started.Store(true) }

// Status is the HTTP status of the answer that Send got.
func (x *Exchange) Status() int { return x.resp.StatusCode }

// Header is a header of the answer that Send got, or empty.
func (x *Exchange) Header(name string) string { return x.resp.Header.Get(name) }

// Empty reports whether the answer that Send got has no body.
func (x *Exchange) Empty() bool { return x.resp.ContentLength == 0 }

// Watch is the watchdog of the exchange.
func (x *Exchange) Watch() *Watchdog { return x.watch }

// Close gives the exchange up: an answer that has not been read to its end
// costs the connection. It may be called at any time, and again.
func (x *Exchange) Close() {
	x.watch.Close(ErrClosed)
	if x.resp != nil {
		_ = x.resp.Body.Close()
	}
	x.held.release()
}

// Finish ends an exchange whose response has been read. Whatever follows in the
// stream is ignored, but read for a moment, so that the connection can be used
// again: run has to run that, or to Close the exchange. The context that the
// exchange was begun with does not matter any more.
func (x *Exchange) Finish(run func(drain func())) {
	x.watch.Release()
	x.held.release()
	run(x.drain)
}

func (x *Exchange) drain() {
	stop := x.server.Env.AfterFunc(drainTime, func() { x.watch.cancel(ErrClosed) })
	_, _ = io.CopyN(io.Discard, x.resp.Body, drainBytes)
	stop()
	x.Close()
}

// Ignored logs that something of the server was dropped; never what.
func (x *Exchange) Ignored(what string) {
	x.server.Log.LogAttrs(x.watch.ctx, slog.LevelWarn, "ignored a message of the backend",
		slog.String("what", what), slog.String("in_answer_to", x.op))
}

// requestBody is a body that knows whether anything of it was taken. Before
// that the server cannot have understood the request, let alone run it.
type requestBody struct {
	data    []byte
	started atomic.Bool
}

func (b *requestBody) Read(p []byte) (int, error) {
	if !b.started.Load() {
		b.started.Store(true)
	}
	if len(b.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

func (b *requestBody) Close() error { return nil }
