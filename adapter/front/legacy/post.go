package legacy

import (
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// post serves POST: one message.
func (f *Face) post(c *gin.Context, backend string) {
	accepts := edge.ParseAccept(c.Request)
	if !accepts.JSON && !accepts.EventStream {
		edge.WriteError(c, http.StatusNotAcceptable, "", jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: Accept: want %s or %s", edge.JSON, edge.EventStream))
		return
	}
	body, err := edge.ReadBody(c, f.Limits.Body)
	if err != nil {
		return
	}
	msg, err := jsonrpc.Read(body)
	if err != nil {
		edge.WriteError(c, http.StatusBadRequest, msg.ID, jsonrpc.FromDecode(err))
		return
	}
	if err := refuseModern(c, &msg, backend); err != nil {
		edge.WriteError(c, http.StatusBadRequest, msg.ID, err)
		return
	}
	if msg.Kind == jsonrpc.KindRequest && msg.Method == legacy2025.MethodInitialize {
		f.initialize(c, backend, msg)
		return
	}
	s, ok := f.admit(c, backend, msg.ID)
	if !ok {
		return
	}
	l, err := f.enter(s.key, s.Address)
	if err != nil {
		f.refuseSession(c, msg.ID, err)
		return
	}
	switch msg.Kind {
	case jsonrpc.KindRequest:
		f.request(c, backend, s, l, msg, accepts)
	case jsonrpc.KindNotification:
		f.notification(c, backend, s, l, msg)
	case jsonrpc.KindResult, jsonrpc.KindError:
		// The answer to a question that nobody asked (§1.3).
		c.Status(http.StatusAccepted)
	}
}

// refuseModern refuses a message of the other era: the route alone decides the
// face.
func refuseModern(c *gin.Context, msg *jsonrpc.Message, backend string) *jsonrpc.Error {
	claimed := c.GetHeader(headerVersion) == wire.Version20260728 ||
		msg.Params.Get("_meta").Get(wire.MetaProtocolVersion).Present()
	if !claimed {
		return nil
	}
	return jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: this route speaks %s; protocol %s is served at /modern/%s",
		legacy2025.Latest, wire.Version20260728, backend)
}

// admit finds the session of a request and checks its protocol version (A-L10,
// A-L13). It answers the client itself when there is none.
func (f *Face) admit(c *gin.Context, backend string, id jsonrpc.ID) (*session, bool) {
	s, err := f.lookup(c, backend)
	if err != nil {
		f.refuseSession(c, id, err)
		return nil, false
	}
	if v := c.GetHeader(headerVersion); v != "" && !slices.Contains(legacy2025.Versions(), v) {
		edge.WriteError(c, http.StatusBadRequest, id, jsonrpc.NewError(jsonrpc.CodeInvalidRequest,
			"Invalid request: %s: unsupported version; this route speaks %v", headerVersion, legacy2025.Versions()))
		return nil, false
	}
	return s, true
}

// refuseSession answers for a session that cannot be used.
func (f *Face) refuseSession(c *gin.Context, id jsonrpc.ID, err error) {
	switch {
	case errors.Is(err, errNoSession):
		edge.WriteError(c, http.StatusBadRequest, id, jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: %s: want the header", headerSession))
	case errors.Is(err, errUnknownSession):
		edge.WriteError(c, http.StatusNotFound, id, jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: unknown session"))
	case errors.Is(err, errFull):
		c.Header("Retry-After", "30")
		edge.WriteError(c, http.StatusServiceUnavailable, id, jsonrpc.NewError(jsonrpc.CodeInternal, "too many sessions or streams; try again later"))
	default:
		f.Logger.ErrorContext(c.Request.Context(), "session not available", "error", err)
		edge.WriteError(c, http.StatusInternalServerError, id, jsonrpc.NewError(jsonrpc.CodeInternal, "Internal error"))
	}
}

// notification serves a notification; the client always gets 202.
func (f *Face) notification(c *gin.Context, backend string, s *session, l *live, msg jsonrpc.Message) {
	switch msg.Method {
	case legacy2025.NotificationInitialized:
	case legacy2025.NotificationCancelled:
		l.cancelRequest(msg.Params.Get("requestId"))
	default:
		x := port.Exchange{Backend: backend, Caller: s.caller(c.GetHeader("Authorization")), Message: msg, Push: l.push}
		f.Crossing.Notification(c.Request.Context(), &x)
	}
	c.Status(http.StatusAccepted)
}

// initialize opens a session (A-L1 to A-L9). The id is told once the session is
// durable, and only if the backend could be asked.
func (f *Face) initialize(c *gin.Context, backend string, msg jsonrpc.Message) {
	if _, err := f.lookup(c, backend); err == nil {
		edge.WriteError(c, http.StatusBadRequest, msg.ID, jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: the session is initialized already"))
		return
	}
	params, err := legacy2025.ParseInitializeParams(msg.Params)
	if err != nil {
		f.answer(c, msg, port.Fail(err))
		return
	}
	s, err := f.newSession(c, backend)
	if err != nil {
		f.answer(c, msg, port.Fail(err))
		return
	}
	s.Version = legacy2025.Negotiate(params.ProtocolVersion)
	s.ClientInfo, s.Capabilities = string(params.ClientInfo), string(params.Capabilities)
	if _, err := f.enter(s.key, s.Address); err != nil {
		f.refuseSession(c, msg.ID, err)
		return
	}
	x := port.Exchange{Backend: backend, Caller: s.caller(c.GetHeader("Authorization")), Message: msg}
	out := f.Crossing.Request(c.Request.Context(), &x)
	if out.Err == nil {
		out.Err = f.create(c.Request.Context(), s)
	}
	if out.Err != nil {
		f.end(s.key)
	} else {
		c.Header(headerSession, s.id)
	}
	f.answer(c, msg, out)
}
