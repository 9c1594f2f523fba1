package edge

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Media types of the Streamable HTTP transport.
const (
	JSON        = "application/json"
	EventStream = "text/event-stream"
)

const (
	// bodyTimeout is how long a client may take to send its message.
	bodyTimeout = time.Minute
	// bodyReserve bounds the memory that a client gets by announcing a large
	// message; more is allocated as it arrives.
	bodyReserve = 64 << 10
)

// ErrAnswered says that the request has been refused and answered.
var ErrAnswered = errors.New("request refused")

// ReadBody returns the body of a POST of at most limit bytes, for which it grows the
// request's room as it comes. It answers 415 for a body that is not declared as JSON,
// 413 for one that is too large, 408 for one that takes longer than a minute, 503 for
// one for which there is no room and 400 for one that breaks off, and returns
// [ErrAnswered] then.
func ReadBody(c *gin.Context, e env.Env, room *Room, limit int64) ([]byte, error) {
	control := http.NewResponseController(c.Writer)
	// It also bounds what the server reads by itself after a refusal. Not every
	// connection has deadlines; without them the read just waits.
	_ = control.SetReadDeadline(e.Now().Add(bodyTimeout))
	media, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || media != JSON {
		WriteError(c, http.StatusUnsupportedMediaType, "", invalidRequest("Content-Type: want %s", JSON))
		return nil, ErrAnswered
	}
	if c.Request.ContentLength > limit {
		return nil, tooLarge(c, limit)
	}
	var body bytes.Buffer
	body.Grow(int(min(max(0, c.Request.ContentLength), bodyReserve)) + bytes.MinRead)
	roomy := &roomyReader{from: http.MaxBytesReader(c.Writer, c.Request.Body, limit), room: room, announced: c.Request.ContentLength}
	if _, err := body.ReadFrom(roomy); err != nil {
		return nil, answerRead(c, limit, err)
	}
	room.Keep(body.Len())
	// From here on reading is how the server notices that the client has left.
	_ = control.SetReadDeadline(time.Time{})
	return body.Bytes(), nil
}

// roomyReader reads a body as far as there is room for it.
type roomyReader struct {
	from            io.Reader
	room            *Room
	read, announced int64 // announced is negative if it is not known
}

// readStep is how much room is reserved ahead of what has come, in bytes.
const readStep = 32 << 10

// Read implements [io.Reader].
func (r *roomyReader) Read(p []byte) (int, error) {
	p = p[:min(len(p), readStep)]
	next := r.read + int64(len(p))
	if r.announced >= 0 {
		next = min(next, r.announced)
	}
	if !r.room.grow(next) {
		return 0, errNoRoom
	}
	n, err := r.from.Read(p)
	r.read += int64(n)
	return n, err
}

var errNoRoom = errors.New("no room for the message")

// answerRead answers for a body that could not be read.
func answerRead(c *gin.Context, limit int64, err error) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(c, limit)
	case errors.Is(err, errNoRoom):
		tooBusy(c)
	case errors.Is(err, os.ErrDeadlineExceeded):
		WriteError(c, http.StatusRequestTimeout, "", invalidRequest("message: want it within %v", bodyTimeout))
	default:
		WriteError(c, http.StatusBadRequest, "", invalidRequest("message: broke off"))
	}
	return ErrAnswered
}

func tooLarge(c *gin.Context, limit int64) error {
	WriteError(c, http.StatusRequestEntityTooLarge, "", invalidRequest("message: want at most %d bytes", limit))
	return ErrAnswered
}

// WriteError answers with a JSON-RPC error in a plain body. An empty id is left
// out.
func WriteError(c *gin.Context, status int, id jsonrpc.ID, e *jsonrpc.Error) {
	c.Data(status, JSON, jsonrpc.AppendError(nil, id, e))
}

// EchoedID is the id by which a client recognises the refusal of its message. The
// id of an answer is the bridge's own: echoed, it would name another request.
func EchoedID(msg *jsonrpc.Message) jsonrpc.ID {
	if msg.Raw.Get("result").Present() || msg.Raw.Get("error").Present() {
		return ""
	}
	return msg.ID
}

func invalidRequest(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: "+format, args...)
}
