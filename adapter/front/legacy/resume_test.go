package legacy_test

import (
	"context"
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

const unknownEvent = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: Last-Event-ID: unknown event"}}`

// talk makes a method send what is put into the channel, and answer once that is
// closed.
func (x *crossing) talk(method string) chan<- string {
	say := make(chan string)
	x.on(method, func(ctx context.Context, e *port.Exchange) port.Outcome {
		for {
			select {
			case n, more := <-say:
				if !more {
					return port.Outcome{Result: "{}"}
				}
				if err := e.Stream.Send(note(n)); err != nil {
					return port.Fail(err)
				}
			case <-ctx.Done():
				return port.Fail(context.Cause(ctx))
			}
		}
	})
	return say
}

// resume comes back to a stream behind an event.
func (r *rig) resume(session, place string) *stream {
	r.t.Helper()
	s := r.stream(http.MethodGet, session, "", "Last-Event-ID: "+place)
	s.last = place
	return s
}

// refuses expects that nobody can come back behind an event.
func (r *rig) refuses(session, place string) {
	r.t.Helper()
	if a := r.do(http.MethodGet, session, "", "Last-Event-ID: "+place); a.status != http.StatusBadRequest || a.body != unknownEvent {
		r.t.Errorf("Last-Event-ID %s: %d %s", place, a.status, a.body)
	}
}

// of is the id of another event of the same stream.
func of(place string, seq int) string {
	return place[:strings.LastIndexByte(place, ':')+1] + fmt.Sprint(seq)
}

// TestPriming: a stream begins with an event to come back to, where the client
// understands one without a message (A-L15).
func TestPriming(t *testing.T) {
	for version, primed := range map[string]bool{"2025-11-25": true, "2025-06-18": false, "2025-03-26": false} {
		t.Run("A-L15 "+version, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.openVersion(version)
				r.crossing.on("tools/call", after(time.Second))
				post, get := r.stream(http.MethodPost, id, call("1", "tools/call")), r.stream(http.MethodGet, id, "")
				r.crossing.subs[0].Push("", note("1"))
				for _, s := range []*stream{post, get} {
					first := s.event()
					if !primed {
						if !strings.HasPrefix(first, "id: ") || !strings.Contains(first, ":1\ndata: {") {
							t.Errorf("the first event is %q", first)
						}
						continue
					}
					name, rest, _ := strings.Cut(first, "\n")
					if rest != "retry: 1000\ndata: " || !strings.HasPrefix(name, "id: ") || !strings.HasSuffix(name, ":0") {
						t.Errorf("the first event is %q", first)
					}
				}
			})
		})
	}
}

// TestResume: a client that comes back gets what it has missed, under the same
// ids, then what comes, and the answer (A-L16, A-L18).
func TestResume(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-06-18"} {
		for _, method := range []string{"tools/call", "prompts/get"} {
			t.Run("A-L16 "+version+" "+method, func(t *testing.T) {
				bubble(t, nil, func(t *testing.T, r *rig) {
					id := r.openVersion(version)
					say := r.crossing.talk(method)
					post := make(chan *stream)
					go func() { post <- r.stream(http.MethodPost, id, call("1", method)) }()
					say <- "1"
					s := <-post
					s.want(event(1))
					place := s.last
					s.hangUp()
					say <- "2"
					say <- "3"
					time.Sleep(window - time.Second)
					s = r.resume(id, place)
					s.want(event(2), event(3))
					if version == "2025-11-25" && s.primed != place || s.last != of(place, 3) {
						t.Errorf("began with %s and went to %s behind %s", s.primed, s.last, place)
					}
					s.hangUp()
					s = r.resume(id, of(place, 2)) // what was written is written again
					say <- "4"
					s.want(event(3), event(4))
					for range 2 * window / (15 * time.Second) { // nobody is waited for any more
						s.want(keepAlive)
					}
					close(say)
					s.want(data(result1), "EOF")
				})
			})
		}
	}
}

// TestResumeAnswered: an answer that may not have come through can be had again,
// for a while (A-L18).
func TestResumeAnswered(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", after(time.Second))
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		s.want(data(result1), "EOF")
		for range 2 {
			time.Sleep(window - time.Second)
			again := r.resume(id, s.primed)
			again.want(data(result1), "EOF")
			if again.last != s.last {
				t.Errorf("the answer comes as %s, then as %s", s.last, again.last)
			}
		}
		r.resume(id, s.last).want("EOF") // there is nothing behind the answer
		time.Sleep(window + time.Second)
		r.refuses(id, s.primed)
	})
}

// TestAnsweredWhileAway: an answer waits for its client.
func TestAnsweredWhileAway(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", after(time.Minute))
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		s.want(keepAlive)
		s.hangUp()
		time.Sleep(2 * time.Minute)
		r.post(id, call("1", "ping")) // its id is free
		r.resume(id, s.primed).want(data(result1), "EOF")
	})
}

