package legacy

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

const (
	// notifications begins the name of every notification.
	notifications = "notifications/"
	// invalidRequest begins what a client is told of a request that is none.
	invalidRequest = "Invalid request: "
)

// invalid says that a request does not fit this face.
func invalid(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.NewError(jsonrpc.CodeInvalidRequest, invalidRequest+format, args...)
}

// otherEra refuses what claims to be of the other era.
func otherEra(backend string) *jsonrpc.Error {
	return invalid("this route speaks %s; protocol %s is served at /modern/%s", legacy2025.Latest, wire.Version20260728, backend)
}

// checkMessage refuses a message that this face does not take, whatever the
// session: the route alone decides the face, and only a notification may carry
// an id of null.
func checkMessage(c *gin.Context, msg *jsonrpc.Message, backend string) *jsonrpc.Error {
	switch {
	case c.GetHeader(headerVersion) == wire.Version20260728,
		msg.Params.Get("_meta").Get(wire.MetaProtocolVersion).Present():
		return otherEra(backend)
	case msg.Kind == jsonrpc.KindNotification && msg.NullID() && !strings.HasPrefix(msg.Method, notifications):
		return invalid("id: want a string or an integer")
	}
	return nil
}

// call is what is known of a POST before its session is: the body as received, the id
// by which the client recognises a refusal, the id of the request that it answers, if
// it does, whether it can be served twice without harm, and whether it only waits. It
// is empty for other methods.
type call struct {
	body    []byte
	id      jsonrpc.ID
	answers jsonrpc.ID
	safe    bool
	wait    bool
}

// admit finds the session of a request and checks its protocol version (A-L10,
// A-L13). It answers the client itself when there is none, or when the request is for
// another process to serve.
func (f *Face) admit(c *gin.Context, backend string, p call) (*session, bool) {
	id := p.id
	version := c.GetHeader(headerVersion)
	if version == wire.Version20260728 {
		edge.WriteError(c, http.StatusBadRequest, id, otherEra(backend))
		return nil, false
	}
	s, err := f.lookup(c, backend)
	if err != nil {
		f.refuseSession(c, id, err)
		return nil, false
	}
	if version != "" && !legacy2025.Supported(version) {
		edge.WriteError(c, http.StatusBadRequest, id, invalid("%s: unsupported version; this route speaks %v", headerVersion, legacy2025.Versions()))
		return nil, false
	}
	return s, f.settle(c, s, p)
}

// join admits a request and finds what this process holds of its session.
func (f *Face) join(c *gin.Context, backend string, p call) (*session, *live, bool) {
	id := p.id
	s, ok := f.admit(c, backend, p)
	if !ok {
		return nil, nil, false
	}
	l, fresh, err := f.enter(s.key, s.Address, s.Owner)
	if err == nil && fresh {
		// A DELETE that came between has found nothing to end in this process.
		again := &session{key: s.key}
		if err = f.read(c.Request.Context(), again); err != nil {
			f.end(s.key)
		}
	}
	if err != nil {
		f.refuseSession(c, id, err)
		return nil, nil, false
	}
	l.belongs(s, c.GetHeader("Authorization"))
	if err := f.uses(c.Request.Context(), s, l); err != nil {
		if errors.Is(err, errUnknownSession) { // it has ended since it was looked up
			f.end(s.key)
		}
		f.refuseSession(c, id, err)
		return nil, nil, false
	}
	return s, l, true
}

// proven reports whether the client of a session may have what this face holds of it,
// and answers the client itself when it may not (DESIGN "Principal", A-L17).
func (f *Face) proven(c *gin.Context, s *session) bool {
	if f.Prove == nil {
		return true
	}
	err := f.Prove(c.Request.Context(), s.Backend, s.caller(c.GetHeader("Authorization")))
	if err == nil {
		return true
	}
	if edge.Refused(err).Status == 0 {
		f.Logger.WarnContext(c.Request.Context(), "credential not proven", "error", port.Reason(err))
		edge.WriteError(c, http.StatusBadGateway, "", port.RPCError(err))
		return false
	}
	f.challenge(c, err)
	return false
}

// challenge passes on that a backend has refused the caller's credential (A-L17).
func (f *Face) challenge(c *gin.Context, err error) {
	refused := edge.Refused(err)
	refused.Challenge(c)
	(&reply{f: f, c: c}).body(refused.Status, jsonrpc.AppendError(nil, "", port.RPCError(err)))
}

// refuseSession answers for a session that cannot be used. What another process has
// passed on may find one here that is about to stop: that one serves it then.
func (f *Face) refuseSession(c *gin.Context, id jsonrpc.ID, err error) {
	switch {
	case errors.Is(err, errClosing) && replica.From(c.Request.Context()) != "" && replica.Refuse(c.Writer):
	case errors.Is(err, errNoSession):
		edge.WriteError(c, http.StatusBadRequest, id, invalid("%s: want the header", headerSession))
	case errors.Is(err, errUnknownSession), errors.Is(err, errEnded):
		edge.WriteError(c, http.StatusNotFound, id, invalid("unknown session"))
	case errors.Is(err, errFull):
		c.Header("Retry-After", "30")
		edge.WriteError(c, http.StatusServiceUnavailable, id, jsonrpc.NewError(jsonrpc.CodeInternal, "too many sessions or streams; try again later"))
	case errors.Is(err, errCrowded):
		c.Header("Retry-After", "30")
		edge.WriteError(c, http.StatusServiceUnavailable, id, errCrowded)
	case errors.Is(err, errBusy):
		c.Header("Retry-After", "1")
		edge.WriteError(c, http.StatusServiceUnavailable, id, errBusy)
	case errors.Is(err, errClosing):
		c.Header("Retry-After", "5")
		edge.WriteError(c, http.StatusServiceUnavailable, id, errClosing)
	default:
		if c.Request.Context().Err() == nil { // a client that left is no fault
			f.Logger.ErrorContext(c.Request.Context(), "session not available", "error", port.Reason(err))
		}
		edge.WriteError(c, http.StatusInternalServerError, id, errInternal)
	}
}
