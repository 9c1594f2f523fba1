package legacy_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
)

func TestStandingStream(t *testing.T) {
	t.Run("B-U3 is open before the first request, and hands on what comes", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			called := make(chan struct{})
			f.follow("GET", func(x *call) {
				x.stream()
				<-called
				x.stream("id: e1\ndata:\n\n", event(note("a")), event(request("5", "elicitation/create")), event(request("6", "ping")), event(response("2", "{}")), event(rpcError("null", -32603)), event(note("b")))
				x.hold()
			})
			f.follow("tools/call", func(x *call) { close(called); time.Sleep(time.Second); usual(x) })
			s := f.open()
			do(t, s, tool())
			wantMethods(t, f.heard(), "a", "elicitation/create", "b")
			f.want("response", 1)
			f.want("GET", 1)
			s.Close(t.Context())
		})
	})
	for name, answer := range map[string]func(x *call){
		"405":           func(x *call) { x.w.WriteHeader(405) },
		"404":           func(x *call) { x.w.WriteHeader(404) },
		"404 and words": func(x *call) { x.rpc(404, rpcError("null", -32001)) },
		"400":           func(x *call) { x.rpc(400, rpcError("null", -32000)) },
		"501":           func(x *call) { x.w.WriteHeader(501) },
		"a web page":    func(x *call) { x.document(200, "text/html", "<p>payload</p>") },
	} {
		t.Run("B-U3 a server that offers none says "+name, func(t *testing.T) {
			bubble(t, script{"GET": answer}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				time.Sleep(time.Hour)
				do(t, s, tool())
				f.want("GET", 1)
				if isLost(s) {
					t.Error("the session is lost")
				}
			})
		})
	}
	t.Run("a server that sends no head does not hold up the handshake for long", func(t *testing.T) {
		bubble(t, script{"GET": (*call).hold}, nil, func(t *testing.T, f *fake) {
			begun := time.Now()
			f.open()
			if took := time.Since(begun); took != 500*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	})
}

func TestStandingStreamReopens(t *testing.T) {
	t.Run("B-U3 after the last event, not before the server said", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			if x.n == 3 {
				x.hold()
				return
			}
			x.stream("retry: 1500\n\n", named("e"+strings.Repeat("x", x.n), note("a")), event(note("b")))
			if x.n == 1 {
				x.cut()
			}
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			f.open()
			time.Sleep(time.Minute)
			wantMethods(t, f.heard(), "a", "b", "a", "b")
			f.want("GET", 3)
			got := f.got("GET")
			for i, want := range []string{"", "ex", "exx"} {
				if id := got[i].header.Get("Last-Event-Id"); id != want {
					t.Errorf("GET %d after %q, want %q", i, id, want)
				}
				if i > 0 && got[i].at.Sub(got[i-1].at) != 1500*time.Millisecond {
					t.Errorf("GET %d came after %v", i, got[i].at.Sub(got[i-1].at))
				}
			}
		})
	})
	t.Run("a message that is too large is not asked for again", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			if x.n == 1 {
				x.stream(named("e1", note("a")), named("e2", big))
			}
			x.hold()
		}}
		bubble(t, s, func(o *legacy.Options) { o.Limits.Result = 4000 }, func(t *testing.T, f *fake) {
			f.open()
			time.Sleep(time.Minute)
			f.want("GET", 2)
			if got := f.got("GET")[1].header.Get("Last-Event-Id"); got != "" {
				t.Errorf("asked for what follows %q", got)
			}
		})
	})
	t.Run("an event that the server has forgotten", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			switch {
			case x.n == 1:
				x.stream(named("e1", note("a")))
			case x.header.Get("Last-Event-Id") != "":
				x.document(400, "text/plain", "payload")
			default:
				x.stream(event(note("b")))
				x.hold()
			}
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			f.open()
			time.Sleep(time.Minute)
			wantMethods(t, f.heard(), "a", "b")
			f.want("GET", 3)
		})
	})
	t.Run("B-U4 a server that had a stream and forgot the session", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			if x.n == 1 {
				x.stream(event(note("a")))
				return
			}
			x.w.WriteHeader(404)
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			s := f.open()
			<-s.Lost()
			time.Sleep(time.Hour)
			f.want("GET", 2)
		})
	})
}

func TestStandingStreamIsPatient(t *testing.T) {
	for name, c := range map[string]struct {
		answer      func(x *call)
		least, most int
	}{
		"one that has nothing to say":      {func(x *call) { x.stream(); x.hold() }, 1, 1},
		"one that is cut at once":          {(*call).cut, 100, 250},
		"one that brings nothing":          {func(x *call) { x.stream(":\n\n") }, 100, 250},
		"one that refuses the credential":  {func(x *call) { x.w.WriteHeader(401) }, 100, 250},
		"one that believes it is still on": {func(x *call) { x.w.WriteHeader(409) }, 100, 250},
		"one that is unwell":               {func(x *call) { x.w.WriteHeader(500) }, 100, 250},
		"one that asks for time":           {func(x *call) { x.w.Header().Set("Retry-After", "600"); x.w.WriteHeader(503) }, 6, 7},
		"one that asks for more of it":     {func(x *call) { x.stream("retry: 600000\n\n") }, 6, 7},
		"one with a message that is too large": {
			func(x *call) { x.stream(event(big)) }, 100, 250,
		},
	} {
		t.Run("G-8 a server is not pestered: "+name, func(t *testing.T) {
			bubble(t, script{"GET": c.answer}, func(o *legacy.Options) { o.Limits.Result = 4000 }, func(t *testing.T, f *fake) {
				s := f.open()
				time.Sleep(time.Hour)
				if got := len(f.got("GET")); got < c.least || got > c.most {
					t.Errorf("%d GETs in an hour, want %d to %d", got, c.least, c.most)
				}
				if isLost(s) {
					t.Error("the session is lost")
				}
			})
		})
	}
}

func TestStandingStreamEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, f *fake){
		"with Close": func(*testing.T, *fake) {},
		"B-U4 with the session": func(t *testing.T, f *fake) {
			f.follow("tools/call", func(x *call) { x.w.WriteHeader(404) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, nil, func(t *testing.T, f *fake) {
				ended := make(chan struct{})
				f.follow("GET", func(x *call) { x.stream(event(note("a"))); x.hold(); close(ended) })
				s := f.open()
				end(t, f)
				if name == "with Close" {
					s.Close(t.Context())
				} else if _, err := s.Do(t.Context(), tool()); err == nil {
					t.Error("succeeded")
				}
				<-ended
				if !isLost(s) {
					t.Error("the session is not lost")
				}
				time.Sleep(time.Hour)
				f.want("GET", 1)
			})
		})
	}
}

func TestStraysComeOneByOne(t *testing.T) {
	s := script{
		"GET":        func(x *call) { x.stream(strings.Repeat(event(note("a")), 50)); x.hold() },
		"tools/call": func(x *call) { x.stream(event(note("b"))+event(note("b")), event(response(string(x.msg.ID), "{}"))) },
	}
	bubble(t, s, nil, func(t *testing.T, f *fake) {
		f.slow = time.Millisecond
		s := f.open()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { do(t, s, tool()) })
		}
		wg.Wait()
		time.Sleep(time.Second)
		if got := len(f.heard()); got != 90 {
			t.Errorf("%d messages, want 90", got)
		}
	})
}
