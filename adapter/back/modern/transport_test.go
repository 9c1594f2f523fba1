package modern_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

// What net/http does by itself when a reused connection fails depends on the
// request: none of it may send a call twice.
func TestReusedConnections(t *testing.T) {
	t.Run("G-6 a call that the server read before it closed is not sent again", func(t *testing.T) {
		s := func(c net.Conn, n int, id string) bool { return n == 1 && answer(c, n, id) }
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			f.mustDo(tool())
			_, err := f.client.Do(t.Context(), tool())
			var upstream *port.UpstreamError
			if !errors.As(err, &upstream) || !upstream.Sent {
				t.Errorf("error %#v, want one that says the call may have been seen", err)
			}
			f.wantRequests(2)
		})
	})
	t.Run("G-6 not even with a header that says it may be", func(t *testing.T) {
		s := func(c net.Conn, n int, id string) bool { return n == 1 && answer(c, n, id) }
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			f.mustDo(tool())
			call := tool()
			call.Headers = []port.Header{{Name: "Idempotency-Key", Value: "k"}}
			if _, err := f.client.Do(t.Context(), call); err == nil {
				t.Error("succeeded")
			}
			f.wantRequests(2)
		})
	})
	t.Run("G-6 a connection that the server closed while it was idle is not used", func(t *testing.T) {
		s := func(c net.Conn, n int, id string) bool { return answer(c, n, id) && n != 1 }
		bubble(t, s, nil, func(_ *testing.T, f *fake) {
			f.mustDo(tool())
			settle()
			f.mustDo(tool())
			f.wantRequests(2)
		})
	})
	t.Run("connections are let go before common servers do", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			closed := make(chan time.Duration, 1)
			f.follow(func(c net.Conn, n int, id string) bool {
				answer(c, n, id)
				start := time.Now()
				waitClosed(c)
				closed <- time.Since(start)
				return false
			})
			f.mustDo(tool())
			if got := <-closed; got >= 5*time.Second {
				t.Errorf("an idle connection was kept for %v", got)
			}
		})
	})
}

// TestHTTP2Reset plays a server that takes a request and resets its stream with
// a code that net/http takes for leave to repeat what can be repeated.
func TestHTTP2Reset(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]http2.ErrCode{"protocol error": http2.ErrCodeProtocol, "internal error": http2.ErrCodeInternal} {
		t.Run("G-6 "+name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			server := resetServer(t, code, &requests)
			c := modern.New(modern.Options{URL: server, HTTP: trusting(t), Env: env.System()})
			defer c.CloseIdle()
			if _, err := c.Do(t.Context(), tool()); err == nil {
				t.Error("succeeded")
			}
			if got := requests.Load(); got != 1 {
				t.Errorf("the server got the call %d times", got)
			}
		})
	}
}

// certificate borrows the certificate of package httptest.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.TLS.Certificates[0], roots
}

func trusting(t *testing.T) *http.Client {
	t.Helper()
	_, roots := certificate(t)
	client := modern.NewHTTPClient(roots)
	return client
}

func resetServer(t *testing.T, code http2.ErrCode, requests *atomic.Int32) *url.URL {
	t.Helper()
	cert, _ := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go resetStreams(c, code, requests)
		}
	}()
	return &url.URL{Scheme: "https", Host: l.Addr().String(), Path: "/mcp"}
}

func resetStreams(c net.Conn, code http2.ErrCode, requests *atomic.Int32) {
	defer func() { _ = c.Close() }()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(c, c)
	_ = framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				requests.Add(1)
				_ = framer.WriteRSTStream(f.StreamID, code)
			}
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	var proto atomic.Value
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, result("1", "{}"))
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the roots given are trusted, and HTTP/2 is spoken", func(t *testing.T) {
		t.Parallel()
		c := modern.New(modern.Options{URL: target, HTTP: trusting(t), Env: env.System()})
		defer c.CloseIdle()
		if _, err := c.Do(t.Context(), tool()); err != nil {
			t.Error(err)
		}
		if got := proto.Load(); got != "HTTP/2.0" {
			t.Errorf("spoke %v", got)
		}
	})
	t.Run("no others are, and nothing is sent", func(t *testing.T) {
		t.Parallel()
		c := modern.New(modern.Options{URL: target, Env: env.System()})
		_, err := c.Do(t.Context(), tool())
		var upstream *port.UpstreamError
		if !errors.As(err, &upstream) || upstream.Sent {
			t.Errorf("error %v, want one that says nothing was sent", err)
		}
		var unknown x509.UnknownAuthorityError
		if !errors.As(err, &unknown) {
			t.Errorf("error %v, want an unknown authority", err)
		}
	})
}

func TestClientIsHardened(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Cookies()) > 0 {
			t.Error("a cookie came back")
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	given := &http.Client{Jar: jar, Timeout: time.Nanosecond}
	c := modern.New(modern.Options{URL: target, HTTP: given, Env: env.System()})
	for range 2 {
		var upstream *port.UpstreamError
		if _, err := c.Do(t.Context(), tool()); !errors.As(err, &upstream) || upstream.Status != http.StatusFound {
			t.Errorf("error %v, want status 302", err)
		}
	}
	if given.Jar == nil || given.Timeout == 0 {
		t.Error("the client that was given has been changed")
	}
}

func TestIgnoredMessagesAreLoggedWithoutPayload(t *testing.T) {
	var log bytes.Buffer
	s := func(c net.Conn, _ int, id string) bool {
		return stream(c, event(`{"jsonrpc":"2.0","id":1,"method":"payload","params":{"payload":1}}`), event("payload"), event(result(id, "{}")))
	}
	tune := func(o *modern.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	bubble(t, s, tune, func(t *testing.T, f *fake) {
		f.mustDo(tool())
		got := log.String()
		if strings.Contains(got, "payload") || strings.Contains(got, "s3cret") {
			t.Errorf("the log tells what was sent: %s", got)
		}
		if !strings.Contains(got, "what=request") || !strings.Contains(got, `what="unreadable message"`) || strings.Count(got, "\n") != 2 {
			t.Errorf("log %s", got)
		}
	})
}

func TestErrorsDoNotTellTheURL(t *testing.T) {
	tune := func(o *modern.Options) {
		o.URL = &url.URL{Scheme: "http", Host: "backend.test", RawQuery: "key=s3cret", User: url.UserPassword("u", "s3cret")}
		onDial(o, func(context.Context) (net.Conn, error) { return nil, errors.New("no network") })
	}
	bubble(t, answer, tune, func(t *testing.T, f *fake) {
		_, err := f.client.Do(t.Context(), tool())
		quiet(t, err)
	})
}
