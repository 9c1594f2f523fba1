package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/tmaxmax/go-sse"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

const (
	// answerLimit bounds what is read of an answer to initialize.
	answerLimit = 1 << 20

	headerSession = "Mcp-Session-Id"
	typeEvents    = "text/event-stream"
	typeJSON      = "application/json"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"` + legacy2025.MethodInitialize + `","params":{` +
	`"protocolVersion":"` + wire.Version20251125 + `","capabilities":{},"clientInfo":` + clientInfo + `}}`

// errNotRPC: an answer holds no JSON-RPC.
var errNotRPC = errors.New("no JSON-RPC in the answer")

// confirmLegacy tells a legacy server from one that only refuses: it sends
// initialize, and gives the session back if there is one. A server that does not
// know that either may be one of 2024-11-05, whose endpoint is a stream.
func (o *Options) confirmLegacy(ctx context.Context) (Verdict, error) {
	resp, err := o.send(ctx, http.MethodPost, initialize, nil)
	if err != nil {
		return Verdict{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if !suggestsLegacy(resp.StatusCode) {
		return Verdict{}, refused(resp)
	}
	msg, ok, err := firstMessage(resp)
	if err != nil {
		return Verdict{}, lost(ctx, err)
	}
	if ok {
		o.endSession(ctx, resp.Header.Get(headerSession))
		v := Verdict{Era: Legacy, Reason: "the server answers initialize"}
		if version, ok := msg.Result.Get("protocolVersion").Text(); ok {
			v.Versions = []string{version}
		}
		return v, nil
	}
	return o.namesHTTPSSE(ctx)
}

// namesHTTPSSE tells a server of the HTTP+SSE transport, which is out of scope
// here, from something that is no MCP server at all.
func (o *Options) namesHTTPSSE(ctx context.Context) (Verdict, error) {
	resp, err := o.send(ctx, http.MethodGet, "", func(h http.Header) { h.Set("Accept", typeEvents) })
	if err != nil {
		return Verdict{}, err
	}
	_ = resp.Body.Close()
	if !suggestsLegacy(resp.StatusCode) {
		return Verdict{}, refused(resp)
	}
	if resp.StatusCode == http.StatusOK && mediaType(resp) == typeEvents {
		return Verdict{
			Era: Unknown, Versions: []string{version20241105},
			Reason: "the endpoint is a stream: HTTP+SSE of " + version20241105 + ", which is out of scope",
		}, nil
	}
	return Verdict{Era: Unknown, Reason: "neither server/discover nor initialize is answered with JSON-RPC"}, nil
}

// endSession gives a session back that nobody needs. Servers may refuse.
func (o *Options) endSession(ctx context.Context, session string) {
	if session == "" {
		return
	}
	resp, err := o.send(ctx, http.MethodDelete, "", func(h http.Header) { h.Set(headerSession, session) })
	if err == nil {
		_ = resp.Body.Close()
	}
}

// send performs a plain request, without anything of the modern era.
func (o *Options) send(ctx context.Context, method, body string, extra func(http.Header)) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, o.URL.String(), bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	for _, h := range o.Headers {
		req.Header.Add(h.Name, h.Value)
	}
	if o.Authorization != "" {
		req.Header.Set("Authorization", o.Authorization)
	}
	req.Header.Set("User-Agent", "taskbridge")
	if body != "" {
		req.Header.Set("Content-Type", typeJSON)
		req.Header.Set("Accept", typeJSON+", "+typeEvents)
	}
	if extra != nil {
		extra(req.Header)
	}
	client := *o.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	resp, err := client.Do(req)
	if err == nil {
		return resp, nil
	}
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		err = outer.Err // the URL may hold a secret
	}
	return nil, lost(ctx, err)
}

// refused is the error of an answer that allows no verdict.
func refused(resp *http.Response) error {
	return &port.UpstreamError{Op: legacy2025.MethodInitialize, Status: resp.StatusCode, Sent: true, Err: errNotRPC}
}

// lost is the error of a connection that failed with err, or of ctx.
func lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &port.UpstreamError{Op: legacy2025.MethodInitialize, Sent: true, Err: err}
}

// firstMessage reads the response to initialize, from a document or a stream.
// It returns false when there is none, and an error when reading failed.
func firstMessage(resp *http.Response) (jsonrpc.Message, bool, error) {
	body := io.LimitReader(resp.Body, answerLimit)
	if mediaType(resp) != typeEvents {
		text, err := io.ReadAll(body)
		if err != nil {
			return jsonrpc.Message{}, false, err
		}
		msg, ok := response(text)
		return msg, ok, nil
	}
	for event, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: answerLimit}) {
		if err != nil {
			return jsonrpc.Message{}, false, err
		}
		if msg, ok := response([]byte(event.Data)); ok {
			return msg, true, nil
		}
	}
	return jsonrpc.Message{}, false, nil
}

func response(text []byte) (jsonrpc.Message, bool) {
	msg, err := jsonrpc.Read(text)
	return msg, err == nil && (msg.Kind == jsonrpc.KindResult || msg.Kind == jsonrpc.KindError)
}

func mediaType(resp *http.Response) string {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}
