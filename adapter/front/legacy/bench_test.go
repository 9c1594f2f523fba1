package legacy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// sink is a connection to a client that reads everything at once.
type sink struct {
	header http.Header
	status int
	bytes  int64
}

// Header implements [http.ResponseWriter].
func (s *sink) Header() http.Header { return s.header }

// WriteHeader implements [http.ResponseWriter].
func (s *sink) WriteHeader(status int) { s.status = status }

// Write implements [http.ResponseWriter].
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return len(p), nil
}

// Flush implements [http.Flusher].
func (s *sink) Flush() {}

// benchmark posts a tools/call again and again to the handler itself.
func benchmark(b *testing.B, script func(context.Context, *port.Exchange) port.Outcome) {
	b.Helper()
	x := &crossing{scripts: make(map[string]func(context.Context, *port.Exchange) port.Outcome)}
	x.on("tools/call", script)
	face := legacy.New(options(b, forgetful{x}))
	handler := engine(face)
	session := record(handler, http.MethodPost, "", initialize).Header().Get("Mcp-Session-Id")
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sieve","arguments":{"pad":"` + strings.Repeat("x", 400) + `"}}}`
	var sent int64
	b.ReportAllocs()
	for b.Loop() {
		req := httptest.NewRequest(http.MethodPost, "/legacy/"+backend, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", session)
		w := &sink{header: make(http.Header)}
		handler.ServeHTTP(w, req)
		if w.status != http.StatusOK {
			b.Fatalf("status %d", w.status)
		}
		sent = w.bytes
	}
	b.SetBytes(sent)
	if err := face.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// forgetful remembers no requests.
type forgetful struct{ *crossing }

// Request implements [port.Crossing].
func (f forgetful) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	if script := f.scripts[x.Message.Method]; script != nil {
		return script(ctx, x)
	}
	return f.crossing.Request(ctx, x)
}

// BenchmarkCall is a plain tools/call with an answer of 1 KiB.
func BenchmarkCall(b *testing.B) {
	answer := port.Outcome{Result: large(1 << 10)}
	benchmark(b, func(context.Context, *port.Exchange) port.Outcome { return answer })
}

// BenchmarkLargeCall is a plain tools/call with an answer of 1 MiB.
func BenchmarkLargeCall(b *testing.B) {
	answer := port.Outcome{Result: large(1 << 20)}
	benchmark(b, func(context.Context, *port.Exchange) port.Outcome { return answer })
}

// BenchmarkEvent is a tools/call whose answer follows one event on a stream.
func BenchmarkEvent(b *testing.B) {
	answer, message := port.Outcome{Result: large(1 << 10)}, note("1")
	benchmark(b, func(_ context.Context, x *port.Exchange) port.Outcome {
		answer := answer
		answer.Err = x.Stream.Send(message)
		return answer
	})
}
