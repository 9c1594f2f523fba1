package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
)

// wire is a store whose messages get lost, or come twice. What it holds is safe.
type wire struct {
	state.Store
	lose, repeat float64
	alter        func(payload []byte) []byte // of a message; nil leaves it

	mu     sync.Mutex
	random *rand.Rand
	down   atomic.Bool
	slow   atomic.Int64 // the nanoseconds that a message takes
	sent   atomic.Int64
}

func (w *wire) roll(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.Float64() < p
}

// Put implements [state.Store].
func (w *wire) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	if w.down.Load() {
		return 0, errors.New("down")
	}
	return w.Store.Put(ctx, rec, cond)
}

// Publish implements [state.Store].
func (w *wire) Publish(ctx context.Context, topic string, payload []byte) error {
	w.sent.Add(1)
	time.Sleep(time.Duration(w.slow.Load()))
	if w.down.Load() {
		return errors.New("down")
	}
	if w.alter != nil {
		payload = w.alter(payload)
	}
	if w.roll(w.lose) {
		return nil
	}
	if w.roll(w.repeat) {
		_ = w.Store.Publish(ctx, topic, payload)
	}
	return w.Store.Publish(ctx, topic, payload)
}

// pair is two processes of one store. The second serves.
type pair struct {
	wire          *wire
	first, second *replica.Replica
	calls         atomic.Int64
	mute          atomic.Bool // nothing is written for the second
	slow          atomic.Int64
}

// mutable is the store of a process that may be cut off from it, or far away.
type mutable struct {
	state.Store
	mute *atomic.Bool
	slow *atomic.Int64 // the nanoseconds that a message takes
}

// Publish implements [state.Store].
func (m mutable) Publish(ctx context.Context, topic string, payload []byte) error {
	time.Sleep(time.Duration(m.slow.Load()))
	return m.Store.Publish(ctx, topic, payload)
}

// Put implements [state.Store].
func (m mutable) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	if m.mute.Load() {
		return 0, errors.New("cut off")
	}
	return m.Store.Put(ctx, rec, cond)
}

func newPair(t *testing.T, lose, repeat float64, handler http.HandlerFunc) *pair {
	t.Helper()
	store, err := embedded.Open(t.Context(), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{wire: &wire{Store: store, lose: lose, repeat: repeat, random: rand.New(rand.NewPCG(1, 2))}}
	keys, err := seal.New([][]byte{[]byte("0123456789abcdef0123456789abcdef")}, env.System().Random())
	if err != nil {
		t.Fatal(err)
	}
	start := func(store state.Store) *replica.Replica {
		r, err := replica.New(t.Context(), replica.Options{
			Store: store, Keys: keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler), Shared: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	p.first, p.second = start(p.wire), start(mutable{p.wire, &p.mute, &p.slow})
	p.second.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		handler(w, r)
	}))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(p.first.Close(ctx), p.second.Close(ctx), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func request(t *testing.T, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/legacy/b?x=%20y", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer secret-of-the-caller")
	r.Header.Add("X", "1")
	r.Header.Add("X", "2")
	r.RemoteAddr = "192.0.2.7:99"
	return r
}

// echo answers with what it got, and then with the body in pieces.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Got", fmt.Sprint(r.Method, " ", r.URL, " ", r.RemoteAddr, " ", r.Header["X"], " ", r.Header.Get("Authorization"), " ", r.ContentLength))
	w.WriteHeader(http.StatusTeapot)
	for len(body) > 0 {
		n := min(len(body), 10_000)
		_, _ = w.Write(body[:n])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		body = body[n:]
	}
}

