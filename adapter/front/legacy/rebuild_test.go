package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// again is another process with the same store and secrets.
func (r *rig) again() *rig {
	r.t.Helper()
	return newRig(r.t, func(o *legacy.Options) { o.Store = r.store })
}

// wait is a tasks/result with user data of so many bytes.
func wait(id string, n int) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tasks/result","params":{"taskId":"b.1", "com.acme/pad":{"b":1.0,"a":"` + strings.Repeat("x", n) + `"}}}`
}

// TestWaitGoesOnElsewhere: any process waits on for a result, under the id of the
// request, behind the event that the client has got last (A-R5, A-R7).
func TestWaitGoesOnElsewhere(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"killed":  func(*rig) {},
		"drained": func(r *rig) { r.face.Drain() },
		"closed":  func(r *rig) { _ = r.face.Close(r.t.Context()) },
	} {
		t.Run("A-R7 "+name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				say := r.crossing.talk("tasks/result")
				s := r.stream(http.MethodPost, id, wait(`"9007199254740993"`, 10))
				say <- "1"
				say <- "2"
				s.want(event(1), event(2))
				end(r)
				if name != "killed" {
					s.want("EOF") // and no answer
				}
				r2 := r.again()
				say = r2.crossing.talk("tasks/result")
				first := r2.resume(id, s.last)
				synctest.Wait()
				x := r2.crossing.last()
				if got := string(x.Message.Params); x.Message.ID != `"9007199254740993"` || !strings.Contains(wait("1", 10), got) {
					t.Errorf("waits as %s for %s", x.Message.ID, got)
				}
				if x.Caller.Session != id || !x.Stream.Asks() || !x.Stream.Connected() {
					t.Errorf("waits for %+v", x.Caller)
				}
				say <- "3"
				first.want(event(3))
				if first.primed != s.last || first.last != of(s.last, 3) {
					t.Errorf("went on from %s with %s behind %s", first.primed, first.last, s.last)
				}
				first.hangUp()
				say <- "4"
				second := r2.resume(id, first.last) // and it is a stream like any other
				second.want(event(4))
				r2.refuses(id, of(s.last, 1)) // which this process never had
				close(say)
				second.want(data(`{"jsonrpc":"2.0","id":"9007199254740993","result":{}}`), "EOF")
				if n := r2.crossing.calls("tasks/result"); n != 1 {
					t.Errorf("%d waits", n)
				}
			})
		})
	}
}

// TestWaitGoesOnLater: the process that has given up a wait begins it anew.
func TestWaitGoesOnLater(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		ended := r.crossing.hang("tasks/result")
		s := r.stream(http.MethodPost, id, wait("1", 0))
		s.want(keepAlive)
		s.hangUp()
		<-ended
		time.Sleep(time.Second)
		r.crossing.on("tasks/result", after(time.Second))
		r.resume(id, s.primed).want(data(result1), "EOF")
	})
}

// TestAnsweredWaitStays: an event that was never told does not begin a wait that has
// ended anew, as long as its stream is there.
func TestAnsweredWaitStays(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tasks/result", after(time.Second))
		s := r.stream(http.MethodPost, id, wait("1", 0))
		s.want(data(result1), "EOF")
		r.refuses(id, of(s.last, 7))
		r.resume(id, s.primed).want(data(result1), "EOF")
		if n := r.crossing.calls("tasks/result"); n != 1 {
			t.Errorf("%d waits", n)
		}
	})
}

// TestWaitInABatch: a stream that answers more than the wait is not made anew.
func TestWaitInABatch(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion(oldest)
		r.crossing.hang("tasks/result")
		s := r.stream(http.MethodPost, id, array(wait("1", 0), call("2", "ping")))
		s.want(data(`{"jsonrpc":"2.0","id":2,"result":{}}`))
		r2 := r.again()
		r2.crossing.on("tasks/result", after(time.Second))
		r2.refuses(id, s.last)
	})
}

// TestWaitIsNotAnothers: the id of a stream means nothing in another session, at
// another backend, or when it was made up.
func TestWaitIsNotAnothers(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id, other := r.open(), r.open()
		r.crossing.hang("tasks/result")
		s := r.stream(http.MethodPost, id, wait("1", 0))
		s.want(keepAlive)
		name := strings.TrimSuffix(s.primed, ":0")
		r2 := r.again()
		r2.crossing.on("tasks/result", after(time.Second))
		r2.refuses(other, s.primed)
		for i := 0; i < len(name); i += 7 {
			flipped := []byte(s.primed)
			if flipped[i] ^= 1; flipped[i] != ':' {
				r2.refuses(id, string(flipped))
			}
		}
		r2.refuses(id, name[1:]+":0")
		r2.refuses(id, name+":x")
		r2.do(http.MethodDelete, id, "")
		if a := r2.do(http.MethodGet, id, "", "Last-Event-ID: "+s.primed); a.status != http.StatusNotFound {
			t.Errorf("of a session that has ended: %d %s", a.status, a.body)
		}
		if n := r2.crossing.calls("tasks/result"); n != 0 {
			t.Errorf("%d waits", n)
		}
	})
}

