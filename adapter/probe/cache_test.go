package probe_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/internal/env"
)

func (f *fake) cache(era probe.Era) *probe.Cache {
	f.t.Helper()
	c, err := probe.NewCache(probe.CacheOptions{Era: era, URL: endpoint, HTTP: f.client, Env: env.System()})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fake) wantEra(c *probe.Cache, want probe.Era, requests int) {
	f.t.Helper()
	got, err := c.Verdict(f.t.Context(), "")
	if err != nil || got.Era != want {
		f.t.Errorf("verdict %+v, error %v; want %s", got, err, want)
	}
	if got := len(f.requests()); got != requests {
		f.t.Errorf("the server was asked %d times, want %d", got, requests)
	}
}

var speaksLegacy = rpcError(400, -32000, "")

func TestCacheHolds(t *testing.T) {
	t.Run("G-13 a modern verdict holds", func(t *testing.T) {
		bubble(t, script{discovering: {speaksModern, speaksLegacy}}, func(_ *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			f.wantEra(c, probe.Modern, 1)
			time.Sleep(1000 * time.Hour)
			f.wantEra(c, probe.Modern, 1)
		})
	})
	t.Run("G-13 a legacy verdict holds for a day", func(t *testing.T) {
		bubble(t, script{discovering: {speaksLegacy, speaksModern}}, func(_ *testing.T, f *fake) {
			c := f.cache("")
			f.wantEra(c, probe.Legacy, 1)
			time.Sleep(24*time.Hour - time.Nanosecond)
			f.wantEra(c, probe.Legacy, 1)
			time.Sleep(time.Nanosecond)
			f.wantEra(c, probe.Modern, 2)
		})
	})
	t.Run("an unknown server is looked at again soon", func(t *testing.T) {
		bubble(t, script{discovering: {discover(`["2031-01-01"]`, "{}", ""), speaksModern}}, func(_ *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			f.wantEra(c, probe.Unknown, 1)
			time.Sleep(time.Minute - time.Nanosecond)
			f.wantEra(c, probe.Unknown, 1)
			time.Sleep(time.Nanosecond)
			f.wantEra(c, probe.Modern, 2)
		})
	})
	t.Run("a failure is not kept", func(t *testing.T) {
		bubble(t, script{discovering: {page(500), speaksModern}}, func(t *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			if _, err := c.Verdict(t.Context(), ""); err == nil {
				t.Error("a verdict from HTTP 500")
			}
			f.wantEra(c, probe.Modern, 2)
		})
	})
	t.Run("a settled era is not probed", func(t *testing.T) {
		bubble(t, script{}, func(_ *testing.T, f *fake) {
			for _, era := range []probe.Era{probe.Modern, probe.Legacy} {
				c := f.cache(era)
				c.Contradict()
				f.wantEra(c, era, 0)
			}
		})
	})
}

func TestContradiction(t *testing.T) {
	t.Run("G-13 a contradicted verdict is probed again", func(t *testing.T) {
		bubble(t, script{discovering: {speaksModern, speaksLegacy}}, func(_ *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			c.Contradict() // of nothing
			f.wantEra(c, probe.Modern, 1)
			c.Contradict()
			f.wantEra(c, probe.Legacy, 2)
		})
	})
	t.Run("G-13 once: what is confirmed stands for a while", func(t *testing.T) {
		bubble(t, script{discovering: {speaksModern}}, func(_ *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			f.wantEra(c, probe.Modern, 1)
			c.Contradict()
			f.wantEra(c, probe.Modern, 2)
			time.Sleep(time.Minute - time.Nanosecond)
			c.Contradict()
			f.wantEra(c, probe.Modern, 2)
			time.Sleep(time.Nanosecond)
			c.Contradict()
			f.wantEra(c, probe.Modern, 3)
		})
	})
}

func TestCacheShares(t *testing.T) {
	slowly := speaksModern
	slowly.wait = time.Second
	t.Run("G-13 concurrent callers share one probe", func(t *testing.T) {
		bubble(t, script{discovering: {slowly}}, func(_ *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { f.wantEra(c, probe.Modern, 1) })
			}
			wg.Wait()
		})
	})
	t.Run("a probe outlives the caller that began it", func(t *testing.T) {
		bubble(t, script{discovering: {slowly}}, func(t *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := c.Verdict(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v, want the caller's deadline", err)
				}
			})
			synctest.Wait()
			wg.Go(func() { f.wantEra(c, probe.Modern, 1) })
			wg.Wait()
		})
	})
	t.Run("a probe that nobody waits for ends", func(t *testing.T) {
		bubble(t, script{discovering: {slowly, speaksLegacy}}, func(t *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			if _, err := c.Verdict(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the caller's deadline", err)
			}
			f.wantEra(c, probe.Legacy, 2)
		})
	})
	t.Run("a refused credential is nobody else's failure", func(t *testing.T) {
		refused := page(401)
		refused.wait = time.Second
		bubble(t, script{discovering: {refused, speaksModern}}, func(t *testing.T, f *fake) {
			c := f.cache(probe.Auto)
			var wg sync.WaitGroup
			wg.Go(func() {
				_, err := c.Verdict(t.Context(), "Bearer bad")
				var upstream *port.UpstreamError
				if !errors.As(err, &upstream) || upstream.Status != http.StatusUnauthorized {
					t.Errorf("error %v, want 401", err)
				}
			})
			synctest.Wait()
			wg.Go(func() {
				if got, err := c.Verdict(t.Context(), "Bearer good"); err != nil || got.Era != probe.Modern {
					t.Errorf("verdict %+v, error %v", got, err)
				}
			})
			wg.Wait()
			if a, b := f.header(0).Get("Authorization"), f.header(1).Get("Authorization"); a != "Bearer bad" || b != "Bearer good" {
				t.Errorf("asked with %q and %q", a, b)
			}
		})
	})
}

func TestRequire(t *testing.T) {
	t.Run("A-L5", func(t *testing.T) {
		bubble(t, script{discovering: {speaksModern}}, func(t *testing.T, f *fake) {
			if err := f.cache(probe.Auto).Require(t.Context(), probe.Modern, ""); err != nil {
				t.Error(err)
			}
			err := f.cache(probe.Legacy).Require(t.Context(), probe.Modern, "")
			var era *probe.EraError
			if !errors.As(err, &era) || era.Verdict.Era != probe.Legacy {
				t.Errorf("error %v, want an EraError", err)
			}
			if got := port.RPCError(err); got.Code != -32603 || got.Message != "backend does not speak MCP 2026-07-28" {
				t.Errorf("a client is told %v", got)
			}
		})
	})
	t.Run("A-L4 no verdict is no legacy verdict", func(t *testing.T) {
		bubble(t, script{discovering: {page(503)}}, func(t *testing.T, f *fake) {
			err := f.cache(probe.Auto).Require(t.Context(), probe.Modern, "")
			var era *probe.EraError
			if errors.As(err, &era) || port.RPCError(err).Message != "backend answered HTTP 503" {
				t.Errorf("error %v", err)
			}
		})
	})
}

func TestNewCacheChecks(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]probe.CacheOptions{
		"an era nobody speaks": {Era: "future", URL: &url.URL{}, Env: env.System()},
		"a verdict as setting": {Era: probe.Unknown, URL: &url.URL{}, Env: env.System()},
		"no URL":               {Env: env.System()},
		"no environment":       {URL: &url.URL{}},
	} {
		if _, err := probe.NewCache(o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
