package adapter_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// running is a bridge that serves, as the command runs it.
type running struct {
	log  *record
	http *http.Client // that reaches it, by a new connection each time
	stop context.CancelFunc
	done chan error
	// kill has the process of several die, as far as anybody can see; dead says that it
	// has.
	kill func()
	dead *atomic.Bool
}

// start runs a bridge until its end, which the caller has to bring about. Given a
// store, it is one of those that share it, the n-th.
func start(t *testing.T, s *setup, front *memnet.Listener, u *upstream, log *record, shared state.Store, n int) *running {
	t.Helper()
	cfg, err := s.configuration(shared != nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{
		log: log, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, done: make(chan error, 1),
	}
	front.Attach(r.http)
	ready := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if shared != nil {
		logger = logger.With("replica", n)
	}
	bridge, err := adapter.New(ctx, cfg, adapter.Options{
		Logger: logger,
		Env:    newSeeded(n),
		Store:  shared,
		Listen: func(context.Context, string, string) (net.Listener, error) { return front, nil },
		Dial:   u.dialer(n),
		Ready:  func(adapter.Ready) { close(ready) },
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- bridge.Run(ctx) }()
	select {
	case <-ready:
	case err := <-r.done:
		t.Fatalf("the bridge did not start: %v", err)
	}
	return r
}

// drained stops the bridge and returns how that ended.
func (r *running) drained() error {
	defer r.http.CloseIdleConnections()
	r.stop()
	select {
	case err := <-r.done:
		r.done <- err // for whoever asks next
		return err
	case <-time.After(time.Minute):
		return errors.New("it did not end within a minute")
	}
}

// record is the bridge's log.
type record struct {
	// What is written before this is set goes to the record of all processes. May be
	// nil.
	before *atomic.Bool
	of     *record

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (r *record) Write(p []byte) (int, error) {
	if r.before != nil && !r.before.Load() {
		return r.of.Write(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// lines returns the lines that contain a word; of an empty one all.
func (r *record) lines(word string) (found []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.text.String()) {
		if strings.Contains(line, word) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