// TestOnlyWaitsGoOnElsewhere: nothing else is done twice (G-6), and what makes an
// id too large for a header is not done again either.
func TestOnlyWaitsGoOnElsewhere(t *testing.T) {
	for _, tt := range []struct {
		name, request string
		on            bool
	}{
		{"a call", call("1", "tools/call"), false},
		{"a read", call("1", "prompts/get"), false},
		{"a wait", wait("1", 1200), true},
		{"a large wait", wait("1", 1500), false},
		{"a larger wait", wait("1", 3000), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				for _, method := range []string{"tools/call", "prompts/get", "tasks/result"} {
					r.crossing.hang(method)
				}
				s := r.stream(http.MethodPost, id, tt.request)
				s.want(keepAlive)
				if len(s.primed) > 2<<10 {
					t.Errorf("an event id of %d bytes", len(s.primed))
				}
				r2 := r.again()
				r2.crossing.on("tasks/result", after(time.Second))
				if !tt.on {
					r2.refuses(id, s.primed)
					return
				}
				r2.resume(id, s.primed).want(data(result1), "EOF")
			})
		})
	}
}

// TestWaitUnderAnIDInFlight: a wait does not begin anew under an id that is in use.
func TestWaitUnderAnIDInFlight(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.hang("tasks/result")
		s := r.stream(http.MethodPost, id, wait("1", 0))
		s.want(keepAlive)
		r2 := r.again()
		r2.crossing.on("tools/call", after(time.Minute))
		pending := r2.background(id, call("1", "tools/call"), "Accept: application/json")
		r2.refuses(id, s.primed)
		wantError(t, <-pending, 200, result1)
	})
}

// TestWaitWhileStopping: a bridge that stops begins no wait.
func TestWaitWhileStopping(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.hang("tasks/result")
		s := r.stream(http.MethodPost, id, wait("1", 0))
		s.want(keepAlive)
		r.face.Drain()
		s.want("EOF")
		if a := r.do(http.MethodGet, id, "", "Last-Event-ID: "+s.primed); a.status != http.StatusServiceUnavailable {
			t.Errorf("%d %s", a.status, a.body)
		}
		r2 := r.again()
		if a := r2.do(http.MethodGet, id, "", "Last-Event-ID: "+s.primed, "Accept: application/json"); a.status != http.StatusNotAcceptable {
			t.Errorf("%d %s", a.status, a.body)
		}
		for range 2 { // the limit
			r2.stream(http.MethodGet, id, "")
		}
		if a := r2.do(http.MethodGet, id, "", "Last-Event-ID: "+s.primed); a.status != http.StatusServiceUnavailable {
			t.Errorf("one stream too many: %d %s", a.status, a.body)
		}
	})
}

// TestWaitBegunOnceByMany: of many connections that come back to a wait at the
// same time one begins it, and one has it in the end.
func TestWaitBegunOnceByMany(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.hang("tasks/result")
		s := r.stream(http.MethodPost, id, wait("1", 0))
		s.want(keepAlive)
		r2 := r.again()
		release := make(chan struct{})
		r2.crossing.on("tasks/result", func(ctx context.Context, _ *port.Exchange) port.Outcome {
			select {
			case <-release:
				return port.Outcome{Result: "{}"}
			case <-ctx.Done():
				return port.Fail(errors.Join(errors.New("cancelled"), context.Cause(ctx)))
			}
		})
		var group sync.WaitGroup
		bodies := make([]string, 20)
		for i := range bodies {
			group.Go(func() {
				a := r2.do(http.MethodGet, id, "", "Last-Event-ID: "+s.primed)
				bodies[i] = fmt.Sprint(a.status) + a.body
			})
		}
		synctest.Wait()
		close(release)
		group.Wait()
		answered := 0
		for _, body := range bodies {
			switch {
			case !strings.HasPrefix(body, "200"):
				t.Errorf("%s", body)
			case strings.Contains(body, result1):
				answered++
			}
		}
		if n := r2.crossing.calls("tasks/result"); answered != 1 || n != 1 {
			t.Errorf("%d answered, %d waits", answered, n)
		}
	})
}
