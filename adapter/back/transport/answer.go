package transport

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

const (
	// errorLimit bounds the body of an HTTP failure; a longer one is not read.
	errorLimit = 1 << 20
	// trustedLength is how much of a length that the server announces is
	// allocated before the bytes are there.
	trustedLength = 1 << 20
	// pooledBuffer is the largest buffer that is kept for the next answer.
	pooledBuffer = 4 << 20
)

// Streams reports whether the answer is an event stream.
func (x *Exchange) Streams() bool {
	media := x.resp.Header.Get("Content-Type")
	if parsed, _, err := mime.ParseMediaType(media); err == nil {
		media = parsed
	} else {
		media, _, _ = strings.Cut(media, ";")
	}
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// Read reads the answer's body and notes that the server is alive.
func (x *Exchange) Read(p []byte) (int, error) {
	n, err := x.resp.Body.Read(p)
	if n > 0 {
		x.watch.Touch()
	}
	return n, err
}

// Events returns the reader of an answer that is an event stream.
func (x *Exchange) Events() *EventReader {
	r := NewEventReader(x, x.server.Limit)
	r.held = &x.held
	return r
}

// Document reads the whole body and hands it to use, which must not keep it.
func (x *Exchange) Document(use func(text []byte) *Failure) *Failure {
	return x.document(x.server.Limit, use)
}

func (x *Exchange) document(limit int64, use func(text []byte) *Failure) *Failure {
	if x.resp.ContentLength > limit {
		return x.Fail(Final, x.resp.StatusCode, ErrTooLarge)
	}
	buf, _ := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= pooledBuffer {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	if err := x.held.grow(x.resp.ContentLength); err != nil {
		return x.Fail(Final, x.resp.StatusCode, err)
	}
	if n := min(x.resp.ContentLength, trustedLength); n > 0 {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(&counted{x: x}, limit+1)); errors.Is(err, port.ErrNoRoom) {
		return x.Fail(Final, x.resp.StatusCode, port.ErrNoRoom)
	} else if err != nil {
		return x.Lost(err)
	}
	if int64(buf.Len()) > limit {
		return x.Fail(Final, x.resp.StatusCode, ErrTooLarge)
	}
	return use(buf.Bytes())
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// refused reads the answer of an HTTP failure. A JSON-RPC error in it is the
// answer, whatever its id: servers that could not read the request make one up.
func (x *Exchange) refused() *Failure {
	status := x.resp.StatusCode
	failed := x.Fail(Final, status, ErrRefused)
	if !x.Streams() {
		broke := x.document(errorLimit, func(text []byte) *Failure {
			msg, err := jsonrpc.Read(text)
			switch {
			case err != nil || msg.Kind != jsonrpc.KindError:
				return nil
			case keepsStatus(status):
				failed = x.Fail(Final, status, msg.Error)
			default:
				failed.Err = msg.Error
			}
			failed.Answer = msg
			return nil
		})
		if broke != nil && x.watch.Cause() != nil {
			return broke
		}
	}
	failed.Status = status
	var upstream *port.UpstreamError
	if errors.As(failed.Err, &upstream) {
		upstream.Scope = scope(status, x.resp.Header)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		if after, ok := retryAfter(x.resp.Header.Get("Retry-After"), x.server.Env.Now()); ok {
			failed.Kind, failed.After = Throttled, after
		}
	}
	return failed
}

// keepsStatus reports whether a status says more than the JSON-RPC error with
// it: only the end user can cure it (A-L17), or the server is not well.
func keepsStatus(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status >= http.StatusInternalServerError
}
