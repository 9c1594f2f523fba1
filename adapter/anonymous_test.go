package adapter_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// census counts the calls that each session of a backend has served.
type census struct {
	http.Handler

	mu    sync.Mutex
	calls map[string]int
}

func (s *census) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if method, _ := wire.Value(body).Get("method").Text(); method == "tools/call" {
		s.mu.Lock()
		s.calls[r.Header.Get("Mcp-Session-Id")]++
		s.mu.Unlock()
	}
	s.Handler.ServeHTTP(w, r)
}

func (s *census) Close() { closeServer(s.Handler) }

// TestAnonymousCallers: what a caller without a credential is given is good for whoever
// has it; and on a call that can ask no two of them share a session, neither at the same
// time nor one after the other (DESIGN "Principal", B-U1).
func TestAnonymousCallers(t *testing.T) {
	t.Parallel()
	for era, server := range servers {
		t.Run("a handle and a state are bearer capabilities, "+era+" backend", func(t *testing.T) {
			t.Parallel()
			cellOf(t, server(), func(c *eraCell) {
				one := c.settle("modern", "")
				other := &estate{
					party: &party{eraCell: c, face: "modern"}, works: one.works, asks: one.asks, state: one.state,
				}
				other.whole()
			})
		})
	}
	t.Run("B-U1 no session is shared by two that can be asked", func(t *testing.T) {
		t.Parallel()
		s := &census{Handler: newOldDemo(), calls: map[string]int{}}
		cellOf(t, s, func(c *eraCell) {
			const calls = 5
			for range calls {
				r := &recentClient{eraCell: c}
				if got := r.do("tools/call", "ask", canAsk, `,"name":"ask","arguments":{}`); text(got, "result", "resultType") != "input_required" {
					t.Errorf("ask: %s", got)
				}
				// Another one after the other, each with its call at an end.
				if got := r.do("tools/call", "add", canAsk, `,"name":"add","arguments":{"a":1,"b":2}`); !strings.Contains(string(got), `"sum":3`) {
					t.Errorf("add: %s", got)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.calls) != 2*calls {
				t.Errorf("%d calls on the sessions %v", 2*calls, s.calls)
			}
		})
	})
	t.Run("B-U1 one that cannot be asked may share", func(t *testing.T) {
		t.Parallel()
		s := &census{Handler: newOldDemo(), calls: map[string]int{}}
		cellOf(t, s, func(c *eraCell) {
			for i := range 5 {
				r := &recentClient{eraCell: c}
				if got := r.do("tools/call", "add", `{}`, fmt.Sprintf(`,"name":"add","arguments":{"a":1,"b":%d}`, i)); !strings.Contains(string(got), `"sum"`) {
					t.Errorf("add: %s", got)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.calls) != 1 {
				t.Errorf("sessions %v", s.calls)
			}
		})
	})
}
