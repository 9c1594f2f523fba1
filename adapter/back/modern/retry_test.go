package modern_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

func dialer(o *modern.Options) dialFunc {
	transport, _ := o.HTTP.Transport.(*http.Transport)
	return transport.DialContext
}

func onDial(o *modern.Options, dial func(context.Context) (net.Conn, error)) {
	transport, _ := o.HTTP.Transport.(*http.Transport)
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
}

func TestRepeatable(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]bool{
		"server/discover": true, "tools/list": true, "prompts/list": true, "resources/list": true,
		"resources/templates/list": true, "resources/read": true, "prompts/get": true, "completion/complete": true,
		"tasks/get": true, "tasks/update": true, "tasks/cancel": true,
		"tools/call": false, "subscriptions/listen": false, "vendor/do": false, "": false,
	} {
		if got := modern.Repeatable(method); got != want {
			t.Errorf("A-U6 %q may be repeated: %v, want %v", method, got, want)
		}
	}
}

func TestRetries(t *testing.T) {
	// failsFirst closes the connection of the first n requests.
	failsFirst := func(n int) script {
		return func(c net.Conn, i int, id string) bool { return i > n && answer(c, i, id) }
	}
	t.Run("A-U6 a read is sent again with a new id, later and later", func(t *testing.T) {
		bubble(t, failsFirst(3), nil, func(t *testing.T, f *fake) {
			f.mustDo(list())
			f.wantRequests(4)
			ids := map[jsonrpc.ID]bool{}
			longest := 100 * time.Millisecond
			for i, got := range f.requests() {
				ids[got.msg.ID] = true
				if i == 0 {
					continue
				}
				wait := got.at.Sub(f.requests()[i-1].at)
				if wait <= longest/2 || wait > longest {
					t.Errorf("retry %d came after %v, want more than %v and at most %v", i, wait, longest/2, longest)
				}
				longest *= 2
			}
			if len(ids) != 4 {
				t.Errorf("%d different ids, want 4", len(ids))
			}
		})
	})
	t.Run("A-U6 notifications of a broken attempt have been seen", func(t *testing.T) {
		s := func(c net.Conn, n int, id string) bool {
			if n > 1 {
				return answer(c, n, id)
			}
			return stream(c, event(progress(1)))
		}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			call, n := list(), 0
			call.OnMessage = func(jsonrpc.Message) { n++ }
			f.mustDo(call)
			if n != 1 {
				t.Errorf("%d notifications, want 1", n)
			}
		})
	})
	t.Run("G-8 no retry begins after the end of all patience", func(t *testing.T) {
		tune := func(o *modern.Options) { o.Times.Total = 10 * time.Millisecond }
		bubble(t, failsFirst(1), tune, func(t *testing.T, f *fake) {
			if _, err := f.client.Do(t.Context(), list()); err == nil {
				t.Error("succeeded")
			}
			f.wantRequests(1)
		})
	})
}

func TestRetryAfter(t *testing.T) {
	const refused = "<p>payload</p>"
	for name, c := range map[string]struct {
		status   int
		header   func() string
		call     port.Call
		requests int
		wait     time.Duration
	}{
		"§1.6 429 with seconds":                   {429, func() string { return "Retry-After: 30" }, list(), 2, 30 * time.Second},
		"§1.6 503 with seconds":                   {503, func() string { return "Retry-After: 30" }, list(), 2, 30 * time.Second},
		"§1.6 503 with a date":                    {503, func() string { return "Retry-After: " + time.Now().Add(time.Minute).UTC().Format(http.TimeFormat) }, list(), 2, time.Minute},
		"§1.6 503 without":                        {503, func() string { return "X: y" }, list(), 1, 0},
		"§1.6 503 with nonsense":                  {503, func() string { return "Retry-After: soon" }, list(), 1, 0},
		"§1.6 503 beyond the deadline":            {503, func() string { return "Retry-After: 3601" }, list(), 1, 0},
		"§1.6 503 beyond everything":              {503, func() string { return "Retry-After: 4294967295" }, list(), 1, 0},
		"§1.6 500 is not for later":               {500, func() string { return "Retry-After: 30" }, list(), 1, 0},
		"G-6 503 to a call that may do something": {503, func() string { return "Retry-After: 30" }, tool(), 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := func(conn net.Conn, n int, id string) bool {
				if n > 1 {
					return answer(conn, n, id)
				}
				return document(conn, c.status, "text/html", refused, c.header())
			}
			bubble(t, s, nil, func(t *testing.T, f *fake) {
				start := time.Now()
				_, err := f.client.Do(t.Context(), c.call)
				f.wantRequests(c.requests)
				if c.requests > 1 {
					if got := time.Since(start); err != nil || got != c.wait {
						t.Errorf("error %v after %v, want none after %v", err, got, c.wait)
					}
					return
				}
				var upstream *port.UpstreamError
				if !errors.As(err, &upstream) || upstream.Status != c.status {
					t.Errorf("error %v, want status %d", err, c.status)
				}
			})
		})
	}
	t.Run("§1.6 patience has an end", func(t *testing.T) {
		s := func(c net.Conn, _ int, _ string) bool { return document(c, 503, "", "", "Retry-After: 1") }
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			if _, err := f.client.Do(t.Context(), list()); err == nil {
				t.Error("succeeded")
			}
			f.wantRequests(4)
		})
	})
}
