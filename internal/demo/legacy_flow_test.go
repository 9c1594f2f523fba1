package demo_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// flow is an answer that is read while it is being written.
type flow struct{ *stream }

func (p *peer) run(r func(context.Context) *http.Request) flow {
	ctx, cancel := context.WithCancel(p.t.Context())
	s := &stream{t: p.t, header: http.Header{}, chunks: make(chan string, 1000), hangUp: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.chunks)
		p.l.ServeHTTP(s, r(ctx))
	}()
	return flow{s}
}

// open sends a request whose answer is a stream.
func (p *peer) open(id any, method string, params object) flow {
	body := message(p.t, id, method, params)
	return p.run(func(ctx context.Context) *http.Request { return p.request(ctx, http.MethodPost, body) })
}

// listen opens a GET stream, or resumes one after an event, and returns when
// it is open.
func (p *peer) listen(last string) flow {
	p.t.Helper()
	f := p.run(func(ctx context.Context) *http.Request {
		r := p.request(ctx, http.MethodGet, "")
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		return r
	})
	if chunk := <-f.chunks; !strings.HasPrefix(chunk, ":") {
		p.t.Fatalf("GET: HTTP %d %s", f.status, chunk)
	}
	return f
}

// sseEvent is one event; msg is nil for one without a message.
type sseEvent struct {
	id, retry string
	msg       object
}

func parseEvent(t *testing.T, chunk string) sseEvent {
	t.Helper()
	var ev sseEvent
	for line := range strings.SplitSeq(strings.TrimRight(chunk, "\n"), "\n") {
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "id":
			ev.id = value
		case "retry":
			ev.retry = value
		case "data":
			if value != "" {
				ev.msg = decode(t, value)
			}
		case "event", "", ":":
		default:
			t.Errorf("unexpected line %q in a stream", line)
		}
	}
	return ev
}

// event is the next event, comments left out; its id is empty at the end.
func (f flow) event() sseEvent {
	f.t.Helper()
	for chunk := range f.chunks {
		if !strings.HasPrefix(chunk, ":") {
			return parseEvent(f.t, chunk)
		}
	}
	return sseEvent{}
}

// message is the next event that has one, nil at the end.
func (f flow) message() object {
	f.t.Helper()
	for {
		ev := f.event()
		if ev.msg != nil || ev.id == "" {
			return ev.msg
		}
	}
}

// wants reads a message of a method and returns its id and params.
func (f flow) wants(method string) (any, object) {
	f.t.Helper()
	msg := f.message()
	if msg["method"] != method {
		f.t.Fatalf("got %v, want %s", msg, method)
	}
	params, _ := msg["params"].(object)
	return msg["id"], params
}

// legacyText is the text of a tool result.
func legacyText(t *testing.T, res object) string {
	t.Helper()
	content, _ := res["content"].([]any)
	if len(content) != 1 {
		t.Fatalf("content of %v", res)
	}
	block, _ := content[0].(object)
	s, _ := block["text"].(string)
	return s
}
