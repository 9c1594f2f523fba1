package main

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
	"testing"
	"time"

	"github.com/tmaxmax/go-sse"
)

// patience is how long a test waits for what a process has to do.
const patience = 20 * time.Second

// nonceKey is the metadata that tells a client's calls apart at the backend.
const nonceKey = "test.example/nonce"

// client is a 2025-11-25 client of one session. It belongs to one goroutine.
type client struct {
	t       *testing.T
	url     string
	session string
	id      int
}

// message is what the bridge sends.
type message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Error          *struct {
		Code    int
		Message string
	}
	event string // the id of its event
}

// initialize opens the session of a client that can be asked.
func (c *client) initialize() {
	c.t.Helper()
	c.post("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "clientInfo": map[string]any{"name": "t", "version": "1"},
		"capabilities": map[string]any{"elicitation": map[string]any{}, "sampling": map[string]any{}},
	})
}

// begin sends a message and returns the head of the answer.
func (c *client) begin(ctx context.Context, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	return new(http.Client).Do(r)
}

// request is a request with an id that was not used before.
func (c *client) request(method string, params any) any {
	c.id++
	return map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}
}

// read reads an answer, whatever form it takes, to its end.
func read(resp *http.Response, take func(message)) error {
	defer func() { _ = resp.Body.Close() }()
	heard := func(text []byte, event string) error {
		m := message{event: event}
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("HTTP %d %s: %w", resp.StatusCode, text, err)
		}
		take(m)
		return nil
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		return heard(text, "")
	}
	for event, err := range sse.Read(resp.Body, nil) {
		if err == nil && event.Data != "" { // an event may only have an id
			err = heard([]byte(event.Data), event.LastEventID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// try makes a request. The error says that its answer did not come through.
func (c *client) try(method string, params any) (answer message, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	resp, err := c.begin(ctx, c.request(method, params)) //nolint:bodyclose // read closes it
	if err == nil {
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			c.session = id
		}
		err = read(resp, func(m message) { answer = m })
	}
	if err == nil && answer.Result == nil && answer.Error == nil {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return message{}, fmt.Errorf("%s: %w", method, err)
	}
	return answer, nil
}

// post makes a request that must succeed.
func (c *client) post(method string, params any) json.RawMessage {
	c.t.Helper()
	m, err := c.try(method, params)
	if err != nil {
		c.t.Fatal(err)
	}
	if m.Error != nil {
		c.t.Fatalf("%s: %+v", method, *m.Error)
	}
	return m.Result
}

// stream is the answer to a request that becomes an event stream.
type stream struct {
	t        *testing.T
	messages chan message // closed when the stream has ended
	hangUp   context.CancelFunc
}

// open makes a request and reads its answer in the background.
func (c *client) open(method string, params any) *stream {
	body, reader := c.request(method, params), *c
	return c.follow(func(ctx context.Context) (*http.Response, error) { return reader.begin(ctx, body) })
}

// resume comes back to a stream after an event, and reads on in the background.
func (c *client) resume(event string) *stream {
	reader := *c
	return c.follow(func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, reader.url, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Mcp-Session-Id", reader.session)
		r.Header.Set("Last-Event-ID", event)
		return new(http.Client).Do(r)
	})
}

// follow reads an answer in the background.
func (c *client) follow(begin func(ctx context.Context) (*http.Response, error)) *stream {
	ctx, cancel := context.WithCancel(c.t.Context())
	s := &stream{t: c.t, messages: make(chan message, 100), hangUp: cancel}
	c.t.Cleanup(cancel)
	go func() {
		defer close(s.messages)
		if resp, err := begin(ctx); err == nil { //nolint:bodyclose // read closes it
			_ = read(resp, func(m message) { s.messages <- m }) // a stream that breaks has ended
		}
	}()
	return s
}

// next returns the next message, or false when the stream has ended.
func (s *stream) next() (m message, ok bool) {
	s.t.Helper()
	select {
	case m, ok = <-s.messages:
		return m, ok
	case <-time.After(patience):
		s.t.Fatal("nothing comes on a stream")
		return m, false
	}
}

// question returns the next request on the stream, and the ids of those that were
// taken back before it.
func (s *stream) question() (q message, withdrawn []string) {
	s.t.Helper()
	for {
		m, ok := s.next()
		switch {
		case !ok || m.Method == "":
			s.t.Fatalf("the stream ended without a question: %+v", m)
		case m.Method == "notifications/cancelled":
			withdrawn = append(withdrawn, m.cancels())
		case m.ID != nil:
			return m, withdrawn
		}
	}
}

// end returns the response that ends the stream. No question may come before it.
func (s *stream) end() (m message, withdrawn []string) {
	s.t.Helper()
	for {
		m, ok := s.next()
		switch {
		case !ok:
			s.t.Fatal("the stream ended without a response")
		case m.Method == "notifications/cancelled":
			withdrawn = append(withdrawn, m.cancels())
		case m.Method == "":
			return m, withdrawn
		case m.ID != nil:
			s.t.Fatalf("a question where a response is due: %s %s", m.ID, m.Params)
		}
	}
}

// broken waits for the end of a stream that gets no response.
func (s *stream) broken() {
	s.t.Helper()
	if m, ok := s.next(); ok {
		s.t.Fatalf("a message where the stream was to break: %+v", m)
	}
}

func (m message) cancels() string {
	var p struct{ RequestID json.RawMessage }
	_ = json.Unmarshal(m.Params, &p)
	return string(p.RequestID)
}

// text is that of a tool's result.
func (m message) text() string {
	var result struct{ Content []struct{ Text string } }
	if json.Unmarshal(m.Result, &result) != nil || len(result.Content) != 1 {
		return ""
	}
	return result.Content[0].Text
}

// answer fills in a form that has one field, named field.
func (c *client) answer(id json.RawMessage, field, value string) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	resp, err := c.begin(ctx, map[string]any{"jsonrpc": "2.0", "id": id, "result": map[string]any{
		"action": "accept", "content": map[string]any{field: value},
	}})
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("an answer gets HTTP %d", resp.StatusCode)
	}
	return errors.Join(err, resp.Body.Close())
}

