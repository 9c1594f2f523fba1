package adapter_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// embeddedIn runs a bridge as a part of another server, and returns what ends both: the
// bridge first.
func embeddedIn(t *testing.T, o adapter.Options, dir, backend string, l net.Listener) (stop func() error) {
	t.Helper()
	bridge, err := adapter.New(t.Context(), crowded(t, dir, backend), o)
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	bridge.Register(engine)
	server := &http.Server{Handler: engine, ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	return func() error {
		err := errors.Join(bridge.Close(context.Background()), server.Shutdown(context.Background()))
		if cause := <-done; !errors.Is(cause, http.ErrServerClosed) {
			err = errors.Join(err, cause)
		}
		return err
	}
}

// alone runs a bridge as the command does, and returns what ends it.
func alone(t *testing.T, o adapter.Options, dir, backend string, settings ...string) (url string, stop func() error) {
	t.Helper()
	ready := make(chan string, 1)
	o.Ready = func(r adapter.Ready) { ready <- r.Routes[0].URL }
	bridge, err := adapter.New(t.Context(), crowded(t, dir, backend, settings...), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bridge.Run(ctx) }()
	select {
	case url = <-ready:
	case err := <-done:
		cancel()
		t.Fatalf("the bridge did not start: %v", err)
	}
	return url, func() error {
		cancel()
		return <-done
	}
}

// TestShutdownOfACrowd: a bridge with a hundred streams open, of twenty-five sessions,
// and with calls that go on without a client, is shut down: gracefully, without any
// patience, or as a part of another server. Every stream ends, and nothing of the bridge
// runs any more, which the bubble proves. Another bridge on the same store serves the
// same sessions, and puts the open questions again (G-8; DESIGN, promises 2 and 6).
func TestShutdownOfACrowd(t *testing.T) {
	for name, run := range map[string]func(*testing.T, adapter.Options, string, net.Listener) func() error{
		"gracefully": func(t *testing.T, o adapter.Options, dir string, _ net.Listener) func() error {
			_, stop := alone(t, o, dir, "127.0.0.1")
			return stop
		},
		"without patience": func(t *testing.T, o adapter.Options, dir string, _ net.Listener) func() error {
			_, stop := alone(t, o, dir, "127.0.0.1", "times.drain=2s")
			return stop
		},
		"by Close": func(t *testing.T, o adapter.Options, dir string, l net.Listener) func() error {
			return embeddedIn(t, o, dir, "127.0.0.1", l)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				back := memnet.Listen()
				server := serveDemo(back)
				defer server.stop()
				c := &crowd{t: t, url: frontURL + "legacy/quarry", events: make(chan struct{}, 1), wait: synctest.Wait}
				log := &record{}
				begin := func() func() error {
					front := memnet.Listen()
					if c.client != nil {
						c.client.http.CloseIdleConnections()
					}
					c.client = newClient(front, c.events)
					o := adapter.Options{
						Logger: slog.New(slog.NewTextHandler(log, nil)), Dial: back.Dial,
						Listen: func(context.Context, string, string) (net.Listener, error) { return front, nil },
					}
					return run(t, o, dir, front)
				}
				stop := begin()
				c.fill()
				started := time.Now()
				if err := stop(); err != nil {
					t.Errorf("the bridge ended with %v", err)
				}
				if took := time.Since(started); took > 20*time.Second {
					t.Errorf("the shutdown took %v", took)
				}
				c.ended()
				synctest.Wait()
				if n := server.connections(); n != 0 {
					t.Errorf("%d connections to the backend are left", n)
				}
				stop = begin()
				c.again()
				if err := stop(); err != nil {
					t.Errorf("the bridge ended with %v", err)
				}
				c.client.http.CloseIdleConnections()
				for _, line := range log.lines("level=ERROR") {
					t.Errorf("log: %s", line)
				}
			})
		})
	}
}

// TestShutdownOnTheNetwork is the same once on a real network, where nothing but the
// count of goroutines tells. It does not run beside other tests.
func TestShutdownOnTheNetwork(t *testing.T) {
	dir := t.TempDir()
	before := runtime.NumGoroutine()
	back, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := serveDemo(back)
	c := &crowd{t: t, events: make(chan struct{}, 1), wait: func() {}}
	c.client = &client{events: c.events, http: &http.Client{Transport: &http.Transport{}}}
	url, stop := alone(t, adapter.Options{}, dir, back.Addr().String(), "times.drain=2s")
	c.url = url
	c.fill()
	if err := stop(); err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
	c.ended()
	c.client.work.Wait()
	c.client.http.CloseIdleConnections()
	server.stop()
	// The last connections end beside their owners.
	late := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(late) {
		runtime.Gosched()
	}
	if now := runtime.NumGoroutine(); now > before {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, now, stacks[:runtime.Stack(stacks, true)])
	}
}
