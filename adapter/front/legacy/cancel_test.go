package legacy_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestCancelled(t *testing.T) {
	for _, method := range []string{"tools/call", "tasks/result", "tools/list", "tasks/cancel", "tasks/get"} {
		t.Run("§1.7 "+method, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				ended := r.crossing.hang(method)
				pending := r.background(id, call("31", method))
				if a := r.post(id, cancelled("31")); a.status != http.StatusAccepted || a.body != "" {
					t.Errorf("cancelled: %d %q", a.status, a.body)
				}
				if err := <-ended; err.Error() != "cancelled by the client" {
					t.Errorf("ended with %v", err)
				}
				if a := <-pending; a.status != http.StatusAccepted || a.body != "" {
					t.Errorf("a cancelled request was answered: %d %q", a.status, a.body)
				}
				// The id may be used again.
				r.crossing.on(method, nil)
				if a := r.post(id, call("31", method)); a.status != http.StatusOK {
					t.Errorf("the same id again: %d %s", a.status, a.body)
				}
			})
		})
	}
}

func TestCancelledStream(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.hang("tools/call")
		s := r.stream(http.MethodPost, id, call("31", "tools/call"))
		r.post(id, cancelled("31"))
		s.want("EOF") // and no response
	})
}

// TestCancelledBeforeItsStream: a client that takes nothing but streams gets no
// empty one.
func TestCancelledBeforeItsStream(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.hang("tools/call")
		pending := r.background(id, call("31", "tools/call"), "Accept: text/event-stream")
		r.post(id, cancelled("31"))
		if a := <-pending; a.status != http.StatusAccepted || a.body != "" {
			t.Errorf("%d %q", a.status, a.body)
		}
	})
}

// TestCancelledTooLate: an answer that is ready when the cancellation comes is
// dropped, and one that was given stays given.
func TestCancelledTooLate(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", func(ctx context.Context, _ *port.Exchange) port.Outcome {
			<-ctx.Done()
			return port.Outcome{Result: "{}"}
		})
		pending := r.background(id, call("1", "tools/call"))
		r.post(id, cancelled("1"))
		if a := <-pending; a.body != "" {
			t.Errorf("answered: %s", a.body)
		}
		r.post(id, call("2", "tools/list"))
		r.post(id, cancelled("2"))
		if a := r.post(id, call("2", "tools/list")); a.status != http.StatusOK {
			t.Errorf("after a late cancellation: %d %s", a.status, a.body)
		}
	})
}

// TestNotCancelled: what names no request in flight cancels nothing.
func TestNotCancelled(t *testing.T) {
	for _, tt := range []struct{ name, note string }{
		{"§1.7 another id", cancelled("2")},
		{"G-2 the same digits as text", cancelled(`"1"`)},
		{"§1.7 no id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`},
		{"§1.7 no params", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`},
		{"§1.7 an id of no kind", cancelled("null")},
		{"Strictness: two ids", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":1}}`},
		{"A-L9 initialize", cancelled("0")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				r.crossing.on("tools/call", after(10*time.Second))
				r.crossing.on("initialize", after(10*time.Second))
				pending, begun := r.background(id, call("1", "tools/call"), "Accept: application/json"), r.background("", initialize)
				if a := r.post(id, tt.note); a.status != http.StatusAccepted {
					t.Errorf("%d %s", a.status, a.body)
				}
				wantError(t, <-pending, http.StatusOK, result1)
				if a := <-begun; a.header.Get("Mcp-Session-Id") == "" {
					t.Errorf("A-L9 initialize was cancelled: %d %s", a.status, a.body)
				}
			})
		})
	}
}

// TestCancelledInAnotherSession: ids of different sessions have nothing to do
// with each other (G-9).
func TestCancelledInAnotherSession(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		one, two := r.open(), r.open()
		r.crossing.on("tools/call", after(10*time.Second))
		first := r.background(one, call("1", "tools/call"), "Accept: application/json")
		second := r.background(two, call("1", "tools/call"), "Accept: application/json")
		r.post(two, cancelled("1"))
		wantError(t, <-first, http.StatusOK, result1)
		if a := <-second; a.body != "" {
			t.Errorf("answered: %s", a.body)
		}
	})
}

func TestIDInFlight(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.crossing.on("tools/call", after(10*time.Second))
		first := r.background(id, call("1", "tools/call"), "Accept: application/json")
		wantError(t, r.post(id, call("1", "tools/call")), http.StatusOK, refusal("1", "-32600", "Invalid request: id: a request with this id is in flight"))
		second := r.background(id, call(`"1"`, "tools/call"), "Accept: application/json") // G-2: another id
		wantError(t, <-first, http.StatusOK, result1)
		wantError(t, <-second, http.StatusOK, `{"jsonrpc":"2.0","id":"1","result":{}}`)
		synctest.Wait()
		if n := r.crossing.calls("tools/call"); n != 2 {
			t.Errorf("%d calls", n)
		}
	})
}
