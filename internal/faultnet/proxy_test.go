package faultnet_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/faultnet"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// exchange sends one request for a stream of two events through a proxy with a fault.
func exchange(t *testing.T, fault faultnet.Fault) (body string, err error, served int32, took time.Duration) { //nolint:staticcheck // the error is what is tested
	l := memnet.Listen()
	var count atomic.Int32
	server := &http.Server{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return
		}
		count.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range []string{"data: one\n\n", ": blank\n\n", "data: two\n\n"} {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
	})}
	go func() { _ = server.Serve(l) }()
	p := faultnet.New(l.Dial, fault)
	client := &http.Client{Transport: &http.Transport{DialContext: p.Dial}}
	defer func() {
		client.CloseIdleConnections()
		p.Close()
		_ = server.Close()
	}()
	started := time.Now()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://server.test/", strings.NewReader(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err == nil {
		var read []byte
		read, err = io.ReadAll(resp.Body)
		body = string(read)
		_ = resp.Body.Close()
	}
	took = time.Since(started)
	synctest.Wait()
	return body, err, count.Load(), took
}

// TestFaultsDoWhatTheySay: each kind breaks the one message, and no other.
func TestFaultsDoWhatTheySay(t *testing.T) {
	t.Parallel()
	const whole = "data: one\n\n: blank\n\ndata: two\n\n"
	for _, c := range []struct {
		fault  faultnet.Fault
		body   string
		broken bool
		served int32
		took   time.Duration
	}{
		{faultnet.Fault{}, whole, false, 1, 0},
		{faultnet.Fault{Kind: faultnet.CutBefore, Way: faultnet.ToServer, Number: 1}, "", true, 0, 0},
		{faultnet.Fault{Kind: faultnet.CutInside, Way: faultnet.ToServer, Number: 1}, "", true, 0, 0},
		{faultnet.Fault{Kind: faultnet.TruncateFramed, Way: faultnet.ToServer, Number: 1}, whole, false, 1, 0},
		{faultnet.Fault{Kind: faultnet.Repeat, Way: faultnet.ToServer, Number: 1}, whole, false, 2, 0},
		{faultnet.Fault{Kind: faultnet.DelayShort, Way: faultnet.ToServer, Number: 1}, whole, false, 1, faultnet.Short},
		{faultnet.Fault{Kind: faultnet.CutBefore, Way: faultnet.ToClient, Number: 3}, "data: one\n\n: blank\n\n", true, 1, 0},
		{faultnet.Fault{Kind: faultnet.CutAfter, Way: faultnet.ToClient, Number: 3}, whole, true, 1, 0},
		{faultnet.Fault{Kind: faultnet.Repeat, Way: faultnet.ToClient, Number: 2}, "data: one\n\n" + whole, false, 1, 0},
		{faultnet.Fault{Kind: faultnet.Reorder, Way: faultnet.ToClient, Number: 2}, ": blank\n\ndata: two\n\ndata: one\n\n", false, 1, 0},
		{faultnet.Fault{Kind: faultnet.DelayLong, Way: faultnet.ToClient, Number: 2}, whole, false, 1, faultnet.Long},
		{faultnet.Fault{Kind: faultnet.TruncateFramed, Way: faultnet.ToClient, Number: 2}, "data:\n\n: blank\n\ndata: two\n\n", false, 1, 0},
		{faultnet.Fault{Kind: faultnet.TruncateEnd, Way: faultnet.ToClient, Number: 3}, "data: one\n\n: blank\n\ndata:", false, 1, 0},
	} {
		t.Run(c.fault.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				body, err, served, took := exchange(t, c.fault)
				if body != c.body || (err != nil) != c.broken || served != c.served || took != c.took {
					t.Errorf("body %q, error %v, served %d times, took %v; want %q, broken %v, %d, %v",
						body, err, served, took, c.body, c.broken, c.served, c.took)
				}
			})
		})
	}
}
