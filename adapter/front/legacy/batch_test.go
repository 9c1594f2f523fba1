package legacy_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const oldest = "2025-03-26"

func array(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

func named(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"method":"` + method + `"}}`
}

const busy = "Invalid request: id: a request with this id is in flight"

// TestBatch: the answers come in the order of the requests, in one array (A35).
func TestBatch(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"two requests", array(call("1", "ping"), call("2", "tools/list")), array(`{"jsonrpc":"2.0","id":1,"result":{}}`, named("2", "tools/list"))},
		{"one request", array(call(`"x"`, "ping")), array(`{"jsonrpc":"2.0","id":"x","result":{}}`)},
		{"a slow one first", array(call("1", "tools/call"), call("2", "tools/list")), array(named("1", "slow"), named("2", "tools/list"))},
		{"notifications between", array(initialized, call("1", "ping"), initialized), array(result1)},
		{"an answer as well", array(`{"jsonrpc":"2.0","id":7,"result":{}}`, call("1", "ping")), array(result1)},
		{"an error", array(call("1", "ping"), call("2", "refused")), array(result1, refusal("2", "-32602", "no"))},
		{"a credential refused", array(call("1", "unauthorized")), array(refusal("1", "-32603", "backend answered HTTP 401"))},
		{"an id twice", array(call("1", "ping"), call("1", "tools/list"), call(`"1"`, "ping"), call("1", "ping")), array(result1, refusal("1", "-32600", busy), `{"jsonrpc":"2.0","id":"1","result":{}}`, refusal("1", "-32600", busy))},
		{"one that is cancelled", array(call("1", "hang"), call("2", "ping"), cancelled("1")), array(`{"jsonrpc":"2.0","id":2,"result":{}}`)},
		{"all are cancelled", array(call("1", "hang"), cancelled("1")), ""},
		{"only notifications", array(initialized, initialized), ""},
		{"only answers", array(`{"jsonrpc":"2.0","id":7,"result":{}}`, `{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"no"}}`), ""},
		{"as many as allowed", array(slices.Repeat([]string{initialized}, 100)...), ""},
	} {
		t.Run("§3.9 "+tt.name, func(t *testing.T) {
			bubble(t, func(o *legacy.Options) { o.Limits.Body = 1 << 20 }, func(t *testing.T, r *rig) {
				id := r.openVersion(oldest)
				r.crossing.hang("hang")
				r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
					time.Sleep(300 * time.Millisecond)
					return port.Outcome{Result: `{"method":"slow"}`}
				})
				r.crossing.on("refused", func(context.Context, *port.Exchange) port.Outcome {
					return port.Fail(jsonrpc.NewError(jsonrpc.CodeInvalidParams, "no"))
				})
				r.crossing.on("unauthorized", func(context.Context, *port.Exchange) port.Outcome {
					return port.Fail(&port.UpstreamError{Op: "a", Status: 401, Err: errors.New("no")})
				})
				a, status := r.post(id, tt.body), http.StatusOK
				if tt.want == "" {
					status = http.StatusAccepted
				}
				wantError(t, a, status, tt.want)
				if a.status == http.StatusOK && a.header.Get("Content-Type") != "application/json" {
					t.Errorf("as %s", a.header.Get("Content-Type"))
				}
				synctest.Wait()
				r.crossing.mu.Lock()
				defer r.crossing.mu.Unlock()
				if got, want := len(r.crossing.answers), strings.Count(tt.body, `"id":7`)+strings.Count(tt.body, `"id":8`); got != want {
					t.Errorf("%d answers, want %d", got, want)
				}
			})
		})
	}
}

// TestBatchStream: each answer is an event of its own once something has come
// before it, or it takes long (A-L15).
func TestBatchStream(t *testing.T) {
	speak := func(_ context.Context, x *port.Exchange) port.Outcome {
		time.Sleep(100 * time.Millisecond)
		return port.Outcome{Result: "{}", Err: x.Stream.Send(note("5"))}
	}
	for _, tt := range []struct {
		name   string
		script func(context.Context, *port.Exchange) port.Outcome
		accept string
		want   []string
	}{
		{"a message before", speak, "", []string{data(named("2", "tools/list")), event(5), data(result1), "EOF"}},
		{"takes long", after(time.Second), "", []string{data(named("2", "tools/list")), data(result1), "EOF"}},
		{"nothing else is accepted", after(0), "Accept: text/event-stream", []string{data(result1), data(named("2", "tools/list")), "EOF"}},
	} {
		t.Run("§3.9 "+tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.openVersion(oldest)
				r.crossing.on("tools/call", tt.script)
				header := []string{"X-None: x"}
				if tt.accept != "" {
					header = append(header, tt.accept)
				}
				s := r.stream(http.MethodPost, id, array(call("1", "tools/call"), call("2", "tools/list")), header...)
				var got []string
				for len(got) == 0 || got[len(got)-1] != "EOF" {
					got = append(got, s.next())
				}
				if tt.accept != "" {
					slices.Sort(got[:2]) // they are ready at the same time
					slices.Sort(tt.want[:2])
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%q\nwant %q", got, tt.want)
				}
				if s.primed != "" {
					t.Error("primed")
				}
			})
		})
	}
}

// TestBatchWithoutStream: who takes no stream gets its array whenever it is whole.
func TestBatchWithoutStream(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		r.crossing.on("tools/call", after(time.Minute))
		a := r.post(id, array(call("1", "tools/call"), call("2", "tools/list")), "Accept: application/json")
		wantError(t, a, 200, array(result1, named("2", "tools/list")))
	})
}

// TestBatchResumed: a batch goes on for a client that comes back, and ends when
// that does not (A-L18).
func TestBatchResumed(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		ended := r.crossing.hang("prompts/get")
		r.crossing.on("tools/call", after(time.Minute))
		s := r.stream(http.MethodPost, id, array(call("1", "prompts/get"), call("2", "ping"), call("3", "tools/call")))
		s.want(data(`{"jsonrpc":"2.0","id":2,"result":{}}`))
		s.hangUp()
		time.Sleep(2 * time.Minute)
		s = r.resume(id, s.last)
		s.want(data(`{"jsonrpc":"2.0","id":3,"result":{}}`))
		s.hangUp()
		time.Sleep(window)
		synctest.Wait()
		if len(ended) != 1 {
			t.Fatal("the batch goes on")
		}
		r.refuses(id, s.last)
	})
}

// TestBatchAbandoned: without a stream to come back to, each request goes on or
// ends by itself.
func TestBatchAbandoned(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		read, called := r.crossing.hang("prompts/get"), r.crossing.hang("tools/call")
		rawRequest(t, r, http.MethodPost, id, array(call("1", "prompts/get"), call("2", "tools/call"))).hangUp()
		if len(read) != 1 || len(called) != 0 {
			t.Errorf("%d reads and %d calls ended", len(read), len(called))
		}
		time.Sleep(window)
		synctest.Wait()
		if len(called) != 1 {
			t.Error("the call goes on")
		}
	})
}

// TestBatchIDInFlight: ids are those of the whole session.
func TestBatchIDInFlight(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		r.crossing.on("tools/call", after(time.Second))
		first := r.background(id, call("1", "tools/call"), "Accept: application/json")
		wantError(t, r.post(id, array(call("1", "tools/call"), call("2", "ping"))), 200,
			array(refusal("1", "-32600", busy), `{"jsonrpc":"2.0","id":2,"result":{}}`))
		wantError(t, <-first, 200, result1)
	})
}

// TestBatchAnswerLost: an answer that cannot be kept refuses the batch before
// anything of it has begun.
func TestBatchAnswerLost(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		r.crossing.refuse = errors.New("disk full")
		a := r.post(id, array(call("1", "tools/call"), initialized, `{"jsonrpc":"2.0","id":7,"result":{}}`))
		wantError(t, a, 500, refusal("", "-32603", "Internal error"))
		if r.crossing.calls("tools/call") != 0 || len(r.crossing.notes) != 0 {
			t.Error("the rest was served")
		}
	})
}

func TestBatchRefused(t *testing.T) {
	shape := refusal("", "-32600", "Invalid request: message: want an object")
	bad := func(text string) string { return refusal("", "-32600", "Invalid request: "+text) }
	ping := call("1", "ping")
	for _, tt := range []struct {
		name, version, body string
		status              int
		want                string
	}{
		{"A35 in a session of 2025-06-18", "2025-06-18", array(ping), 400, shape},
		{"A35 in a session of 2025-11-25", "2025-11-25", array(ping), 400, shape},
		{"without a session", "", array(ping), 400, bad("Mcp-Session-Id: want the header")},
		{"A-L9 initialize without a session", "", array(initialize), 400, bad("Mcp-Session-Id: want the header")},
		{"empty", oldest, "[]", 400, bad("message: want an array of 1 to 100 messages")},
		{"too many", oldest, array(slices.Repeat([]string{initialized}, 101)...), 400, bad("message: want an array of 1 to 100 messages")},
		{"one that is none", oldest, array(ping, "1"), 400, bad("[1]: want an object")},
		{"nested", oldest, array(ping, array(ping)), 400, bad("[1]: want an object")},
		{"one of the wrong shape", oldest, array(ping, ping, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`), 400, bad("[2].params: want an object")},
		{"G-2 a fractional id", oldest, array(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`), 400, bad("[0].id: want a string or an integer")},
		{"an id of null", oldest, array(ping, `{"jsonrpc":"2.0","id":null,"method":"ping"}`), 400, bad("[1]: id: want a string or an integer")},
		{"A-L9 initialize", oldest, array(ping, initialize), 400, bad("[1].method: want initialize in a message of its own")},
		{"a modern claim", oldest, array(ping, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+claim+`}}`), 400, bad("[1]: this route speaks 2025-11-25; protocol 2026-07-28 is served at /modern/quarry")},
		{"no JSON", oldest, "[" + ping + ",]", 400, refusal("", "-32700", "Parse error: message: want one valid JSON value")},
	} {
		t.Run("§3.9 "+tt.name, func(t *testing.T) {
			bubble(t, func(o *legacy.Options) { o.Limits.Body = 1 << 20 }, func(t *testing.T, r *rig) {
				id := ""
				if tt.version != "" {
					id = r.openVersion(tt.version)
				}
				wantError(t, r.post(id, tt.body), tt.status, tt.want)
				if len(r.crossing.notes)+len(r.crossing.answers)+r.crossing.calls("ping")+r.crossing.calls("tools/call")+r.crossing.calls("tools/list") > 0 {
					t.Error("something was forwarded")
				}
			})
		})
	}
	t.Run("A-L10 in an unknown session", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, r *rig) {
			wantError(t, r.post("nope", array(ping)), 404, bad("unknown session"))
		})
	})
}

// TestBatchWhileStopping: what cannot begin any more is answered so.
func TestBatchWhileStopping(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		r.face.Drain()
		wantError(t, r.post(id, array(call("1", "tasks/result"), call("2", "ping"))), 200,
			array(refusal("1", "-32603", closing), `{"jsonrpc":"2.0","id":2,"result":{}}`))
	})
}

// FuzzBatch: whatever array is posted, every request in it is answered once, in
// order, or all of it is refused.
func FuzzBatch(f *testing.F) {
	x := &crossing{scripts: make(map[string]func(context.Context, *port.Exchange) port.Outcome)}
	face := legacy.New(options(f, x))
	f.Cleanup(func() {
		if err := face.Close(context.Background()); err != nil {
			f.Error(err)
		}
	})
	handler := engine(face)
	session := record(handler, http.MethodPost, "", strings.Replace(initialize, "2025-11-25", oldest, 1)).Header().Get("Mcp-Session-Id")
	for _, body := range []string{
		"[]", array(call("1", "ping")), array(call("1", "tools/list"), call("1", "ping"), initialized), array(initialized, `{"jsonrpc":"2.0","id":1,"result":{}}`),
		array("1"), array("[]"), "[" + call("1", "a") + ",", array(call("1", "a"), initialize), array(`{"jsonrpc":"2.0","id":null,"method":"notifications/x"}`),
		array(call(`"\u0061"`, "a"), call(`"a"`, "a"), cancelled(`"a"`)), " [ " + call("-0", "ping") + " ] ",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		w := record(handler, http.MethodPost, session, body)
		batch, err := wire.Check([]byte(body))
		if err != nil || batch.Kind() != wire.KindArray {
			checkAnswer(t, body, w)
			return
		}
		checkBatch(t, batch, w)
	})
}

func checkBatch(t *testing.T, batch wire.Value, w *httptest.ResponseRecorder) {
	t.Helper()
	var asked []jsonrpc.ID
	cancels := false
	for _, element := range batch.Elements() {
		msg, err := jsonrpc.Parse(element)
		if err == nil && msg.Kind == jsonrpc.KindRequest {
			asked = append(asked, msg.ID)
		}
		cancels = cancels || msg.Method == "notifications/cancelled"
	}
	switch {
	case w.Code == http.StatusBadRequest:
		if answer, err := jsonrpc.Read(w.Body.Bytes()); err != nil || answer.Kind != jsonrpc.KindError || answer.ID != "" {
			t.Errorf("%s is refused with %s", batch, w.Body)
		}
	case cancels:
	case w.Code == http.StatusAccepted:
		if len(asked) > 0 || w.Body.Len() > 0 {
			t.Errorf("%s is accepted with %s", batch, w.Body)
		}
	default:
		got, err := wire.Check(w.Body.Bytes())
		if err != nil {
			t.Fatalf("%s is answered %d %s", batch, w.Code, w.Body)
		}
		var answered []jsonrpc.ID
		for _, element := range got.Elements() {
			answered = append(answered, element.Get("id"))
		}
		if !slices.Equal(asked, answered) {
			t.Errorf("%s is answered %s", batch, w.Body)
		}
	}
}
