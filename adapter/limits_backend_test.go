package adapter_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// unruly is a server of one era that does everything right but answer calls.
type unruly struct {
	recent bool
	// answer answers a call, with its id.
	answer func(w http.ResponseWriter, r *http.Request, id wire.Value)
	calls  atomic.Int32
	// always is set for one that answers everything like that.
	always bool
}

func (u *unruly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	msg := wire.Value(body)
	result := ""
	switch method := text(msg, "method"); {
	case u.always:
		u.answer(w, r, msg.Get("id"))
		return
	case method == "tools/call":
		u.calls.Add(1)
		u.answer(w, r, msg.Get("id"))
		return
	case method == "tools/list":
		result = `"tools":[{"name":"t","inputSchema":{"type":"object"}}]`
	case u.recent && method == "server/discover":
		result = `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}`
	case !u.recent && method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s")
		result = `"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"u","version":"1"}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if u.recent {
		result += `,"resultType":"complete","ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"u","version":"1"}}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, msg.Get("id"), result)
}

// ways are the four ways through the bridge, by face and era of the server.
var ways = []struct {
	face   string
	recent bool
}{{"legacy", true}, {"legacy", false}, {"modern", true}, {"modern", false}}

// callAt calls the tool of an unruly server through one of the faces.
func (c *eraCell) callAt(face string) wire.Value {
	c.t.Helper()
	if face == "modern" {
		return (&recentClient{eraCell: c}).do("tools/call", "t", `{}`, `,"name":"t","arguments":{}`)
	}
	o := &oldClient{eraCell: c}
	in := o.post(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":{}}}`)
	if o.session = in.header.Get("Mcp-Session-Id"); o.session == "" {
		c.t.Fatalf("initialize: %d %s", in.status, in.last())
	}
	in.hangUp()
	return o.do("tools/call", `{"name":"t","arguments":{}}`)
}

// Deadlines of the bridges in these tests, and the largest answer that they take.
const (
	callIdle  = 30 * time.Second
	callTotal = 3 * time.Minute
	maxResult = 1 << 20
	hugeSize  = 100 << 20
)

// misconduct is what a server may do in place of an answer, and what its client is told.
type misconduct struct {
	name   string
	answer func(w http.ResponseWriter, r *http.Request, id wire.Value)
	// told is in the message of the error; within is how long that may take.
	told   string
	within time.Duration
}

const (
	isLate    = "backend did not answer in time"
	isLarge   = "answer of the backend is too large"
	isInvalid = "invalid response of the backend"
	isLost    = "upstream connection lost; outcome unknown"
)

// kindly sets the type of an answer and begins it.
func kindly(w http.ResponseWriter, media string) func(text string) bool {
	w.Header().Set("Content-Type", media)
	return func(text string) bool {
		_, err := io.WriteString(w, text)
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
}

// endlessly says something every so often until nobody listens.
func endlessly(media, first, then string, every time.Duration) func(http.ResponseWriter, *http.Request, wire.Value) {
	return func(w http.ResponseWriter, r *http.Request, _ wire.Value) {
		say := kindly(w, media)
		for ok := say(first); ok && r.Context().Err() == nil; ok = say(then) {
			rest(r, every)
		}
	}
}

// rest waits, or until nobody listens.
func rest(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

// fixed answers the same whatever was asked.
func fixed(media, body string) func(http.ResponseWriter, *http.Request, wire.Value) {
	return func(w http.ResponseWriter, _ *http.Request, _ wire.Value) { kindly(w, media)(body) }
}

const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// huge answers with more than anybody should take, in pieces.
func huge(media, first string, announced bool) func(http.ResponseWriter, *http.Request, wire.Value) {
	piece := strings.Repeat("x", 64<<10)
	return func(w http.ResponseWriter, r *http.Request, _ wire.Value) {
		if announced {
			w.Header().Set("Content-Length", fmt.Sprint(len(first)+hugeSize))
		}
		say := kindly(w, media)
		say(first)
		for sent := 0; sent < hugeSize && r.Context().Err() == nil && say(piece); sent += len(piece) {
		}
	}
}

func hang(w http.ResponseWriter, r *http.Request, _ wire.Value) { <-r.Context().Done() }

// cut breaks the connection off after some text.
func cut(media, body string) func(http.ResponseWriter, *http.Request, wire.Value) {
	return func(w http.ResponseWriter, _ *http.Request, _ wire.Value) {
		if body != "" {
			w.Header().Set("Content-Length", "1000")
			kindly(w, media)(body)
		}
		panic(http.ErrAbortHandler) //nolint:forbidigo // it is how a handler cuts its connection
	}
}

// zipped packs text. What is packed in parts is unpacked as one.
func zipped(parts ...string) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, part := range parts {
		_, _ = io.WriteString(z, part)
	}
	_ = z.Close()
	return packed.Bytes()
}

// powder is what makes a bomb.
var powder = sync.OnceValue(func() []byte {
	return zipped(slices.Repeat([]string{strings.Repeat("x", 1<<20)}, hugeSize>>20)...)
})

// bomb is a small message that becomes a large one when it is unpacked.
func bomb(w http.ResponseWriter, _ *http.Request, id wire.Value) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", jsonType)
	for _, part := range [][]byte{zipped(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"`, id)), powder(), zipped(`"}}`)} {
		_, _ = w.Write(part)
	}
}

// misconducts of servers, of every kind that the plan for hostile peers names.
var misconducts = []misconduct{
	{"hangs", hang, isLate, callIdle},
	{"hangs after the head", func(w http.ResponseWriter, r *http.Request, id wire.Value) { kindly(w, jsonType)(""); hang(w, r, id) }, isLate, callIdle},
	{"hangs in the middle of a document", endlessly(jsonType, `{"jsonrpc":`, "", time.Hour), isLate, callIdle},
	{"drips a document", endlessly(jsonType, `{"jsonrpc":"2.0","x":"`, "x", time.Second), isLate, callTotal},
	{"drips a line of an event", endlessly(streamType, `data: {"x":"`, "x", time.Second), isLate, callTotal},
	{"never ends a stream of comments", endlessly(streamType, ":\n\n", ":\n\n", time.Second), isLate, callTotal},
	{"never ends a stream of messages", endlessly(streamType, ":\n\n", `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`+"\n\n", time.Second), isLate, callTotal},
	{"announces 100 MiB", huge(jsonType, `{"jsonrpc":"2.0","x":"`, true), isLarge, time.Second},
	{"sends 100 MiB", huge(jsonType, `{"jsonrpc":"2.0","x":"`, false), isLarge, time.Second},
	{"sends an event of 100 MiB", huge(streamType, `data: {"x":"`, false), isLarge, time.Second},
	{"sends a comment of 100 MiB", huge(streamType, `:`, false), isLost, time.Second},
	{"sends the name of a field of 100 MiB", huge(streamType, `x`, false), isLost, time.Second},
	{"sends a gzip bomb unasked", bomb, isInvalid, time.Second},
	{"nests too deeply", fixed(jsonType, strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)), isInvalid, time.Second},
	{"answers nothing", fixed(jsonType, ""), isInvalid, time.Second},
	{"answers half", fixed(jsonType, `{"jsonrpc":"2.0","id":1,"res`), isInvalid, time.Second},
	{"answers HTML", fixed("text/html", "<html>hello</html>"), isInvalid, time.Second},
	{"answers another", fixed(jsonType, `{"jsonrpc":"2.0","id":"another","result":{}}`), isInvalid, time.Second},
	{"ends a stream without an answer", fixed(streamType, ":\n\n"), isLost, time.Second},
	{"cuts the connection", cut("", ""), isLost, time.Second},
	{"cuts a document", cut(jsonType, `{"jsonrpc":"2.0",`), isLost, time.Second},
	{"cuts a stream", cut(streamType, `data: {"jsonrpc":"2.0",`), isLost, time.Second},
	{"redirects", func(w http.ResponseWriter, r *http.Request, _ wire.Value) {
		http.Redirect(w, r, "http://127.0.0.1/elsewhere", http.StatusTemporaryRedirect)
	}, "backend answered HTTP 307", time.Second},
	{"is not well", func(w http.ResponseWriter, _ *http.Request, _ wire.Value) { w.WriteHeader(http.StatusBadGateway) }, "backend answered HTTP 502", time.Second},
	{"is not well for 100 MiB", func(w http.ResponseWriter, r *http.Request, id wire.Value) {
		w.WriteHeader(http.StatusInternalServerError)
		huge("text/html", "", false)(w, r, id)
	}, "backend answered HTTP 500", time.Second},
	{"floods with headers", func(w http.ResponseWriter, _ *http.Request, _ wire.Value) {
		for i := range 5000 {
			w.Header().Set(fmt.Sprint("X-Flood-", i), strings.Repeat("x", 100))
		}
		w.WriteHeader(http.StatusOK)
	}, isLost, time.Second},
	{"never stops to say that it will answer", func(w http.ResponseWriter, r *http.Request, _ wire.Value) {
		for w.Header().Set("X", strings.Repeat("x", 1000)); r.Context().Err() == nil; {
			w.WriteHeader(http.StatusEarlyHints)
			rest(r, time.Millisecond)
		}
	}, isLost, callIdle},
}

// TestMisconduct: whatever a server does in place of an answer, its client is told so in
// time, the tool has run once, and no more of it is kept than one answer may have (G-6,
// G-8).
func TestMisconduct(t *testing.T) {
	powder() // which is not to be measured
	for _, m := range misconducts {
		for _, way := range ways {
			t.Run(fmt.Sprintf("G-8 a server %s: /%s, recent server %v", m.name, way.face, way.recent), func(t *testing.T) {
				server := &unruly{recent: way.recent, answer: m.answer}
				cellOf(t, server, func(c *eraCell) {
					c.set = []string{"times.call_idle=" + callIdle.String(), "times.call_total=" + callTotal.String(), fmt.Sprint("limits.result=", maxResult)}
					c.restart()
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					begun := time.Now()
					got := c.callAt(way.face)
					took := time.Since(begun)
					runtime.ReadMemStats(&after)
					if told := text(got, "error", "message"); got.Get("error").Get("code") != "-32603" || told != m.told {
						t.Errorf("told %.300s, want %q", got, m.told)
					}
					if most := m.within + 5*time.Second; took > most {
						t.Errorf("it took %v, want %v at most", took, most)
					}
					if calls := server.calls.Load(); calls != 1 {
						t.Errorf("the tool has run %d times", calls)
					}
					if kept := after.TotalAlloc - before.TotalAlloc; kept > mostAllocated() {
						t.Errorf("%d MiB were allocated", kept>>20)
					}
				})
			})
		}
	}
}

// TestMisconductFromTheStart: a server that answers nothing as it should costs whoever
// wants to begin with it no more than its time, and an error.
func TestMisconductFromTheStart(t *testing.T) {
	powder() // which is not to be measured
	for _, m := range misconducts {
		if strings.Contains(m.name, "100 MiB") {
			continue // it is the same, and takes long
		}
		for _, way := range ways {
			t.Run(fmt.Sprintf("G-8 a server %s: /%s, recent server %v", m.name, way.face, way.recent), func(t *testing.T) {
				era := "legacy"
				if way.recent {
					era = "modern"
				}
				server := &unruly{recent: way.recent, answer: m.answer, always: true}
				cellOf(t, server, func(c *eraCell) {
					c.set = []string{
						"times.call_idle=" + callIdle.String(), "times.call_total=" + callTotal.String(), fmt.Sprint("limits.result=", maxResult),
						"backends.quarry.era=" + era,
					}
					c.restart()
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					begun := time.Now()
					var got wire.Value
					if way.face == "modern" {
						got = c.callAt(way.face)
					} else {
						got = (&oldClient{eraCell: c}).post(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":{}}}`).last()
					}
					took := time.Since(begun)
					runtime.ReadMemStats(&after)
					if got.Get("error").Get("code") != "-32603" {
						t.Errorf("told %.300s", got)
					}
					const looks = 10 * time.Second // at the server and its tools, ahead of a call
					if took > callTotal+looks+5*time.Second {
						t.Errorf("it took %v", took)
					}
					if kept := after.TotalAlloc - before.TotalAlloc; kept > mostAllocated() {
						t.Errorf("%d MiB were allocated", kept>>20)
					}
				})
			})
		}
	}
}

// TestNoRoomForAnswers: what answers hold counts within limits.inflight_bytes until
// their clients have them. One for which there is no room in time is refused, and the
// next has the room of those that are gone.
func TestNoRoomForAnswers(t *testing.T) {
	for _, way := range ways {
		for _, media := range []string{jsonType, streamType} {
			t.Run(fmt.Sprintf("/%s, recent server %v, %s", way.face, way.recent, media), func(t *testing.T) {
				var finish chan struct{}
				server := &unruly{recent: way.recent}
				server.answer = func(w http.ResponseWriter, _ *http.Request, id wire.Value) {
					end := `"}}`
					if media == streamType {
						end += "\n\n"
					}
					say := kindly(w, media)
					if media == streamType {
						say("data: ")
					}
					say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[],"x":"%s`, id, strings.Repeat("x", 700<<10)))
					if server.calls.Load() == 1 {
						<-finish
					}
					say(end)
				}
				cellOf(t, server, func(c *eraCell) {
					finish = make(chan struct{}) // in the bubble
					c.set = []string{fmt.Sprint("limits.result=", maxResult), "limits.body=64KiB", "limits.inflight_bytes=1100KiB"}
					c.restart()
					first := make(chan wire.Value)
					go func() { first <- c.callAt(way.face) }()
					time.Sleep(time.Second)
					begun := time.Now()
					got := c.callAt(way.face)
					if text(got, "error", "message") != "no room for the answer of the backend: too many messages at once" {
						t.Errorf("the second is told %.200s", got)
					}
					if took := time.Since(begun); took > 6*time.Second {
						t.Errorf("it took %v", took)
					}
					close(finish)
					if got := <-first; len(got) < 700<<10 {
						t.Errorf("the first is told %.200s", got)
					}
					for range 3 { // each takes the room of the one before
						if got := c.callAt(way.face); len(got) < 700<<10 {
							t.Errorf("one after it is told %.200s", got)
						}
					}
				})
			})
		}
	}
}

// mostAllocated is what a single answer may take in all, in bytes. Under the race
// detector everything takes more.
func mostAllocated() uint64 {
	if thin > 1 {
		return hugeSize / 2
	}
	return hugeSize / 4
}
