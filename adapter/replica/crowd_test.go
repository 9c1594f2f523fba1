package replica_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLivesInACrowd: a process with very many exchanges, over a store that takes its
// time, is not called dead, and has others wait for nothing.
func TestLivesInACrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Brief") == "" {
				<-r.Context().Done()
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		var crowd sync.WaitGroup
		for range 800 {
			req := request(t, "").WithContext(ctx)
			crowd.Go(func() {
				_, _ = p.first.Pass(httptest.NewRecorder(), req, nil, p.second.ID())
			})
			time.Sleep(time.Millisecond)
		}
		p.wire.slow.Store(int64(10 * time.Millisecond))
		p.slow.Store(int64(20 * time.Millisecond))
		for range 100 {
			time.Sleep(time.Second)
			if lives, err := p.second.Lives(t.Context(), p.first.ID()); err != nil || !lives {
				t.Fatalf("lives: %v, %v", lives, err)
			}
			brief := request(t, "")
			brief.Header.Set("Brief", "1")
			start := time.Now()
			if _, err := p.first.Pass(httptest.NewRecorder(), brief, nil, p.second.ID()); err != nil || time.Since(start) > time.Second {
				t.Fatalf("%v, after %v", err, time.Since(start))
			}
		}
		p.wire.slow.Store(0)
		p.slow.Store(0)
		leave()
		crowd.Wait()
	})
}

// TestPassBodyUnread: no more of a body is held than may be on its way, until whoever
// serves the request reads it.
func TestPassBodyUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
		var came atomic.Int64
		p := newPair(t, 0, 0, func(_ http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Second)
			if n := came.Load(); n > 1<<20 {
				t.Errorf("%d bytes have come", n)
			}
			if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
		p.wire.alter = func(payload []byte) []byte {
			came.Add(int64(len(payload)))
			return payload
		}
		time.Sleep(time.Second) // it listens by now, so that nothing is sent twice
		if _, err := p.first.Pass(httptest.NewRecorder(), request(t, ""), body, p.second.ID()); err != nil {
			t.Error(err)
		}
		if n := came.Load(); n < int64(len(body)) {
			t.Errorf("only %d bytes have come", n)
		}
	})
}
