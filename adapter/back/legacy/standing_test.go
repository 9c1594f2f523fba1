package legacy_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// stands is what a session says of its standing stream, and whether the channel has
// been closed that it gave out before.
func stands(t *testing.T, s port.Session) (offered bool, missed <-chan struct{}, took time.Duration) {
	t.Helper()
	begun := time.Now()
	standing, ok := s.(port.Standing)
	if !ok {
		t.Fatal("the session does not know of its standing stream")
	}
	offered, missed = standing.Standing(t.Context())
	return offered, missed, time.Since(begun)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestStanding(t *testing.T) {
	t.Run("§2.3 a server that offers none", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			if offered, missed, took := stands(t, f.open()); offered || isClosed(missed) || took != 0 {
				t.Errorf("offered %t, missed %t, took %v", offered, isClosed(missed), took)
			}
		})
	})
	t.Run("one that is there", func(t *testing.T) {
		bubble(t, script{"GET": func(x *call) { x.stream(); x.hold() }}, nil, func(t *testing.T, f *fake) {
			if offered, missed, took := stands(t, f.open()); !offered || isClosed(missed) || took != 0 {
				t.Errorf("offered %t, missed %t, took %v", offered, isClosed(missed), took)
			}
		})
	})
	t.Run("one whose head comes with the first event counts as offered, and is waited for once", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			time.Sleep(time.Minute)
			x.stream(event(note("a")), "id: e1\nretry: 1000\n\n")
			time.Sleep(time.Hour)
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			s := f.open()
			offered, missed, took := stands(t, s)
			if !offered || took != 0 {
				t.Errorf("offered %t, took %v", offered, took)
			}
			time.Sleep(time.Hour)
			if isClosed(missed) {
				t.Error("it has missed something")
			}
			time.Sleep(time.Minute + 500*time.Millisecond)
			if offered, _, took := stands(t, s); !offered || took != 500*time.Millisecond {
				t.Errorf("broken: offered %t, took %v", offered, took)
			}
			s.Close(t.Context())
		})
	})
}

func TestStandingMissed(t *testing.T) {
	t.Run("Q26 one that is refused at first has missed something", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			if x.n == 1 {
				x.w.WriteHeader(503)
				return
			}
			x.stream()
			x.hold()
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			offered, missed, took := stands(t, f.open())
			if !offered || isClosed(missed) || took != 0 {
				t.Errorf("offered %t, took %v", offered, took)
			}
			time.Sleep(time.Minute)
			if !isClosed(missed) {
				t.Error("nothing is missed")
			}
		})
	})
	t.Run("one that there is no more", func(t *testing.T) {
		s := script{"GET": func(x *call) {
			if x.n == 1 {
				x.stream()
				time.Sleep(time.Second)
				return
			}
			x.w.WriteHeader(405)
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			s := f.open()
			offered, missed, _ := stands(t, s)
			time.Sleep(time.Minute)
			if now, _, took := stands(t, s); !offered || !isClosed(missed) || now || took != 0 {
				t.Errorf("offered %t, then %t after %v; missed %t", offered, now, took, isClosed(missed))
			}
		})
	})
	t.Run("a resumed session is waited for, too", func(t *testing.T) {
		s := script{"GET": func(x *call) { time.Sleep(300 * time.Millisecond); x.stream(); x.hold() }}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			s := f.client.Resume(t.Context(), port.Ticket{ID: "session-1", Version: "2025-11-25"}, f.hello())
			defer s.Close(t.Context())
			if offered, _, took := stands(t, s); !offered || took != 300*time.Millisecond {
				t.Errorf("offered %t, took %v", offered, took)
			}
		})
	})
}

func TestStandingBroken(t *testing.T) {
	for name, tt := range map[string]struct {
		event  string
		missed bool
	}{
		"that goes on where it broke":        {named("e1", note("a")), false},
		"that does not go on where it broke": {event(note("a")), true},
		"whose event was too large to go on": {named("e1", big), true},
	} {
		t.Run("Q26 a stream "+name, func(t *testing.T) {
			s := script{"GET": func(x *call) {
				if x.n > 1 {
					x.stream()
					x.hold()
					return
				}
				x.stream("retry: 5000\n\n")
				time.Sleep(100 * time.Millisecond)
				x.stream(tt.event)
				time.Sleep(time.Second)
			}}
			bubble(t, s, func(o *legacy.Options) { o.Limits.Result = 4000 }, func(t *testing.T, f *fake) {
				s := f.open()
				offered, missed, _ := stands(t, s)
				time.Sleep(4 * time.Second)
				synctest.Wait()
				if !offered || isClosed(missed) {
					t.Error("missed before there is another")
				}
				if offered, _, took := stands(t, s); !offered || took != 500*time.Millisecond {
					t.Errorf("between two streams: offered %t, took %v", offered, took)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if isClosed(missed) != tt.missed {
					t.Errorf("missed %t, want %t", isClosed(missed), tt.missed)
				}
				if offered, missed, took := stands(t, s); !offered || isClosed(missed) || took != 0 {
					t.Errorf("then: offered %t, missed %t, took %v", offered, isClosed(missed), took)
				}
			})
		})
	}
}

// TestFaultOfListener: what is heard after a message that could not be dealt with is
// delivered as ever.
func TestFaultOfListener(t *testing.T) {
	s := script{"GET": func(x *call) {
		x.stream(event(note("a")), event(note("b")))
		x.hold()
	}}
	bubble(t, s, nil, func(t *testing.T, f *fake) {
		hello := f.hello()
		hear := map[string]func(jsonrpc.Message){"b": hello.OnMessage}
		hello.OnMessage = func(msg jsonrpc.Message) {
			hear[msg.Method](msg) // there is nobody for a
		}
		s, err := f.client.Open(t.Context(), hello)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.heard(); !slices.Equal(got, []string{"b"}) {
			t.Errorf("heard %q", got)
		}
		s.Close(t.Context())
	})
}
