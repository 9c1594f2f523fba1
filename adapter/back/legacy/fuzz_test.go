package legacy_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzAnswer feeds a session an arbitrary answer to a call, and the same to the
// resumption of its stream and to everything else. Whatever it is, the call is
// sent once, and there is either a result object or an error of the known kinds.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		response("1", `{"a":[1,"\u00e9"]}`), rpcError("1", -32602), rpcError("null", -32000), event(note("a")) + event(response("1", "{}")),
		event(response("2", "{}")), "id: 1\nretry: 5\ndata:\n\n", "[" + note("a") + "," + response("1", "{}") + "]", "<p>", "",
		event(request("1", "ping")) + named("x", response("1", "{}")), "id: \x01\ndata: a\n\n",
	} {
		f.Add(uint16(200), "text/event-stream", []byte(body))
		f.Add(uint16(200), "application/json", []byte(body))
		f.Add(uint16(400), "application/json;charset=utf-8", []byte(body))
		f.Add(uint16(404), "application/json", []byte(body))
	}
	f.Fuzz(func(t *testing.T, status uint16, contentType string, body []byte) {
		synctest.Test(t, func(t *testing.T) { fuzzAnswer(t, int(status), contentType, body) })
	})
}

func fuzzAnswer(t *testing.T, status int, contentType string, body []byte) {
	calls := 0
	c := legacy.New(legacy.Options{
		URL: &url.URL{Scheme: "http", Host: "backend.test"}, Env: env.System(), Limits: transport.Limits{Result: 1 << 10},
		HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Body != nil {
				text, _ := io.ReadAll(r.Body)
				if bytes.Contains(text, []byte("tools/call")) {
					calls++
				}
			}
			return &http.Response{
				StatusCode: status, Header: http.Header{"Content-Type": {contentType}},
				Body: io.NopCloser(iotest.HalfReader(bytes.NewReader(body))), ContentLength: -1, Request: r,
			}, nil
		})},
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := c.Resume(ctx, port.Ticket{ID: "s", Version: "2025-11-25"}, port.Hello{OnMessage: checkMessage(t)})
	ask := tool()
	ask.OnMessage = checkMessage(t)
	got, err := s.Do(ctx, ask)
	s.Close(ctx)
	if calls > 1 {
		t.Errorf("G-6 the call was sent %d times", calls)
	}
	var (
		rpc    *jsonrpc.Error
		failed *port.UpstreamError
	)
	switch {
	case err == nil:
		if _, broken := wire.Check([]byte(got)); broken != nil || !got.IsObject() {
			t.Errorf("result %q: %v", got, broken)
		}
	case got != "":
		t.Errorf("result %q and error %v", got, err)
	case errors.Is(err, port.ErrSessionLost), errors.As(err, &rpc):
	case errors.As(err, &failed):
		if !failed.Sent {
			t.Errorf("%v: says that nothing was sent", err)
		}
	default:
		t.Errorf("error %v of no known kind", err)
	}
}

func checkMessage(t *testing.T) func(msg jsonrpc.Message) {
	return func(msg jsonrpc.Message) {
		if msg.Kind != jsonrpc.KindRequest && msg.Kind != jsonrpc.KindNotification || msg.Kind == jsonrpc.KindRequest && msg.Method == "ping" {
			t.Errorf("handed on %q", msg.Raw)
		}
	}
}
