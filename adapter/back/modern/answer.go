package modern

import (
	"bytes"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	// errorLimit bounds the body of an HTTP failure; a longer one is not read.
	errorLimit = 1 << 20
	// drainTime and drainBytes bound what is read behind the response.
	drainTime  = time.Second
	drainBytes = 64 << 10
	// trustedLength is how much of a length that the server announces is
	// allocated before the bytes are there.
	trustedLength = 1 << 20
	// pooledBuffer is the largest buffer that is kept for the next answer.
	pooledBuffer = 4 << 20
)

// streams reports whether the answer is an event stream.
func (x *exchange) streams() bool {
	media := x.resp.Header.Get("Content-Type")
	if parsed, _, err := mime.ParseMediaType(media); err == nil {
		media = parsed
	} else {
		media, _, _ = strings.Cut(media, ";")
	}
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// Read reads the answer's body and notes that the server is alive.
func (x *exchange) Read(p []byte) (int, error) {
	n, err := x.resp.Body.Read(p)
	if n > 0 {
		x.watch.touch()
	}
	return n, err
}

// outcome turns a response into the result of the request or its error.
func outcome(msg jsonrpc.Message, failed *failure) (wire.Value, *failure) {
	switch {
	case failed != nil:
		return "", failed
	case msg.Kind == jsonrpc.KindError:
		return "", &failure{err: msg.Error, sent: true}
	default:
		return msg.Result, nil
	}
}

// document reads an answer that is one JSON document.
func (x *exchange) document() (jsonrpc.Message, *failure) {
	var msg jsonrpc.Message
	failed := x.read(x.c.limits.Result, func(text []byte) *failure {
		var err error
		if msg, err = jsonrpc.Read(text); err != nil {
			return x.fail(final, x.resp.StatusCode, invalid(err))
		}
		return x.own(&msg)
	})
	return msg, failed
}

// own checks that msg is the response to this request. Its id is compared as
// bytes: an id of the wrong type is another id. An error that the server could
// not attribute to a request can only be about this one.
func (x *exchange) own(msg *jsonrpc.Message) *failure {
	switch {
	case msg.Kind == jsonrpc.KindResult && msg.ID == x.id,
		msg.Kind == jsonrpc.KindError && (msg.ID == x.id || msg.ID == ""):
		return nil
	default:
		return x.fail(final, x.resp.StatusCode, ErrInvalid)
	}
}

// read reads the whole body and hands it to use, which must not keep it.
func (x *exchange) read(limit int64, use func(text []byte) *failure) *failure {
	if x.resp.ContentLength > limit {
		return x.fail(final, x.resp.StatusCode, ErrTooLarge)
	}
	buf, _ := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= pooledBuffer {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	if n := min(x.resp.ContentLength, trustedLength); n > 0 {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(x, limit+1)); err != nil {
		return x.lost(err)
	}
	if int64(buf.Len()) > limit {
		return x.fail(final, x.resp.StatusCode, ErrTooLarge)
	}
	return use(buf.Bytes())
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// refused reads the answer of an HTTP failure. A JSON-RPC error in it is the
// answer, whatever its id: servers that could not read the request make one up.
func (x *exchange) refused() *failure {
	status := x.resp.StatusCode
	failed := x.fail(final, status, ErrRefused)
	if !x.streams() {
		broke := x.read(errorLimit, func(text []byte) *failure {
			msg, err := jsonrpc.Read(text)
			switch {
			case err != nil || msg.Kind != jsonrpc.KindError:
			case keepsStatus(status):
				failed = x.fail(final, status, msg.Error)
			default:
				failed.err = msg.Error
			}
			return nil
		})
		if broke != nil && x.watch.cause() != nil {
			return broke
		}
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		if after, ok := retryAfter(x.resp.Header.Get("Retry-After"), x.c.env.Now()); ok {
			failed.kind, failed.after = throttled, after
		}
	}
	return failed
}

// keepsStatus reports whether a status says more than the JSON-RPC error with
// it: only the end user can cure it (A-L17), or the server is not well.
func keepsStatus(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status >= http.StatusInternalServerError
}

// events returns the reader of an answer that is an event stream.
func (x *exchange) events() *eventReader { return newEventReader(x, x.c.limits.Result) }

// next returns the next notification, or the response, of an event stream.
// What cannot be understood is skipped, for it may be anything but a response
// to this request; so are requests, which this revision's servers may not send
// and nobody may answer (A-U4).
func (x *exchange) next(events *eventReader) (jsonrpc.Message, *failure) {
	for {
		text, err := events.next()
		switch {
		case err == io.EOF: //nolint:errorlint // never wrapped: wrapped it would be the transport's
			return jsonrpc.Message{}, x.lost(ErrNoResponse)
		case err == ErrTooLarge: //nolint:errorlint // as above
			return jsonrpc.Message{}, x.fail(final, x.resp.StatusCode, err)
		case err != nil:
			return jsonrpc.Message{}, x.lost(err)
		}
		msg, err := jsonrpc.Read(text)
		switch {
		case err != nil && msg.ID == x.id:
			return msg, x.fail(final, x.resp.StatusCode, invalid(err))
		case err != nil:
			x.ignored("unreadable message")
		case msg.Kind == jsonrpc.KindRequest:
			x.ignored("request")
		case msg.Kind == jsonrpc.KindNotification:
			return msg, nil
		default:
			return msg, x.own(&msg)
		}
	}
}

// ignored logs that something of the server was dropped; never what.
func (x *exchange) ignored(what string) {
	x.c.log.LogAttrs(x.watch.ctx, slog.LevelWarn, "ignored a message of the backend",
		slog.String("what", what), slog.String("in_answer_to", x.call.Method))
}
