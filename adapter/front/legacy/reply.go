package legacy

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

var errInternal = jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error")

// reply is the HTTP answer to one request. It is a plain body as long as nothing
// had to precede the answer and it was quick, and an event stream otherwise
// (A-L15). It belongs to the handler's goroutine.
type reply struct {
	f       *Face
	c       *gin.Context
	msg     jsonrpc.Message
	accepts edge.Accepts
	plain   bool // never becomes a stream by itself
	ev      *events
}

func (r *reply) stream() *events {
	if r.ev == nil {
		r.ev = openEvents(r.c, r.f)
	}
	return r.ev
}

// streams reports whether anything can be written ahead of the answer.
func (r *reply) streams() bool { return r.accepts.EventStream && !r.plain }

// ahead writes a message that precedes the answer. A client that takes no
// stream loses it.
func (r *reply) ahead(msg []byte) error {
	if !r.streams() {
		return nil
	}
	if msg = r.f.Filter(r.msg.Method, msg); len(msg) == 0 {
		return nil
	}
	return r.stream().message(msg)
}

// alive shows the client, and every proxy, that its request is being served.
func (r *reply) alive() error {
	switch {
	case r.ev != nil:
		return r.ev.comment()
	case r.streams():
		r.stream()
	}
	return nil
}

// finish ends a request that may have been cancelled. The client that has done
// so gets no response (§1.7).
func (r *reply) finish(cause error, out port.Outcome) {
	switch {
	case errors.Is(cause, errCancelled):
		if r.ev == nil {
			r.c.Status(http.StatusAccepted)
		}
		return
	case out.Err != nil && (errors.Is(cause, errClosing) || errors.Is(cause, errEnded)):
		out = port.Fail(cause)
	}
	r.end(out)
}

// end writes the answer. As long as no stream has begun, a backend's refusal of
// the caller's credential becomes the status (A-L17). There is nobody to tell
// when a client has left.
func (r *reply) end(out port.Outcome) {
	msg := r.f.Filter(r.msg.Method, r.response(out))
	if len(msg) == 0 {
		msg = jsonrpc.AppendError(nil, r.msg.ID, errInternal)
	}
	status := refusal(out.Err)
	if r.ev != nil || status == http.StatusOK && !r.accepts.JSON {
		_ = r.stream().message(msg)
		return
	}
	if status != http.StatusOK {
		r.c.Header("WWW-Authenticate", challenge(status))
	}
	r.c.Header("Content-Type", edge.JSON)
	r.c.Header("Content-Length", strconv.Itoa(len(msg)))
	r.c.Status(status)
	b := newBody(r.c, r.f)
	_, _ = b.Write(msg)
}

// refusal is the status of an answer in a plain body.
func refusal(err error) int {
	var upstream *port.UpstreamError
	if errors.As(err, &upstream) && (upstream.Status == http.StatusUnauthorized || upstream.Status == http.StatusForbidden) {
		return upstream.Status
	}
	return http.StatusOK
}

// challenge is the bridge's own; nothing of the backend's is passed on.
func challenge(status int) string {
	if status == http.StatusForbidden {
		return `Bearer error="insufficient_scope"`
	}
	return "Bearer"
}

// response renders an outcome. An error of the backend is the client's to see;
// any other belongs in the log.
func (r *reply) response(out port.Outcome) []byte {
	if out.Err == nil {
		dst := make([]byte, 0, len(out.Result)+len(r.msg.ID)+64)
		return jsonrpc.AppendResult(dst, r.msg.ID, []byte(out.Result))
	}
	e := port.RPCError(out.Err)
	var own *jsonrpc.Error
	if e.Code == jsonrpc.CodeInternal && !errors.As(out.Err, &own) {
		r.f.Logger.WarnContext(r.c.Request.Context(), "request failed", "method", r.msg.Method, "error", port.Reason(out.Err))
	}
	return jsonrpc.AppendError(nil, r.msg.ID, e)
}
