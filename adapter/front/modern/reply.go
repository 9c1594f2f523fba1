package modern

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

var errInternal = jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error")

// reply is the HTTP answer to a POST. It is not safe for concurrent use.
type reply struct {
	f       *Face
	c       *gin.Context
	accepts edge.Accepts
	msg     jsonrpc.Message
	x       *port.Exchange // nil as long as there is none
	events  *edge.Events   // nil as long as the answer can be a plain body
}

// filter is the last look at what the client gets.
func (r *reply) filter(msg []byte) []byte {
	if r.x != nil && r.x.OwnEra && r.f.OwnEra != nil {
		return r.f.OwnEra(r.msg.Method, msg)
	}
	return r.f.Filter(r.msg.Method, msg)
}

// stream makes the answer an event stream, whose events have no ids: nobody can
// come back to it (B-L1).
func (r *reply) stream() *edge.Events {
	if r.events == nil {
		r.events = edge.NewEvents(r.c, r.f.Env)
	}
	return r.events
}

// refuse answers with an error in a plain body.
func (r *reply) refuse(id jsonrpc.ID, err error) {
	edge.Refused(err).Challenge(r.c)
	r.body(r.status(err), jsonrpc.AppendError(nil, id, port.RPCError(err)))
}

// end writes the answer: in a plain body as long as nothing had to precede it.
func (r *reply) end(out port.Outcome) {
	response, status := r.render(out)
	if r.events == nil && (status != http.StatusOK || r.accepts.JSON) {
		edge.Refused(out.Err).Challenge(r.c)
		r.body(status, response)
		return
	}
	_ = r.stream().Message("", response) // there is nobody to tell when a client has left
}

// body writes a plain body.
func (r *reply) body(status int, msg []byte) {
	r.c.Header("Content-Type", edge.JSON)
	r.c.Header("Content-Length", strconv.Itoa(len(msg)))
	r.c.Status(status)
	w := edge.NewWriter(r.c, r.f.Env)
	_, _ = w.Write(msg) // there is nobody to tell when a client has left
}

// render renders an outcome, and the status that it has in a plain body. An error of
// the backend is the client's to see; any other belongs in the log.
func (r *reply) render(out port.Outcome) (response []byte, status int) {
	status = http.StatusOK
	if out.Err == nil {
		dst := make([]byte, 0, len(out.Result)+len(r.msg.ID)+64)
		response = jsonrpc.AppendResult(dst, r.msg.ID, []byte(out.Result))
	} else {
		err := recode(out.Err)
		e := port.RPCError(err)
		var own *jsonrpc.Error
		if e.Code == jsonrpc.CodeInternal && !errors.As(err, &own) {
			r.f.Logger.WarnContext(r.c.Request.Context(), "request failed", "method", r.msg.Method, "error", port.Reason(err))
		}
		response, status = jsonrpc.AppendError(nil, r.msg.ID, e), r.status(err)
	}
	if response = r.filter(response); len(response) == 0 {
		response = jsonrpc.AppendError(nil, r.msg.ID, errInternal)
	}
	return response, status
}

// recode gives a header that does not match its code.
func recode(err error) error {
	var header *ext2026.HeaderError
	if errors.As(err, &header) {
		return headerError(header)
	}
	return err
}

// status is the HTTP status of an error, as long as no stream has begun: what was
// decided where the error was made, that of the codes that have one of their own,
// and 200 for everything that happened to a request in service (§1.6, Q21). A
// vendor's method that the backend does not know is one that is not served at all.
func (r *reply) status(err error) int {
	var decided *port.StatusError
	if errors.As(err, &decided) && decided.Status >= http.StatusBadRequest {
		return decided.Status
	}
	if refused := edge.Refused(err).Status; refused != 0 {
		return refused
	}
	switch port.RPCError(err).Code {
	case ext2026.CodeHeaderMismatch, ext2026.CodeMissingCapability, ext2026.CodeUnsupportedVersion:
		return http.StatusBadRequest
	case jsonrpc.CodeMethodNotFound:
		if !methods[r.msg.Method].served {
			return http.StatusNotFound
		}
	}
	return http.StatusOK
}
