package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/demo"
)

const (
	version   = "2026-07-28"
	prefix    = "io.modelcontextprotocol/"
	extension = prefix + "tasks"
)

type object = map[string]any

// The capabilities clients of these tests declare.
var (
	noCaps   = object{}
	askCaps  = object{"elicitation": object{}, "sampling": object{}}
	taskCaps = object{"extensions": object{extension: object{}}}
	allCaps  = object{"elicitation": object{"form": object{}}, "sampling": object{}, "extensions": object{extension: object{}}}
)

// call is one request as a well-behaved client sends it; the members say where
// a test departs from that.
type call struct {
	method string
	params object
	caps   object            // noCaps if nil
	meta   object            // added to _meta; a nil value removes a key
	header map[string]string // set on the request; "-" removes a header
	id     string            // raw JSON; 1 if empty
	body   string            // instead of the message built from the above
}

func (c call) message() string {
	if c.body != "" {
		return c.body
	}
	caps := c.caps
	if caps == nil {
		caps = noCaps
	}
	meta := object{
		prefix + "protocolVersion":    version,
		prefix + "clientInfo":         object{"name": "test", "version": "1"},
		prefix + "clientCapabilities": caps,
	}
	maps.Copy(meta, c.meta)
	maps.DeleteFunc(meta, func(_ string, v any) bool { return v == nil })
	params := object{"_meta": meta}
	maps.Copy(params, c.params)
	id := c.id
	if id == "" {
		id = "1"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(object{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": c.method, "params": params})
	if err != nil {
		return err.Error() // the server will not take it either
	}
	return b.String()
}

func (c call) request(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8730/mcp", strings.NewReader(c.message()))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", version)
	r.Header.Set("Mcp-Method", c.method)
	for _, name := range []string{"name", "uri", "taskId"} {
		if v, ok := c.params[name].(string); ok {
			r.Header.Set("Mcp-Name", v)
		}
	}
	for k, v := range c.header {
		if v == "-" {
			r.Header.Del(k)
		} else {
			r.Header.Set(k, v)
		}
	}
	return r
}

// answer is what came back for one call.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	raw    string
	notes  []object // notifications before the final message
	final  object
}

func newModern(t *testing.T, opts demo.Options) *demo.Modern {
	t.Helper()
	m := demo.NewModern(opts)
	t.Cleanup(m.Close)
	return m
}

// do sends a call and reads the whole answer.
func do(t *testing.T, h http.Handler, c call) answer {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, c.request(t.Context()))
	return read(t, rec)
}

func read(t *testing.T, rec *httptest.ResponseRecorder) answer {
	t.Helper()
	a := answer{t: t, status: rec.Code, header: rec.Header(), raw: rec.Body.String()}
	switch a.header.Get("Content-Type") {
	case "application/json":
		a.final = decode(t, a.raw)
	case "text/event-stream":
		for _, msg := range events(t, rec.Body) {
			if msg["method"] != nil {
				a.notes = append(a.notes, msg)
			} else {
				a.final = msg
			}
		}
	}
	return a
}

func decode(t *testing.T, text string) object {
	t.Helper()
	var msg object
	if err := json.Unmarshal([]byte(text), &msg); err != nil {
		t.Fatalf("not a message: %v in %q", err, text)
	}
	if msg["jsonrpc"] != "2.0" {
		t.Errorf("jsonrpc = %v", msg["jsonrpc"])
	}
	return msg
}

// events reads an event stream; it checks that no event has an id.
func events(t *testing.T, r io.Reader) []object {
	t.Helper()
	var out []object
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "data: "):
			out = append(out, decode(t, strings.TrimPrefix(line, "data: ")))
		case line == "", line == "event: message", strings.HasPrefix(line, ":"):
		default:
			t.Errorf("unexpected line %q in a stream", line)
		}
	}
	return out
}

// result returns the result and checks what every result must carry.
func (a answer) result() object {
	a.t.Helper()
	res, ok := a.final["result"].(object)
	if !ok {
		a.t.Fatalf("no result in HTTP %d %s", a.status, a.raw)
	}
	if a.status != http.StatusOK {
		a.t.Errorf("HTTP status %d with a result", a.status)
	}
	if res["resultType"] == nil {
		a.t.Errorf("no resultType in %s", a.raw)
	}
	meta, _ := res["_meta"].(object)
	info, _ := meta[prefix+"serverInfo"].(object)
	if info["name"] == nil || info["version"] == nil {
		a.t.Errorf("no serverInfo in %s", a.raw)
	}
	return res
}

// fails checks for an error and returns its data.
func (a answer) fails(status int, code float64) object {
	a.t.Helper()
	e, ok := a.final["error"].(object)
	if !ok {
		a.t.Fatalf("no error in HTTP %d %s", a.status, a.raw)
	}
	if a.status != status || e["code"] != code || e["message"] == "" {
		a.t.Errorf("HTTP %d %s; want %d and code %v", a.status, a.raw, status, code)
	}
	data, _ := e["data"].(object)
	return data
}

