package modern

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// post serves POST: one message, which has to be a request to be answered.
func (f *Face) post(c *gin.Context, route Route) {
	if err := f.enter(c); err != nil {
		(&reply{f: f, c: c}).refuse("", err)
		return
	}
	defer f.leave()
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
	switch {
	case err != nil:
		edge.WriteError(c, http.StatusBadRequest, edge.EchoedID(&msg), jsonrpc.FromDecode(err))
	case msg.NullID():
		edge.WriteError(c, http.StatusBadRequest, "", invalid("id: want a string or an integer"))
	case msg.Kind == jsonrpc.KindRequest:
		f.request(c, route, body, msg, accepts)
	case msg.Kind == jsonrpc.KindNotification:
		c.Status(http.StatusAccepted) // there is none that means anything here (Q37)
	default:
		edge.WriteError(c, http.StatusBadRequest, "", invalid("message: want no response: nothing was asked"))
	}
}

// request serves a request to its end.
func (f *Face) request(c *gin.Context, route Route, body []byte, msg jsonrpc.Message, accepts edge.Accepts) {
	rep := &reply{f: f, c: c, accepts: accepts, msg: msg}
	r, err := judge(c.Request.Header, msg, route)
	switch {
	case err != nil:
		rep.end(port.Fail(err))
		return
	case r.method.listens && !accepts.EventStream:
		rep.end(port.Fail(errNeedsEvents))
		return
	case r.unnamed:
		f.unnamed.Add(1)
	}
	x := f.exchange(c, route, r)
	s := newStream(c.Request.Context(), rep)
	s.who = origins(c, f.Proxies, x.Caller)
	if r.method.listens {
		s.caller = s.who[len(s.who)-1]
	}
	if err := f.begin(c, s); err != nil {
		s.end(port.Fail(err))
		return
	}
	defer f.end(s)
	x.Stream, rep.x = s, x
	s.watch()
	if r.method.listens {
		defer edge.WhileVerified(c, f.Env, func() { s.cancel(errExpired) })()
	}
	out := f.outcome(s, x, c.Request.Header)
	var away *port.ElsewhereError
	if errors.As(out.Err, &away) && f.passOn(s, body, away.Process, &out) {
		return
	}
	s.end(out)
}

// errExpired ends a subscription as the end of the bridge does: with a result, after which
// its client can subscribe again.
var errExpired = fmt.Errorf("the token of the subscription has expired: %w", port.ErrDraining)

// errUnsent is for a request that no process has got. Its client may repeat it.
var errUnsent = jsonrpc.NewError(jsonrpc.CodeInternal, "the process that has the call cannot be reached now; try again later")

// passOn has the process serve a request that has what it is about, and reports whether
// it was answered. If not, the outcome is what the client is told.
func (f *Face) passOn(s *stream, body []byte, process string, out *port.Outcome) (answered bool) {
	c := s.rep.c
	if replica.From(c.Request.Context()) != "" || !s.hush() {
		return false
	}
	began, err := f.Peers.Pass(c.Writer, c.Request, body, process)
	switch {
	case err == nil, c.Request.Context().Err() != nil:
		s.gone()
		s.cancel(nil)
		return true
	case began:
		edge.Cut()
	case errors.Is(err, replica.ErrUnsent):
		f.Logger.WarnContext(c.Request.Context(), "request not passed to another process", "error", err)
		*out = port.Fail(errUnsent)
	case !errors.Is(err, replica.ErrGone):
		f.Logger.WarnContext(c.Request.Context(), "request cut at another process", "error", err)
		*out = port.Fail(edge.ErrInterrupted)
	}
	return false
}

// origins are under what names the requests of a caller are counted: its address, and
// its principal if it has one.
func origins(c *gin.Context, proxies edge.Proxies, caller port.Caller) []string {
	names := []string{"address:" + proxies.Client(c.Request)}
	if caller.Principal != "" {
		names = append(names, caller.Principal)
	}
	return names
}

// exchange is a request on its way to the crossing. Its caller is what the request
// itself says and shows (B-L3).
func (f *Face) exchange(c *gin.Context, route Route, r *request) *port.Exchange {
	authorization, msg := c.GetHeader("Authorization"), r.msg.Params
	return &port.Exchange{
		Backend: route.Backend,
		Caller: port.Caller{
			Principal: edge.Principal(c), Verified: edge.Verified(c), Version: ext2026.Version,
			ClientInfo: apart(r.meta.ClientInfo, msg), Capabilities: apart(r.meta.Capabilities.Raw(), msg),
			Tasks: r.meta.Capabilities.Tasks(), LogLevel: string(apart(wire.Value(r.meta.LogLevel), msg)),
			Authorization: authorization,
		},
		Message: r.msg,
		Push:    func(string, []byte) {}, // there is no stream outside an exchange
	}
}

// longMessage is the size in bytes from which on a part of a message is worth a copy.
const longMessage = 16 << 10

// apart returns a part of a message that may be kept for longer, as sessions and tasks
// keep their caller, and does not keep a long message with it.
func apart(part, msg wire.Value) wire.Value {
	if len(msg) < longMessage {
		return part
	}
	return wire.Value(strings.Clone(string(part)))
}

// outcome performs an exchange. A fault of the bridge ends this exchange and no
// other, and its client is told.
func (f *Face) outcome(s *stream, x *port.Exchange, header http.Header) (out port.Outcome) {
	defer f.work.Done()
	defer func() {
		if fault := recover(); fault != nil {
			port.LogFault(s.ctx, f.Logger, fault)
			out = port.Fail(errInternal)
		}
	}()
	if x.Message.Method == ext2026.MethodToolsCall {
		if err := f.Params.CheckParams(s.ctx, x, header.Values); err != nil {
			return port.Fail(err)
		}
	}
	return f.Crossing.Request(s.ctx, x)
}
