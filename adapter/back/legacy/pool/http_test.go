package pool_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/back/legacy/pool"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// forgetful is a real HTTP server that forgets all sessions on demand.
type forgetful struct {
	mu    sync.Mutex
	last  int
	known map[string]bool
	log   []string
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	msg, _ := jsonrpc.Read(body)
	id := r.Header.Get("Mcp-Session-Id")
	f.log = append(f.log, strings.TrimSpace(r.Method+" "+msg.Method+" "+id))
	result := `{"content":[]}`
	switch {
	case msg.Method == "initialize":
		f.last++
		id = fmt.Sprint("s", f.last)
		f.known[id] = true
		w.Header().Set("Mcp-Session-Id", id)
		result = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`
	case !f.known[id]:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case msg.Kind != jsonrpc.KindRequest:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(jsonrpc.AppendResult(nil, msg.ID, []byte(result)))
}

func TestOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &forgetful{known: map[string]bool{}}
		l := memnet.Listen()
		server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		served := make(chan struct{})
		go func() { _ = server.Serve(l); close(served) }()
		client := transport.NewHTTPClient(nil)
		l.Attach(client)
		back := legacy.New(legacy.Options{URL: &url.URL{Scheme: "http", Host: "backend.test"}, HTTP: client, Env: env.System()})
		p := pool.New(pool.Options{Back: back, Env: env.System()})
		lease, err := p.Get(t.Context(), alice, port.Hello{ClientInfo: `{"name":"c","version":"1"}`}, pool.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		clear(f.known)
		f.mu.Unlock()
		if _, err := lease.Do(t.Context(), port.SessionCall{Method: "tools/call", Params: `{"name":"dig"}`}); err != nil {
			t.Error(err)
		}
		lease.Release()
		time.Sleep(6 * time.Minute)
		p.Close(context.Background())
		want := []string{
			"POST initialize", "POST notifications/initialized s1", "GET  s1",
			"POST tools/call s1", "POST initialize", "POST notifications/initialized s2", "GET  s2", "POST tools/call s2",
			"DELETE  s2",
		}
		if !slices.Equal(f.log, want) {
			t.Errorf("B-U4 the server got %q, want %q", f.log, want)
		}
		back.CloseIdle()
		_ = server.Close()
		<-served
	})
}
