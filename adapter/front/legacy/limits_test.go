package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// padded is a message of at least n bytes.
func padded(i, n int) []byte {
	return note(fmt.Sprintf(`%d,"pad":"%s"`, i, strings.Repeat("x", n)))
}

// TestManyMessagesWhileAway: the newest messages wait for a client, and its answer.
func TestManyMessagesWhileAway(t *testing.T) {
	for _, tt := range []struct {
		name             string
		count, size, got int
	}{
		{"in number", 600, 0, 511},
		{"in bytes", 10, 600 << 10, 3},
		{"of any size", 2, 3 << 20, 0},
	} {
		t.Run("A-L18 bounded "+tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
					time.Sleep(time.Minute)
					for i := range tt.count {
						if err := x.Stream.Send(padded(i, tt.size)); err != nil {
							return port.Fail(err)
						}
					}
					return port.Outcome{Result: "{}"}
				})
				s := r.stream(http.MethodPost, id, call("1", "tools/call"))
				s.want(keepAlive)
				s.hangUp()
				time.Sleep(2 * time.Minute)
				s = r.resume(id, s.primed)
				for i := tt.count - tt.got; i < tt.count; i++ {
					s.want(data(string(padded(i, tt.size))))
				}
				s.want(data(result1), "EOF")
			})
		})
	}
}

// TestLargeAnswerWhileAway: an answer above the bound of a stream waits alone, one
// above that of the session does not.
func TestLargeAnswerWhileAway(t *testing.T) {
	for size, kept := range map[int]bool{3 << 20: true, 9 << 20: false} {
		t.Run(fmt.Sprintf("A-L18 %d bytes", size), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
					time.Sleep(time.Minute)
					return port.Outcome{Result: large(size)}
				})
				s := r.stream(http.MethodPost, id, call("1", "tools/call"))
				s.want(keepAlive)
				s.hangUp()
				time.Sleep(2 * time.Minute)
				if !kept {
					r.refuses(id, s.primed)
					return
				}
				s = r.resume(id, s.primed)
				if got := s.next(); len(got) < size {
					t.Errorf("%d bytes", len(got))
				}
				s.want("EOF")
			})
		})
	}
}

// TestCrowdedSessions: the streams of all sessions together keep a part of the bytes
// that may be in flight. Beyond it a session keeps little for its clients, but does not
// take it from others.
func TestCrowdedSessions(t *testing.T) {
	tune := func(o *legacy.Options) { o.Limits.Kept = 256 << 10 }
	bubble(t, tune, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			time.Sleep(time.Minute)
			return port.Outcome{Result: large(100 << 10)}
		})
		var ids, events []string
		for range 4 {
			id := r.open()
			s := r.stream(http.MethodPost, id, call("1", "tools/call"))
			s.want(keepAlive)
			s.hangUp()
			ids, events = append(ids, id), append(events, s.primed)
			time.Sleep(50 * time.Second)
		}
		for i, kept := range []bool{true, true, false, false} {
			if !kept {
				r.refuses(ids[i], events[i])
				continue
			}
			s := r.resume(ids[i], events[i])
			if got := s.next(); len(got) < 100<<10 {
				t.Errorf("session %d: %d bytes", i, len(got))
			}
		}
	})
}

// TestEvictedEvents: what was written is kept for a while only, the newest longest.
func TestEvictedEvents(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		say := r.crossing.talk("tools/call")
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		for i := range 600 {
			say <- fmt.Sprint(i)
			s.want(event(i))
		}
		first := 600 - 512
		r.refuses(id, s.primed)
		r.refuses(id, of(s.last, first-1))
		s.hangUp()
		again := r.resume(id, of(s.last, first))
		for i := first; i < 600; i++ {
			again.want(event(i))
		}
		close(say)
		again.want(data(result1), "EOF")
	})
}

