package modern

import (
	"net/http"
	"slices"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// exchange is one HTTP request and its answer.
type exchange struct {
	transport.Exchange
	c    *Client
	call *port.Call
	id   jsonrpc.ID
}

// open sends the request under a fresh id and returns when the head of the
// answer is there. The exchange must be ended with Close or Finish.
func (c *Client) open(w *transport.Watchdog, call *port.Call) (*exchange, *transport.Failure) {
	x := &exchange{c: c, call: call, id: jsonrpc.IntID(c.lastID.Add(1))}
	x.Begin(&c.server, call.Method, w)
	failed := x.send()
	if failed != nil {
		x.Close()
		return nil, failed
	}
	return x, nil
}

func (x *exchange) send() *transport.Failure {
	header, err := x.header()
	if err != nil {
		return &transport.Failure{Err: err}
	}
	const envelope = 64 // what surrounds id, method and params, about
	msg := make([]byte, 0, len(x.call.Params)+len(x.call.Method)+envelope)
	msg = jsonrpc.AppendRequest(msg, x.id, x.call.Method, x.call.Params)
	if x.c.filter != nil {
		if msg = x.c.filter(x.call.Method, msg); len(msg) == 0 {
			return &transport.Failure{Err: ErrFiltered}
		}
	}
	return x.Send(http.MethodPost, header, msg)
}

// The names of the headers of a request, in the form that net/http looks for.
var (
	headerVersion = http.CanonicalHeaderKey(ext2026.HeaderProtocolVersion)
	headerMethod  = http.CanonicalHeaderKey(ext2026.HeaderMethod)
	headerName    = http.CanonicalHeaderKey(ext2026.HeaderName)
)

const (
	headerAccept    = "Accept"
	headerType      = "Content-Type"
	headerAuth      = "Authorization"
	headerUserAgent = "User-Agent"
)

// reserved are the headers that a call cannot set: those that the client derives
// itself, those that this revision does not have, and those of the connection.
var reserved = []string{
	headerVersion, headerMethod, headerName, headerAccept, headerType, headerUserAgent,
	"Mcp-Session-Id", "Last-Event-Id",
	"Connection", "Content-Length", "Expect", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	// net/http would take it for leave to send the request again.
	"Idempotency-Key", "X-Idempotency-Key",
}

// Values that every request shares; net/http only reads them.
var (
	valueVersion   = []string{ext2026.Version}
	valueAccept    = []string{"application/json, text/event-stream"}
	valueType      = []string{"application/json"}
	valueUserAgent = []string{"taskbridge"}
)

// header builds the headers of the request (§3.8). The error is the one of a
// name that cannot be sent.
func (x *exchange) header() (http.Header, error) {
	header := make(http.Header, 7+len(x.call.Headers))
	for _, h := range x.call.Headers {
		if name := http.CanonicalHeaderKey(h.Name); !slices.Contains(reserved, name) {
			header[name] = append(header[name], h.Value)
		}
	}
	header[headerType] = valueType
	header[headerAccept] = valueAccept
	header[headerUserAgent] = valueUserAgent
	header[headerVersion] = valueVersion
	header[headerMethod] = []string{x.call.Method}
	name, present, err := ext2026.NameHeader(x.call.Method, x.call.Params)
	if err != nil {
		return nil, err
	}
	if present {
		header[headerName] = []string{name}
	}
	if x.call.Authorization != "" {
		header[headerAuth] = []string{x.call.Authorization}
	}
	return header, nil
}
