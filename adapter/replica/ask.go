package replica

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

var _ port.Process = (*Replica)(nil)

const (
	// methodAsk is the method of requests between the processes themselves. No
	// client can send one: it reaches no face.
	methodAsk = "ASK"
	// askTime is how long a question between processes may take. It is longer than
	// it takes to know that one of them has died.
	askTime = 2 * presenceTTL
)

// Ask implements [port.Process].
func (r *Replica) Ask(ctx context.Context, process, kind string, question []byte) ([]byte, error) {
	ctx, cancel := env.WithTimeout(ctx, r.Env, askTime, context.DeadlineExceeded)
	defer cancel()
	req := (&http.Request{Method: methodAsk, URL: &url.URL{Path: "/" + kind}, Header: make(http.Header)}).WithContext(ctx)
	w := &recorder{header: make(http.Header)}
	if _, err := r.Pass(w, req, question, process); err != nil {
		return nil, err
	}
	if w.status != http.StatusOK {
		return nil, fmt.Errorf("another process has no answer: %s", http.StatusText(w.status))
	}
	return w.body.Bytes(), nil
}

// Answer implements [port.Process].
func (r *Replica) Answer(kind string, answer func(ctx context.Context, question []byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers["/"+kind] = answer
}

// dispatch serves what another process has sent: a question of its own, or what it
// passes on for a client.
func (r *Replica) dispatch(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != methodAsk {
			handler.ServeHTTP(w, req)
			return
		}
		r.mu.Lock()
		answer := r.answers[req.URL.Path]
		r.mu.Unlock()
		question, err := io.ReadAll(req.Body)
		if answer == nil || err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(answer(req.Context(), question))
	})
}

// recorder takes an answer into memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write implements [http.ResponseWriter].
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

// Flush implements [http.Flusher].
func (w *recorder) Flush() {}

// SetWriteDeadline implements what [http.ResponseController] looks for.
func (w *recorder) SetWriteDeadline(time.Time) error { return nil }
