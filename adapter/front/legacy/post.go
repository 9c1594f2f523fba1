package legacy

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// post serves POST: one message, or a batch.
func (f *Face) post(c *gin.Context, backend string) {
	room, ok := f.Budget.Take(c, f.Proxies.Client(c.Request))
	if !ok {
		return
	}
	defer room.Release()
	body, err := edge.ReadBody(c, f.Env, room, f.Limits.Body)
	if err != nil {
		return
	}
	accepts := edge.ParseAccept(c.Request)
	if !accepts.JSON && !accepts.EventStream {
		edge.WriteError(c, http.StatusNotAcceptable, "", invalid("Accept: want %s or %s", edge.JSON, edge.EventStream))
		return
	}
	msg, err := jsonrpc.Read(body)
	if err != nil && msg.Raw.Kind() == wire.KindArray {
		f.batch(c, backend, room, body, msg.Raw, err, accepts)
		return
	}
	if err != nil {
		edge.WriteError(c, http.StatusBadRequest, edge.EchoedID(&msg), jsonrpc.FromDecode(err))
		return
	}
	if err := checkMessage(c, &msg, backend); err != nil {
		edge.WriteError(c, http.StatusBadRequest, edge.EchoedID(&msg), err)
		return
	}
	if msg.Kind == jsonrpc.KindRequest && msg.Method == legacy2025.MethodInitialize {
		f.initialize(c, backend, msg, accepts)
		return
	}
	s, l, ok := f.join(c, backend, newCall(body, &msg))
	if !ok {
		return
	}
	switch msg.Kind {
	case jsonrpc.KindRequest:
		f.request(c, s, l, room, msg, accepts)
	case jsonrpc.KindNotification:
		f.notification(c, s, l, msg)
		c.Status(http.StatusAccepted)
	case jsonrpc.KindResult, jsonrpc.KindError:
		f.answer(c, s, l, msg)
	}
}

func newCall(body []byte, msg *jsonrpc.Message) call {
	p := call{body: body, id: edge.EchoedID(msg)}
	if msg.Kind == jsonrpc.KindRequest {
		p.safe, p.wait = table[msg.Method].safe, table[msg.Method].wait
	}
	if msg.Kind == jsonrpc.KindResult || msg.Kind == jsonrpc.KindError {
		p.answers = msg.ID
	}
	return p
}

// notification serves a notification. It is never answered.
func (f *Face) notification(c *gin.Context, s *session, l *live, msg jsonrpc.Message) {
	switch msg.Method {
	case legacy2025.NotificationInitialized:
	case legacy2025.NotificationCancelled:
		// One that cannot be read cancels nothing.
		if params, err := legacy2025.ParseCancelledParams(msg.Params); err == nil {
			if s.Kept != "" {
				f.Crossing.Notification(c.Request.Context(), f.outgoing(s, l, msg, c.GetHeader("Authorization")))
			}
			l.cancelRequest(params.RequestID)
		}
	default:
		f.Crossing.Notification(c.Request.Context(), f.outgoing(s, l, msg, c.GetHeader("Authorization")))
	}
}

// answer takes the client's response to a request of the bridge. It is accepted
// once it cannot be lost any more.
func (f *Face) answer(c *gin.Context, s *session, l *live, msg jsonrpc.Message) {
	x := f.outgoing(s, l, msg, c.GetHeader("Authorization"))
	if err := f.Crossing.Answer(c.Request.Context(), x); err != nil {
		f.refuseAnswer(c, s, err)
		return
	}
	c.Status(http.StatusAccepted)
}

// refuseAnswer says why an answer was not taken. That the backend did not want it, or
// could not be reached, is no fault of the session's.
func (f *Face) refuseAnswer(c *gin.Context, s *session, err error) {
	var (
		upstream *port.UpstreamError
		rpc      *jsonrpc.Error
	)
	switch {
	case errors.Is(err, port.ErrSessionLost):
		f.lose(s.key)
		f.refuseSession(c, "", errUnknownSession)
	case edge.Refused(err).Status != 0:
		f.challenge(c, err)
	case errors.As(err, &upstream), errors.As(err, &rpc):
		f.Logger.WarnContext(c.Request.Context(), "answer not taken by the backend", "error", port.Reason(err))
		edge.WriteError(c, http.StatusBadGateway, "", errUntaken)
	default:
		f.refuseSession(c, "", err)
	}
}

// errUntaken is for an answer that the client may give again.
var errUntaken = jsonrpc.NewError(jsonrpc.CodeInternal, "the backend did not take the answer")

// initialize opens a session (A-L1 to A-L9). The id is told once the session is
// durable, and only if the backend could be asked. It is not in flight for
// notifications/cancelled to find.
func (f *Face) initialize(c *gin.Context, backend string, msg jsonrpc.Message, accepts edge.Accepts) {
	if _, err := f.lookup(c, backend); err == nil {
		edge.WriteError(c, http.StatusBadRequest, msg.ID, invalid("the session is initialized already"))
		return
	}
	rep := reply{f: f, c: c, accepts: accepts}
	params, err := legacy2025.ParseInitializeParams(msg.Params)
	if err == nil && len(params.ClientInfo)+len(params.Capabilities) > maxIdentity {
		err = wire.Wrong("params", fmt.Sprintf("clientInfo and capabilities of at most %d bytes together", maxIdentity))
	}
	if err != nil {
		rep.end(msg, port.Fail(err))
		return
	}
	s, err := f.newSession(c, backend)
	if err != nil {
		rep.end(msg, port.Fail(err))
		return
	}
	s.Version = legacy2025.Negotiate(params.ProtocolVersion)
	s.ClientInfo, s.Capabilities = string(params.ClientInfo), string(params.Capabilities)
	l, _, err := f.enter(s.key, s.Address, s.Owner)
	if err != nil {
		f.refuseSession(c, msg.ID, err)
		return
	}
	rep.l = l
	durable := false
	defer func() {
		if !durable {
			f.end(s.key)
			if s.Kept != "" {
				f.endCrossing(s, c.GetHeader("Authorization"))
			}
		}
	}()
	x := port.Exchange{
		Backend: backend, Caller: s.caller(c.GetHeader("Authorization")), Message: msg,
		Push: l.push, Tie: f.opening(l, s),
	}
	out := f.Crossing.Request(c.Request.Context(), &x)
	if out.Err == nil {
		s.agree(out)
		s.Tasks = out.Result.Get("capabilities").Get("tasks").IsObject()
		if err := f.create(c.Request.Context(), s); err != nil {
			out = port.Fail(err)
		}
	}
	if durable = out.Err == nil; durable {
		if s.Kept != "" {
			l.belongs(s, c.GetHeader("Authorization"))
		}
		c.Header(headerSession, s.id)
		f.opened(s.key, l)
	}
	rep.end(msg, out)
}
