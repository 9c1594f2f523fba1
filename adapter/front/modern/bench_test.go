package modern_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/modern"
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

// scripted answers every request, and remembers none.
type scripted struct {
	*crossing
	script script
}

// Request implements [port.Crossing].
func (s scripted) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	return s.script(ctx, x)
}

// benchmark posts a tools/call again and again to the handler itself.
func benchmark(b *testing.B, s script) {
	b.Helper()
	o := options(b, newCrossing())
	o.Crossing = scripted{newCrossing(), s}
	face := modern.New(o)
	handler := engine(face)
	p := ask("1", "tools/call", `"name":"sieve","arguments":{"pad":"`+strings.Repeat("x", 400)+`"}`, "Mcp-Name: sieve")
	var sent int64
	b.ReportAllocs()
	for b.Loop() {
		req := httptest.NewRequest(http.MethodPost, p.path, strings.NewReader(p.body))
		req.Header = p.header
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

// BenchmarkCall is a plain tools/call with an answer of 1 KiB.
func BenchmarkCall(b *testing.B) {
	answer := port.Outcome{Result: large(1 << 10)}
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
