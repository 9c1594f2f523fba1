package watch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/watch"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	second = time.Second
	minute = time.Minute
	// burst is how long a change of what is wanted is held back.
	burst = 50 * time.Millisecond
)

const backendName = "b1"

var errGone = errors.New("connection reset")

// stream is an open subscription at the fake backend.
type stream struct {
	filter   port.ChangeFilter
	caller   port.Caller
	backend  string
	at       time.Time
	honoured port.ChangeFilter

	queue  chan port.Change
	fail   chan error
	closed chan struct{}
	once   sync.Once
}

func (s *stream) Honoured() port.ChangeFilter { return s.honoured }

func (s *stream) Close() { s.once.Do(func() { close(s.closed) }) }

func (s *stream) Next() (port.Change, error) {
	select {
	case c := <-s.queue:
		return c, nil
	default:
	}
	select {
	case c := <-s.queue:
		return c, nil
	case err := <-s.fail:
		return port.Change{}, err
	case <-s.closed:
		return port.Change{}, io.ErrClosedPipe
	}
}

func (s *stream) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// list and update report a change.
func (s *stream) list(name string) { s.queue <- port.Change{Key: name, Message: []byte(name)} }

func (s *stream) update(uri string) {
	s.queue <- port.Change{Key: "updated " + uri, URI: uri, Message: []byte("updated " + uri)}
}

// source is a [port.ChangeSource] with one scripted backend.
type source struct {
	mu          sync.Mutex
	lists       port.ChangeFilter // offered
	resources   bool
	offerErr    error
	offerDelay  time.Duration
	offers      int
	listenErr   error
	listenDelay time.Duration
	deaf        bool // goes on when the caller has given up
	// honour changes what is honoured; nil honours everything.
	honour  func(f *port.ChangeFilter)
	streams []*stream
	tries   int
}

func (s *source) set(f func(s *source)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *source) Offered(ctx context.Context, _ string, _ port.Caller) (port.ChangeFilter, bool, error) {
	s.mu.Lock()
	s.offers++
	delay := s.offerDelay
	s.mu.Unlock()
	if delay > 0 {
		if err := env.Sleep(ctx, env.System(), delay); err != nil {
			return port.ChangeFilter{}, false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, s.resources, s.offerErr
}

func (s *source) Listen(ctx context.Context, backend string, caller port.Caller, filter port.ChangeFilter) (port.ChangeStream, error) {
	s.mu.Lock()
	s.tries++
	delay := s.listenDelay
	if s.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	s.mu.Unlock()
	if delay > 0 {
		if err := env.Sleep(ctx, env.System(), delay); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listenErr != nil {
		return nil, s.listenErr
	}
	st := &stream{
		filter: filter, honoured: filter, caller: caller, backend: backend, at: time.Now(),
		queue: make(chan port.Change, 64), fail: make(chan error, 1), closed: make(chan struct{}),
	}
	st.honoured.URIs, st.honoured.TaskIDs = slices.Clone(filter.URIs), slices.Clone(filter.TaskIDs)
	if s.honour != nil {
		s.honour(&st.honoured)
	}
	s.streams = append(s.streams, st)
	return st, nil
}

func (s *source) Synthesize(f port.ChangeFilter) []port.Change {
	var out []port.Change
	for name, wanted := range map[string]bool{"tools": f.Tools, "prompts": f.Prompts, "resources": f.Resources} {
		if wanted {
			out = append(out, port.Change{Key: name, Message: []byte("made up " + name)})
		}
	}
	for _, uri := range f.URIs {
		out = append(out, port.Change{Key: "updated " + uri, URI: uri, Message: []byte("made up " + uri)})
	}
	return out
}

// world is a watcher with a fake backend, in a bubble of fake time.
type world struct {
	*testing.T
	*watch.Watcher
	source *source
	logged *lockedBuffer
	held   <-chan struct{} // OnTask waits for it, unless nil

	mu     sync.Mutex
	pushed map[string][]string // messages by session
	tasks  []string            // what OnTask got
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	bubbleWith(t, nil, f)
}

func bubbleWith(t *testing.T, credential func(string, port.Caller) string, f func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			T: t, logged: new(lockedBuffer), pushed: make(map[string][]string),
			source: &source{lists: port.ChangeFilter{Tools: true}, resources: true},
		}
		w.Watcher = watch.New(watch.Options{
			Source: w.source, Env: env.System(), Credential: credential,
			Logger: slog.New(slog.NewTextHandler(w.logged, nil)),
			OnTask: func(_ context.Context, backend string, caller port.Caller, id string, doc wire.Value) {
				if w.held != nil {
					<-w.held
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				w.tasks = append(w.tasks, fmt.Sprint(backend, " ", caller.Principal, " ", id, " ", doc))
			},
		})
		defer func() {
			start := time.Now()
			if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("Close took %v, want it to wait for nobody", took)
			}
			for i, st := range w.source.streams {
				if !st.isClosed() && len(st.fail) == 0 {
					t.Errorf("subscription %d of %d is open still", i+1, len(w.source.streams))
				}
			}
		}()
		f(w)
	})
}

// wantEmpty expects the watcher to hold nothing any more.
func (w *world) wantEmpty() {
	w.Helper()
	after(burst)
	if shares, sessions := w.Sizes(); shares+sessions != 0 {
		w.Errorf("%d shares and %d sessions are left, want none", shares, sessions)
	}
}

// session returns a subscriber; its credential and its principal are made of its
// name up to the first dash.
func (w *world) session(name string, resources ...string) port.Subscriber {
	who, _, _ := strings.Cut(name, "-")
	return port.Subscriber{
		Backend: backendName, Resources: resources,
		Caller: port.Caller{Session: name, Principal: who, Authorization: who},
		Push: func(_ string, msg []byte) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.pushed[name] = append(w.pushed[name], string(msg))
		},
	}
}

// got returns what a session was sent since the last time.
func (w *world) got(name string) []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.pushed[name]
	delete(w.pushed, name)
	return out
}

func (w *world) events() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.tasks
	w.tasks = nil
	return out
}

// subscribe starts a resources/subscribe and returns where its outcome will be.
func (w *world) subscribe(ctx context.Context, sub port.Subscriber, uri string) <-chan error {
	out := make(chan error, 1)
	go func() { out <- w.Subscribe(ctx, sub, uri) }()
	synctest.Wait()
	return out
}

// settled subscribes and waits for the answer.
func (w *world) settled(sub port.Subscriber, uri string) {
	w.Helper()
	if err := w.Subscribe(w.Context(), sub, uri); err != nil {
		w.Fatalf("Subscribe %s: %v", uri, err)
	}
}

// streams returns all subscriptions so far, and wants so many.
func (w *world) streams(want int) []*stream {
	w.Helper()
	synctest.Wait()
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if len(w.source.streams) != want {
		w.Fatalf("%d subscriptions were opened, want %d", len(w.source.streams), want)
	}
	return slices.Clone(w.source.streams)
}

func (w *world) wantTries(want int) {
	w.Helper()
	synctest.Wait()
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if w.source.tries != want {
		w.Errorf("%d subscriptions were tried, want %d", w.source.tries, want)
	}
}

func (w *world) wantCode(err error, want int64) {
	w.Helper()
	if err == nil || port.RPCError(err).Code != want {
		w.Errorf("error %v, want code %d", err, want)
	}
}

func pending[T any](ch <-chan T) bool {
	synctest.Wait()
	return len(ch) == 0
}

func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
