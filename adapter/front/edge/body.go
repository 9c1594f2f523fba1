package edge

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Media types of the Streamable HTTP transport.
const (
	JSON        = "application/json"
	EventStream = "text/event-stream"
)

// ErrAnswered says that the request has been refused and answered.
var ErrAnswered = errors.New("request refused")

// ReadBody returns the body of a POST of at most limit bytes. It answers 415
// for a body that is not declared as JSON, 413 for one that is too large and
// 400 for one that breaks off, and returns [ErrAnswered] then.
func ReadBody(c *gin.Context, limit int64) ([]byte, error) {
	media, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || media != JSON {
		WriteError(c, http.StatusUnsupportedMediaType, "", invalidRequest("Content-Type: want %s", JSON))
		return nil, ErrAnswered
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		WriteError(c, http.StatusRequestEntityTooLarge, "", invalidRequest("message: want at most %d bytes", limit))
		return nil, ErrAnswered
	case err != nil:
		WriteError(c, http.StatusBadRequest, "", invalidRequest("message: broke off"))
		return nil, ErrAnswered
	}
	return body, nil
}

// Accepts are the answers a client takes.
type Accepts struct{ JSON, EventStream bool }

// ParseAccept reads the Accept header; an absent one admits everything.
func ParseAccept(r *http.Request) Accepts {
	fields := r.Header.Values("Accept")
	if len(fields) == 0 {
		return Accepts{JSON: true, EventStream: true}
	}
	var a Accepts
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		if q, given := params["q"]; given {
			if weight, err := strconv.ParseFloat(q, 64); err != nil || weight == 0 {
				continue
			}
		}
		a.JSON = a.JSON || media == JSON || media == "application/*" || media == "*/*"
		a.EventStream = a.EventStream || media == EventStream || media == "text/*" || media == "*/*"
	}
	return a
}

// WriteError answers with a JSON-RPC error in a plain body. An empty id is left
// out.
func WriteError(c *gin.Context, status int, id jsonrpc.ID, e *jsonrpc.Error) {
	c.Data(status, JSON, jsonrpc.AppendError(nil, id, e))
}

func invalidRequest(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: "+format, args...)
}
