package probe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// source counts how often a backend is asked about itself.
type source struct {
	hints string
	wait  time.Duration
	err   error

	mu    sync.Mutex
	asked int
}

func (s *source) fetch(ctx context.Context) (wire.Value, error) {
	s.mu.Lock()
	s.asked++
	n := s.asked
	s.mu.Unlock()
	if err := env.Sleep(ctx, env.System(), s.wait); err != nil {
		return "", err
	}
	if s.err != nil {
		return "", s.err
	}
	return wire.Value(fmt.Sprintf(`{"supportedVersions":["2026-07-28"],"capabilities":{},"instructions":"%d"%s}`, n, s.hints)), nil
}

func discovery(t *testing.T) *probe.Discovery {
	t.Helper()
	d, err := probe.NewDiscovery(env.System())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wantAnswer(t *testing.T, d *probe.Discovery, authorization string, s *source, want int) {
	t.Helper()
	got, err := d.Get(t.Context(), authorization, s.fetch)
	if err != nil {
		t.Error(err)
		return
	}
	if n, _ := got.Instructions.Text(); n != fmt.Sprint(want) {
		t.Errorf("got answer %s, want %d", n, want)
	}
}

func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

const (
	private = `,"ttlMs":60000,"cacheScope":"private"`
	public  = `,"ttlMs":60000,"cacheScope":"public"`
)

func TestDiscoveryHonoursHints(t *testing.T) {
	t.Run("A-L1 an answer is kept as long as it says", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{hints: private}
			wantAnswer(t, d, "a", s, 1)
			time.Sleep(time.Minute - time.Nanosecond)
			wantAnswer(t, d, "a", s, 1)
			time.Sleep(time.Nanosecond)
			wantAnswer(t, d, "a", s, 2)
		})
	})
	for name, hints := range map[string]string{
		"says nothing":   "",
		"says 0":         `,"ttlMs":0,"cacheScope":"public"`,
		"says a word":    `,"ttlMs":"long"`,
		"says less":      `,"ttlMs":-1`,
		"says half of 1": `,"ttlMs":0.5`,
	} {
		t.Run("A-L1 an answer is not kept when it "+name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				d, s := discovery(t), &source{hints: hints}
				wantAnswer(t, d, "a", s, 1)
				wantAnswer(t, d, "a", s, 2)
			})
		})
	}
	t.Run("for ever is a day", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{hints: `,"ttlMs":9223372036854775807`}
			wantAnswer(t, d, "a", s, 1)
			time.Sleep(24*time.Hour - time.Nanosecond)
			wantAnswer(t, d, "a", s, 1)
			time.Sleep(time.Nanosecond)
			wantAnswer(t, d, "a", s, 2)
		})
	})
	t.Run("A-L1 a private answer is for one credential", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{hints: private}
			wantAnswer(t, d, "a", s, 1)
			wantAnswer(t, d, "b", s, 2)
			wantAnswer(t, d, "", s, 3)
			wantAnswer(t, d, "a", s, 1)
			wantAnswer(t, d, "b", s, 2)
			wantAnswer(t, d, "", s, 3)
		})
	})
	t.Run("A-L1 a public answer is for all, after one's own", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, own, all := discovery(t), &source{hints: private}, &source{hints: public}
			wantAnswer(t, d, "a", own, 1)
			wantAnswer(t, d, "b", own, 2)
			wantAnswer(t, d, "c", all, 1)
			wantAnswer(t, d, "d", all, 1)
			wantAnswer(t, d, "b", own, 2)
			time.Sleep(time.Minute)
			wantAnswer(t, d, "d", all, 2)
		})
	})
	t.Run("many credentials do not take memory for ever", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{hints: private}
			wantAnswer(t, d, "first", s, 1)
			for i := range 1024 {
				wantAnswer(t, d, fmt.Sprint(i), s, i+2)
			}
			wantAnswer(t, d, "first", s, 1026)
		})
	})
}

func TestDiscoveryClear(t *testing.T) {
	t.Run("A-L1 nothing survives", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, own, all := discovery(t), &source{hints: private}, &source{hints: public}
			wantAnswer(t, d, "a", own, 1)
			wantAnswer(t, d, "b", all, 1)
			d.Clear()
			wantAnswer(t, d, "a", own, 2)
			wantAnswer(t, d, "b", all, 2)
		})
	})
	t.Run("A-L1 not even what was on its way", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{hints: private, wait: time.Second}
			var wg sync.WaitGroup
			wg.Go(func() { wantAnswer(t, d, "a", s, 1) })
			synctest.Wait()
			d.Clear()
			wg.Go(func() { wantAnswer(t, d, "a", s, 2) })
			wg.Wait()
			wantAnswer(t, d, "a", s, 2)
		})
	})
}

func TestDiscoveryShares(t *testing.T) {
	t.Run("concurrent callers with one credential ask once", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{wait: time.Second}
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { wantAnswer(t, d, "a", s, 1) })
			}
			wg.Wait()
			if s.asked != 1 {
				t.Errorf("asked %d times", s.asked)
			}
		})
	})
	t.Run("others ask for themselves", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, a, b := discovery(t), &source{wait: time.Second}, &source{wait: time.Second}
			var wg sync.WaitGroup
			wg.Go(func() { wantAnswer(t, d, "a", a, 1) })
			wg.Go(func() { wantAnswer(t, d, "b", b, 1) })
			wg.Wait()
			if a.asked != 1 || b.asked != 1 {
				t.Errorf("asked %d and %d times", a.asked, b.asked)
			}
		})
	})
	t.Run("the last to leave ends it", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, s := discovery(t), &source{wait: time.Hour}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			if _, err := d.Get(ctx, "a", s.fetch); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the deadline", err)
			}
			synctest.Wait() // the bubble would not end before the hour otherwise
			if got := time.Since(start); got != time.Second {
				t.Errorf("it took %v", got)
			}
		})
	})
}

func TestDiscoveryFails(t *testing.T) {
	t.Run("A-L4 a failure is passed on and not kept", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			d, broken := discovery(t), errors.New("broken")
			if _, err := d.Get(t.Context(), "a", (&source{err: broken}).fetch); !errors.Is(err, broken) {
				t.Errorf("error %v", err)
			}
			wantAnswer(t, d, "a", &source{}, 1)
		})
	})
	t.Run("a malformed result is the backend's fault", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			_, err := discovery(t).Get(t.Context(), "a", func(context.Context) (wire.Value, error) {
				return `{"supportedVersions":7,"capabilities":{}}`, nil
			})
			want := "invalid response of the backend to server/discover: result.supportedVersions"
			if got := port.RPCError(err); got.Code != -32603 || got.Message != want {
				t.Errorf("a client is told %v, want %q", got, want)
			}
		})
	})
}
