package modern

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// exchange is one HTTP request and its answer.
type exchange struct {
	c     *Client
	call  *port.Call
	id    jsonrpc.ID
	watch *watchdog
	body  requestBody
	resp  *http.Response
}

// open sends the request under a fresh id and returns when the head of the
// answer is there. The exchange must be ended with close or finish.
func (c *Client) open(w *watchdog, call *port.Call) (*exchange, *failure) {
	x := &exchange{c: c, call: call, id: jsonrpc.IntID(c.lastID.Add(1)), watch: w}
	failed := x.send()
	if failed != nil {
		x.close()
		return nil, failed
	}
	return x, nil
}

func (x *exchange) send() *failure {
	header, err := x.header()
	if err != nil {
		return &failure{err: err}
	}
	const envelope = 64 // what surrounds id, method and params, about
	msg := make([]byte, 0, len(x.call.Params)+len(x.call.Method)+envelope)
	msg = jsonrpc.AppendRequest(msg, x.id, x.call.Method, x.call.Params)
	if x.c.filter != nil {
		if msg = x.c.filter(x.call.Method, msg); len(msg) == 0 {
			return &failure{err: ErrFiltered}
		}
	}
	x.body.data = msg
	// Without GetBody net/http never sends a body twice: not over HTTP/1, where
	// it takes a closed connection for an idle one, nor over HTTP/2, where it
	// takes a reset for a refusal. Whether to try again is decided in retry.go.
	req := (&http.Request{
		Method: http.MethodPost, URL: x.c.url, Host: x.c.url.Host, Header: header,
		Body: &x.body, ContentLength: int64(len(msg)),
	}).WithContext(x.watch.ctx)
	resp, err := x.c.http.Do(req) //nolint:bodyclose // close and finish do
	if err != nil {
		// The URL in a *url.Error may hold a secret.
		if outer := (*url.Error)(nil); errors.As(err, &outer) {
			err = outer.Err
		}
		return x.lost(err)
	}
	x.resp = resp
	x.watch.touch()
	if status := resp.StatusCode; status < 200 || status > 299 {
		return x.refused()
	}
	return nil
}

// The names of the headers of a request, in the form that net/http looks for.
var (
	headerVersion = http.CanonicalHeaderKey(ext2026.HeaderProtocolVersion)
	headerMethod  = http.CanonicalHeaderKey(ext2026.HeaderMethod)
	headerName    = http.CanonicalHeaderKey(ext2026.HeaderName)
)

const (
	headerAccept    = "Accept"
	headerType      = "Content-Type"
	headerAuth      = "Authorization"
	headerUserAgent = "User-Agent"
)

// reserved are the headers that a call cannot set: those that the client derives
// itself, those that this revision does not have, and those of the connection.
var reserved = []string{
	headerVersion, headerMethod, headerName, headerAccept, headerType, headerUserAgent,
	"Mcp-Session-Id", "Last-Event-Id",
	"Connection", "Content-Length", "Expect", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	// net/http would take it for leave to send the request again.
	"Idempotency-Key", "X-Idempotency-Key",
}

// Values that every request shares; net/http only reads them.
var (
	valueVersion   = []string{ext2026.Version}
	valueAccept    = []string{"application/json, text/event-stream"}
	valueType      = []string{"application/json"}
	valueUserAgent = []string{"taskbridge"}
)

// header builds the headers of the request (§3.8). The error is the one of a
// name that cannot be sent.
func (x *exchange) header() (http.Header, error) {
	header := make(http.Header, 7+len(x.call.Headers))
	for _, h := range x.call.Headers {
		if name := http.CanonicalHeaderKey(h.Name); !slices.Contains(reserved, name) {
			header[name] = append(header[name], h.Value)
		}
	}
	header[headerType] = valueType
	header[headerAccept] = valueAccept
	header[headerUserAgent] = valueUserAgent
	header[headerVersion] = valueVersion
	header[headerMethod] = []string{x.call.Method}
	name, present, err := ext2026.NameHeader(x.call.Method, x.call.Params)
	if err != nil {
		return nil, err
	}
	if present {
		header[headerName] = []string{name}
	}
	if x.call.Authorization != "" {
		header[headerAuth] = []string{x.call.Authorization}
	}
	return header, nil
}

// close gives the exchange up: an answer that has not been read to its end
// costs the connection.
func (x *exchange) close() {
	x.watch.close(errClosed)
	if x.resp != nil {
		_ = x.resp.Body.Close()
	}
}

// finish ends an exchange whose response has been read. Whatever follows in the
// stream is ignored, but read for a moment, so that the connection can be used
// again.
func (x *exchange) finish() {
	x.watch.release()
	stop := x.c.env.AfterFunc(drainTime, func() { x.watch.cancel(errClosed) })
	go func() {
		_, _ = io.CopyN(io.Discard, x.resp.Body, drainBytes)
		stop()
		x.close()
	}()
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
