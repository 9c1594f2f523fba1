package modern_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"testing/iotest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzAnswer feeds the client an arbitrary answer. Whatever it is, there is
// either a result object that the answer holds, for this request, or an error of
// the two kinds.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		result("1", `{"a":[1,"\u00e9"]}`), rpcError("1", -32602), event(progress(1)) + event(result("1", "{}")),
		event(result("2", "{}")), "data: " + result(`"1"`, "{}") + "\n\n", ":\n\nid: 1\ndata:\n\n", "[]", "<p>", "",
		event(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) + "event: x\ndata: " + result("1", "{}") + "\n\n",
	} {
		f.Add(uint16(200), "text/event-stream", []byte(body))
		f.Add(uint16(200), "application/json", []byte(body))
		f.Add(uint16(400), "application/json;charset=utf-8", []byte(body))
	}
	f.Fuzz(func(t *testing.T, status uint16, contentType string, body []byte) {
		o := modern.Options{
			URL: &url.URL{Scheme: "http", Host: "backend.test"}, Env: env.System(), Limits: modern.Limits{Result: 1 << 10},
			HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				return &http.Response{
					StatusCode: int(status), Header: http.Header{"Content-Type": {contentType}, "Retry-After": {strconv.Itoa(len(body))}},
					Body: io.NopCloser(iotest.HalfReader(bytes.NewReader(body))), ContentLength: -1, Request: r,
				}, nil
			})},
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		call := tool()
		call.OnMessage = func(msg jsonrpc.Message) {
			if msg.Kind != jsonrpc.KindNotification || !bytes.Contains(body, []byte("method")) && !bytes.Contains(body, []byte(`\u`)) {
				t.Errorf("got %q as a notification", msg.Raw)
			}
		}
		got, err := modern.New(o).Do(ctx, call)
		checkOutcome(t, body, got, err)
	})
}

func checkOutcome(t *testing.T, body []byte, got wire.Value, err error) {
	t.Helper()
	var (
		rpc      *jsonrpc.Error
		upstream *port.UpstreamError
	)
	switch {
	case err == nil:
		if !got.IsObject() || len(body) > 1<<10 && len(got) > 1<<10 {
			t.Errorf("result %q", got)
		}
		if _, err := wire.Check([]byte(got)); err != nil {
			t.Errorf("result %q: %v", got, err)
		}
	case got != "":
		t.Errorf("result %q and error %v", got, err)
	case errors.As(err, &rpc):
	case errors.As(err, &upstream):
		if !upstream.Sent {
			t.Errorf("%v: says that nothing was sent", err)
		}
	default:
		t.Errorf("error %v of no known kind", err)
	}
}