// text is the text of a complete tool result.
func text(t *testing.T, res object) string {
	t.Helper()
	if res["resultType"] != "complete" {
		t.Errorf("resultType = %v", res["resultType"])
	}
	content, _ := res["content"].([]any)
	if len(content) != 1 {
		t.Fatalf("content = %v", res["content"])
	}
	block, _ := content[0].(object)
	if block["type"] != "text" {
		t.Errorf("content = %v", block)
	}
	s, _ := block["text"].(string)
	return s
}

// tool is a call of a tool, without arguments if they are nil.
func tool(name string, arguments, caps object) call {
	params := object{"name": name}
	if arguments != nil {
		params["arguments"] = arguments
	}
	return call{method: "tools/call", params: params, caps: caps}
}

// task calls a tool that must answer with a task, and returns its id.
func task(t *testing.T, h http.Handler, name string, arguments object) string {
	t.Helper()
	res := do(t, h, tool(name, arguments, allCaps)).result()
	id, _ := res["taskId"].(string)
	if res["resultType"] != "task" || id == "" {
		t.Fatalf("%s did not make a task: %v", name, res)
	}
	for _, k := range []string{"result", "error", "inputRequests", "requestState", "task"} {
		if _, there := res[k]; there {
			t.Errorf("%s in the answer that creates a task: %v", k, res)
		}
	}
	return id
}

// get polls a task once.
func get(t *testing.T, h http.Handler, id string) object {
	t.Helper()
	res := do(t, h, call{method: "tasks/get", params: object{"taskId": id}, caps: taskCaps}).result()
	if res["resultType"] != "complete" || res["taskId"] != id {
		t.Errorf("tasks/get of %s: %v", id, res)
	}
	return res
}

// until polls, as often as the task says, until it has the given status.
func until(t *testing.T, h http.Handler, id, status string) object {
	t.Helper()
	for range 100 {
		res := get(t, h, id)
		if res["status"] == status {
			return res
		}
		interval, _ := res["pollIntervalMs"].(float64)
		time.Sleep(time.Duration(interval) * time.Millisecond) // in a bubble: fake time
	}
	t.Fatalf("the task never became %s: %v", status, get(t, h, id))
	return nil
}

// update answers questions of a task and checks the acknowledgement.
func update(t *testing.T, h http.Handler, id string, responses object) {
	t.Helper()
	acknowledged(t, do(t, h, call{
		method: "tasks/update", caps: taskCaps,
		params: object{"taskId": id, "inputResponses": responses},
	}))
}

func cancel(t *testing.T, h http.Handler, id string) {
	t.Helper()
	acknowledged(t, do(t, h, call{method: "tasks/cancel", params: object{"taskId": id}, caps: taskCaps}))
}

// acknowledged checks for the empty result of tasks/update and tasks/cancel.
func acknowledged(t *testing.T, a answer) {
	t.Helper()
	if res := a.result(); len(res) != 2 || res["resultType"] != "complete" {
		t.Errorf("not an empty acknowledgement: %v", res)
	}
}

func accept(content object) object { return object{"action": "accept", "content": content} }

// stream is a request whose answer is read while it is being written.
type stream struct {
	t      *testing.T
	header http.Header
	status int
	chunks chan string
	hangUp context.CancelFunc
	done   chan struct{} // closed when the handler has returned
}

// start serves a call in the background.
func start(t *testing.T, h http.Handler, c call) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &stream{t: t, header: http.Header{}, chunks: make(chan string, 1000), hangUp: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.chunks)
		h.ServeHTTP(s, c.request(ctx))
	}()
	return s
}

func (s *stream) Header() http.Header    { return s.header }
func (s *stream) WriteHeader(status int) { s.status = status }
func (s *stream) Flush()                 {}

func (s *stream) Write(b []byte) (int, error) {
	s.chunks <- string(bytes.Clone(b))
	return len(b), nil
}

// next is the next message, or nil at the end of the stream. Comments are
// returned as a message with the one member "comment".
func (s *stream) next() object {
	s.t.Helper()
	chunk, ok := <-s.chunks
	if !ok {
		return nil
	}
	if strings.HasPrefix(chunk, ":") {
		return object{"comment": true}
	}
	if s.header.Get("Content-Type") == "application/json" {
		return decode(s.t, chunk)
	}
	msgs := events(s.t, strings.NewReader(chunk))
	if len(msgs) != 1 {
		s.t.Fatalf("chunk %q is not one message", chunk)
	}
	return msgs[0]
}

// pending says how many chunks have been written and not read.
func (s *stream) pending() int { return len(s.chunks) }