// TestPass: a request and its answer cross whole and in order, whatever becomes of
// single messages, and the request is served once.
func TestPass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		lose, repeat float64
		size         int
	}{
		{"nothing", 0, 0, 0},
		{"a little", 0, 0, 100},
		{"much", 0, 0, 3 << 20},
		{"everything twice", 0, 1, 300_000},
		{"a third lost", .3, 0, 300_000},
		{"half lost, the rest twice", .5, 1, 200_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, tt.lose, tt.repeat, echo)
				body := strings.Repeat("0123456789abcdef", tt.size/16+1)[:tt.size]
				w := httptest.NewRecorder()
				began, err := p.first.Pass(w, request(t, body), []byte(body), p.second.ID())
				if err != nil || !began {
					t.Fatalf("began %v, %v", began, err)
				}
				want := fmt.Sprint("POST /legacy/b?x=%20y 192.0.2.7:99 [1 2] Bearer secret-of-the-caller ", tt.size)
				if w.Code != http.StatusTeapot || w.Header().Get("Got") != want || w.Body.String() != body {
					t.Errorf("HTTP %d, %q, %d bytes", w.Code, w.Header().Get("Got"), w.Body.Len())
				}
				if n := p.calls.Load(); n != 1 {
					t.Errorf("served %d times", n)
				}
			})
		})
	}
}

// TestPassOutage: an exchange outlives a store that is away for a while.
func TestPassOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Second) // the store is away by then
			echo(w, r)
		})
		time.AfterFunc(time.Second, func() { p.wire.down.Store(true) })
		time.AfterFunc(21*time.Second, func() { p.wire.down.Store(false) })
		w := httptest.NewRecorder()
		if _, err := p.first.Pass(w, request(t, "hello"), []byte("hello"), p.second.ID()); err != nil || w.Body.String() != "hello" {
			t.Errorf("%q, %v", w.Body, err)
		}
	})
}

// TestPassGone: what another process has not served is said to be so; what it may
// have served is not.
func TestPassGone(t *testing.T) {
	t.Parallel()
	t.Run("dead before", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, 0, 0, echo)
			if err := p.second.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if began, err := p.first.Pass(httptest.NewRecorder(), request(t, ""), nil, p.second.ID()); began || !errors.Is(err, replica.ErrGone) {
				t.Errorf("%v, %v", began, err)
			}
		})
	})
	t.Run("never there", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, 0, 0, echo)
			for _, id := range []string{"", "x\x00y", "nobody", p.first.ID()} {
				if began, err := p.first.Pass(httptest.NewRecorder(), request(t, ""), nil, id); began || !errors.Is(err, replica.ErrGone) {
					t.Errorf("%q: %v, %v", id, began, err)
				}
			}
		})
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, .2, .2, func(w http.ResponseWriter, _ *http.Request) {
				if !replica.Refuse(w) {
					t.Error("cannot be refused")
				}
				_, _ = w.Write([]byte("ignored"))
			})
			w := httptest.NewRecorder()
			if began, err := p.first.Pass(w, request(t, "x"), []byte("x"), p.second.ID()); began || !errors.Is(err, replica.ErrGone) || w.Body.Len() > 0 {
				t.Errorf("%v, %v, %q", began, err, w.Body)
			}
		})
	})
	t.Run("died while serving", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, 0, 0, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			time.AfterFunc(time.Second, func() { _ = p.second.Close(context.WithoutCancel(t.Context())) })
			start := time.Now()
			if began, err := p.first.Pass(httptest.NewRecorder(), request(t, "x"), []byte("x"), p.second.ID()); began || !errors.Is(err, replica.ErrCut) {
				t.Errorf("%v, %v", began, err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("known after %v", took)
			}
		})
	})
	t.Run("broken off", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, 0, 0, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("part"))
				if f, ok := w.(http.Flusher); ok {
					f.Flush()
				}
				panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler gives up its client
			})
			w := httptest.NewRecorder()
			if began, err := p.first.Pass(w, request(t, "x"), []byte("x"), p.second.ID()); !began || !errors.Is(err, replica.ErrCut) || w.Body.String() != "part" {
				t.Errorf("%v, %v, %q", began, err, w.Body)
			}
		})
	})
}

