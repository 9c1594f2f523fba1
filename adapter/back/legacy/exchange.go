package legacy

import (
	"context"
	"net/http"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// The names of headers, in the form that net/http looks for.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-Id"
	headerAccept    = "Accept"
	headerType      = "Content-Type"
	headerAuth      = "Authorization"
	headerUserAgent = "User-Agent"
)

// Values that every request shares; net/http only reads them.
var (
	valueAccept    = []string{"application/json, text/event-stream"}
	valueEvents    = []string{"text/event-stream"}
	valueType      = []string{"application/json"}
	valueUserAgent = []string{"taskbridge"}
)

// header builds the headers of a request (§3.8). Before the handshake has ended
// there is no version, and maybe never a session id.
func (s *session) header(verb, auth string) http.Header {
	header := make(http.Header, 7)
	header[headerUserAgent] = valueUserAgent
	switch verb {
	case http.MethodPost:
		header[headerAccept], header[headerType] = valueAccept, valueType
	case http.MethodGet:
		header[headerAccept] = valueEvents
	}
	if s.ticket.Version != "" {
		header[headerVersion] = []string{s.ticket.Version}
	}
	if s.ticket.ID != "" {
		header[headerSession] = []string{s.ticket.ID}
	}
	if auth == "" {
		auth = *s.auth.Load()
	}
	if auth != "" {
		header[headerAuth] = []string{auth}
	}
	return header
}

// exchange is one HTTP request and its answer.
type exchange struct {
	transport.Exchange
	s *session
	// id is that of the JSON-RPC request whose response is expected, if any.
	id jsonrpc.ID
	// onMessage gets what the server says besides; nil hands it to the session.
	onMessage func(msg jsonrpc.Message)
}

// exchange begins an exchange that ends with ctx and after patience.
func (s *session) exchange(ctx context.Context, op string, patience time.Duration) *exchange {
	server := &s.c.server
	return s.within(ctx, op, min(patience, s.c.times.Idle), server.Env.Now().Add(patience))
}

// within begins an exchange that ends with ctx, after idle without a byte, and
// at deadline.
func (s *session) within(ctx context.Context, op string, idle time.Duration, deadline time.Time) *exchange {
	server := &s.c.server
	x := &exchange{s: s}
	x.Begin(server, op, transport.Watch(ctx, server.Env, idle, deadline))
	return x
}

// get opens an event stream, after the event with this id if there is one.
func (x *exchange) get(auth, lastID string) *transport.Failure {
	header := x.s.header(http.MethodGet, auth)
	if lastID != "" {
		header[headerLastEvent] = []string{lastID}
	}
	return x.Send(http.MethodGet, header, nil)
}

// post sends a message, which is shown to the filter as one of this method.
func (x *exchange) post(auth, method string, msg []byte) *transport.Failure {
	if filter := x.s.c.filter; filter != nil {
		if msg = filter(method, msg); len(msg) == 0 {
			return &transport.Failure{Err: transport.ErrFiltered}
		}
	}
	return x.Send(http.MethodPost, x.s.header(http.MethodPost, auth), msg)
}

// take uses one message of the server. It returns the response to the request
// and true, or hands on what is no response. Ids are compared as bytes. An error
// that the server could not attribute can only be about this request.
func (x *exchange) take(v wire.Value) (response jsonrpc.Message, done bool, failed *transport.Failure) {
	msg, err := jsonrpc.Parse(v)
	switch {
	case err != nil && x.id != "" && msg.ID == x.id && !v.Get("method").Present():
		return msg, false, x.Invalid(err)
	case err != nil:
		x.Ignored("unreadable message")
	case msg.Kind == jsonrpc.KindRequest, msg.Kind == jsonrpc.KindNotification:
		x.hand(msg)
	case x.id == "", msg.ID != x.id && (msg.ID != "" || msg.Kind != jsonrpc.KindError):
		x.Ignored("response to another request")
	default:
		return msg, true, nil
	}
	return msg, false, nil
}

// maxEarly and maxEarlySize bound the messages that may come before the session is open,
// in number and in bytes of their params.
const (
	maxEarly     = 64
	maxEarlySize = 1 << 20
)

// hand hands a request or a notification on.
func (x *exchange) hand(msg jsonrpc.Message) {
	s := x.s
	switch {
	case s.opening && len(s.early) < maxEarly && s.earlySize+len(msg.Params) <= maxEarlySize:
		s.early, s.earlySize = append(s.early, msg), s.earlySize+len(msg.Params)
	case s.opening:
		x.Ignored("message before the handshake has ended")
	case msg.Kind == jsonrpc.KindRequest && msg.Method == legacy2025.MethodPing:
		if !s.pong(msg.ID) {
			x.Ignored("ping among too many")
		}
	case x.onMessage != nil:
		x.onMessage(msg)
	default:
		s.deliver(msg)
	}
}

// takeAll uses what one document or one event holds: a message or, from servers
// of 2025-03-26, several. What stands behind the response in the same batch was
// sent with it and is used, too.
func (x *exchange) takeAll(v wire.Value) (response jsonrpc.Message, done bool, failed *transport.Failure) {
	if v.Kind() != wire.KindArray {
		return x.take(v)
	}
	for _, element := range v.Elements() {
		msg, end, broke := x.take(element)
		if broke != nil {
			return msg, false, broke
		}
		if end && !done {
			response, done = msg, true
		}
	}
	return response, done, nil
}

// outcome turns a response into the result of the request or its error.
func outcome(msg jsonrpc.Message, failed *transport.Failure) (wire.Value, *transport.Failure) {
	switch {
	case failed != nil:
		return "", failed
	case msg.Kind == jsonrpc.KindError:
		return "", &transport.Failure{Err: msg.Error, Sent: true}
	default:
		return msg.Result, nil
	}
}
