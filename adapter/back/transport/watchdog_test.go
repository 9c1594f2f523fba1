package transport_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/internal/env"
)

// TestNothingIsSentForOneWhoHasGone: a request whose caller has given up already
// never reaches a server (G-6), however early the connection is there.
func TestNothingIsSentForOneWhoHasGone(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the server got a request")
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := transport.Server{
		URL: target, HTTP: transport.Harden(nil), Env: env.System(), Limit: 1 << 10,
	}
	for range 100 {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		w := transport.Watch(ctx, env.System(), time.Minute, time.Now().Add(time.Hour))
		if err := w.Cause(); !errors.Is(err, gone) {
			t.Fatalf("the exchange of a caller who has gone begins with cause %v, want %v", err, gone)
		}
		var x transport.Exchange
		x.Begin(&s, "tools/call", w)
		failed := x.Send(http.MethodPost, http.Header{}, []byte("{}"))
		if failed == nil || failed.Sent || !errors.Is(failed.Err, gone) {
			t.Fatalf("sent with failure %+v, want one that says nothing was sent", failed)
		}
		x.Close()
	}
}
