package legacy

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/tmaxmax/go-sse"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

const (
	// heartbeat is the longest silence on an event stream (A-R3).
	heartbeat = 15 * time.Second
	// retry is how long a client waits before it comes back to a stream.
	retry = time.Second
	// writeTimeout is how long a client may take to read one piece of an answer.
	writeTimeout = 30 * time.Second
	// pieceSize is the size of such a piece in bytes.
	pieceSize = 64 << 10
)

// extend gives the client time for the next piece. Not every connection has
// deadlines; without them a write just waits.
func (f *Face) extend(control *http.ResponseController) {
	_ = control.SetWriteDeadline(f.Env.Now().Add(writeTimeout))
}

// body writes an answer of any size to a client that may be slow, but must not
// stop reading. It belongs to the handler's goroutine.
type body struct {
	f       *Face
	w       gin.ResponseWriter
	control *http.ResponseController
	left    int // of the piece for which the deadline was set
}

func newBody(c *gin.Context, f *Face) body {
	return body{f: f, w: c.Writer, control: http.NewResponseController(c.Writer)}
}

// Write implements [io.Writer].
func (b *body) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if b.left == 0 {
			b.f.extend(b.control)
			b.left = pieceSize
		}
		var written int
		written, err = b.w.Write(p[n:min(len(p), n+b.left)])
		n += written
		b.left -= written
	}
	return n, err
}

// flush sends what is buffered, and the headers ahead of it.
func (b *body) flush() {
	if b.left == 0 {
		b.f.extend(b.control)
		b.left = pieceSize
	}
	b.w.Flush()
}

// events is a body that is an event stream.
type events struct{ body }

// openEvents sends the headers of an event stream, and with them, unless place is
// empty, an event without a message, from whose id on a client can come back to
// the stream (A-L15).
func openEvents(c *gin.Context, f *Face, place string) (*events, error) {
	h := c.Writer.Header()
	h.Set("Content-Type", edge.EventStream)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	ev := &events{newBody(c, f)}
	if place == "" {
		ev.flush()
		return ev, nil
	}
	m := sse.Message{ID: sse.ID(place), Retry: retry}
	m.AppendData("\n") // one empty line
	return ev, ev.write(&m)
}

// message writes one message as one event; an empty id is none.
func (ev *events) message(id string, msg []byte) error {
	var m sse.Message
	if id != "" {
		m.ID = sse.ID(id)
	}
	m.AppendData(string(msg))
	return ev.write(&m)
}

// comment keeps proxies from closing a silent stream.
func (ev *events) comment() error {
	var m sse.Message
	m.AppendComment("keep-alive")
	return ev.write(&m)
}

func (ev *events) write(m *sse.Message) error {
	ev.left = 0 // the last write may be long ago
	if _, err := m.WriteTo(&ev.body); err != nil {
		return err
	}
	ev.flush()
	return nil
}