// mustAnswer is answer, where nothing is in the way.
func (c *client) mustAnswer(id json.RawMessage, field, value string) {
	c.t.Helper()
	if err := c.answer(id, field, value); err != nil {
		c.t.Fatal(err)
	}
}

type taskView struct {
	TaskID        string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
}

// call is the params of a call, with a name of its own that the backend sees.
func (c *client) call(tool string, arguments map[string]any) map[string]any {
	params := map[string]any{"name": tool, "_meta": map[string]any{nonceKey: strconv.Itoa(c.id + 1)}}
	if arguments != nil {
		params["arguments"] = arguments
	}
	return params
}

// task is call for a task.
func (c *client) task(tool string, arguments map[string]any) map[string]any {
	params := c.call(tool, arguments)
	params["task"] = map[string]any{"ttl": 600000}
	return params
}

func (c *client) create(tool string, arguments map[string]any) string {
	c.t.Helper()
	var created struct{ Task taskView }
	decode(c.t, c.post("tools/call", c.task(tool, arguments)), &created)
	if created.Task.Status != "working" {
		c.t.Fatalf("%s: created as %q", tool, created.Task.Status)
	}
	return created.Task.TaskID
}

func (c *client) get(handle string) taskView {
	c.t.Helper()
	var task taskView
	decode(c.t, c.post("tasks/get", map[string]any{"taskId": handle}), &task)
	return task
}

// result waits for the end of a task.
func (c *client) result(handle string) *stream {
	return c.open("tasks/result", map[string]any{"taskId": handle})
}

// runs asks the backend how often each of its tools has run.
func (c *client) runs() map[string]int {
	c.t.Helper()
	var result struct{ StructuredContent map[string]int }
	decode(c.t, c.post("tools/call", map[string]any{"name": "runs"}), &result)
	return result.StructuredContent
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}
