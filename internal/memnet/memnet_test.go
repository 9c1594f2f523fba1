package memnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/memnet"
)

func serve(t *testing.T, handler http.Handler) (*memnet.Listener, *http.Client) {
	t.Helper()
	l := memnet.Listen()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{}}
	if !l.Attach(client) {
		t.Fatal("an *http.Transport was not attached")
	}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_ = server.Close()
	})
	return l, client
}

func get(t *testing.T, client *http.Client) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server.test/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestServesHTTPInFakeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Hour)
			if host, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || host != "127.0.0.1" {
				t.Errorf("remote address %q", r.RemoteAddr)
			}
			_, _ = io.WriteString(w, "done")
		}))
		start := time.Now()
		body, err := get(t, client)
		if err != nil || body != "done" {
			t.Fatalf("body %q, error %v", body, err)
		}
		if waited := time.Since(start); waited != time.Hour {
			t.Fatalf("waited %v of fake time, want an hour", waited)
		}
	})
}

func TestClosedListenerRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, client := serve(t, http.NotFoundHandler())
		_ = l.Close()
		_ = l.Close()
		if _, err := get(t, client); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("dial after close: %v, want a refusal", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("accept after close: %v, want net.ErrClosed", err)
		}
	})
}

func TestCloseEndsAWaitingDial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		time.AfterFunc(time.Second, func() { _ = l.Close() })
		if _, err := l.Dial(t.Context(), "tcp", "server.test:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("dial: %v, want a refusal", err)
		}
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := memnet.Listen().Dial(ctx, "tcp", "server.test:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("dial that nobody accepts: %v, want the deadline", err)
		}
	})
}

func TestPortsDiffer(t *testing.T) {
	t.Parallel()
	l := memnet.Listen()
	defer func() { _ = l.Close() }()
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	first, err := l.Dial(t.Context(), "tcp", "server.test:80")
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Dial(t.Context(), "tcp", "server.test:80")
	if err != nil {
		t.Fatal(err)
	}
	if first.LocalAddr().String() == second.LocalAddr().String() {
		t.Fatalf("two connections share the address %s", first.LocalAddr())
	}
	if first.RemoteAddr().String() != l.Addr().String() {
		t.Fatalf("remote address %s, want %s", first.RemoteAddr(), l.Addr())
	}
}

func TestAttachNeedsATransport(t *testing.T) {
	t.Parallel()
	if memnet.Listen().Attach(&http.Client{}) {
		t.Fatal("a client without a transport was attached")
	}
}
