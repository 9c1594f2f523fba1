package edge

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/tmaxmax/go-sse"

	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

const (
	// Heartbeat is the longest silence on an event stream (A-R3, B-L1).
	Heartbeat = 15 * time.Second
	// writeTimeout is how long a client may take to read one piece of an answer.
	writeTimeout = 30 * time.Second
	// restTime is how long the rest of a message is waited for that has been refused. The
	// server reads it ahead of the answer, which must not be late for that.
	restTime = time.Second
	// pieceSize is the size of such a piece in bytes.
	pieceSize = 64 << 10
)

// Extend gives a client time for the next piece of an answer. Not every
// connection has deadlines; without them a write just waits.
func Extend(w http.ResponseWriter, e env.Env) {
	_ = http.NewResponseController(w).SetWriteDeadline(e.Now().Add(writeTimeout))
}

// Writer writes an answer of any size to a client that may be slow, but must not
// stop reading. It is not safe for concurrent use.
type Writer struct {
	env  env.Env
	w    gin.ResponseWriter
	left int // of the piece for which the deadline was set
}

// NewWriter returns a writer of the answer to a request.
func NewWriter(c *gin.Context, e env.Env) Writer { return Writer{env: e, w: c.Writer} }

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if w.left == 0 {
			Extend(w.w, w.env)
			w.left = pieceSize
		}
		var written int
		written, err = w.w.Write(p[n:min(len(p), n+w.left)])
		n += written
		w.left -= written
	}
	return n, err
}

// Flush sends what is buffered, and the headers ahead of it.
func (w *Writer) Flush() {
	if w.left == 0 {
		Extend(w.w, w.env)
		w.left = pieceSize
	}
	w.w.Flush()
}

// Events writes an answer that is an event stream.
type Events struct{ Writer }

// NewEvents begins an event stream. Its headers are sent with whatever comes
// first.
func NewEvents(c *gin.Context, e env.Env) *Events {
	h := c.Writer.Header()
	h.Set("Content-Type", EventStream)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	return &Events{NewWriter(c, e)}
}

// Message writes one message as one event; an empty id is none.
func (ev *Events) Message(id string, msg []byte) error {
	var m sse.Message
	if id != "" {
		m.ID = sse.ID(id)
	}
	m.AppendData(string(msg))
	return ev.Send(&m)
}

// Comment keeps proxies from closing a silent stream.
func (ev *Events) Comment() error {
	var m sse.Message
	m.AppendComment("keep-alive")
	return ev.Send(&m)
}

// Send writes an event.
func (ev *Events) Send(m *sse.Message) error {
	ev.left = 0 // the last write may be long ago
	if _, err := m.WriteTo(&ev.Writer); err != nil {
		return err
	}
	ev.Flush()
	return nil
}

// ErrInterrupted is for a request that another process may have served: it is not served
// again.
var ErrInterrupted = jsonrpc.NewError(jsonrpc.CodeInternal, "interrupted: the process that served the request was lost; its outcome is unknown")

// Cut breaks the connection of an answer that has begun and cannot go on, so that its
// client does not take what it has for the whole. It does not return.
func Cut() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is told
}

// Rest is what is still to come of a request's body.
type Rest struct {
	io.ReadCloser
	request *http.Request
	over    bool
}

// Follow has the rest of a request's body noticed, by reading it through what is
// returned.
func Follow(r *http.Request) *Rest {
	if r.Body == nil || r.Body == http.NoBody {
		return &Rest{over: true}
	}
	rest := &Rest{ReadCloser: r.Body, request: r}
	r.Body = rest
	return rest
}

// Read implements [io.Reader].
func (r *Rest) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		r.over = true
	}
	return n, err
}

// Conclude sets the deadlines for what is left to do once a request has been handled:
// to send the end of the answer, and to read what the client still sends. When that is
// nothing the server waits for the next request already, and would take a deadline for
// the end of the connection, for good.
func Conclude(w http.ResponseWriter, e env.Env, rest *Rest) {
	Extend(w, e)
	if rest.request != nil {
		// The server looks at its own to see whether the rest is worth waiting for.
		rest.request.Body = rest.ReadCloser
	}
	if !rest.over {
		_ = http.NewResponseController(w).SetReadDeadline(e.Now().Add(restTime))
	}
}

// TurnAway refuses a request before anybody has looked at it, and its connection.
func TurnAway(w http.ResponseWriter, status int, why string) {
	h := w.Header()
	h.Set("Content-Type", JSON)
	h.Set("Connection", "close")
	e := invalidRequest("%s", why)
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "5")
		e = jsonrpc.NewError(jsonrpc.CodeInternal, "%s", why)
	}
	w.WriteHeader(status)
	_, _ = w.Write(jsonrpc.AppendError(nil, "", e)) // there is nobody to tell when a client has left
}
