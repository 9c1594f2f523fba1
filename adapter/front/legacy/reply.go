package legacy

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

var errInternal = jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error")

// reply is the HTTP answer to a POST. It belongs to the handler's goroutine.
type reply struct {
	f       *Face
	c       *gin.Context
	accepts edge.Accepts
	array   bool  // the answers are those of a batch (§3.9)
	l       *live // the session that is being opened, or nil
}

// answers writes the answers of a stream that has not become one.
func (r *reply) answers(st *stream) {
	var bodies [][]byte
	var refused edge.Refusal
	status := http.StatusOK
	for _, x := range st.requests {
		if x.response != nil {
			bodies, status, refused = append(bodies, x.response), x.status, x.refused
		}
	}
	switch {
	case len(bodies) == 0:
		r.c.Status(http.StatusAccepted)
	case r.array:
		r.body(http.StatusOK, array(bodies))
	default:
		refused.Challenge(r.c)
		r.body(status, bodies[0])
	}
}

// body writes a plain body.
func (r *reply) body(status int, msg []byte) {
	r.c.Header("Content-Type", edge.JSON)
	r.c.Header("Content-Length", strconv.Itoa(len(msg)))
	r.c.Status(status)
	b := edge.NewWriter(r.c, r.f.Env)
	_, _ = b.Write(msg) // there is nobody to tell when a client has left
}

// end answers a request that belongs to no session.
func (r *reply) end(msg jsonrpc.Message, out port.Outcome) {
	filter := r.f.Filter
	if r.l != nil {
		filter = r.l.filter
	}
	response, status := r.f.render(r.c.Request.Context(), filter, msg, out)
	if status != http.StatusOK || r.accepts.JSON {
		edge.Refused(out.Err).Challenge(r.c)
		r.body(status, response)
		return
	}
	if ev, err := openEvents(r.c, r.f, ""); err == nil {
		_ = ev.Message("", response)
	}
}

// response renders the outcome of an exchange.
func (f *Face) response(x *exchange, out port.Outcome) (response []byte, status int) {
	x.refused = edge.Refused(out.Err)
	return f.render(x.ctx, x.st.l.filter, x.msg, out)
}

// render renders an outcome, and the status that it has in a plain body: as long
// as no stream has begun, a backend's refusal of the caller's credential becomes
// the status (A-L17). An error of the backend is the client's to see; any other
// belongs in the log. A session that the backend has lost is one that is unknown.
func (f *Face) render(ctx context.Context, filter port.Filter, msg jsonrpc.Message, out port.Outcome) (response []byte, status int) {
	if errors.Is(out.Err, port.ErrSessionLost) {
		return jsonrpc.AppendError(nil, msg.ID, invalid("unknown session")), http.StatusNotFound
	}
	if out.Err == nil {
		dst := make([]byte, 0, len(out.Result)+len(msg.ID)+64)
		response = jsonrpc.AppendResult(dst, msg.ID, []byte(out.Result))
	} else {
		e := port.RPCError(out.Err)
		var own *jsonrpc.Error
		if e.Code == jsonrpc.CodeInternal && !errors.As(out.Err, &own) {
			f.Logger.WarnContext(ctx, "request failed", "method", msg.Method, "error", port.Reason(out.Err))
		}
		response = jsonrpc.AppendError(nil, msg.ID, e)
	}
	if response = filter(msg.Method, response); len(response) == 0 {
		response = jsonrpc.AppendError(nil, msg.ID, errInternal)
	}
	if status = edge.Refused(out.Err).Status; status == 0 {
		status = http.StatusOK
	}
	return response, status
}

// array joins responses into one JSON array.
func array(bodies [][]byte) []byte {
	out := []byte{'['}
	for i, body := range bodies {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, body...)
	}
	return append(out, ']')
}
