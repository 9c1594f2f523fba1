package legacy

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/tmaxmax/go-sse"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// heartbeat is the longest silence on an event stream (A-R3).
	heartbeat = 15 * time.Second
	// writeTimeout is how long a client may take to read what was written.
	writeTimeout = 30 * time.Second
)

// events writes an event stream. It belongs to the handler's goroutine.
type events struct {
	w       gin.ResponseWriter
	control *http.ResponseController
	env     env.Env
}

// openEvents sends the headers of an event stream.
func openEvents(c *gin.Context, e env.Env) *events {
	h := c.Writer.Header()
	h.Set("Content-Type", edge.EventStream)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	ev := &events{w: c.Writer, control: http.NewResponseController(c.Writer), env: e}
	ev.flush()
	return ev
}

func (ev *events) message(msg []byte) error {
	var m sse.Message
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
	// Not every connection has deadlines; without them the write just waits.
	_ = ev.control.SetWriteDeadline(ev.env.Now().Add(writeTimeout))
	if _, err := m.WriteTo(ev.w); err != nil {
		return err
	}
	ev.flush()
	return nil
}

func (ev *events) flush() {
	ev.w.WriteHeaderNow()
	ev.w.Flush()
}