// TestPassStopped: what is passed to a process that has just stopped, and is believed to
// live, was not served.
func TestPassStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, echo)
		if lives, err := p.first.Lives(t.Context(), p.second.ID()); err != nil || !lives {
			t.Fatalf("%v, %v", lives, err)
		}
		go func() { _ = p.second.Close(context.WithoutCancel(t.Context())) }()
		time.Sleep(900 * time.Millisecond) // it has just stopped
		start := time.Now()
		if began, err := p.first.Pass(httptest.NewRecorder(), request(t, "x"), []byte("x"), p.second.ID()); began || !errors.Is(err, replica.ErrGone) {
			t.Errorf("%v, %v", began, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("known after %v", took)
		}
		if n := p.calls.Load(); n != 0 {
			t.Errorf("served %d times", n)
		}
	})
}

// TestCloseInAHurry: a process that has less time than others need to learn that it stops
// stops in order all the same.
func TestCloseInAHurry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, echo)
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := p.second.Close(ctx); err != nil || time.Since(start) > time.Second {
			t.Errorf("%v, after %v", err, time.Since(start))
		}
		if lives, err := p.first.Lives(t.Context(), p.second.ID()); lives || err != nil {
			t.Errorf("lives: %v, %v", lives, err)
		}
	})
}

// TestPassStoppedLate: the same, for a message that takes its time.
func TestPassStoppedLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, echo)
		if lives, err := p.first.Lives(t.Context(), p.second.ID()); err != nil || !lives {
			t.Fatalf("%v, %v", lives, err)
		}
		go func() { _ = p.second.Close(context.WithoutCancel(t.Context())) }()
		time.Sleep(990 * time.Millisecond) // it has just stopped
		p.wire.slow.Store(int64(200 * time.Millisecond))
		if began, err := p.first.Pass(httptest.NewRecorder(), request(t, ""), nil, p.second.ID()); began || !errors.Is(err, replica.ErrGone) {
			t.Errorf("%v, %v", began, err)
		}
	})
}

// TestPassLeave: the server learns that the client has left, though messages get lost.
func TestPassLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := make(chan struct{})
		p := newPair(t, .4, 0, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("first"))
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			<-r.Context().Done()
			close(left)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		if began, err := p.first.Pass(httptest.NewRecorder(), request(t, "x").WithContext(ctx), []byte("x"), p.second.ID()); !began || !errors.Is(err, gone) {
			t.Errorf("%v, %v", began, err)
		}
		<-left
	})
}

// slow is a client that reads nothing for a while.
type slow struct {
	*httptest.ResponseRecorder
	wait time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.wait)
	return s.ResponseRecorder.Write(p)
}

// TestPassSlowly: what the serving process holds for a slow client is bounded, and
// its deadline for writing is kept.
func TestPassSlowly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		wait     time.Duration
		deadline time.Duration
		whole    bool
	}{
		"slow":     {time.Second, time.Hour, true},
		"too slow": {time.Hour, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				piece := bytes.Repeat([]byte("x"), 64<<10)
				var written atomic.Int64
				p := newPair(t, 0, 0, func(w http.ResponseWriter, _ *http.Request) {
					for range 64 {
						_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(tt.deadline))
						if _, err := w.Write(piece); err != nil {
							return
						}
						written.Add(1)
					}
				})
				time.AfterFunc(900*time.Millisecond, func() {
					if n := written.Load(); n > 12 {
						t.Errorf("%d pieces are on their way", n)
					}
				})
				w := &slow{httptest.NewRecorder(), tt.wait}
				_, err := p.first.Pass(w, request(t, "x"), []byte("x"), p.second.ID())
				if whole := err == nil && w.Body.Len() == 64*len(piece); whole != tt.whole {
					t.Errorf("%d bytes, %v", w.Body.Len(), err)
				}
			})
		})
	}
}