// TestManyStreams: a session keeps so many streams for clients that are away. The
// oldest that have ended go first, and nobody's call is cut short by that.
func TestManyStreams(t *testing.T) {
	const most = 32
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		ended := r.crossing.hang("tools/call")
		running := r.stream(http.MethodPost, id, call(`"running"`, "tools/call"))
		running.want(keepAlive)
		running.hangUp()
		own := r.stream(http.MethodGet, id, "")
		r.crossing.subs[0].Push("k", note("1"))
		own.want(event(1))
		own.hangUp()
		r.crossing.on("tools/call", after(time.Second))
		answered := make([]*stream, most)
		for i := range answered {
			answered[i] = r.stream(http.MethodPost, id, call("1", "tools/call"))
			answered[i].want(data(result1), "EOF")
		}
		for i, s := range answered {
			if i < 2 {
				r.refuses(id, s.primed)
			} else {
				r.resume(id, s.last).want("EOF")
			}
		}
		waited := r.crossing.hang("tasks/result")
		for i := range most - 1 {
			r.stream(http.MethodPost, id, call(fmt.Sprint(i), "tasks/result")).hangUp()
		}
		r.refuses(id, answered[most-1].last)
		r.refuses(id, own.last)
		r.resume(id, running.primed).hangUp()
		if len(waited) != 0 || len(ended) != 0 {
			t.Errorf("%d waits and %d calls ended", len(waited), len(ended))
		}
		r.stream(http.MethodPost, id, call("99", "tasks/result")).hangUp()
		if len(waited) != 1 {
			t.Errorf("%d waits ended", len(waited))
		}
		for i := range most {
			r.stream(http.MethodPost, id, call(fmt.Sprint(100+i), "tasks/result")).hangUp()
		}
		r.refuses(id, running.primed)
		if len(ended) != 0 {
			t.Error("a call ended")
		}
		time.Sleep(window)
		synctest.Wait()
		if len(waited) != 2*most || len(ended) != 1 {
			t.Errorf("%d waits and %d calls ended", len(waited), len(ended))
		}
	})
}

// TestManyBytes: a session keeps so many bytes for clients that are away.
func TestManyBytes(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			time.Sleep(time.Second)
			return port.Outcome{Result: large(3 << 20)}
		})
		var streams []*stream
		for range 3 {
			s := r.stream(http.MethodPost, id, call("1", "tools/call"))
			if got := s.next(); len(got) < 3<<20 {
				t.Fatalf("%d bytes", len(got))
			}
			s.want("EOF")
			streams = append(streams, s)
		}
		r.refuses(id, streams[0].primed)
		for _, s := range streams[1:] {
			again := r.resume(id, s.primed)
			if got := again.next(); len(got) < 3<<20 {
				t.Errorf("%d bytes", len(got))
			}
			again.want("EOF")
		}
	})
}

// TestSlowReaderHoldsTheSender: a crossing runs ahead of a client that is there by
// a few messages, and is let go when that client is lost.
func TestSlowReaderHoldsTheSender(t *testing.T) {
	for name, size := range map[string]int{"in number": 0, "in bytes": 100 << 10} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				var sent atomic.Int32
				r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
					for i := range 100 {
						if err := x.Stream.Send(padded(i, size)); err != nil {
							return port.Fail(err)
						}
						sent.Add(1)
					}
					return port.Outcome{Result: "{}"}
				})
				conn := rawRequest(t, r, http.MethodPost, id, call("1", "tools/call"))
				synctest.Wait()
				want := int32(16)
				if size > 0 {
					want = 3
				}
				if got := sent.Load(); got != want {
					t.Errorf("%d messages sent to a client that does not read, want %d", got, want)
				}
				conn.hangUp()
				if got := sent.Load(); got != 100 {
					t.Errorf("%d messages sent once it was lost", got)
				}
				sent.Store(0)
				s := r.stream(http.MethodPost, id, call("1", "tools/call"))
				for i := range 100 {
					s.want(data(string(padded(i, size))))
				}
				s.want(data(result1), "EOF")
			})
		})
	}
}