// TestResumeInTime: who does not come back within the window has abandoned the
// exchange (A-L18).
func TestResumeInTime(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		ended := r.crossing.hang("tools/call")
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		s.want(keepAlive)
		s.hangUp()
		time.Sleep(window - time.Second)
		r.resume(id, s.primed).hangUp()
		time.Sleep(window - time.Second)
		if len(ended) != 0 {
			t.Error("ended although its client had come back")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(ended) != 1 {
			t.Fatal("goes on without its client")
		}
		if err := <-ended; err.Error() != "the client did not come back" {
			t.Errorf("ended with %v", err)
		}
		r.refuses(id, s.primed)
	})
}

// TestTakenOver: a connection that is half dead loses its stream to the next one.
func TestTakenOver(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		say := r.crossing.talk("tools/call")
		first := r.stream(http.MethodPost, id, call("1", "tools/call"))
		say <- "1"
		first.want(event(1))
		second := r.resume(id, first.primed)
		second.want(event(1))
		first.want("EOF")
		first.hangUp()
		third, fourth := r.resume(id, second.last), r.stream(http.MethodGet, id, "") // the limit is 2
		second.want("EOF")
		fifth := r.resume(id, third.last)
		say <- "2"
		close(say)
		fifth.want(event(2), data(result1), "EOF")
		third.want("EOF")
		fourth.want(keepAlive)
	})
}

// TestUnknownEvents: what cannot be resumed is refused, and the session lives on
// (A-L16).
func TestUnknownEvents(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id, other := r.open(), r.open()
		say := r.crossing.talk("tasks/result")
		s := r.stream(http.MethodPost, id, call("1", "tasks/result"))
		say <- "1"
		s.want(event(1))
		name := strings.TrimSuffix(s.last, ":1")
		for _, place := range []string{
			"nope:1", "1:1", "x", ":", ":1", name, name + ":", name + ":2", name + ":-1", name + ":01", name + ":+1", name + ":1 1",
			name + ":1x", name + ":1.0", name + ":0x1", name + ":1e0", name + ":9999999999999999", name + "::1", "x" + name + ":1",
			name[:len(name)-1] + ":1", strings.ToUpper(name) + ":1", strings.Repeat("x", 3000) + ":1", strings.Repeat(":", 3000), name + ":1:1",
		} {
			r.refuses(id, place)
		}
		r.refuses(other, s.last) // as unknown as any (DESIGN: nobody sees another's)
		a := r.do(http.MethodGet, id, "", "Last-Event-ID: "+s.last, "Path: /legacy/other")
		if a.status != http.StatusNotFound {
			t.Errorf("at another backend: %d %s", a.status, a.body)
		}
		close(say)
		s.want(data(result1), "EOF")
	})
}

// TestNotResumable: an exchange that was answered in a plain body has no stream.
func TestNotResumable(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		s := r.stream(http.MethodGet, id, "")
		r.crossing.subs[0].Push("k", note("1"))
		s.want(event(1))
		r.post(id, call("1", "tools/call"))
		var number int
		if _, err := fmt.Sscanf(s.last[strings.LastIndexByte(s.last, '.'):], ".%d:1", &number); err != nil {
			t.Fatal(err)
		}
		r.refuses(id, strings.Replace(s.last, fmt.Sprintf(".%d:1", number), fmt.Sprintf(".%d:1", number+1), 1))
	})
}

// TestEndedSession: nothing is left of a session to come back to (A-L11).
func TestEndedSession(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		ended := r.crossing.hang("tools/call")
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		s.want(keepAlive)
		s.hangUp()
		r.do(http.MethodDelete, id, "")
		if err := <-ended; !strings.Contains(err.Error(), "the session has ended") {
			t.Errorf("ended with %v", err)
		}
		if a := r.do(http.MethodGet, id, "", "Last-Event-ID: "+s.primed); a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// TestResumeRaces: however connections come and go, a client that always comes
// back behind what it has got last gets everything, once and in order.
func TestResumeRaces(t *testing.T) {
	const messages = 300
	bubble(t, func(o *legacy.Options) { o.Limits.StreamsPerSession = 1 }, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
			for i := range messages {
				if err := x.Stream.Send(note(fmt.Sprint(i))); err != nil {
					return port.Fail(err)
				}
				time.Sleep(time.Millisecond)
			}
			return port.Outcome{Result: "{}"}
		})
		s := r.stream(http.MethodPost, id, call("1", "tools/call"))
		for i := 0; i < messages; i++ {
			s.want(event(i))
			switch i % 5 {
			case 1:
				s.cancel() // without waiting until the bridge has noticed
				s = r.resume(id, s.last)
			case 3:
				place := s.last
				var group sync.WaitGroup
				for range 3 { // all of them lose it again
					group.Go(func() { _ = r.request(t.Context(), http.MethodGet, id, "", "Last-Event-ID: "+place).Body.Close() })
				}
				r.resume(id, place).cancel()
				group.Wait()
				s = r.resume(id, place)
			}
		}
		s.want(data(result1), "EOF")
	})
}