// TestLives: a process shows as alive until it stops, or a few seconds after it died.
func TestLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, echo)
		alive := func(want bool) {
			t.Helper()
			if got, err := p.first.Lives(t.Context(), p.second.ID()); err != nil || got != want {
				t.Errorf("lives: %v, %v", got, err)
			}
		}
		alive(true)
		time.Sleep(time.Hour + time.Second) // a second after a sign of life
		alive(true)
		p.mute.Store(true)
		time.Sleep(6 * time.Second)
		alive(true)
		time.Sleep(4 * time.Second)
		alive(false)
		p.mute.Store(false)
		time.Sleep(3 * time.Second)
		alive(true)
		if err := p.second.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		alive(false)
	})
}

// TestLivesAfterAnOutage: nobody is called dead for not having shown while the store
// was away, nor before there was time to.
func TestLivesAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, echo)
		if lives, err := p.first.Lives(t.Context(), "nobody"); lives || err == nil {
			t.Errorf("known at once: %v, %v", lives, err)
		}
		time.Sleep(10 * time.Second)
		if lives, err := p.first.Lives(t.Context(), "nobody"); lives || err != nil {
			t.Errorf("lives: %v, %v", lives, err)
		}
		p.wire.down.Store(true)
		time.Sleep(21 * time.Second)
		p.mute.Store(true) // the second is the last to find the store again
		p.wire.down.Store(false)
		time.Sleep(5 * time.Second)
		if lives, err := p.first.Lives(t.Context(), p.second.ID()); lives || err == nil {
			t.Errorf("called dead after an outage: %v, %v", lives, err)
		}
		p.mute.Store(false)
		time.Sleep(5 * time.Second)
		if lives, err := p.first.Lives(t.Context(), p.second.ID()); !lives || err != nil {
			t.Errorf("lives: %v, %v", lives, err)
		}
		p.mute.Store(true)
		time.Sleep(15 * time.Second)
		if lives, err := p.first.Lives(t.Context(), p.second.ID()); lives || err != nil {
			t.Errorf("lives: %v, %v", lives, err)
		}
		p.mute.Store(false)
	})
}

// TestAlone: where nothing is shared nobody else lives, whatever is on record.
func TestAlone(t *testing.T) {
	t.Parallel()
	r, err := replica.New(t.Context(), replica.Options{Env: env.System()})
	if err != nil {
		t.Fatal(err)
	}
	if lives, err := r.Lives(t.Context(), "another"); lives || err != nil {
		t.Errorf("another lives: %v, %v", lives, err)
	}
	if lives, err := r.Lives(t.Context(), r.ID()); !lives || err != nil {
		t.Errorf("lives: %v, %v", lives, err)
	}
	if _, err := r.Pass(httptest.NewRecorder(), request(t, ""), nil, "another"); !errors.Is(err, replica.ErrGone) {
		t.Errorf("passed: %v", err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAsk: processes answer each other's questions of a kind they know.
func TestAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, .3, .3, echo)
		p.second.Answer("double", func(_ context.Context, question []byte) []byte { return append(question, question...) })
		if got, err := p.first.Ask(t.Context(), p.second.ID(), "double", []byte("ha")); err != nil || string(got) != "haha" {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := p.first.Ask(t.Context(), p.second.ID(), "treble", []byte("ha")); err == nil {
			t.Errorf("an unknown kind has the answer %q", got)
		}
		if n := p.calls.Load(); n != 0 {
			t.Error("a question between processes has reached a face")
		}
	})
}

// TestNothingReadable: no message tells what a request says.
func TestNothingReadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, func(http.ResponseWriter, *http.Request) {})
		sub, err := p.wire.Subscribe(t.Context(), "process/"+p.second.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.first.Pass(httptest.NewRecorder(), request(t, ""), nil, p.second.ID()); err != nil {
			t.Fatal(err)
		}
		sub.Close()
		n := 0
		for e := range sub.Events() {
			n++
			if bytes.Contains(e.Payload, []byte("secret-of-the-caller")) {
				t.Error("a credential is readable")
			}
		}
		if n == 0 {
			t.Error("no message seen")
		}
	})
}
