package demo_test

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// listen opens a subscription and checks its acknowledgement.
func listen(t *testing.T, m *demo.Modern, id string, filter, honoured object) *stream {
	t.Helper()
	s := start(t, m, call{method: "subscriptions/listen", id: id, params: object{"notifications": filter}, caps: taskCaps})
	if diff := cmp.Diff(honoured, notified(t, s, id, "notifications/subscriptions/acknowledged")["notifications"]); diff != "" {
		t.Fatalf("acknowledged: %s", diff)
	}
	if s.status != 200 || s.header.Get("Content-Type") != "text/event-stream" || s.header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("HTTP %d %v", s.status, s.header)
	}
	return s
}

// notified reads one notification, checks its method and subscription, and
// returns its other params.
func notified(t *testing.T, s *stream, id, method string) object {
	t.Helper()
	msg := s.next()
	params, _ := msg["params"].(object)
	if msg["method"] != method {
		t.Fatalf("got %v, want %s", msg, method)
	}
	want := decode(t, `{"jsonrpc":"2.0","id":`+id+`}`)["id"] // the id with its type
	if diff := cmp.Diff(object{prefix + "subscriptionId": want}, params["_meta"]); diff != "" {
		t.Errorf("_meta of %s: %s", method, diff)
	}
	delete(params, "_meta")
	return params
}

func announce(t *testing.T, m *demo.Modern, list string) {
	t.Helper()
	do(t, m, tool("announce", object{"list": list}, nil)).result()
}

func TestModernListensToLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		some := object{"toolsListChanged": true, "resourcesListChanged": true}
		a := listen(t, m, `"77"`, object{"toolsListChanged": true, "resourcesListChanged": true, "promptsListChanged": false, "vendor": 1}, some)
		b := listen(t, m, `77`, object{"promptsListChanged": true}, object{"promptsListChanged": true})
		none := listen(t, m, `0`, object{}, object{})
		for _, list := range []string{"prompts", "tools", "resources"} {
			announce(t, m, list)
		}
		for _, list := range []string{"tools", "resources"} {
			if params := notified(t, a, `"77"`, "notifications/"+list+"/list_changed"); len(params) != 0 {
				t.Errorf("%s: %v", list, params)
			}
		}
		notified(t, b, `77`, "notifications/prompts/list_changed")
		synctest.Wait()
		if a.pending()+b.pending()+none.pending() != 0 {
			t.Error("something was sent that nobody asked for")
		}
		a.hangUp()
		<-a.done
		announce(t, m, "tools")
		if msg := a.next(); msg != nil {
			t.Errorf("after the client left: %v", msg)
		}
	})
}

func TestModernListensToTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		quiet := listen(t, m, `1`, object{"resourceSubscriptions": []string{"demo://readme"}}, object{"resourceSubscriptions": []any{"demo://readme"}})
		s := listen(t, m, `2`, object{"resourceSubscriptions": []string{"demo://clock", "demo://nothing", "demo://clock", "demo://planets/mars"}},
			object{"resourceSubscriptions": []any{"demo://clock", "demo://planets/mars"}})
		for range 3 {
			began := time.Now()
			if diff := cmp.Diff(object{"uri": "demo://clock"}, notified(t, s, `2`, "notifications/resources/updated")); diff != "" {
				t.Error(diff)
			}
			if d := time.Since(began); d != 2*time.Second {
				t.Errorf("the clock ticks every %v", d)
			}
		}
		if quiet.pending() != 0 {
			t.Error("a resource that never changes was updated")
		}
	})
}

// Spec ext-tasks "Task Status Notifications".
func TestModernListensToTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		id, other := task(t, m, "ask", nil), task(t, m, "ask", nil)
		synctest.Wait() // both have begun to think
		s := listen(t, m, `"l"`, object{"taskIds": []string{id, "unknown"}}, object{"taskIds": []any{id}})
		want := func(status string) object {
			t.Helper()
			got := notified(t, s, `"l"`, "notifications/tasks")
			polled := get(t, m, id)
			delete(polled, "resultType")
			delete(polled, "_meta")
			if diff := cmp.Diff(polled, got); diff != "" {
				t.Errorf("told and polled differ: %s", diff)
			}
			if got["status"] != status || got["taskId"] != id {
				t.Errorf("%v, want %s", got, status)
			}
			return got
		}
		if got := want("input_required"); got["inputRequests"] == nil {
			t.Errorf("no questions in %v", got)
		}
		update(t, m, other, object{"name": accept(object{})})
		update(t, m, id, object{"name": accept(object{"name": "Ada"})})
		// the answer and what the tool then says come at once; each is told
		if got := notified(t, s, `"l"`, "notifications/tasks"); got["status"] != "working" || got["statusMessage"] != "answered" {
			t.Errorf("%v", got)
		}
		want("working")
		if got := want("completed"); got["result"] == nil {
			t.Errorf("no result in %v", got)
		}
		cancel(t, m, id)
		synctest.Wait()
		if s.pending() != 0 {
			t.Errorf("told of a change that was none: %v", s.next())
		}
	})
}

func TestModernListenErrors(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	open := func(notifications, caps object) answer {
		return do(t, m, call{method: "subscriptions/listen", params: object{"notifications": notifications}, caps: caps})
	}
	for _, ids := range []any{[]string{}, []string{"t"}, "t"} {
		data := open(object{"taskIds": ids}, askCaps).fails(400, -32021)
		if diff := cmp.Diff(object{"requiredCapabilities": taskCaps}, data); diff != "" {
			t.Error(diff)
		}
	}
	for _, notifications := range []object{
		{"toolsListChanged": 1},
		{"resourceSubscriptions": "demo://clock"},
		{"resourceSubscriptions": []any{7}},
		{"taskIds": "t"},
		{"taskIds": []any{nil}},
		{"resourceSubscriptions": nil},
	} {
		open(notifications, taskCaps).fails(200, -32602)
	}
	do(t, m, call{method: "subscriptions/listen"}).fails(200, -32602)
	do(t, m, call{
		method: "subscriptions/listen", params: object{"notifications": object{}}, header: map[string]string{"Accept": "application/json"},
	}).fails(406, -32600)
}

func TestModernKeepsQuietStreamsAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := listen(t, newModern(t, demo.Options{}), `1`, object{}, object{})
		for range 2 {
			began := time.Now()
			if msg := s.next(); msg["comment"] == nil || time.Since(began) != 15*time.Second {
				t.Errorf("%v after %v", msg, time.Since(began))
			}
		}
	})
}

// blocked is a client that does not read until the gate opens.
type blocked struct {
	*stream
	gate chan struct{}
}

func (b *blocked) Write(p []byte) (int, error) {
	<-b.gate
	return b.stream.Write(p)
}

func TestModernDropsAListenerThatDoesNotKeepUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		b := &blocked{
			stream: &stream{t: t, header: http.Header{}, chunks: make(chan string, 1000)},
			gate:   make(chan struct{}),
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.ServeHTTP(b, call{method: "subscriptions/listen", params: object{"notifications": object{"toolsListChanged": true}}}.request(t.Context()))
		}()
		synctest.Wait()
		for range 300 {
			announce(t, m, "tools")
		}
		close(b.gate)
		<-done // without Close and without the client leaving
		close(b.chunks)
		for msg := b.next(); msg != nil; msg = b.next() {
			if msg["method"] == nil {
				t.Errorf("a stream that broke ends as if it had not: %v", msg)
			}
		}
	})
}

func TestModernClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		s := listen(t, m, `"l"`, object{"toolsListChanged": true}, object{"toolsListChanged": true})
		grind := start(t, m, tool("grind", object{"ms": 600_000}, nil))
		counting := tool("count", object{"steps": 1000}, nil)
		counting.meta = object{"progressToken": 1}
		count := start(t, m, counting)
		task(t, m, "work", object{"ms": 600_000})
		task(t, m, "ask", nil)
		count.next()
		began := time.Now()
		m.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("Close took %v", took)
		}
		end := s.next()
		result, _ := end["result"].(object)
		meta, _ := result["_meta"].(object)
		if end["id"] != "l" || result["resultType"] != "complete" || meta[prefix+"subscriptionId"] != "l" || s.next() != nil {
			t.Errorf("the subscription ends with %v", end)
		}
		for name, s := range map[string]*stream{"grind": grind, "count": count} {
			msg := s.next()
			if e, _ := msg["error"].(object); e["code"] != -32603.0 || msg["id"] != 1.0 || s.next() != nil {
				t.Errorf("%s ends with %v", name, msg)
			}
		}
		do(t, m, call{method: "server/discover"}).fails(503, -32603)
		m.Close()
		// the bubble fails the test if anything of the server still runs
	})
}

// broken is a client whose connection breaks after some writes.
type broken struct {
	*stream
	left int
}

func (b *broken) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return b.stream.Write(p)
}

func TestModernStopsWhenItCannotWrite(t *testing.T) {
	t.Parallel()
	counting := tool("count", object{"steps": 1000}, nil)
	counting.meta = object{"progressToken": 1}
	clock := call{method: "subscriptions/listen", params: object{"notifications": object{"resourceSubscriptions": []string{"demo://clock"}}}}
	for name, test := range map[string]struct {
		call  call
		left  int
		takes time.Duration // until the write that fails and, for a call, the next look at it
	}{
		"count":                    {counting, 2, 300 * time.Millisecond},
		"listen, acknowledgement":  {clock, 0, 0},
		"listen, the second tick":  {clock, 2, 4 * time.Second},
		"listen, a quiet stream":   {call{method: "subscriptions/listen", params: object{"notifications": object{}}}, 1, 15 * time.Second},
		"an answer is just not it": {call{method: "server/discover"}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModern(t, demo.Options{})
				b := &broken{stream: &stream{t: t, header: http.Header{}, chunks: make(chan string, 1000)}, left: test.left}
				began := time.Now()
				m.ServeHTTP(b, test.call.request(t.Context()))
				if took := time.Since(began); took != test.takes {
					t.Errorf("took %v, want %v", took, test.takes)
				}
				if b.left < -1 {
					t.Errorf("it wrote %d times more after the connection broke", -1-b.left)
				}
			})
		})
	}
}

func TestModernOverARealConnection(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	t.Cleanup(m.Close) // before the server, which waits for streams
	send := func(c call) *http.Response {
		t.Helper()
		r := c.request(t.Context())
		r.RequestURI, r.Host = "", ""
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = u
		res, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := send(call{method: "subscriptions/listen", params: object{"notifications": object{"toolsListChanged": true}}})
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	next := func() object {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return decode(t, data)
			}
		}
		return nil
	}
	if msg := next(); msg["method"] != "notifications/subscriptions/acknowledged" {
		t.Fatalf("got %v", msg)
	}
	announced := send(tool("announce", object{}, nil))
	defer func() { _ = announced.Body.Close() }()
	if announced.StatusCode != 200 {
		t.Errorf("HTTP %d", announced.StatusCode)
	}
	if msg := next(); msg["method"] != "notifications/tools/list_changed" {
		t.Errorf("got %v", msg)
	}
	m.Close()
	if msg := next(); msg["result"] == nil || next() != nil {
		t.Errorf("the stream ends with %v", msg)
	}
}