// TestLostSenderIsLetGo: a client that cannot come back does not hold anybody up.
func TestLostSenderIsLetGo(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion("2025-06-18")
		ended := make(chan error, 1)
		r.crossing.on("prompts/get", func(ctx context.Context, x *port.Exchange) port.Outcome {
			for {
				if err := x.Stream.Send(note("1")); err != nil {
					ended <- errors.Join(err, ctx.Err())
					return port.Fail(err)
				}
			}
		})
		rawRequest(t, r, http.MethodPost, id, call("1", "prompts/get")).hangUp() // not even the headers were read
		if len(ended) != 1 {
			t.Fatal("the sender waits on")
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the exchange goes on: %v", err)
		}
	})
}

// TestAnswerTooLate: what comes for a client that is not waited for any more takes
// no room from others.
func TestAnswerTooLate(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("prompts/get", func(ctx context.Context, _ *port.Exchange) port.Outcome {
			<-ctx.Done()
			return port.Outcome{Result: large(9 << 20)}
		})
		r.crossing.on("tools/call", after(time.Second))
		late := r.stream(http.MethodPost, id, call("1", "prompts/get"))
		late.want(keepAlive)
		late.hangUp()
		time.Sleep(4 * time.Minute)
		s := r.stream(http.MethodPost, id, call("2", "tools/call"))
		s.want(data(`{"jsonrpc":"2.0","id":2,"result":{}}`), "EOF")
		time.Sleep(2 * time.Minute)
		r.refuses(id, late.primed)
		r.resume(id, s.primed).want(data(`{"jsonrpc":"2.0","id":2,"result":{}}`), "EOF")
	})
}

// TestStreamOfAnExchange: what a crossing sees of the stream of a call.
func TestStreamOfAnExchange(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		release := make(chan struct{})
		r.crossing.on("tools/call", func(context.Context, *port.Exchange) port.Outcome {
			<-release
			return port.Outcome{Result: "{}"}
		})
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		x := r.crossing.last().Stream
		if !x.Connected() || !x.Asks() {
			t.Error("a stream that is read is not connected")
		}
		s.want(keepAlive)
		s.hangUp()
		if x.Connected() {
			t.Error("a lost stream is connected")
		}
		s = r.resume(id, s.primed)
		synctest.Wait()
		if !x.Connected() {
			t.Error("a resumed stream is not connected")
		}
		select {
		case <-x.Gone():
			t.Error("gone")
		default:
		}
		close(release)
		<-x.Gone()
		s.want(data(result1), "EOF")
		if x.Connected() {
			t.Error("a stream that has ended is connected")
		}
		for _, accept := range []string{"application/json", ""} {
			r.post(id, call("1", "tasks/get"), "Accept: "+accept)
			if r.crossing.last().Stream.Asks() {
				t.Error("A-T17 asks on a plain answer")
			}
		}
		r.post(id, call("1", "tools/list"), "Accept: application/json")
		if r.crossing.last().Stream.Asks() {
			t.Error("A-L14 asks a client that takes no stream")
		}
	})
}

// TestManyRequests: a session has so many requests in flight, those without a client
// included.
func TestManyRequests(t *testing.T) {
	const most, each = 1000, 50
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion("2025-03-26")
		ended := r.crossing.hang("tools/call")
		for batch := range most / each {
			calls := make([]string, each)
			for i := range calls {
				calls[i] = call(strconv.Itoa(each*batch+i), "tools/call")
			}
			rawRequest(t, r, http.MethodPost, id, "["+strings.Join(calls, ",")+"]").hangUp()
		}
		busy := refusal(`"x"`, "-32603", "too many requests in flight; try again later")
		wantError(t, r.post(id, call(`"x"`, "tools/list")), http.StatusOK, busy)
		wantError(t, r.post(id, "["+call(`"x"`, "tools/list")+"]"), http.StatusOK, "["+busy+"]")
		wantError(t, r.post(id, call("1", "ping")), http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		wantError(t, r.post(r.open(), call("1", "tools/list")), http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`)
		time.Sleep(window)
		for range most {
			<-ended
		}
		synctest.Wait()
		wantError(t, r.post(id, call("1", "tools/list")), http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`)
	})
}
