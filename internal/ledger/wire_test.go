//go:build interop

package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"
)

// message is what the bridge sends.
type message struct {
	ID             json.RawMessage `json:"id"`
	Method         string          `json:"method"`
	Params, Result json.RawMessage
	Error          *rpcError `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// reply is what became of a request.
type reply struct {
	message
	status  int
	header  http.Header
	event   string        // the newest event id
	took    time.Duration // until its end
	silence error         // why no answer came; nil if one did
}

// idle is how long nothing at all may come of a request: the bridge sends comments on
// a stream every 15 s.
const idle = 40 * time.Second

// web carries the requests of all clients.
var web = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200, DisableCompression: true}}

// send makes a request and reads its answer to the end. Take gets every message that
// is not the answer; it may be nil.
func send(ctx context.Context, method, url string, header http.Header, body any, take func(message)) (out reply) {
	began := time.Now()
	defer func() { out.took = time.Since(began) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(idle, func() { cancel(errors.New("nothing comes")) })
	defer alarm.Stop()
	var text []byte
	if body != nil {
		text, out.silence = json.Marshal(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err = errors.Join(out.silence, err); err != nil {
		out.silence = err
		return out
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		r.Header.Set("Accept", "text/event-stream")
	}
	resp, err := web.Do(r)
	if err != nil {
		out.silence = err
		return out
	}
	defer func() { _ = resp.Body.Close() }()
	out.status, out.header = resp.StatusCode, resp.Header
	answered := false
	heard := func(text string) error {
		var m message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("HTTP %d: %w: %.200s", resp.StatusCode, err, text)
		}
		if m.Method == "" {
			out.message, answered = m, true
		} else if take != nil {
			take(m)
		}
		return nil
	}
	watched := &watchedReader{resp.Body, alarm}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		err = out.events(watched, heard)
	} else {
		err = whole(watched, heard)
	}
	if !answered {
		out.silence = errors.Join(errors.New("no answer"), err)
	}
	return out
}

// events reads an event stream to its end.
func (out *reply) events(body io.Reader, heard func(string) error) error {
	for event, err := range sse.Read(body, nil) {
		if err != nil {
			return err
		}
		if event.LastEventID != "" {
			out.event = event.LastEventID
		}
		if event.Data == "" {
			continue
		}
		if err := heard(event.Data); err != nil {
			return err
		}
	}
	return nil
}

// whole reads a body that is one message, or nothing.
func whole(body io.Reader, heard func(string) error) error {
	text, err := io.ReadAll(body)
	if err != nil || len(text) == 0 {
		return err
	}
	return heard(string(text))
}

// watchedReader puts the alarm off whenever something comes.
type watchedReader struct {
	io.Reader
	alarm *time.Timer
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.alarm.Reset(idle)
	}
	return n, err
}

// later is how long a 503 wants its client to wait, and whether it is one that was not
// served.
func (out *reply) later() (time.Duration, bool) {
	if out.status != http.StatusServiceUnavailable {
		return 0, false
	}
	seconds, err := strconv.Atoi(out.header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}

// text is that of a tool's result.
func text(result json.RawMessage) string {
	var r struct{ Content []struct{ Text string } }
	if json.Unmarshal(result, &r) != nil || len(r.Content) != 1 {
		return string(result)
	}
	return r.Content[0].Text
}

// String says what came, for a report.
func (out *reply) String() string {
	switch {
	case out.silence != nil:
		return fmt.Sprintf("HTTP %d, %v", out.status, out.silence)
	case out.Error != nil:
		return fmt.Sprintf("HTTP %d, error %d %s", out.status, out.Error.Code, out.Error.Message)
	default:
		return fmt.Sprintf("HTTP %d, %.300s", out.status, out.Result)
	}
}

// tally counts what clients had to do beyond one request each.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func newTally() *tally { return &tally{count: make(map[string]int)} }

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[what]++
}
